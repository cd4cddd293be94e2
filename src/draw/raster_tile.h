/* draw/raster_tile.h - state of a tile while it is drawn, shared by raster.c and raster_faces.c. */
#ifndef TALUS_DRAW_RASTER_TILE_H
#define TALUS_DRAW_RASTER_TILE_H

#include "draw/raster.h"

enum { TILE = 64, BLOCK = 8, BLOCKS = TILE / BLOCK };

typedef struct TalusSplat {
    float near;
    int x0, x1, y0, y1; /* pixels x0 <= x < x1 */
} Splat;

typedef struct Job {
    TalusRaster *raster;
    const TalusSolids *solids;
    const TalusView *view;
    TalusCut cut;
    int tiles_x, tiles;
    int64_t grain, chunks;
} Job;

typedef struct Tile {
    const Job *job;
    int x0, x1, y0, y1;
    float far[BLOCKS * BLOCKS]; /* largest depth in each block */
    bool dirty[BLOCKS * BLOCKS];
    float u[TILE]; /* of the rays of each column */
} Tile;

/* `face` is the facet of a polyhedron, -1 where it is cut. */
static inline void keep_nearest(TalusRaster *raster, size_t pixel, float t, int32_t index,
                                int32_t face)
{
    float *depth = &raster->depth[pixel];
    if (raster->hit && (t < *depth || (t == *depth && index < raster->hit[pixel]))) {
        raster->hit[pixel] = index;
        raster->face[pixel] = face;
    }
    *depth = fminf(*depth, t);
}

/* Intervals of pixels that a convex polygon covers, in rows of a splat at most TILE high. */
typedef struct Rows {
    int first, end;
    float low[TILE], high[TILE];
} Rows;

/* First pixel whose middle is not below x. Returns `least` if x is NaN, as for a corner behind the eye: levels of a
 * figure from a file need not lie within one another. */
static inline int pixel_from(float x, int least, int most)
{
    x -= 0.5f;
    if (!(x > (float)least))
        return least;
    if (x >= (float)most)
        return most;
    int whole = (int)x;
    return whole + ((float)whole < x);
}

/* Loops over the interval of pixels in each row of a convex polygon. */
#define FOR_ROWS(s, rows, y, x0, x1)                                                          \
    for (int y = (rows)->first, x0, x1;                                                       \
         y < (rows)->end && (x0 = pixel_from((rows)->low[y - (s)->y0], (s)->x0, (s)->x1),     \
                            x1 = pixel_from((rows)->high[y - (s)->y0], (s)->x0, (s)->x1), 1); \
         y++)

/* Rectangle of pixels and nearest depth of a solid; empty if it is not in front of the eye. */
Splat talus_splat(const TalusSolids *solids, int index, const TalusView *view); /* raster.c */

/* Rows of a triangle within a splat. */
void talus_triangle_rows(const TalusView *view, const Splat *s, const TalusViewedSolid *triangle,
                         Rows *rows);

/* Draws polyhedra and triangles by their faces; returns false if the solid must be drawn ray by ray. */
bool talus_draw_faces(const Tile *tile, const Splat *s, int32_t index,
                      const TalusViewedSolid *solid);

#endif
