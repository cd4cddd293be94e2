/* collide/broad.h - which pairs of bodies touch or may touch.
 *
 * A body looks for partners in the grid cells around it: in its own level in half of them (the
 * other half looks back), and in all coarser levels. Every wall is tested against every body
 * through its bounds. Pairs of fixed bodies are never made.
 *
 * Cost per body in a bed of spheres: about 20 partners tested, 32 bytes each, read from the cache
 * because neighbours in space are neighbours in the sorted array. */
#ifndef TALUS_COLLIDE_BROAD_H
#define TALUS_COLLIDE_BROAD_H

#include "collide/grid.h"

enum { TALUS_RUN_SPHERES, TALUS_RUN_SPHERE_FIXED, TALUS_RUN_GENERAL, TALUS_RUNS };

typedef struct TalusPairList {
    TalusPair *pair;
    int64_t count;
    atomic_llong found; /* while searching; may exceed the capacity */
} TalusPairList;

typedef struct TalusBroad {
    /* The result, in order of (a, b). All pairs of the first run are contacts; those of the others
     * may be: narrow phase decides. a and b are as in TalusContact. */
    TalusPairList run[TALUS_RUNS];
    const uint8_t *around; /* while searching: the bodies that are asked about; NULL: all */
    TalusGrid grid;
    TalusScratch scratch;
} TalusBroad;

TalusStatus talus_broad_find(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                             const TalusDetectOptions *options);

/* The same for pairs with a body of `around`, a flag for each, in no order; some come twice,
 * and bodies with themselves. */
TalusStatus talus_broad_around(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                               const TalusDetectOptions *options, const uint8_t *around);
void talus_broad_clear(TalusBroad *broad);

#endif
