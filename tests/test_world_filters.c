/* Groups that do not meet, and pairs that are left out. */
#include "material_world.h"

static TalusBodyId add_ball(TalusWorld *world, int group, TalusVec3 x)
{
    TalusBodyBatch batch = talus_body_batch_default();
    TalusShapeDef ball = sphere(0.1);
    TalusBodyId id = {0};
    CHECK_OK(talus_world_add_shape(world, &ball, &batch.shape));
    batch.count = 1;
    batch.group = group;
    batch.position = &x;
    CHECK_OK(talus_world_add_bodies(world, &batch, &id));
    return id;
}

static int contacts(TalusWorld *world)
{
    CHECK_OK(talus_world_step(world, &info));
    return info.contacts;
}

TEST(groups_meet_unless_told_otherwise)
{
    TalusWorldDef def = tight_def(1e-4);
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    for (int i = 0; i < 4; i++) /* in touch with each other and with the floor */
        add_ball(world, i, talus_vec3(0.2 * i, 0, 0.1));
    CHECK_INT(contacts(world), 7);
    REQUIRE_OK(talus_world_set_groups(world, 1, 2, false));
    CHECK_INT(contacts(world), 6);
    REQUIRE_OK(talus_world_set_groups(world, 0, 3, false)); /* the floor is of group 0 */
    CHECK_INT(contacts(world), 5);
    REQUIRE_OK(talus_world_set_groups(world, 2, 1, true));
    CHECK_INT(contacts(world), 6);
    REQUIRE_OK(talus_world_set_groups(world, 0, 0, false));
    CHECK_INT(contacts(world), 5);
    CHECK_INT(talus_world_set_groups(world, 0, 32, false), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_set_groups(world, -1, 0, false), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

TEST(a_body_moves_to_another_group)
{
    TalusWorldDef def = tight_def(1e-4);
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    const TalusBodyId first = add_ball(world, 0, talus_vec3(0, 0, 0.1)), none = {51};
    add_ball(world, 1, talus_vec3(0.2, 0, 0.1));
    REQUIRE_OK(talus_world_set_groups(world, 1, 1, false));
    CHECK_INT(contacts(world), 3);
    REQUIRE_OK(talus_world_set_group(world, first, 1));
    CHECK_INT(contacts(world), 2);
    REQUIRE_OK(talus_world_set_group(world, first, 0));
    CHECK_INT(contacts(world), 3);
    CHECK_INT(talus_world_set_group(world, first, 32), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_set_group(world, none, 0), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

TEST(a_pair_is_excluded_as_often_as_it_was_asked_for)
{
    TalusWorldDef def = tight_def(1e-4);
    TalusWorld *world = make_world(&def, NULL), *loaded;
    TalusBodyId floor = add_floor(world), id[5], none = {51};
    for (int i = 0; i < 5; i++)
        id[i] = add_ball(world, 0, talus_vec3(0.2 * i, 0, 0.1));
    CHECK_INT(contacts(world), 9);
    REQUIRE_OK(talus_world_exclude(world, id[3], id[2]));
    REQUIRE_OK(talus_world_exclude(world, floor, id[1]));
    REQUIRE_OK(talus_world_exclude(world, id[0], id[1]));
    REQUIRE_OK(talus_world_exclude(world, id[1], id[0]));
    CHECK_INT(contacts(world), 6);
    REQUIRE_OK(talus_world_include(world, id[0], id[1]));
    CHECK_INT(contacts(world), 6);
    void *bytes;
    size_t size;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &loaded));
    talus_free(bytes);
    REQUIRE_OK(talus_world_include(loaded, id[0], id[1]));
    CHECK_INT(contacts(loaded), 7);
    talus_world_destroy(loaded);
    CHECK_INT(talus_world_exclude(world, id[0], id[0]), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_exclude(world, id[0], none), TALUS_ERR_ARGUMENT);
    /* another body in the slot knows nothing of it */
    int slot = talus_slot_of(world, id[1]);
    REQUIRE_OK(talus_world_remove_body(world, id[1]));
    TalusBodyId other = add_ball(world, 0, talus_vec3(0.2, 0, 0.1));
    CHECK_INT(talus_slot_of(world, other), slot);
    CHECK_INT(contacts(world), 8);
    talus_world_destroy(world);
}

/* The filter leaves the rest of the list as it is, in its order. */
TEST(filtered_worlds_do_not_depend_on_threads)
{
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        TalusWorldDef def = tight_def(1e-3);
        def.tolerance = 1e-3;
        def.threads = k ? 4 : 1;
        TalusWorld *world = make_world(&def, NULL);
        add_floor(world);
        for (int i = 0; i < 60; i++)
            add_ball(world, i % 3,
                     talus_vec3(0.15 * (i % 4), 0.15 * (i / 4 % 4), 0.1 + 0.2 * (i / 16)));
        REQUIRE_OK(talus_world_set_groups(world, 0, 1, false));
        for (int i = 0; i < 100; i++)
            REQUIRE_OK(talus_world_step(world, NULL));
        TalusContactState c[1000];
        int n = talus_world_get_contacts(world, c, 1000), tag = 0;
        for (int i = 0; i < n && i < 1000; i++) {
            uint64_t a = c[i].a.number, b = c[i].b.number; /* the floor is 1, balls from 2 on */
            tag += a > 1 && b > 1 && (a - 2) % 3 + (b - 2) % 3 == 1;
        }
        CHECK(n > 60);
        CHECK_INT(tag, 0);
        hash[k] = talus_world_hash(world);
        talus_world_destroy(world);
    }
    CHECK(hash[0] == hash[1]);
}

int main(void)
{
    RUN(groups_meet_unless_told_otherwise);
    RUN(a_body_moves_to_another_group);
    RUN(a_pair_is_excluded_as_often_as_it_was_asked_for);
    RUN(filtered_worlds_do_not_depend_on_threads);
    return talus_test_result();
}
