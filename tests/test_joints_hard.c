/* Joints in worlds that are hard on them: contradictions with contacts, machines that come to rest, sides of a
 * period, everything at once; and what cannot be meant, refused. */
#include "joint_world.h"

#include <float.h>
#include <string.h>
#include <talus/problem.h>

static const TalusVec3 along_z = {0.0, 0.0, 1.0};

static TalusShapeDef plane(void)
{
    TalusShapeDef def = {.kind = TALUS_SHAPE_PLANE};
    return def;
}

static TalusShapeDef capsule(double radius, double half_height)
{
    TalusShapeDef def = {.kind = TALUS_SHAPE_CAPSULE, .radius = radius, .half_height = half_height};
    return def;
}

/* ---- contradictions ---- */

/* Twelve steps of a motor of any effort that presses a box into the ground, with a ball on it if `loaded`. */
static TalusJointId press(TalusWorld *world, bool loaded, TalusStepInfo *info)
{
    add_body(world, (Body){.shape = plane()});
    TalusBodyId slab = add_body(world, (Body){box(0.1, 0.1, 0.1), .x = {0, 0, 0.11}, .mass = 1.0});
    TalusJointDef motor =
        joint_of(TALUS_JOINT_PRISMATIC, slab, the_world, talus_vec3(0, 0, 0.11), along_z);
    motor.motor.kind = TALUS_MOTOR_SPEED;
    motor.motor.target = -1.0;
    TalusJointId id = add_joint(world, motor);
    if (loaded) /* and a ball on it, which can move */
        add_body(world, (Body){ball(0.1), .x = {0, 0, 0.31}, .v = {0, 0, -1}, .mass = 3.0});
    for (int i = 0; i < 12; i++)
        CHECK_OK(talus_world_step(world, info));
    return id;
}

static TalusWorldDef press_def(TalusWorldDef def, const char *solver)
{
    def.step = 0.005;
    def.norm = TALUS_NORM_MAX;
    def.tolerance = 1e-6;
    def.max_iterations = 1000;
    def.threads = 1;
    def.solver = solver;
    return def;
}

/* Rigid contacts leave the motor no motion. No step has a solution; every one must be missed in the same moderate way, by
 * compliance. */
static void press_rigid(const char *solver, bool loaded)
{
    TalusWorldDef def = press_def(talus_world_def_relaxed(), solver);
    TalusWorld *world = joint_world(&def);
    TalusStepInfo info = {0};
    TalusJointId id = press(world, loaded, &info);
    CHECK(info.missed);
    CHECK_NEAR(info.ledger.imbalance, 0.0, 1e-9);
    CHECK_NEAR(joint_state(world, id).speed, -1.0, 1e-9);
    CHECK_INT(info.solve.outcome, TALUS_OUTCOME_INFEASIBLE);
    CHECK(fabs(joint_state(world, id).effort) < 1e6);
    talus_world_destroy(world);
}

/* Compliant ones yield to it as springs do, also beyond their limit: the force is finite, and the ledger closes. */
static void press_compliant(bool loaded)
{
    TalusWorldDef def = press_def(talus_world_def_default(), "auto");
    def.tolerance = 1e-2;
    TalusWorld *world = joint_world(&def);
    TalusStepInfo info = {0};
    TalusJointId id = press(world, loaded, &info);
    CHECK(!info.missed);
    CHECK_NEAR(joint_state(world, id).speed, -1.0, 1e-4);
    CHECK_NEAR(info.ledger.imbalance, 0.0, 1e-12 * fabs(info.ledger.joints));
    CHECK(fabs(joint_state(world, id).effort) < 2e9);
    talus_world_destroy(world);
}

TEST(a_motor_presses_against_the_ground)
{
    for (int loaded = 0; loaded < 2; loaded++) {
        press_rigid("auto", loaded);
        press_rigid("apgd", loaded);
        press_rigid("lbfgs-fb", loaded);
        press_compliant(loaded);
    }
}

