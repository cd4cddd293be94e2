/* collide/simple_manifold.h - passes manifold points to their sink; closed forms for spheres against spheres, planes,
 * boxes, cylinders and revolves, and for boxes and cylinders against planes. Part of pair_table.h, which includes
 * it. */
#ifndef TALUS_COLLIDE_SIMPLE_MANIFOLD_H
#define TALUS_COLLIDE_SIMPLE_MANIFOLD_H

#include "collide/narrow.h"
#include "geometry/closest.h"

#if !defined(TALUS_MANIFOLD_SINK) || !defined(TALUS_MANIFOLD_RECEIVE)
#error "define TALUS_MANIFOLD_SINK and TALUS_MANIFOLD_RECEIVE before including collide/pair_table.h"
#endif

/* Passes a point to the sink, changed as sink->route says: points of (b, a) become points of (a, b), points of parts
 * become points of the bodies. The features of parts are hashed: the odd multiplier keeps features of one pair of parts
 * distinct; features of two pairs of parts are equal with a probability of about 2^-32. */
TALUS_INLINE void talus_manifold_add(TALUS_MANIFOLD_SINK *sink, const TalusManifoldPoint *touch)
{
    const TalusManifoldRoute *r = &sink->route;
    if (!r->swapped && !r->parts) {
        TALUS_MANIFOLD_RECEIVE(sink, touch);
        return;
    }
    TalusManifoldPoint t = *touch;
    if (r->swapped) {
        t.normal = talus_neg(touch->normal);
        t.arm_a = touch->arm_b;
        t.arm_b = touch->arm_a;
    }
    if (r->parts) {
        t.feature = (touch->feature + 1) * 0x9e3779b1u ^ r->part;
        t.arm_a = talus_add(r->of_a, t.arm_a);
        t.arm_b = talus_add(r->of_b, t.arm_b);
    }
    TALUS_MANIFOLD_RECEIVE(sink, &t);
}

/* ---- sphere ---------------------------------------------------------------------------------- */

/* Adds the contact of the sphere a with a surface of body b, if its gap is below `reach`. The centre of a is at signed
 * `distance` from the surface along the outward normal `out` (world frame), negative inside. */
TALUS_INLINE void talus_manifold_add_ball(const TalusPose *a, const TalusPose *b, uint32_t feature,
                                          TalusVec3 out, double distance, double reach,
                                          TALUS_MANIFOLD_SINK *sink)
{
    double gap = distance - a->radius;
    if (!(gap < reach))
        return;
    TalusVec3 on_b = talus_madd(a->position, -distance, out);
    TalusManifoldPoint touch = {feature, talus_neg(out), gap, talus_scale(-a->radius, out),
                                talus_sub(on_b, b->position)};
    talus_manifold_add(sink, &touch);
}

/* A sphere a against a revolve b, for the points that geometry/revolve.h finds. */
typedef struct TalusRevolveQuery {
    const TalusPose *a, *b;
    double reach;
    TALUS_MANIFOLD_SINK *sink;
} TalusRevolveQuery;

/* Adds the contact of the sphere with one point of the revolve. `normal` is in the frame of the revolve. */
TALUS_INLINE void talus_manifold_add_ring_point(const TalusRevolveQuery *ring, uint32_t feature,
                                                TalusVec3 normal, double distance)
{
    talus_manifold_add_ball(ring->a, ring->b, feature, talus_rotate(ring->b->orientation, normal),
                            distance, ring->reach, ring->sink);
}

#define TALUS_REVOLVE_SINK const TalusRevolveQuery
#define TALUS_REVOLVE_RECEIVE talus_manifold_add_ring_point
#include "geometry/revolve.h"

/* Adds the contact of sphere a with sphere b. */
TALUS_INLINE void talus_sphere_sphere(const TalusPose *a, const TalusPose *b, double reach,
                                      TALUS_MANIFOLD_SINK *sink)
{
    TalusVec3 d = talus_sub(a->position, b->position);
    TalusVec3 out = talus_normalize(d, talus_vec3(0.0, 0.0, 1.0));
    talus_manifold_add_ball(a, b, 0, out, talus_norm(d) - b->radius, reach, sink);
}

/* Adds the contact of sphere a with plane b. */
TALUS_INLINE void talus_sphere_plane(const TalusPose *a, const TalusPose *b, double reach,
                                     TALUS_MANIFOLD_SINK *sink)
{
    TalusVec3 out = talus_rotate(b->orientation, talus_vec3(0.0, 0.0, 1.0));
    double height = talus_dot(out, talus_sub(a->position, b->position));
    talus_manifold_add_ball(a, b, 0, out, height, reach, sink);
}

/* Point x of the world in the frame of a pose. */
TALUS_INLINE TalusVec3 talus_point_in_frame(const TalusPose *frame, TalusVec3 x)
{
    return talus_rotate_back(frame->orientation, talus_sub(x, frame->position));
}

