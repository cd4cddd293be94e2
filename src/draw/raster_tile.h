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
    bool touched[BLOCKS * BLOCKS];
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

/* Draws polyhedra and triangles by their faces; returns false if the solid must be drawn ray by ray. */
bool talus_draw_faces(const Tile *tile, const Splat *s, int32_t index, const TalusPlaced *solid);

#endif
