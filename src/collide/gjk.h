/* collide/gjk.h - distance of two convex bodies; for host and device.
 *
 * The difference C = {a - b} of two convex bodies is convex, and its point v nearest to the origin joins the nearest
 * points of the bodies. Gilbert, Johnson and Keerthi (1988) find it from support points alone: v is the nearest point
 * of the hull of at most four points of C; w, the point of C farthest along -v, bounds the distance from below by v.w /
 * |v|. If that is not |v| up to a tolerance, w is added to the points, and points that the new v does not need are
 * dropped.
 *
 * Everything is in the frame of body a. Bodies are represented by their cores (geometry/support.h). Lengths are
 * compared only with lengths of the pair, so scaling by a power of two changes no bit of the iteration. */
#ifndef TALUS_COLLIDE_GJK_H
#define TALUS_COLLIDE_GJK_H

#include "geometry/support.h"

#include <stdbool.h>

/* For functions too large to be inlined into every caller. */
#ifdef __CUDACC__
#define TALUS_OUTLINE static __host__ __device__ __noinline__
#else
#define TALUS_OUTLINE static __attribute__((noinline, unused))
#endif

/* Two convex bodies; the second may be a triangle, which has no axes: `centre` is then the mean of its corners. */
typedef struct TalusConvexPair {
    const TalusShape *a, *b; /* b NULL: b is the triangle `corner` */
    TalusVec3 axis[3];       /* axes of b in the frame of a */
    TalusVec3 centre;        /* position of b in the frame of a */
    TalusVec3 corner[3];     /* of the triangle, in the frame of a */
    double size;             /* size of the smaller body, the scale of tolerances */
} TalusConvexPair;

/* Rotates a direction of a's frame into the frame of b. */
TALUS_INLINE TalusVec3 talus_pair_rotate_into_b(const TalusConvexPair *p, TalusVec3 d)
{
    return talus_vec3(talus_dot(p->axis[0], d), talus_dot(p->axis[1], d), talus_dot(p->axis[2], d));
}

/* Rotates a direction of b's frame into the frame of a. */
TALUS_INLINE TalusVec3 talus_pair_rotate_from_b(const TalusConvexPair *p, TalusVec3 d)
{
    return talus_madd(talus_madd(talus_scale(d.x, p->axis[0]), d.y, p->axis[1]), d.z, p->axis[2]);
}

/* Transforms a point of b's frame into the frame of a. */
TALUS_INLINE TalusVec3 talus_pair_point_from_b(const TalusConvexPair *p, TalusVec3 x)
{
    return talus_add(p->centre, talus_pair_rotate_from_b(p, x));
}

/* Corner of the triangle farthest along d. */
TALUS_INLINE TalusVec3 talus_triangle_support(const TalusVec3 corner[3], TalusVec3 d)
{
    double x = talus_dot(corner[0], d), y = talus_dot(corner[1], d), z = talus_dot(corner[2], d);
    return x >= y && x >= z ? corner[0] : y >= z ? corner[1] : corner[2];
}

/* Point of b's core farthest along d, in the frame of a. */
TALUS_INLINE TalusVec3 talus_pair_support_b(const TalusConvexPair *p, TalusVec3 d)
{
    if (!p->b)
        return talus_triangle_support(p->corner, d);
    return talus_pair_point_from_b(p, talus_core_support(p->b, talus_pair_rotate_into_b(p, d)));
}

/* ---- the nearest point of a simplex ---------------------------------------------------------- */

/* The point v of a simplex nearest to the origin, as a convex combination of some points of the simplex. */
typedef struct TalusSimplexPoint {
    int count;        /* number of those points */
    int at[3];        /* their indices in the simplex */
    double weight[3]; /* their weights, sum 1 */
    TalusVec3 v;
    double norm2; /* |v|^2 */
} TalusSimplexPoint;

/* The point w[i] itself. */
TALUS_INLINE TalusSimplexPoint talus_nearest_of_corner(const TalusVec3 *w, int i)
{
    TalusSimplexPoint n = {1, {i, 0, 0}, {1.0, 0.0, 0.0}, w[i], talus_dot(w[i], w[i])};
    return n;
}

/* Point of the edge w[i] w[j] nearest to the origin. */
TALUS_INLINE TalusSimplexPoint talus_nearest_of_edge(const TalusVec3 *w, int i, int j)
{
    TalusVec3 along = talus_sub(w[j], w[i]);
    double length2 = talus_dot(along, along), from = -talus_dot(w[i], along);
    if (!(from > 0.0))
        return talus_nearest_of_corner(w, i);
    if (!(from < length2))
        return talus_nearest_of_corner(w, j);
    double t = from / length2;
    TalusVec3 v = talus_madd(w[i], t, along);
    TalusSimplexPoint n = {2, {i, j, 0}, {1.0 - t, t, 0.0}, v, talus_dot(v, v)};
    return n;
}

