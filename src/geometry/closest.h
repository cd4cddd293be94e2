/* geometry/closest.h - signed distance from a point to a shape, in the shape's frame; for host and device. */
#ifndef TALUS_GEOMETRY_CLOSEST_H
#define TALUS_GEOMETRY_CLOSEST_H

#include <talus/math.h>

#include <stdbool.h>
#include <stdint.h>

/* The functions return the signed distance from p to the surface of a solid, negative inside. *normal is the outward
 * direction at the nearest point of the surface, which is p - distance * normal. If p is inside, the nearest point is
 * taken on the face that p is least deep below. */

/* ---- box ---- */

/* Signed distance, not positive, of a point p inside the box or on it. */
TALUS_INLINE double talus_box_distance_inside(TalusVec3 half, TalusVec3 p, TalusVec3 *normal)
{
    double depth_x = half.x - fabs(p.x), depth_y = half.y - fabs(p.y), depth_z = half.z - fabs(p.z);
    if (depth_x <= depth_y && depth_x <= depth_z) {
        *normal = talus_vec3(p.x < 0.0 ? -1.0 : 1.0, 0.0, 0.0);
        return -depth_x;
    }
    if (depth_y <= depth_z) {
        *normal = talus_vec3(0.0, p.y < 0.0 ? -1.0 : 1.0, 0.0);
        return -depth_y;
    }
    *normal = talus_vec3(0.0, 0.0, p.z < 0.0 ? -1.0 : 1.0);
    return -depth_z;
}

/* Returns x limited to -half .. half. */
TALUS_INLINE double talus_clamp_to_half(double x, double half)
{
    return fmin(fmax(x, -half), half);
}

/* Signed distance of p from a box. */
TALUS_INLINE double talus_box_distance(TalusVec3 half, TalusVec3 p, TalusVec3 *normal)
{
    TalusVec3 q = talus_vec3(talus_clamp_to_half(p.x, half.x), talus_clamp_to_half(p.y, half.y),
                             talus_clamp_to_half(p.z, half.z));
    TalusVec3 d = talus_sub(p, q);
    double distance = talus_norm(d);
    if (!(distance > 0.0))
        return talus_box_distance_inside(half, p, normal);
    *normal = talus_scale(1.0 / distance, d);
    return distance;
}

/* ---- cylinder ---- */

/* Signed distance of p from a cylinder. In the plane of (distance from the axis, height) the cylinder is a
 * rectangle. */
TALUS_INLINE double talus_cylinder_distance(double radius, double half_height, TalusVec3 p,
                                            TalusVec3 *normal)
{
    double rho = sqrt(p.x * p.x + p.y * p.y);
    TalusVec3 radial =
        rho > 0.0 ? talus_vec3(p.x / rho, p.y / rho, 0.0) : talus_vec3(1.0, 0.0, 0.0);
    TalusVec3 axial = talus_vec3(0.0, 0.0, p.z < 0.0 ? -1.0 : 1.0);
    double out = rho - radius, above = fabs(p.z) - half_height;
    if (out > 0.0 && above > 0.0) {
        double distance = sqrt(out * out + above * above);
        *normal = talus_madd(talus_scale(out / distance, radial), above / distance, axial);
        return distance;
    }
    *normal = out > above ? radial : axial;
    return out > above ? out : above;
}

/* ---- revolve ---- */

/* A point of a half plane that starts at the axis: distance from the axis, height. */
typedef struct TalusProfilePoint {
    double r, z;
} TalusProfilePoint;

/* Point k of a profile of pairs (radius, height). */
TALUS_INLINE TalusProfilePoint talus_profile_point(const double *profile, int k)
{
    TalusProfilePoint p = {profile[2 * k], profile[2 * k + 1]};
    return p;
}

/* a - b */
TALUS_INLINE TalusProfilePoint talus_profile_difference(TalusProfilePoint a, TalusProfilePoint b)
{
    TalusProfilePoint p = {a.r - b.r, a.z - b.z};
    return p;
}

TALUS_INLINE double talus_profile_dot(TalusProfilePoint a, TalusProfilePoint b)
{
    return a.r * b.r + a.z * b.z;
}

/* Cross product: positive if b is to the left of a, with r to the right and z up. */
TALUS_INLINE double talus_profile_cross(TalusProfilePoint a, TalusProfilePoint b)
{
    return a.r * b.z - a.z * b.r;
}

/* True if some point of the revolved profile is nearer to p than `reach`. `profile` has `points` pairs (radius,
 * height). */
TALUS_INLINE bool talus_revolve_is_near(const double *profile, int points, TalusVec3 p,
                                        double reach)
{
    double limit = reach * reach;
    TalusProfilePoint c = {sqrt(p.x * p.x + p.y * p.y), p.z};
    TalusProfilePoint from = talus_profile_difference(c, talus_profile_point(profile, 0));
    if (talus_profile_dot(from, from) < limit)
        return true;
    for (int k = 0; k + 1 < points; k++) {
        TalusProfilePoint direction = talus_profile_difference(talus_profile_point(profile, k + 1),
                                                               talus_profile_point(profile, k));
        double length2 = talus_profile_dot(direction, direction);
        double along = talus_profile_dot(from, direction);
        double off = talus_profile_cross(direction, from);
        if (along > 0.0 && along < length2 && off * off < limit * length2)
            return true;
        from = talus_profile_difference(c, talus_profile_point(profile, k + 1));
        if (talus_profile_dot(from, from) < limit)
            return true;
    }
    return false;
}

#endif
