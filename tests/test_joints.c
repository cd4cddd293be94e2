/* Joints one by one: what they hold, what they leave, motors, limits, springs, and what is told of them. */
#include "joint_world.h"

#include "base/memory.h"
#include "world/joint/joint.h"

#include <string.h>

/* A ball of radius 0.1 and mass 1 at distance 1 from its joint with the world. */
static TalusWorld *pendulum(const TalusWorldDef *def, double angle, double spin,
                            TalusJointKind kind, TalusJointId *id)
{
    TalusWorld *world = joint_world(def);
    TalusVec3 y = {0.0, 1.0, 0.0};
    Body bob = {.shape = ball(0.1),
                .mass = 1.0,
                .x = {sin(angle), 0.0, -cos(angle)},
                .v = {spin * cos(angle), 0.0, spin * sin(angle)},
                .w = {0.0, -spin, 0.0}};
    TalusBodyId a = add_body(world, bob);
    *id = add_joint(world, joint_of(kind, a, the_world, talus_vec3(0.0, 0.0, 0.0), y));
    return world;
}

TEST(a_pendulum_hangs)
{
    TalusWorldDef def = joint_def(0.01);
    TalusJointId id;
    TalusWorld *world = pendulum(&def, 0.0, 0.0, TALUS_JOINT_REVOLUTE, &id);
    for (int i = 0; i < 20; i++)
        checked_step(world);
    TalusJointState s = joint_state(world, id);
    CHECK_NEAR(s.force.z, gravity, 1e-9);
    CHECK_NEAR(s.coordinate, 0.0, 1e-12);
    CHECK_NEAR(s.error, 0.0, 1e-12);
    talus_world_destroy(world);
}

/* Worst error of a pendulum swinging round at 3 rad/s without gravity, over its length. */
static double drift_of(bool projection, double h, int steps)
{
    TalusWorldDef def = joint_def(h);
    def.gravity = talus_vec3(0.0, 0.0, 0.0);
    def.reference_speed = 0.01;
    def.projection = projection;
    TalusJointId id;
    TalusWorld *world = pendulum(&def, 0.0, 3.0, TALUS_JOINT_REVOLUTE, &id);
    double worst = 0.0;
    for (int i = 0; i < steps; i++) {
        if (i < 100)
            checked_step(world);
        else
            CHECK_OK(talus_world_step(world, NULL));
        worst = fmax(worst, joint_state(world, id).error);
    }
    talus_world_destroy(world);
    return worst;
}

TEST(velocities_alone_drift_by_half_w_h_squared_a_step)
{
    CHECK_NEAR(drift_of(false, 0.01, 1) / (0.5 * 0.03 * 0.03), 1.0, 0.01);
    CHECK_NEAR(drift_of(false, 0.005, 1) / (0.5 * 0.015 * 0.015), 1.0, 0.01);
    CHECK(drift_of(false, 0.01, 100) > 0.5 * 100 * 0.5 * 0.03 * 0.03 * 0.1);
}

TEST(projection_closes_joints)
{
    CHECK(drift_of(true, 0.01, 10000) < 1e-9);
}

/* ---- springs ---- */

/* The scheme's own closed form: v' = v - h/m (k (x + h v') + c v'), x' = x + h v'. */
TEST(a_spring_and_a_damper)
{
    TalusWorldDef def = joint_def(0.01);
    def.gravity = talus_vec3(0.0, 0.0, 0.0);
    def.reference_speed = 0.1;
    TalusWorld *world = joint_world(&def);
    double m = 2.0, k = 300.0, c = 3.0, rest = 0.5, h = 0.01;
    TalusBodyId a = add_body(world, (Body){.shape = ball(0.1), .mass = m, .x = {0.8, 0.0, 0.0}});
    TalusJointDef spring = joint_of(TALUS_JOINT_SPRING, a, the_world, talus_vec3(0.8, 0.0, 0.0),
                                    talus_vec3(0.0, 0.0, 1.0));
    spring.rest = rest;
    spring.stiffness = k;
    spring.damping = c;
    TalusJointId id = add_joint(world, spring);
    double x = 0.3, v = 0.0, first = 0.0, last = 0.0;
    int crossings = 0;
    for (int i = 0; i < 300; i++) {
        double before = x;
        checked_step(world);
        v = (v - h / m * k * x) / (1.0 + h / m * (h * k + c));
        x += h * v;
        TalusJointState s = joint_state(world, id);
        CHECK_NEAR(s.coordinate - rest, x, 1e-9);
        CHECK_NEAR(s.speed, v, 1e-8);
        CHECK_NEAR(s.effort, -(k * x + c * v), 1e-6);
        CHECK_NEAR(s.force.x, s.effort, 1e-9);
        if (before * x < 0.0) {
            double time = h * (i + 1) - h * x / (x - before);
            first = crossings++ == 0 ? time : first;
            last = time;
        }
    }
    /* the oscillator's own frequency, but for order h */
    CHECK_NEAR(pi * (crossings - 1) / (last - first), sqrt(k / m - 0.25 * c * c / (m * m)), 0.2);
    talus_world_destroy(world);
}

