/* Machines of the shipped scenes: a wheel against closed forms, the rover on a floor and over a rock, the hanging
 * bridge under its load; on any backend. docs/explanation/machines.md has the long runs. */
#ifndef TALUS_TESTS_MACHINE_SCENES_H
#define TALUS_TESTS_MACHINE_SCENES_H

#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/io.h>
#include <talus/joint.h>
#include <talus/world.h>

static const char *machine_backend = "cpu";

enum { MOST_BODIES = 64, MOST_JOINTS = 64 };

typedef struct Snapshot {
    TalusVec3 x[MOST_BODIES], v[MOST_BODIES], w[MOST_BODIES];
    TalusQuat e[MOST_BODIES];
} Snapshot;

static TalusWorld *world_of(const char *name, const char *const *set, int count)
{
    const char *root = getenv("TALUS_SOURCE_DIR");
    char path[1024];
    TalusScene *scene = NULL;
    TalusWorld *world = NULL;
    TalusSceneChoice choice = {.backend = machine_backend, .threads = 1};
    snprintf(path, sizeof path, "%s/scenes/%s.json", root ? root : ".", name);
    if (!CHECK_OK(talus_scene_load(path, set, count, &scene)))
        return NULL;
    CHECK_OK(talus_scene_build(scene, &choice, &world));
    talus_scene_destroy(scene);
    if (world)
        CHECK(talus_world_body_count(world) <= MOST_BODIES &&
              talus_world_joint_count(world) <= MOST_JOINTS);
    return world;
}

#define WORLD(name, set) world_of(name, set, (int)(sizeof(set) / sizeof *(set)))

static Snapshot look(const TalusWorld *world)
{
    Snapshot s;
    TalusBodyState state = {.position = s.x, .velocity = s.v, .spin = s.w, .orientation = s.e};
    talus_world_get_state(world, &state);
    return s;
}

/* Steps until `time`; every ledger must close, and no joint open by more than `open`. Returns the deepest overlap,
 * over the size of the smaller body. */
static double run_to(TalusWorld *world, double time, double open)
{
    TalusStepInfo info;
    TalusJointState joint[MOST_JOINTS];
    double deepest = 0.0;
    while (talus_world_time(world) < time - 1e-9) {
        if (!CHECK_OK(talus_world_step(world, &info)))
            break;
        deepest = fmax(deepest, info.penetration_max);
        CHECK_NEAR(info.ledger.imbalance, 0.0, 1e-9 * (1.0 + info.ledger.kinetic));
        int count = talus_world_get_joints(world, joint, MOST_JOINTS);
        for (int i = 0; i < count; i++)
            CHECK_NEAR(joint[i].error, 0.0, open);
    }
    return deepest;
}

static TalusJointState joint_named(const TalusWorld *world, const char *name)
{
    TalusJointState joint[MOST_JOINTS], none = {0};
    int count = talus_world_get_joints(world, joint, MOST_JOINTS);
    for (int i = 0; i < count; i++)
        if (strcmp(joint[i].name, name) == 0)
            return joint[i];
    CHECK(!"no joint has this name");
    return none;
}

/* ---- a wheel ---- */

static const double mu = 0.4, radius = 0.25, g = 9.81; /* of scenes/wheel.json */

/* Close to the end of rolling on both sides, so that the threshold is tested too. The convex relaxation lifts a
 * contact whose slip grows by s in a step at mu s, which in the first step presses mu s m more. */
static void try_wheel(const char *law, double lift)
{
    char which[32];
    snprintf(which, sizeof which, "law=%s", law);
    const char *const set[] = {which, "slow=0.98", "fast=1.02", "solver.tolerance=1e-8"};
    TalusWorld *world = WORLD("wheel", set);
    REQUIRE(world);
    double slip = 0.06 * mu * g * talus_world_step_length(world), more = lift * mu * mu * slip;
    for (int part = 1; part <= 4; part++) {
        double t = 0.125 * part, edge = mu * g * t;
        run_to(world, t, 0.0);
        Snapshot s = look(world);
        CHECK_NEAR(s.v[1].x, 0.98 * edge, 1e-6);
        CHECK_NEAR(s.w[1].y, 0.98 * edge / radius, 1e-5);
        /* (T - mu m g R) / (m R^2 / 2), T = 1.02 x 3/2 mu m g R */
        CHECK_NEAR(s.v[2].x, edge + more, 1e-6);
        CHECK_NEAR(s.w[2].y, ((1.5 * 1.02 - 1.0) * 2.0 * edge - 2.0 * more) / radius, 1e-5);
    }
    talus_world_destroy(world);
}

TEST(a_wheel_rolls_until_friction_ends)
{
    try_wheel("coulomb", 0.0);
    try_wheel("ccp", 1.0);
}

/* ---- the rover ---- */

/* Places of bodies and what they are in scenes/rover.json. */
enum { CHASSIS = 6, LEFT_FRONT = 10, LEFT_MIDDLE, LEFT_REAR, RIGHT_FRONT = 15 };
static const double wheel = 0.16, top = 0.3;

#define FLAT                                                     \
    "rocks=1", "settle=0.1", "drive=0.8", "x0=-2.2", "length=4", \
        "bodies[platform].shape.half[0]=4", "bodies[gravel].fixed=true", "solver.tolerance=1e-4"

/* One rock, half sunk into the platform, with its centre 0.16 beyond x and y. */
#define ROCK(x, y) \
    "bodies[gravel].lattice={\"lo\": [" x ", " y ", 0.14], \"cells\": [1, 1, 1], \"spacing\": 0.32}"

