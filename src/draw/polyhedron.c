/* draw/polyhedron.c - makes facets from triangles.
 *
 * Consecutive coplanar triangles that form a fan are one facet: the face of a box, the lid of a cylinder, the
 * quadrangles of a round shape. A side is sharp if its two facets have separate vertices, which is where their
 * normals differ, and the facets meet at an angle above BLUNT. */
#include "draw/polyhedron.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#define BLUNT 0.94f  /* cosine: 20 degrees */
#define PLANE 2e-6   /* relative to the extent: tolerance of coplanar corners */
#define BENT 0.9999f /* cosine: normals that differ by more make a facet curved */

void talus_polyhedron_free(TalusPolyhedron *polyhedron)
{
    TALUS_RELEASE(polyhedron->facet, polyhedron->corner, polyhedron->bend, polyhedron->loop,
                  polyhedron->sharp);
    memset(polyhedron, 0, sizeof *polyhedron);
}

/* ---- facets ---- */

/* A facet under construction. */
typedef struct Fan {
    const TalusMesh *mesh;
    TalusVec3 middle, normal; /* normal: unit, of its first triangle */
    double offset, slack;
    int apex, last;
} Fan;

static TalusVec3 spread(const TalusMesh *mesh, const int *t)
{
    TalusVec3 a = mesh->vertex[t[0]];
    return talus_cross(talus_sub(mesh->vertex[t[1]], a), talus_sub(mesh->vertex[t[2]], a));
}

static bool goes_on(const Fan *fan, const int *t)
{
    return t[0] == fan->apex && t[1] == fan->last &&
           fabs(talus_dot(fan->normal, fan->mesh->vertex[t[2]]) - fan->offset) < fan->slack;
}

static void add_corner(TalusPolyhedron *p, int corner)
{
    TalusFacet *f = &p->facet[p->facets - 1];
    p->loop[f->first + f->count++] = corner;
}

static void begin_facet(TalusPolyhedron *p, Fan *fan, const int *t, int loops)
{
    TalusVec3 n = talus_normalize(spread(fan->mesh, t), talus_vec3(0, 0, 1));
    fan->normal = n;
    fan->offset = talus_dot(n, fan->mesh->vertex[t[0]]);
    fan->apex = t[0];
    p->facet[p->facets++] = (TalusFacet){.normal = talus_f3_of(n),
                                         .offset = (float)(fan->offset - talus_dot(n, fan->middle)),
                                         .first = loops};
    add_corner(p, t[0]);
    add_corner(p, t[1]);
}

/* Skips triangles without area. */
static int fill_facets(TalusPolyhedron *p, Fan *fan, int from, int to)
{
    int loops = 0;
    fan->apex = -1;
    for (int k = from; k < to; k++) {
        const int *t = fan->mesh->triangle + 3 * (size_t)k;
        if (!(talus_norm(spread(fan->mesh, t)) > 0.0))
            continue;
        if (!goes_on(fan, t)) {
            begin_facet(p, fan, t, loops);
            loops += 2;
        }
        add_corner(p, t[2]);
        loops++;
        fan->last = t[2];
    }
    return loops;
}

/* ---- curvature of a facet ---- */

static void measure_facet(const TalusPolyhedron *p, TalusFacet *f, float *turn)
{
    const int32_t *loop = p->loop + f->first;
    TalusF3 sum = talus_f3(0.0f, 0.0f, 0.0f);
    float least = 1.0f;
    for (int k = 0; k < f->count; k++) {
        sum = talus_f3_add(sum, p->corner[loop[k]]);
        least = fminf(least, talus_f3_dot(p->bend[loop[0]], p->bend[loop[k]]));
    }
    f->middle = talus_f3_scale(1.0f / (float)f->count, sum);
    f->flat = least > BENT;
    if (!f->flat)
        for (int k = 0; k < f->count; k++) {
            TalusF3 a = p->bend[loop[k]], b = p->bend[loop[k + 1 < f->count ? k + 1 : 0]];
            *turn = fmaxf(*turn, 1.0f - talus_f3_dot(a, b));
        }
}

/* ---- sharp sides ---- */

/* A vertex, to be sorted by position. */
typedef struct Spot {
    TalusF3 at;
    int32_t corner;
} Spot;

static int by_place(const void *a, const void *b)
{
    const TalusF3 *p = &((const Spot *)a)->at, *q = &((const Spot *)b)->at;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return (p->z > q->z) - (p->z < q->z);
}

/* Numbers the distinct positions of corners. */
static TalusStatus number_places(const TalusPolyhedron *p, int32_t *place)
{
    Spot *spot;
    TALUS_TRY(TALUS_ALLOC(spot, (size_t)p->corners, "corners"));
    for (int k = 0; k < p->corners; k++)
        spot[k] = (Spot){p->corner[k], k};
    qsort(spot, (size_t)p->corners, sizeof *spot, by_place);
    for (int k = 0, number = 0; k < p->corners; k++) {
        number += k > 0 && by_place(&spot[k - 1], &spot[k]) != 0;
        place[spot[k].corner] = number;
    }
    talus_release(spot);
    return TALUS_OK;
}