/* ---- rest ---- */

/* Six links, hinged across each other with limits, fall on the ground and topple. */
TEST(a_limb_comes_to_rest)
{
    TalusWorldDef def = joint_def(0.01);
    def.tolerance = 1e-4;
    TalusWorld *world = joint_world(&def);
    TalusStepInfo info = {0};
    TalusBodyId last = the_world;
    TalusJointState state[5];
    double projected = 0.0, first = 0.0;
    add_body(world, (Body){.shape = plane()});
    for (int i = 0; i < 6; i++) {
        Body link = {.shape = box(0.04, 0.06, 0.12),
                     .x = {0, 0, 0.2 + 0.3 * i},
                     .v = {0.3 * i, 0.1 * i, 0},
                     .mass = i == 5 ? 4.0 : 1.0};
        TalusBodyId id = add_body(world, link);
        TalusJointDef hinge =
            joint_of(TALUS_JOINT_REVOLUTE, id, last, talus_vec3(0, 0, 0.05 + 0.3 * i),
                     i % 2 ? talus_vec3(0, 1, 0) : talus_vec3(1, 0, 0));
        hinge.lower = -0.8;
        hinge.upper = 0.8;
        if (i > 0)
            add_joint(world, hinge);
        last = id;
    }
    for (int i = 0; i < 250; i++) {
        CHECK_OK(talus_world_step(world, &info));
        projected += fabs(info.ledger.projection);
        if (i == 0)
            first = info.ledger.potential + info.ledger.kinetic;
    }
    /* the sum of what the projection gave and took: a small part of the fall */
    CHECK(projected < 0.05 * first);
    CHECK(info.ledger.kinetic < 1e-7 * first);
    CHECK(info.penetration_max < 1e-3);
    CHECK_INT(talus_world_get_joints(world, state, 5), 5);
    for (int i = 0; i < 5; i++) {
        CHECK(state[i].error < 1e-9);
        CHECK(fabs(state[i].coordinate) < 0.8 + 1e-4);
    }
    talus_world_destroy(world);
}

/* ---- sides of a period ---- */

static TalusWorld *pendulum_at(double y, bool periodic)
{
    TalusWorldDef def = joint_def(0.01);
    def.period.on[1] = periodic;
    def.period.lo.y = -2.0;
    def.period.hi.y = 2.0;
    TalusWorld *world = joint_world(&def);
    TalusBodyId a = add_body(world, (Body){ball(0.1), .x = {0, y, 1}, .mass = 1.0});
    TalusBodyId b = add_body(world, (Body){ball(0.1), .x = {0, y + 0.3, 1}, .mass = 2.0});
    TalusJointDef rope =
        joint_of(TALUS_JOINT_DISTANCE, b, the_world, talus_vec3(0, y + 0.4, 1), along_z);
    rope.point_b = talus_vec3(0, y + 0.4, 1.5);
    add_joint(world, joint_of(TALUS_JOINT_BALL, a, the_world, talus_vec3(0, y - 0.2, 1), along_z));
    add_joint(world, joint_of(TALUS_JOINT_REVOLUTE, b, a, talus_vec3(0, y + 0.15, 1),
                              talus_vec3(1, 0, 0)));
    add_joint(world, rope);
    return world;
}

/* Bodies are where they are by images; so are the joints that were given beside them. */
TEST(joints_across_the_side_of_a_period)
{
    const double at[] = {1.9, 2.3, -5.0};
    for (int k = 0; k < 3; k++) {
        TalusWorld *plain = pendulum_at(0.0, false), *other = pendulum_at(at[k], true);
        for (int i = 0; i < 40; i++) {
            checked_step(plain);
            checked_step(other);
        }
        for (int i = 0; i < 2; i++) {
            TalusVec3 d = talus_sub(pose_of(other, i).x, pose_of(plain, i).x);
            double y = d.y - at[k];
            CHECK_NEAR(y - 4.0 * floor(y / 4.0 + 0.5), 0.0, 1e-9);
            CHECK_NEAR(d.z, 0.0, 1e-9);
        }
        talus_world_destroy(plain);
        talus_world_destroy(other);
    }
}