/* ---- limits ---- */

TEST(a_pendulum_rests_against_a_stop)
{
    TalusWorldDef def = joint_def(0.005);
    TalusWorld *world = joint_world(&def);
    TalusBodyId a = add_body(world, (Body){.shape = ball(0.1), .mass = 1.0, .x = {1.0, 0.0, 0.0}});
    TalusJointDef hinge = joint_of(TALUS_JOINT_REVOLUTE, a, the_world, talus_vec3(0.0, 0.0, 0.0),
                                   talus_vec3(0.0, 1.0, 0.0));
    hinge.upper = 0.5;
    TalusJointId id = add_joint(world, hinge);
    double max_effort = 0.0;
    for (int i = 0; i < 200; i++) {
        checked_step(world);
        max_effort = fmax(max_effort, joint_state(world, id).coordinate);
    }
    TalusJointState s = joint_state(world, id);
    CHECK_NEAR(max_effort, 0.5, 1e-4); /* no rebound, no passage */
    CHECK_NEAR(s.coordinate, 0.5, 1e-6);
    CHECK_NEAR(s.torque.y, -gravity * cos(0.5), 1e-5);
    CHECK_NEAR(s.force.z, gravity, 1e-6);
    talus_world_destroy(world);
}

TEST(a_slider_stops_at_the_end_of_its_travel)
{
    TalusWorldDef def = joint_def(0.005);
    TalusWorld *world = joint_world(&def);
    TalusBodyId a = add_body(world, (Body){.shape = box(0.1, 0.2, 0.3), .mass = 3.0});
    TalusJointDef slide = joint_of(TALUS_JOINT_PRISMATIC, a, the_world, talus_vec3(0.0, 0.5, 0.0),
                                   talus_vec3(0.0, 0.0, 1.0));
    slide.lower = -0.2;
    TalusJointId id = add_joint(world, slide);
    for (int i = 0; i < 100; i++)
        checked_step(world);
    TalusJointState s = joint_state(world, id);
    CHECK_NEAR(s.coordinate, -0.2, 1e-9);
    CHECK_NEAR(s.force.z, 3.0 * gravity, 1e-6);
    CHECK_NEAR(s.torque.x, 3.0 * gravity * -0.5, 1e-6);
    talus_world_destroy(world);
}

TEST(a_rope_is_taut_or_slack)
{
    TalusWorldDef def = joint_def(0.005);
    TalusWorld *world = joint_world(&def);
    TalusBodyId a = add_body(world, (Body){.shape = ball(0.1), .mass = 1.0, .x = {0.3, 0.0, 0.0}});
    TalusJointDef rope = joint_of(TALUS_JOINT_DISTANCE, a, the_world, talus_vec3(0.3, 0.0, 0.0),
                                  talus_vec3(0.0, 0.0, 1.0));
    rope.upper = 1.0;
    TalusJointId id = add_joint(world, rope);
    for (int i = 0; i < 300; i++) {
        checked_step(world);
        TalusJointState s = joint_state(world, id);
        CHECK(s.coordinate < 1.0 + 2e-3);
        CHECK(talus_dot(s.force, s.axis) <= 1e-9); /* it only pulls */
        if (i < 20)
            CHECK_NEAR(s.force.z, 0.0, 1e-12);
    }
    talus_world_destroy(world);
}

/* ---- motors ---- */

