/* draw/ghost.h - ghosts: nearly transparent walls of containers and lines along their edges, over opaque solids. */
#ifndef TALUS_DRAW_GHOST_H
#define TALUS_DRAW_GHOST_H

#include "draw/picture.h"

/* Writes into `transmitted` the share of light that passes the ghosts at each pixel; 1 where there is none. Ghosts are
 * all lines, and all walls if the container is a ghost; if it is shown, the walls that the camera sees from their
 * transparent side. Solids in the two rasters `opaque` hide ghosts behind them; the second one may have depth NULL.
 * On failure nothing is written. */
TalusStatus talus_ghosts_draw(const TalusPicture *picture, const TalusView *view,
                              const TalusRaster *const opaque[2], TalusPool *pool,
                              float *transmitted);

#endif
