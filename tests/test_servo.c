/* Servo walls (world/joint/joint_servo.c): the force at rest, the current area, the speed, refusals, restarts. */
#include "joint_world.h"

#include "base/memory.h"
#include "world/joint/joint.h"
#include "world/source/generate.h"

#include <string.h>

static const TalusVec3 down = {0.0, 0.0, -1.0};

static TalusShapeDef floor_plane(void)
{
    return (TalusShapeDef){.kind = TALUS_SHAPE_PLANE};
}

/* Returns a sliding joint of body a with the world, pushed along `axis` by `target`. */
static TalusJointDef servo_of(TalusBodyId a, TalusVec3 point, TalusVec3 axis, double target)
{
    TalusJointDef def = joint_of(TALUS_JOINT_PRISMATIC, a, the_world, point, axis);
    def.motor.kind = TALUS_MOTOR_SERVO;
    def.motor.target = target;
    def.motor.max_speed = 0.2;
    return def;
}

/* ---- the force ---- */

typedef struct Press {
    TalusWorld *world;
    TalusJointId joint;
    int floor; /* probe */
} Press;

enum { GRAINS = 4 };

static const double grain_mass = 0.05, plate_height = 0.06;

/* A plate of mass m over four balls on a floor, 1 mm above them. */
static Press make_press(double m, double force, int threads)
{
    TalusWorldDef def = joint_def(0.002);
    def.threads = threads;
    Press press = {.world = joint_world(&def)};
    TalusProbeDef probe = {.kind = TALUS_PROBE_BODY, .name = "floor"};
    probe.body = add_body(press.world, (Body){.shape = floor_plane()});
    for (int k = 0; k < GRAINS; k++)
        add_body(press.world, (Body){.shape = ball(0.025),
                                     .mass = grain_mass,
                                     .x = {k % 2 ? 0.05 : -0.05, k / 2 ? 0.04 : -0.04, 0.025}});
    const TalusVec3 at = {0.0, 0.0, plate_height + 0.001};
    TalusBodyId plate =
        add_body(press.world, (Body){.shape = box(0.1, 0.1, 0.01), .mass = m, .x = at});
    press.joint = add_joint(press.world, servo_of(plate, at, down, force));
    CHECK_OK(talus_world_add_probe(press.world, &probe, &press.floor));
    return press;
}

static double floor_force(const Press *press)
{
    return fabs(talus_world_probe_value(press->world, press->floor).force.z);
}

TEST(a_plate_at_rest_presses_with_the_force_whatever_its_mass)
{
    const double mass[] = {0.01, 1.0, 20.0}, force = 50.0;
    for (int k = 0; k < 3; k++) {
        Press press = make_press(mass[k], force, 1);
        for (int i = 0; i < 200; i++)
            checked_step(press.world);
        const double weight = GRAINS * grain_mass * gravity;
        CHECK_NEAR(floor_force(&press) / (force + weight), 1.0, 1e-6);
        CHECK_NEAR(joint_state(press.world, press.joint).effort / force, 1.0, 1e-12);
        talus_world_destroy(press.world);
    }
}

/* Before its start and with force 0 a wall floats; then it accelerates by force over mass up to its speed. */
TEST(a_free_wall_accelerates_up_to_its_speed)
{
    TalusWorldDef def = joint_def(0.01);
    TalusWorld *world = joint_world(&def);
    const TalusVec3 at = {0.0, 0.0, 1.0}, axis = {0.0, 3.0, -4.0};
    TalusBodyId plate = add_body(world, (Body){.shape = box(0.1, 0.1, 0.01), .mass = 2.0, .x = at});
    TalusJointDef servo = servo_of(plate, at, axis, 4.0);
    servo.motor.start = 0.1;
    TalusJointId id = add_joint(world, servo);
    for (int i = 1; i <= 40; i++) {
        checked_step(world);
        TalusJointState s = joint_state(world, id);
        CHECK_NEAR(s.speed, fmin(0.2, 4.0 / 2.0 * 0.01 * (i > 10 ? i - 10 : 0)), 1e-9);
        CHECK(s.effort <= 4.0 + 1e-9);
    }
    TalusVec3 x = pose_of(world, 0).x;
    CHECK_NEAR(x.y / (x.z - 1.0), -0.75, 1e-9);
    talus_world_destroy(world);
}

