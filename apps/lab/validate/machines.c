/* lab/validate/machines.c - bodies on joints: a pendulum, a slider-crank, a hanging and a swinging chain. */
#include "validate.h"

#include <math.h>

/* Adds a joint of bodies a and b (0: the world) at a point, about -y if it has an axis. */
static TalusStatus add_joint(TalusWorld *world, TalusJointKind kind, TalusBodyId a, TalusBodyId b,
                             TalusVec3 point, TalusJointId *id)
{
    TalusJointDef def = talus_joint_def_default();
    def.kind = kind;
    def.a = a;
    def.b = b;
    def.point = point;
    def.axis = talus_vec3(0.0, -1.0, 0.0);
    return talus_world_add_joint(world, &def, id);
}

static const TalusBodyId ground = {0};

/* ---- pendulum ---- */

static const double amplitude[] = {0.05, 2.5}; /* rad */
static const double bob_radius = 0.1;          /* m; the pendulum has 1 m */

/* From one passage of the lowest point to the next: 2 K(sin^2(amplitude/2))/w. */
static void expect_pendulum(double h, ValidateQuantity *q)
{
    static const char *const names[] = {"half period, 0.05 rad", "half period, 2.5 rad"};
    double w = sqrt(validate_gravity / (1.0 + 0.4 * bob_radius * bob_radius));
    for (int i = 0; i < LAB_COUNT(amplitude); i++) {
        double s = sin(0.5 * amplitude[i]), time = 2.0 * validate_elliptic_k(s * s) / w;
        q[i] = (ValidateQuantity){.name = names[i],
                                  .unit = "s",
                                  .expected = time,
                                  .bound = 0.25 * w * h * w * h * time,
                                  .order = 2};
    }
}

/* Makes steps until the pendulum has passed its lowest point twice; writes the time between. */
static TalusStatus time_passages(TalusWorld *world, TalusJointId hinge, double angle, double *out)
{
    double before, now = angle, passed[2] = {0.0, 0.0}, h = talus_world_step_length(world);
    for (int n = 0; n < 2 && talus_world_time(world) < 10.0;) {
        TalusJointState state;
        TALUS_TRY(validate_step(world));
        TALUS_TRY(talus_world_get_joint(world, hinge, &state));
        before = now;
        now = angle + state.coordinate;
        if (before * now <= 0.0)
            passed[n++] = talus_world_time(world) - h * (now / (now - before));
    }
    *out = passed[1] - passed[0];
    return TALUS_OK;
}

static TalusStatus swing(const ValidateSetup *setup, double angle, double *out)
{
    TalusWorld *world = NULL;
    TalusBodyId bob = {0};
    TalusJointId hinge = {0};
    ValidateBody body = {.shape = validate_sphere(bob_radius),
                         .mass = 1.0,
                         .position = {sin(angle), 0.0, -cos(angle)}};
    TalusStatus status = validate_create(setup, 0.0, 0.0, &world);
    TALUS_THEN(status, validate_add_body(world, &body, &bob));
    TALUS_THEN(status, add_joint(world, TALUS_JOINT_REVOLUTE, bob, ground,
                                 talus_vec3(0.0, 0.0, 0.0), &hinge));
    TALUS_THEN(status, time_passages(world, hinge, angle, out));
    talus_world_destroy(world);
    return status;
}

static TalusStatus measure_pendulum(const ValidateSetup *setup, double *found)
{
    for (int i = 0; i < LAB_COUNT(amplitude); i++)
        TALUS_TRY(swing(setup, amplitude[i], &found[i]));
    return TALUS_OK;
}

/* ---- slider-crank ---- */

/* Lengths of crank and rod, m, which have 1 kg/m; mass of the slider, kg; speed of the crank, rad/s. */
static const double crank = 0.2, rod = 0.5, slider_mass = 0.7, crank_speed = 8.0;
static const double bar_radius = 0.02;

/* Returns the inertia of a bar across its axis, about its middle. */
static double get_bar_inertia(double length)
{
    return length * (0.25 * bar_radius * bar_radius + length * length / 12.0);
}

/* Returns the travel of the slider from where it is farthest. */
static double get_travel(double angle)
{
    double sine = crank / rod * sin(angle);
    return crank * cos(angle) + rod * sqrt(1.0 - sine * sine) - crank - rod;
}

