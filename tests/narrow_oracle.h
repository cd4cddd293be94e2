/* Pairs of convex shapes in random poses, and what is known of their signed distance without GJK.
 *
 * With s(n) = min n.b - max n.a over the two bodies, the signed distance is the largest s(n). Hence
 *   - points of a and of b that are g apart prove that it is at most g;
 *   - a direction n with s(n) = g proves that it is at least g.
 * A touch with a positive gap carries both proofs with it; one with a negative gap the second, and that no direction
 * has a larger s(n) is tried: with all that can decide where both are polyhedra (normals of faces, products of
 * edges), else with many directions, far and near.
 *
 * Support functions are written here again, from the definitions. */
#ifndef TALUS_TESTS_NARROW_ORACLE_H
#define TALUS_TESTS_NARROW_ORACLE_H

#include "base/rng.h"
#include "collide/convex.h"
#include "collide/narrow.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum {
    BALL,
    CUBE,
    PLATE,
    DRUM,
    TABLET,
    PILL,
    SPIKE,
    PEBBLE,
    ROCK,
    WEDGE,
    ORACLE_SHAPES,
    MOST_TOUCHES = 64
};

static const char *const oracle_name[ORACLE_SHAPES] = {"sphere",  "box",       "plate", "cylinder",
                                                       "tablet",  "capsule",   "cone",  "ellipsoid",
                                                       "hull-20", "hull-wedge"};

static TalusShape oracle_shape[ORACLE_SHAPES];

static const TalusVec3 wedge_points[] = {{-0.6, -0.4, -0.2}, {0.6, -0.4, -0.2}, {0.6, 0.4, -0.2},
                                         {-0.6, 0.4, -0.2},  {-0.5, 0.0, 0.3},  {0.5, 0.0, 0.3}};

static inline double oracle_in(TalusRng *rng, double low, double high)
{
    return low + (high - low) * talus_rng_uniform(rng);
}

static inline TalusVec3 oracle_direction(TalusRng *rng)
{
    for (;;) {
        double x = oracle_in(rng, -1.0, 1.0), y = oracle_in(rng, -1.0, 1.0);
        TalusVec3 d = talus_vec3(x, y, oracle_in(rng, -1.0, 1.0));
        double n = talus_norm(d);
        if (n > 0.1 && n <= 1.0)
            return talus_scale(1.0 / n, d);
    }
}

static inline void oracle_open(double scale)
{
    TalusVec3 rock[20], wedge[6];
    TalusRng rng = talus_rng_from_seed(20);
    for (int k = 0; k < 20; k++) {
        TalusVec3 d = oracle_direction(&rng);
        rock[k] = talus_scale(scale, talus_vec3(0.5 * d.x, 0.45 * d.y, 0.4 * d.z));
    }
    for (int k = 0; k < 6; k++)
        wedge[k] = talus_scale(scale, wedge_points[k]);
    const TalusShapeDef def[ORACLE_SHAPES] = {
        {.kind = TALUS_SHAPE_SPHERE, .radius = 0.4 * scale},
        {.kind = TALUS_SHAPE_BOX, .half = {0.5 * scale, 0.4 * scale, 0.3 * scale}},
        {.kind = TALUS_SHAPE_BOX, .half = {1.0 * scale, 0.75 * scale, 0.0625 * scale}},
        {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.3 * scale, .half_height = 0.5 * scale},
        {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.5 * scale, .half_height = 0.125 * scale},
        {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.2 * scale, .half_height = 0.4 * scale},
        {.kind = TALUS_SHAPE_CONE, .radius = 0.4 * scale, .half_height = 0.5 * scale},
        {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.6 * scale, 0.4 * scale, 0.25 * scale}},
        {.kind = TALUS_SHAPE_HULL, .vertex = rock, .vertex_count = 20},
        {.kind = TALUS_SHAPE_HULL, .vertex = wedge, .vertex_count = 6},
    };
    for (int k = 0; k < ORACLE_SHAPES; k++)
        CHECK_OK(talus_shape_init(&oracle_shape[k], &def[k]));
}

static inline void oracle_close(void)
{
    for (int k = 0; k < ORACLE_SHAPES; k++)
        talus_shape_clear(&oracle_shape[k]);
}

/* ---- shapes, once more ----------------------------------------------------------------------- */

