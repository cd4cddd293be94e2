/* geometry/hull.c - convex hull of points as a polyhedron with faces, edges and exact mass properties.
 *
 * Points are rounded to a grid of 2^-40 of the power of two above their extent, where the hull is exact
 * (hull_triangulate.c), and triangles are merged to faces (hull_faces.c). Points within 2^-22 extents of the hull of
 * the others are dropped: files of triangles have single precision, which is no better. The remaining vertices keep
 * their coordinates except for the shift of the centre of mass to the origin. This is repeated until nothing changes,
 * so that the hull of a hull's vertices has the same bits. Lengths are compared with the extent only, so scaling by a
 * power of two is exact. */
#include "base/memory.h"
#include "base/status.h"
#include "geometry/bounds.h"
#include "geometry/hull_work.h"
#include "geometry/kinds.h"

#include <string.h>

/* Distance from a face up to which a point is in it, over the extent */
#define FACE_TOLERANCE 0x1p-22
/* Distance of the centre of mass from the origin, over the extent, up to which points are not shifted */
#define CENTRE_TOLERANCE 0x1p-40
#define MIN_THICKNESS 0x1p-18 /* width, over the extent, up to which a hull is refused as flat */

/* The hull while it is made. */
typedef struct HullDraft {
    TalusVec3 *point; /* the points that are still kept */
    int count;
    TalusAabb box;        /* bounds of the points */
    double extent;        /* largest side of the box */
    TalusGridPoint *grid; /* the points, rounded to the grid */
    bool *keep;           /* by point: false for redundant points (talus_find_faces) */
    TalusTriangulation triangulation;
    TalusFaces faces;
    TalusVec3 centre;         /* sum of the shifts of the points so far */
    TalusMassProperties unit; /* at density 1 */
} HullDraft;

static TalusStatus check_def(const TalusShapeDef *def)
{
    if (!def->vertex || def->vertex_count < 4)
        return talus_reject("hull: %d points; it needs at least 4",
                            def->vertex ? def->vertex_count : 0);
    for (int k = 0; k < def->vertex_count; k++) {
        TalusVec3 p = def->vertex[k];
        if (!(fabs(p.x) + fabs(p.y) + fabs(p.z) < INFINITY))
            return talus_reject("hull: point %d is (%g, %g, %g); it must be finite", k, p.x, p.y,
                                p.z);
    }
    return TALUS_OK;
}

/* Returns the error for points in one plane. */
static TalusStatus fail_flat(const TalusShapeDef *def)
{
    return talus_reject(
        "hull: its %d points lie in one plane, or nearly; a body needs a thickness of 4e-6 of its "
        "length at least",
        def->vertex_count);
}

/* ---- points ---- */

/* Sets box and extent from the points. */
static void find_bounds(HullDraft *d)
{
    d->box = (TalusAabb){d->point[0], d->point[0]};
    for (int k = 1; k < d->count; k++)
        d->box = talus_aabb_add_point(d->box, d->point[k]);
    TalusVec3 sides = talus_sub(d->box.hi, d->box.lo);
    d->extent = fmax(sides.x, fmax(sides.y, sides.z));
}

/* Rounds x to the grid; the extent is below 2^exponent. */
static int64_t round_to_grid(double x, int exponent)
{
    return (int64_t)floor(ldexp(x, TALUS_GRID_BITS - exponent) + 0.5);
}

/* Sets d->grid: the points, relative to the lower corner of the box, in steps of the grid. */
static void round_points_to_grid(HullDraft *d)
{
    int exponent;
    (void)frexp(d->extent, &exponent);
    for (int k = 0; k < d->count; k++) {
        TalusVec3 p = talus_sub(d->point[k], d->box.lo);
        d->grid[k] = (TalusGridPoint){round_to_grid(p.x, exponent), round_to_grid(p.y, exponent),
                                      round_to_grid(p.z, exponent)};
    }
}

/* Removes the points whose keep[] is false. True if there were any. */
static bool drop_redundant_points(HullDraft *d)
{
    int kept = 0;
    for (int k = 0; k < d->count; k++)
        if (d->keep[k])
            d->point[kept++] = d->point[k];
    bool any = kept < d->count;
    d->count = kept;
    return any;
}

/* ---- mass ---- */