TEST(a_force_that_grows_or_pulls)
{
    TalusWorldDef def = joint_def(0.01);
    TalusWorld *world = joint_world(&def);
    const TalusVec3 at = {0.0, 0.0, 1.0};
    TalusBodyId plate = add_body(world, (Body){.shape = box(0.1, 0.1, 0.01), .mass = 1.0, .x = at});
    TalusJointDef servo = servo_of(plate, at, down, -3.0);
    servo.motor.rate = -10.0;
    servo.motor.max_speed = 1e3;
    TalusJointId id = add_joint(world, servo);
    for (int i = 1; i <= 10; i++) {
        checked_step(world);
        CHECK_NEAR(joint_state(world, id).effort, -3.0 - 0.1 * i, 1e-9);
    }
    CHECK(pose_of(world, 0).x.z > 1.0);
    talus_world_destroy(world);
}

/* ---- the area ---- */

/* Returns the effort of a servo of stress 10 after a step. */
static double effort_of(TalusWorld *world, TalusJointDef servo)
{
    servo.motor.stress = true;
    servo.motor.max_speed = 1e3;
    TalusJointId id = add_joint(world, servo);
    CHECK_OK(talus_world_step(world, NULL));
    double effort = joint_state(world, id).effort;
    CHECK_OK(talus_world_remove_joint(world, id));
    return effort;
}

TEST(the_area_of_a_box_and_a_cylinder)
{
    TalusWorldDef def = joint_def(0.001);
    TalusWorld *world = joint_world(&def);
    const TalusVec3 y = {0.0, 1.0, 0.0}, x = {1.0, 0.0, 0.0}, o = {5.0, 0.0, 0.0};
    TalusBodyId plate = add_body(world, (Body){.shape = box(0.1, 0.2, 0.3), .mass = 1.0}),
                turned = add_body(world, (Body){.shape = box(0.1, 0.2, 0.3),
                                                .mass = 1.0,
                                                .x = o,
                                                .e = {sqrt(0.5), 0.0, 0.0, sqrt(0.5)}}),
                piston = add_body(
                    world, (Body){.shape = rod(0.2, 0.05), .mass = 1.0, .x = {0.0, 5.0, 0.0}});
    const TalusVec3 zero = {0.0, 0.0, 0.0};
    TalusJointDef given = servo_of(plate, zero, y, 10.0);
    given.motor.area = 2.5;
    CHECK_NEAR(effort_of(world, servo_of(plate, zero, y, 10.0)), 10.0 * 0.2 * 0.6, 1e-9);
    CHECK_NEAR(effort_of(world, servo_of(plate, zero, down, 10.0)), 10.0 * 0.2 * 0.4, 1e-9);
    CHECK_NEAR(effort_of(world, servo_of(turned, o, y, 10.0)), 10.0 * 0.4 * 0.6, 1e-9);
    CHECK_NEAR(effort_of(world, servo_of(piston, talus_vec3(0.0, 5.0, 0.0), down, 10.0)),
               10.0 * pi * 0.04, 1e-9);
    CHECK_NEAR(effort_of(world, servo_of(piston, talus_vec3(0.0, 5.0, 0.0), x, 10.0)),
               10.0 * 0.4 * 0.1, 1e-9);
    CHECK_NEAR(effort_of(world, given), 25.0, 1e-9);
    talus_world_destroy(world);
}

/* Plates at x = -1 and 1 +- travel, planes at y = -0.5 and 0.7: the area follows the plate that moves. */
TEST(the_area_between_walls_that_move)
{
    TalusWorldDef def = joint_def(0.01);
    TalusWorld *world = joint_world(&def);
    TalusDriveDef drive = talus_drive_def_default();
    drive.velocity = talus_vec3(-1.0, 0.0, 0.0);
    const TalusQuat north = talus_quat_from_z(talus_vec3(0.0, 1.0, 0.0)),
                    south = talus_quat_from_z(talus_vec3(0.0, -1.0, 0.0));
    const TalusShapeDef wall = box(0.05, 3.0, 3.0);
    TalusBodyId west = add_body(world, (Body){.shape = wall, .x = {-1.0, 0.3, 0.0}}),
                east = add_body(world, (Body){.shape = wall, .x = {1.0, 0.0, 0.2}}),
                front =
                    add_body(world, (Body){.shape = floor_plane(), .x = {0, -0.5, 0}, .e = north}),
                back =
                    add_body(world, (Body){.shape = floor_plane(), .x = {7, 0.7, 0}, .e = south});
    TalusBodyId top =
        add_body(world, (Body){.shape = ball(0.1), .mass = 1.0, .x = {0.0, 0.0, 0.5}});
    CHECK_OK(talus_world_set_drive(world, east, &drive));
    TalusJointDef servo = servo_of(top, talus_vec3(0.0, 0.0, 0.5), down, 10.0);
    servo.motor.between[0][0] = west;
    servo.motor.between[0][1] = east;
    servo.motor.area = 0.3;
    CHECK_NEAR(effort_of(world, servo), 10.0 * 0.3 * 1.9, 1e-9);
    CHECK_NEAR(effort_of(world, servo), 10.0 * 0.3 * 1.89, 1e-9);
    servo.motor.area = 0.0;
    servo.motor.between[1][0] = front;
    servo.motor.between[1][1] = back;
    CHECK_NEAR(effort_of(world, servo), 10.0 * 1.2 * 1.88, 1e-9);
    servo.motor.stress = true;
    TalusJointId id = add_joint(world, servo);
    CHECK_OK(talus_world_remove_body(world, east)); /* a servo does not outlive its walls */
    TalusJointState state;
    CHECK_INT(talus_world_get_joint(world, id, &state), TALUS_ERR_ARGUMENT);
    CHECK_OK(talus_world_step(world, NULL));
    CHECK(talus_world_joint_count(world) == 0);
    talus_world_destroy(world);
}

