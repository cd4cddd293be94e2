/* collide/touch.h - where two shapes touch, pair by pair of shapes; for host and device.
 *
 * Who includes this says what takes the touches, so that no function is called through a pointer:
 *     TALUS_TOUCH_SINK                  a struct with, among its own, a member `TalusTouchRoute route`, zero
 *     TALUS_TOUCH_TAKE(sink, touch)     what happens to each touch */
#ifndef TALUS_COLLIDE_TOUCH_H
#define TALUS_COLLIDE_TOUCH_H

#include "collide/narrow.h"
#include "geometry/bounds.h"
#include "geometry/closest.h"

#if !defined(TALUS_TOUCH_SINK) || !defined(TALUS_TOUCH_TAKE)
#error "define TALUS_TOUCH_SINK and TALUS_TOUCH_TAKE before including collide/touch.h"
#endif

/* Touches of (b, a) are turned round into those of (a, b), those of parts become those of the bodies. Parts are told
 * apart by an odd multiplier: features of one pair of parts stay distinct, those of two meet by chance once in
 * 2^32. */
TALUS_INLINE void talus_touch_add(TALUS_TOUCH_SINK *sink, const TalusTouch *touch)
{
    const TalusTouchRoute *r = &sink->route;
    if (!r->swapped && !r->parts) {
        TALUS_TOUCH_TAKE(sink, touch);
        return;
    }
    TalusTouch t = *touch;
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
    TALUS_TOUCH_TAKE(sink, &t);
}

/* ---- sphere ---------------------------------------------------------------------------------- */

/* The sphere a against a surface whose outward normal at the nearest point is `out` (world frame),
 * `distance` from the sphere's centre. */
TALUS_INLINE void talus_touch_ball(const TalusPose *a, const TalusPose *b, uint32_t feature,
                                   TalusVec3 out, double distance, double reach,
                                   TALUS_TOUCH_SINK *sink)
{
    double gap = distance - a->radius;
    if (!(gap < reach))
        return;
    TalusVec3 on_b = talus_madd(a->position, -distance, out);
    TalusTouch touch = {feature, talus_neg(out), gap, talus_scale(-a->radius, out),
                        talus_sub(on_b, b->position)};
    talus_touch_add(sink, &touch);
}

/* What geometry/revolve.h finds for a sphere. */
typedef struct TalusRingTouch {
    const TalusPose *a, *b;
    double reach;
    TALUS_TOUCH_SINK *sink;
} TalusRingTouch;

TALUS_INLINE void talus_touch_ring(const TalusRingTouch *ring, uint32_t feature, TalusVec3 normal,
                                   double distance)
{
    talus_touch_ball(ring->a, ring->b, feature, talus_rotate(ring->b->orientation, normal),
                     distance, ring->reach, ring->sink);
}

#define TALUS_RING_SINK const TalusRingTouch
#define TALUS_RING_TAKE talus_touch_ring
#include "geometry/revolve.h"

TALUS_INLINE void talus_sphere_sphere(const TalusPose *a, const TalusPose *b, double reach,
                                      TALUS_TOUCH_SINK *sink)
{
    TalusVec3 d = talus_sub(a->position, b->position);
    TalusVec3 out = talus_normalize(d, talus_vec3(0.0, 0.0, 1.0));
    talus_touch_ball(a, b, 0, out, talus_norm(d) - b->radius, reach, sink);
}

TALUS_INLINE void talus_sphere_plane(const TalusPose *a, const TalusPose *b, double reach,
                                     TALUS_TOUCH_SINK *sink)
{
    TalusVec3 out = talus_rotate(b->orientation, talus_vec3(0.0, 0.0, 1.0));
    double height = talus_dot(out, talus_sub(a->position, b->position));
    talus_touch_ball(a, b, 0, out, height, reach, sink);
}

TALUS_INLINE TalusVec3 talus_into_frame(const TalusPose *frame, TalusVec3 x)
{
    return talus_rotate_back(frame->orientation, talus_sub(x, frame->position));
}

