/* geometry/mesh.c - triangles of spheres, ellipsoids, cylinders, boxes, revolves and planes; mesh_kinds.c has the
 * others.
 *
 * Points of circles are rotated one from the other by the sine and cosine of one segment, which takes only + - * / and
 * sqrt, so that a mesh has the same bits everywhere. */
#include "geometry/mesh.h"

#include "base/memory.h"
#include "base/status.h"
#include "geometry/kinds.h"
#include "geometry/mesh_build.h"
#include "geometry/support.h"

#include <string.h>

/* ---- building ---- */

void talus_mesh_free(TalusMesh *mesh)
{
    TALUS_RELEASE(mesh->vertex, mesh->normal, mesh->triangle, mesh->edge, mesh->piece);
    memset(mesh, 0, sizeof *mesh);
}

/* Fails if there are more than INT32_MAX / 8 vertices or triangles, whose indices might overflow an int. */
static TalusStatus check_sizes(TalusMeshSizes most)
{
    if (most.vertices > INT32_MAX / 8 || most.triangles > INT32_MAX / 8)
        return talus_reject("mesh: %zu triangles are more than it can hold", most.triangles);
    return TALUS_OK;
}

TalusStatus talus_mesh_allocate(TalusMesh *mesh, TalusMeshSizes most)
{
    memset(mesh, 0, sizeof *mesh);
    TALUS_TRY(check_sizes(most));
    TalusStatus status = TALUS_ALLOC(mesh->vertex, most.vertices, "mesh vertices");
    TALUS_THEN(status, TALUS_ALLOC(mesh->normal, most.vertices, "mesh normals"));
    TALUS_THEN(status, TALUS_ALLOC(mesh->triangle, 3 * most.triangles, "mesh triangles"));
    TALUS_THEN(status, TALUS_ALLOC(mesh->edge, 2 * most.edges, "mesh edges"));
    if (status != TALUS_OK)
        talus_mesh_free(mesh);
    return status;
}

TalusStatus talus_mesh_reserve(TalusMesh *mesh, const TalusMesh *by)
{
    TalusMeshSizes old = {(size_t)mesh->vertex_count, (size_t)mesh->triangle_count,
                          (size_t)mesh->edge_count};
    TalusMeshSizes most = {old.vertices + (size_t)by->vertex_count,
                           old.triangles + (size_t)by->triangle_count,
                           old.edges + (size_t)by->edge_count};
    TALUS_TRY(check_sizes(most));
    TALUS_TRY(TALUS_GROW(mesh->vertex, most.vertices, old.vertices, "mesh vertices"));
    TALUS_TRY(TALUS_GROW(mesh->normal, most.vertices, old.vertices, "mesh normals"));
    TALUS_TRY(TALUS_GROW(mesh->triangle, 3 * most.triangles, 3 * old.triangles, "mesh triangles"));
    return TALUS_GROW(mesh->edge, 2 * most.edges, 2 * old.edges, "mesh edges");
}

void talus_mesh_add_polygon(TalusMesh *mesh, int first, int corners)
{
    for (int k = 2; k < corners; k++)
        talus_mesh_add_triangle(mesh, first, first + k - 1, first + k);
}

/* ---- circles ---- */

/* Cosine and sine of the angle of one of n segments of a circle, at most a quarter turn, by Taylor sums; the first
 * omitted term is below 1e-20. */
static void cosine_and_sine_of_segment(int n, double *cosine, double *sine)
{
    double x = 2.0 * TALUS_PI / (double)n, y = x * x, s = 1.0, c = 1.0;
    for (int k = 27; k >= 3; k -= 2)
        s = 1.0 - y / (double)(k * (k - 1)) * s;
    for (int k = 26; k >= 2; k -= 2)
        c = 1.0 - y / (double)(k * (k - 1)) * c;
    *cosine = c;
    *sine = x * s;
}

/* Sets circle[n] to unit vectors of a circle about z. A quarter of them is computed, the others are its exact
 * rotations. */
