/* draw/panes.h - containers in a view whose solids are drawn already. */
#ifndef TALUS_DRAW_PANES_H
#define TALUS_DRAW_PANES_H

#include "draw/picture.h"

/* hit of a pixel that sees pane k, whose surface is opaque */
#define TALUS_PANE_HIT(k) (-2 - (k))

/* Opaque panes: those whose inside is seen enter `raster`; they do not cast shadows. */
TalusStatus talus_panes_draw(const TalusPicture *picture, const TalusView *view,
                             TalusRaster *raster, TalusPool *pool);

/* What ghosts leave of the light behind them, 1 where there is none: with container shown, of the
 * panes left out above. */
TalusStatus talus_panes_veil(const TalusPicture *picture, const TalusView *view,
                             const TalusRaster *raster, TalusPool *pool, float *left);

/* Point and unit normal of pane k on the ray of a pixel, in view coordinates. */
bool talus_pane_hit(const TalusPane *pane, const TalusView *view, int x, int y, float *t,
                    TalusF3 *normal);

#endif