/* ---- phases ---- */

/* A plate on four balls bears a force, then a stress over its 0.04 m2, goes up at a speed and comes back by a force: no
 * phase with a ramp begins with a jump. */
TEST(phases_change_from_force_to_stress_to_velocity_and_back)
{
    const TalusServoPhase phases[] = {{TALUS_SERVO_FORCE, 20.0, 0.1, 0.2},
                                      {TALUS_SERVO_STRESS, 1e3, 0.1, 0.4},
                                      {TALUS_SERVO_VELOCITY, -0.01, 0.04, 0.6},
                                      {TALUS_SERVO_FORCE, 10.0, 0.1, INFINITY}};
    Press press = make_press(0.5, 0.0, 1);
    CHECK_OK(talus_world_set_servo_phases(press.world, press.joint, phases, 4));
    for (int i = 1; i <= 500; i++) {
        checked_step(press.world);
        const TalusJointState s = joint_state(press.world, press.joint);
        if (i <= 100)
            CHECK_NEAR(s.effort, fmin(0.4 * i, 20.0), 1e-9);
        else if (i <= 200)
            CHECK_NEAR(s.effort, fmin(20.0 + 0.4 * (i - 100), 40.0), 1e-9);
        else if (i <= 300)
            CHECK_NEAR(s.speed, fmax(-0.01 * (i - 200) / 20.0, -0.01), 1e-7);
        else
            CHECK_NEAR(s.effort, fmin(0.2 * (i - 300), 10.0), 1e-6);
    }
    CHECK_OK(talus_world_set_servo_phases(press.world, press.joint, NULL, 0));
    checked_step(press.world);
    CHECK_NEAR(joint_state(press.world, press.joint).effort, 0.0, 1e-9);
    talus_world_destroy(press.world);
}

/* Steps that miss their tolerance go in sixteenths. Of those of the second step, five have their middle before 13 ms, also if
 * the whole step, which came to nothing, lay in the second phase. */
TEST(a_phase_begins_no_earlier_in_a_step_that_is_halved)
{
    const TalusServoPhase phases[] = {{TALUS_SERVO_FORCE, 8.0, 0.0, 0.013},
                                      {TALUS_SERVO_FORCE, 40.0, 0.0, INFINITY}};
    TalusWorldDef def = joint_def(0.01);
    def.on_miss = TALUS_MISS_HALVE;
    def.tolerance = 1e-30;
    def.max_iterations = 300;
    TalusWorld *world = joint_world(&def);
    add_body(world, (Body){.shape = floor_plane()});
    add_body(world, (Body){.shape = ball(0.025), .mass = grain_mass, .x = {0.0, 0.0, 0.025}});
    const TalusVec3 at = {0.0, 0.0, plate_height};
    TalusBodyId plate = add_body(world, (Body){.shape = box(0.1, 0.1, 0.01), .mass = 0.5, .x = at});
    TalusJointId joint = add_joint(world, servo_of(plate, at, down, 0.0));
    CHECK_OK(talus_world_set_servo_phases(world, joint, phases, 2));
    const double expected[] = {8.0, (5.0 * 8.0 + 11.0 * 40.0) / 16.0, 40.0};
    for (int i = 0; i < 3; i++) {
        TalusStepInfo info;
        CHECK_OK(talus_world_step(world, &info));
        CHECK_INT(info.halvings, 4);
        CHECK_NEAR(joint_state(world, joint).effort, expected[i], 1e-9);
    }
    talus_world_destroy(world);
}