TALUS_INLINE void talus_sphere_box(const TalusPose *a, const TalusPose *b, double reach,
                                   TALUS_TOUCH_SINK *sink)
{
    TalusVec3 out;
    double distance =
        talus_box_distance(b->shape->def.half, talus_into_frame(b, a->position), &out);
    talus_touch_ball(a, b, 0, talus_rotate(b->orientation, out), distance, reach, sink);
}

TALUS_INLINE void talus_sphere_cylinder(const TalusPose *a, const TalusPose *b, double reach,
                                        TALUS_TOUCH_SINK *sink)
{
    const TalusShapeDef *def = &b->shape->def;
    TalusVec3 out;
    double distance = talus_cylinder_distance(def->radius, def->half_height,
                                              talus_into_frame(b, a->position), &out);
    talus_touch_ball(a, b, 0, talus_rotate(b->orientation, out), distance, reach, sink);
}

TALUS_INLINE void talus_sphere_revolve(const TalusPose *a, const TalusPose *b, double reach,
                                       TALUS_TOUCH_SINK *sink)
{
    const TalusShapeDef *def = &b->shape->def;
    TalusRingTouch ring = {a, b, reach, sink};
    talus_revolve_visit(def->profile, def->point_count, talus_into_frame(b, a->position),
                        a->radius + reach, &ring);
}

/* ---- plane ----------------------------------------------------------------------------------- */

/* A point of body a, given by its arm, against the plane b. */
TALUS_INLINE void talus_touch_plane(const TalusPose *a, const TalusPose *b, uint32_t feature,
                                    TalusVec3 up, TalusVec3 arm, double reach,
                                    TALUS_TOUCH_SINK *sink)
{
    TalusVec3 from_b = talus_add(talus_sub(a->position, b->position), arm);
    double gap = talus_dot(up, from_b);
    if (!(gap < reach))
        return;
    TalusTouch touch = {feature, talus_neg(up), gap, arm, talus_madd(from_b, -gap, up)};
    talus_touch_add(sink, &touch);
}

/* The feature is the vertex: bits 0, 1, 2 tell the positive x, y, z side. */
TALUS_INLINE void talus_box_plane(const TalusPose *a, const TalusPose *b, double reach,
                                  TALUS_TOUCH_SINK *sink)
{
    TalusVec3 up = talus_rotate(b->orientation, talus_vec3(0.0, 0.0, 1.0));
    TalusVec3 h = a->shape->def.half;
    for (uint32_t v = 0; v < 8; v++) {
        TalusVec3 corner = talus_vec3(v & 1 ? h.x : -h.x, v & 2 ? h.y : -h.y, v & 4 ? h.z : -h.z);
        talus_touch_plane(a, b, v, up, talus_rotate(a->orientation, corner), reach, sink);
    }
}

/* Four points of each rim: its lowest and the three a quarter turn apart from there. A cylinder
 * that lies touches with one point per rim, one that stands with four. Upright the lowest point is
 * lost in rounding, and points fixed to the body take its place. The feature is 4 rim + quarter. */
TALUS_INLINE void talus_cylinder_plane(const TalusPose *a, const TalusPose *b, double reach,
                                       TALUS_TOUCH_SINK *sink)
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
            talus_touch_plane(a, b, 4 * rim + quarter, up, arm, reach, sink);
        }
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

#include "collide/convex_touch.h"

#include "collide/boxes.h"
#include "collide/capsules.h"
#include "collide/mesh_convex.h"
#include "collide/mesh_touch.h"

#define TALUS_SHAPE_PAIR(first, second) ((int)(first)*TALUS_SHAPE_KINDS + (int)(second))