/* A side of a facet between two positions, the lower number first. */
typedef struct Side {
    int32_t low, high, entry, facet;
    int32_t corners; /* sum of the two corners: equal for neighbours that share them */
} Side;

static int by_ends(const void *a, const void *b)
{
    const Side *p = a, *q = b;
    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    if (p->high != q->high)
        return p->high < q->high ? -1 : 1;
    return (p->entry > q->entry) - (p->entry < q->entry);
}

static void gather_sides(const TalusPolyhedron *p, const int32_t *place, Side *side)
{
    for (int f = 0; f < p->facets; f++)
        for (int k = 0; k < p->facet[f].count; k++, side++) {
            const int32_t *loop = p->loop + p->facet[f].first;
            int32_t a = loop[k], b = loop[k + 1 < p->facet[f].count ? k + 1 : 0];
            bool swap = place[a] > place[b];
            *side =
                (Side){place[swap ? b : a], place[swap ? a : b], p->facet[f].first + k, f, a + b};
        }
}

static void mark_sides(TalusPolyhedron *p, const Side *side, int count)
{
    for (int k = 0; k < count; k++) {
        bool last =
            k + 1 == count || side[k + 1].low != side[k].low || side[k + 1].high != side[k].high;
        const Side *other = last ? (k > 0 ? &side[k - 1] : &side[k]) : &side[k + 1];
        bool met = other->low == side[k].low && other->high == side[k].high;
        float turn = talus_f3_dot(p->facet[side[k].facet].normal, p->facet[other->facet].normal);
        p->sharp[side[k].entry] = met && other->corners != side[k].corners && turn < BLUNT;
    }
}

/* Distance of a point of a facet from the line of its side k. */
static float side_distance(const TalusPolyhedron *p, const TalusFacet *f, int k, TalusF3 at)
{
    const int32_t *loop = p->loop + f->first;
    TalusF3 a = p->corner[loop[k]], b = p->corner[loop[k + 1 < f->count ? k + 1 : 0]];
    TalusF3 way = talus_f3_sub(b, a), off = talus_f3_sub(at, a), c = talus_f3_cross(way, off);
    return sqrtf(talus_f3_dot(c, c) / talus_f3_dot(way, way));
}

static TalusStatus find_sharp(TalusPolyhedron *p, int loops)
{
    int32_t *place;
    Side *side = NULL;
    TalusStatus status = TALUS_ALLOC(place, (size_t)p->corners, "corners");
    TALUS_THEN(status, TALUS_ALLOC(side, (size_t)loops, "sides"));
    TALUS_THEN(status, number_places(p, place));
    if (status == TALUS_OK) {
        gather_sides(p, place, side);
        qsort(side, (size_t)loops, sizeof *side, by_ends);
        mark_sides(p, side, loops);
    }
    TALUS_RELEASE(place, side);
    for (int f = 0; f < p->facets && status == TALUS_OK; f++) {
        TalusFacet *facet = &p->facet[f];
        facet->free = INFINITY;
        for (int k = 0; k < facet->count; k++)
            if (p->sharp[facet->first + k])
                facet->free = fminf(facet->free, side_distance(p, facet, k, facet->middle));
    }
    return status;
}

/* ---- all of it ---- */

