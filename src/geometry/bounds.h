/* geometry/bounds.h - world-frame bounds of shapes where they are; for host and device. */
#ifndef TALUS_GEOMETRY_BOUNDS_H
#define TALUS_GEOMETRY_BOUNDS_H

#include "geometry/closest.h"
#include "geometry/shape.h"

TALUS_INLINE TalusAabb talus_aabb(TalusVec3 centre, TalusVec3 extent)
{
    TalusAabb r = {talus_sub(centre, extent), talus_add(centre, extent)};
    return r;
}

TALUS_INLINE TalusVec3 talus_box_extent(TalusVec3 h, TalusQuat orientation)
{
    TalusVec3 x = talus_rotate(orientation, talus_vec3(h.x, 0.0, 0.0));
    TalusVec3 y = talus_rotate(orientation, talus_vec3(0.0, h.y, 0.0));
    TalusVec3 z = talus_rotate(orientation, talus_vec3(0.0, 0.0, h.z));
    return talus_vec3(fabs(x.x) + fabs(y.x) + fabs(z.x), fabs(x.y) + fabs(y.y) + fabs(z.y),
                      fabs(x.z) + fabs(y.z) + fabs(z.z));
}

/* A disc with unit normal u reaches r sqrt(1 - u_x^2) along x. */
TALUS_INLINE double talus_cylinder_reach(double u, double radius, double half_height)
{
    return half_height * fabs(u) + radius * sqrt(fmax(0.0, 1.0 - u * u));
}

TALUS_INLINE TalusVec3 talus_cylinder_extent(double r, double h, TalusQuat orientation)
{
    TalusVec3 u = talus_rotate(orientation, talus_vec3(0.0, 0.0, 1.0));
    return talus_vec3(talus_cylinder_reach(u.x, r, h), talus_cylinder_reach(u.y, r, h),
                      talus_cylinder_reach(u.z, r, h));
}

/* Along a world axis whose component on the shape's axis is u, the circle (r, z) spans
 * u z -+ r sqrt(1 - u^2). */
TALUS_INLINE void talus_revolve_span(const TalusShape *shape, double u, double *lo, double *hi)
{
    double across = sqrt(fmax(0.0, 1.0 - u * u));
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int k = 0; k < shape->def.point_count; k++) {
        TalusProfilePoint p = talus_profile_point(shape->def.profile, k);
        *lo = fmin(*lo, u * p.z - across * p.r);
        *hi = fmax(*hi, u * p.z + across * p.r);
    }
}

TALUS_INLINE TalusAabb talus_revolve_bounds(const TalusShape *shape, TalusVec3 position,
                                            TalusQuat orientation)
{
    TalusVec3 u = talus_rotate(orientation, talus_vec3(0.0, 0.0, 1.0));
    TalusVec3 lo, hi;
    talus_revolve_span(shape, u.x, &lo.x, &hi.x);
    talus_revolve_span(shape, u.y, &lo.y, &hi.y);
    talus_revolve_span(shape, u.z, &lo.z, &hi.z);
    TalusAabb r = {talus_add(position, lo), talus_add(position, hi)};
    return r;
}

/* Planes are unbounded in all directions (+-infinity). */
TALUS_INLINE TalusAabb talus_shape_bounds(const TalusShape *shape, double radius,
                                          TalusVec3 position, TalusQuat orientation)
{
    const TalusShapeDef *def = &shape->def;
    TalusAabb all = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    switch (def->kind) {
    case TALUS_SHAPE_SPHERE: return talus_aabb(position, talus_vec3(radius, radius, radius));
    case TALUS_SHAPE_BOX: return talus_aabb(position, talus_box_extent(def->half, orientation));
    case TALUS_SHAPE_CYLINDER:
        return talus_aabb(position,
                          talus_cylinder_extent(def->radius, def->half_height, orientation));
    case TALUS_SHAPE_REVOLVE: return talus_revolve_bounds(shape, position, orientation);
    default: return all;
    }
}

#endif
