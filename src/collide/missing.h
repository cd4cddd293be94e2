/* collide/missing.h - after a solve: which contacts a list lacks; for host and device.
 *
 * A contact point is missing if the list has no such contact and the two bodies would end the step overlapping there by
 * more than h times the tolerance. */
#ifndef TALUS_COLLIDE_MISSING_H
#define TALUS_COLLIDE_MISSING_H

#include "collide/cell.h"
#include "collide/narrow.h"

/* Largest gap between two bodies that can close within h. */
TALUS_INLINE double talus_closable_gap(const TalusBodyView *v, double h, uint32_t a, uint32_t b)
{
    double speed = talus_sliding_speed(v, a, b);
    if (v->gradient)
        speed += talus_gradient_norm(v->gradient) * talus_norm(talus_vector_between(v, a, b));
    return h * speed * (1.0 + 0x1p-40);
}

/* True if the shape of the body is convex or a plane; compounds are neither. */
TALUS_INLINE bool talus_is_convex_or_plane(const TalusBodyView *v, uint32_t body)
{
    return talus_shape_has(talus_body_kind(v, body), TALUS_TRAIT_CONVEX | TALUS_TRAIT_HALF_SPACE);
}

/* True if one contact of the two bodies keeps them from passing through each other elsewhere, because each is convex or
 * a plane: a pair that has a contact then needs no check. */
TALUS_INLINE bool talus_one_contact_guards(const TalusBodyView *v, uint32_t a, uint32_t b)
{
    return talus_is_convex_or_plane(v, a) && talus_is_convex_or_plane(v, b);
}

/* Velocity of the point of a body at the end of its arm. */
TALUS_INLINE TalusVec3 talus_point_velocity(const TalusBodyView *v, uint32_t body, TalusVec3 arm)
{
    if (v->mobility[body] == TALUS_MOBILITY_FIXED)
        return talus_vec3(0.0, 0.0, 0.0);
    if (!v->spin)
        return v->velocity[body];
    return talus_add(v->velocity[body], talus_cross(v->spin[body], arm));
}

/* True if bodies a and b would overlap at a contact point, after h, by more than h times the tolerance. */
TALUS_INLINE bool talus_ends_overlapping(const TalusBodyView *v, uint32_t a, uint32_t b,
                                         const TalusManifoldPoint *point, double h,
                                         double tolerance)
{
    TalusVec3 u = talus_sub(talus_point_velocity(v, b, point->arm_b),
                            talus_point_velocity(v, a, point->arm_a));
    if (v->gradient)
        u = talus_add(u, talus_gradient_velocity(v->gradient, talus_vector_between(v, a, b)));
    return point->gap + h * talus_dot(point->normal, u) < -h * tolerance;
}

#endif
