/* draw/panes.h - draws containers into a view after its solids. */
#ifndef TALUS_DRAW_PANES_H
#define TALUS_DRAW_PANES_H

#include "draw/picture.h"

/* Value of `hit` for a pixel that sees opaque pane k. */
#define TALUS_PANE_HIT(k) (-2 - (k))

/* Draws into `raster` the opaque panes whose inside is visible; they cast no shadows. */
TalusStatus talus_panes_draw(const TalusPicture *picture, const TalusView *view,
                             TalusRaster *raster, TalusPool *pool);

/* Computes the light that ghosts, or shown panes omitted by talus_panes_draw, transmit; 1 without one. */
TalusStatus talus_panes_veil(const TalusPicture *picture, const TalusView *view,
                             const TalusRaster *raster, TalusPool *pool, float *left);

/* Depth and unit normal of pane k on the ray of a pixel, in view coordinates. */
bool talus_pane_hit(const TalusPane *pane, const TalusView *view, int x, int y, float *t,
                    TalusF3 *normal);

#endif
