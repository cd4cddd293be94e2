/* draw/ground.h - the shadow on the ground; nothing else of the ground is visible.
 *
 * The shadow is smooth, so it is computed on a coarse grid of pixels. Each lamp of a pass stands for the
 * surrounding part of the sky or of the key light's disc. Its shadow is blurred by that angle; otherwise a picture
 * of few passes would show the outline of each shadow. */
#ifndef TALUS_DRAW_GROUND_H
#define TALUS_DRAW_GROUND_H

#include "draw/lamp.h"
#include "draw/picture.h"

typedef struct TalusGround {
    int columns, rows;
    float *shade; /* lost share of the light at each node */
} TalusGround;

/* One lamp of a pass: its light on a face towards it, and the half angle that it stands for, radians. */
typedef struct TalusGroundLamp {
    const TalusLamp *lamp;
    float light, angle;
} TalusGroundLamp;

TalusStatus talus_ground_create(const TalusPicture *picture, TalusGround *out);
void talus_ground_free(TalusGround *ground);
/* Adds the light that the lamps of one of `passes` passes lose. */
void talus_ground_add(TalusGround *ground, const TalusPicture *picture,
                      const TalusGroundLamp *lamps, int count, int passes, TalusPool *pool);
/* Composites the shadow below the content of `light` (talus_picture_expose). */
void talus_ground_composite(const TalusGround *ground, const TalusPicture *picture, TalusPool *pool,
                            float *light);

#endif
