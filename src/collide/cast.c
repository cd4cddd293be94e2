/* collide/cast.c - where a moving sphere first meets a shape.
 *
 * A sphere of radius r touches a shape when its centre x(t) = from + t direction is at the distance r from it. For a
 * convex set with the nearest point y to x, the plane through y normal to n = (x - y)/|x - y| has the set behind it, so
 * the centre meets the set not before it meets that plane moved by r: t grows by (|x - y| - r)/(-n.direction), and there
 * is no meeting if the way leads off the plane. The steps never pass the meeting and end at flat faces at once
 * (van den Bergen 2004). The distance is that of GJK, or of a facet. Meshes and fields are sets of facets, compounds sets
 * of convex parts. To a thin wall of revolution, which is not convex, steps are as long as the distance itself. */
#include "collide/cast.h"

#include "collide/gjk.h"
#include "geometry/facets.h"
#include "geometry/traits.h"

#include <math.h>

/* Rounds after which a way that grazes a surface counts as meeting it where it is. */
enum { MAX_ROUNDS = 512 };

/* Returns the distance from p to a convex set and, unless p is in it, sets the unit normal from the set to p. */
typedef double DistanceFn(const void *set, TalusVec3 p, TalusVec3 *normal);

static TalusVec3 point_at(const TalusCast *c, double t)
{
    return talus_madd(c->from, t, c->direction);
}

/* Meets a convex set, to within `tolerance`, m. */
static bool cast_convex(DistanceFn *distance, const void *set, const TalusCast *c, double tolerance,
                        TalusCastHit *hit)
{
    TalusVec3 normal = talus_neg(c->direction);
    double t = 0.0;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        TalusVec3 n = normal;
        const double gap = distance(set, point_at(c, t), &n) - c->radius;
        if (gap <= tolerance) {
            /* at the surface itself, the direction to the nearest point is one of rounding errors */
            *hit = (TalusCastHit){t, round == 0 || c->radius > 0.0 ? n : normal};
            return true;
        }
        const double closing = -talus_dot(c->direction, n);
        normal = n;
        if (!(closing > 0.0) || !(t + gap / closing <= hit->distance))
            return false;
        t += gap / closing;
    }
    *hit = (TalusCastHit){t, normal};
    return true;
}

/* ---- spheres and planes ---- */

/* The centre meets a sphere of radius R = radius + c->radius: |from + t direction|^2 = R^2. */
static bool cast_sphere(double radius, const TalusCast *c, TalusCastHit *hit)
{
    const TalusVec3 back = talus_neg(c->direction);
    const double sum = radius + c->radius, b = talus_dot(c->from, c->direction);
    const double outside = talus_dot(c->from, c->from) - sum * sum, root = b * b - outside;
    if (outside <= 0.0) {
        const bool inside = talus_norm(c->from) < radius;
        *hit = (TalusCastHit){0.0, inside ? back : talus_normalize(c->from, back)};
        return true;
    }
    if (b >= 0.0 || root < 0.0)
        return false;
    const double t = outside / (sqrt(root) - b);
    if (!(t <= hit->distance))
        return false;
    *hit = (TalusCastHit){t, talus_normalize(point_at(c, t), back)};
    return true;
}

static double plane_distance(const void *set, TalusVec3 p, TalusVec3 *normal)
{
    (void)set;
    if (p.z > 0.0)
        *normal = talus_vec3(0.0, 0.0, 1.0);
    return p.z;
}

/* ---- convex shapes ---- */

/* Distance from p by GJK, with p as a triangle of three equal corners. */
static double convex_distance(const void *set, TalusVec3 p, TalusVec3 *normal)
{
    const TalusShape *shape = set;
    const TalusConvexPair pair = {
        .a = shape, .centre = p, .corner = {p, p, p}, .size = shape->size};
    const TalusVec3 zero = {0.0, 0.0, 0.0};
    const TalusVec3 start = talus_dot(p, p) > 0.0 ? talus_neg(p) : talus_vec3(0.0, 0.0, 1.0);
    TalusGjk g;
    talus_gjk(&pair, zero, start, INFINITY, 0x1p-24 * shape->size, &g);
    if (g.result != TALUS_GJK_APART)
        return -talus_core_margin(shape, 0.0);
    const double core = sqrt(g.norm2), distance = core - talus_core_margin(shape, 0.0);
    if (distance > 0.0)
        *normal = talus_scale(-1.0 / core, g.v);
    return distance;
}

