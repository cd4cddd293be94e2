/* Worlds that several test files share. */
#ifndef TALUS_TEST_WORLD_SCENE_H
#define TALUS_TEST_WORLD_SCENE_H

#include "support/test.h"

#include "base/memory.h"
#include "base/status.h"
#include "world/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <talus/world.h>

static const TalusVec3 zero = {0.0, 0.0, 0.0};

static const char *test_backend = "cpu"; /* where the worlds below live */

/* True: rigid contacts under the relaxation, whose velocities are unique, so that two backends agree to rounding. */
static bool test_relaxed;

static inline TalusWorldDef quick_def(int threads)
{
    TalusWorldDef def = test_relaxed ? talus_world_def_relaxed() : talus_world_def_default();
    def.threads = threads;
    def.backend = test_backend;
    return def;
}

static inline TalusWorldDef relaxed_def(int threads)
{
    test_relaxed = true;
    TalusWorldDef def = quick_def(threads);
    test_relaxed = false;
    return def;
}

static inline TalusWorld *make_world(const TalusWorldDef *def)
{
    TalusWorld *world = NULL;
    CHECK_OK(talus_world_create(def, &world));
    return world;
}

static inline TalusStatus add_floor(TalusWorld *world, TalusBodyId *id)
{
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusBodyBatch batch = talus_body_batch_default();
    TALUS_TRY(talus_world_add_shape(world, &plane, &batch.shape));
    batch.count = 1;
    batch.fixed = true;
    batch.position = &zero;
    return talus_world_add_bodies(world, &batch, id);
}

/* A plane through (x, 0, 0). */
static inline TalusStatus add_wall(TalusWorld *world, double x, double facing)
{
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusBodyBatch batch = talus_body_batch_default();
    TALUS_TRY(talus_world_add_shape(world, &plane, &batch.shape));
    TalusVec3 at = {x, 0.0, 0.0};
    double s = sqrt(0.5);
    TalusQuat e = {s, 0.0, s * facing, 0.0}; /* z to facing * x */
    batch.count = 1;
    batch.fixed = true;
    batch.position = &at;
    batch.orientation = &e;
    return talus_world_add_bodies(world, &batch, NULL);
}

static inline TalusStatus add_one(TalusWorld *world, TalusShapeDef shape, TalusVec3 x,
                                  TalusBodyId *id)
{
    TalusBodyBatch batch = talus_body_batch_default();
    TALUS_TRY(talus_world_add_shape(world, &shape, &batch.shape));
    batch.count = 1;
    batch.position = &x;
    return talus_world_add_bodies(world, &batch, id);
}

static const TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
static const TalusShapeDef brick = {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.12, 0.08}};

/* A heap of `count` boxes and spheres falling onto a floor, in layers of 4 x 4. */
static inline TalusStatus add_heap(TalusWorld *world, int count)
{
    TALUS_TRY(add_floor(world, NULL));
    for (int kind = 0; kind < 2; kind++) {
        TalusShapeDef shape = kind ? brick : ball;
        TalusBodyBatch batch = talus_body_batch_default();
        TALUS_TRY(talus_world_add_shape(world, &shape, &batch.shape));
        TalusVec3 x[200], v[200], w[200];
        for (int i = 0; i < count; i++) {
            if ((i % 3 == 0) != (kind == 1))
                continue;
            int n = batch.count++;
            x[n] = talus_vec3(0.22 * (i % 4) + 0.01 * (i % 7), 0.23 * (i / 4 % 4) + 0.005 * (i % 5),
                              0.15 + 0.26 * (i / 16));
            v[n] = talus_vec3(0.1 * (i % 3), 0.0, -0.5);
            w[n] = talus_vec3(0.0, 0.2 * (i % 5), 0.1);
        }
        batch.position = x;
        batch.velocity = v;
        batch.spin = w;
        TALUS_TRY(talus_world_add_bodies(world, &batch, NULL));
    }
    return TALUS_OK;
}

static inline TalusWorld *make_heap(int threads, int count)
{
    TalusWorldDef def = quick_def(threads);
    TalusWorld *world = make_world(&def);
    CHECK_OK(add_heap(world, count));
    return world;
}

static inline void run(TalusWorld *world, int steps)
{
    for (int i = 0; i < steps; i++)
        if (!CHECK_OK(talus_world_step(world, NULL)))
            return;
}

static inline bool said(const char *text)
{
    return strstr(talus_error(), text) != NULL;
}

/* Everything a world can hold. */
static inline TalusWorld *make_full(int threads)
{
    TalusWorld *world = make_heap(threads, 60);
    TalusEmitterDef emitter = talus_emitter_def_default();
    emitter.lo = talus_vec3(-0.5, -0.5, 1.8);
    emitter.hi = talus_vec3(1.0, 1.0, 2.4);
    emitter.rate = 150.0;
    emitter.count = 60;
    emitter.radius_min = 0.05;
    emitter.radius_max = 0.12;
    emitter.velocity = talus_vec3(0.0, 0.0, -1.0);
    emitter.seed = 7;
    CHECK_OK(talus_world_add_emitter(world, &emitter));
    TalusVec3 late[2] = {{3.0, 0.0, 0.5}, {3.0, 0.0, 1.0}};
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 2;
    batch.shape = 1;
    batch.position = late;
    CHECK_OK(talus_world_add_bodies_at(world, 0.3, &batch));
    CHECK_OK(talus_world_add_sink(world, 0, -0.6));
    TalusShapeDef tub = {.kind = TALUS_SHAPE_REVOLVE,
                         .profile = (const double[]){0.0, 0.0, 2.0, 0.0, 2.0, 1.0},
                         .point_count = 3};
    CHECK_OK(talus_world_add_shape(world, &tub, NULL));
    TalusProbeDef probe = {.name = "floor", .kind = TALUS_PROBE_BODY, .body = {1}};
    CHECK_OK(talus_world_add_probe(world, &probe, NULL));
    return world;
}

#endif