/* A flywheel of mass 2 and radius 0.5 on the z axis. */
static TalusWorld *flywheel(TalusMotorDef motor, TalusJointId *id)
{
    TalusWorldDef def = joint_def(0.01);
    TalusWorld *world = joint_world(&def);
    TalusBodyId a = add_body(world, (Body){.shape = rod(0.5, 0.1), .mass = 2.0});
    TalusJointDef hinge = joint_of(TALUS_JOINT_REVOLUTE, a, the_world, talus_vec3(0.0, 0.0, 0.0),
                                   talus_vec3(0.0, 0.0, 1.0));
    hinge.motor = motor;
    *id = add_joint(world, hinge);
    return world;
}

static const double wheel_i = 0.25;

TEST(motors_give_no_more_than_they_can)
{
    TalusJointId id;
    TalusMotorDef motor = {.kind = TALUS_MOTOR_SPEED, .target = 2.0, .max_effort = 0.5};
    TalusWorld *world = flywheel(motor, &id);
    for (int i = 0; i < 50; i++) {
        checked_step(world);
        TalusJointState s = joint_state(world, id);
        CHECK_NEAR(s.effort, 0.5, 1e-9);
        CHECK_NEAR(s.torque.z, 0.5, 1e-9);
        CHECK_NEAR(s.speed, 0.5 / wheel_i * 0.01 * (i + 1), 1e-9);
    }
    for (int i = 0; i < 80; i++)
        checked_step(world);
    CHECK_NEAR(joint_state(world, id).speed, 2.0, 1e-9);
    CHECK_NEAR(joint_state(world, id).effort, 0.0, 1e-9);
    motor = (TalusMotorDef){
        .kind = TALUS_MOTOR_TORQUE, .target = -0.25, .rate = 1.0, .max_effort = 0.4};
    CHECK_OK(talus_world_set_motor(world, id, &motor));
    for (int i = 0; i < 100; i++)
        checked_step(world); /* -0.25 + t, at most 0.4: 0.2 up to 0.65 s and 0.4 from then on */
    CHECK_NEAR(joint_state(world, id).effort, 0.4, 1e-12);
    double impulse = -0.25 * 0.65 + 0.5 * 0.65 * 0.65 + 0.4 * 0.35;
    CHECK_NEAR(joint_state(world, id).speed, 2.0 + impulse / wheel_i, 1e-4);
    motor = (TalusMotorDef){.kind = TALUS_MOTOR_NONE};
    CHECK_OK(talus_world_set_motor(world, id, &motor));
    double speed = joint_state(world, id).speed;
    checked_step(world);
    CHECK_NEAR(joint_state(world, id).speed, speed, 1e-12);
    talus_world_destroy(world);
}

TEST(a_position_motor_follows_a_ramp)
{
    TalusJointId id;
    TalusMotorDef motor = {
        .kind = TALUS_MOTOR_POSITION, .target = 0.0, .rate = 3.0, .max_effort = INFINITY};
    TalusWorld *world = flywheel(motor, &id);
    for (int i = 0; i < 400; i++)
        checked_step(world); /* 12 rad: turns are counted */
    CHECK_NEAR(joint_state(world, id).coordinate, 12.0, 1e-3);
    talus_world_destroy(world);
    motor.stiffness = 50.0;
    motor.damping = 5.0;
    motor.target = 1.0;
    motor.rate = 0.5;
    world = flywheel(motor, &id);
    double x = 0.0, v = 0.0, h = 0.01;
    for (int i = 0; i < 200; i++) {
        checked_step(world);
        double target = 1.0 + 0.5 * h * (i + 1);
        double push = 50.0 * (target - x) + 5.0 * 0.5;
        v = (v + h / wheel_i * push) / (1.0 + h / wheel_i * (h * 50.0 + 5.0));
        x += 2.0 * atan(0.5 * h * v); /* how the scheme turns */
        CHECK_NEAR(joint_state(world, id).coordinate, x, 1e-7);
    }
    talus_world_destroy(world);
}

/* ---- what else ---- */