/* A driven body goes about the nearest image of its axis. */
TEST(an_axis_beyond_the_side_of_a_period)
{
    TalusWorldDef def = joint_def(0.01);
    def.period.on[1] = true;
    def.period.lo.y = -2.0;
    def.period.hi.y = 2.0;
    TalusWorld *world = joint_world(&def);
    TalusBodyId arm = add_body(world, (Body){.shape = ball(0.1), .x = {0, 1.9, 1}});
    TalusDriveDef drive = talus_drive_def_default();
    drive.spin = talus_vec3(pi, 0, 0);
    drive.own_axis = true;
    drive.point = talus_vec3(0, -1.9, 1); /* 0.2 away */
    CHECK_OK(talus_world_set_drive(world, arm, &drive));
    for (int i = 0; i < 50; i++) /* a quarter of a turn */
        checked_step(world);
    CHECK_NEAR(pose_of(world, 0).x.y, -1.9, 1e-9);
    CHECK_NEAR(pose_of(world, 0).x.z, 0.8, 1e-9);
    talus_world_destroy(world);
}

/* ---- everything at once ---- */

/* Lengths are times s, masses and times as they are: forces and torques follow. */

/* A cart on four wheels, two of them with motors, across the side of the period. */
static void add_cart(TalusWorld *world, double s)
{
    Body chassis = {
        .shape = box(0.5 * s, 0.25 * s, 0.1 * s), .x = {0, 1.9 * s, 0.32 * s}, .mass = 20};
    TalusBodyId cart = add_body(world, chassis);
    for (int i = 0; i < 4; i++) {
        TalusVec3 x = {(i & 1 ? 0.4 : -0.4) * s, (1.9 + (i & 2 ? 0.35 : -0.35)) * s, 0.2 * s};
        TalusBodyId wheel = add_body(world, (Body){ball(0.2 * s), .x = x, .mass = 2});
        TalusJointDef axle = joint_of(TALUS_JOINT_REVOLUTE, wheel, cart, x, talus_vec3(0, 1, 0));
        axle.motor = (TalusMotorDef){i < 2 ? TALUS_MOTOR_SPEED : TALUS_MOTOR_NONE, .target = 3.0,
                                     .start = 0.05, .max_effort = 5.0 * s * s};
        add_joint(world, axle);
    }
}

/* A pendulum by a universal joint on a driven body. */
static void add_crank(TalusWorld *world, double s)
{
    TalusBodyId crank = add_body(world, (Body){.shape = ball(0.1 * s), .x = {3 * s, 0, 1.5 * s}});
    TalusDriveDef drive = talus_drive_def_default();
    drive.amplitude.x = 0.1 * s;
    drive.frequency = 2.0;
    CHECK_OK(talus_world_set_drive(world, crank, &drive));
    TalusBodyId bob =
        add_body(world, (Body){capsule(0.05 * s, 0.15 * s), .x = {3 * s, 0, 1.2 * s}, .mass = 1});
    TalusJointDef cross = joint_of(TALUS_JOINT_UNIVERSAL, bob, crank, talus_vec3(3 * s, 0, 1.4 * s),
                                   talus_vec3(1, 0, 0));
    cross.axis_b = talus_vec3(0, 1, 0);
    add_joint(world, cross);
}

