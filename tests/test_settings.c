/* Settings that change between steps (world/settings.c), against closed forms and worlds made with them; what is refused. */
#include "material_world.h"

#include <talus/io.h>

static TalusWorld *make_free(void)
{
    TalusWorldDef def = tight_def(1e-2);
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    add_body(world, sphere(0.5), 2.0, talus_vec3(0, 0, 100), zero, zero);
    return world;
}

TEST(gravity_changes)
{
    TalusWorld *world = make_free();
    for (int i = 0; i < 10; i++)
        step(world);
    double before = info.ledger.kinetic + info.ledger.potential, height = state_of(world).x.z;
    REQUIRE_OK(talus_world_set_gravity(world, talus_vec3(2.0, 0.0, -1.0)));
    CHECK(talus_world_gravity(world).x == 2.0);
    for (int i = 0; i < 10; i++)
        step(world);
    State s = state_of(world);
    CHECK_NEAR(s.v.x, 0.2, 1e-13);
    CHECK_NEAR(s.v.z, -9.81 * 0.1 - 0.1, 1e-12);
    /* the potential energy m g z with the new gravity */
    CHECK_NEAR(info.ledger.potential, -2.0 * (2.0 * s.x.x - s.x.z), 1e-9);
    CHECK(height < 100.0 && before > 0.0);
    CHECK(talus_world_set_gravity(world, zero) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error_record()->key, "reference_speed");
    CHECK(talus_world_set_gravity(world, talus_vec3(NAN, 0, 0)) == TALUS_ERR_ARGUMENT);
    CHECK(talus_world_gravity(world).x == 2.0);
    talus_world_destroy(world);
}

/* The energy that a change of gravity brings is in the ledger of the next step. */
TEST(gravity_enters_the_ledger)
{
    TalusWorld *world = make_free();
    step(world);
    double before = info.ledger.kinetic + info.ledger.potential, z = state_of(world).x.z;
    REQUIRE_OK(talus_world_set_gravity(world, talus_vec3(0.0, 0.0, -1.0)));
    step(world);
    CHECK_NEAR(info.ledger.exchange, 2.0 * (1.0 - 9.81) * z, 1e-9);
    CHECK_NEAR(info.ledger.kinetic + info.ledger.potential,
               before + info.ledger.kinetic_change + info.ledger.potential_change, 1e-9);
    talus_world_destroy(world);
}

TEST(the_step_changes)
{
    TalusWorld *world = make_free();
    for (int i = 0; i < 3; i++)
        step(world);
    REQUIRE_OK(talus_world_set_step(world, 0.004));
    CHECK(talus_world_step_length(world) == 0.004);
    CHECK_NEAR(talus_world_time(world), 0.03, 1e-16);
    for (int i = 0; i < 5; i++)
        step(world);
    CHECK_NEAR(talus_world_time(world), 0.05, 1e-15);
    CHECK(talus_world_steps(world) == 8);
    CHECK_NEAR(info.reference_speed, 9.81 * 0.004, 1e-12);
    CHECK_NEAR(state_of(world).v.z, -9.81 * 0.05, 1e-12);
    CHECK(talus_world_set_step(world, 0.0) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error_record()->key, "step");
    /* a saved state goes on with the new step, bit for bit */
    void *bytes;
    size_t size;
    TalusWorld *loaded;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &loaded));
    for (int i = 0; i < 3; i++) {
        step(world);
        REQUIRE_OK(talus_world_step(loaded, NULL));
    }
    CHECK(talus_world_hash(world) == talus_world_hash(loaded));
    talus_free(bytes);
    talus_world_destroy(loaded);
    talus_world_destroy(world);
}

TEST(the_solver_changes)
{
    TalusWorld *world = make_free();
    TalusVec3 low = {0.0, 0.0, 0.5};
    REQUIRE_OK(talus_world_remove_body(world, (TalusBodyId){2}));
    add_body(world, sphere(0.5), 2.0, low, zero, zero);
    step(world);
    REQUIRE_OK(talus_world_set_solver(world, "apgd"));
    step(world);
    CHECK(strstr(info.solve.solver, "apgd") != NULL);
    CHECK(talus_world_set_solver(world, "apgb") != TALUS_OK);
    CHECK(talus_world_set_solver(world, NULL) == TALUS_ERR_ARGUMENT);
    step(world);
    CHECK(strstr(info.solve.solver, "apgd") != NULL);
    talus_world_destroy(world);
}

