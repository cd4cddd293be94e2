/* Inertia given by the user (TalusShapeDef.gyration): closed forms that depend on it, refusals, restarts. */
#include "joint_world.h"

#include "io/frames/frames.h"

#include <string.h>

/* Returns a box with this inertia over mass. */
static TalusShapeDef weighted_box(TalusSym3 gyration)
{
    TalusShapeDef def = box(0.1, 0.1, 0.1);
    def.gyration = gyration;
    return def;
}

TEST(mass_properties_have_the_given_inertia)
{
    const TalusSym3 gyration = {0.02, 0.03, 0.04, 0.001, -0.002, 0.003};
    const TalusShapeDef def = weighted_box(gyration);
    TalusMassProperties found;
    CHECK_OK(talus_shape_mass(&def, 0.0, 1000.0, &found));
    CHECK_NEAR(found.mass, 8.0, 1e-12);
    CHECK_NEAR(found.inertia.xx, 0.16, 1e-15);
    CHECK_NEAR(found.inertia.yz, 0.024, 1e-15);
    const TalusShapePart parts[2] = {{&def, {1.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}},
                                     {&def, {-1.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}}};
    const TalusShapeDef pair = {.kind = TALUS_SHAPE_COMPOUND, .part = parts, .part_count = 2};
    CHECK_OK(talus_shape_mass(&pair, 0.0, 1000.0, &found));
    CHECK_NEAR(found.inertia.xx, 2.0 * 0.16, 1e-12);
    CHECK_NEAR(found.inertia.yy, 2.0 * (0.24 + 8.0), 1e-12);
}

/* A torque of 0.5 N m about z turns a body of 2 kg and 0.04 kg m2 by 12.5 rad/s2. */
TEST(a_torque_accelerates_by_the_given_inertia)
{
    TalusWorldDef def = joint_def(0.01);
    def.gravity = talus_vec3(0.0, 0.0, 0.0);
    def.reference_speed = 0.1;
    TalusWorld *world = joint_world(&def);
    TalusBodyId id = add_body(
        world, (Body){.shape = weighted_box((TalusSym3){.xx = 0.01, .yy = 0.015, .zz = 0.02}),
                      .mass = 2.0});
    CHECK_OK(talus_world_set_force(world, id, talus_vec3(0, 0, 0), talus_vec3(0, 0, 0.5)));
    for (int i = 0; i < 20; i++)
        checked_step(world);
    CHECK_NEAR(pose_of(world, 0).w.z, 0.2 * 0.5 / 0.04, 1e-9);
    talus_world_destroy(world);
}

/* Returns the period of a small swing about an axis y that is d above the centre of mass. */
static double swing_period(TalusSym3 gyration, double d)
{
    TalusWorldDef def = joint_def(0.001);
    TalusWorld *world = joint_world(&def);
    const double angle = 0.02;
    TalusBodyId id = add_body(world, (Body){.shape = weighted_box(gyration),
                                            .mass = 3.0,
                                            .x = {-d * sin(angle), 0.0, -d * cos(angle)},
                                            .e = {cos(0.5 * angle), 0.0, sin(0.5 * angle), 0.0}});
    TalusJointId pin = add_joint(world, joint_of(TALUS_JOINT_REVOLUTE, id, the_world,
                                                 talus_vec3(0, 0, 0), talus_vec3(0, 1, 0)));
    double last = angle, crossing[3];
    for (int i = 1, found = 0; i < 20000 && found < 3; i++) {
        checked_step(world);
        const double now = angle + joint_state(world, pin).coordinate;
        if (now * last < 0.0)
            crossing[found++] = 0.001 * (i - 1 + last / (last - now));
        last = now;
    }
    talus_world_destroy(world);
    return crossing[2] - crossing[0];
}

/* The compound pendulum: T = 2 pi sqrt((k^2 + d^2) / (g d)), (1 + angle^2/16) longer at this angle. */
TEST(a_pendulum_swings_by_the_given_inertia)
{
    const double d = 0.15;
    for (int k = 0; k < 2; k++) {
        const double moment = k ? 0.09 : 0.001;
        const TalusSym3 gyration = {.xx = moment, .yy = moment, .zz = moment};
        const double period = 2.0 * pi * sqrt((moment + d * d) / (gravity * d));
        CHECK_NEAR(swing_period(gyration, d) / period, 1.0 + 0.02 * 0.02 / 16.0, 2e-4);
    }
}

/* A free body with two equal moments: its axis goes round the angular momentum at |L| / A. The tensor is given turned by
 * 30 degrees about y, with a product. */
TEST(a_top_nutates_by_the_given_tensor)
{
    TalusWorldDef def = joint_def(0.001);
    def.gravity = talus_vec3(0.0, 0.0, 0.0);
    def.reference_speed = 0.1;
    TalusWorld *world = joint_world(&def);
    const double a = 0.02, c = 0.035, turn = pi / 6.0, s = sin(turn), z = cos(turn);
    const TalusSym3 gyration = {
        .xx = a * z * z + c * s * s, .yy = a, .zz = a * s * s + c * z * z, .xz = (c - a) * s * z};
    const TalusVec3 axis = {s, 0.0, z}, side = {z, 0.0, -s};
    const TalusVec3 w = talus_add(talus_scale(5.0, axis), talus_scale(2.0, side));
    add_body(world, (Body){.shape = weighted_box(gyration), .mass = 1.0, .w = w});
    const TalusVec3 l = talus_add(talus_scale(5.0 * c, axis), talus_scale(2.0 * a, side));
    const double rate = talus_norm(l) / a;
    const int steps = (int)(2.0 * pi / rate / 0.001 + 0.5); /* one round of the axis */
    for (int i = 0; i < steps; i++)
        checked_step(world);
    const TalusVec3 now = talus_rotate(pose_of(world, 0).e, axis);
    CHECK_NEAR(talus_norm(talus_sub(now, axis)), 0.0, 2e-3);
    for (int i = 0; i < steps / 2; i++)
        checked_step(world);
    const TalusVec3 far = talus_rotate(pose_of(world, 0).e, axis);
    CHECK(talus_norm(talus_sub(far, axis)) > 0.3);
    talus_world_destroy(world);
}

