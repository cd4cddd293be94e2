/* draw/polyhedron.c - makes facets from triangles.
 *
 * Consecutive coplanar triangles that form a fan are one facet: the face of a box, the lid of a cylinder, the
 * quadrangles of a round shape. A side is sharp if its two facets do not share vertices (a mesh has a vertex twice
 * where normals differ) and their normals differ by more than the angle of SHARP_COSINE. */
#include "draw/polyhedron.h"

#include "base/memory.h"
#include "base/status.h"
#include "geometry/kinds.h"

#include <stdlib.h>
#include <string.h>

#define SHARP_COSINE 0.94f   /* of 20 degrees */
#define PLANE_TOLERANCE 2e-6 /* corners are coplanar up to this times |half| of the box */
/* Cosine of 0.8 degrees: normals that differ by more make a facet curved */
#define CURVED_COSINE 0.9999f

void talus_polyhedron_free(TalusPolyhedron *polyhedron)
{
    TALUS_RELEASE(polyhedron->facet, polyhedron->corner);
    memset(polyhedron, 0, sizeof *polyhedron);
}

/* ---- facets ---- */

/* A facet under construction. */
typedef struct Fan {
    const TalusMesh *mesh;
    TalusVec3 middle;     /* middle of the piece */
    TalusVec3 normal;     /* unit normal of the first triangle of the facet */
    double offset, slack; /* corners x must have |normal . x - offset| < slack */
    int apex, last; /* first and last corner so far, vertices of the mesh; apex -1: no facet yet */
} Fan;

/* True if triangle t extends the facet: it is the next one of the fan and in its plane. */
static bool extends_fan(const Fan *fan, const int *t)
{
    return t[0] == fan->apex && t[1] == fan->last &&
           fabs(talus_dot(fan->normal, fan->mesh->vertex[t[2]]) - fan->offset) < fan->slack;
}

/* Adds a vertex of the mesh as the next corner of the last facet. */
static void add_facet_corner(TalusPolyhedron *p, Fan *fan, int vertex)
{
    p->facet[p->facets - 1].count++;
    p->corner[p->corners++] = (TalusFacetCorner){
        .at = talus_f3_from_vec3(talus_sub(fan->mesh->vertex[vertex], fan->middle)),
        .normal = talus_f3_from_vec3(fan->mesh->normal[vertex]),
        .vertex = vertex};
    fan->last = vertex;
}

/* Starts a facet with the first two corners of triangle t. */
static void start_facet(TalusPolyhedron *p, Fan *fan, const int *t)
{
    TalusVec3 n = talus_normalize(talus_area_normal(fan->mesh, t), talus_vec3(0, 0, 1));
    fan->normal = n;
    fan->offset = talus_dot(n, fan->mesh->vertex[t[0]]);
    fan->apex = t[0];
    p->facet[p->facets++] =
        (TalusPolygonFacet){.normal = talus_f3_from_vec3(n),
                            .offset = (float)(fan->offset - talus_dot(n, fan->middle)),
                            .first = p->corners};
    add_facet_corner(p, fan, t[0]);
    add_facet_corner(p, fan, t[1]);
}

/* Joins the triangles [from, to) into facets; skips triangles without area. */
static void fill_facets(TalusPolyhedron *p, Fan *fan, int from, int to)
{
    fan->apex = -1;
    for (int k = from; k < to; k++) {
        const int *t = fan->mesh->triangle + 3 * (size_t)k;
        if (!(talus_norm(talus_area_normal(fan->mesh, t)) > 0.0))
            continue;
        if (!extends_fan(fan, t))
            start_facet(p, fan, t);
        add_facet_corner(p, fan, t[2]);
    }
}

/* Returns corner k of a facet, 0 <= k <= count; corner `count` is corner 0. */
static const TalusFacetCorner *corner_of(const TalusPolyhedron *p, const TalusPolygonFacet *f,
                                         int k)
{
    return &p->corner[f->first + (k < f->count ? k : 0)];
}

/* ---- curvature of a facet ---- */

/* Sets `middle` and `flat` of a facet. If it is curved, raises *turn to the largest 1 - cos(angle) between normals of
 * its neighbouring corners, if that is more. */
static void set_middle_and_flat(const TalusPolyhedron *p, TalusPolygonFacet *f, float *turn)
{
    TalusF3 sum = talus_f3(0.0f, 0.0f, 0.0f), first = corner_of(p, f, 0)->normal;
    float least = 1.0f, most = 0.0f;
    for (int k = 0; k < f->count; k++) {
        TalusF3 normal = corner_of(p, f, k)->normal;
        sum = talus_f3_add(sum, corner_of(p, f, k)->at);
        least = fminf(least, talus_f3_dot(first, normal));
        most = fmaxf(most, 1.0f - talus_f3_dot(normal, corner_of(p, f, k + 1)->normal));
    }
    f->middle = talus_f3_scale(1.0f / (float)f->count, sum);
    f->flat = least > CURVED_COSINE;
    if (!f->flat)
        *turn = fmaxf(*turn, most);
}

