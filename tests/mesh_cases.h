/* Meshes to touch: planes, boxes and grounds as triangles, and what touches them. */
#ifndef TALUS_TESTS_MESH_CASES_H
#define TALUS_TESTS_MESH_CASES_H

#include "base/rng.h"
#include "collide/narrow.h"
#include "geometry/bounds.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TOUCHES = 128 };

typedef struct Touches {
    int count;
    TalusManifoldPoint touch[MAX_TOUCHES];
} Touches;

static inline void take(void *context, const TalusManifoldPoint *touch)
{
    Touches *t = context;
    if (t->count < MAX_TOUCHES)
        t->touch[t->count] = *touch;
    t->count++;
}

/* What holds for every touch: unit normal, surface points `gap` apart along it, own feature. */
static inline Touches meet(const TalusPose *a, const TalusPose *b, double reach)
{
    Touches t = {0};
    CHECK(talus_narrow(a, b, reach, take, &t));
    CHECK(t.count <= MAX_TOUCHES);
    for (int i = 0; i < t.count && i < MAX_TOUCHES; i++) {
        const TalusManifoldPoint *c = &t.touch[i];
        TalusVec3 on_a = talus_add(a->position, c->arm_a), on_b = talus_add(b->position, c->arm_b);
        TalusVec3 d = talus_sub(on_b, on_a);
        CHECK_NEAR(talus_norm(c->normal), 1.0, 1e-14);
        CHECK_NEAR(talus_norm(talus_madd(d, -c->gap, c->normal)), 0.0, 1e-13);
        CHECK(c->gap < reach);
        for (int j = 0; j < i; j++)
            CHECK(t.touch[j].feature != c->feature);
    }
    return t;
}

static inline double least_gap(const Touches *t)
{
    double least = INFINITY;
    for (int k = 0; k < t->count && k < MAX_TOUCHES; k++)
        least = fmin(least, t->touch[k].gap);
    return least;
}

static inline TalusPose pose(const TalusShape *shape, double radius, TalusVec3 x, TalusQuat q)
{
    TalusPose p = {shape, shape->def.kind == TALUS_SHAPE_SPHERE ? radius : shape->bounding_radius,
                   x, q};
    return p;
}

static const TalusQuat upright = {1.0, 0.0, 0.0, 0.0};

static inline double between(TalusRng *rng, double low, double high)
{
    return low + (high - low) * talus_rng_uniform(rng);
}

static inline TalusVec3 in_cube(TalusRng *rng)
{
    double x = between(rng, -1.0, 1.0), y = between(rng, -1.0, 1.0);
    return talus_vec3(x, y, between(rng, -1.0, 1.0));
}

static inline TalusQuat random_turn(TalusRng *rng)
{
    TalusVec3 v = in_cube(rng);
    TalusQuat q = {talus_rng_uniform(rng) + 0.1, v.x, v.y, v.z};
    return talus_quat_normalize(q);
}

/* ---- meshes ---- */

typedef struct Soup {
    TalusVec3 vertex[4096];
    int32_t triangle[3 * 8192];
    int vertices, triangles;
} Soup;

static inline void add_triangle(Soup *s, int a, int b, int c)
{
    int32_t *t = s->triangle + 3 * s->triangles++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

static inline void make_mesh(const Soup *s, TalusShape *shape)
{
    const TalusShapeDef def = {.kind = TALUS_SHAPE_MESH,
                               .vertex = s->vertex,
                               .vertex_count = s->vertices,
                               .triangle = s->triangle,
                               .triangle_count = s->triangles};
    CHECK_OK(talus_shape_init(shape, &def));
}

/* n by n squares, each of two triangles cut at random, over -half .. half; inner vertices are moved by up to
 * `jitter` of a square within the plane. Heights by `height`, NULL: 0. */
static inline void make_sheet(Soup *s, int n, double half, double jitter, uint64_t seed,
                              double (*height)(double x, double y))
{
    TalusRng rng = talus_rng_from_seed(seed);
    s->vertices = s->triangles = 0;
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n; i++) {
            bool inner = i > 0 && j > 0 && i < n && j < n;
            double move = inner ? jitter * half / n : 0.0;
            double x = half * (2.0 * i / n - 1.0) + move * between(&rng, -1.0, 1.0);
            double y = half * (2.0 * j / n - 1.0) + move * between(&rng, -1.0, 1.0);
            s->vertex[s->vertices++] = talus_vec3(x, y, height ? height(x, y) : 0.0);
        }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            int v = j * (n + 1) + i;
            bool other = seed && talus_rng_uniform(&rng) < 0.5;
            add_triangle(s, v, v + 1, other ? v + n + 1 : v + n + 2);
            add_triangle(s, other ? v + 1 : v, v + n + 2, v + n + 1);
        }
}

/* A closed box of half extents h, each side of n by n squares. */
static inline void make_block(Soup *s, int n, TalusVec3 h)
{
    s->vertices = s->triangles = 0;
    for (int side = 0; side < 6; side++) {
        int axis = side / 2, base = s->vertices;
        double sign = side & 1 ? 1.0 : -1.0;
        for (int j = 0; j <= n; j++)
            for (int i = 0; i <= n; i++) {
                double x[3];
                x[axis] = sign;
                x[(axis + 1) % 3] = 2.0 * i / n - 1.0;
                x[(axis + 2) % 3] = 2.0 * j / n - 1.0;
                s->vertex[s->vertices++] = talus_vec3(x[0] * h.x, x[1] * h.y, x[2] * h.z);
            }
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                int a = base + j * (n + 1) + i, b = a + 1, c = a + n + 2, d = a + n + 1;
                add_triangle(s, a, side & 1 ? b : c, side & 1 ? c : b);
                add_triangle(s, a, side & 1 ? c : d, side & 1 ? d : c);
            }
    }
    /* common edges of the sides: one vertex for each place */
    for (int v = 0; v < s->vertices; v++)
        for (int w = 0; w < v; w++)
            if (memcmp(&s->vertex[v], &s->vertex[w], sizeof(TalusVec3)) == 0)
                for (int k = 0; k < 3 * s->triangles; k++)
                    s->triangle[k] = s->triangle[k] == v ? w : s->triangle[k];
}

#endif
