/* collide/cast.h - where a moving sphere first meets a shape. */
#ifndef TALUS_COLLIDE_CAST_H
#define TALUS_COLLIDE_CAST_H

#include "geometry/shape.h"

#include <stdbool.h>

/* A sphere whose centre moves along a unit direction, in the frame of the shape. */
typedef struct TalusCast {
    TalusVec3 from, direction;
    double radius;
} TalusCast;

/* On entry `distance` is the length of the way; where the shape is met before its end, the way to there, with the outward
 * normal of the shape in its frame. */
typedef struct TalusCastHit {
    double distance;
    TalusVec3 normal;
} TalusCastHit;

/* True if the sphere meets the shape within hit->distance. A sphere that touches the shape from the start meets it at 0; if
 * its centre is inside, the normal is against the direction. `radius`: of the body, used for spheres only. */
bool talus_cast(const TalusShape *shape, double radius, const TalusCast *cast, TalusCastHit *hit);

#endif
