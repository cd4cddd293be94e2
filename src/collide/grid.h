/* collide/grid.h - bodies sorted into the cells of a hierarchical grid.
 *
 * Every bounded body has a fat radius, its radius plus a margin (talus_body_margin)
 *     envelope size / 2 + h (|v - d| + |d| / 2 + friction (|v - d| + surface speed) + spin + reference speed)
 * so that the envelope of a pair is at most the sum of its two margins. The drift d is the mean velocity of a sample.
 * Bodies are divided into levels by size: the cells of a level are at least as wide as the fat diameters of its bodies,
 * so partners of one level are in neighbouring cells.
 *
 * The cells of a level form a box of about as many cells as bodies, periodic in all directions. Bodies outside fold
 * back into it, so a body far away costs nothing, and the cells of a row are contiguous in memory. Edges are one number
 * times powers of two; that number and the box are chosen from the sample. These choices affect the speed of the
 * search, never its result. Walls (wall.h) are not in the grid. */
#ifndef TALUS_COLLIDE_GRID_H
#define TALUS_COLLIDE_GRID_H

#include "collide/fit.h"
#include "collide/sort.h"

#include <stdatomic.h>

/* Bit of TalusGrid.entry[].b, set for every body but moving spheres. */
#define TALUS_NOT_MOVING_SPHERE UINT32_C(0x80000000)

/* A body in units of TalusGrid.unit, a power of two, so that positions are exact. */
typedef struct TalusGridBody {
    double x, y, z, fat;
} TalusGridBody;

/* Image of a body, shifted by the period along the axes whose bits are set. */
typedef struct TalusGridImage {
    uint32_t body;
    uint8_t shift;
} TalusGridImage;

typedef struct TalusGrid {
    /* Valid during a call. */
    const TalusBodyView *bodies;
    const TalusDetectOptions *options;
    int moving;         /* moving bodies in the sample; 0: nothing can touch */
    TalusVec3 drift;    /* mean velocity of the sample, m/s */
    double unit;        /* a power of two near the typical fat radius */
    double per_unit;    /* 1 / unit */
    double edge_factor; /* cell size: edges are edge_factor times a power of two, in units */
    double
        large; /* m: bodies that are fixed, driven or asleep, with a larger fat radius, are walls */
    TalusVec3 low, high;     /* box that contains most bodies, in units */
    atomic_llong bad_body;   /* lowest slot whose numbers are not finite */
    atomic_llong odd_sphere; /* lowest slot of a sphere whose size is not its radius */

    TalusLevel level[TALUS_MAX_LEVELS]; /* coarsest first */
    int levels;
    uint32_t cells;   /* of all levels */
    uint32_t members; /* bodies in the grid */
    atomic_uint
        size_class[TALUS_SIZE_CLASSES]; /* bodies by ceil(log2(2 fat / edge_factor)) + 1023 */
    uint8_t level_of_class[TALUS_SIZE_CLASSES];

    TalusWall *wall; /* in units */
    int walls;

    float *fat; /* by slot, in units, rounded up; 0: not in the grid; < 0: not a moving sphere */
    TalusPair *entry;    /* (cell, body) sorted by cell; dead slots and walls at the end */
    uint32_t *start;     /* first entry of each cell, [cells + 2] */
    TalusGridBody *body; /* [members], in the order of entry, in the scratch block */
    float *radius;       /* [members], sphere radii, rounded down; in the scratch block */

    /* In periodic space (grid_images.c), a body near a lower side has an entry for each of its images beyond the upper
     * side. Images are numbered from bodies->count. */
    TalusFit fit;
    TalusGridImage *images;
    int image_count;
    uint8_t *image;      /* [members]: bits of the shifted axes; NULL: not periodic */
    uint8_t *image_room; /* memory of image */
} TalusGrid;

/* Memory shared by consecutive stages. */
typedef struct TalusScratch {
    unsigned char *block;
    TalusSorter sorter;
} TalusScratch;

/* Sorts all bodies into cells. Fails if numbers are not finite, naming the body. */
TalusStatus talus_grid_build(TalusGrid *grid, TalusPool *pool, TalusScratch *scratch,
                             const TalusBodyView *bodies, const TalusDetectOptions *options);
void talus_grid_clear(TalusGrid *grid);

/* ---- grid_images.c ---- */
/* Computes the limit of fat radii (fit.h). Fails if a body or wall at rest is large enough to meet two images. */
TalusStatus talus_grid_fit(TalusGrid *grid);
/* Clips fat radii to the limit and counts the bodies that may miss a contact by it (fit.clipped); then makes all images
 * and counts them in size_class. */
TalusStatus talus_grid_images(TalusGrid *grid);

#endif
