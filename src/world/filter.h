/* world/filter.h - collision filters: groups and excluded pairs. */
#ifndef TALUS_WORLD_FILTER_H
#define TALUS_WORLD_FILTER_H

#include "collide/contact.h"

#include <talus/world.h>

/* Pairs that do not collide (filter.c). */
typedef struct TalusFilters {
    uint32_t meets[TALUS_GROUPS];
    bool apart;              /* some groups do not collide */
    uint32_t (*excluded)[2]; /* sorted pairs of slots, smaller slot first */
    int *times;              /* number of exclusions of each pair */
    int count;
    TalusFilter view; /* argument of the detector */
} TalusFilters;

void talus_filters_init(TalusFilters *filters);
TalusStatus talus_pair_exclude(TalusWorld *world, int slot_a, int slot_b);
void talus_pair_include(TalusWorld *world, int slot_a, int slot_b);
/* Removes all exclusions of a slot that is reused. */
void talus_slot_clear_exclusions(TalusWorld *world, int slot);
/* Returns NULL if all bodies collide. */
const TalusFilter *talus_filter_view(TalusWorld *world);
void talus_filters_clear(TalusFilters *filters);

#endif
