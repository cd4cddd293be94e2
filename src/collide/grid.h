/* collide/grid.h - bodies sorted into the cells of a hierarchical grid.
 *
 * Every bounded body gets a fat radius
 *     fat = radius + envelope size / 2 + h (|v - drift| + spin + reference speed)
 * so that the envelope of a pair is at most what its two bodies have added to their radii; `drift`
 * is a velocity that bodies have in common, which no envelope depends on. Bodies live in levels by
 * size: a level's cells are at least as wide as the fat diameters of its bodies, so partners of one
 * level are in neighbouring cells.
 *
 * A level's cells form a box of about as many cells as bodies, periodic in all directions: bodies
 * outside fold back into it, so one that flew away costs nothing, and the cells of a row lie side
 * by side in memory. Edges are one number times powers of two; that number and the box are chosen
 * from a sample of the bodies. All this decides the speed of the search alone, never its result.
 *
 * Walls (wall.h) stay outside. */
#ifndef TALUS_COLLIDE_GRID_H
#define TALUS_COLLIDE_GRID_H

#include "collide/contact.h"
#include "collide/fit.h"
#include "collide/sort.h"

#include <stdatomic.h>

/* Set in TalusGrid.entry[].b for all but moving spheres, the plain bodies. */
#define TALUS_NOT_PLAIN UINT32_C(0x80000000)

/* A body as the search sees it, in units of TalusGrid.unit (a power of two, so that positions are
 * exact). */
typedef struct TalusGridBody {
    double x, y, z, fat;
} TalusGridBody;

/* A body once more, shifted by the period along the axes whose bits are set. */
typedef struct TalusGridImage {
    uint32_t body;
    uint8_t shift;
} TalusGridImage;

typedef struct TalusGrid {
    /* Set for the time of a call. */
    const TalusBodyView *bodies;
    const TalusDetectOptions *options;
    int moving; /* bodies in the sample that move; none: nothing can touch */
    TalusVec3 drift;
    double unit;             /* a power of two near the typical fat radius */
    double per_unit;         /* 1 / unit */
    double phase;            /* cell edges are phase times a power of two, in units */
    double large;            /* fixed bodies with a larger fat radius are walls */
    TalusVec3 low, high;     /* where most bodies are, in units */
    atomic_llong bad_body;   /* lowest slot whose numbers are not finite */
    atomic_llong odd_sphere; /* lowest sphere whose size is not its radius */

    TalusLevel level[TALUS_MAX_LEVELS]; /* coarsest first */
    int levels;
    uint32_t cells;                             /* of all levels */
    uint32_t members;                           /* bodies in the grid */
    atomic_uint size_class[TALUS_SIZE_CLASSES]; /* bodies by ceil(log2(2 fat / phase)) + 1023 */
    uint8_t level_of_class[TALUS_SIZE_CLASSES];

    TalusWall *wall; /* in units */
    int walls;

    float *fat;       /* by slot, in units, rounded up; 0 outside the grid, negative if not plain */
    TalusPair *entry; /* (cell, body) in order of cells; dead slots and walls at the end */
    uint32_t *start;  /* first entry of each cell, [cells + 2] */
    TalusGridBody *body; /* [members], beside entry, in the scratch block */
    float *radius;       /* [members], of spheres, rounded down; in the scratch block */

    /* Where space repeats itself (grid_images.c), bodies near a lower side are entered once more for every
     * image beyond the upper side; images have numbers from bodies->count on. */
    TalusFit fit;
    TalusGridImage *images;
    int image_count;
    uint8_t *
        image; /* [members]: along which axes an entry is shifted; NULL: space does not repeat itself */
    uint8_t *image_room;
} TalusGrid;

/* Memory that one stage after the other uses. */
typedef struct TalusScratch {
    unsigned char *block;
    TalusSorter sorter;
} TalusScratch;

/* Sorts all bodies into cells. Fails on numbers that are not finite, naming the body. */
TalusStatus talus_grid_build(TalusGrid *grid, TalusPool *pool, TalusScratch *scratch,
                             const TalusBodyView *bodies, const TalusDetectOptions *options);
void talus_grid_clear(TalusGrid *grid);

/* ---- grid_images.c ---- */
/* Finds what one image allows (fit.h). Fails where a body or wall at rest is so large that it could meet two images of
 * another. */
TalusStatus talus_grid_fit(TalusGrid *grid);
/* Clips fat radii to the limit, counts the bodies that move farther, then finds the images of all and counts them in
 * their size classes. */
TalusStatus talus_grid_images(TalusGrid *grid);

#endif
