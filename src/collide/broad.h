/* collide/broad.h - which pairs of bodies may touch.
 *
 * A hierarchical grid. Every bounded body gets a fat radius
 *     f = radius + envelope size / 2 + h (|v - drift| + spin + reference speed)
 * so that the envelope of a pair is at most what its two bodies have added to their radii; `drift`
 * is a common velocity that bodies share and that no distance depends on. Bodies live in levels by
 * size, a level's cells being at least as wide as the fat diameter of its bodies. A body looks for
 * partners in the cells around it in its own level (half of them, the other half looks back) and in
 * all coarser levels.
 *
 * A level's cells form a box of about two cells per body, periodic in all directions: bodies outside
 * fold back into it, so one that flew away costs nothing, and cells of a row are neighbours in
 * memory. The edges are a fixed number times powers of two, chosen from the sizes of a sample.
 *
 * Walls (planes, revolves, a few fixed bodies that are much larger than the others) are tested
 * against every body through their bounds.
 *
 * Neither the grid nor the sample decides what is found: every pair is decided by its own numbers.*/
#ifndef TALUS_COLLIDE_BROAD_H
#define TALUS_COLLIDE_BROAD_H

#include "collide/contact.h"
#include "collide/sort.h"

#include <stdatomic.h>

enum { TALUS_RUN_SPHERES, TALUS_RUN_SPHERE_FIXED, TALUS_RUN_GENERAL, TALUS_RUNS };

enum { TALUS_MAX_LEVELS = 32, TALUS_MAX_LARGE_WALLS = 64 };

typedef struct TalusPairList {
    TalusPair *pair;
    size_t capacity;
    int64_t count;
    atomic_llong found; /* while searching: may exceed the capacity */
} TalusPairList;

/* A body as the search sees it, in units of TalusBroad.unit (a power of two, so positions are
 * exact). The floats err on the safe side: fat is rounded up and radius down. */
typedef struct TalusGridBody {
    double x, y, z;
    float fat, radius;
} TalusGridBody;

typedef struct TalusLevel {
    double edge;       /* of a cell, in units */
    int64_t origin[3]; /* cell coordinates of the periodic box */
    int32_t cells[3];  /* its size, at least 3 each so that all neighbours differ */
    uint32_t first;    /* number of its first cell; cells are numbered z, y, x within the level */
    uint32_t bodies;
} TalusLevel;

typedef struct TalusWall {
    uint32_t body;
    TalusShapeKind kind;
    TalusAabb bounds; /* widened by the wall's own margin */
    TalusVec3 normal; /* plane: solid where normal . x < offset */
    double offset, margin;
} TalusWall;

typedef struct TalusBroad {
    TalusPairList run[TALUS_RUNS]; /* the result, each in order of (a, b) */

    /* Set for the time of a call. */
    const TalusBodyView *bodies;
    const TalusDetectOptions *options;
    TalusVec3 drift;
    double unit, phase;    /* length unit; edge of level 0 over unit and a power of two */
    double large;          /* a fixed body with a fat radius above this is a wall */
    TalusVec3 lo, hi;      /* where most bodies are */
    atomic_llong bad_body; /* lowest slot with a number that is not finite */

    TalusLevel level[TALUS_MAX_LEVELS];
    int levels;
    atomic_uint size_class[2048]; /* bodies by ceil(log2(2 fat / phase)), biased */
    uint8_t level_of_class[2048];

    TalusWall *wall;
    size_t wall_capacity;
    int walls;

    TalusPair *entry; /* (cell, body), sorted by cell; dead slots and walls last */
    size_t entry_capacity;
    uint32_t *start; /* of each cell in entry; later of each body in a run */
    size_t start_capacity;
    void *scratch; /* grid bodies while searching, pairs while sorting */
    size_t scratch_capacity;
    TalusSorter sorter;
} TalusBroad;

void talus_broad_clear(TalusBroad *broad);

/* Fills the runs: all sphere-sphere pairs that are contacts, and all other pairs that may be. */
TalusStatus talus_broad_find(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                             const TalusDetectOptions *options);

#endif
