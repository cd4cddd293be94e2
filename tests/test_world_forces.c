/* Applied forces and torques against closed forms, and their place in the ledger. */
#include "material_world.h"

static TalusWorld *make_weightless(void)
{
    TalusWorldDef def = tight_def(1e-2);
    def.gravity = zero;
    def.reference_speed = 0.1;
    return make_world(&def, NULL);
}

TEST(a_force_accelerates_and_a_torque_spins)
{
    TalusWorld *world = make_weightless();
    TalusVec3 force = {1.0, -2.0, 4.0}, torque = {0.3, 0.0, -0.6};
    add_floor(world); /* far below */
    TalusBodyId id = add_body(world, sphere(0.5), 2.0, talus_vec3(0, 0, 100), zero, zero);
    REQUIRE_OK(talus_world_set_force(world, id, force, torque));
    double inertia = 0.4 * 2.0 * 0.25, applied = 0.0;
    State s = {zero, zero, zero};
    for (int i = 0; i < 100; i++) {
        s = step(world);
        applied += info.ledger.applied;
    }
    CHECK_NEAR(s.v.y, -1.0, 1e-13);
    CHECK_NEAR(s.w.z, -0.6 / inertia, 1e-12);
    CHECK_NEAR(s.w.x, 0.3 / inertia, 1e-12);
    /* work along the way, to the last bit of what bodies moved */
    CHECK_NEAR(applied,
               talus_dot(force, talus_sub(s.x, talus_vec3(0, 0, 100))) +
                   0.5 * 1.01 * talus_dot(torque, s.w),
               1e-10);
    REQUIRE_OK(talus_world_set_force(world, id, zero, zero));
    State later = step(world);
    CHECK(later.v.x == s.v.x && later.w.z == s.w.z && info.ledger.applied == 0.0);
    talus_world_destroy(world);
}

/* A box is turned about its own axis by torque / I_zz, the shape's. */
TEST(a_torque_meets_the_inertia_of_a_box)
{
    TalusWorld *world = make_weightless();
    add_floor(world);
    TalusBodyId id = add_body(world, box(0.1, 0.2, 0.3), 3.0, talus_vec3(0, 0, 100), zero, zero);
    REQUIRE_OK(talus_world_set_force(world, id, zero, talus_vec3(0, 0, 0.5)));
    State s = {zero, zero, zero};
    for (int i = 0; i < 50; i++)
        s = step(world);
    double inertia = 3.0 / 3.0 * (0.01 + 0.04);
    CHECK_NEAR(s.w.z, 0.5 * 0.5 / inertia, 1e-11);
    talus_world_destroy(world);
}

/* Below mu m g a block stays, above it slides with what is left; a force that moves nothing does no work. */
TEST(a_push_against_friction)
{
    for (int hard = 0; hard < 2; hard++) {
        TalusWorldDef def = tight_def(1e-3);
        TalusPairDef pair = talus_pair_def_default();
        pair.friction = 0.5;
        pair.own_model = true;
        pair.model.law = TALUS_LAW_COULOMB;
        TalusWorld *world = make_world(&def, &pair);
        add_floor(world);
        TalusBodyId id =
            add_body(world, box(0.2, 0.2, 0.05), 1.0, talus_vec3(0, 0, 0.05), zero, zero);
        double push = (hard ? 0.8 : 0.4) * g;
        REQUIRE_OK(talus_world_set_force(world, id, talus_vec3(push, 0, 0), zero));
        State s = {zero, zero, zero};
        double applied = 0.0;
        for (int i = 0; i < 200; i++) {
            s = step(world);
            applied += info.ledger.applied;
        }
        CHECK_NEAR(s.v.x, hard ? 0.3 * g * 0.2 : 0.0, 1e-6);
        CHECK_NEAR(applied, push * s.x.x, 1e-9);
        talus_world_destroy(world);
    }
}

TEST(forces_survive_a_restart_and_go_with_their_body)
{
    TalusWorld *world = make_weightless(), *loaded;
    TalusBodyBatch batch = talus_body_batch_default();
    TalusShapeDef ball = sphere(0.1);
    TalusVec3 x[2] = {{0, 0, 1}, {1, 0, 1}};
    TalusBodyId id[2];
    REQUIRE_OK(talus_world_add_shape(world, &ball, &batch.shape));
    batch.count = 2;
    batch.position = x;
    batch.force = talus_vec3(0.1, 0, 0);
    REQUIRE_OK(talus_world_add_bodies(world, &batch, id));
    TalusVec3 later[2] = {{0, 5, 1}, {1, 5, 1}};
    batch.position = later;
    REQUIRE_OK(talus_world_add_bodies_at(world, 0.045, &batch));
    batch.position = x;
    void *bytes;
    size_t size;
    REQUIRE_OK(talus_world_step(world, NULL));
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &loaded));
    talus_free(bytes);
    for (int i = 0; i < 10; i++) {
        REQUIRE_OK(talus_world_step(world, NULL));
        REQUIRE_OK(talus_world_step(loaded, NULL));
    }
    CHECK(talus_world_hash(world) == talus_world_hash(loaded));
    talus_world_destroy(loaded);
    REQUIRE_OK(talus_world_remove_body(world, id[0]));
    batch.count = 1;
    batch.force = zero;
    REQUIRE_OK(talus_world_add_bodies(world, &batch, id));
    CHECK_INT(talus_slot_of(world, id[0]), 0);
    REQUIRE_OK(talus_world_step(world, NULL));
    TalusVec3 v[4];
    TalusBodyState state = {.velocity = v};
    talus_world_get_state(world, &state);
    CHECK(v[0].x == 0.0 && v[1].x > 0.0 && v[2].x > 0.0);
    talus_world_destroy(world);
}

TEST(what_cannot_be_pushed_is_refused)
{
    TalusWorld *world = make_weightless();
    TalusBodyId floor = add_floor(world), none = {99};
    TalusBodyId ball = add_body(world, sphere(1.0), 1.0, talus_vec3(0, 0, 2), zero, zero);
    CHECK_INT(talus_world_set_force(world, floor, zero, zero), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_set_force(world, none, zero, zero), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_set_force(world, ball, talus_vec3(NAN, 0, 0), zero), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(a_force_accelerates_and_a_torque_spins);
    RUN(a_torque_meets_the_inertia_of_a_box);
    RUN(a_push_against_friction);
    RUN(forces_survive_a_restart_and_go_with_their_body);
    RUN(what_cannot_be_pushed_is_refused);
    return talus_test_result();
}