/* The closed forms of a sphere a; false if there is none. */
TALUS_INLINE bool talus_touches_sphere(const TalusPose *a, const TalusPose *b, double reach,
                                       TALUS_TOUCH_SINK *sink)
{
    switch (b->shape->def.kind) {
    case TALUS_SHAPE_SPHERE: talus_sphere_sphere(a, b, reach, sink); return true;
    case TALUS_SHAPE_PLANE: talus_sphere_plane(a, b, reach, sink); return true;
    case TALUS_SHAPE_BOX: talus_sphere_box(a, b, reach, sink); return true;
    case TALUS_SHAPE_CYLINDER: talus_sphere_cylinder(a, b, reach, sink); return true;
    case TALUS_SHAPE_CAPSULE: talus_sphere_capsule(a, b, reach, sink); return true;
    case TALUS_SHAPE_REVOLVE: talus_sphere_revolve(a, b, reach, sink); return true;
    default: return false;
    }
}

/* The function for the two shapes in this order, neither a compound; false if there is none. Convex shapes without
 * a row of their own meet by GJK. */
TALUS_INLINE bool talus_touches_ordered(const TalusPose *a, const TalusPose *b, double reach,
                                        TALUS_TOUCH_SINK *sink)
{
    TalusShapeKind kind_a = a->shape->def.kind, kind_b = b->shape->def.kind;
    if (kind_a == TALUS_SHAPE_SPHERE && talus_touches_sphere(a, b, reach, sink))
        return true;
    switch (TALUS_SHAPE_PAIR(kind_a, kind_b)) {
    case TALUS_SHAPE_PAIR(TALUS_SHAPE_BOX, TALUS_SHAPE_PLANE):
        talus_box_plane(a, b, reach, sink);
        return true;
    case TALUS_SHAPE_PAIR(TALUS_SHAPE_BOX, TALUS_SHAPE_BOX):
        talus_box_box(a, b, reach, sink);
        return true;
    case TALUS_SHAPE_PAIR(TALUS_SHAPE_CYLINDER, TALUS_SHAPE_PLANE):
        talus_cylinder_plane(a, b, reach, sink);
        return true;
    case TALUS_SHAPE_PAIR(TALUS_SHAPE_CAPSULE, TALUS_SHAPE_PLANE):
        talus_capsule_plane(a, b, reach, sink);
        return true;
    case TALUS_SHAPE_PAIR(TALUS_SHAPE_CAPSULE, TALUS_SHAPE_CAPSULE):
        talus_capsule_capsule(a, b, reach, sink);
        return true;
    default: break;
    }
    bool convex = talus_shape_has(kind_a, TALUS_TRAIT_CONVEX);
    if (convex && talus_shape_has(kind_b, TALUS_TRAIT_FACETS)) {
        if (kind_a == TALUS_SHAPE_SPHERE)
            talus_sphere_facets(a, b, reach, sink);
        else
            talus_convex_facets(a, b, reach, sink);
        return true;
    }
    if (!convex || !talus_shape_has(kind_b, TALUS_TRAIT_CONVEX | TALUS_TRAIT_HALF_SPACE))
        return false;
    if (kind_b == TALUS_SHAPE_PLANE)
        talus_convex_plane(a, b, reach, sink);
    else
        talus_convex_convex(a, b, reach, sink);
    return true;
}

TALUS_INLINE bool talus_revolve_within(const TalusPose *body, const TalusPose *wall, double reach)
{
    const TalusShapeDef *def = &wall->shape->def;
    return talus_revolve_near(def->profile, def->point_count,
                              talus_into_frame(wall, body->position), body->radius + reach);
}

TALUS_INLINE TalusAabb talus_pose_bounds(const TalusPose *pose)
{
    return talus_shape_bounds(pose->shape, pose->radius, pose->position, pose->orientation);
}

TALUS_INLINE bool talus_boxes_near(const TalusAabb *p, const TalusAabb *q, double reach)
{
    return p->lo.x - q->hi.x < reach && q->lo.x - p->hi.x < reach && p->lo.y - q->hi.y < reach &&
           q->lo.y - p->hi.y < reach && p->lo.z - q->hi.z < reach && q->lo.z - p->hi.z < reach;
}

