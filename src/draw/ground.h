/* draw/ground.h - the shadow on the ground, which is all that is seen of it.
 *
 * It is smooth, so it is computed on a coarse grid of pixels. Each lamp of a pass stands for the part of
 * the sky or of the key light's disc around it: its shadow is blurred by that angle, or a picture of
 * few passes would show the outlines of each. */
#ifndef TALUS_DRAW_GROUND_H
#define TALUS_DRAW_GROUND_H

#include "draw/lamp.h"
#include "draw/picture.h"

typedef struct TalusGround {
    int columns, rows;
    float *shade; /* of each node, the part of the light that is lost */
} TalusGround;

/* One lamp of a pass: its light on a face towards it, and the half angle it stands for, radians. */
typedef struct TalusGroundLamp {
    const TalusLamp *lamp;
    float light, angle;
} TalusGroundLamp;

TalusStatus talus_ground_create(const TalusPicture *picture, TalusGround *out);
void talus_ground_free(TalusGround *ground);
/* Adds what the lamps of one of `passes` passes do not reach. */
void talus_ground_add(TalusGround *ground, const TalusPicture *picture,
                      const TalusGroundLamp *lamps, int count, int passes, TalusPool *pool);
/* Lays the shadow below what `light` has (talus_picture_expose). */
void talus_ground_lay(const TalusGround *ground, const TalusPicture *picture, TalusPool *pool,
                      float *light);

#endif
