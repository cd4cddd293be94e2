/* collide/broad.h - broad phase: pairs of bodies that touch or may touch.
 *
 * A body is tested against the bodies in the grid cells around it: in half of the cells of its own level (the other
 * half tests against it), and in all coarser levels. Every wall is tested against every body through its bounds. Pairs
 * of fixed bodies are never made.
 *
 * Cost per body in a bed of spheres: about 20 tests of 32 bytes each, read from the cache because neighbours in space
 * are neighbours in the sorted array. */
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
    /* The result, sorted by (a, b); a and b are ordered as in TalusContact. Every pair of the first run is a contact;
     * the narrow phase decides about the others. */
    TalusPairList run[TALUS_RUNS];
    const uint8_t *around; /* by body: nonzero for the subset to search around; NULL: all bodies */
    TalusGrid grid;
    TalusScratch scratch;
} TalusBroad;

/* Finds all pairs that may be contacts and writes them to broad->run. */
TalusStatus talus_broad_find(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                             const TalusDetectOptions *options);

/* Finds the pairs with a body of the subset `around`, a flag per body. They are not sorted; some occur twice, and a
 * body may be paired with itself. */
TalusStatus talus_broad_around(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                               const TalusDetectOptions *options, const uint8_t *around);
void talus_broad_clear(TalusBroad *broad);

#endif