static bool cast_compound(const TalusShape *shape, const TalusCast *c, TalusCastHit *hit)
{
    bool met = false;
    for (int k = 0; k < shape->def.part_count; k++) {
        const TalusChild *child = &shape->child[k];
        const TalusQuat q = child->orientation;
        const TalusCast own = {talus_rotate_back(q, talus_sub(c->from, child->position)),
                               talus_rotate_back(q, c->direction), c->radius};
        TalusCastHit found = *hit;
        if (!talus_cast(&child->shape, child->shape.def.radius, &own, &found))
            continue;
        *hit = (TalusCastHit){found.distance, talus_rotate(q, found.normal)};
        met = true;
    }
    return met;
}

/* ---- facets ---- */

static double facet_distance(const void *set, TalusVec3 p, TalusVec3 *normal)
{
    const TalusVec3 from = talus_facet_closest(set, p).from;
    const double distance = talus_norm(from);
    if (distance > 0.0)
        *normal = talus_scale(1.0 / distance, from);
    return distance;
}

static bool cast_facet(const TalusShape *shape, int32_t t, const TalusCast *c, TalusCastHit *hit)
{
    const TalusFacet facet = talus_get_facet(&shape->def, t);
    return cast_convex(facet_distance, &facet, c, 0x1p-40 * shape->bounding_radius, hit);
}

/* Narrows [*begin, *end] to the times at which a coordinate x + t v is between lo and hi; false: none. */
static bool clip(double x, double v, double lo, double hi, double *begin, double *end)
{
    if (v == 0.0)
        return x >= lo && x <= hi;
    const double a = (lo - x) / v, b = (hi - x) / v;
    *begin = fmax(*begin, fmin(a, b));
    *end = fmin(*end, fmax(a, b));
    return *begin <= *end;
}

/* True if the sphere's box meets the box of a node within `length`. */
static bool meets_node(const TalusTreeNode *node, const TalusCast *c, double length)
{
    /* for points on the surface of the box, and its rounding */
    const double r = c->radius + 0x1p-20 * (fabs((double)node->hi[0] - node->lo[0]) +
                                            fabs((double)node->hi[1] - node->lo[1]) +
                                            fabs((double)node->hi[2] - node->lo[2]));
    double begin = 0.0, end = length;
    return clip(c->from.x, c->direction.x, node->lo[0] - r, node->hi[0] + r, &begin, &end) &&
           clip(c->from.y, c->direction.y, node->lo[1] - r, node->hi[1] + r, &begin, &end) &&
           clip(c->from.z, c->direction.z, node->lo[2] - r, node->hi[2] + r, &begin, &end);
}

static bool cast_mesh(const TalusShape *shape, const TalusCast *c, TalusCastHit *hit)
{
    const TalusTree *tree = &shape->tree;
    bool met = false;
    for (int i = 0; i < tree->nodes;) {
        const TalusTreeNode *node = &tree->node[i];
        if (!meets_node(node, c, hit->distance)) {
            i = node->skip;
            continue;
        }
        if (node->item >= 0)
            met |= cast_facet(shape, node->item, c, hit);
        i++;
    }
    return met;
}

/* Returns the cell, 0 to count - 1, of a coordinate that is `x` spacings from the first vertex. */
static int cell_of(double x, int count)
{
    return (int)fmin(fmax(floor(x), 0.0), count - 1.0);
}