/* Sets d->unit: volume and inertia about the centre of mass. Returns the centre of mass. Sums over the tetrahedra
 * between the point `from` and the triangles of the surface: a tetrahedron with corners a, b, c relative to `from` has
 * the volume V = det(a, b, c)/6, the first moment V (a + b + c)/4 and the second moments V/20 (aa' + bb' + cc' + ss'),
 * where s = a + b + c. A `from` near the centre avoids cancellation. */
static TalusVec3 integrate_mass(HullDraft *d, TalusVec3 from)
{
    double volume = 0.0;
    TalusVec3 first = talus_vec3(0, 0, 0);
    TalusSym3 m = {0};
    for (int t = 0; t < d->triangulation.triangles; t++) {
        const int32_t *v = d->triangulation.corner[t];
        TalusVec3 p[4] = {talus_sub(d->point[v[0]], from), talus_sub(d->point[v[1]], from),
                          talus_sub(d->point[v[2]], from)};
        p[3] = talus_add(talus_add(p[0], p[1]), p[2]);
        double part = talus_dot(p[0], talus_cross(p[1], p[2])) / 6.0;
        volume += part;
        first = talus_madd(first, 0.25 * part, p[3]);
        for (int k = 0; k < 4; k++) {
            m.xx += 0.05 * part * p[k].x * p[k].x;
            m.yy += 0.05 * part * p[k].y * p[k].y;
            m.zz += 0.05 * part * p[k].z * p[k].z;
            m.xy += 0.05 * part * p[k].x * p[k].y;
            m.xz += 0.05 * part * p[k].x * p[k].z;
            m.yz += 0.05 * part * p[k].y * p[k].z;
        }
    }
    TalusVec3 c = talus_scale(1.0 / volume, first);
    double xx = m.xx - volume * c.x * c.x, yy = m.yy - volume * c.y * c.y;
    double zz = m.zz - volume * c.z * c.z;
    d->unit.mass = volume;
    d->unit.inertia = (TalusSym3){yy + zz,
                                  xx + zz,
                                  xx + yy,
                                  volume * c.x * c.y - m.xy,
                                  volume * c.x * c.z - m.xz,
                                  volume * c.y * c.z - m.yz};
    return talus_add(from, c);
}

/* Mean of the points. */
static TalusVec3 mean_of_points(const HullDraft *d)
{
    TalusVec3 sum = talus_vec3(0, 0, 0);
    for (int k = 0; k < d->count; k++)
        sum = talus_add(sum, talus_sub(d->point[k], d->box.lo));
    return talus_madd(d->box.lo, 1.0 / d->count, sum);
}

/* ---- hull of the present points ---- */

/* True if the hull is not thicker than MIN_THICKNESS extents along the normal of the first face, which has the largest
 * triangle. This excludes hulls with almost no volume before integrate_mass; `make_hull` tests the width at all faces
 * later. */
static bool is_flat(const HullDraft *d)
{
    double lo = INFINITY, hi = -INFINITY;
    for (int k = 0; k < d->count; k++) {
        double along = talus_dot(d->faces.normal[0], talus_sub(d->point[k], d->box.lo));
        lo = fmin(lo, along);
        hi = fmax(hi, along);
    }
    return !(hi - lo > MIN_THICKNESS * d->extent);
}

/* Releases triangulation and faces; they may be empty. */
static void free_surface(HullDraft *d)
{
    talus_triangulation_free(&d->triangulation);
    talus_faces_free(&d->faces);
}

/* Triangulates the points and finds the faces and keep[]; releases the surface of the last round and sets box, extent
 * and grid anew. Fails if the extent of the points is zero or not finite, or
 * if they lie in one plane. */
static TalusStatus find_surface(HullDraft *d, const TalusShapeDef *def)
{
    bool flat;
    free_surface(d);
    find_bounds(d);
    if (!(d->extent < INFINITY && d->extent > 0x1p-1000))
        return talus_reject(
            "hull: its %d points extend over %g; they must differ, and not by more than numbers "
            "hold",
            def->vertex_count, d->extent);
    round_points_to_grid(d);
    TALUS_TRY(talus_triangulate(d->grid, d->count, &d->triangulation, &flat));
    if (flat)
        return fail_flat(def);
    return talus_find_faces(&d->triangulation, d->grid, d->point, d->count,
                            FACE_TOLERANCE * d->extent, &d->faces, d->keep);
}

