/* Worlds with joints, for the tests of joints: bodies in one line each, steps solved far below the error that
 * is measured. */
#ifndef TALUS_TESTS_JOINT_WORLD_H
#define TALUS_TESTS_JOINT_WORLD_H

#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <talus/joint.h>
#include <talus/world.h>

static const double gravity = 9.81;
static const double pi = 3.14159265358979323846;

static inline TalusWorldDef joint_def(double h)
{
    TalusWorldDef def = talus_world_def_default();
    def.step = h;
    def.tolerance = 1e-10;
    def.norm = TALUS_NORM_MAX;
    def.max_iterations = 5000;
    def.threads = 1;
    return def;
}

static inline TalusWorld *joint_world(const TalusWorldDef *def)
{
    TalusWorld *world = NULL;
    CHECK_OK(talus_world_create(def, &world));
    return world;
}

typedef struct Body {
    TalusShapeDef shape;
    TalusVec3 x, v, w;
    TalusQuat e; /* all zeros: none */
    double mass; /* 0: fixed */
} Body;

static inline TalusBodyId add_body(TalusWorld *world, Body body)
{
    TalusBodyId id = {0};
    int index = 0;
    CHECK_OK(talus_world_add_shape(world, &body.shape, &index));
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 1;
    batch.shape = index;
    batch.fixed = body.mass == 0.0;
    batch.mass = body.mass;
    batch.position = &body.x;
    batch.velocity = &body.v;
    batch.spin = &body.w;
    batch.orientation = body.e.w != 0.0 || body.e.x != 0.0 ? &body.e : NULL;
    CHECK_OK(talus_world_add_bodies(world, &batch, &id));
    return id;
}

static inline TalusShapeDef ball(double radius)
{
    TalusShapeDef def = {.kind = TALUS_SHAPE_SPHERE, .radius = radius};
    return def;
}

static inline TalusShapeDef box(double x, double y, double z)
{
    TalusShapeDef def = {.kind = TALUS_SHAPE_BOX, .half = {x, y, z}};
    return def;
}

static inline TalusShapeDef rod(double radius, double half_height)
{
    TalusShapeDef def = {
        .kind = TALUS_SHAPE_CYLINDER, .radius = radius, .half_height = half_height};
    return def;
}

static inline TalusJointDef joint_of(TalusJointKind kind, TalusBodyId a, TalusBodyId b,
                                     TalusVec3 point, TalusVec3 axis)
{
    TalusJointDef def = talus_joint_def_default();
    def.kind = kind;
    def.a = a;
    def.b = b;
    def.point = point;
    def.axis = axis;
    return def;
}

static inline TalusJointId add_joint(TalusWorld *world, TalusJointDef def)
{
    TalusJointId id = {0};
    CHECK_OK(talus_world_add_joint(world, &def, &id));
    return id;
}

static inline TalusJointState joint_state(const TalusWorld *world, TalusJointId id)
{
    TalusJointState state = {0};
    CHECK_OK(talus_world_get_joint(world, id, &state));
    return state;
}

static const TalusBodyId the_world = {0};

typedef struct Pose {
    TalusVec3 x, v, w;
    TalusQuat e;
} Pose;

/* Of the body with this place among the living, of 256 at most. */
static inline Pose pose_of(const TalusWorld *world, int place)
{
    static TalusVec3 x[256], v[256], w[256];
    static TalusQuat e[256];
    TalusBodyState state = {.position = x, .velocity = v, .spin = w, .orientation = e};
    talus_world_get_state(world, &state);
    Pose pose = {x[place], v[place], w[place], e[place]};
    return pose;
}

/* A step whose ledger must close to rounding: 1e-9 of the energies that came and went. */
static inline void checked_step(TalusWorld *world)
{
    TalusStepInfo info;
    CHECK_OK(talus_world_step(world, &info));
    const TalusLedger *l = &info.ledger;
    double size = fabs(l->kinetic) + fabs(l->kinetic_change) + fabs(l->potential_change) +
                  fabs(l->joints) + fabs(l->driven) + fabs(l->applied);
    CHECK_NEAR(l->imbalance, 0.0, 1e-9 * size + 1e-14);
    CHECK(!info.missed);
}

/* The complete elliptic integral K of parameter m, by the arithmetic-geometric mean. */
static inline double elliptic_k(double m)
{
    double a = 1.0, b = sqrt(1.0 - m);
    while (fabs(a - b) > 1e-15 * a) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return pi / (2.0 * a);
}

#endif
