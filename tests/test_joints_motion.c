/* Joints against closed forms of mechanics: pendulum, top, linkages, motors, chains. */
#include "joint_world.h"

/* ---- pendulum ---- */

/* The time from one passage of the lowest point to the next, having begun at rest at `angle`. */
static double half_period(double h, double angle)
{
    TalusWorldDef def = joint_def(h);
    TalusWorld *world = joint_world(&def);
    Body bob = {.shape = ball(0.1), .mass = 1.0, .x = {sin(angle), 0.0, -cos(angle)}};
    TalusBodyId a = add_body(world, bob);
    TalusVec3 origin = {0.0, 0.0, 0.0}, y = {0.0, -1.0, 0.0};
    TalusJointId id = add_joint(world, joint_of(TALUS_JOINT_REVOLUTE, a, the_world, origin, y));
    double before, now = angle, passed[2] = {0.0, 0.0};
    for (int n = 0; n < 2 && talus_world_time(world) < 10.0;) {
        checked_step(world);
        before = now;
        now = angle + joint_state(world, id).coordinate;
        if (before * now <= 0.0)
            passed[n++] = talus_world_time(world) - h * (now / (now - before));
    }
    talus_world_destroy(world);
    return passed[1] - passed[0];
}

TEST(the_period_of_a_pendulum)
{
    const double amplitude[] = {0.05, 2.5};
    double inertia = 1.0 + 0.4 * 0.01, w = sqrt(gravity / inertia);
    for (int i = 0; i < 2; i++) {
        double s = sin(0.5 * amplitude[i]), exact = 2.0 * elliptic_k(s * s) / w;
        double coarse = half_period(0.004, amplitude[i]) / exact - 1.0;
        double fine = half_period(0.002, amplitude[i]) / exact - 1.0;
        CHECK_NEAR(coarse, 0.0, 3e-5);
        CHECK_NEAR(coarse / fine, 4.0, 0.1); /* second order */
    }
}

/* ---- top ---- */

static void top(double h, double time, double *azimuth, double *tilt, double *expected)
{
    TalusWorldDef def = joint_def(h);
    TalusWorld *world = joint_world(&def);
    double m = 1.0, r = 0.1, half = 0.02, l = 0.1, angle = 0.5;
    double i3 = 0.5 * m * r * r, i1 = m * (r * r / 4.0 + half * half / 3.0) + m * l * l;
    double spin = 150.0; /* along its axis */
    /* steady precession: i3 spin W - i1 W^2 cos = m g l, slow root */
    double c = cos(angle), p = i3 * spin, q = i1 * c;
    double precession = 2.0 * m * gravity * l / (p + sqrt(p * p - 4.0 * q * m * gravity * l));
    TalusVec3 axis = {sin(angle), 0.0, c};
    TalusQuat e = {cos(0.5 * angle), 0.0, sin(0.5 * angle), 0.0};
    TalusVec3 w =
        talus_madd(talus_scale(spin - precession * c, axis), precession, talus_vec3(0.0, 0.0, 1.0));
    TalusVec3 x = talus_scale(l, axis);
    Body body = {.shape = rod(r, half), .mass = m, .x = x, .e = e, .w = w, .v = talus_cross(w, x)};
    TalusBodyId a = add_body(world, body);
    add_joint(world, joint_of(TALUS_JOINT_BALL, a, the_world, talus_vec3(0.0, 0.0, 0.0), axis));
    int steps = (int)(time / h + 0.5);
    for (int i = 0; i < steps; i++)
        checked_step(world);
    Pose pose = pose_of(world, 0);
    *azimuth = atan2(pose.x.y, pose.x.x);
    *tilt = acos(pose.x.z / l);
    *expected = precession * time;
    talus_world_destroy(world);
}

