/* collide/narrow.h - narrow phase: the manifold points of two shapes. */
#ifndef TALUS_COLLIDE_NARROW_H
#define TALUS_COLLIDE_NARROW_H

#include "collide/envelope.h"

/* A shape with position and orientation in space. */
typedef struct TalusPose {
    const TalusShape *shape;
    double radius; /* sphere radius, else bounding radius, m; 0: unbounded */
    TalusVec3 position;
    TalusQuat orientation;
} TalusPose;

/* Shape, radius, position and orientation of the body in slot i. */
TALUS_INLINE TalusPose talus_pose_of(const TalusBodyView *v, uint32_t i)
{
    TalusPose pose = {&v->shapes[v->shape[i]], v->radius[i], v->position[i], v->orientation[i]};
    return pose;
}

/* Pose of b; in periodic space, of its image that is nearest to a. */
TALUS_INLINE TalusPose talus_pose_of_nearest_image(const TalusBodyView *v, uint32_t a, uint32_t b)
{
    TalusPose pose = talus_pose_of(v, b);
    if (v->period)
        pose.position = talus_add(v->position[a], talus_vector_between(v, a, b));
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

/* How talus_manifold_add changes a manifold point before it goes to the sink. */
typedef struct TalusManifoldRoute {
    bool swapped;         /* the contact function was called with (b, a): swap back */
    bool parts;           /* the contact function was called with parts of compounds; then: */
    uint32_t part;        /* number of the pair of parts, hashed; mixed into features */
    TalusVec3 of_a, of_b; /* position of the part minus that of the body */
} TalusManifoldRoute;

/* Receives manifold points one at a time, so that a pair may have any number. */
typedef void TalusManifoldReceiver(void *context, const TalusManifoldPoint *touch);

/* Passes the manifold points of the pair with a gap below `reach` to fn; the two shapes may come in either order.
 * Features are distinct (of compounds up to collisions of a hash, talus_manifold_add) and stay the same while the same
 * faces, edges and vertices touch. Returns false if the two shapes, or two of their parts, have no contact function and
 * their bounds are within reach of each other. */
bool talus_narrow(const TalusPose *a, const TalusPose *b, double reach, TalusManifoldReceiver *fn,
                  void *context);

#endif
