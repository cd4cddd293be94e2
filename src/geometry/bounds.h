/* geometry/bounds.h - bounds of shapes in the world frame; for host and device. */
#ifndef TALUS_GEOMETRY_BOUNDS_H
#define TALUS_GEOMETRY_BOUNDS_H

#include "geometry/closest.h"
#include "geometry/shape.h"
#include "geometry/support.h"

/* Box with the given centre and half extents. */
TALUS_INLINE TalusAabb talus_aabb_about(TalusVec3 centre, TalusVec3 extent)
{
    TalusAabb r = {talus_sub(centre, extent), talus_add(centre, extent)};
    return r;
}

/* Smallest box that contains both boxes. */
TALUS_INLINE TalusAabb talus_aabb_join(TalusAabb a, TalusAabb b)
{
    TalusAabb r = {
        talus_vec3(talus_min(a.lo.x, b.lo.x), talus_min(a.lo.y, b.lo.y), talus_min(a.lo.z, b.lo.z)),
        talus_vec3(talus_max(a.hi.x, b.hi.x), talus_max(a.hi.y, b.hi.y), talus_max(a.hi.z, b.hi.z)),
    };
    return r;
}

/* Smallest box that contains the box and the point. */
TALUS_INLINE TalusAabb talus_aabb_add_point(TalusAabb box, TalusVec3 point)
{
    TalusAabb r = {point, point};
    return talus_aabb_join(box, r);
}

/* Half extents along the world axes of a rotated box with half extents h. */
TALUS_INLINE TalusVec3 talus_rotated_box_extent(TalusVec3 h, TalusQuat orientation)
{
    TalusVec3 x = talus_rotate(orientation, talus_vec3(h.x, 0.0, 0.0));
    TalusVec3 y = talus_rotate(orientation, talus_vec3(0.0, h.y, 0.0));
    TalusVec3 z = talus_rotate(orientation, talus_vec3(0.0, 0.0, h.z));
    return talus_vec3(fabs(x.x) + fabs(y.x) + fabs(z.x), fabs(x.y) + fabs(y.y) + fabs(z.y),
                      fabs(x.z) + fabs(y.z) + fabs(z.z));
}

/* Sets *lo and *hi to the ends of a revolved profile along a world axis. u: scalar product of that axis and the axis of
 * revolution. A circle (r, z) of the profile spans u z -+ r sqrt(1 - u^2). */
TALUS_INLINE void talus_profile_span(const double *profile, int points, double u, double *lo,
                                     double *hi)
{
    double across = sqrt(talus_max(0.0, 1.0 - u * u));
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int k = 0; k < points; k++) {
        TalusProfilePoint p = talus_profile_point(profile, k);
        *lo = talus_min(*lo, u * p.z - across * p.r);
        *hi = talus_max(*hi, u * p.z + across * p.r);
    }
}

/* Bounds in the world frame of a polyline of `points` pairs (radius, height), revolved about the shape's z axis. */
TALUS_INLINE TalusAabb talus_profile_bounds(const double *profile, int points, TalusVec3 position,
                                            TalusQuat orientation)
{
    TalusVec3 u = talus_rotate(orientation, talus_vec3(0.0, 0.0, 1.0));
    TalusVec3 lo, hi;
    talus_profile_span(profile, points, u.x, &lo.x, &hi.x);
    talus_profile_span(profile, points, u.y, &lo.y, &hi.y);
    talus_profile_span(profile, points, u.z, &lo.z, &hi.z);
    TalusAabb r = {talus_add(position, lo), talus_add(position, hi)};
    return r;
}

/* Half extents along the world axes of a rotated capsule with radius r and half height h. */
TALUS_INLINE TalusVec3 talus_rotated_capsule_extent(double r, double h, TalusQuat orientation)
{
    TalusVec3 u = talus_rotate(orientation, talus_vec3(0.0, 0.0, h));
    return talus_vec3(r + fabs(u.x), r + fabs(u.y), r + fabs(u.z));
}

/* Half extents along the world axes of a rotated ellipsoid with semi-axes `half`. Along a unit vector d of its own
 * frame an ellipsoid extends by |A d|, where A has the semi-axes on its diagonal. */
TALUS_INLINE TalusVec3 talus_rotated_ellipsoid_extent(TalusVec3 half, TalusQuat orientation)
{
    TalusVec3 x = talus_rotate(orientation, talus_vec3(half.x, 0.0, 0.0));
    TalusVec3 y = talus_rotate(orientation, talus_vec3(0.0, half.y, 0.0));
    TalusVec3 z = talus_rotate(orientation, talus_vec3(0.0, 0.0, half.z));
    return talus_vec3(sqrt(x.x * x.x + y.x * y.x + z.x * z.x),
                      sqrt(x.y * x.y + y.y * y.y + z.y * z.y),
                      sqrt(x.z * x.z + y.z * y.z + z.z * z.z));
}