static void fill_circle(TalusVec3 *circle, int n)
{
    double c, s;
    cosine_and_sine_of_segment(n, &c, &s);
    circle[0] = talus_vec3(1.0, 0.0, 0.0);
    for (int k = 1; k < n / 4; k++) {
        TalusVec3 p = circle[k - 1];
        circle[k] = talus_normalize(talus_vec3(c * p.x - s * p.y, s * p.x + c * p.y, 0.0), p);
    }
    for (int k = n / 4; k < n; k++)
        circle[k] = talus_vec3(-circle[k - n / 4].y, circle[k - n / 4].x, 0.0);
}

int talus_mesh_add_ring(TalusMesh *mesh, TalusCircle circle, TalusRingProfile rim)
{
    int first = mesh->vertex_count;
    for (int k = 0; k < circle.n; k++) {
        TalusVec3 c = circle.at[k];
        talus_mesh_add_vertex(mesh, talus_vec3(rim.r * c.x, rim.r * c.y, rim.z),
                              talus_vec3(rim.nr * c.x, rim.nr * c.y, rim.nz));
    }
    return first;
}

void talus_mesh_add_band(TalusMesh *mesh, int n, int low, int high, bool low_point, bool high_point,
                         bool flip)
{
    for (int k = 0; k < n; k++) {
        int next = (k + 1) % n;
        int a = low + k, b = low + next, c = high + next, d = high + k;
        if (!low_point)
            flip ? talus_mesh_add_triangle(mesh, a, c, b) : talus_mesh_add_triangle(mesh, a, b, c);
        if (!high_point)
            flip ? talus_mesh_add_triangle(mesh, a, d, c) : talus_mesh_add_triangle(mesh, a, c, d);
    }
}

void talus_mesh_add_ring_edges(TalusMesh *mesh, int n, int ring)
{
    for (int k = 0; k < n; k++)
        talus_mesh_add_edge(mesh, ring + k, ring + (k + 1) % n);
}

void talus_mesh_add_bottom_disc(TalusMesh *mesh, TalusCircle circle, double radius, double z)
{
    int first = mesh->vertex_count;
    for (int k = circle.n - 1; k >= 0; k--)
        talus_mesh_add_vertex(mesh, talus_vec3(radius * circle.at[k].x, radius * circle.at[k].y, z),
                              talus_vec3(0, 0, -1));
    talus_mesh_add_polygon(mesh, first, circle.n);
}

/* ---- kinds ---- */

/* Makes the mesh of an ellipsoid with semi-axes `half`: a unit sphere scaled along the axes. */
static TalusStatus make_ellipsoid_mesh(TalusVec3 half, TalusCircle circle, TalusMesh *out)
{
    int n = circle.n, rings = n / 2; /* bands from pole to pole */
    TalusMeshSizes sizes = {(size_t)n * (size_t)(rings + 1), 2 * (size_t)n * (size_t)rings, 0};
    TALUS_TRY(talus_mesh_allocate(out, sizes));
    for (int k = 0; k <= rings; k++) {
        /* from the south pole: (sin, -cos) of half a turn in `rings` parts, which are the circle's angles */
        TalusRingProfile rim = {circle.at[k].y, -circle.at[k].x, circle.at[k].y, -circle.at[k].x};
        if (k == 0 || k == rings)
            rim.r = rim.nr = 0.0;
        int ring = talus_mesh_add_ring(out, circle, rim);
        if (k > 0)
            talus_mesh_add_band(out, n, ring - n, ring, k == 1, k == rings, false);
    }
    for (int k = 0; k < out->vertex_count; k++) {
        TalusVec3 *p = &out->vertex[k], *m = &out->normal[k];
        *p = talus_vec3(half.x * p->x, half.y * p->y, half.z * p->z);
        *m = talus_normalize(talus_vec3(m->x / half.x, m->y / half.y, m->z / half.z), *m);
    }
    return TALUS_OK;
}

TalusStatus talus_mesh_sphere(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out)
{
    (void)shape;
    return make_ellipsoid_mesh(talus_vec3(how->radius, how->radius, how->radius), how->circle, out);
}

TalusStatus talus_mesh_ellipsoid(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out)
{
    return make_ellipsoid_mesh(shape->def.half, how->circle, out);
}