/* A ball on a rod on a plate on the floor, and a door: joints, contacts and friction in one world. */
static TalusWorld *yard(int threads, const char *solver)
{
    TalusWorldDef def = joint_def(0.005);
    def.threads = threads;
    def.tolerance = 1e-6;
    if (solver)
        def.solver = solver;
    TalusWorld *world = joint_world(&def);
    TalusVec3 x = {1.0, 0.0, 0.0}, y = {0.0, 1.0, 0.0}, z = {0.0, 0.0, 1.0};
    add_body(world, (Body){.shape = {.kind = TALUS_SHAPE_PLANE}});
    TalusBodyId plate =
        add_body(world, (Body){.shape = box(0.5, 0.5, 0.1), .mass = 20.0, .x = {0.0, 0.0, 0.1}});
    TalusBodyId arm =
        add_body(world, (Body){.shape = box(0.3, 0.05, 0.05), .mass = 1.0, .x = {0.3, 0.0, 0.25}});
    TalusBodyId bob = add_body(
        world,
        (Body){.shape = ball(0.1), .mass = 1.0, .x = {0.6, 0.0, 0.45}, .v = {0.0, 1.0, 0.0}});
    TalusJointDef turn = joint_of(TALUS_JOINT_REVOLUTE, arm, plate, talus_vec3(0.0, 0.0, 0.25), z);
    turn.motor = (TalusMotorDef){.kind = TALUS_MOTOR_SPEED, .target = 3.0, .max_effort = 2.0};
    turn.lower = -1.0;
    turn.name = "turret";
    add_joint(world, turn);
    add_joint(world, joint_of(TALUS_JOINT_UNIVERSAL, bob, arm, talus_vec3(0.6, 0.0, 0.3), y));
    TalusBodyId door = add_body(world, (Body){.shape = box(0.4, 0.05, 0.5),
                                              .mass = 4.0,
                                              .x = {2.0, 0.0, 0.7},
                                              .w = {0.0, 0.0, 1.0}});
    TalusJointDef hinge =
        joint_of(TALUS_JOINT_CYLINDRICAL, door, the_world, talus_vec3(1.6, 0.0, 0.7), z);
    hinge.lower = -0.05;
    add_joint(world, hinge);
    TalusJointDef spring = joint_of(TALUS_JOINT_SPRING, door, plate, talus_vec3(2.0, 0.0, 0.7), x);
    spring.point_b = talus_vec3(0.5, 0.0, 0.1);
    spring.stiffness = 40.0;
    add_joint(world, spring);
    return world;
}

TEST(the_same_bits_for_any_threads_and_after_a_restart)
{
    TalusWorld *one = yard(1, NULL), *four = yard(4, NULL), *again = NULL;
    void *bytes;
    size_t size;
    for (int i = 0; i < 60; i++) {
        checked_step(one);
        CHECK_OK(talus_world_step(four, NULL));
        CHECK(talus_world_hash(one) == talus_world_hash(four));
        if (i != 30)
            continue;
        CHECK_OK(talus_world_save(one, &bytes, &size));
        CHECK_OK(talus_world_load(bytes, size, 2, NULL, &again));
        talus_free(bytes);
    }
    REQUIRE(again);
    for (int i = 0; i < 29; i++)
        CHECK_OK(talus_world_step(again, NULL));
    CHECK(talus_world_hash(one) == talus_world_hash(again));
    TalusJointState a[4], b[4];
    CHECK_INT(talus_world_get_joints(one, a, 4), 4);
    CHECK_INT(talus_world_get_joints(again, b, 4), 4);
    for (int i = 0; i < 4; i++) {
        CHECK_STR(a[i].name, b[i].name);
        CHECK(a[i].coordinate == b[i].coordinate && a[i].force.z == b[i].force.z &&
              a[i].effort == b[i].effort);
    }
    talus_world_destroy(one);
    talus_world_destroy(four);
    talus_world_destroy(again);
}

TEST(a_warm_step_allocates_nothing)
{
    TalusWorld *world = yard(1, NULL);
    for (int i = 0; i < 30; i++)
        CHECK_OK(talus_world_step(world, NULL));
    uint64_t before = talus_allocation_count();
    for (int i = 0; i < 10; i++)
        CHECK_OK(talus_world_step(world, NULL));
    CHECK_INT((long long)talus_allocation_count(), (long long)before);
    talus_world_destroy(world);
}

