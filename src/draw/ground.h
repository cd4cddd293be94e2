/* draw/ground.h - the shadow on the plane picture->ground_point, ground_normal; nothing else of this plane is visible.
 *
 * The shadow is smooth, so it is computed on a coarse grid of pixels. A lamp of a pass is one sample direction and
 * stands for the part of the sky, or of the key light's disc, around it. Its shadow is blurred by the angle of that
 * part; otherwise a picture of few passes would show the outline of each shadow. */
#ifndef TALUS_DRAW_GROUND_H
#define TALUS_DRAW_GROUND_H

#include "draw/lamp.h"
#include "draw/picture.h"

typedef struct TalusGround {
    int columns, rows;
    float *shade; /* [columns * rows]: share of the light that is lost at each node */
} TalusGround;

typedef struct TalusGroundLamp {
    const TalusLamp *lamp;
    float light, angle; /* light on a face towards it; half angle of the part, radians */
} TalusGroundLamp;

/* Makes a grid without shadow for the size of the picture. */
TalusStatus talus_ground_shadow_create(const TalusPicture *picture, TalusGround *out);
void talus_ground_free(TalusGround *ground);
/* Adds the shadows of one pass with lamps[count], of which the first is the key light: the light lost over the light on
 * unobstructed ground, weighted by 1 / passes. */
void talus_ground_add(TalusGround *ground, const TalusPicture *picture,
                      const TalusGroundLamp *lamps, int count, int passes, TalusPool *pool);
/* Draws the shadow, black, behind the solids in `light`, the picture of talus_picture_expose: raises its opacity. */
void talus_ground_composite(const TalusGround *ground, const TalusPicture *picture, TalusPool *pool,
                            float *light);

#endif
