/* world/filter.h - which bodies meet. */
#ifndef TALUS_WORLD_FILTER_H
#define TALUS_WORLD_FILTER_H

#include "collide/contact.h"

#include <talus/world.h>

/* Which pairs do not meet (filter.c). */
typedef struct TalusFilters {
    uint32_t meets[TALUS_GROUPS];
    bool apart;              /* some groups do not meet */
    uint32_t (*excluded)[2]; /* pairs of slots, smaller one first, in order */
    int *times;              /* how often each is excluded */
    int count;
    TalusFilter view; /* as the detector is given it */
} TalusFilters;

void talus_filters_init(TalusFilters *filters);
TalusStatus talus_pair_exclude(TalusWorld *world, int slot_a, int slot_b);
void talus_pair_include(TalusWorld *world, int slot_a, int slot_b);
/* Forgets all exclusions of a slot that another body takes. */
void talus_slot_include(TalusWorld *world, int slot);
/* NULL where all bodies meet. */
const TalusFilter *talus_filter_view(TalusWorld *world);
void talus_filters_clear(TalusFilters *filters);

#endif
