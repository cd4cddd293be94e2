/* draw/raster.h - visible solid and depth of each pixel.
 *
 * Every pixel's ray is intersected with spheres and tubes, and with the planes of facets and triangles. The nearest
 * solid wins; at equal depth the one with the smaller index, so that the result depends neither on the order of work
 * nor on the number of threads. */
#ifndef TALUS_DRAW_RASTER_H
#define TALUS_DRAW_RASTER_H

#include "draw/solid.h"

#include <talus/backend.h>

typedef struct TalusRaster {
    int width, height;
    float *depth;  /* [pixels]: depth along the view axis; INFINITY where nothing is visible */
    int32_t *hit;  /* [pixels]: index of the solid, -1: none; NULL: only depths are wanted */
    int32_t *face; /* [pixels]: facet of the polyhedron hit, -1 on the cut's face; else unused */
    /* work space of talus_raster_draw */
    struct TalusSplat *splat; /* [solids]: their projections */
    uint32_t *list;           /* solids by tile */
    uint32_t *sorted;         /* as list, within each tile roughly from near to far */
    int64_t *start; /* [chunks][tiles]: index in list of the next solid of this chunk and tile */
} TalusRaster;

/* Fills the raster, zero-initialised or drawn before with equal `hits`, for the size of `view`: with `hits` depth, hit
 * and face, without only depth. On failure the arrays are incomplete, but talus_raster_clear releases them. */
TalusStatus talus_raster_draw(TalusRaster *raster, const TalusSolids *solids, const TalusView *view,
                              bool hits, TalusPool *pool);
/* Releases all memory and zeroes the raster. */
void talus_raster_clear(TalusRaster *raster);

#endif