/* Each allocation of a load and a step fails in turn: the step that follows is the one that would have been. */
TEST(want_of_memory)
{
    TalusWorld *world = yard(1, NULL);
    void *bytes;
    size_t size;
    CHECK_OK(talus_world_step(world, NULL));
    CHECK_OK(talus_world_save(world, &bytes, &size));
    uint64_t before = talus_world_hash(world);
    CHECK_OK(talus_world_step(world, NULL));
    uint64_t after = talus_world_hash(world);
    talus_world_destroy(world);
    TalusStatus status = TALUS_ERR_MEMORY;
    for (int n = 1; status != TALUS_OK && n < 2000; n++) {
        talus_fail_allocation_in(n);
        status = talus_world_load(bytes, size, 1, NULL, &world);
        bool loaded = status == TALUS_OK;
        if (loaded)
            status = talus_world_step(world, NULL);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        if (loaded && status != TALUS_OK) {
            CHECK(talus_world_hash(world) == before);
            CHECK_OK(talus_world_step(world, NULL));
        }
        CHECK(!loaded || talus_world_hash(world) == after);
        talus_world_destroy(world);
    }
    CHECK(status == TALUS_OK);
    talus_free(bytes);
}

/* Solved by sweeps over the joints' blocks or by other means, the world does the same. */
TEST(solvers_agree_about_joints)
{
    TalusWorld *world[] = {yard(1, NULL), yard(1, "gs"), yard(1, "apgd"), yard(1, "prox")};
    for (int i = 0; i < 20; i++)
        for (int k = 0; k < 4; k++)
            CHECK_OK(talus_world_step(world[k], NULL));
    for (int k = 1; k < 4; k++)
        for (int body = 1; body < 5; body++) {
            TalusVec3 d = talus_sub(pose_of(world[k], body).x, pose_of(world[0], body).x);
            CHECK_NEAR(talus_norm(d), 0.0, 1e-6);
        }
    for (int k = 0; k < 4; k++)
        talus_world_destroy(world[k]);
}

/* A budget of iterations that the step cannot do with: the parts of a halved step carry what a step does. */
TEST(halved_and_failed_steps)
{
    TalusWorldDef def = joint_def(0.01);
    def.max_iterations = 1;
    def.tolerance = 1e-15;
    def.on_miss = TALUS_MISS_STOP;
    def.solver = "gs";
    TalusJointId id;
    TalusWorld *world = pendulum(&def, 0.5, 1.0, TALUS_JOINT_REVOLUTE, &id);
    uint64_t hash = talus_world_hash(world);
    TalusJointState before = joint_state(world, id);
    CHECK(talus_world_step(world, NULL) == TALUS_ERR_TOLERANCE);
    TalusJointState after = joint_state(world, id);
    CHECK(talus_world_hash(world) == hash);
    CHECK(before.coordinate == after.coordinate && before.force.z == after.force.z);
    talus_world_destroy(world);
    def.on_miss = TALUS_MISS_HALVE;
    world = pendulum(&def, 0.5, 1.0, TALUS_JOINT_REVOLUTE, &id);
    TalusStepInfo info;
    CHECK_OK(talus_world_step(world, &info));
    CHECK_INT(info.halvings, 4);
    CHECK_NEAR(info.ledger.imbalance, 0.0, 1e-12);
    CHECK_NEAR(joint_state(world, id).force.z, gravity, 4.0); /* of the whole step */
    CHECK(joint_state(world, id).error < 1e-9);
    talus_world_destroy(world);
}

/* Parts of a halved step succeed, then one fails: the post flies away in the middle of it. */
TEST(a_step_that_fails_in_its_middle)
{
    TalusWorldDef def = joint_def(0.01);
    def.max_iterations = 1;
    def.tolerance = 1e-15;
    def.on_miss = TALUS_MISS_HALVE;
    def.solver = "gs";
    TalusWorld *world = joint_world(&def);
    TalusVec3 y = {0.0, 1.0, 0.0}, o = {0.0, 0.0, 0.0};
    TalusBodyId post = add_body(world, (Body){.shape = box(0.1, 0.1, 0.1)});
    TalusBodyId bob =
        add_body(world, (Body){.shape = ball(0.1), .mass = 1.0, .x = {1.0, 0.0, 0.0}});
    add_joint(world, joint_of(TALUS_JOINT_REVOLUTE, bob, post, o, y));
    for (int i = 0; i < 3; i++)
        CHECK_OK(talus_world_step(world, NULL));
    TalusDriveDef drive = talus_drive_def_default();
    drive.velocity = talus_vec3(0.0, 0.0, 1.3e154);
    drive.start = 0.036;
    CHECK_OK(talus_world_set_drive(world, post, &drive));
    void *before, *after;
    size_t size, size_after;
    CHECK_OK(talus_world_save(world, &before, &size));
    CHECK(talus_world_step(world, NULL) == TALUS_ERR_NUMERIC);
    CHECK_OK(talus_world_save(world, &after, &size_after));
    CHECK(size == size_after && memcmp(before, after, size) == 0);
    talus_free(before);
    talus_free(after);
    talus_world_destroy(world);
}

