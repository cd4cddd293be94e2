/* collide/broad.h - broad phase: pairs of bodies that touch or may touch.
 *
 * A body is tested against the bodies in the grid cells around it: in half of the cells of its own level (the other
 * half tests against it), and in all coarser levels. Every body is tested against every wall (talus_near_wall). Pairs
 * without a free body are never made.
 *
 * A test reads 32 bytes of the partner (TalusGridBody), mostly from the cache, because neighbours along x are
 * neighbours in the sorted array. */
#ifndef TALUS_COLLIDE_BROAD_H
#define TALUS_COLLIDE_BROAD_H

#include "collide/grid.h"

/* The three runs of contact.h. */
enum { TALUS_RUN_SPHERES, TALUS_RUN_SPHERE_FIXED, TALUS_RUN_GENERAL, TALUS_RUNS };

typedef struct TalusPairList {
    TalusPair *pair;
    int64_t count;
    atomic_llong found; /* pairs found so far in a search; may exceed the capacity of `pair` */
} TalusPairList;

typedef struct TalusBroad {
    /* The result, in talus_broad_find sorted by ranks of (a, b); a and b are ordered as in TalusContact. Every pair of the
     * first run is a contact; the narrow phase decides about the others. */
    TalusPairList run[TALUS_RUNS];
    const uint8_t *around; /* by body: nonzero for those to search around; NULL: all bodies */
    TalusGrid grid;
    TalusScratch scratch;
} TalusBroad;

/* Finds all pairs that may be contacts and writes them to broad->run. */
TalusStatus talus_broad_find(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                             const TalusDetectOptions *options);

/* Finds all pairs with a body of the subset `around` (a flag per body), and some pairs without. They are not sorted;
 * some occur twice, and a body may be paired with itself. */
TalusStatus talus_broad_around(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                               const TalusDetectOptions *options, const uint8_t *around);
void talus_broad_clear(TalusBroad *broad);

#endif
