/* draw/ground.h - the shadow on the plane picture->ground_point, ground_normal; nothing else of this plane is visible.
 *
 * The shadow is smooth, so it is computed on a coarse grid of pixels. A lamp of a pass is one sampled direction and
 * stands for the part of the sky, or of the key light's disc, around that direction. The shadow of a lamp is blurred by
 * the angle of its part; otherwise a picture of few passes would show the outline of each shadow. */
#ifndef TALUS_DRAW_GROUND_H
#define TALUS_DRAW_GROUND_H

#include "draw/lamp.h"
#include "draw/picture.h"

/* Shadow at the nodes of a grid over the picture. */
typedef struct TalusGroundShadow {
    int columns, rows;
    float *shade; /* [columns * rows]: share of the light lost at each node; 0 off the ground */
} TalusGroundShadow;

/* A lamp of a pass. */
typedef struct TalusGroundLamp {
    const TalusLamp *lamp;
    float light; /* light on a face towards the lamp */
    float angle; /* half angle of the part of the sky or disc that the lamp stands for, radians */
} TalusGroundLamp;

/* Allocates a grid for the size of the picture, without any shadow yet. */
TalusStatus talus_ground_shadow_create(const TalusPicture *picture, TalusGroundShadow *out);
/* Releases the grid and zeroes it; accepts a zeroed one. */
void talus_ground_shadow_free(TalusGroundShadow *ground);
/* Adds the shadows of one pass to the grid: the light of lamps[count] that is lost, over the light on unobstructed
 * ground, weighted by 1 / passes. The first lamp is the key light. */
void talus_ground_shadow_add_pass(TalusGroundShadow *ground, const TalusPicture *picture,
                                  const TalusGroundLamp *lamps, int count, int passes,
                                  TalusPool *pool);
/* Blends the shadow, black, behind the solids in `light`, the result of talus_picture_expose: raises the opacity. */
void talus_ground_shadow_blend(const TalusGroundShadow *ground, const TalusPicture *picture,
                               TalusPool *pool, float *light);

#endif
