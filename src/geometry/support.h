/* geometry/support.h - support function: the point of a convex shape farthest along a direction; for host and device.
 *
 * In the body's frame. The direction must not be zero and need not be a unit vector; a scaled direction gives the same
 * point. Shapes that are not convex (plane, revolve, compound, mesh, field) have none. */
#ifndef TALUS_GEOMETRY_SUPPORT_H
#define TALUS_GEOMETRY_SUPPORT_H

#include "geometry/shape.h"

/* Hulls of at most this many vertices are searched vertex by vertex, larger ones along their edges. */
#define TALUS_HULL_SEARCH 32

/* ---- axes ---- */

/* Unit vector of coordinate axis k. */
TALUS_INLINE TalusVec3 talus_axis_vector(int k)
{
    return talus_vec3(k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0);
}

/* Unit vector of the axis along which d has its smallest component in magnitude. */
TALUS_INLINE TalusVec3 talus_smallest_axis(TalusVec3 d)
{
    double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z);
    return talus_axis_vector(x <= y && x <= z ? 0 : y <= z ? 1 : 2);
}

/* ---- hull ---- */

/* Index of the farthest of `count` points along a direction, by a test of all; of equally far ones the first. */
TALUS_INLINE int talus_hull_search_all(const TalusVec3 *vertex, int count, TalusVec3 direction)
{
    int best = 0;
    double most = talus_dot(vertex[0], direction);
    for (int k = 1; k < count; k++) {
        double along = talus_dot(vertex[k], direction);
        if (along > most) {
            most = along;
            best = k;
        }
    }
    return best;
}

/* Index of the vertex of a hull farthest along a direction, found by climbing from vertex `from` to neighbours while
 * one is farther. On a convex body a local maximum is the global one, and each step gains, so the climb ends. */
TALUS_INLINE int talus_hull_climb_to_farthest(const TalusShape *shape, TalusVec3 direction,
                                              int from)
{
    const TalusVec3 *vertex = shape->def.vertex;
    const TalusHull *hull = &shape->hull;
    double most = talus_dot(vertex[from], direction);
    for (;;) {
        int best = from;
        for (int k = hull->neighbour_start[from]; k < hull->neighbour_start[from + 1]; k++) {
            double along = talus_dot(vertex[hull->neighbour[k]], direction);
            if (along > most) {
                most = along;
                best = hull->neighbour[k];
            }
        }
        if (best == from)
            return best;
        from = best;
    }
}

/* Index of the vertex of a hull that is farthest along a direction. */
TALUS_INLINE int talus_hull_farthest_vertex(const TalusShape *shape, TalusVec3 direction)
{
    return shape->def.vertex_count <= TALUS_HULL_SEARCH
               ? talus_hull_search_all(shape->def.vertex, shape->def.vertex_count, direction)
               : talus_hull_climb_to_farthest(shape, direction, 0);
}

/* ---- closed forms ---- */

/* Corner of a box farthest along d. */
TALUS_INLINE TalusVec3 talus_box_support(TalusVec3 half, TalusVec3 d)
{
    return talus_vec3(d.x < 0.0 ? -half.x : half.x, d.y < 0.0 ? -half.y : half.y,
                      d.z < 0.0 ? -half.z : half.z);
}

/* Point of a disc about the z axis, at height z, farthest along d; the centre if d is along the axis, because all
 * points are equally far then. */
TALUS_INLINE TalusVec3 talus_disc_support(double radius, double z, TalusVec3 d)
{
    double rho = sqrt(d.x * d.x + d.y * d.y);
    double s = rho > 0.0 ? radius / rho : 0.0;
    return talus_vec3(s * d.x, s * d.y, z);
}

/* Point of a cone farthest along d. The apex is at 3/2, the base at -1/2 of the half height. */
TALUS_INLINE TalusVec3 talus_cone_support(double radius, double half_height, TalusVec3 d)
{
    double rho = sqrt(d.x * d.x + d.y * d.y);
    if (2.0 * half_height * d.z > radius * rho)
        return talus_vec3(0.0, 0.0, 1.5 * half_height);
    return talus_disc_support(radius, -0.5 * half_height, d);
}

/* Point of an ellipsoid farthest along d: A^2 d / |A d|, where A has the semi-axes on its diagonal. */
TALUS_INLINE TalusVec3 talus_ellipsoid_support(TalusVec3 half, TalusVec3 d)
{
    TalusVec3 a = talus_vec3(half.x * d.x, half.y * d.y, half.z * d.z);
    double s = 1.0 / talus_norm(a);
    return talus_vec3(s * half.x * a.x, s * half.y * a.y, s * half.z * a.z);
}

/* ---- any convex shape ---- */

/* Distance of the surface from the core: the radius for a sphere (its core is a point) or capsule (a segment); 0 for
 * other shapes, which are their own core. */
TALUS_INLINE double talus_core_margin(const TalusShape *shape, double radius)
{
    return shape->def.kind == TALUS_SHAPE_SPHERE    ? radius
           : shape->def.kind == TALUS_SHAPE_CAPSULE ? shape->def.radius
                                                    : 0.0;
}

/* Point of the shape's core farthest along a direction. */
TALUS_INLINE TalusVec3 talus_core_support(const TalusShape *shape, TalusVec3 direction)
{
    const TalusShapeDef *def = &shape->def;
    double up = direction.z < 0.0 ? -def->half_height : def->half_height;
    switch (def->kind) {
    case TALUS_SHAPE_BOX: return talus_box_support(def->half, direction);
    case TALUS_SHAPE_CYLINDER: return talus_disc_support(def->radius, up, direction);
    case TALUS_SHAPE_CAPSULE: return talus_vec3(0.0, 0.0, up);
    case TALUS_SHAPE_CONE: return talus_cone_support(def->radius, def->half_height, direction);
    case TALUS_SHAPE_ELLIPSOID: return talus_ellipsoid_support(def->half, direction);
    case TALUS_SHAPE_HULL: return def->vertex[talus_hull_farthest_vertex(shape, direction)];
    default: return talus_vec3(0.0, 0.0, 0.0);
    }
}

/* Point of the shape farthest along a direction. `radius`: that of the body, used for spheres only. */
TALUS_INLINE TalusVec3 talus_support(const TalusShape *shape, double radius, TalusVec3 direction)
{
    double margin = talus_core_margin(shape, radius);
    TalusVec3 core = talus_core_support(shape, direction);
    return margin > 0.0 ? talus_madd(core, margin / talus_norm(direction), direction) : core;
}

#endif