/* Replaces *best by `other` if that is nearer to the origin. */
TALUS_INLINE void talus_keep_nearer(TalusSimplexPoint *best, TalusSimplexPoint other)
{
    if (other.norm2 < best->norm2)
        *best = other;
}

/* Point of the triangle a b c = w[i] w[j] w[k] nearest to the origin. If the origin projects outside the triangle, the
 * point is on an edge that has the origin and the triangle on different sides. Signed areas, of the triangle (origin,
 * b, c) and its like, are computed as b x (c - b): the rounding error is relative to |b| |c - b|, that of b x c would
 * be relative to |b| |c|. If the origin projects inside, v is a multiple of the triangle's normal, so its direction is
 * accurate however short v is. */
TALUS_INLINE TalusSimplexPoint talus_nearest_of_triangle(const TalusVec3 *w, int i, int j, int k)
{
    TalusVec3 a = w[i], b = w[j], c = w[k];
    TalusVec3 ab = talus_sub(b, a), bc = talus_sub(c, b), ca = talus_sub(a, c);
    TalusVec3 n = talus_cross(ab, bc);
    double area2 = talus_dot(n, n);
    double of_a = talus_dot(n, talus_cross(b, bc)), of_b = talus_dot(n, talus_cross(c, ca)),
           of_c = talus_dot(n, talus_cross(a, ab));
    bool flat = !(area2 > 0x1p-90 * talus_dot(ab, ab) * talus_dot(bc, bc));
    if (!flat && of_a > 0.0 && of_b > 0.0 && of_c > 0.0) {
        double sum = 1.0 / (of_a + of_b + of_c);
        double height = talus_dot(n, a);
        TalusSimplexPoint r = {3,
                               {i, j, k},
                               {sum * of_a, sum * of_b, sum * of_c},
                               talus_scale(height / area2, n),
                               height * height / area2};
        return r;
    }
    TalusSimplexPoint best = {0, {0, 0, 0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, INFINITY};
    if (flat || of_c <= 0.0)
        talus_keep_nearer(&best, talus_nearest_of_edge(w, i, j));
    if (flat || of_a <= 0.0)
        talus_keep_nearer(&best, talus_nearest_of_edge(w, j, k));
    if (flat || of_b <= 0.0)
        talus_keep_nearer(&best, talus_nearest_of_edge(w, k, i));
    return best;
}

/* Point of the tetrahedron w[0 .. 3] nearest to the origin, on one of its faces; count 0 if the origin is inside. A
 * flat tetrahedron has no inside. */
TALUS_INLINE TalusSimplexPoint talus_nearest_of_tetrahedron(const TalusVec3 *w)
{
    TalusVec3 x = talus_sub(w[1], w[0]), y = talus_sub(w[2], w[0]), z = talus_sub(w[3], w[0]);
    TalusVec3 xy = talus_cross(x, y);
    double volume = talus_dot(xy, z);
    bool flat = !(volume * volume > 0x1p-90 * talus_dot(x, x) * talus_dot(y, y) * talus_dot(z, z));
    TalusSimplexPoint best = {0, {0, 0, 0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, INFINITY};
    for (int f = 0; f < 4; f++) {
        int i = f, j = (f + 1) & 3, k = (f + 2) & 3, apex = (f + 3) & 3;
        TalusVec3 n = talus_cross(talus_sub(w[j], w[i]), talus_sub(w[k], w[i]));
        double height = talus_dot(n, w[i]), side = talus_dot(n, talus_sub(w[apex], w[i]));
        if (flat || (side > 0.0 ? height >= 0.0 : height <= 0.0))
            talus_keep_nearer(&best, talus_nearest_of_triangle(w, i, j, k));
    }
    return best;
}

/* ---- the iteration --------------------------------------------------------------------------- */

typedef enum TalusGjkResult {
    TALUS_GJK_APART, /* v and the nearest points are known */
    TALUS_GJK_FAR,   /* the distance is not below `limit` */
    TALUS_GJK_MEET   /* the origin is in C, or within `touching` of it */
} TalusGjkResult;

typedef struct TalusGjk {
    TalusGjkResult result;
    int count;         /* number of points of the simplex, all of C */
    TalusVec3 w[4];    /* points a - b of C */
    TalusVec3 on_a[4]; /* for each point of w, the point a of the first core */
    double weight[4];  /* weights of w in v; not updated if the origin is inside the tetrahedron */
    TalusVec3 v;       /* point of the simplex nearest to the origin */
    double norm2;      /* |v|^2 */
} TalusGjk;

enum { TALUS_GJK_ROUNDS = 96 }; /* limit of iterations */

/* Reduces the simplex to the points that `near` combines, and copies the weights and v of `near`. */
TALUS_INLINE void talus_gjk_reduce_simplex(TalusGjk *g, const TalusSimplexPoint *near)
{
    TalusVec3 w[3], on_a[3];
    for (int k = 0; k < near->count; k++) {
        w[k] = g->w[near->at[k]];
        on_a[k] = g->on_a[near->at[k]];
    }
    for (int k = 0; k < near->count; k++) {
        g->w[k] = w[k];
        g->on_a[k] = on_a[k];
        g->weight[k] = near->weight[k];
    }
    g->count = near->count;
    g->v = near->v;
    g->norm2 = near->norm2;
}

/* True if w is a point of the simplex already. */
TALUS_INLINE bool talus_gjk_has_point(const TalusGjk *g, TalusVec3 w)
{
    for (int k = 0; k < g->count; k++) {
        if (g->w[k].x == w.x && g->w[k].y == w.y && g->w[k].z == w.z)
            return true;
    }
    return false;
}

/* Adds the point w of C, with its point on a, to the simplex and updates v. Returns false to end the iteration: the
 * origin is inside the simplex (TALUS_GJK_MEET), or v does not come nearer. */
TALUS_INLINE bool talus_gjk_add_point(TalusGjk *g, TalusVec3 w, TalusVec3 on_a)
{
    g->w[g->count] = w;
    g->on_a[g->count] = on_a;
    TalusSimplexPoint near;
    switch (g->count) {
    case 1: near = talus_nearest_of_edge(g->w, 0, 1); break;
    case 2: near = talus_nearest_of_triangle(g->w, 0, 1, 2); break;
    default: near = talus_nearest_of_tetrahedron(g->w); break;
    }
    if (near.count == 0) {
        g->count = 4;
        g->result = TALUS_GJK_MEET;
        return false;
    }
    if (!(near.norm2 < g->norm2))
        return false;
    talus_gjk_reduce_simplex(g, &near);
    return true;
}

/* Computes the distance between the cores of a and of b, with b moved by `shift`. `start` is a nonzero estimate of v.
 * Ends early if the distance is not below `limit` (TALUS_GJK_FAR) or at most `touching` (TALUS_GJK_MEET). If the result
 * is TALUS_GJK_APART, the error of |v| is at most 2^-40 |v|, 2^-47 of the largest |w| or 2^-36 of p->size, whichever is
 * largest, unless rounding or TALUS_GJK_ROUNDS end the iteration earlier. */
TALUS_OUTLINE void talus_gjk(const TalusConvexPair *p, TalusVec3 shift, TalusVec3 start,
                             double limit, double touching, TalusGjk *g)
{
    g->result = TALUS_GJK_APART;
    g->on_a[0] = talus_core_support(p->a, talus_neg(start));
    g->w[0] = talus_sub(g->on_a[0], talus_add(talus_pair_support_b(p, start), shift));
    g->weight[0] = 1.0;
    g->count = 1;
    g->v = g->w[0];
    g->norm2 = talus_dot(g->v, g->v);
    double extent2 = g->norm2;
    for (int round = 0; round < TALUS_GJK_ROUNDS; round++) {
        if (!(g->norm2 > touching * touching)) {
            g->result = TALUS_GJK_MEET;
            return;
        }
        TalusVec3 on_a = talus_core_support(p->a, talus_neg(g->v));
        TalusVec3 w = talus_sub(on_a, talus_add(talus_pair_support_b(p, g->v), shift));
        double along = talus_dot(g->v, w), rest = g->norm2 - along;
        if (along > 0.0 && along * along >= limit * limit * g->norm2) {
            g->result = TALUS_GJK_FAR;
            return;
        }
        extent2 = talus_max(extent2, talus_dot(w, w));
        double enough2 = talus_max(0x1p-94 * extent2, 0x1p-72 * p->size * p->size);
        if (rest <= 0x1p-40 * g->norm2 || rest * rest <= enough2 * g->norm2 ||
            talus_gjk_has_point(g, w) || !talus_gjk_add_point(g, w, on_a))
            return;
    }
}

/* Nearest point on the core of a, once v is known. */
TALUS_INLINE TalusVec3 talus_gjk_nearest_on_a(const TalusGjk *g)
{
    TalusVec3 x = talus_scale(g->weight[0], g->on_a[0]);
    for (int k = 1; k < g->count; k++)
        x = talus_madd(x, g->weight[k], g->on_a[k]);
    return x;
}

#endif
