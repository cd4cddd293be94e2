/* Joints one by one: what they hold, what they leave, motors, limits, springs, and what is told of them. */
#include "joint_world.h"

/* A ball of radius 0.1 and mass 1 at distance 1 from its joint with the world. */
static const double pendulum_i = 1.0 + 0.4 * 0.01;

static TalusWorld *pendulum(const TalusWorldDef *def, double angle, double spin, TalusJointKind kind,
                            TalusJointId *id)
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

int main(void)
{
    RUN(a_pendulum_hangs);
    RUN(velocities_alone_drift_by_half_w_h_squared_a_step);
    RUN(projection_closes_joints);
    return talus_test_result();
}