/* A slider with a servo and a stop, a weight on a spring below it, and a force on that. */
static void add_slider(TalusWorld *world, double s)
{
    TalusVec3 at = {-3 * s, 0, s}, below = {-3 * s, 0, 0.6 * s};
    TalusBodyId slider =
        add_body(world, (Body){box(0.1 * s, 0.1 * s, 0.1 * s), .x = at, .mass = 2});
    TalusJointDef rail =
        joint_of(TALUS_JOINT_PRISMATIC, slider, the_world, at, talus_vec3(1, 0, 0));
    rail.motor = (TalusMotorDef){TALUS_MOTOR_POSITION, .target = 0.4 * s, .max_effort = 30 * s,
                                 .stiffness = 200, .damping = 5};
    rail.upper = 0.3 * s;
    add_joint(world, rail);
    TalusBodyId weight = add_body(world, (Body){ball(0.1 * s), .x = below, .mass = 1});
    TalusJointDef spring = joint_of(TALUS_JOINT_SPRING, weight, slider, below, along_z);
    spring.point_b = talus_vec3(-3 * s, 0, 0.9 * s);
    spring.stiffness = 100;
    spring.damping = 1;
    add_joint(world, spring);
    CHECK_OK(
        talus_world_set_force(world, weight, talus_vec3(s, 0, 0), talus_vec3(0, 0.1 * s * s, 0)));
}

/* All of that, and three boxes that fall asleep. */
static TalusWorld *crowd(int threads, double s)
{
    TalusWorldDef def = joint_def(0.01);
    def.threads = threads;
    def.tolerance = 1e-4;
    def.gravity = talus_vec3(0, 0, -gravity * s);
    def.sleep_speed = 0.5;
    def.sleep_steps = 10;
    def.period.on[1] = true;
    def.period.lo.y = -2.0 * s;
    def.period.hi.y = 2.0 * s;
    TalusWorld *world = joint_world(&def);
    add_body(world, (Body){.shape = plane()});
    add_cart(world, s);
    add_crank(world, s);
    add_slider(world, s);
    for (int i = 0; i < 3; i++)
        add_body(world, (Body){box(0.1 * s, 0.1 * s, 0.1 * s), .x = {s, 0, (0.1 + 0.2 * i) * s},
                               .mass = 1});
    return world;
}

static int run(TalusWorld *world, int steps)
{
    TalusStepInfo info = {0};
    for (int i = 0; i < steps; i++)
        CHECK_OK(talus_world_step(world, &info));
    return info.asleep;
}

TEST(everything_at_once_is_repeatable)
{
    TalusWorld *whole = crowd(1, 1.0), *cut = crowd(3, 1.0), *large = crowd(2, 4.0), *rest = NULL;
    void *bytes = NULL;
    size_t size = 0;
    CHECK_INT(run(whole, 60), 3);
    run(cut, 25);
    run(large, 60);
    REQUIRE_OK(talus_world_save(cut, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 2, NULL, &rest));
    run(cut, 35);
    run(rest, 35);
    CHECK(talus_world_hash(cut) == talus_world_hash(whole));
    CHECK(talus_world_hash(rest) == talus_world_hash(whole));
    for (int i = 0; i < 14; i++) {
        TalusVec3 a = talus_scale(4.0, pose_of(whole, i).x), b = pose_of(large, i).x;
        CHECK(a.x == b.x && a.y == b.y && a.z == b.z);
    }
    talus_free(bytes);
    talus_world_destroy(whole);
    talus_world_destroy(cut);
    talus_world_destroy(large);
    talus_world_destroy(rest);
}

/* ---- the problem of the next step ---- */

/* Of a loaded world as of the one that was saved, at its time; and asking for it changes nothing. */
TEST(the_problem_of_a_loaded_world)
{
    TalusWorld *world = crowd(1, 1.0), *loaded = NULL;
    TalusProblem *problem = NULL;
    void *bytes = NULL;
    size_t size = 0;
    run(world, 13);
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &loaded));
    uint64_t hash = talus_world_hash(loaded);
    double *zero = calloc(6 * 1000, sizeof *zero);
    TalusMetrics of_loaded, of_world;
    REQUIRE_OK(talus_world_build(loaded, &problem));
    CHECK(talus_problem_size(problem) < 6 * 1000);
    CHECK_OK(talus_problem_measure(problem, zero, &of_loaded));
    CHECK(talus_world_hash(loaded) == hash);
    REQUIRE_OK(talus_world_build(world, &problem));
    CHECK_OK(talus_problem_measure(problem, zero, &of_world));
    CHECK(of_world.natural.rms == of_loaded.natural.rms && of_world.natural.rms > 0.0);
    free(zero);
    talus_free(bytes);
    talus_world_destroy(world);
    talus_world_destroy(loaded);
}