TEST(the_rover_goes_straight_at_its_speed)
{
    const char *const set[] = {FLAT, ROCK("3", "0")};
    TalusWorld *world = WORLD("rover", set);
    REQUIRE(world);
    run_to(world, 0.1, 1e-8); /* the motors hold still until their start */
    CHECK_NEAR(joint_named(world, "left front").coordinate, 0.0, 1e-3);
    run_to(world, 0.5, 1e-8);
    Snapshot before = look(world);
    double turned = joint_named(world, "left front").coordinate;
    run_to(world, 1.5, 1e-8);
    Snapshot after = look(world);
    turned = joint_named(world, "left front").coordinate - turned;
    double gone = after.x[CHASSIS].x - before.x[CHASSIS].x;
    CHECK_NEAR(gone, 0.8, 1e-3);
    CHECK_NEAR(gone, wheel * turned, 1e-4); /* no slip */
    CHECK_NEAR(after.x[CHASSIS].y, 0.0, 1e-5);
    CHECK_NEAR(after.x[LEFT_FRONT].z, top + wheel, 1e-5);
    talus_world_destroy(world);
}

TEST(the_rover_climbs_a_rock)
{
    const char *const set[] = {FLAT, "size=0.1", ROCK("-1.36", "0.46")};
    TalusWorld *world = WORLD("rover", set);
    double highest[3] = {0.0}, rocked = 0.0, lean = 0.0;
    REQUIRE(world);
    for (int k = 1; k <= 300; k++) {
        run_to(world, 0.01 * k, 1e-8);
        Snapshot s = look(world);
        double left = joint_named(world, "left rocker").coordinate;
        double right = joint_named(world, "right rocker").coordinate;
        for (int i = 0; i < 3; i++)
            highest[i] = fmax(highest[i], s.x[LEFT_FRONT + i].z - top - wheel);
        rocked = fmax(rocked, fabs(left - right));
        /* the differential, up to the length of its links */
        CHECK_NEAR(left + right, 0.0, 0.03 * fabs(left - right) + 1e-3);
        CHECK_NEAR(s.x[RIGHT_FRONT].z, top + wheel, 0.02);
        lean = fmax(lean, fabs(2.0 * (s.e[CHASSIS].w * s.e[CHASSIS].y)));
    }
    Snapshot end = look(world);
    for (int i = 0; i < 3; i++)
        CHECK(highest[i] > 0.06 && highest[i] < 0.16);
    CHECK(rocked > 0.08);
    CHECK(lean < 0.6 * rocked);
    CHECK(end.x[LEFT_REAR].x > -1.0);
    CHECK_NEAR(end.x[LEFT_REAR].z, top + wheel, 1e-3);
    talus_world_destroy(world);
}

/* What joints do to the bodies is what their motors put in, whatever the tolerance: joints by themselves do no work. */
TEST(joints_of_the_rover_do_the_work_of_its_motors)
{
    const char *const set[] = {FLAT, "solver.tolerance=0.01", "size=0.1", ROCK("-1.36", "0.46")};
    TalusWorld *world = WORLD("rover", set);
    TalusStepInfo info;
    TalusJointState before[MOST_JOINTS], after[MOST_JOINTS];
    double motors = 0.0, joints = 0.0;
    REQUIRE(world);
    run_to(world, 0.1, 1e-8);
    int count = talus_world_get_joints(world, before, MOST_JOINTS);
    for (double last = talus_world_time(world); last < 1.1; last = talus_world_time(world)) {
        REQUIRE_OK(talus_world_step(world, &info));
        talus_world_get_joints(world, after, MOST_JOINTS);
        for (int k = 0; k < count; k++)
            motors += 0.5 * (talus_world_time(world) - last) * after[k].effort *
                      (before[k].speed + after[k].speed);
        joints += info.ledger.joints + info.ledger.projection;
        memcpy(before, after, sizeof after);
    }
    CHECK(motors > 10.0);
    CHECK_NEAR(joints, motors, 5e-4 * motors);
    talus_world_destroy(world);
}

/* ---- the bridge ---- */

TEST(the_bridge_stays_together)
{
    const char *const set[] = {"h=0.002", "fall=0.15", "heavy=100"};
    TalusWorld *world = WORLD("chain-bridge", set);
    REQUIRE(world);
    /* the load is down, and deepest, before 0.4 s */
    CHECK_NEAR(run_to(world, 0.6, 1e-8), 0.0, 0.15);
    Snapshot s = look(world);
    int count = talus_world_body_count(world);
    for (int i = 0; i < count; i++)
        CHECK(s.x[i].z > 0.5 || i == 0);
    /* the deck itself is 190 kg; crates of 400 kg and balls of 60 kg have come upon it, and bounce: the mean of 0.2 s */
    double lift = 0.0;
    const char *const end[] = {"left 0", "right 0", "left 24", "right 24"};
    for (int k = 0; k < 100; k++) {
        CHECK_OK(talus_world_step(world, NULL));
        for (int i = 0; i < 4; i++)
            lift += joint_named(world, end[i]).force.z / 100.0;
    }
    CHECK_NEAR(lift, (190.0 + 460.0) * g, 0.3 * 650.0 * g);
    talus_world_destroy(world);
}

static inline int run_machine_scenes(void)
{
    RUN(a_wheel_rolls_until_friction_ends);
    RUN(the_rover_goes_straight_at_its_speed);
    RUN(the_rover_climbs_a_rock);
    RUN(joints_of_the_rover_do_the_work_of_its_motors);
    RUN(the_bridge_stays_together);
    return talus_test_result();
}

#endif