TEST(joined_bodies_do_not_touch_and_joints_go_with_their_bodies)
{
    for (int collide = 0; collide < 2; collide++) {
        TalusWorldDef def = joint_def(0.005);
        TalusWorld *world = joint_world(&def);
        TalusBodyId a = add_body(world, (Body){.shape = ball(0.5), .mass = 1.0});
        TalusBodyId b =
            add_body(world, (Body){.shape = ball(0.5), .mass = 1.0, .x = {0.8, 0.0, 0.0}});
        TalusJointDef rigid =
            joint_of(TALUS_JOINT_FIXED, a, b, talus_vec3(0.4, 0.0, 0.0), talus_vec3(0.0, 0.0, 1.0));
        rigid.collide = collide;
        TalusJointId id = add_joint(world, rigid);
        TalusStepInfo info;
        CHECK_OK(talus_world_step(world, &info));
        CHECK_INT(info.contacts, collide);
        if (collide)
            CHECK_OK(talus_world_remove_body(world, b));
        else
            CHECK_OK(talus_world_remove_joint(world, id));
        CHECK_INT(talus_world_joint_count(world), 0);
        TalusJointState state;
        CHECK(talus_world_get_joint(world, id, &state) == TALUS_ERR_ARGUMENT);
        CHECK(talus_world_remove_joint(world, id) == TALUS_ERR_ARGUMENT);
        CHECK_OK(talus_world_step(world, &info));
        CHECK_INT(info.contacts, !collide);
        TalusJointId next =
            add_joint(world, joint_of(TALUS_JOINT_BALL, a, the_world, talus_vec3(0.0, 0.0, 0.0),
                                      talus_vec3(0.0, 0.0, 1.0)));
        CHECK(id.number == 1 && next.number == 2);
        talus_world_destroy(world);
    }
}

TEST(a_fixed_joint_makes_two_bodies_one)
{
    TalusWorldDef def = joint_def(0.005);
    TalusWorld *world = joint_world(&def);
    TalusBodyId a = add_body(world, (Body){.shape = box(0.5, 0.1, 0.1),
                                           .mass = 1.0,
                                           .x = {0.5, 0.0, 0.0},
                                           .w = {1.0, 2.0, 3.0}});
    TalusBodyId b = add_body(world, (Body){.shape = box(0.5, 0.1, 0.1),
                                           .mass = 1.0,
                                           .x = {-0.5, 0.0, 0.0},
                                           .w = {1.0, 2.0, 3.0}});
    add_joint(world, joint_of(TALUS_JOINT_FIXED, a, b, talus_vec3(0.0, 0.0, 0.0),
                              talus_vec3(0.0, 0.0, 1.0)));
    for (int i = 0; i < 200; i++)
        checked_step(world);
    Pose p = pose_of(world, 0), q = pose_of(world, 1);
    CHECK_NEAR(fabs(p.e.w * q.e.w + p.e.x * q.e.x + p.e.y * q.e.y + p.e.z * q.e.z), 1.0, 1e-12);
    CHECK_NEAR(talus_norm(talus_sub(p.x, q.x)), 1.0, 1e-8);
    CHECK_NEAR(talus_norm(talus_sub(p.w, q.w)), 0.0, 2e-3);
    talus_world_destroy(world);
}