static void refuse_phases(const Press *press, TalusServoPhase first, TalusServoPhase last,
                          const char *words)
{
    const TalusServoPhase phases[2] = {first, last};
    CHECK_INT(talus_world_set_servo_phases(press->world, press->joint, phases, 2),
              TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), words) != NULL);
}

TEST(phases_that_make_no_sense)
{
    const TalusServoPhase first = {TALUS_SERVO_FORCE, 20.0, 0.1, 0.2},
                          last = {TALUS_SERVO_VELOCITY, 0.001, 0.0, INFINITY};
    Press press = make_press(0.5, 0.0, 1);
    TalusServoPhase bad = first;
    bad.until = INFINITY;
    refuse_phases(&press, bad, last, "until inf");
    bad = last;
    bad.until = 0.3;
    refuse_phases(&press, first, bad, "until 0.3");
    bad = first;
    bad.ramp = 0.3;
    refuse_phases(&press, bad, last, "ramp of 0.3");
    bad = last;
    bad.value = 1e6;
    refuse_phases(&press, first, bad, "velocity 1e+06");
    bad.value = NAN;
    refuse_phases(&press, first, bad, "finite");
    const TalusMotorDef speed = {.kind = TALUS_MOTOR_SPEED, .max_effort = 1.0};
    CHECK_OK(talus_world_set_motor(press.world, press.joint, &speed));
    refuse_phases(&press, first, last, "servos alone");
    talus_world_destroy(press.world);
}

/* ---- refusals ---- */

static void refuse(TalusWorld *world, TalusJointDef def, const char *words)
{
    CHECK_INT(talus_world_add_joint(world, &def, NULL), TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), words) != NULL);
}

