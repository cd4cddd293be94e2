/* collide/narrow.h - narrow phase: the manifold points of two shapes. */
#ifndef TALUS_COLLIDE_NARROW_H
#define TALUS_COLLIDE_NARROW_H

#include "collide/envelope.h"

/* A shape at a position. */
typedef struct TalusPose {
    const TalusShape *shape;
    double radius; /* sphere radius, else bounding radius; m */
    TalusVec3 position;
    TalusQuat orientation;
} TalusPose;

TALUS_INLINE TalusPose talus_pose_of(const TalusBodyView *v, uint32_t i)
{
    TalusPose pose = {&v->shapes[v->shape[i]], v->radius[i], v->position[i], v->orientation[i]};
    return pose;
}

/* Pose of the image of b that is nearest to a. */
TALUS_INLINE TalusPose talus_pose_of_image(const TalusBodyView *v, uint32_t a, uint32_t b)
{
    TalusPose pose = talus_pose_of(v, b);
    if (v->period)
        pose.position = talus_add(v->position[a], talus_body_distance(v, a, b));
    return pose;
}

/* One manifold point. The normal points from a to b. x_a + arm_a and x_b + arm_b are the points on the two surfaces,
 * `gap` apart along the normal. */
typedef struct TalusManifoldPoint {
    uint32_t feature;
    TalusVec3 normal;
    double gap;
    TalusVec3 arm_a, arm_b;
} TalusManifoldPoint;

/* Changes of a manifold point before the sink gets it: bodies are swapped, parts of compounds become bodies. */
typedef struct TalusManifoldRoute {
    bool swapped;         /* the contact function was called with (b, a) */
    bool parts;           /* the point is one of two parts of compounds */
    uint32_t part;        /* distinguishes the pair of parts */
    TalusVec3 of_a, of_b; /* origins of the parts less the positions of the bodies */
} TalusManifoldRoute;

/* Receives manifold points one at a time, so that a pair may have any number. */
typedef void TalusManifoldFn(void *context, const TalusManifoldPoint *touch);

/* Passes all manifold points of the pair with a gap below `reach` to fn; the two shapes may come in either order.
 * Features are distinct and stay the same while the same parts of the bodies touch. Returns false if the two shapes
 * have no contact function and their bounds are within reach of each other. */
bool talus_narrow(const TalusPose *a, const TalusPose *b, double reach, TalusManifoldFn *fn,
                  void *context);

#endif