TEST(a_driven_body_carries_what_hangs_on_it)
{
    TalusWorldDef def = joint_def(0.005);
    TalusWorld *world = joint_world(&def);
    TalusBodyId post = add_body(world, (Body){.shape = box(0.1, 0.1, 0.1)});
    TalusDriveDef drive = talus_drive_def_default();
    drive.velocity = talus_vec3(0.5, 0.0, 0.0);
    drive.spin = talus_vec3(0.0, 0.0, 2.0);
    CHECK_OK(talus_world_set_drive(world, post, &drive));
    TalusBodyId a = add_body(world, (Body){.shape = ball(0.1),
                                           .mass = 1.0,
                                           .x = {1.0, 0.0, 0.0},
                                           .v = {0.5, 2.0, 0.0},
                                           .w = {0.0, 0.0, 2.0}});
    TalusJointId id =
        add_joint(world, joint_of(TALUS_JOINT_FIXED, post, a, talus_vec3(0.0, 0.0, 0.0),
                                  talus_vec3(0.0, 0.0, 1.0)));
    for (int i = 0; i < 200; i++)
        checked_step(world);
    Pose p = pose_of(world, 1);
    CHECK_NEAR(p.x.x, 0.5 + cos(2.0), 1e-6);
    CHECK_NEAR(p.x.y, sin(2.0), 1e-6);
    TalusJointState s = joint_state(world, id); /* on the post */
    CHECK_NEAR(s.force.z, -gravity, 1e-6);
    CHECK_NEAR(sqrt(s.force.x * s.force.x + s.force.y * s.force.y), 4.0, 1e-3); /* m w^2 r */
    talus_world_destroy(world);
}

TEST(bad_joints_are_refused)
{
    TalusWorldDef def = joint_def(0.005);
    TalusWorld *world = joint_world(&def);
    TalusBodyId a = add_body(world, (Body){.shape = ball(0.1), .mass = 1.0});
    TalusBodyId fixed = add_body(world, (Body){.shape = ball(0.1), .x = {1.0, 0.0, 0.0}});
    TalusVec3 o = {0.0, 0.0, 0.0}, z = {0.0, 0.0, 1.0};
    TalusJointDef good = joint_of(TALUS_JOINT_REVOLUTE, a, fixed, o, z);
    TalusJointDef bad[12];
    for (int i = 0; i < 12; i++)
        bad[i] = good;
    bad[0].cookie = 0;
    bad[1].a = the_world;
    bad[2].b = a;
    bad[3].axis = o;
    bad[4].lower = 1.0, bad[4].upper = 1.0;
    bad[5].motor.kind = TALUS_MOTOR_SPEED, bad[5].motor.max_effort = 0.0;
    bad[6].motor.kind = TALUS_MOTOR_SPEED, bad[6].motor.stiffness = 1.0;
    bad[7].kind = TALUS_JOINT_BALL, bad[7].upper = 1.0;
    bad[8].stiffness = 1.0;
    bad[9].kind = TALUS_JOINT_SPRING;
    bad[10].kind = TALUS_JOINT_UNIVERSAL, bad[10].axis_b = z;
    bad[11].a.number = 7;
    for (int i = 0; i < 12; i++)
        if (!CHECK(talus_world_add_joint(world, &bad[i], NULL) == TALUS_ERR_ARGUMENT))
            printf("  bad[%d]\n", i);
    CHECK_INT(talus_world_joint_count(world), 0);
    CHECK_OK(talus_world_add_joint(world, &good, NULL));
    talus_world_destroy(world);
}

TEST(angles_without_libm)
{
    for (int i = -1000; i <= 1000; i++) {
        double angle = pi * i / 1000.0;
        CHECK_NEAR(talus_angle(sin(angle), cos(angle)), atan2(sin(angle), cos(angle)), 4e-15);
    }
}

int main(void)
{
    RUN(angles_without_libm);
    RUN(a_pendulum_hangs);
    RUN(velocities_alone_drift_by_half_w_h_squared_a_step);
    RUN(projection_closes_joints);
    RUN(a_spring_and_a_damper);
    RUN(a_pendulum_rests_against_a_stop);
    RUN(a_slider_stops_at_the_end_of_its_travel);
    RUN(a_rope_is_taut_or_slack);
    RUN(motors_give_no_more_than_they_can);
    RUN(a_position_motor_follows_a_ramp);
    RUN(the_same_bits_for_any_threads_and_after_a_restart);
    RUN(a_warm_step_allocates_nothing);
    RUN(want_of_memory);
    RUN(solvers_agree_about_joints);
    RUN(halved_and_failed_steps);
    RUN(a_step_that_fails_in_its_middle);
    RUN(joined_bodies_do_not_touch_and_joints_go_with_their_bodies);
    RUN(a_fixed_joint_makes_two_bodies_one);
    RUN(a_driven_body_carries_what_hangs_on_it);
    RUN(bad_joints_are_refused);
    return talus_test_result();
}
