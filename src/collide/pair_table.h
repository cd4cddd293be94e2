/* collide/pair_table.h - contact functions by pair of shapes; for host and device.
 *
 * The including file defines the sink of manifold points, so that no function is called through a pointer:
 *     TALUS_MANIFOLD_SINK                  a struct with a member `TalusManifoldRoute route`, initially zero
 *     TALUS_MANIFOLD_RECEIVE(sink, touch)  receives each point */
#ifndef TALUS_COLLIDE_PAIR_TABLE_H
#define TALUS_COLLIDE_PAIR_TABLE_H

#include "collide/boxes.h"
#include "collide/capsules.h"
#include "collide/mesh_convex.h"
#include "geometry/bounds.h"

/* ---- the table ------------------------------------------------------------------------------- */

/* Adds the contacts of a sphere a by the closed form for b's shape. False if there is none. */
TALUS_INLINE bool talus_manifold_of_sphere(const TalusPose *a, const TalusPose *b, double reach,
                                           TALUS_MANIFOLD_SINK *sink)
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

/* Adds the contacts of two shapes, neither a compound, by the contact function that the table has for them in this
 * order. False if the table has none. Convex shapes without a closed form use GJK (convex.h). */
TALUS_INLINE bool talus_manifold_in_table_order(const TalusPose *a, const TalusPose *b,
                                                double reach, TALUS_MANIFOLD_SINK *sink)
{
    TalusShapeKind kind_a = a->shape->def.kind, kind_b = b->shape->def.kind;
    if (kind_a == TALUS_SHAPE_SPHERE && talus_manifold_of_sphere(a, b, reach, sink))
        return true;
    bool convex = talus_shape_has(kind_a, TALUS_TRAIT_CONVEX);
    bool facets = talus_shape_has(kind_b, TALUS_TRAIT_FACETS), plane = kind_b == TALUS_SHAPE_PLANE;
    if (kind_a == TALUS_SHAPE_BOX && kind_b == TALUS_SHAPE_BOX)
        talus_box_box(a, b, reach, sink);
    else if (kind_a == TALUS_SHAPE_CAPSULE && kind_b == TALUS_SHAPE_CAPSULE)
        talus_capsule_capsule(a, b, reach, sink);
    else if (kind_a == TALUS_SHAPE_BOX && plane)
        talus_box_plane(a, b, reach, sink);
    else if (kind_a == TALUS_SHAPE_CYLINDER && plane)
        talus_cylinder_plane(a, b, reach, sink);
    else if (kind_a == TALUS_SHAPE_CAPSULE && plane)
        talus_capsule_plane(a, b, reach, sink);
    else if (kind_a == TALUS_SHAPE_SPHERE && facets)
        talus_sphere_facets(a, b, reach, sink);
    else if (convex && facets)
        talus_convex_facets(a, b, reach, sink);
    else if (convex && plane)
        talus_convex_plane(a, b, reach, sink);
    else if (convex && talus_shape_has(kind_b, TALUS_TRAIT_CONVEX))
        talus_convex_convex(a, b, reach, sink);
    else
        return false;
    return true;
}

/* True if the bounding sphere of a body is within `reach` of a revolve. */
TALUS_INLINE bool talus_revolve_within_reach(const TalusPose *body, const TalusPose *wall,
                                             double reach)
{
    const TalusShapeDef *def = &wall->shape->def;
    return talus_revolve_is_near(def->profile, def->point_count,
                                 talus_point_in_frame(wall, body->position), body->radius + reach);
}

/* Axis-aligned box in the world that contains the shape. */
TALUS_INLINE TalusAabb talus_pose_bounds(const TalusPose *pose)
{
    return talus_shape_bounds(pose->shape, pose->radius, pose->position, pose->orientation);
}

/* True if the distance of two boxes along every axis is below `reach`. */
TALUS_INLINE bool talus_bounds_near(const TalusAabb *p, const TalusAabb *q, double reach)
{
    return p->lo.x - q->hi.x < reach && q->lo.x - p->hi.x < reach && p->lo.y - q->hi.y < reach &&
           q->lo.y - p->hi.y < reach && p->lo.z - q->hi.z < reach && q->lo.z - p->hi.z < reach;
}