TalusStatus talus_mesh_cylinder(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out)
{
    TalusCircle circle = how->circle;
    double r = shape->def.radius, h = shape->def.half_height;
    int n = circle.n;
    size_t m = (size_t)n;
    TALUS_TRY(talus_mesh_allocate(out, (TalusMeshSizes){4 * m, 2 * m + 2 * (m - 2), 2 * m}));
    int low = talus_mesh_add_ring(out, circle, (TalusRingProfile){r, -h, 1.0, 0.0});
    int high = talus_mesh_add_ring(out, circle, (TalusRingProfile){r, h, 1.0, 0.0});
    talus_mesh_add_band(out, n, low, high, false, false, false);
    talus_mesh_add_ring_edges(out, n, low);
    talus_mesh_add_ring_edges(out, n, high);
    int top = talus_mesh_add_ring(out, circle, (TalusRingProfile){r, h, 0.0, 1.0});
    talus_mesh_add_polygon(out, top, n);
    talus_mesh_add_bottom_disc(out, circle, r, -h);
    return TALUS_OK;
}

/* Adds the face of a box with normal s along `axis`. */
static void add_box_face(TalusMesh *mesh, const double half[3], int axis, double s)
{
    static const double corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    double normal[3] = {0.0, 0.0, 0.0};
    normal[axis] = s;
    int first = mesh->vertex_count;
    for (int k = 0; k < 4; k++) {
        double p[3];
        p[axis] = s * half[axis];
        p[u] = s * corner[k][0] * half[u]; /* mirrored in u to stay anticlockwise */
        p[v] = corner[k][1] * half[v];
        talus_mesh_add_vertex(mesh, talus_vec3(p[0], p[1], p[2]),
                              talus_vec3(normal[0], normal[1], normal[2]));
    }
    talus_mesh_add_polygon(mesh, first, 4);
    if (axis == 2) /* rims of top and bottom */
        for (int k = 0; k < 4; k++)
            talus_mesh_add_edge(mesh, first + k, first + (k + 1) % 4);
    if (axis == 0) { /* vertical edges: corners of the x faces that differ in z alone */
        talus_mesh_add_edge(mesh, first, first + 3);
        talus_mesh_add_edge(mesh, first + 1, first + 2);
    }
}

TalusStatus talus_mesh_box(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out)
{
    const TalusShapeDef *def = &shape->def;
    double half[3] = {def->half.x, def->half.y, def->half.z};
    (void)how;
    TALUS_TRY(talus_mesh_allocate(out, (TalusMeshSizes){24, 12, 12}));
    for (int axis = 0; axis < 3; axis++) {
        add_box_face(out, half, axis, -1.0);
        add_box_face(out, half, axis, 1.0);
    }
    return TALUS_OK;
}

/* ---- revolve ---- */

/* Radius and height of profile point k; no normal. */
static TalusRingProfile profile_point(const TalusShapeDef *def, int k)
{
    return (TalusRingProfile){def->profile[2 * k], def->profile[2 * k + 1], 0.0, 0.0};
}

/* Unit normal of profile segment k: to the right of the profile's direction for side 1, to the left for -1. */
static TalusRingProfile segment_normal(const TalusShapeDef *def, int k, double side)
{
    TalusRingProfile a = profile_point(def, k), b = profile_point(def, k + 1);
    double dr = b.r - a.r, dz = b.z - a.z, length = sqrt(dr * dr + dz * dz);
    return (TalusRingProfile){a.r, a.z, side * dz / length, -side * dr / length};
}

/* Returns the side of the profile that faces away from the axis over most of the area: 1 for the right side, -1 for the
 * left. */
static double find_outer_side(const TalusShapeDef *def)
{
    double sum = 0.0;
    for (int k = 0; k + 1 < def->point_count; k++) {
        TalusRingProfile a = profile_point(def, k), b = profile_point(def, k + 1);
        sum += (a.r + b.r) * (b.z - a.z);
    }
    return sum < 0.0 ? -1.0 : 1.0;
}

/* Position and normal of profile segment k at its end `point` (k or k + 1). Across a smooth bend the normal is the mean
 * of those of both segments. *sharp: the bend is sharp, or the end is free. */