static inline double oracle_rho(TalusVec3 d)
{
    return sqrt(d.x * d.x + d.y * d.y);
}

static inline TalusVec3 oracle_ring(double radius, double z, TalusVec3 d)
{
    double rho = oracle_rho(d);
    return rho > 0.0 ? talus_vec3(radius * d.x / rho, radius * d.y / rho, z)
                     : talus_vec3(0.0, 0.0, z);
}

/* The farthest point along d, in the shape's frame. */
static inline TalusVec3 oracle_local(const TalusShape *shape, TalusVec3 d)
{
    const TalusShapeDef *s = &shape->def;
    double norm = talus_norm(d), up = d.z < 0.0 ? -s->half_height : s->half_height;
    TalusVec3 h = s->half, apex = talus_vec3(0.0, 0.0, 1.5 * s->half_height), best, rim;
    switch (s->kind) {
    case TALUS_SHAPE_SPHERE: return talus_scale(s->radius / norm, d);
    case TALUS_SHAPE_BOX:
        return talus_vec3(copysign(h.x, d.x), copysign(h.y, d.y), copysign(h.z, d.z));
    case TALUS_SHAPE_CYLINDER: return oracle_ring(s->radius, up, d);
    case TALUS_SHAPE_CAPSULE: return talus_madd(talus_vec3(0.0, 0.0, up), s->radius / norm, d);
    case TALUS_SHAPE_CONE:
        rim = oracle_ring(s->radius, -0.5 * s->half_height, d);
        return talus_dot(rim, d) > talus_dot(apex, d) ? rim : apex;
    case TALUS_SHAPE_ELLIPSOID:
        norm = sqrt(h.x * h.x * d.x * d.x + h.y * h.y * d.y * d.y + h.z * h.z * d.z * d.z);
        return talus_vec3(h.x * h.x * d.x / norm, h.y * h.y * d.y / norm, h.z * h.z * d.z / norm);
    default:
        best = s->vertex[0];
        for (int k = 1; k < s->vertex_count; k++) {
            if (talus_dot(s->vertex[k], d) > talus_dot(best, d))
                best = s->vertex[k];
        }
        return best;
    }
}

static inline TalusVec3 oracle_support(const TalusPose *pose, TalusVec3 d)
{
    TalusVec3 x = oracle_local(pose->shape, talus_rotate_back(pose->orientation, d));
    return talus_add(pose->position, talus_rotate(pose->orientation, x));
}

/* s(n) */
static inline double oracle_space(const TalusPose *a, const TalusPose *b, TalusVec3 n)
{
    return talus_dot(n, talus_sub(oracle_support(b, talus_neg(n)), oracle_support(a, n)));
}

/* How far a point, in the shape's frame, is outside of the shape, at least: 0 inside. */
static inline double oracle_outside(const TalusShape *shape, TalusVec3 x)
{
    const TalusShapeDef *s = &shape->def;
    double rho = oracle_rho(x), out = -INFINITY, h = s->half_height, slant;
    TalusVec3 q;
    switch (s->kind) {
    case TALUS_SHAPE_SPHERE: return fmax(0.0, talus_norm(x) - s->radius);
    case TALUS_SHAPE_BOX:
        out = fmax(fabs(x.x) - s->half.x, fmax(fabs(x.y) - s->half.y, fabs(x.z) - s->half.z));
        return fmax(0.0, out);
    case TALUS_SHAPE_CYLINDER: return fmax(0.0, fmax(rho - s->radius, fabs(x.z) - h));
    case TALUS_SHAPE_CAPSULE:
        q = talus_vec3(x.x, x.y, x.z - fmin(fmax(x.z, -h), h));
        return fmax(0.0, talus_norm(q) - s->radius);
    case TALUS_SHAPE_CONE:
        slant = (2.0 * h * rho + s->radius * (x.z - 1.5 * h)) /
                sqrt(4.0 * h * h + s->radius * s->radius);
        return fmax(0.0, fmax(-0.5 * h - x.z, slant));
    case TALUS_SHAPE_ELLIPSOID:
        q = talus_vec3(x.x / s->half.x, x.y / s->half.y, x.z / s->half.z);
        return fmax(0.0, (talus_norm(q) - 1.0) * shape->size);
    default:
        for (int k = 0; k < shape->hull.faces; k++) {
            const double *p = shape->hull.plane[k];
            out = fmax(out, p[0] * x.x + p[1] * x.y + p[2] * x.z - p[3]);
        }
        return fmax(0.0, out);
    }
}