/* A sliding block is slowed by mu g; with the material's new friction by that, and what was set for the pair wins. */
TEST(a_material_changes)
{
    TalusWorldDef def = tight_def(1e-3);
    TalusWorld *world = make_world(&def, NULL);
    TalusMaterialDef rough = talus_material_def_default();
    int index = -1;
    add_floor(world);
    add_body(world, box(0.2, 0.2, 0.05), 1.0, talus_vec3(0, 0, 0.05), talus_vec3(3, 0, 0), zero);
    for (int i = 0; i < 20; i++)
        step(world);
    double v = state_of(world).v.x;
    rough.friction = 0.6;
    rough.name = "another";
    REQUIRE_OK(talus_world_find_material(world, "default", &index));
    CHECK_INT(index, 0);
    REQUIRE_OK(talus_world_set_material(world, 0, &rough));
    CHECK_STR(talus_world_material(world, 0).name, "default");
    for (int i = 0; i < 100; i++)
        step(world);
    CHECK_NEAR(state_of(world).v.x, v - 0.6 * g * 0.1, 1e-3);
    REQUIRE_OK(talus_world_set_friction(world, 0, 0, 0.0));
    v = state_of(world).v.x;
    REQUIRE_OK(talus_world_set_material(world, 0, &rough));
    step(world);
    step(world);
    CHECK_NEAR(state_of(world).v.x, v, 1e-9);
    CHECK(talus_world_find_material(world, "ice", &index) == TALUS_ERR_ARGUMENT);
    CHECK(talus_world_set_material(world, 1, &rough) == TALUS_ERR_ARGUMENT);
    rough.friction = -1.0;
    CHECK(talus_world_set_material(world, 0, &rough) == TALUS_ERR_ARGUMENT);
    TalusPairDef bouncing = talus_pair_def_default();
    bouncing.restitution = 0.5;
    REQUIRE_OK(talus_world_set_pair(world, 0, 0, &bouncing));
    rough.friction = 0.5;
    rough.stiffness = 1e4;
    CHECK(talus_world_set_material(world, 0, &rough) == TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

/* Without friction, from the next step on. */
TEST(the_friction_model_changes)
{
    TalusWorldDef def = tight_def(1e-3);
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    add_body(world, box(0.2, 0.2, 0.05), 1.0, talus_vec3(0, 0, 0.05), talus_vec3(3, 0, 0), zero);
    for (int i = 0; i < 20; i++)
        step(world);
    const double v = state_of(world).v.x;
    REQUIRE_OK(talus_world_set_friction_model(
        world, (TalusFrictionModel){.section = TALUS_SECTION_NONE, .law = TALUS_LAW_CCP}));
    CHECK(talus_world_friction(world).section == TALUS_SECTION_NONE);
    for (int i = 0; i < 20; i++)
        step(world);
    CHECK_NEAR(state_of(world).v.x, v, 1e-9);
    CHECK(talus_world_set_friction_model(
              world, (TalusFrictionModel){.section = TALUS_SECTION_JOINT}) == TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

TEST(entries_of_a_scene_by_name)
{
    static const char text[] =
        "{\"until\": 1, \"bodies\": ["
        "{\"name\": \"floor\", \"shape\": {\"kind\": \"plane\"}, \"at\": [0, 0, 0]},"
        "{\"name\": \"ball\", \"radius\": 0.1, \"at\": [0, 0, 1]}]}";
    TalusScene *scene;
    TalusWorld *world;
    TalusSceneEntries entries;
    TalusBodyId first, last;
    REQUIRE_OK(talus_scene_parse(text, strlen(text), "text", NULL, 0, &scene));
    TalusSceneChoice choice = {.threads = 1, .entries = &entries};
    REQUIRE_OK(talus_scene_build(scene, &choice, &world));
    REQUIRE_OK(talus_scene_entries_find(&entries, "ball", &first, &last));
    CHECK(first.number == 2 && last.number == 2);
    CHECK(talus_scene_entries_find(&entries, "bell", &first, &last) == TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "bell"));
    talus_scene_entries_free(&entries);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

int main(void)
{
    RUN(gravity_changes);
    RUN(gravity_enters_the_ledger);
    RUN(the_step_changes);
    RUN(the_solver_changes);
    RUN(a_material_changes);
    RUN(the_friction_model_changes);
    RUN(entries_of_a_scene_by_name);
    return talus_test_result();
}