/* ---- refusals ---- */

static void refuse(TalusShapeDef def, TalusSym3 gyration, const char *words)
{
    TalusMassProperties found;
    def.gyration = gyration;
    CHECK_INT(talus_shape_mass(&def, 0.1, 1.0, &found), TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), words) != NULL);
}

TEST(inertias_that_no_body_has)
{
    const double tilt = 0.02 / 3.0;
    TalusMassProperties found;
    TalusShapeDef plate = weighted_box((TalusSym3){.xx = 0.01, .yy = 0.02, .zz = 0.03});
    CHECK_OK(talus_shape_mass(&plate, 0.0, 1.0, &found)); /* a flat plate: 3 = 1 + 2 */
    refuse(plate, (TalusSym3){.xx = 0.01, .yy = 0.02, .zz = 0.0301}, "sum of the other two");
    refuse(plate, (TalusSym3){.xx = 0.01, .yy = 0.01, .zz = -0.01}, "above 0");
    refuse(plate, (TalusSym3){.xx = 0.01, .yy = 0.01}, "above 0");
    refuse(plate, (TalusSym3){.xx = NAN, .yy = 0.01, .zz = 0.01}, "above 0");
    refuse(plate, (TalusSym3){.xx = 0.01, .yy = 0.01, .zz = 0.01, .xy = 0.02}, "above 0");
    /* moments 1/3 of 0.01, 0.01 and 5/3 of 0.01 */
    refuse(plate, (TalusSym3){.xx = 0.01, .yy = 0.01, .zz = 0.01, .xy = tilt}, "sum of the other");
    refuse(ball(0.1), (TalusSym3){.xx = 0.01, .yy = 0.01, .zz = 0.01}, "compound of one sphere");
    refuse((TalusShapeDef){.kind = TALUS_SHAPE_PLANE},
           (TalusSym3){.xx = 0.01, .yy = 0.01, .zz = 0.01}, "");
}

/* ---- bits ---- */

TEST(a_restart_keeps_the_inertia)
{
    const TalusSym3 gyration = {.xx = 0.01, .yy = 0.02, .zz = 0.025, .xy = 0.002};
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        TalusWorldDef def = joint_def(0.01);
        TalusWorld *world = joint_world(&def);
        void *bytes = NULL;
        size_t size;
        add_body(world, (Body){.shape = {.kind = TALUS_SHAPE_PLANE}});
        add_body(world, (Body){.shape = weighted_box(gyration),
                               .mass = 2.0,
                               .x = {0.0, 0.0, 0.3},
                               .w = {3.0, 2.0, 1.0}});
        for (int i = 0; i < 30; i++) {
            CHECK_OK(talus_world_step(world, NULL));
            if (k == 0 || i != 10)
                continue;
            CHECK_OK(talus_world_save(world, &bytes, &size));
            talus_world_destroy(world);
            CHECK_OK(talus_world_load(bytes, size, 1, NULL, &world));
            talus_free(bytes);
        }
        hash[k] = talus_world_hash(world);
        talus_world_destroy(world);
    }
    CHECK(hash[0] == hash[1]);
}

/* Frames have the inertia, of shapes and of parts of compounds: a run that begins from an exact frame depends on it. */
TEST(a_head_of_frames_has_the_given_inertia)
{
    const TalusShapeDef own = weighted_box((TalusSym3){0.02, 0.03, 0.04, 0.001, -0.002, 0.003});
    const TalusShapeDef plain = box(0.1, 0.1, 0.1);
    const TalusShapePart part = {&own, {1.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    const TalusShapeDef shapes[3] = {
        own, plain, {.kind = TALUS_SHAPE_COMPOUND, .part = &part, .part_count = 1}};
    const TalusFramesHead head = {.title = "",
                                  .scene = "",
                                  .step = 0.01,
                                  .radius = 0.1,
                                  .quantum = 0.001,
                                  .floor = NAN,
                                  .shapes = shapes,
                                  .shape_count = 3};
    TalusPacker packer = {0};
    TalusHeadStore store = {0};
    REQUIRE_OK(talus_frames_head_pack(&packer, &head, TALUS_FRAMES_VERSION));
    REQUIRE_OK(talus_frames_head_read((const char *)packer.bytes + sizeof(TalusChunk),
                                      packer.size - sizeof(TalusChunk), "head", &store));
    for (int k = 0; k < 3; k++)
        CHECK(talus_head_shapes_equal(&store.head.shapes[k], &shapes[k]));
    CHECK(!talus_head_shapes_equal(&store.head.shapes[0], &shapes[1]));
    CHECK_NEAR(store.head.shapes[2].part[0].shape->gyration.xz, -0.002, 0.0);
    talus_frames_head_clear(&store);
    talus_packer_clear(&packer);
}

int main(void)
{
    RUN(mass_properties_have_the_given_inertia);
    RUN(a_torque_accelerates_by_the_given_inertia);
    RUN(a_pendulum_swings_by_the_given_inertia);
    RUN(a_top_nutates_by_the_given_tensor);
    RUN(inertias_that_no_body_has);
    RUN(a_restart_keeps_the_inertia);
    RUN(a_head_of_frames_has_the_given_inertia);
    return talus_test_result();
}