/* Finds the hull, drops redundant points and shifts the points by the centre of mass; repeats this until all points are
 * vertices and the centre of mass is the origin. The number of points only decreases, so this ends; the shift takes one
 * round, or two if the points are far from the origin. */
static TalusStatus find_centred_hull(HullDraft *d, const TalusShapeDef *def)
{
    for (;;) {
        TALUS_TRY(find_surface(d, def));
        if (is_flat(d))
            return fail_flat(def);
        if (drop_redundant_points(d))
            continue;
        TalusVec3 c = integrate_mass(d, mean_of_points(d));
        if (!(d->extent > 1e-60 && d->extent < 1e60))
            return talus_reject("hull: %g across, so large or small that its inertia overflows",
                                d->extent);
        if (!(d->unit.mass > 0.0 && talus_norm(c) < INFINITY))
            return fail_flat(def);
        if (talus_norm(c) <= CENTRE_TOLERANCE * d->extent)
            return TALUS_OK;
        for (int k = 0; k < d->count; k++)
            d->point[k] = talus_sub(d->point[k], c);
        d->centre = talus_add(d->centre, c);
    }
}

/* ---- the shape ---- */

/* Lays out all arrays of the shape (TalusLayout); called before and after the allocation of the block. */
static void lay_out_arrays(const HullDraft *d, TalusShape *shape, TalusLayout *layout)
{
    size_t vertices = (size_t)d->count, faces = (size_t)d->faces.faces;
    size_t corners = (size_t)d->faces.loop_start[faces];
    TalusHull *h = &shape->hull;
    shape->def.vertex = talus_layout_array(layout, vertices, sizeof(TalusVec3));
    h->plane = talus_layout_array(layout, faces, sizeof *h->plane);
    h->loop_start = talus_layout_array(layout, faces + 1, sizeof *h->loop_start);
    h->loop = talus_layout_array(layout, corners, sizeof *h->loop);
    h->edge = talus_layout_array(layout, corners / 2, sizeof *h->edge);
    h->neighbour_start = talus_layout_array(layout, vertices + 1, sizeof *h->neighbour_start);
    h->neighbour =
        talus_layout_array(layout, 3 * (size_t)d->triangulation.triangles, sizeof *h->neighbour);
}

/* Fills hull.edge and hull.edges: edges of triangles between two faces. */
static void fill_edges(const HullDraft *d, TalusShape *shape)
{
    const TalusTriangulation *t = &d->triangulation;
    int32_t(*edge)[4] = (int32_t(*)[4])shape->hull.edge;
    for (int32_t k = 0; k < t->triangles; k++)
        for (int e = 0; e < 3; e++) {
            int32_t other = t->across[k][e];
            if (other < k || d->faces.face[other] == d->faces.face[k])
                continue;
            int32_t *to = edge[shape->hull.edges++];
            to[0] = t->corner[k][e];
            to[1] = t->corner[k][(e + 1) % 3];
            to[2] = d->faces.face[k];
            to[3] = d->faces.face[other];
        }
}

/* Fills hull.neighbour: the vertices joined to each vertex by edges of triangles. As edges inside faces count, hill
 * climbing reaches the farthest vertex whether faces are exactly or only nearly flat. */
static void fill_neighbours(const HullDraft *d, TalusShape *shape)
{
    const TalusTriangulation *t = &d->triangulation;
    int32_t *start = (int32_t *)shape->hull.neighbour_start;
    int32_t *neighbour = (int32_t *)shape->hull.neighbour;
    for (int k = 0; k < 3 * t->triangles; k++)
        start[t->corner[k / 3][k % 3] + 1]++;
    for (int v = 0; v < d->count; v++)
        start[v + 1] += start[v];
    for (int k = 0; k < 3 * t->triangles; k++) {
        int32_t from = t->corner[k / 3][k % 3], to = t->corner[k / 3][(k % 3 + 1) % 3];
        neighbour[start[from]++] = to;
    }
    for (int v = d->count; v > 0; v--)
        start[v] = start[v - 1];
    start[0] = 0;
}