TEST(the_precession_of_a_top)
{
    double azimuth[2], tilt[2], expected;
    top(0.0005, 0.3, &azimuth[0], &tilt[0], &expected);
    top(0.00025, 0.3, &azimuth[1], &tilt[1], &expected);
    CHECK_NEAR(azimuth[1], expected, 6e-4 * expected);
    CHECK_NEAR(tilt[1], 0.5, 2e-4);
    /* it starts as if its velocities were those of half a step earlier: of first order */
    CHECK_NEAR((azimuth[0] - expected) / (azimuth[1] - expected), 2.0, 0.1);
    CHECK_NEAR(2.0 * azimuth[1] - azimuth[0], expected, 4e-5 * expected);
}

/* ---- asymmetric top ---- */

TEST(the_flip_of_an_asymmetric_top)
{
    TalusWorldDef def = joint_def(0.002);
    def.gravity = talus_vec3(0.0, 0.0, 0.0);
    def.reference_speed = 1.0;
    TalusWorld *world = joint_world(&def);
    double x = 0.3, y = 0.2, z = 0.1, m = 1.0;
    double i1 = m / 3.0 * (y * y + z * z), i2 = m / 3.0 * (x * x + z * z),
           i3 = m / 3.0 * (x * x + y * y);
    TalusVec3 w = {0.1, 10.0, 0.0};
    add_body(world, (Body){.shape = box(x, y, z), .mass = m, .w = w});
    double l2 = i1 * i1 * w.x * w.x + i2 * i2 * w.y * w.y;
    double e2 = i1 * w.x * w.x + i2 * w.y * w.y; /* twice the energy */
    double parameter = (i2 - i1) * (e2 * i3 - l2) / ((i3 - i2) * (l2 - e2 * i1));
    double rate = sqrt((i3 - i2) * (l2 - e2 * i1) / (i1 * i2 * i3));
    if (parameter > 1.0) { /* turns about axis 1 in the mean: the roles of 1 and 3 change */
        rate *= sqrt(parameter);
        parameter = 1.0 / parameter;
    }
    double flip = 2.0 * elliptic_k(parameter) / rate;
    double before = 10.0, now = 10.0, last = 0.0, period = 0.0;
    int crossings = 0;
    while (crossings < 2 && talus_world_time(world) < 20.0) {
        checked_step(world);
        Pose pose = pose_of(world, 0);
        before = now;
        now = talus_rotate_back(pose.e, pose.w).y;
        if (before * now >= 0.0)
            continue;
        double time = talus_world_time(world) - 0.002 * now / (now - before);
        period = time - last;
        last = time;
        crossings++;
    }
    CHECK_NEAR(period / flip, 1.0, 1e-3);
    talus_world_destroy(world);
}

/* ---- linkages ---- */

/* A bar in the plane y = 0 from p to q, mass 1 per metre. */
static TalusBodyId add_bar(TalusWorld *world, TalusVec3 p, TalusVec3 q)
{
    TalusVec3 d = talus_sub(q, p);
    double length = talus_norm(d), angle = atan2(d.x, d.z);
    Body bar = {.shape = rod(0.02, 0.5 * length),
                .mass = length,
                .x = talus_scale(0.5, talus_add(p, q)),
                .e = {cos(0.5 * angle), 0.0, sin(0.5 * angle), 0.0}};
    return add_body(world, bar);
}

static TalusJointDef hinge(TalusBodyId a, TalusBodyId b, TalusVec3 point)
{
    return joint_of(TALUS_JOINT_REVOLUTE, a, b, point, talus_vec3(0.0, -1.0, 0.0));
}

/* Crank 0.3, coupler 0.9, rocker 0.6, ground 0.8: Grashof's crank-rocker, all hinges closing a loop in space,
 * with three rows more than the plane needs. The rocker's angle is that of the triangle of circles. */
