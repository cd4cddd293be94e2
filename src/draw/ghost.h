/* draw/ghost.h - transparent walls of containers and their lines, drawn over a view of what is opaque. */
#ifndef TALUS_DRAW_GHOST_H
#define TALUS_DRAW_GHOST_H

#include "draw/picture.h"

/* Computes the light that ghosts transmit at each pixel, 1 without one: all walls if the container is a ghost, and if
 * it is shown those that the camera sees from their transparent side. `opaque`: two rasters that hide what is behind
 * them; the depths of the second may be NULL. */
TalusStatus talus_ghosts_draw(const TalusPicture *picture, const TalusView *view,
                              const TalusRaster *const opaque[2], TalusPool *pool,
                              float *transmitted);

#endif