/* ---- sharp sides ---- */

/* A side of a facet. Its ends are ordered by their coordinates, so that the two facets at a side give the same ends. */
typedef struct Side {
    TalusF3 low, high;
    int32_t low_vertex, high_vertex; /* of the mesh; equal if two facets share the ends */
    int32_t corner, facet;
} Side;

/* Order of points by x, then y, then z: -1, 0 or 1. */
static int compare_points(TalusF3 p, TalusF3 q)
{
    if (p.x != q.x)
        return p.x < q.x ? -1 : 1;
    if (p.y != q.y)
        return p.y < q.y ? -1 : 1;
    return (p.z > q.z) - (p.z < q.z);
}

/* Order of sides by their low end, then their high end; 0 if both ends are equal. */
static int compare_ends(const Side *p, const Side *q)
{
    int low = compare_points(p->low, q->low);
    return low != 0 ? low : compare_points(p->high, q->high);
}

/* Order of sides for qsort: by ends, then by corner. */
static int compare_sides(const void *a, const void *b)
{
    const Side *p = a, *q = b;
    int ends = compare_ends(p, q);
    return ends != 0 ? ends : (p->corner > q->corner) - (p->corner < q->corner);
}

/* Lists the sides of all facets in side[corners]. */
static void list_sides(const TalusPolyhedron *p, Side *side)
{
    for (int f = 0; f < p->facets; f++)
        for (int k = 0; k < p->facet[f].count; k++) {
            const TalusFacetCorner *a = corner_of(p, &p->facet[f], k);
            const TalusFacetCorner *b = corner_of(p, &p->facet[f], k + 1);
            bool swap = compare_points(a->at, b->at) > 0;
            *side++ = (Side){.low = swap ? b->at : a->at,
                             .high = swap ? a->at : b->at,
                             .low_vertex = swap ? b->vertex : a->vertex,
                             .high_vertex = swap ? a->vertex : b->vertex,
                             .corner = p->facet[f].first + k,
                             .facet = f};
        }
}

/* True if both sides have the same vertices of the mesh at their ends, so that the surface is smooth there. */
static bool share_vertices(const Side *p, const Side *q)
{
    return p->low_vertex == q->low_vertex && p->high_vertex == q->high_vertex;
}

/* Sets `sharp` of all corners. `side` is sorted by ends, so that a side of two facets has two consecutive entries; a
 * side of one facet is not sharp. */
static void mark_sharp_sides(TalusPolyhedron *p, const Side *side, int count)
{
    for (int k = 0; k < count; k++) {
        bool last = k + 1 == count || compare_ends(&side[k], &side[k + 1]) != 0;
        const Side *other = last ? (k > 0 ? &side[k - 1] : &side[k]) : &side[k + 1];
        float turn = talus_f3_dot(p->facet[side[k].facet].normal, p->facet[other->facet].normal);
        p->corner[side[k].corner].sharp = compare_ends(&side[k], other) == 0 &&
                                          !share_vertices(&side[k], other) && turn < SHARP_COSINE;
    }
}

/* Returns the distance of a point of a facet from the line of its side k. */
static float side_distance(const TalusPolyhedron *p, const TalusPolygonFacet *f, int k, TalusF3 at)
{
    TalusF3 a = corner_of(p, f, k)->at, b = corner_of(p, f, k + 1)->at;
    TalusF3 way = talus_f3_sub(b, a), off = talus_f3_sub(at, a), c = talus_f3_cross(way, off);
    return sqrtf(talus_f3_dot(c, c) / talus_f3_dot(way, way));
}

/* Sets `sharp` of all corners and `clearance` of all facets. */
static TalusStatus find_sharp_sides(TalusPolyhedron *p)
{
    Side *side;
    TALUS_TRY(TALUS_ALLOC(side, (size_t)p->corners, "sides"));
    list_sides(p, side);
    qsort(side, (size_t)p->corners, sizeof *side, compare_sides);
    mark_sharp_sides(p, side, p->corners);
    talus_release(side);
    for (int f = 0; f < p->facets; f++) {
        TalusPolygonFacet *facet = &p->facet[f];
        facet->clearance = INFINITY;
        for (int k = 0; k < facet->count; k++)
            if (corner_of(p, facet, k)->sharp)
                facet->clearance =
                    fminf(facet->clearance, side_distance(p, facet, k, facet->middle));
    }
    return TALUS_OK;
}