TEST(a_four_bar_linkage)
{
    TalusWorldDef def = joint_def(0.002);
    TalusWorld *world = joint_world(&def);
    double crank = 0.3, coupler = 0.9, rocker = 0.6, ground = 0.8, speed = 5.0;
    TalusVec3 o = {0.0, 0.0, 0.0}, e = {ground, 0.0, 0.0}, p = {crank, 0.0, 0.0};
    double d = ground - crank, c = (d * d + coupler * coupler - rocker * rocker) / (2.0 * d);
    TalusVec3 q = {crank + c, 0.0, sqrt(coupler * coupler - c * c)};
    TalusBodyId bar[3] = {add_bar(world, o, p), add_bar(world, p, q), add_bar(world, e, q)};
    TalusJointDef drive = hinge(bar[0], the_world, o);
    drive.motor =
        (TalusMotorDef){.kind = TALUS_MOTOR_SPEED, .target = speed, .max_effort = INFINITY};
    TalusJointId turned = add_joint(world, drive), last = {0};
    add_joint(world, hinge(bar[1], bar[0], p));
    add_joint(world, hinge(bar[2], bar[1], q));
    last = add_joint(world, hinge(bar[2], the_world, e));
    double start = atan2(q.z, q.x - ground), worst = 0.0, angle = 0.0;
    for (int i = 0; i < 700; i++) {
        checked_step(world);
        angle = joint_state(world, turned).coordinate;
        double x = ground - crank * cos(angle), z = -crank * sin(angle), r = sqrt(x * x + z * z);
        double opening = acos((r * r + rocker * rocker - coupler * coupler) / (2.0 * r * rocker));
        double expected = atan2(-z, -x) - opening;
        double error = expected - start - joint_state(world, last).coordinate;
        worst = fmax(worst, fabs(error - 2.0 * pi * floor(error / (2.0 * pi) + 0.5)));
        CHECK(joint_state(world, last).error < 1e-7 && joint_state(world, turned).error < 1e-7);
    }
    CHECK_NEAR(angle, 7.0, 2e-3); /* more than a turn */
    CHECK_NEAR(worst, 0.0, 1e-7);
    talus_world_destroy(world);
}

/* ---- slider-crank ---- */

typedef struct Slider {
    double crank, rod, mass; /* mass of the slider; bars have 1 kg/m */
    double speed;
} Slider;

static double bar_inertia(double length)
{
    return length * (0.02 * 0.02 / 4.0 + length * length / 12.0);
}

/* Kinetic and potential energy at a crank angle, turning at the given speed. */
static double slider_energy(const Slider *s, double angle)
{
    double sine = s->crank / s->rod * sin(angle), lean = asin(sine);
    double lean_rate = s->crank / s->rod * cos(angle) / cos(lean) * s->speed;
    double x = -s->crank * sin(angle) * s->speed - s->rod * sin(lean) * lean_rate;
    double px = -s->crank * sin(angle) * s->speed, pz = s->crank * cos(angle) * s->speed;
    double mx = 0.5 * (px + x), mz = 0.5 * pz; /* middle of the rod: its far end stays at z = 0 */
    double z = 0.5 * s->crank * sin(angle);
    double crank_i = bar_inertia(s->crank) + s->crank * 0.25 * s->crank * s->crank;
    double kinetic = 0.5 * crank_i * s->speed * s->speed + 0.5 * s->rod * (mx * mx + mz * mz) +
                     0.5 * bar_inertia(s->rod) * lean_rate * lean_rate + 0.5 * s->mass * x * x;
    return kinetic + gravity * (s->crank * z + s->rod * z);
}

/* Inverse dynamics at constant speed: the torque is dE/d(angle). */
static double slider_torque(const Slider *s, double angle)
{
    double d = 1e-5;
    return (slider_energy(s, angle + d) - slider_energy(s, angle - d)) / (2.0 * d);
}