static inline double oracle_off(const TalusPose *pose, TalusVec3 arm)
{
    return oracle_outside(pose->shape, talus_rotate_back(pose->orientation, arm));
}

/* ---- the best direction ---------------------------------------------------------------------- */

static inline bool oracle_polyhedron(const TalusShape *s)
{
    return s->def.kind == TALUS_SHAPE_BOX || s->def.kind == TALUS_SHAPE_HULL;
}

enum { MOST_EDGES = 64 };

/* Normals of faces and directions of edges, world frame. Returns their numbers in *faces, *edges. */
static inline void oracle_parts(const TalusPose *p, TalusVec3 *normal, int *faces, TalusVec3 *along,
                                int *edges)
{
    const TalusHull *hull = &p->shape->hull;
    *faces = *edges = 0;
    if (p->shape->def.kind == TALUS_SHAPE_BOX) {
        for (int k = 0; k < 3; k++) {
            TalusVec3 e = talus_rotate(p->orientation, talus_vec3(k == 0, k == 1, k == 2));
            normal[(*faces)++] = e;
            normal[(*faces)++] = talus_neg(e);
            along[(*edges)++] = e;
        }
        return;
    }
    for (int k = 0; k < hull->faces && *faces < MOST_EDGES; k++) {
        TalusVec3 n = talus_vec3(hull->plane[k][0], hull->plane[k][1], hull->plane[k][2]);
        normal[(*faces)++] = talus_rotate(p->orientation, n);
    }
    for (int k = 0; k < hull->edges && *edges < MOST_EDGES; k++) {
        TalusVec3 d = talus_sub(p->shape->def.vertex[hull->edge[k][1]],
                                p->shape->def.vertex[hull->edge[k][0]]);
        along[(*edges)++] = talus_rotate(p->orientation, talus_scale(1.0 / talus_norm(d), d));
    }
}

static inline void oracle_try(const TalusPose *a, const TalusPose *b, TalusVec3 n, double *best)
{
    double s = oracle_space(a, b, n);
    *best = s > *best ? s : *best;
}

/* The largest s(n) of two polyhedra that overlap. */
static inline double oracle_polyhedra(const TalusPose *a, const TalusPose *b)
{
    TalusVec3 normal[2][MOST_EDGES], along[2][MOST_EDGES];
    int faces[2], edges[2];
    double best = -INFINITY;
    oracle_parts(a, normal[0], &faces[0], along[0], &edges[0]);
    oracle_parts(b, normal[1], &faces[1], along[1], &edges[1]);
    for (int k = 0; k < faces[0]; k++)
        oracle_try(a, b, normal[0][k], &best);
    for (int k = 0; k < faces[1]; k++)
        oracle_try(a, b, talus_neg(normal[1][k]), &best);
    for (int i = 0; i < edges[0]; i++) {
        for (int j = 0; j < edges[1]; j++) {
            TalusVec3 n = talus_cross(along[0][i], along[1][j]);
            double norm = talus_norm(n);
            if (!(norm > 1e-6))
                continue;
            oracle_try(a, b, talus_scale(1.0 / norm, n), &best);
            oracle_try(a, b, talus_scale(-1.0 / norm, n), &best);
        }
    }
    return best;
}