/* Returns kinetic and potential energy when the crank turns at its speed; the rod's far end stays at z = 0. */
static double get_slider_energy(double angle)
{
    double lean = asin(crank / rod * sin(angle));
    double lean_rate = crank / rod * cos(angle) / cos(lean) * crank_speed;
    double pin_x = -crank * sin(angle) * crank_speed, pin_z = crank * cos(angle) * crank_speed;
    double slider_x = pin_x - rod * sin(lean) * lean_rate;
    double middle_x = 0.5 * (pin_x + slider_x), middle_z = 0.5 * pin_z;
    double crank_inertia = get_bar_inertia(crank) + 0.25 * crank * crank * crank;
    double kinetic = 0.5 * crank_inertia * crank_speed * crank_speed +
                     0.5 * rod * (middle_x * middle_x + middle_z * middle_z) +
                     0.5 * get_bar_inertia(rod) * lean_rate * lean_rate +
                     0.5 * slider_mass * slider_x * slider_x;
    return kinetic + validate_gravity * 0.5 * (crank + rod) * crank * sin(angle);
}

/* Returns the torque that keeps the crank's speed, dE/d(angle). */
static double get_torque(double angle)
{
    const double d = 1e-5;
    return (get_slider_energy(angle + d) - get_slider_energy(angle - d)) / (2.0 * d);
}

static void expect_slider(double h, ValidateQuantity *q)
{
    q[0] = (ValidateQuantity){
        .name = "largest error of the slider's travel", .unit = "m", .bound = 1e-9};
    q[1] = (ValidateQuantity){
        .name = "largest error of the torque", .unit = "N m", .bound = 25.0 * h, .order = 1};
}

/* Adds a bar of 1 kg/m along x, from `start`. */
static TalusStatus add_bar(TalusWorld *world, double start, double length, TalusBodyId *id)
{
    ValidateBody bar = {.shape = validate_cylinder(bar_radius, 0.5 * length),
                        .mass = length,
                        .position = {start + 0.5 * length, 0.0, 0.0},
                        .orientation = validate_turn_about_y(1.57079632679489662)};
    return validate_add_body(world, &bar, id);
}

/* Builds crank, rod and slider along x; joint[0] drives the crank, joint[1] guides the slider. */
static TalusStatus build_slider(TalusWorld *world, TalusJointId joint[2])
{
    TalusBodyId a, b, c;
    TalusVec3 origin = {0.0, 0.0, 0.0}, pin = {crank, 0.0, 0.0}, end = {crank + rod, 0.0, 0.0};
    ValidateBody slider = {
        .shape = validate_box(0.05, 0.05, 0.05), .mass = slider_mass, .position = end};
    TalusMotorDef motor = {
        .kind = TALUS_MOTOR_SPEED, .target = crank_speed, .max_effort = INFINITY};
    TalusJointDef guide = talus_joint_def_default();
    TALUS_TRY(add_bar(world, 0.0, crank, &a));
    TALUS_TRY(add_bar(world, crank, rod, &b));
    TALUS_TRY(validate_add_body(world, &slider, &c));
    TALUS_TRY(add_joint(world, TALUS_JOINT_REVOLUTE, a, ground, origin, &joint[0]));
    TALUS_TRY(talus_world_set_motor(world, joint[0], &motor));
    TALUS_TRY(add_joint(world, TALUS_JOINT_REVOLUTE, b, a, pin, NULL));
    TALUS_TRY(add_joint(world, TALUS_JOINT_REVOLUTE, b, c, end, NULL));
    guide.kind = TALUS_JOINT_PRISMATIC;
    guide.a = c;
    guide.point = end;
    guide.axis = talus_vec3(1.0, 0.0, 0.0);
    return talus_world_add_joint(world, &guide, &joint[1]);
}

/* Writes the largest errors of travel and torque over a turn; the first steps bring the crank to its speed. */
static TalusStatus turn_crank(TalusWorld *world, const TalusJointId joint[2], double *found)
{
    found[0] = found[1] = 0.0;
    double before = 0.0;
    for (int i = 0; talus_world_time(world) < 0.8; i++) {
        TalusJointState drive, guide;
        TALUS_TRY(validate_step(world));
        TALUS_TRY(talus_world_get_joint(world, joint[0], &drive));
        TALUS_TRY(talus_world_get_joint(world, joint[1], &guide));
        found[0] = fmax(found[0], fabs(get_travel(drive.coordinate) - guide.coordinate));
        if (i > 2)
            found[1] = fmax(found[1], fabs(drive.effort - get_torque(before)));
        before = drive.coordinate;
    }
    return TALUS_OK;
}

static TalusStatus measure_slider(const ValidateSetup *setup, double *found)
{
    TalusWorld *world = NULL;
    TalusJointId joint[2];
    TalusStatus status = validate_create(setup, 0.0, 0.0, &world);
    TALUS_THEN(status, build_slider(world, joint));
    TALUS_THEN(status, turn_crank(world, joint, found));
    talus_world_destroy(world);
    return status;
}

/* ---- chain ---- */

enum { LINKS = 20 };

static const double link_mass = 0.1, link_radius = 0.05, swing_time = 0.5;