/* ---- the polyhedron ---- */

/* Returns the volume that the closed triangles [from, to) enclose. */
static double volume_of(const TalusMesh *mesh, int from, int to, TalusVec3 middle)
{
    double sum = 0.0;
    for (int k = from; k < to; k++) {
        const int *t = mesh->triangle + 3 * (size_t)k;
        sum += talus_dot(talus_sub(mesh->vertex[t[0]], middle), talus_area_normal(mesh, t)) / 6.0;
    }
    return sum;
}

/* Makes the polyhedron; on failure the caller frees it. */
static TalusStatus build_polyhedron(const TalusMesh *mesh, int from, int to, TalusVec3 middle,
                                    TalusVec3 half, TalusPolyhedron *p)
{
    size_t triangles = (size_t)(to - from);
    TALUS_TRY(TALUS_ALLOC(p->facet, triangles, "facets"));
    TALUS_TRY(TALUS_ALLOC(p->corner, 3 * triangles, "facets"));
    Fan fan = {.mesh = mesh, .middle = middle, .slack = PLANE_TOLERANCE * talus_norm(half)};
    fill_facets(p, &fan, from, to);
    float turn = 0.0f;
    for (int f = 0; f < p->facets; f++)
        set_middle_and_flat(p, &p->facet[f], &turn);
    p->deviation = 0.25f * turn; /* height of an arc a: 1 - cos(a / 2), about (1 - cos(a)) / 4 */
    double whole = 4.0 / 3.0 * TALUS_PI * half.x * half.y * half.z;
    p->ellipsoid = whole > 0.0 ? (float)cbrt(volume_of(mesh, from, to, middle) / whole) : 1.0f;
    return find_sharp_sides(p);
}

TalusStatus talus_polyhedron_create(const TalusMesh *mesh, int from, int to, TalusVec3 middle,
                                    TalusVec3 half, TalusPolyhedron *out)
{
    memset(out, 0, sizeof *out);
    TalusStatus status = build_polyhedron(mesh, from, to, middle, half, out);
    if (status != TALUS_OK)
        talus_polyhedron_free(out);
    return status;
}

/* ---- evaluation ---- */

/* Sets w to the barycentric weights of the corners a, b, c at a point of their plane. */
static void barycentric_weights(TalusF3 a, TalusF3 b, TalusF3 c, TalusF3 at, float w[3])
{
    TalusF3 e = talus_f3_sub(b, a), f = talus_f3_sub(c, a), g = talus_f3_sub(at, a);
    float ee = talus_f3_dot(e, e), ef = talus_f3_dot(e, f), ff = talus_f3_dot(f, f);
    float ge = talus_f3_dot(g, e), gf = talus_f3_dot(g, f), det = ee * ff - ef * ef;
    w[1] = det != 0.0f ? (ge * ff - gf * ef) / det : 0.0f;
    w[2] = det != 0.0f ? (gf * ee - ge * ef) / det : 0.0f;
    w[0] = 1.0f - w[1] - w[2];
}

/* Interpolates in the triangle of the facet's fan whose least barycentric weight at the point is largest: the one that
 * contains it or, by rounding, nearly does. */
TalusF3 talus_polyhedron_normal(const TalusPolyhedron *p, int facet, TalusF3 at)
{
    const TalusPolygonFacet *f = &p->facet[facet];
    const TalusFacetCorner *c = p->corner + f->first;
    if (f->flat)
        return f->normal;
    TalusF3 n = f->normal;
    float best = -INFINITY;
    for (int k = 1; k + 1 < f->count; k++) {
        float w[3];
        barycentric_weights(c[0].at, c[k].at, c[k + 1].at, at, w);
        float least = fminf(w[0], fminf(w[1], w[2]));
        if (!(least > best))
            continue;
        best = least;
        n = talus_f3_scale(fmaxf(w[0], 0.0f), c[0].normal);
        n = talus_f3_madd(n, fmaxf(w[1], 0.0f), c[k].normal);
        n = talus_f3_madd(n, fmaxf(w[2], 0.0f), c[k + 1].normal);
    }
    return talus_f3_dot(n, n) > 0.0f ? talus_f3_normalize(n) : f->normal;
}

bool talus_polyhedron_near_edge(const TalusPolyhedron *p, int facet, TalusF3 at, float within)
{
    const TalusPolygonFacet *f = &p->facet[facet];
    TalusF3 off = talus_f3_sub(at, f->middle);
    if (sqrtf(talus_f3_dot(off, off)) + within < f->clearance)
        return false;
    for (int k = 0; k < f->count; k++)
        if (corner_of(p, f, k)->sharp && side_distance(p, f, k, at) < within)
            return true;
    return false;
}