/* Worst differences of slider position and motor torque over a turn. */
static void slider_errors(double h, double *place, double *torque)
{
    Slider s = {0.2, 0.5, 0.7, 8.0};
    TalusWorldDef def = joint_def(h);
    TalusWorld *world = joint_world(&def);
    TalusVec3 o = {0.0, 0.0, 0.0}, p = {s.crank, 0.0, 0.0}, q = {s.crank + s.rod, 0.0, 0.0};
    TalusBodyId crank = add_bar(world, o, p), bar = add_bar(world, p, q);
    TalusBodyId slider =
        add_body(world, (Body){.shape = box(0.05, 0.05, 0.05), .mass = s.mass, .x = q});
    TalusJointDef drive = hinge(crank, the_world, o);
    drive.motor =
        (TalusMotorDef){.kind = TALUS_MOTOR_SPEED, .target = s.speed, .max_effort = INFINITY};
    TalusJointId turned = add_joint(world, drive);
    add_joint(world, hinge(bar, crank, p));
    add_joint(world, hinge(bar, slider, q));
    TalusJointId slide = add_joint(
        world, joint_of(TALUS_JOINT_PRISMATIC, slider, the_world, q, talus_vec3(1.0, 0.0, 0.0)));
    *place = *torque = 0.0;
    for (int i = 0; talus_world_time(world) < 0.8; i++) {
        double before = joint_state(world, turned).coordinate;
        checked_step(world);
        TalusJointState now = joint_state(world, turned);
        double angle = now.coordinate, sine = s.crank / s.rod * sin(angle);
        double x = s.crank * cos(angle) + s.rod * sqrt(1.0 - sine * sine) - s.crank - s.rod;
        *place = fmax(*place, fabs(x - joint_state(world, slide).coordinate));
        if (i > 2) /* the first steps bring it to speed */
            *torque = fmax(*torque, fabs(now.effort - slider_torque(&s, before)));
    }
    talus_world_destroy(world);
}

TEST(a_slider_crank_and_the_torque_of_its_motor)
{
    double place[2], torque[2];
    slider_errors(0.002, &place[0], &torque[0]);
    slider_errors(0.001, &place[1], &torque[1]);
    CHECK(place[0] < 1e-9 && place[1] < 1e-9);
    CHECK_NEAR(torque[1], 0.0, 0.01 * 2.5); /* of at most 2.5 N m; of first order */
    CHECK_NEAR(torque[0] / torque[1], 2.0, 0.1);
}

/* ---- Cardan joint ---- */

/* Two shafts at an angle b; the driving fork begins normal to their plane: tan out = cos b tan in. */
TEST(a_universal_joint_between_shafts)
{
    TalusWorldDef def = joint_def(0.001);
    TalusWorld *world = joint_world(&def);
    double b = 0.6;
    TalusVec3 in = {1.0, 0.0, 0.0}, out = {cos(b), 0.0, sin(b)}, y = {0.0, 1.0, 0.0},
              o = {0.0, 0.0, 0.0};
    TalusQuat first = {sqrt(0.5), 0.0, sqrt(0.5), 0.0};
    double half = 0.5 * (0.5 * pi - b);
    TalusQuat second = {cos(half), 0.0, sin(half), 0.0};
    TalusBodyId shaft[2] = {
        add_body(world,
                 (Body){.shape = rod(0.1, 0.5), .mass = 2.0, .x = {-0.5, 0.0, 0.0}, .e = first}),
        add_body(
            world,
            (Body){.shape = rod(0.1, 0.5), .mass = 2.0, .x = talus_scale(0.5, out), .e = second})};
    TalusJointDef drive =
        joint_of(TALUS_JOINT_REVOLUTE, shaft[0], the_world, talus_vec3(-0.5, 0.0, 0.0), in);
    drive.motor = (TalusMotorDef){.kind = TALUS_MOTOR_SPEED, .target = 6.0, .max_effort = INFINITY};
    TalusJointId a = add_joint(world, drive);
    TalusJointId c = add_joint(
        world, joint_of(TALUS_JOINT_REVOLUTE, shaft[1], the_world, talus_scale(0.5, out), out));
    TalusJointDef cardan = joint_of(TALUS_JOINT_UNIVERSAL, shaft[0], shaft[1], o, y);
    cardan.axis_b = talus_cross(out, y); /* in the plane of the shafts */
    add_joint(world, cardan);
    double worst = 0.0;
    for (int i = 0; i < 1200; i++) {
        checked_step(world);
        double angle = joint_state(world, a).coordinate, turned = joint_state(world, c).coordinate;
        double error = atan2(sin(turned), cos(turned)) - atan2(sin(angle) * cos(b), cos(angle));
        worst = fmax(worst, fabs(error - 2.0 * pi * floor(error / (2.0 * pi) + 0.5)));
    }
    CHECK_NEAR(worst, 0.0, 1e-8);
    talus_world_destroy(world);
}

