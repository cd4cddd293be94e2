/* collide/facing.h - part of a convex body that faces a direction; for host and device.
 *
 * Projected along the normal of a contact, the facing parts of both bodies are polygons, lines or points in a plane.
 * Their overlap gives the candidates for manifold points, each with its own gap along the normal, of which at most
 * four are kept (manifold.h). */
#ifndef TALUS_COLLIDE_FACING_H
#define TALUS_COLLIDE_FACING_H

#include "geometry/support.h"

#include <stdbool.h>

enum { TALUS_FACING_POINTS = 8 }; /* maximum number of points of a facing part */

/* The facing part: a face (count >= 3, anticlockwise seen from outside), a line (2) or a point (1). A disc is given by
 * eight points of its rim; of a hull's face with more corners, eight are taken. */
typedef struct TalusFacing {
    int count;
    TalusVec3 point[TALUS_FACING_POINTS + 1]; /* capacity for one more (talus_convex_plane) */
    TalusVec3 normal;                         /* of a face, outward; else not set */
    /* Number of the face or line within the body. Lines of a curved side have one common number, and so have the edges
     * of a hull whose vertex of lower index is the same. */
    uint32_t id;
} TalusFacing;

/* Sine of the angle between d and a disc's axis up to which the first point of the disc is on the body's x axis. At
 * larger angles it is the point farthest along d. */
#define TALUS_FACING_UPRIGHT 0x1p-16
/* A hull's face counts if the cosine of the angle between d and its normal is above this: up to 60 degrees. */
#define TALUS_FACING_FACE 0.5
/* A hull's edge counts as a line if the sine of its slope against the plane normal to d is below this: up to 30
 * degrees. */
#define TALUS_FACING_EDGE 0.5

/* Finds the side of a box, of half extents `half`, that faces d most. */
TALUS_INLINE void talus_facing_box(TalusVec3 half, TalusVec3 d, TalusFacing *f)
{
    double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z);
    int axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
    bool positive = (axis == 0 ? d.x : axis == 1 ? d.y : d.z) > 0.0;
    double s = positive ? 1.0 : -1.0;
    f->count = 4;
    f->id = (uint32_t)(2 * axis + positive);
    f->normal = talus_vec3(axis == 0 ? s : 0.0, axis == 1 ? s : 0.0, axis == 2 ? s : 0.0);
    for (int k = 0; k < 4; k++) {
        int c = positive ? k : 3 - k;
        double u = c == 1 || c == 2 ? 1.0 : -1.0, v = c >= 2 ? 1.0 : -1.0;
        f->point[k] = axis == 0   ? talus_vec3(s * half.x, u * half.y, v * half.z)
                      : axis == 1 ? talus_vec3(v * half.x, s * half.y, u * half.z)
                                  : talus_vec3(u * half.x, v * half.y, s * half.z);
    }
}

/* Sets the part to a disc about the z axis at height z: eight points of its rim. The first is the farthest along d; if
 * d is the axis up to TALUS_FACING_UPRIGHT, it is on the x axis. up: 1 or -1, the z component of the outward normal. */
TALUS_INLINE void talus_facing_set_disc(double radius, double z, double up, TalusVec3 d,
                                        TalusFacing *f)
{
    const double diagonal = 0.70710678118654752440;
    double rho = sqrt(d.x * d.x + d.y * d.y);
    bool led = rho > TALUS_FACING_UPRIGHT;
    double c = led ? d.x / rho : 1.0, s = led ? d.y / rho : 0.0;
    f->count = 8;
    f->normal = talus_vec3(0.0, 0.0, up);
    for (int k = 0; k < 8; k++) {
        double x = k & 1 ? diagonal : k & 2 ? 0.0 : 1.0, y = k & 1 ? diagonal : k & 2 ? 1.0 : 0.0;
        x = k >= 3 && k <= 5 ? -x : x;
        y = up * (k >= 5 ? -y : y);
        f->point[k] = talus_vec3(radius * (c * x - s * y), radius * (s * x + c * y), z);
    }
}

/* Sets the part to a line between two points. */
TALUS_INLINE void talus_facing_set_line(TalusVec3 from, TalusVec3 to, TalusFacing *f)
{
    f->count = 2;
    f->point[0] = from;
    f->point[1] = to;
}

/* True if a line is at most 60 degrees out of the plane normal to d; of a steeper one only an end faces d. */
TALUS_INLINE bool talus_line_is_facing(TalusVec3 from, TalusVec3 to, TalusVec3 d)
{
    TalusVec3 along = talus_sub(to, from);
    double rise = talus_dot(along, d);
    return rise * rise <= 0.75 * talus_dot(along, along);
}

/* Finds the part of a capsule's segment that faces d: the segment, or one end of it. h: half the length. */
TALUS_INLINE void talus_facing_capsule(double h, TalusVec3 d, TalusFacing *f)
{
    TalusVec3 low = talus_vec3(0.0, 0.0, -h), high = talus_vec3(0.0, 0.0, h);
    f->point[0] = d.z < 0.0 ? low : high;
    if (talus_line_is_facing(low, high, d))
        talus_facing_set_line(low, high, f);
}