/* Fills hull.plane with the planes of the faces, moved outwards so that no vertex is beyond. */
static void fill_planes(const HullDraft *d, TalusShape *shape)
{
    double(*plane)[4] = (double(*)[4])shape->hull.plane;
    for (int f = 0; f < d->faces.faces; f++) {
        TalusVec3 n = d->faces.normal[f];
        plane[f][0] = n.x;
        plane[f][1] = n.y;
        plane[f][2] = n.z;
        plane[f][3] = talus_dot(n, shape->def.vertex[talus_hull_farthest_vertex(shape, n)]);
    }
}

/* Copies the draft into the arrays of the shape. */
static void fill_shape(const HullDraft *d, TalusShape *shape)
{
    TalusHull *h = &shape->hull;
    shape->def.vertex_count = d->count;
    memcpy((void *)shape->def.vertex, d->point, (size_t)d->count * sizeof *d->point);
    h->faces = d->faces.faces;
    memcpy((void *)h->loop_start, d->faces.loop_start,
           ((size_t)h->faces + 1) * sizeof *h->loop_start);
    memcpy((void *)h->loop, d->faces.loop, (size_t)h->loop_start[h->faces] * sizeof *h->loop);
    fill_edges(d, shape);
    fill_neighbours(d, shape);
    fill_planes(d, shape);
    shape->box = d->box;
    shape->centre = d->centre;
    shape->unit = d->unit;
}

/* Half of the width of the hull: the smallest distance, over all faces, between the face and the vertex farthest from
 * it. */
static double half_width(const TalusShape *shape)
{
    double least = INFINITY;
    for (int f = 0; f < shape->hull.faces; f++) {
        const double *p = shape->hull.plane[f];
        TalusVec3 in = talus_vec3(-p[0], -p[1], -p[2]);
        double across =
            p[3] + talus_dot(in, shape->def.vertex[talus_hull_farthest_vertex(shape, in)]);
        least = fmin(least, across);
    }
    return 0.5 * least;
}

/* Makes the hull of the points of def in *d and copies it into the shape. */
static TalusStatus make_hull(HullDraft *d, TalusShape *shape, const TalusShapeDef *def)
{
    TALUS_TRY(TALUS_ALLOC(d->point, (size_t)def->vertex_count, "points of a hull"));
    TALUS_TRY(TALUS_ALLOC(d->grid, (size_t)def->vertex_count, "points of a hull"));
    TALUS_TRY(TALUS_ALLOC(d->keep, (size_t)def->vertex_count, "points of a hull"));
    memcpy(d->point, def->vertex, (size_t)def->vertex_count * sizeof *d->point);
    d->count = def->vertex_count;
    TALUS_TRY(find_centred_hull(d, def));
    TalusLayout layout = {0};
    lay_out_arrays(d, shape, &layout);
    TALUS_TRY(TALUS_ALLOC(shape->block, layout.used, "hull"));
    shape->block_size = layout.used;
    layout = (TalusLayout){.base = shape->block};
    lay_out_arrays(d, shape, &layout);
    fill_shape(d, shape);
    return 2.0 * half_width(shape) > MIN_THICKNESS * d->extent ? TALUS_OK : fail_flat(def);
}

/* Makes the hull and fills the block; releases the draft. */
static TalusStatus build_arrays(TalusShape *shape, const TalusShapeDef *def)
{
    HullDraft d = {.count = def->vertex_count};
    TalusStatus status = make_hull(&d, shape, def);
    free_surface(&d);
    TALUS_RELEASE(d.point, d.grid, d.keep);
    return status;
}

/* The bounding radius reaches the farthest vertex; the size is half the width. */
static void set_radius_and_size(TalusShape *shape)
{
    double largest = 0.0;
    for (int k = 0; k < shape->def.vertex_count; k++)
        largest = fmax(largest, talus_norm(shape->def.vertex[k]));
    shape->bounding_radius = largest;
    shape->size = half_width(shape);
}

const TalusShapeOps talus_hull_ops = {
    .summary = "the convex hull of points",
    .uses = TALUS_USES_VERTEX,
    .check_def = check_def,
    .build_arrays = build_arrays,
    .set_radius_and_size = set_radius_and_size,
    .make_mesh = talus_mesh_hull,
};