/* ---- chain ---- */

enum { LINKS = 200 };

/* Links of 0.1 kg and 0.1 m, and a ball of 1000 kg at the end, along `along`. */
static TalusWorld *chain(TalusVec3 along, TalusJointId joint[LINKS + 1])
{
    TalusWorldDef def = joint_def(0.005);
    TalusWorld *world = joint_world(&def);
    TalusBodyId before = the_world;
    for (int i = 0; i <= LINKS; i++) {
        bool last = i == LINKS;
        Body link = {.shape = ball(last ? 0.5 : 0.05), .mass = last ? 1000.0 : 0.1};
        link.x = talus_scale(0.1 * i + link.shape.radius, along);
        TalusBodyId id = add_body(world, link);
        joint[i] = add_joint(
            world, joint_of(TALUS_JOINT_BALL, id, before, talus_scale(0.1 * i, along), along));
        before = id;
    }
    return world;
}

static double worst_error(const TalusWorld *world, const TalusJointId joint[LINKS + 1])
{
    double worst = 0.0;
    for (int k = 0; k <= LINKS; k++)
        worst = fmax(worst, joint_state(world, joint[k]).error);
    return worst;
}

TEST(a_chain_of_200_links_bears_a_thousand_kilograms)
{
    TalusJointId joint[LINKS + 1];
    TalusWorld *world = chain(talus_vec3(0.0, 0.0, -1.0), joint);
    for (int i = 0; i < 10; i++)
        checked_step(world);
    for (int k = 0; k <= LINKS; k++)
        CHECK_NEAR(joint_state(world, joint[k]).force.z, gravity * (1000.0 + 0.1 * (LINKS - k)),
                   1e-4);
    CHECK(worst_error(world, joint) < 1e-9);
    talus_world_destroy(world);
}

/* Let go from the horizontal: a taut line, singular at first, whose links are ten thousand times lighter than
 * its end. */
TEST(a_chain_of_200_links_swings_with_a_thousand_kilograms)
{
    TalusJointId joint[LINKS + 1];
    TalusWorld *world = chain(talus_vec3(1.0, 0.0, 0.0), joint);
    double worst = 0.0;
    for (int i = 0; i < 100; i++) {
        checked_step(world);
        worst = fmax(worst, worst_error(world, joint));
    }
    CHECK(worst < 1e-4); /* a thousandth of a link */
    CHECK_NEAR(pose_of(world, LINKS).x.z, -0.5 * gravity * 0.5 * (0.5 + 0.005), 1e-3);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(the_period_of_a_pendulum);
    RUN(the_precession_of_a_top);
    RUN(the_flip_of_an_asymmetric_top);
    RUN(a_four_bar_linkage);
    RUN(a_slider_crank_and_the_torque_of_its_motor);
    RUN(a_universal_joint_between_shafts);
    RUN(a_chain_of_200_links_bears_a_thousand_kilograms);
    RUN(a_chain_of_200_links_swings_with_a_thousand_kilograms);
    return talus_test_result();
}
