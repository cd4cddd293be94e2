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
        double coarse = half_period(0.004, amplitude[i]) - exact;
        double fine = half_period(0.002, amplitude[i]) - exact;
        printf("  pendulum %g: %g %g of %g\n", amplitude[i], coarse, fine, exact);
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
    TalusVec3 w = talus_madd(talus_scale(spin - precession * c, axis), precession,
                             talus_vec3(0.0, 0.0, 1.0));
    TalusVec3 x = talus_scale(l, axis);
    Body body = {.shape = rod(r, half), .mass = m, .x = x, .e = e, .w = w, .v = talus_cross(w, x)};
    TalusBodyId a = add_body(world, body);
    add_joint(world,
              joint_of(TALUS_JOINT_BALL, a, the_world, talus_vec3(0.0, 0.0, 0.0), axis));
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
    double azimuth, tilt, expected;
    for (double h = 0.001; h > 0.0002; h *= 0.5) {
        top(h, 0.3, &azimuth, &tilt, &expected);
        printf("  top: %g of %g, tilt %g\n", azimuth, expected, tilt);
    }
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
    printf("  flip %g of %g\n", period, flip);
    CHECK_NEAR(period / flip, 1.0, 1e-3);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(the_period_of_a_pendulum);
    RUN(the_precession_of_a_top);
    RUN(the_flip_of_an_asymmetric_top);
    return talus_test_result();
}