static double volume_of(const TalusMesh *mesh, int from, int to, TalusVec3 middle)
{
    double sum = 0.0;
    for (int k = from; k < to; k++) {
        const int *t = mesh->triangle + 3 * (size_t)k;
        sum += talus_dot(talus_sub(mesh->vertex[t[0]], middle), spread(mesh, t)) / 6.0;
    }
    return sum;
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Lists the vertices of the triangles once each, in order. */
static int list_vertices(const TalusMesh *mesh, int from, int to, int *used)
{
    int count = 0, all = 3 * (to - from);
    memcpy(used, mesh->triangle + 3 * (size_t)from, (size_t)all * sizeof *used);
    qsort(used, (size_t)all, sizeof *used, by_number);
    for (int k = 0; k < all; k++)
        if (k == 0 || used[k] != used[k - 1])
            used[count++] = used[k];
    return count;
}

/* Renumbers corners without the vertices of other pieces. */
static TalusStatus fill_corners(TalusPolyhedron *p, const TalusMesh *mesh, TalusVec3 middle,
                                const int *used, int loops)
{
    TALUS_TRY(TALUS_ALLOC(p->corner, (size_t)p->corners, "corners"));
    TALUS_TRY(TALUS_ALLOC(p->bend, (size_t)p->corners, "corners"));
    for (int k = 0; k < p->corners; k++) {
        p->corner[k] = talus_f3_of(talus_sub(mesh->vertex[used[k]], middle));
        p->bend[k] = talus_f3_of(mesh->normal[used[k]]);
    }
    for (int k = 0; k < loops; k++) {
        const int *at = bsearch(&p->loop[k], used, (size_t)p->corners, sizeof *used, by_number);
        p->loop[k] = (int32_t)(at - used);
    }
    return TALUS_OK;
}

static TalusStatus build(const TalusMesh *mesh, int from, int to, TalusVec3 middle, TalusVec3 half,
                         TalusPolyhedron *p)
{
    size_t triangles = (size_t)(to - from);
    int *used;
    TALUS_TRY(TALUS_ALLOC(p->facet, triangles, "facets"));
    TALUS_TRY(TALUS_ALLOC(p->loop, 3 * triangles, "facets"));
    TALUS_TRY(TALUS_ALLOC(p->sharp, 3 * triangles, "facets"));
    TALUS_TRY(TALUS_ALLOC(used, 3 * triangles, "facets"));
    Fan fan = {.mesh = mesh, .middle = middle, .slack = PLANE * talus_norm(half)};
    int loops = fill_facets(p, &fan, from, to);
    p->corners = list_vertices(mesh, from, to, used);
    TalusStatus status = fill_corners(p, mesh, middle, used, loops);
    talus_release(used);
    if (status != TALUS_OK)
        return status;
    float turn = 0.0f;
    for (int f = 0; f < p->facets; f++)
        measure_facet(p, &p->facet[f], &turn);
    p->off = 0.25f * turn; /* 1 - cos(a / 2) is about a quarter of 1 - cos(a) */
    double whole = 4.0 / 3.0 * 3.14159265358979323846 * half.x * half.y * half.z;
    p->round = whole > 0.0 ? (float)cbrt(volume_of(mesh, from, to, middle) / whole) : 1.0f;
    return find_sharp(p, loops);
}

TalusStatus talus_polyhedron_create(const TalusMesh *mesh, int from, int to, TalusVec3 middle,
                                    TalusVec3 half, TalusPolyhedron *out)
{
    memset(out, 0, sizeof *out);
    TalusStatus status = build(mesh, from, to, middle, half, out);
    if (status != TALUS_OK)
        talus_polyhedron_free(out);
    return status;
}

/* ---- evaluation ---- */

/* Barycentric weights of a triangle's corners at a point of its plane. */
static void weights(TalusF3 a, TalusF3 b, TalusF3 c, TalusF3 at, float w[3])
{
    TalusF3 e = talus_f3_sub(b, a), f = talus_f3_sub(c, a), g = talus_f3_sub(at, a);
    float ee = talus_f3_dot(e, e), ef = talus_f3_dot(e, f), ff = talus_f3_dot(f, f);
    float ge = talus_f3_dot(g, e), gf = talus_f3_dot(g, f), det = ee * ff - ef * ef;
    w[1] = det != 0.0f ? (ge * ff - gf * ef) / det : 0.0f;
    w[2] = det != 0.0f ? (gf * ee - ge * ef) / det : 0.0f;
    w[0] = 1.0f - w[1] - w[2];
}

/* Interpolates in the triangle of the fan that contains the point, or nearly does. */
TalusF3 talus_polyhedron_normal(const TalusPolyhedron *p, int facet, TalusF3 at)
{
    const TalusFacet *f = &p->facet[facet];
    const int32_t *loop = p->loop + f->first;
    if (f->flat)
        return f->normal;
    TalusF3 n = f->normal;
    float best = -INFINITY;
    for (int k = 1; k + 1 < f->count; k++) {
        float w[3];
        weights(p->corner[loop[0]], p->corner[loop[k]], p->corner[loop[k + 1]], at, w);
        float least = fminf(w[0], fminf(w[1], w[2]));
        if (!(least > best))
            continue;
        best = least;
        n = talus_f3_scale(fmaxf(w[0], 0.0f), p->bend[loop[0]]);
        n = talus_f3_madd(n, fmaxf(w[1], 0.0f), p->bend[loop[k]]);
        n = talus_f3_madd(n, fmaxf(w[2], 0.0f), p->bend[loop[k + 1]]);
    }
    return talus_f3_dot(n, n) > 0.0f ? talus_f3_unit(n) : f->normal;
}

bool talus_polyhedron_near_edge(const TalusPolyhedron *p, int facet, TalusF3 at, float within)
{
    const TalusFacet *f = &p->facet[facet];
    TalusF3 off = talus_f3_sub(at, f->middle);
    if (sqrtf(talus_f3_dot(off, off)) + within < f->free)
        return false;
    for (int k = 0; k < f->count; k++)
        if (p->sharp[f->first + k] && side_distance(p, f, k, at) < within)
            return true;
    return false;
}