/* Whether two shapes without a function of their own may touch. */
TALUS_INLINE bool talus_within(const TalusPose *a, const TalusPose *b, double reach)
{
    if (a->shape->def.kind == TALUS_SHAPE_REVOLVE)
        return talus_revolve_within(b, a, reach);
    if (b->shape->def.kind == TALUS_SHAPE_REVOLVE)
        return talus_revolve_within(a, b, reach);
    TalusAabb p = talus_pose_bounds(a), q = talus_pose_bounds(b);
    return talus_boxes_near(&p, &q, reach);
}

/* Neither a compound: the table has walls last, and of other kinds the lower one first. */
TALUS_INLINE bool talus_table_swaps(TalusShapeKind a, TalusShapeKind b)
{
    return talus_shape_has(a, TALUS_TRAIT_WALL) || (!talus_shape_has(b, TALUS_TRAIT_WALL) && a > b);
}

TALUS_INLINE bool talus_touches_simple(const TalusPose *a, const TalusPose *b, double reach,
                                       TALUS_TOUCH_SINK *sink)
{
    bool swapped = talus_table_swaps(a->shape->def.kind, b->shape->def.kind);
    const TalusPose *first = swapped ? b : a, *second = swapped ? a : b;
    sink->route.swapped = swapped;
    return talus_touches_ordered(first, second, reach, sink) || !talus_within(a, b, reach);
}

/* ---- parts ----------------------------------------------------------------------------------- */

TALUS_INLINE int talus_pose_parts(const TalusPose *pose)
{
    return pose->shape->def.kind == TALUS_SHAPE_COMPOUND ? pose->shape->def.part_count : 1;
}

/* Part k of a compound; any other shape is its own part. */
TALUS_INLINE TalusPose talus_pose_part(const TalusPose *pose, int k)
{
    if (pose->shape->def.kind != TALUS_SHAPE_COMPOUND)
        return *pose;
    const TalusChild *child = &pose->shape->child[k];
    bool sphere = child->shape.def.kind == TALUS_SHAPE_SPHERE;
    TalusPose part = {&child->shape,
                      sphere ? child->shape.def.radius : child->shape.bounding_radius,
                      talus_child_position(child, pose->position, pose->orientation),
                      talus_child_orientation(child, pose->orientation)};
    return part;
}

/* Every part of one against every part of the other. */
TALUS_INLINE bool talus_touches_parts(const TalusPose *a, const TalusPose *b, double reach,
                                      TALUS_TOUCH_SINK *sink)
{
    TalusAabb all_b = talus_pose_bounds(b);
    int parts_a = talus_pose_parts(a), parts_b = talus_pose_parts(b);
    bool known = true;
    sink->route.parts = true;
    for (int i = 0; i < parts_a; i++) {
        TalusPose part_a = talus_pose_part(a, i);
        TalusAabb box_a = talus_pose_bounds(&part_a);
        if (!talus_boxes_near(&box_a, &all_b, reach))
            continue;
        sink->route.of_a = talus_sub(part_a.position, a->position);
        for (int j = 0; j < parts_b; j++) {
            TalusPose part_b = talus_pose_part(b, j);
            TalusAabb box_b = talus_pose_bounds(&part_b);
            if (parts_b > 1 && !talus_boxes_near(&box_a, &box_b, reach))
                continue;
            sink->route.of_b = talus_sub(part_b.position, b->position);
            sink->route.part = (uint32_t)(i * parts_b + j) * 0x85ebca6bu;
            known = talus_touches_simple(&part_a, &part_b, reach, sink) && known;
        }
    }
    sink->route.parts = false;
    return known;
}

/* All touches with a gap below `reach`; false as talus_narrow (narrow.h). */
TALUS_INLINE bool talus_touches(const TalusPose *a, const TalusPose *b, double reach,
                                TALUS_TOUCH_SINK *sink)
{
    if (a->shape->def.kind == TALUS_SHAPE_COMPOUND || b->shape->def.kind == TALUS_SHAPE_COMPOUND)
        return talus_touches_parts(a, b, reach, sink);
    return talus_touches_simple(a, b, reach, sink);
}

#endif
