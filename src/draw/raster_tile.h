/* draw/raster_tile.h - state of a tile (TILE x TILE pixels) while it is drawn, shared by raster.c and raster_faces.c;
 * ghost.c uses splats and rows. */
#ifndef TALUS_DRAW_RASTER_TILE_H
#define TALUS_DRAW_RASTER_TILE_H

#include "draw/raster.h"

enum {
    TILE = 64,            /* width and height of a tile, pixels */
    BLOCK = 8,            /* width and height of a block, pixels */
    BLOCKS = TILE / BLOCK /* blocks in a row of a tile */
};

/* Projection of a solid: a lower bound of its depth, and a rectangle of pixels that contains all pixels it covers. */
typedef struct TalusSplat {
    float near;         /* lower bound of the depth, m */
    int x0, x1, y0, y1; /* pixels x0 <= x < x1, y0 <= y < y1 */
} Splat;

/* Arguments of talus_raster_draw for its chunks and tiles. */
typedef struct RasterJob {
    TalusRaster *raster;
    const TalusSolids *solids;
    const TalusView *view;
    TalusCut cut;   /* of the solids, in view coordinates */
    int tiles_x;    /* number of tiles in a row */
    int tiles;      /* number of tiles in the picture */
    int64_t grain;  /* solids per chunk of the parallel loops */
    int64_t chunks; /* number of chunks */
} RasterJob;

/* A tile while it is drawn; it is divided into BLOCKS x BLOCKS blocks. */
typedef struct Tile {
    const RasterJob *job;
    int x0, x1, y0, y1;          /* pixels x0 <= x < x1, y0 <= y < y1 */
    float far[BLOCKS * BLOCKS];  /* upper bound of the depths in each block */
    bool dirty[BLOCKS * BLOCKS]; /* the block may have changed since `far` was computed */
    float u[TILE];               /* view coordinate x at depth 1 of the rays of each column */
} Tile;

/* Writes solid `index` at depth t into a pixel if it is nearer than the solid there, or as near with a smaller index.
 * `face` is the facet of a polyhedron, -1 on the face of a cut, 0 for others. If raster->hit is NULL, only depth. */
static inline void write_if_nearest(TalusRaster *raster, size_t pixel, float t, int32_t index,
                                    int32_t face)
{
    float *depth = &raster->depth[pixel];
    if (raster->hit && (t < *depth || (t == *depth && index < raster->hit[pixel]))) {
        raster->hit[pixel] = index;
        raster->face[pixel] = face;
    }
    *depth = fminf(*depth, t);
}

/* Interval of x that a convex polygon covers at the middle of each pixel row of a splat, which is at most TILE high. */
typedef struct Rows {
    int first, end;              /* rows first <= y < end */
    float low[TILE], high[TILE]; /* ends of the interval in row y at index y - splat.y0, pixels */
} Rows;

/* Returns the first pixel whose middle is not below x, clamped to [least, most]. Returns `least` if x is NaN, as from a
 * corner at depth 0, which is possible if a level of a figure in a file reaches outside the box of the finest one. */
static inline int first_pixel_from(float x, int least, int most)
{
    x -= 0.5f;
    if (!(x > (float)least))
        return least;
    if (x >= (float)most)
        return most;
    int whole = (int)x;
    return whole + ((float)whole < x);
}

/* Loops over the rows y of a convex polygon, with its pixels x0 <= x < x1 in each. */
#define FOR_ROWS(s, rows, y, x0, x1)                                             \
    for (int y = (rows)->first, x0, x1;                                          \
         y < (rows)->end &&                                                      \
         (x0 = first_pixel_from((rows)->low[y - (s)->y0], (s)->x0, (s)->x1),     \
         x1 = first_pixel_from((rows)->high[y - (s)->y0], (s)->x0, (s)->x1), 1); \
         y++)

/* Returns the splat of a solid; its rectangle is empty if the solid is out of view or not all in front of the eye. */
Splat talus_project_splat(const TalusSolids *solids, int index,
                          const TalusView *view); /* raster.c */

/* Sets `rows` to the intervals of x that a triangle covers in the rows of a splat. */
void talus_find_triangle_rows(const TalusView *view, const Splat *s,
                              const TalusViewedSolid *triangle, Rows *rows);

/* Draws a polyhedron or a triangle by its faces; a triangle seen from its transparent side is not drawn. Returns false
 * for spheres and tubes, which must be drawn ray by ray. */
bool talus_draw_by_faces(const Tile *tile, const Splat *s, int32_t index,
                         const TalusViewedSolid *solid);

#endif
