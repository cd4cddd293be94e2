/* world/filter.h - collision filters: groups and excluded pairs. */
#ifndef TALUS_WORLD_FILTER_H
#define TALUS_WORLD_FILTER_H

#include "collide/contact.h"

#include <talus/world.h>

/* Collision filters of a world: groups and pairs of bodies that do not collide. */
typedef struct TalusFilters {
    uint32_t meets[TALUS_GROUPS]; /* bit g: bodies of this group collide with those of group g */
    bool groups_apart;            /* some groups do not collide */
    bool copies_apart;            /* some bodies are of other copies than 0 */
    uint32_t (*excluded)[2];      /* sorted pairs of slots, smaller slot first */
    /* [count]: number of exclusions of each pair; at 0 the pair collides again. On several ranks unused:
     * TalusRanks.exclusion */
    int *exclusions;
    int count;        /* number of excluded pairs */
    TalusFilter view; /* these filters in the detector's form (talus_filter_view) */
} TalusFilters;

/* Sets all groups to collide with all groups. */
void talus_filters_init(TalusFilters *filters);
/* talus_bodies_exclude adds one exclusion of two bodies, which exist, from collision; talus_bodies_include removes one, if
 * there is one. A pair collides while it has no exclusion. Both functions wake all bodies. */
TalusStatus talus_bodies_exclude(TalusWorld *world, TalusBodyId a, TalusBodyId b);
void talus_bodies_include(TalusWorld *world, TalusBodyId a, TalusBodyId b);
/* Excludes two slots of a whole world, and wakes no body. */
TalusStatus talus_pair_exclude(TalusWorld *world, int slot_a, int slot_b);
/* Removes all exclusions of a slot, before another body uses it. */
void talus_slot_clear_exclusions(TalusWorld *world, int slot);
/* Returns the filter for a detector, which points into the world's arrays; NULL if all bodies collide. */
const TalusFilter *talus_filter_view(TalusWorld *world);
void talus_filters_clear(TalusFilters *filters);

#endif
