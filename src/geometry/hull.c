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

#define TOLERANCE 0x1p-22 /* of the extent */
#define CENTRED 0x1p-40   /* of the extent: tolerance of a centre of mass at the origin */
#define FLAT 0x1p-18      /* of the extent: minimum thickness */

typedef struct Draft {
    TalusVec3 *point;
    int count;
    TalusAabb box;
    double extent; /* largest side of the box */
    TalusGridPoint *grid;
    bool *keep;
    TalusTriangulation triangulation;
    TalusFaces faces;
    TalusVec3 centre; /* sum of the shifts so far */
    TalusMassProperties unit;
} Draft;

static TalusStatus check(const TalusShapeDef *def)
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

static TalusStatus fail_flat(const TalusShapeDef *def)
{
    return talus_reject(
        "hull: its %d points lie in one plane, or nearly; a body needs a thickness of 4e-6 of its "
        "length at least",
        def->vertex_count);
}

/* ---- points ---- */

static void measure_points(Draft *d)
{
    d->box = (TalusAabb){d->point[0], d->point[0]};
    for (int k = 1; k < d->count; k++)
        d->box = talus_aabb_add(d->box, d->point[k]);
    TalusVec3 sides = talus_sub(d->box.hi, d->box.lo);
    d->extent = fmax(sides.x, fmax(sides.y, sides.z));
}

static int64_t to_grid(double x, int exponent)
{
    return (int64_t)floor(ldexp(x, TALUS_GRID_BITS - exponent) + 0.5);
}

static void set_grid(Draft *d)
{
    int exponent;
    (void)frexp(d->extent, &exponent);
    for (int k = 0; k < d->count; k++) {
        TalusVec3 p = talus_sub(d->point[k], d->box.lo);
        d->grid[k] = (TalusGridPoint){to_grid(p.x, exponent), to_grid(p.y, exponent),
                                      to_grid(p.z, exponent)};
    }
}

/* Drops the points that are not kept. True if there were any. */
static bool drop_points(Draft *d)
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

/* Sets d->unit, volume and inertia about the centre of mass, and returns this centre, by the divergence theorem: sums
 * over the tetrahedra between `from` and the triangles. One with corners a, b, c relative to `from` has the volume V =
 * det(a, b, c)/6, the first moment V (a + b + c)/4 and the second moments V/20 (aa' + bb' + cc' + ss'), s = a + b + c.
 * A `from` near the centre avoids cancellation. */
static TalusVec3 integrate(Draft *d, TalusVec3 from)
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
static TalusVec3 middle(const Draft *d)
{
    TalusVec3 sum = talus_vec3(0, 0, 0);
    for (int k = 0; k < d->count; k++)
        sum = talus_add(sum, talus_sub(d->point[k], d->box.lo));
    return talus_madd(d->box.lo, 1.0 / d->count, sum);
}

/* ---- hull of the present points ---- */

/* True if the hull is not thicker than FLAT extents along the normal of the first face, which has the largest triangle.
 * This keeps hulls with almost no volume from the integrals; `make` tests the width at all faces later. */
static bool is_flat(const Draft *d)
{
    double lo = INFINITY, hi = -INFINITY;
    for (int k = 0; k < d->count; k++) {
        double along = talus_dot(d->faces.normal[0], talus_sub(d->point[k], d->box.lo));
        lo = fmin(lo, along);
        hi = fmax(hi, along);
    }
    return !(hi - lo > FLAT * d->extent);
}

static void free_surface(Draft *d)
{
    talus_triangulation_free(&d->triangulation);
    talus_faces_free(&d->faces);
}

static TalusStatus find_surface(Draft *d, const TalusShapeDef *def)
{
    bool flat;
    free_surface(d);
    measure_points(d);
    if (!(d->extent < INFINITY && d->extent > 0x1p-1000))
        return talus_reject(
            "hull: its %d points extend over %g; they must differ, and not by more than numbers "
            "hold",
            def->vertex_count, d->extent);
    set_grid(d);
    TALUS_TRY(talus_triangulate(d->grid, d->count, &d->triangulation, &flat));
    if (flat)
        return fail_flat(def);
    return talus_find_faces(&d->triangulation, d->grid, d->point, d->count, TOLERANCE * d->extent,
                            &d->faces, d->keep);
}

/* Finds the hull again until all points are vertices and the centre of mass is the origin. Points are only ever
 * dropped, so this ends; the centre takes one round, two far from the origin. */