static void expect_chain(double h, ValidateQuantity *q)
{
    double weight = LINKS * link_mass * validate_gravity, length = 2.0 * LINKS * link_radius;
    q[0] = (ValidateQuantity){
        .name = "force at the top", .unit = "N", .expected = weight, .bound = 1e-6 * weight};
    q[1] = (ValidateQuantity){.name = "largest drift of energy",
                              .unit = "J",
                              .bound = sqrt(2.0 * validate_gravity * length) * h * weight,
                              .order = 1};
}

/* Builds a chain of balls on ball joints from the origin along `along`; `top` is its first joint. */
static TalusStatus build_chain(TalusWorld *world, TalusVec3 along, TalusJointId *top)
{
    TalusBodyId last = ground, id;
    for (int i = 0; i < LINKS; i++) {
        ValidateBody link = {.shape = validate_sphere(link_radius),
                             .mass = link_mass,
                             .position = talus_scale((2 * i + 1) * link_radius, along)};
        TALUS_TRY(validate_add_body(world, &link, &id));
        TALUS_TRY(add_joint(world, TALUS_JOINT_BALL, id, last,
                            talus_scale(2 * i * link_radius, along), i ? NULL : top));
        last = id;
    }
    return TALUS_OK;
}

/* Returns kinetic and potential energy of the balls under gravity g. */
static double get_chain_energy(const TalusWorld *world, double g)
{
    double energy = 0.0;
    for (int i = 0; i < LINKS; i++) {
        ValidateState s = validate_read(world, i);
        energy += 0.5 * link_mass * talus_dot(s.velocity, s.velocity) +
                  0.2 * link_mass * link_radius * link_radius * talus_dot(s.spin, s.spin) +
                  link_mass * g * s.position.z;
    }
    return energy;
}

static TalusStatus hang_chain(const ValidateSetup *setup, double *force)
{
    TalusWorld *world = NULL;
    TalusJointId top = {0};
    TalusJointState state = {0};
    TalusStatus status = validate_create(setup, 0.0, 0.0, &world);
    TALUS_THEN(status, build_chain(world, talus_vec3(0.0, 0.0, -1.0), &top));
    TALUS_THEN(status, validate_advance(world, 0.05));
    TALUS_THEN(status, talus_world_get_joint(world, top, &state));
    *force = state.force.z;
    talus_world_destroy(world);
    return status;
}

static TalusStatus swing_chain(const ValidateSetup *setup, double *drift)
{
    TalusWorld *world = NULL;
    double g = setup->gravity * validate_gravity;
    TalusStatus status = validate_create(setup, 0.0, 0.0, &world);
    TALUS_THEN(status, build_chain(world, talus_vec3(1.0, 0.0, 0.0), NULL));
    *drift = 0.0;
    for (int64_t n = cli_steps_until(swing_time, setup->step); status == TALUS_OK && n > 0; n--) {
        status = validate_step(world);
        if (status == TALUS_OK)
            *drift = fmax(*drift, fabs(get_chain_energy(world, g)));
    }
    talus_world_destroy(world);
    return status;
}

static TalusStatus measure_chain(const ValidateSetup *setup, double *found)
{
    TALUS_TRY(hang_chain(setup, &found[0]));
    return swing_chain(setup, &found[1]);
}

const ValidateCase validate_machines[] = {
    {.name = "pendulum",
     .shows = "a pendulum passes its lowest point every 2 K(sin^2(amplitude/2)) sqrt(I/(m g l))",
     .source = "textbook: complete elliptic integral",
     .reason = "the leapfrog's second order, (w h)^2/24 for small amplitudes; (w h)^2/4 allowed",
     .step = 0.004,
     .without_contact = true,
     .quantities = 2,
     .expect = expect_pendulum,
     .measure = measure_pendulum},
    {.name = "slider-crank",
     .shows = "crank, rod and slider keep their geometry, and the motor's torque is dE/d(angle)",
     .source = "textbook: kinematics and inverse dynamics of the slider-crank",
     .reason =
         "travel: joints are closed after each step; torque: first order, whose size, 25 N m/s "
         "times h at 2.5 N m, was known from tests/test_joints_motion.c",
     .step = 0.002,
     .without_contact = true,
     .quantities = 2,
     .expect = expect_slider,
     .measure = measure_slider},
    {.name = "chain",
     .shows =
         "a hanging chain of 20 links bears its weight; let go from the horizontal it keeps its "
         "energy",
     .source = "textbook: balance of forces and of energy",
     .reason = "force: the tolerance of the solves; energy: the first-order scheme is off by its "
               "weight times one step's travel at sqrt(2 g L)",
     .step = 0.002,
     .without_contact = true,
     .quantities = 2,
     .expect = expect_chain,
     .measure = measure_chain}};
const int validate_machines_count = LAB_COUNT(validate_machines);
