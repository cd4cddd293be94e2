/* lab/validate/tops.c - bodies that spin: a free top, an asymmetric one, a heavy top on a ball joint. */
#include "validate.h"

#include <math.h>

/* Returns the angular momentum about the centre of a body with principal inertias `i` in its axes. */
static TalusVec3 get_momentum(const ValidateState *s, TalusVec3 i)
{
    TalusVec3 w = talus_rotate_back(s->orientation, s->spin);
    return talus_rotate(s->orientation, talus_vec3(i.x * w.x, i.y * w.y, i.z * w.z));
}

/* ---- free top ---- */

static const double disc_radius = 0.2, disc_half = 0.05, disc_spin = 20.0, disc_wobble = 5.0;
static const double free_time = 1.0;

/* Returns the inertia of a cylinder of 1 kg about its axis (z) and across. */
static TalusVec3 get_cylinder_inertia(double radius, double half_height)
{
    double across = 0.25 * radius * radius + half_height * half_height / 3.0;
    return talus_vec3(across, across, 0.5 * radius * radius);
}

/* The axis turns about the angular momentum L at |L|/I_1. */
static void expect_free(double h, ValidateQuantity *q)
{
    TalusVec3 i = get_cylinder_inertia(disc_radius, disc_half);
    double momentum = hypot(i.x * disc_wobble, i.z * disc_spin), rate = momentum / i.x;
    double energy = 0.5 * (i.x * disc_wobble * disc_wobble + i.z * disc_spin * disc_spin);
    double share = rate * h * rate * h;
    q[0] = (ValidateQuantity){.name = "precession in 1 s",
                              .unit = "rad",
                              .expected = rate * free_time,
                              .bound = share * rate * free_time,
                              .order = 2};
    q[1] = (ValidateQuantity){.name = "angular momentum",
                              .unit = "N m s",
                              .expected = momentum,
                              .bound = 1e-12 * momentum};
    q[2] = (ValidateQuantity){
        .name = "energy", .unit = "J", .expected = energy, .bound = share * energy, .order = 2};
}

/* Returns the angle from a to b about the axis l. */
static double get_angle_about(TalusVec3 l, TalusVec3 a, TalusVec3 b)
{
    TalusVec3 n = talus_scale(1.0 / talus_norm(l), l);
    TalusVec3 p = talus_madd(a, -talus_dot(a, n), n), q = talus_madd(b, -talus_dot(b, n), n);
    return atan2(talus_dot(n, talus_cross(p, q)), talus_dot(p, q));
}

static TalusStatus measure_free(const ValidateSetup *setup, double *found)
{
    TalusWorld *world = NULL;
    TalusVec3 i = get_cylinder_inertia(disc_radius, disc_half), axis = {0.0, 0.0, 1.0}, z = axis;
    TalusVec3 start = {i.x * disc_wobble, 0.0, i.z * disc_spin}, end = start;
    ValidateBody disc = {.shape = validate_cylinder(disc_radius, disc_half),
                         .mass = 1.0,
                         .spin = {disc_wobble, 0.0, disc_spin}};
    ValidateState s = {0};
    TalusStatus status = validate_create_weightless(setup, &world);
    TALUS_THEN(status, validate_add_body(world, &disc, NULL));
    found[0] = 0.0;
    for (int64_t n = cli_steps_until(free_time, setup->step); status == TALUS_OK && n > 0; n--) {
        status = validate_step(world);
        s = validate_read(world, 0);
        TalusVec3 now = talus_rotate(s.orientation, z);
        found[0] += get_angle_about(start, axis, now);
        axis = now;
    }
    end = get_momentum(&s, i);
    found[1] = talus_norm(start) + talus_norm(talus_sub(end, start));
    found[2] = 0.5 * talus_dot(s.spin, end);
    talus_world_destroy(world);
    return status;
}

/* ---- asymmetric top ---- */

static const TalusVec3 brick = {0.3, 0.2, 0.1}; /* half extents, m */
static const TalusVec3 brick_spin = {0.1, 10.0, 0.0};

/* Returns the inertia of the brick, of 1 kg, in its axes. */
static TalusVec3 get_brick_inertia(void)
{
    double x = brick.x * brick.x / 3.0, y = brick.y * brick.y / 3.0, z = brick.z * brick.z / 3.0;
    return talus_vec3(y + z, x + z, x + y);
}

/* The spin about the middle axis changes sign after 2 K(m)/rate (Landau and Lifshitz, Mechanics, section 37). */
static void expect_asymmetric(double h, ValidateQuantity *q)
{
    TalusVec3 i = get_brick_inertia(), w = brick_spin;
    double l2 = i.x * i.x * w.x * w.x + i.y * i.y * w.y * w.y;
    double e2 = i.x * w.x * w.x + i.y * w.y * w.y; /* twice the energy */
    double m = (i.y - i.x) * (e2 * i.z - l2) / ((i.z - i.y) * (l2 - e2 * i.x));
    double rate = sqrt((i.z - i.y) * (l2 - e2 * i.x) / (i.x * i.y * i.z));
    double share = 10.0 * w.y * h * w.y * h;
    if (m > 1.0) { /* turns about axis 1 in the mean: the roles of 1 and 3 change */
        rate *= sqrt(m);
        m = 1.0 / m;
    }
    double flip = 2.0 * validate_elliptic_k(m) / rate;
    q[0] = (ValidateQuantity){.name = "time between flips",
                              .unit = "s",
                              .expected = flip,
                              .bound = share * flip,
                              .order = 2};
}