/* ---- numbers and words ---- */

/* A bound that no impulse can have is none, whatever overflows on the way. */
TEST(the_largest_effort_there_is)
{
    TalusWorldDef def = joint_def(0.01);
    TalusWorld *world = joint_world(&def);
    TalusBodyId top = add_body(world, (Body){ball(1e-6), .x = {0, 0, 0}, .mass = 1.0});
    TalusJointDef hinge =
        joint_of(TALUS_JOINT_REVOLUTE, top, the_world, talus_vec3(0, 0, 0), along_z);
    hinge.motor = (TalusMotorDef){TALUS_MOTOR_SPEED, .target = 1.0, .max_effort = DBL_MAX};
    TalusJointId id = add_joint(world, hinge);
    for (int i = 0; i < 5; i++)
        checked_step(world);
    CHECK_NEAR(joint_state(world, id).speed, 1.0, 1e-9);
    talus_world_destroy(world);
}

static void refused(TalusWorld *world, const TalusJointDef *def, const char *words)
{
    CHECK(talus_world_add_joint(world, def, NULL) == TALUS_ERR_ARGUMENT);
    if (!strstr(talus_error(), words))
        printf("%s\n", talus_error());
    CHECK(strstr(talus_error(), words) != NULL);
}

TEST(distances_that_are_none_are_refused)
{
    TalusWorldDef def = joint_def(0.01);
    TalusWorld *world = joint_world(&def);
    TalusBodyId a = add_body(world, (Body){ball(0.1), .x = {0, 0, 0}, .mass = 1.0});
    TalusJointDef rod = joint_of(TALUS_JOINT_DISTANCE, a, the_world, talus_vec3(0, 0, 1), along_z);
    rod.point_b = rod.point;
    refused(world, &rod, "a distance of 0 has no direction");
    rod.point_b.x = 1.0;
    rod.rest = 0.0;
    refused(world, &rod, "a distance of 0 has no direction");
    rod.rest = 0.5;
    rod.upper = 2.0;
    refused(world, &rod, "a rest length or limits, not both");
    rod.rest = -1.0;
    rod.upper = 0.0;
    refused(world, &rod, "expected more than 0");
    talus_world_destroy(world);
}

/* Joints come first: no other section of friction would make this solver take them. */
TEST(solvers_without_joints_say_so)
{
    const char *const solvers[] = {"continuation", "ipm-soc", "lemke", "nscd", "gpcg", "bgs"};
    for (int k = 0; k < 6; k++) {
        TalusWorldDef def = joint_def(0.01);
        def.solver = solvers[k];
        TalusWorld *world = joint_world(&def);
        add_body(world, (Body){.shape = plane()});
        TalusBodyId a = add_body(world, (Body){ball(0.1), .x = {0, 0, 0.1}, .mass = 1.0});
        add_joint(world, joint_of(TALUS_JOINT_BALL, a, the_world, talus_vec3(0, 0, 1), along_z));
        CHECK(talus_world_step(world, NULL) == TALUS_ERR_UNSUPPORTED);
        CHECK(strstr(talus_error(), "this problem has joints") != NULL);
        talus_world_destroy(world);
    }
}

int main(void)
{
    RUN(a_motor_presses_against_the_ground);
    RUN(a_limb_comes_to_rest);
    RUN(joints_across_the_side_of_a_period);
    RUN(an_axis_beyond_the_side_of_a_period);
    RUN(everything_at_once_is_repeatable);
    RUN(the_problem_of_a_loaded_world);
    RUN(the_largest_effort_there_is);
    RUN(distances_that_are_none_are_refused);
    RUN(solvers_without_joints_say_so);
    return talus_test_result();
}
