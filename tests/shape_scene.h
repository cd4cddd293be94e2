/* Bodies of every kind of shape, as arrays, and their detection on host and device. */
#ifndef TALUS_TESTS_SHAPE_SCENE_H
#define TALUS_TESTS_SHAPE_SCENE_H

#include "detect_both.h"

enum { CAPSULE = SHAPES, CONE, ELLIPSOID, HULL, CLUMP, HOUSE, HILLS, ALL_SHAPES, COLUMNS = 12 };

/* ---- shapes ---- */

static inline void add_shape(Scene *s, const TalusShapeDef *def)
{
    if (CHECK(s->view.shape_count < MAX_SHAPES))
        CHECK_OK(talus_shape_init(&s->shape[s->view.shape_count++], def));
}

static inline void add_hull(Scene *s)
{
    TalusRng rng = talus_rng_from_seed(12);
    TalusVec3 point[20];
    for (int k = 0; k < 20; k++)
        point[k] = talus_scale(0.6, talus_normalize(random_vector(&rng, 1.0), talus_vec3(0, 0, 1)));
    TalusShapeDef def = {.kind = TALUS_SHAPE_HULL, .vertex = point, .vertex_count = 20};
    add_shape(s, &def);
}

/* A ball, a turned box and a hull in one. */
static inline void add_clump(Scene *s)
{
    TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.3};
    TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.3, 0.2, 0.25}};
    TalusQuat turn = talus_quat_normalize((TalusQuat){1.0, 0.2, -0.4, 0.1}), none = {1, 0, 0, 0};
    TalusShapePart part[3] = {{&ball, {0.3, 0.0, 0.0}, none},
                              {&box, {-0.2, 0.1, 0.0}, turn},
                              {&s->shape[HULL].def, {0.0, -0.3, 0.2}, turn}};
    TalusShapeDef def = {.kind = TALUS_SHAPE_COMPOUND, .part = part, .part_count = 3};
    add_shape(s, &def);
}

/* A closed box of triangles, 6 x 6 x 2, and hills. */
static inline void add_grounds(Scene *s)
{
    static const int32_t triangle[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                         2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    TalusVec3 vertex[8];
    double height[COLUMNS * COLUMNS];
    TalusRng rng = talus_rng_from_seed(14);
    for (int k = 0; k < 8; k++)
        vertex[k] = talus_vec3(k & 1 ? 3.0 : -3.0, k & 2 ? 3.0 : -3.0, k & 4 ? 1.0 : -1.0);
    for (int k = 0; k < COLUMNS * COLUMNS; k++)
        height[k] = 0.4 * talus_rng_uniform(&rng);
    TalusShapeDef house = {.kind = TALUS_SHAPE_MESH,
                           .vertex = vertex,
                           .vertex_count = 8,
                           .triangle = triangle,
                           .triangle_count = 12};
    TalusShapeDef hills = {.kind = TALUS_SHAPE_FIELD,
                           .height = height,
                           .columns = COLUMNS,
                           .rows = COLUMNS,
                           .spacing = 1.0};
    add_shape(s, &house);
    add_shape(s, &hills);
}

static inline void open_scene(Scene *s)
{
    const TalusShapeDef round[] = {
        {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.3, .half_height = 0.4},
        {.kind = TALUS_SHAPE_CONE, .radius = 0.5, .half_height = 0.5},
        {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.6, 0.4, 0.3}},
    };
    scene_open(s);
    for (int k = 0; k < 3; k++)
        add_shape(s, &round[k]);
    add_hull(s);
    add_clump(s);
    add_grounds(s);
    CHECK_INT(s->view.shape_count, ALL_SHAPES);
}

static inline void turn(Scene *s, int i, TalusRng *rng)
{
    TalusVec3 v = random_vector(rng, 2.0);
    TalusQuat q = {talus_rng_uniform(rng), v.x, v.y, v.z};
    s->orientation[i] = talus_quat_normalize(q);
}

/* `count` bodies of all kinds that move, in a box of this half edge. */
static inline void add_bodies(Scene *s, int count, double edge, double above, TalusRng *rng)
{
    static const int kind[] = {SPHERE, BOX, CYLINDER, CAPSULE, CONE, ELLIPSOID, HULL, CLUMP};
    for (int k = 0; k < count; k++) {
        TalusVec3 x = random_vector(rng, 2.0 * edge);
        x.z += above;
        int i = add(s, kind[k % 8], 0.4, x, random_vector(rng, 3.0));
        turn(s, i, rng);
        s->spin[i] = random_vector(rng, 4.0);
    }
}

static inline int add_fixed(Scene *s, int shape, TalusVec3 x)
{
    int i = add(s, shape, 0.4, x, talus_vec3(0, 0, 0));
    s->fixed[i] = 1;
    return i;
}

static inline void detect_scene(Scene *s, int least_fixed, int least_general)
{
    Both b;
    if (open_both(&b, s)) {
        detect_thrice(&b, s);
        CHECK(b.device.sphere_fixed >= least_fixed && b.device.general >= least_general);
    }
    close_both(&b);
}

#endif
