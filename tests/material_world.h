/* Small worlds for analytic motions under material laws; solved far below the error of the steps. */
#ifndef TALUS_TEST_MATERIAL_WORLD_H
#define TALUS_TEST_MATERIAL_WORLD_H

#include "support/test.h"

#include "world/state.h"

#include <math.h>
#include <string.h>
#include <talus/world.h>

static const double g = 9.81;
static const TalusVec3 zero = {0.0, 0.0, 0.0};
static const char *material_backend = "cpu"; /* where the worlds below live */

static inline TalusWorldDef tight_def(double h)
{
    TalusWorldDef def = talus_world_def_default();
    def.step = h;
    def.tolerance = 1e-10;
    def.norm = TALUS_NORM_MAX;
    def.max_iterations = 100000;
    def.threads = 1;
    def.backend = material_backend;
    return def;
}

static inline TalusWorld *make_world(const TalusWorldDef *def, const TalusPairDef *pair)
{
    TalusWorld *world = NULL;
    CHECK_OK(talus_world_create(def, &world));
    if (pair)
        CHECK_OK(talus_world_set_pair(world, 0, 0, pair));
    return world;
}

static inline TalusBodyId add_body(TalusWorld *world, TalusShapeDef shape, double mass, TalusVec3 x,
                                   TalusVec3 v, TalusVec3 w)
{
    TalusBodyId id = {0};
    TalusBodyBatch batch = talus_body_batch_default();
    CHECK_OK(talus_world_add_shape(world, &shape, &batch.shape));
    batch.count = 1;
    batch.fixed = mass == 0.0;
    batch.mass = mass;
    batch.position = &x;
    batch.velocity = &v;
    batch.spin = &w;
    CHECK_OK(talus_world_add_bodies(world, &batch, &id));
    return id;
}

static inline TalusShapeDef sphere(double radius)
{
    TalusShapeDef def = {.kind = TALUS_SHAPE_SPHERE, .radius = radius};
    return def;
}

static inline TalusShapeDef box(double x, double y, double z)
{
    TalusShapeDef def = {.kind = TALUS_SHAPE_BOX, .half = {x, y, z}};
    return def;
}

static inline TalusBodyId add_floor(TalusWorld *world)
{
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    return add_body(world, plane, 0.0, zero, zero, zero);
}

typedef struct State {
    TalusVec3 x, v, w;
} State;

/* Of the second body: the floor is the first. */
static inline State state_of(const TalusWorld *world)
{
    TalusVec3 x[2], v[2], w[2];
    TalusBodyState arrays = {.position = x, .velocity = v, .spin = w};
    talus_world_get_state(world, &arrays);
    State state = {x[1], v[1], w[1]};
    return state;
}

static TalusStepInfo info; /* of the last step */

/* One step, whose ledger must close. */
static inline State step(TalusWorld *world)
{
    CHECK_OK(talus_world_step(world, &info));
    const TalusLedger *l = &info.ledger;
    double scale = l->kinetic + l->elastic + fabs(l->kinetic_change) + fabs(l->potential_change) +
                   fabs(l->elastic_change) + fabs(l->stiffening) + fabs(l->friction) +
                   fabs(l->impact) + fabs(l->cohesion) + fabs(l->stabilisation) +
                   fabs(l->gravity_error) + fabs(l->driven) + fabs(l->applied) + fabs(l->joints);
    double sum = l->friction + l->impact + l->stabilisation + l->stiffening + l->cohesion +
                 l->gravity_error + l->spin + l->joints + l->driven + l->applied + l->projection +
                 l->exchange;
    CHECK(fabs(l->imbalance) <= 1e-12 * scale);
    CHECK_NEAR(l->kinetic_change + l->potential_change + l->elastic_change, sum, 1e-12 * scale);
    CHECK(!info.missed);
    return state_of(world);
}

static inline double order(double coarse, double fine)
{
    return log2(coarse / fine);
}

#endif