static TalusStatus settle(Draft *d, const TalusShapeDef *def)
{
    for (;;) {
        TALUS_TRY(find_surface(d, def));
        if (is_flat(d))
            return fail_flat(def);
        if (drop_points(d))
            continue;
        TalusVec3 c = integrate(d, middle(d));
        if (!(d->extent > 1e-60 && d->extent < 1e60))
            return talus_reject("hull: %g across, so large or small that its inertia overflows",
                                d->extent);
        if (!(d->unit.mass > 0.0 && talus_norm(c) < INFINITY))
            return fail_flat(def);
        if (talus_norm(c) <= CENTRED * d->extent)
            return TALUS_OK;
        for (int k = 0; k < d->count; k++)
            d->point[k] = talus_sub(d->point[k], c);
        d->centre = talus_add(d->centre, c);
    }
}

/* ---- the shape ---- */

/* Sets the pointers of all arrays; called before and after the allocation of the block. */
static void lay_out(const Draft *d, TalusShape *shape, TalusLayout *layout)
{
    size_t vertices = (size_t)d->count, faces = (size_t)d->faces.faces;
    size_t corners = (size_t)d->faces.loop_start[faces];
    TalusHull *h = &shape->hull;
    shape->def.vertex = talus_layout(layout, vertices, sizeof(TalusVec3));
    h->plane = talus_layout(layout, faces, sizeof *h->plane);
    h->loop_start = talus_layout(layout, faces + 1, sizeof *h->loop_start);
    h->loop = talus_layout(layout, corners, sizeof *h->loop);
    h->edge = talus_layout(layout, corners / 2, sizeof *h->edge);
    h->neighbour_start = talus_layout(layout, vertices + 1, sizeof *h->neighbour_start);
    h->neighbour =
        talus_layout(layout, 3 * (size_t)d->triangulation.triangles, sizeof *h->neighbour);
}

static void fill_edges(const Draft *d, TalusShape *shape)
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

/* Neighbours are along edges of triangles. With those inside faces, hill climbing reaches the farthest vertex whether
 * faces are exactly or only nearly flat. */
static void fill_neighbours(const Draft *d, TalusShape *shape)
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

/* Sets planes that no vertex is beyond. */
static void fill_planes(const Draft *d, TalusShape *shape)
{
    double(*plane)[4] = (double(*)[4])shape->hull.plane;
    for (int f = 0; f < d->faces.faces; f++) {
        TalusVec3 n = d->faces.normal[f];
        plane[f][0] = n.x;
        plane[f][1] = n.y;
        plane[f][2] = n.z;
        plane[f][3] = talus_dot(n, shape->def.vertex[talus_hull_support(shape, n)]);
    }
}

static void fill(const Draft *d, TalusShape *shape)
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
        double across = p[3] + talus_dot(in, shape->def.vertex[talus_hull_support(shape, in)]);
        least = fmin(least, across);
    }
    return 0.5 * least;
}

static TalusStatus make(Draft *d, TalusShape *shape, const TalusShapeDef *def)
{
    TALUS_TRY(TALUS_ALLOC(d->point, (size_t)def->vertex_count, "points of a hull"));
    TALUS_TRY(TALUS_ALLOC(d->grid, (size_t)def->vertex_count, "points of a hull"));
    TALUS_TRY(TALUS_ALLOC(d->keep, (size_t)def->vertex_count, "points of a hull"));
    memcpy(d->point, def->vertex, (size_t)def->vertex_count * sizeof *d->point);
    d->count = def->vertex_count;
    TALUS_TRY(settle(d, def));
    TalusLayout layout = {0};
    lay_out(d, shape, &layout);
    TALUS_TRY(TALUS_ALLOC(shape->block, layout.used, "hull"));
    shape->block_size = layout.used;
    layout = (TalusLayout){.base = shape->block};
    lay_out(d, shape, &layout);
    fill(d, shape);
    return 2.0 * half_width(shape) > FLAT * d->extent ? TALUS_OK : fail_flat(def);
}

static TalusStatus build(TalusShape *shape, const TalusShapeDef *def)
{
    Draft d = {.count = def->vertex_count};
    TalusStatus status = make(&d, shape, def);
    free_surface(&d);
    TALUS_RELEASE(d.point, d.grid, d.keep);
    return status;
}

static void measure(TalusShape *shape)
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
    .check = check,
    .build = build,
    .measure = measure,
    .mesh = talus_mesh_hull,
};