static TalusRingProfile segment_end_normal(const TalusShapeDef *def, int k, int point, double side,
                                           bool *sharp)
{
    int other = point == k ? k - 1 : k + 1;
    TalusRingProfile n = segment_normal(def, k, side), at = profile_point(def, point);
    *sharp = true;
    if (other >= 0 && other + 1 < def->point_count) {
        TalusRingProfile m = segment_normal(def, other, side);
        *sharp = n.nr * m.nr + n.nz * m.nz < TALUS_SMOOTH_COSINE;
        if (!*sharp) {
            double nr = n.nr + m.nr, nz = n.nz + m.nz, length = sqrt(nr * nr + nz * nz);
            return (TalusRingProfile){at.r, at.z, nr / length, nz / length};
        }
    }
    return (TalusRingProfile){at.r, at.z, n.nr, n.nz};
}

TalusStatus talus_mesh_revolve(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out)
{
    const TalusShapeDef *def = &shape->def;
    TalusCircle circle = how->circle;
    int n = circle.n;
    size_t faces = (size_t)def->point_count - 1, m = (size_t)n;
    TALUS_TRY(
        talus_mesh_allocate(out, (TalusMeshSizes){2 * m * faces, 2 * m * faces, m * (faces + 1)}));
    double side = find_outer_side(def);
    for (int k = 0; k + 1 < def->point_count; k++) {
        bool sharp_low, sharp_high;
        TalusRingProfile low = segment_end_normal(def, k, k, side, &sharp_low);
        TalusRingProfile high = segment_end_normal(def, k, k + 1, side, &sharp_high);
        int a = talus_mesh_add_ring(out, circle, low), b = talus_mesh_add_ring(out, circle, high);
        talus_mesh_add_band(out, n, a, b, low.r == 0.0, high.r == 0.0, side < 0.0);
        if (sharp_low && low.r > 0.0)
            talus_mesh_add_ring_edges(out, n, a);
        if (k + 2 == def->point_count && high.r > 0.0)
            talus_mesh_add_ring_edges(out, n, b);
    }
    return TALUS_OK;
}

/* ---- any shape ---- */

/* Lists the triangles of a convex shape as one piece. A compound has listed its pieces already; other shapes have
 * none. */
static TalusStatus add_convex_piece(const TalusShape *shape, TalusMesh *mesh)
{
    if (!talus_shape_has(shape->def.kind, TALUS_TRAIT_CONVEX))
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(mesh->piece, 1, "mesh pieces"));
    mesh->piece[mesh->piece_count++] = mesh->triangle_count;
    return TALUS_OK;
}

TalusStatus talus_mesh_of_built_shape(const TalusShape *shape, const TalusMeshing *how,
                                      TalusMesh *out)
{
    memset(out, 0, sizeof *out);
    TalusStatus status = talus_shape_ops(shape->def.kind)->make_mesh(shape, how, out);
    TALUS_THEN(status, add_convex_piece(shape, out));
    if (status != TALUS_OK)
        talus_mesh_free(out);
    return status;
}

TalusStatus talus_mesh_of_shape(const TalusShapeDef *shape, double extent, int segments,
                                TalusMesh *out)
{
    memset(out, 0, sizeof *out);
    if (segments < 4 || segments % 4 != 0)
        return talus_reject("mesh: %d segments; expected 4, 8, 12, ...", segments);
    TalusShape checked;
    TalusVec3 *circle;
    TALUS_TRY(talus_shape_init(&checked, shape));
    TalusStatus status = TALUS_ALLOC(circle, (size_t)segments, "circle");
    if (status == TALUS_OK) {
        fill_circle(circle, segments);
        TalusMeshing how = {{segments, circle}, 1.0, extent};
        status = talus_mesh_of_built_shape(&checked, &how, out);
        talus_release(circle);
    }
    talus_shape_clear(&checked);
    return status;
}

/* ---- parts of planes ---- */

/* A convex polygon that is cut by planes. */
typedef struct Polygon {
    TalusVec3 *corner;
    TalusVec3 *spare; /* memory for the next cut, which adds at most one corner; then exchanged */
    int count;
} Polygon;