TEST(servos_that_make_no_sense)
{
    TalusWorldDef def = joint_def(0.01);
    TalusWorld *world = joint_world(&def);
    const TalusVec3 o = {0.0, 0.0, 0.0};
    TalusBodyId a = add_body(world, (Body){.shape = ball(0.1), .mass = 1.0}),
                b = add_body(world, (Body){.shape = ball(0.1), .mass = 1.0, .x = {1, 0, 0}}),
                wall = add_body(world, (Body){.shape = floor_plane(), .x = {0, 0, -9}});
    const TalusJointDef good = servo_of(a, o, down, 1.0);
    TalusJointDef bad = good;
    bad.motor.max_speed = 0.0;
    refuse(world, bad, "max_speed");
    bad = good;
    bad.kind = TALUS_JOINT_REVOLUTE;
    refuse(world, bad, "prismatic");
    bad = good;
    bad.b = b;
    refuse(world, bad, "second is fixed");
    bad = good;
    bad.motor.stress = true;
    refuse(world, bad, "needs an area");
    bad.motor.area = -1.0;
    refuse(world, bad, "area -1");
    bad.motor.area = 1.0;
    bad.motor.between[0][0] = wall;
    refuse(world, bad, "expected two");
    bad.motor.between[0][1] = b;
    refuse(world, bad, "no wall of an area");
    bad.motor.between[0][1] = (TalusBodyId){99};
    refuse(world, bad, "no body 99");
    bad = good;
    bad.motor.between[1][0] = (TalusBodyId){99};
    CHECK_INT(talus_world_set_motor(world, add_joint(world, good), &bad.motor), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

/* ---- a cell of six servos ---- */

static TalusVec3 axis_vector(int k, double length)
{
    return talus_vec3(k == 0 ? length : 0.0, k == 1 ? length : 0.0, k == 2 ? length : 0.0);
}

/* Returns a box of these half extents, along axis k and across. */
static TalusShapeDef plate_shape(int k, double thick, double reach)
{
    return box(k == 0 ? thick : reach, k == 1 ? thick : reach, k == 2 ? thick : reach);
}

typedef struct Cell {
    TalusWorld *world;
    TalusBodyId plate[6]; /* at lower and upper x, y, z */
    int probe[6];
} Cell;

/* Adds plate i, in a group that does not collide with itself, and its probe. */
static void add_plate(Cell *cell, int i, double rim)
{
    const double thick = 0.005;
    const TalusShapeDef shape = plate_shape(i / 2, thick, rim + 0.02);
    const TalusVec3 at = axis_vector(i / 2, (i % 2 ? 1.0 : -1.0) * (rim + thick));
    TalusBodyBatch batch = talus_body_batch_default();
    TalusProbeDef probe = {.kind = TALUS_PROBE_BODY, .name = "plate"};
    CHECK_OK(talus_world_add_shape(cell->world, &shape, &batch.shape));
    batch.count = batch.group = 1;
    batch.mass = 0.05;
    batch.position = &at;
    CHECK_OK(talus_world_add_bodies(cell->world, &batch, &cell->plate[i]));
    probe.body = cell->plate[i];
    CHECK_OK(talus_world_add_probe(cell->world, &probe, &cell->probe[i]));
}

/* A cube of 5 x 5 x 5 spheres of two sizes, between plates that are pushed by `stress` over the area between the others. */
static Cell make_cell(double stress)
{
    enum { SIDE = 5 };
    const double pitch = 0.0112, rim = 0.5 * SIDE * pitch;
    TalusWorldDef def = joint_def(0.0005);
    Cell cell = {0};
    def.gravity = talus_vec3(0.0, 0.0, 0.0);
    def.reference_speed = 0.005;
    def.tolerance = 1e-2;
    def.norm = TALUS_NORM_RMS;
    cell.world = joint_world(&def);
    CHECK_OK(talus_world_set_groups(cell.world, 1, 1, false));
    for (int i = 0; i < 6; i++)
        add_plate(&cell, i, rim);
    for (int k = 0; k < SIDE * SIDE * SIDE; k++)
        add_body(cell.world,
                 (Body){.shape = ball(k * 7 % 3 ? 0.005 : 0.0055),
                        .mass = 1.3e-3,
                        .x = {(k % SIDE + 0.5) * pitch - rim, (k / SIDE % SIDE + 0.5) * pitch - rim,
                              (k / SIDE / SIDE + 0.5) * pitch - rim}});
    for (int i = 0; i < 6; i++) {
        const double rise = (i % 2 ? 1.0 : -1.0) * rim;
        TalusJointDef servo = servo_of(cell.plate[i], axis_vector(i / 2, rise),
                                       axis_vector(i / 2, i % 2 ? -1.0 : 1.0), stress);
        servo.motor.stress = true;
        for (int k = 0; k < 4; k++) /* the plates of the other two axes */
            servo.motor.between[k / 2][k % 2] = cell.plate[2 * ((i / 2 + 1 + k / 2) % 3) + k % 2];
        add_joint(cell.world, servo);
    }
    return cell;
}

/* Returns the distance between the plates of axis k. */
static double width_of(const Cell *cell, int k)
{
    const TalusVec3 lo = pose_of(cell->world, 2 * k).x, hi = pose_of(cell->world, 2 * k + 1).x;
    return talus_dot(talus_sub(hi, lo), axis_vector(k, 1.0)) - 0.01;
}

TEST(six_servos_reach_an_isotropic_stress)
{
    const double stress = 1e5;
    Cell cell = make_cell(stress);
    for (int i = 0; i < 500; i++)
        CHECK_OK(talus_world_step(cell.world, NULL));
    for (int i = 0; i < 6; i++) {
        const double area = width_of(&cell, (i / 2 + 1) % 3) * width_of(&cell, (i / 2 + 2) % 3);
        const TalusVec3 force = talus_world_probe_value(cell.world, cell.probe[i]).force;
        CHECK_NEAR(talus_dot(force, axis_vector(i / 2, i % 2 ? 1.0 : -1.0)) / area / stress, 1.0,
                   0.01);
    }
    talus_world_destroy(cell.world);
}

/* ---- the end ---- */

static void count_messages(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)level;
    *(int *)user += strcmp(id, "step.servo") == 0 && strstr(text, "joint \"plate\"") != NULL;
}

/* A plate that its servo pushes into a sink, another one after it; and one that the caller removes, who knows. */
TEST(a_sink_that_takes_a_wall_ends_its_servo_and_says_so_once)
{
    for (int removed = 0; removed < 2; removed++) {
        int said = 0;
        TalusWorldDef def = joint_def(0.01);
        TalusWorld *world = joint_world(&def);
        talus_world_set_log(world, count_messages, &said);
        TalusBodyId plate[2];
        for (int k = 0; k < 2; k++) {
            const TalusVec3 at = {k, 0.0, 0.05 * k};
            plate[k] = add_body(world, (Body){.shape = box(0.1, 0.1, 0.01), .mass = 1.0, .x = at});
            TalusJointDef servo = servo_of(plate[k], at, down, 1.0);
            servo.name = "plate";
            add_joint(world, servo);
        }
        CHECK_OK(talus_world_add_sink(world, 2, -0.1));
        for (int k = 0; k < 2 && removed; k++)
            CHECK_OK(talus_world_remove_body(world, plate[k]));
        for (int i = 0; i < 200; i++)
            checked_step(world);
        CHECK_INT(talus_world_joint_count(world), 0);
        CHECK_INT(said, !removed);
        talus_world_destroy(world);
    }
}

/* ---- bits ---- */

/* A press with a stress between its plate and the floor, saved in the middle, ends where one without a break ends. */
TEST(threads_and_a_restart_change_no_bits)
{
    TalusWorld *world[3];
    for (int k = 0; k < 3; k++) {
        Press press = make_press(0.5, 0.0, 1 + 2 * (k > 0));
        TalusMotorDef motor = {.kind = TALUS_MOTOR_SERVO,
                               .target = 1e4,
                               .rate = 2e4,
                               .start = 0.01,
                               .max_effort = 40.0,
                               .max_speed = 0.1,
                               .stress = true,
                               .area = 0.05,
                               .between = {{{1}, {2 + GRAINS}}}};
        world[k] = press.world;
        CHECK_OK(talus_world_set_motor(world[k], press.joint, &motor));
        for (int i = 0; i < 60; i++) {
            void *bytes = NULL;
            size_t size;
            CHECK_OK(talus_world_step(world[k], NULL));
            if (k < 2 || i != 20)
                continue;
            CHECK_OK(talus_world_save(world[k], &bytes, &size));
            talus_world_destroy(world[k]);
            CHECK_OK(talus_world_load(bytes, size, 2, NULL, &world[k]));
            talus_free(bytes);
        }
        CHECK(talus_world_hash(world[k]) == talus_world_hash(world[0]));
        CHECK(joint_state(world[k], press.joint).effort > 20.0);
    }
    for (int k = 0; k < 3; k++)
        talus_world_destroy(world[k]);
}

/* A press that is saved in a ramp, in a phase and between them ends where one without a break ends. */
TEST(phases_go_on_after_a_restart)
{
    const TalusServoPhase phases[] = {{TALUS_SERVO_STRESS, 1e4, 0.02, 0.06},
                                      {TALUS_SERVO_VELOCITY, -1e-2, 0.02, 0.08},
                                      {TALUS_SERVO_STRESS, 2e3, 0.03, INFINITY}};
    TalusWorld *world[2];
    for (int k = 0; k < 2; k++) {
        Press press = make_press(0.5, 0.0, 1);
        world[k] = press.world;
        CHECK_OK(talus_world_set_servo_phases(world[k], press.joint, phases, 3));
        for (int i = 1; i <= 60; i++) {
            void *bytes = NULL;
            size_t size;
            CHECK_OK(talus_world_step(world[k], NULL));
            if (k == 0 || (i != 3 && i != 29 && i != 30 && i != 34 && i != 40 && i != 44))
                continue;
            CHECK_OK(talus_world_save(world[k], &bytes, &size));
            talus_world_destroy(world[k]);
            CHECK_OK(talus_world_load(bytes, size, 2, NULL, &world[k]));
            talus_free(bytes);
        }
        CHECK(talus_world_hash(world[k]) == talus_world_hash(world[0]));
        CHECK_NEAR(joint_state(world[k], press.joint).effort,
                   joint_state(world[0], press.joint).effort, 0.0);
    }
    talus_world_destroy(world[0]);
    talus_world_destroy(world[1]);
}

int main(void)
{
    RUN(a_plate_at_rest_presses_with_the_force_whatever_its_mass);
    RUN(a_free_wall_accelerates_up_to_its_speed);
    RUN(a_force_that_grows_or_pulls);
    RUN(the_area_of_a_box_and_a_cylinder);
    RUN(the_area_between_walls_that_move);
    RUN(phases_change_from_force_to_stress_to_velocity_and_back);
    RUN(a_phase_begins_no_earlier_in_a_step_that_is_halved);
    RUN(phases_that_make_no_sense);
    RUN(servos_that_make_no_sense);
    RUN(six_servos_reach_an_isotropic_stress);
    RUN(a_sink_that_takes_a_wall_ends_its_servo_and_says_so_once);
    RUN(threads_and_a_restart_change_no_bits);
    RUN(phases_go_on_after_a_restart);
    return talus_test_result();
}
