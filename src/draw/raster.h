/* draw/raster.h - which solid each pixel sees, and how far away.
 *
 * Every pixel's ray is intersected with spheres and tubes, and with the planes of facets. The nearest wins,
 * and of two at the same depth the one with the smaller index, so that the result depends neither on
 * the order of work nor on the number of threads. */
#ifndef TALUS_DRAW_RASTER_H
#define TALUS_DRAW_RASTER_H

#include "draw/solid.h"

#include <talus/backend.h>

typedef struct TalusRaster {
    int width, height;
    float *depth;  /* INFINITY where nothing is seen */
    int32_t *hit;  /* index of the solid, -1 for none; NULL where only depths are wanted */
    int32_t *face; /* where a polyhedron is seen: its facet, -1 where it is cut; NULL as `hit` */
    /* work */
    struct TalusSplat *splat;
    uint32_t *list, *sorted;
    int64_t *start;
} TalusRaster;

/* A zeroed raster is empty. */
TalusStatus talus_raster_draw(TalusRaster *raster, const TalusSolids *solids, const TalusView *view,
                              bool hits, TalusPool *pool);
void talus_raster_clear(TalusRaster *raster);

#endif