/* True if the bounds of two shapes without a contact function are within `reach` of each other. */
TALUS_INLINE bool talus_pair_bounds_near(const TalusPose *a, const TalusPose *b, double reach)
{
    if (a->shape->def.kind == TALUS_SHAPE_REVOLVE)
        return talus_revolve_within_reach(b, a, reach);
    if (b->shape->def.kind == TALUS_SHAPE_REVOLVE)
        return talus_revolve_within_reach(a, b, reach);
    TalusAabb p = talus_pose_bounds(a), q = talus_pose_bounds(b);
    return talus_bounds_near(&p, &q, reach);
}

/* True if the table has the kinds a and b, neither a compound, in the order (b, a): walls are last, other kinds
 * ascend. */
TALUS_INLINE bool talus_table_order_swapped(TalusShapeKind a, TalusShapeKind b)
{
    return talus_shape_has(a, TALUS_TRAIT_WALL) || (!talus_shape_has(b, TALUS_TRAIT_WALL) && a > b);
}

/* Passes the manifold points of two shapes, neither a compound, to the sink. False if they have no contact function and
 * their bounds are within reach of each other. */
TALUS_INLINE bool talus_manifold_of_simple(const TalusPose *a, const TalusPose *b, double reach,
                                           TALUS_MANIFOLD_SINK *sink)
{
    bool swapped = talus_table_order_swapped(a->shape->def.kind, b->shape->def.kind);
    const TalusPose *first = swapped ? b : a, *second = swapped ? a : b;
    sink->route.swapped = swapped;
    return talus_manifold_in_table_order(first, second, reach, sink) ||
           !talus_pair_bounds_near(a, b, reach);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Number of parts of a compound; 1 for any other shape. */
TALUS_INLINE int talus_pose_part_count(const TalusPose *pose)
{
    return pose->shape->def.kind == TALUS_SHAPE_COMPOUND ? pose->shape->def.part_count : 1;
}

/* Pose of part k of a compound; any other shape is its own part 0. */
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

/* As talus_manifold_of_simple, if a or b is a compound: every part of a against every part of b whose bounds are in
 * reach. A shape that is no compound is its own part. */
TALUS_INLINE bool talus_manifold_of_compounds(const TalusPose *a, const TalusPose *b, double reach,
                                              TALUS_MANIFOLD_SINK *sink)
{
    TalusAabb all_b = talus_pose_bounds(b);
    int parts_a = talus_pose_part_count(a), parts_b = talus_pose_part_count(b);
    bool known = true;
    sink->route.parts = true;
    for (int i = 0; i < parts_a; i++) {
        TalusPose part_a = talus_pose_part(a, i);
        TalusAabb box_a = talus_pose_bounds(&part_a);
        if (!talus_bounds_near(&box_a, &all_b, reach))
            continue;
        sink->route.of_a = talus_sub(part_a.position, a->position);
        for (int j = 0; j < parts_b; j++) {
            TalusPose part_b = talus_pose_part(b, j);
            TalusAabb box_b = talus_pose_bounds(&part_b);
            if (parts_b > 1 && !talus_bounds_near(&box_a, &box_b, reach))
                continue;
            sink->route.of_b = talus_sub(part_b.position, b->position);
            sink->route.part = (uint32_t)(i * parts_b + j) * 0x85ebca6bu;
            known = talus_manifold_of_simple(&part_a, &part_b, reach, sink) && known;
        }
    }
    sink->route.parts = false;
    return known;
}

/* Passes the manifold points of any two shapes to the sink. False if the shapes, or two parts of them, have no contact
 * function and their bounds are within reach of each other. */
TALUS_INLINE bool talus_manifold_of_pair(const TalusPose *a, const TalusPose *b, double reach,
                                         TALUS_MANIFOLD_SINK *sink)
{
    if (a->shape->def.kind == TALUS_SHAPE_COMPOUND || b->shape->def.kind == TALUS_SHAPE_COMPOUND)
        return talus_manifold_of_compounds(a, b, reach, sink);
    return talus_manifold_of_simple(a, b, reach, sink);
}

#endif
