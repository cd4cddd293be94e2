/* world/filter.h - collision filters: groups and excluded pairs. */
#ifndef TALUS_WORLD_FILTER_H
#define TALUS_WORLD_FILTER_H

#include "collide/contact.h"

#include <talus/world.h>

/* Pairs that do not collide (filter.c). */
typedef struct TalusFilters {
    uint32_t meets[TALUS_GROUPS]; /* bit g: bodies of this group collide with those of group g */
    bool groups_apart;            /* some groups do not collide */
    uint32_t (*excluded)[2];      /* sorted pairs of slots, smaller slot first */
    int *exclusions;  /* exclusions of each pair; it collides again once all are undone */
    int count;        /* of pairs */
    TalusFilter view; /* these filters in the detector's form (talus_filter_view) */
} TalusFilters;

/* Lets all groups collide. */
void talus_filters_init(TalusFilters *filters);
/* Exclude two bodies from collision, once more; undo one such exclusion, if there is one. Both wake all bodies. */
TalusStatus talus_pair_exclude(TalusWorld *world, int slot_a, int slot_b);
void talus_pair_include(TalusWorld *world, int slot_a, int slot_b);
/* Removes all exclusions of a slot that is reused. */
void talus_slot_clear_exclusions(TalusWorld *world, int slot);
/* Returns the filter for a detector, which points into the world's arrays; NULL if all bodies collide. */
const TalusFilter *talus_filter_view(TalusWorld *world);
void talus_filters_clear(TalusFilters *filters);

#endif
