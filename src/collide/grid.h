/* collide/grid.h - bodies sorted into the cells of a hierarchical grid.
 *
 * Every bounded body has a fat radius, its radius plus a margin (talus_body_margin)
 *     envelope size / 2 + h (|v - d| + |d| / 2 + friction (|v - d| + surface speed) + spin + reference speed)
 * so that the envelope of two such bodies is at most the sum of their margins. The drift d is the mean velocity of the
 * sampled bodies, or 0 (TalusGrid.drift); spin is the speed at which rotation may close a gap
 * (talus_closing_spin_speed). Bodies are divided into levels by size: the cells of a level are at least as wide as the
 * fat diameters of its bodies, so partners of one level are in the same or in neighbouring cells.
 *
 * The cells of a level form a box of at most two cells per body (one from 2^29 bodies on), or 27, periodic in all
 * directions. Bodies outside fold back into it, so a body far away costs nothing, and the cells of a row are contiguous
 * in memory. Cell edges are edge_factor times powers of two; edge_factor and the box are chosen from a sample of
 * bodies (grid_level.h). These choices affect the speed of the search, never its result. Walls (wall.h) are not in the grid. */
#ifndef TALUS_COLLIDE_GRID_H
#define TALUS_COLLIDE_GRID_H

#include "collide/fit.h"
#include "collide/sort.h"

#include <stdatomic.h>

/* Bit of TalusGrid.entry[].b, set unless the body is a free sphere. The other bits are the slot of the body. */
#define TALUS_NOT_FREE_SPHERE UINT32_C(0x80000000)

/* A body in units of TalusGrid.unit, a power of two, so that scaling positions is exact. */
typedef struct TalusGridBody {
    double x, y, z; /* position */
    double fat;     /* fat radius */
} TalusGridBody;

/* Image of a body, shifted by a period along the axes whose bits (1 << axis) are set in `shift`. */
typedef struct TalusGridImage {
    uint32_t body; /* slot */
    uint8_t shift;
} TalusGridImage;

typedef struct TalusGrid {
    /* Valid during a call. */
    const TalusBodyView *bodies;
    const TalusDetectOptions *options;
    int sampled;     /* number of sampled free bodies; 0: there are none, so nothing can touch */
    TalusVec3 drift; /* mean velocity of the sample, m/s; 0 if that clips margins (make_images) */
    double unit;     /* m: the power of two above the mean fat radius of the sample */
    double per_unit; /* 1 / unit */
    double edge_factor;      /* cell edges are edge_factor times a power of two, in units */
    double large;            /* m: a larger fat radius makes a body that is not free a wall */
    bool with_skin;          /* fat radii in the grid contain the skin (neighbours.h) */
    TalusVec3 low, high;     /* box that contains most of the sample, in units */
    atomic_llong bad_body;   /* lowest slot for talus_refuse_bad_numbers; INT64_MAX: none */
    atomic_llong odd_sphere; /* lowest slot for talus_refuse_sphere_size; INT64_MAX: none */

    TalusLevel level[TALUS_MAX_LEVELS]; /* coarsest first */
    int levels;
    uint32_t cells;                             /* of all levels */
    uint32_t members;                           /* bodies and images in the grid */
    atomic_uint size_class[TALUS_SIZE_CLASSES]; /* bodies and images by talus_size_class */
    uint8_t level_of_class[TALUS_SIZE_CLASSES]; /* set for classes with bodies */

    TalusWall *wall; /* in units */
    int walls;

    float *fat; /* by slot, then image; units; 0: not in the grid; < 0: not a free sphere */
    /* Bodies and images, sorted by cell; dead slots and walls last. a: cell; b: slot and TALUS_NOT_FREE_SPHERE. */
    TalusPair *entry;
    uint32_t *start;     /* [cells + 2]: first entry of each cell; cell `cells`: not in the grid */
    TalusGridBody *body; /* [members], in the order of entry, in the scratch block */
    float *radius; /* [members], units: radii (TalusBodyView), rounded down; in the scratch block */

    /* In periodic space (grid_images.c), a body near a lower side has an entry for each of its images beyond the upper
     * side. Images are numbered from bodies->count. */
    TalusFit fit;
    TalusGridImage *images; /* [image_count] */
    int image_count;
    uint8_t
        *image; /* [members]: bits of the axes along which the entry is shifted; NULL: no period */
    uint8_t *image_memory; /* memory of image, kept while image is NULL */
} TalusGrid;

/* Some slots, ascending; slot NULL: the first `count`. */
typedef struct TalusSlots {
    const uint32_t *slot;
    int count;
} TalusSlots;

/* Memory that the grid and the sorting of pairs use one after the other. */
typedef struct TalusScratch {
    unsigned char *block;
    TalusSorter sorter;
} TalusScratch;

/* Lists the walls and sorts all other bodies into cells; without a free body there are no cells and no members. Keeps
 * `bodies` and `options` for the search. with_skin: fat radii contain the skin of a list of neighbours. Fails as talus_detect does for a faulty body, a body or wall that does not fit
 * the period, or too many cells or images; the grid is then incomplete. */
TalusStatus talus_grid_build(TalusGrid *grid, TalusPool *pool, TalusScratch *scratch,
                             const TalusBodyView *bodies, const TalusDetectOptions *options,
                             bool with_skin);
/* Lists the walls among some slots, as talus_grid_build does, with the grid's drift, unit and large. */
TalusStatus talus_grid_collect_walls(TalusGrid *grid, const TalusSlots *among);
/* Returns the fat radius of slot i in units, negated if the body is not a free sphere; 0 for a dead slot or a wall. Also
 * returns 0 for a body with faulty numbers, which talus_grid_check_bodies refuses. */
float talus_grid_measure_body(TalusGrid *grid, uint32_t i);
/* Before bodies are measured, and after: fails if a body has faulty numbers. */
void talus_grid_start_check(TalusGrid *grid);
TalusStatus talus_grid_check_bodies(const TalusGrid *grid);
/* Releases the memory of the grid; its pointers stay set. */
void talus_grid_clear(TalusGrid *grid);

/* ---- grid_images.c ---- */
/* Computes grid->fit: the limit of fat radii; clips margins of walls (fit.h). Fails if a body or wall would meet two
 * images of another even at rest, or if a plane is not parallel to a periodic axis. */
TalusStatus talus_grid_fit_period(TalusGrid *grid);
/* Clips fat radii to the limit and counts the bodies that may miss a contact by it (fit.clipped); then makes all
 * images, sets their fat radii and counts them in size_class. Sets grid->image, not yet its elements. Fails if bodies
 * and images exceed 31 bits. */
TalusStatus talus_grid_make_images(TalusGrid *grid);

#endif
