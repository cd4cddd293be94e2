/* collide/narrow.h - where two shapes touch. */
#ifndef TALUS_COLLIDE_NARROW_H
#define TALUS_COLLIDE_NARROW_H

#include "collide/envelope.h"

/* A shape where it is. */
typedef struct TalusPose {
    const TalusShape *shape;
    double radius; /* of a sphere; bounding radius of others */
    TalusVec3 position;
    TalusQuat orientation;
} TalusPose;

TALUS_INLINE TalusPose talus_pose_of(const TalusBodyView *v, uint32_t i)
{
    TalusPose pose = {&v->shapes[v->shape[i]], v->radius[i], v->position[i], v->orientation[i]};
    return pose;
}

/* The same of b beside a: its image that is nearest to a. */
TALUS_INLINE TalusPose talus_pose_beside(const TalusBodyView *v, uint32_t a, uint32_t b)
{
    TalusPose pose = talus_pose_of(v, b);
    if (v->period)
        pose.position = talus_add(v->position[a], talus_body_distance(v, a, b));
    return pose;
}

/* One point of contact. The normal points from a to b; x_a + arm_a and x_b + arm_b are the points
 * on the two surfaces, `gap` apart along the normal. */
typedef struct TalusManifoldPoint {
    uint32_t feature;
    TalusVec3 normal;
    double gap;
    TalusVec3 arm_a, arm_b;
} TalusManifoldPoint;

/* How touches reach the pair that is asked about: from its bodies in the other order, or from parts of them. */
typedef struct TalusManifoldRoute {
    bool swapped;
    bool parts;    /* the touch is of the two parts, whose origins lie at these arms */
    uint32_t part; /* tells them from others */
    TalusVec3 of_a, of_b;
} TalusManifoldRoute;

/* Takes touches one at a time, so that a pair may have any number of them. */
typedef void TalusManifoldFn(void *context, const TalusManifoldPoint *touch);

/* Reports all touches of the pair with a gap below `reach`, in either order of the two shapes.
 * Features are distinct and stay the same while the same parts of the bodies touch. False if the two
 * shapes have no contact function and are within reach of each other, as far as their bounds tell. */
bool talus_narrow(const TalusPose *a, const TalusPose *b, double reach, TalusManifoldFn *fn,
                  void *context);

#endif