/* Adds the contact of sphere a with box b. */
TALUS_INLINE void talus_sphere_box(const TalusPose *a, const TalusPose *b, double reach,
                                   TALUS_MANIFOLD_SINK *sink)
{
    TalusVec3 out;
    double distance =
        talus_box_distance(b->shape->def.half, talus_point_in_frame(b, a->position), &out);
    talus_manifold_add_ball(a, b, 0, talus_rotate(b->orientation, out), distance, reach, sink);
}

/* Adds the contact of sphere a with cylinder b. */
TALUS_INLINE void talus_sphere_cylinder(const TalusPose *a, const TalusPose *b, double reach,
                                        TALUS_MANIFOLD_SINK *sink)
{
    const TalusShapeDef *def = &b->shape->def;
    TalusVec3 out;
    double distance = talus_cylinder_distance(def->radius, def->half_height,
                                              talus_point_in_frame(b, a->position), &out);
    talus_manifold_add_ball(a, b, 0, talus_rotate(b->orientation, out), distance, reach, sink);
}

/* Adds the contacts of sphere a with revolve b. */
TALUS_INLINE void talus_sphere_revolve(const TalusPose *a, const TalusPose *b, double reach,
                                       TALUS_MANIFOLD_SINK *sink)
{
    const TalusShapeDef *def = &b->shape->def;
    TalusRevolveQuery ring = {a, b, reach, sink};
    talus_revolve_visit(def->profile, def->point_count, talus_point_in_frame(b, a->position),
                        a->radius + reach, &ring);
}

/* ---- plane ----------------------------------------------------------------------------------- */

/* Adds the contact of a point of body a, given by its arm, with the plane b of unit normal `up` (world frame), if its
 * gap is below `reach`. */
TALUS_INLINE void talus_manifold_add_plane_point(const TalusPose *a, const TalusPose *b,
                                                 uint32_t feature, TalusVec3 up, TalusVec3 arm,
                                                 double reach, TALUS_MANIFOLD_SINK *sink)
{
    TalusVec3 from_b = talus_add(talus_sub(a->position, b->position), arm);
    double gap = talus_dot(up, from_b);
    if (!(gap < reach))
        return;
    TalusManifoldPoint touch = {feature, talus_neg(up), gap, arm, talus_madd(from_b, -gap, up)};
    talus_manifold_add(sink, &touch);
}

/* Adds the contacts of the corners of box a with plane b. The feature numbers the corner: bits 0, 1, 2 are set on the
 * positive x, y, z side. */
TALUS_INLINE void talus_box_plane(const TalusPose *a, const TalusPose *b, double reach,
                                  TALUS_MANIFOLD_SINK *sink)
{
    TalusVec3 up = talus_rotate(b->orientation, talus_vec3(0.0, 0.0, 1.0));
    TalusVec3 h = a->shape->def.half;
    for (uint32_t v = 0; v < 8; v++) {
        TalusVec3 corner = talus_vec3(v & 1 ? h.x : -h.x, v & 2 ? h.y : -h.y, v & 4 ? h.z : -h.z);
        talus_manifold_add_plane_point(a, b, v, up, talus_rotate(a->orientation, corner), reach,
                                       sink);
    }
}

/* Adds the contacts of cylinder a with plane b: four points of each rim, the lowest and three at quarter turns from it,
 * as far as they are in reach. A cylinder lying on its side touches with one point of each rim, a standing one with
 * four points of one rim. If the cylinder is nearly upright, rounding would decide which point is lowest: then the
 * points start at the x axis of the body. The feature is 4 rim + quarter, rim 1 at +z. */
TALUS_INLINE void talus_cylinder_plane(const TalusPose *a, const TalusPose *b, double reach,
                                       TALUS_MANIFOLD_SINK *sink)
{
    const double upright = 0x1p-16; /* sine of the tilt */
    const TalusShapeDef *def = &a->shape->def;
    TalusVec3 up = talus_rotate(b->orientation, talus_vec3(0.0, 0.0, 1.0));
    TalusVec3 axis = talus_rotate(a->orientation, talus_vec3(0.0, 0.0, 1.0));
    TalusVec3 down = talus_sub(talus_scale(talus_dot(up, axis), axis), up);
    double tilt = talus_norm(down);
    TalusVec3 lowest = tilt > upright ? talus_scale(1.0 / tilt, down)
                                      : talus_rotate(a->orientation, talus_vec3(1.0, 0.0, 0.0));
    TalusVec3 across = talus_cross(axis, lowest);
    for (uint32_t rim = 0; rim < 2; rim++) {
        TalusVec3 centre = talus_scale(rim ? def->half_height : -def->half_height, axis);
        for (uint32_t quarter = 0; quarter < 4; quarter++) {
            double r = quarter < 2 ? def->radius : -def->radius;
            TalusVec3 arm = talus_madd(centre, r, quarter & 1 ? across : lowest);
            talus_manifold_add_plane_point(a, b, 4 * rim + quarter, up, arm, reach, sink);
        }
    }
}

#endif