/* Column by column of the cells: in each the rows between which the centre passes, widened by the radius. */
static bool cast_field(const TalusShape *shape, const TalusCast *c, TalusCastHit *hit)
{
    const TalusShapeDef *def = &shape->def;
    const TalusVec3 first = talus_field_vertex(def, 0, 0);
    const double s = def->spacing, r = c->radius + 0x1p-30 * s;
    bool met = false;
    for (int i = 0; i < def->columns - 1; i++) {
        double begin = 0.0, end = hit->distance;
        if (!clip(c->from.x, c->direction.x, first.x + i * s - r, first.x + (i + 1) * s + r, &begin,
                  &end))
            continue;
        const double y0 = point_at(c, begin).y - first.y, y1 = point_at(c, end).y - first.y;
        const int last = cell_of((fmax(y0, y1) + r) / s, def->rows - 1);
        for (int j = cell_of((fmin(y0, y1) - r) / s, def->rows - 1); j <= last; j++)
            for (int k = 0; k < 2; k++)
                met |= cast_facet(shape, 2 * (j * (def->columns - 1) + i) + k, c, hit);
    }
    return met;
}

/* ---- walls of revolution ---- */

/* Returns the distance from p to the polyline in the half plane through p, and the normal from it to p. */
static double revolve_distance(const TalusShapeDef *def, TalusVec3 p, TalusVec3 *normal)
{
    const double rho = sqrt(p.x * p.x + p.y * p.y);
    const TalusVec3 out = rho > 0.0 ? talus_vec3(p.x / rho, p.y / rho, 0.0) : talus_vec3(1, 0, 0);
    double least2 = INFINITY, dr = 0.0, dz = 0.0;
    for (int k = 0; k + 1 < def->point_count; k++) {
        const double *a = &def->profile[2 * k];
        const double along_r = a[2] - a[0], along_z = a[3] - a[1];
        const double length2 = along_r * along_r + along_z * along_z;
        const double way = ((rho - a[0]) * along_r + (p.z - a[1]) * along_z) / length2;
        const double s = fmin(fmax(way, 0.0), 1.0);
        const double r = rho - a[0] - s * along_r, z = p.z - a[1] - s * along_z;
        if (r * r + z * z < least2) {
            least2 = r * r + z * z;
            dr = r;
            dz = z;
        }
    }
    const double distance = sqrt(least2);
    if (distance > 0.0)
        *normal = talus_madd(talus_vec3(0.0, 0.0, dz / distance), dr / distance, out);
    return distance;
}

/* A way that keeps off the wall by more than the tolerance ends, since each step is as long as the distance. */
static bool cast_revolve(const TalusShape *shape, const TalusCast *c, TalusCastHit *hit)
{
    const double tolerance = 0x1p-22 * shape->bounding_radius;
    TalusVec3 normal = talus_neg(c->direction);
    double t = 0.0;
    for (bool first = true; t <= hit->distance; first = false) {
        TalusVec3 n = normal;
        const double gap = revolve_distance(&shape->def, point_at(c, t), &n) - c->radius;
        if (gap <= tolerance) {
            *hit = (TalusCastHit){t, first || c->radius > 0.0 ? n : normal};
            return true;
        }
        normal = n;
        t += gap;
    }
    return false;
}

/* ---- any shape ---- */

bool talus_cast(const TalusShape *shape, double radius, const TalusCast *cast, TalusCastHit *hit)
{
    switch (shape->def.kind) {
    case TALUS_SHAPE_SPHERE: return cast_sphere(radius, cast, hit);
    case TALUS_SHAPE_PLANE: return cast_convex(plane_distance, NULL, cast, 0.0, hit);
    case TALUS_SHAPE_COMPOUND: return cast_compound(shape, cast, hit);
    case TALUS_SHAPE_MESH: return cast_mesh(shape, cast, hit);
    case TALUS_SHAPE_FIELD: return cast_field(shape, cast, hit);
    case TALUS_SHAPE_REVOLVE: return cast_revolve(shape, cast, hit);
    default: return cast_convex(convex_distance, shape, cast, 0x1p-23 * shape->size, hit);
    }
}