/* Finds the part of a cylinder of half height h that faces d: an end disc, or a line of the side. */
TALUS_INLINE void talus_facing_cylinder(double radius, double h, TalusVec3 d, TalusFacing *f)
{
    double rho = sqrt(d.x * d.x + d.y * d.y);
    if (fabs(d.z) >= rho) {
        f->id = d.z > 0.0 ? 1 : 0;
        talus_facing_set_disc(radius, d.z > 0.0 ? h : -h, d.z > 0.0 ? 1.0 : -1.0, d, f);
        return;
    }
    double x = radius * d.x / rho, y = radius * d.y / rho;
    f->id = 2;
    talus_facing_set_line(talus_vec3(x, y, -h), talus_vec3(x, y, h), f);
}

/* Finds the part of a cone of half height h that faces d: the base, a line of the side, or the apex. The base is at z =
 * -h/2, the apex at 3h/2. The normal of the side is (2 h, radius), away from the axis and along it, up to a factor. */
TALUS_INLINE void talus_facing_cone(double radius, double h, TalusVec3 d, TalusFacing *f)
{
    double rho = sqrt(d.x * d.x + d.y * d.y);
    double side = (2.0 * h * rho + radius * d.z) / sqrt(4.0 * h * h + radius * radius);
    TalusVec3 apex = talus_vec3(0.0, 0.0, 1.5 * h);
    if (-d.z >= side) {
        talus_facing_set_disc(radius, -0.5 * h, -1.0, d, f);
        return;
    }
    f->id = 1;
    f->point[0] = apex;
    if (!(rho > TALUS_FACING_UPRIGHT))
        return;
    TalusVec3 rim = talus_vec3(radius * d.x / rho, radius * d.y / rho, -0.5 * h);
    if (talus_line_is_facing(rim, apex, d))
        talus_facing_set_line(rim, apex, f);
}

/* Finds the line from vertex `top` of a hull to a neighbour, an edge or a diagonal of a face, that descends least along
 * d. If all are steeper than TALUS_FACING_EDGE, the part is the vertex alone. */
TALUS_INLINE void talus_facing_hull_edge(const TalusShape *shape, int top, TalusVec3 d,
                                         TalusFacing *f)
{
    const TalusHull *hull = &shape->hull;
    const TalusVec3 *vertex = shape->def.vertex;
    double least = TALUS_FACING_EDGE;
    int best = -1;
    for (int k = hull->neighbour_start[top]; k < hull->neighbour_start[top + 1]; k++) {
        TalusVec3 along = talus_sub(vertex[hull->neighbour[k]], vertex[top]);
        double drop = -talus_dot(along, d) / talus_norm(along); /* sine of the angle */
        if (drop < least) {
            least = drop;
            best = hull->neighbour[k];
        }
    }
    f->point[0] = vertex[top];
    if (best < 0)
        return;
    int low = best < top ? best : top, high = best < top ? top : best;
    f->id = (uint32_t)(hull->faces + low);
    talus_facing_set_line(vertex[low], vertex[high], f);
}

/* Finds the part of a hull that faces d. Of the faces at the vertex farthest along d it is the one whose normal is
 * nearest to d and within TALUS_FACING_FACE; without such a face, an edge or the vertex (talus_facing_hull_edge). */
TALUS_INLINE void talus_facing_hull(const TalusShape *shape, TalusVec3 d, TalusFacing *f)
{
    const TalusHull *hull = &shape->hull;
    int top = talus_hull_farthest_vertex(shape, d), best = -1;
    TalusVec3 x = shape->def.vertex[top];
    double most = TALUS_FACING_FACE, tolerance = 0x1p-12 * shape->size;
    for (int k = 0; k < hull->faces; k++) {
        const double *plane = hull->plane[k];
        TalusVec3 n = talus_vec3(plane[0], plane[1], plane[2]);
        double cosine = talus_dot(n, d);
        if (cosine > most && talus_dot(n, x) > plane[3] - tolerance) {
            most = cosine;
            best = k;
        }
    }
    if (best < 0) {
        talus_facing_hull_edge(shape, top, d, f);
        return;
    }
    int first = hull->loop_start[best], corners = hull->loop_start[best + 1] - first;
    f->id = (uint32_t)best;
    f->normal = talus_vec3(hull->plane[best][0], hull->plane[best][1], hull->plane[best][2]);
    f->count = corners < TALUS_FACING_POINTS ? corners : TALUS_FACING_POINTS;
    for (int k = 0; k < f->count; k++)
        f->point[k] = shape->def.vertex[hull->loop[first + k * corners / f->count]];
}

/* Finds the part of a convex shape that faces d, a unit vector in the body's frame; of spheres and ellipsoids a point.
 * It is a part of the core: the surface of a sphere or capsule is talus_core_margin farther out. */
TALUS_INLINE void talus_find_facing(const TalusShape *shape, TalusVec3 d, TalusFacing *f)
{
    const TalusShapeDef *def = &shape->def;
    f->count = 1;
    f->id = 0;
    switch (def->kind) {
    case TALUS_SHAPE_BOX: talus_facing_box(def->half, d, f); return;
    case TALUS_SHAPE_CYLINDER: talus_facing_cylinder(def->radius, def->half_height, d, f); return;
    case TALUS_SHAPE_CONE: talus_facing_cone(def->radius, def->half_height, d, f); return;
    case TALUS_SHAPE_HULL: talus_facing_hull(shape, d, f); return;
    case TALUS_SHAPE_CAPSULE: talus_facing_capsule(def->half_height, d, f); return;
    default: f->point[0] = talus_core_support(shape, d); return;
    }
}

#endif