/* A better direction than n, by trial: all round, from the bodies' axes, and near the best so far. */
static inline double oracle_search(const TalusPose *a, const TalusPose *b, TalusVec3 n, int all,
                                   int near, TalusRng *rng)
{
    double best = oracle_space(a, b, n);
    for (int k = 0; k < all + 12; k++) {
        TalusVec3 d = oracle_direction(rng);
        if (k < 12) {
            const TalusPose *p = k < 6 ? a : b;
            d = talus_rotate(p->orientation, talus_vec3(k % 3 == 0, k % 3 == 1, k % 3 == 2));
            d = k / 3 & 1 ? talus_neg(d) : d;
        }
        double s = oracle_space(a, b, d);
        if (s > best) {
            best = s;
            n = d;
        }
    }
    double step = 0.5;
    for (int k = 0; k < near; k++, step = k % 8 ? step : 0.6 * step) {
        TalusVec3 d = talus_madd(n, step, oracle_direction(rng));
        d = talus_normalize(d, n);
        double s = oracle_space(a, b, d);
        if (s > best) {
            best = s;
            n = d;
        }
    }
    return best;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

typedef struct OraclePair {
    TalusPose a, b;
    double size;
} OraclePair;

static inline TalusQuat oracle_turn(TalusRng *rng)
{
    TalusVec3 d = oracle_direction(rng);
    TalusQuat q = {oracle_in(rng, -1.0, 1.0), d.x, d.y, d.z};
    return talus_quat_normalize(q);
}

/* By quarter turns about the axes, if asked by a hair more. */
static inline TalusQuat oracle_square(TalusRng *rng, double tilt)
{
    const double s = 0.70710678118654752440;
    TalusQuat q = talus_quat_identity();
    for (int k = 0; k < 3; k++) {
        TalusQuat quarter = {s, k == 0 ? s : 0.0, k == 1 ? s : 0.0, k == 2 ? s : 0.0};
        for (uint32_t n = talus_rng_below(rng, 4); n > 0; n--)
            q = talus_quat_mul(q, quarter);
    }
    TalusVec3 d = oracle_direction(rng);
    return talus_quat_normalize(talus_quat_mul(q, talus_quat_cayley(talus_scale(tilt, d))));
}

static inline double oracle_hair(TalusRng *rng)
{
    static const double hair[] = {0.0, 1e-14, 1e-11, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2};
    double h = hair[talus_rng_below(rng, 8)];
    return talus_rng_below(rng, 2) ? h : -h;
}

static inline TalusPose oracle_pose(int which)
{
    const TalusShape *s = &oracle_shape[which];
    TalusPose p = {s, s->def.kind == TALUS_SHAPE_SPHERE ? s->def.radius : s->bounding_radius,
                   talus_vec3(0.0, 0.0, 0.0), talus_quat_identity()};
    return p;
}

/* Near each other: turned at random or square, a little apart or overlapping, a hair so, or deep. */
static inline OraclePair oracle_pair(int first, int second, TalusRng *rng)
{
    OraclePair p = {oracle_pose(first), oracle_pose(second), 0.0};
    double size_a = p.a.shape->size > 0.0 ? p.a.shape->size : p.a.radius;
    double size_b = p.b.shape->size > 0.0 ? p.b.shape->size : p.b.radius;
    p.size = fmin(size_a, size_b);
    uint32_t way = talus_rng_below(rng, 10);
    bool square = way < 3;
    p.a.orientation = square ? oracle_square(rng, 0.0) : oracle_turn(rng);
    p.b.orientation = square ? oracle_square(rng, oracle_hair(rng)) : oracle_turn(rng);
    p.a.position = talus_scale(p.size, oracle_direction(rng));
    TalusVec3 d = oracle_direction(rng);
    if (square && talus_rng_below(rng, 4)) {
        int k = (int)talus_rng_below(rng, 3);
        d = talus_rotate(p.a.orientation, talus_vec3(k == 0, k == 1, k == 2));
    }
    double gap = way < 3 || way > 7 ? p.size * oracle_hair(rng)
                 : way < 7          ? p.size * oracle_in(rng, -0.5, 0.3)
                                    : 0.0;
    p.b.position = p.a.position;
    double s = oracle_space(&p.a, &p.b, d);
    if (way == 7) {
        p.b.position = talus_madd(p.a.position, oracle_in(rng, 0.0, 1.0) * -s, d);
        return p;
    }
    p.b.position = talus_madd(p.a.position, gap - s, d);
    if (square) { /* slide along each other */
        TalusVec3 slide = talus_cross(d, oracle_direction(rng));
        p.b.position = talus_madd(p.b.position, oracle_in(rng, 0.0, 0.5) * p.size, slide);
    }
    return p;
}

/* ---- touches --------------------------------------------------------------------------------- */

typedef struct OracleTouches {
    int count, lowest;
    TalusManifoldPoint touch[MOST_TOUCHES];
} OracleTouches;

static inline void oracle_take(void *context, const TalusManifoldPoint *touch)
{
    OracleTouches *t = context;
    if (t->count < MOST_TOUCHES) {
        t->touch[t->count] = *touch;
        if (touch->gap < t->touch[t->lowest].gap)
            t->lowest = t->count;
    }
    t->count++;
}

static inline OracleTouches oracle_meet(const OraclePair *p, double reach)
{
    OracleTouches t;
    memset(&t, 0, sizeof t);
    CHECK(talus_narrow(&p->a, &p->b, reach, oracle_take, &t));
    CHECK(t.count <= MOST_TOUCHES);
    return t;
}

/* The nearest points as convex.h has them, as a touch: what is proven, and what touches are compared with. */
static inline TalusManifoldPoint oracle_nearest(const OraclePair *p)
{
    TalusConvexPair pair = talus_make_convex_pair(&p->a, &p->b);
    TalusNearest near;
    double margin_a = talus_pose_core_margin(&p->a), margin_b = talus_pose_core_margin(&p->b);
    TalusManifoldPoint t = {0, {0.0, 0.0, 0.0}, INFINITY, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    if (!CHECK(talus_convex_nearest(&pair, INFINITY, &near)))
        return t;
    t.normal = talus_rotate(p->a.orientation, near.normal);
    t.gap = near.gap - margin_a - margin_b;
    t.arm_a = talus_madd(talus_rotate(p->a.orientation, near.on_a), margin_a, t.normal);
    t.arm_b =
        talus_sub(talus_madd(t.arm_a, t.gap, t.normal), talus_sub(p->b.position, p->a.position));
    return t;
}

/* Relative to the size of the pair. */
typedef struct OracleErrors {
    double
        over; /* nearest points are not on their bodies, or not so near: the distance may be larger */
    double
        under; /* s(n) is below the gap: the distance may be smaller; or, where bodies overlap, some direction is
                      better than the normal */
    double
        touch; /* the lowest gap of the touches, or the reach where there are none, is not the distance */
    double broken; /* a touch whose points are not `gap` apart along a normal of length 1 */
} OracleErrors;

static inline void oracle_worst(OracleErrors *w, const OracleErrors *e)
{
    w->over = fmax(w->over, e->over);
    w->under = fmax(w->under, e->under);
    w->touch = fmax(w->touch, e->touch);
    w->broken = fmax(w->broken, e->broken);
}

static inline double oracle_broken(const OraclePair *p, const TalusManifoldPoint *c)
{
    TalusVec3 between =
        talus_add(talus_sub(p->b.position, p->a.position), talus_sub(c->arm_b, c->arm_a));
    double apart = talus_norm(talus_madd(between, -c->gap, c->normal)) / p->size;
    return fmax(apart, fabs(talus_norm(c->normal) - 1.0));
}

/* How hard a better way out is looked for: directions all round, and near. */
typedef struct OracleEffort {
    int all, near;
} OracleEffort;

/* The signed distance goes to *distance. Whether overlapping bodies have a better way out is asked on request. */
static inline OracleErrors oracle_check(const OraclePair *p, double reach, OracleEffort effort,
                                        bool ask, TalusRng *rng, double *distance)
{
    OracleErrors e = {0.0, 0.0, 0.0, 0.0};
    TalusManifoldPoint nearest = oracle_nearest(p);
    OracleTouches t = oracle_meet(p, reach);
    double space = oracle_space(&p->a, &p->b, nearest.normal);
    *distance = nearest.gap;
    e.under = fmax(0.0, nearest.gap - space);
    if (nearest.gap > 0.0)
        e.over = fmax(oracle_off(&p->a, nearest.arm_a), oracle_off(&p->b, nearest.arm_b));
    else if (ask && oracle_polyhedron(p->a.shape) && oracle_polyhedron(p->b.shape))
        e.under = fmax(e.under, oracle_polyhedra(&p->a, &p->b) - nearest.gap);
    else if (ask)
        e.under = fmax(e.under,
                       oracle_search(&p->a, &p->b, nearest.normal, effort.all, effort.near, rng) -
                           nearest.gap);
    e.touch = t.count ? fabs(t.touch[t.lowest].gap - nearest.gap) : fmax(0.0, reach - nearest.gap);
    e.over /= p->size;
    e.under /= p->size;
    e.touch /= p->size;
    e.broken = oracle_broken(p, &nearest);
    for (int k = 0; k < t.count; k++)
        e.broken = fmax(e.broken, oracle_broken(p, &t.touch[k]));
    return e;
}

#endif