static TalusStatus measure_asymmetric(const ValidateSetup *setup, double *found)
{
    TalusWorld *world = NULL;
    ValidateBody body = {
        .shape = validate_box(brick.x, brick.y, brick.z), .mass = 1.0, .spin = brick_spin};
    double before, now = brick_spin.y, flip[2] = {0.0, 0.0};
    TalusStatus status = validate_create_weightless(setup, &world);
    TALUS_THEN(status, validate_add_body(world, &body, NULL));
    for (int n = 0; status == TALUS_OK && n < 2 && talus_world_time(world) < 20.0;) {
        status = validate_step(world);
        ValidateState s = validate_read(world, 0);
        before = now;
        now = talus_rotate_back(s.orientation, s.spin).y;
        if (before * now < 0.0)
            flip[n++] = talus_world_time(world) - setup->step * now / (now - before);
    }
    found[0] = flip[1] - flip[0];
    talus_world_destroy(world);
    return status;
}

/* ---- heavy top ---- */

static const double top_radius = 0.1, top_half = 0.02, top_arm = 0.1, top_spin = 150.0,
                    top_tilt = 0.5, top_time = 0.3;

/* Returns the slow steady precession: I_3 spin W - I_1 W^2 cos(tilt) = m g l, with I_1 about the support. */
static double get_precession(void)
{
    TalusVec3 i = get_cylinder_inertia(top_radius, top_half);
    double across = i.x + top_arm * top_arm, p = i.z * top_spin, q = across * cos(top_tilt);
    double moment = validate_gravity * top_arm;
    return 2.0 * moment / (p + sqrt(p * p - 4.0 * q * moment));
}

static void expect_heavy(double h, ValidateQuantity *q)
{
    double angle = get_precession() * top_time;
    q[0] = (ValidateQuantity){.name = "precession in 0.3 s",
                              .unit = "rad",
                              .expected = angle,
                              .bound = 4.0 * h * angle,
                              .order = 1};
    q[1] = (ValidateQuantity){
        .name = "tilt", .unit = "rad", .expected = top_tilt, .bound = 2.0 * h, .order = 1};
}

static TalusStatus measure_heavy(const ValidateSetup *setup, double *found)
{
    TalusWorld *world = NULL;
    TalusVec3 axis = {sin(top_tilt), 0.0, cos(top_tilt)}, up = {0.0, 0.0, 1.0};
    double precession = get_precession();
    ValidateBody top = {.shape = validate_cylinder(top_radius, top_half),
                        .mass = 1.0,
                        .position = talus_scale(top_arm, axis),
                        .orientation = validate_turn_about_y(top_tilt)};
    top.spin = talus_madd(talus_scale(top_spin - precession * axis.z, axis), precession, up);
    top.velocity = talus_cross(top.spin, top.position);
    TalusJointDef joint = talus_joint_def_default();
    joint.kind = TALUS_JOINT_BALL;
    TalusStatus status = validate_create(setup, 0.0, 0.0, &world);
    TALUS_THEN(status, validate_add_body(world, &top, &joint.a));
    TALUS_THEN(status, talus_world_add_joint(world, &joint, NULL));
    TALUS_THEN(status, validate_advance(world, top_time));
    if (status == TALUS_OK) {
        TalusVec3 x = validate_read(world, 0).position;
        found[0] = atan2(x.y, x.x);
        found[1] = acos(x.z / top_arm);
    }
    talus_world_destroy(world);
    return status;
}

const ValidateCase validate_tops[] = {
    {.name = "free-top",
     .shows =
         "the axis of a spinning disc without torque turns about the angular momentum at |L|/I_1; "
         "momentum and energy stay",
     .source = "Euler's equations; Landau and Lifshitz, Mechanics, section 33",
     .reason = "momentum is kept to rounding (its error as a vector is added); the rotation is of "
               "second order, (rate h)^2 of precession and energy",
     .step = 0.001,
     .without_contact = true,
     .quantities = 3,
     .expect = expect_free,
     .measure = measure_free},
    {.name = "asymmetric-top",
     .shows = "a brick that spins about its middle axis flips periodically",
     .source = "Landau and Lifshitz, Mechanics, section 37: elliptic functions",
     .reason = "second order: (spin h)^2, times 10 because the motion stays near its unstable axis",
     .step = 0.002,
     .without_contact = true,
     .quantities = 1,
     .expect = expect_asymmetric,
     .measure = measure_asymmetric},
    {.name = "heavy-top",
     .shows = "a fast top on a ball joint precesses steadily",
     .source = "textbook: I_3 spin W - I_1 W^2 cos(tilt) = m g l",
     .reason =
         "first order: it starts as if its velocities were those of half a step earlier; the size, "
         "4 h/s of the angle, was known from tests/test_joints_motion.c (2.4 h/s)",
     .step = 0.0005,
     .without_contact = true,
     .quantities = 2,
     .expect = expect_heavy,
     .measure = measure_heavy}};
const int validate_tops_count = LAB_COUNT(validate_tops);