/* Cuts the polygon to the part where dot(normal, x - point) >= -slack. */
static void cut_polygon(Polygon *polygon, TalusVec3 point, TalusVec3 normal, double slack)
{
    TalusVec3 *kept = polygon->spare;
    int count = 0;
    for (int k = 0; k < polygon->count; k++) {
        TalusVec3 a = polygon->corner[k], b = polygon->corner[(k + 1) % polygon->count];
        double da = talus_dot(normal, talus_sub(a, point)) + slack;
        double db = talus_dot(normal, talus_sub(b, point)) + slack;
        if (da >= 0.0)
            kept[count++] = a;
        if ((da >= 0.0) != (db >= 0.0))
            kept[count++] = talus_madd(a, da / (da - db), talus_sub(b, a));
    }
    polygon->spare = polygon->corner;
    polygon->corner = kept;
    polygon->count = count;
}

/* Sets the polygon to a square of the plane that covers the bounds, anticlockwise seen from the side of the normal. */
static void cover_bounds(Polygon *polygon, TalusMeshPlane plane, TalusAabb bounds)
{
    TalusVec3 n = plane.normal, middle = talus_scale(0.5, talus_add(bounds.lo, bounds.hi));
    double reach = talus_norm(talus_sub(bounds.hi, bounds.lo));
    TalusVec3 foot = talus_madd(middle, -talus_dot(n, talus_sub(middle, plane.point)), n);
    TalusVec3 off = talus_smallest_axis(n);
    TalusVec3 u = talus_scale(reach, talus_normalize(talus_cross(off, n), off));
    TalusVec3 v = talus_cross(n, u);
    polygon->corner[0] = talus_sub(talus_sub(foot, u), v);
    polygon->corner[1] = talus_sub(talus_add(foot, u), v);
    polygon->corner[2] = talus_add(talus_add(foot, u), v);
    polygon->corner[3] = talus_add(talus_sub(foot, u), v);
    polygon->count = 4;
}

/* Makes the mesh of one polygon, with its sides as edges; empty for fewer than three corners. */
static TalusStatus make_polygon_mesh(const Polygon *polygon, TalusVec3 normal, TalusMesh *out)
{
    int n = polygon->count < 3 ? 0 : polygon->count;
    TALUS_TRY(talus_mesh_allocate(out, (TalusMeshSizes){(size_t)n, (size_t)n, (size_t)n}));
    for (int k = 0; k < n; k++) {
        talus_mesh_add_vertex(out, polygon->corner[k], normal);
        talus_mesh_add_edge(out, k, (k + 1) % n);
    }
    talus_mesh_add_polygon(out, 0, n);
    return TALUS_OK;
}

TalusStatus talus_mesh_plane(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out)
{
    double e = how->extent;
    (void)shape;
    TALUS_TRY(talus_check_length("plane", "extent", e));
    TalusVec3 corner[4] = {{-e, -e, 0}, {e, -e, 0}, {e, e, 0}, {-e, e, 0}};
    Polygon square = {corner, NULL, 4};
    return make_polygon_mesh(&square, talus_vec3(0, 0, 1), out);
}

TalusStatus talus_mesh_of_plane(const TalusMeshPlane *planes, int count, int which,
                                TalusAabb bounds, TalusMesh *out)
{
    double slack = 1e-9 * talus_norm(talus_sub(bounds.hi, bounds.lo));
    size_t most = (size_t)count + 2 * 3 + 4;
    TalusVec3 *corners;
    memset(out, 0, sizeof *out);
    TALUS_TRY(TALUS_ALLOC(corners, 2 * most, "polygon"));
    Polygon polygon = {corners, corners + most, 0};
    cover_bounds(&polygon, planes[which], bounds);
    for (int k = 0; k < 3; k++) {
        cut_polygon(&polygon, bounds.lo, talus_axis_vector(k), slack);
        cut_polygon(&polygon, bounds.hi, talus_neg(talus_axis_vector(k)), slack);
    }
    for (int k = 0; k < count; k++)
        if (k != which)
            cut_polygon(&polygon, planes[k].point, planes[k].normal, slack);
    TalusStatus status = make_polygon_mesh(&polygon, planes[which].normal, out);
    talus_release(corners);
    return status;
}