/* Bounds in the world frame of a box given in the body's frame. */
TALUS_INLINE TalusAabb talus_rotated_box_bounds(TalusAabb box, TalusVec3 position,
                                                TalusQuat orientation)
{
    TalusVec3 middle = talus_scale(0.5, talus_add(box.lo, box.hi));
    TalusVec3 extent =
        talus_rotated_box_extent(talus_scale(0.5, talus_sub(box.hi, box.lo)), orientation);
    return talus_aabb_about(talus_add(position, talus_rotate(orientation, middle)), extent);
}

/* World bounds of a convex shape other than a sphere, by its support function along the world axes. */
TALUS_INLINE TalusAabb talus_support_bounds(const TalusShape *shape, TalusVec3 position,
                                            TalusQuat orientation)
{
    double lo[3], hi[3];
    for (int k = 0; k < 3; k++) {
        TalusVec3 own = talus_rotate_back(orientation, talus_axis_vector(k));
        hi[k] = talus_dot(own, talus_support(shape, 0.0, own));
        lo[k] = talus_dot(own, talus_support(shape, 0.0, talus_neg(own)));
    }
    TalusAabb b = {talus_vec3(lo[0], lo[1], lo[2]), talus_vec3(hi[0], hi[1], hi[2])};
    b.lo = talus_add(b.lo, position);
    b.hi = talus_add(b.hi, position);
    return b;
}

/* World bounds of a shape that is no compound. A plane is unbounded in all directions (+-infinity). radius: used for
 * spheres. */
TALUS_INLINE TalusAabb talus_simple_bounds(const TalusShape *shape, double radius,
                                           TalusVec3 position, TalusQuat orientation)
{
    const TalusShapeDef *def = &shape->def;
    double r = def->radius, h = def->half_height;
    const double cylinder[4] = {r, -h, r, h}, cone[4] = {r, -0.5 * h, 0.0, 1.5 * h};
    TalusAabb all = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    switch (def->kind) {
    case TALUS_SHAPE_SPHERE: return talus_aabb_about(position, talus_vec3(radius, radius, radius));
    case TALUS_SHAPE_BOX:
        return talus_aabb_about(position, talus_rotated_box_extent(def->half, orientation));
    case TALUS_SHAPE_CYLINDER: return talus_profile_bounds(cylinder, 2, position, orientation);
    case TALUS_SHAPE_CAPSULE:
        return talus_aabb_about(position, talus_rotated_capsule_extent(r, h, orientation));
    case TALUS_SHAPE_CONE: return talus_profile_bounds(cone, 2, position, orientation);
    case TALUS_SHAPE_ELLIPSOID:
        return talus_aabb_about(position, talus_rotated_ellipsoid_extent(def->half, orientation));
    case TALUS_SHAPE_REVOLVE:
        return talus_profile_bounds(def->profile, def->point_count, position, orientation);
    case TALUS_SHAPE_MESH:
    case TALUS_SHAPE_FIELD: return talus_rotated_box_bounds(shape->box, position, orientation);
    default: break;
    }
    return talus_shape_has(def->kind, TALUS_TRAIT_CONVEX)
               ? talus_support_bounds(shape, position, orientation)
               : all;
}

/* World position of a part of a compound, given the compound's pose. */
TALUS_INLINE TalusVec3 talus_child_position(const TalusChild *child, TalusVec3 position,
                                            TalusQuat orientation)
{
    return talus_add(position, talus_rotate(orientation, child->position));
}

/* World orientation of a part of a compound, given that of the compound. */
TALUS_INLINE TalusQuat talus_child_orientation(const TalusChild *child, TalusQuat orientation)
{
    return talus_quat_mul(orientation, child->orientation);
}

/* World bounds of a part of a compound, given the compound's pose. */
TALUS_INLINE TalusAabb talus_child_bounds(const TalusChild *child, TalusVec3 position,
                                          TalusQuat orientation)
{
    return talus_simple_bounds(&child->shape, child->shape.def.radius,
                               talus_child_position(child, position, orientation),
                               talus_child_orientation(child, orientation));
}

/* World bounds of any shape; of a field, those of its surface. Tight, except for rotated meshes and fields, which have
 * the bounds of their rotated box. radius: used for spheres. */
TALUS_INLINE TalusAabb talus_shape_bounds(const TalusShape *shape, double radius,
                                          TalusVec3 position, TalusQuat orientation)
{
    if (shape->def.kind != TALUS_SHAPE_COMPOUND)
        return talus_simple_bounds(shape, radius, position, orientation);
    TalusAabb all = talus_child_bounds(&shape->child[0], position, orientation);
    for (int k = 1; k < shape->def.part_count; k++)
        all = talus_aabb_join(all, talus_child_bounds(&shape->child[k], position, orientation));
    return all;
}

#endif
