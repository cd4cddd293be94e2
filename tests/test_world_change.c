/* A saved world loaded with other settings. */
#include "support/test.h"

#include "world/save/change.h"
#include "world/state.h"

#include <math.h>
#include <string.h>

/* A ball on a floor and one that falls on it, after some steps. */
static TalusWorld *make_world(void)
{
    TalusWorldDef def = talus_world_def_default();
    def.threads = 1;
    def.step = 0.004;
    def.tolerance = 1e-10;
    def.friction.law = TALUS_LAW_CCP;
    def.compliance = 0.0;
    TalusWorld *world;
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE},
                  ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
    TalusBodyBatch floor = talus_body_batch_default(), balls = talus_body_batch_default();
    TalusVec3 origin = {0.0, 0.0, 0.0}, at[2] = {{0.0, 0.0, 0.1}, {0.02, 0.0, 0.31}};
    CHECK_OK(talus_world_create(&def, &world));
    CHECK_OK(talus_world_add_shape(world, &plane, &floor.shape));
    CHECK_OK(talus_world_add_shape(world, &ball, &balls.shape));
    floor.count = 1;
    floor.fixed = true;
    floor.position = &origin;
    balls.count = 2;
    balls.position = at;
    CHECK_OK(talus_world_add_bodies(world, &floor, NULL));
    CHECK_OK(talus_world_add_bodies(world, &balls, NULL));
    for (int i = 0; i < 25; i++)
        CHECK_OK(talus_world_step(world, NULL));
    return world;
}

static TalusWorldChanges settings_of(const TalusWorld *world)
{
    const TalusWorldDef *d = &world->def;
    TalusWorldChanges same = {d->friction.law, d->compliance, d->elastic_overlap,
                              d->tolerance,    d->step,       d->on_miss};
    return same;
}

static TalusWorld *load(const TalusWorld *world, const TalusWorldChanges *changes)
{
    void *bytes;
    size_t size;
    TalusWorld *copy = NULL;
    CHECK_OK(talus_world_save(world, &bytes, &size));
    CHECK_OK(talus_world_load_changed(bytes, size, 1, NULL, changes, &copy));
    talus_free(bytes);
    return copy;
}

TEST(the_state_stays_and_the_settings_change)
{
    TalusWorld *world = make_world();
    TalusWorldChanges changes = {.law = TALUS_LAW_COULOMB,
                                 .compliance = 6e-3,
                                 .elastic_overlap = 0.02,
                                 .tolerance = 1e-4,
                                 .step = 0.001,
                                 .on_miss = TALUS_MISS_STOP};
    TalusWorld *copy = load(world, &changes);
    CHECK(talus_world_hash(copy) == talus_world_hash(world)); /* the time is part of the hash */
    CHECK_NEAR(talus_world_time(copy), 25 * 0.004, 1e-15);
    CHECK(talus_world_steps(copy) == 25);
    CHECK(talus_world_friction(copy).law == TALUS_LAW_COULOMB);
    CHECK(talus_world_step_length(copy) == 0.001);
    CHECK(copy->def.compliance == 6e-3 && copy->def.elastic_overlap == 0.02);
    CHECK(copy->def.tolerance == 1e-4 && copy->def.on_miss == TALUS_MISS_STOP);
    TalusStepInfo info;
    CHECK_OK(talus_world_step(copy, &info));
    CHECK_NEAR(info.time, 0.101, 1e-15);
    CHECK_NEAR(info.tolerance, 1e-4 * 9.81 * 0.001, 1e-18);
    talus_world_destroy(copy);
    talus_world_destroy(world);
}

/* With the saved settings it goes on as the saved world does, but for what the solver had learnt. */
TEST(the_same_settings_change_nothing)
{
    TalusWorld *world = make_world();
    TalusWorldChanges same = settings_of(world);
    TalusWorld *copy = load(world, &same);
    for (int i = 0; i < 10; i++) {
        TalusStepInfo a, b;
        CHECK_OK(talus_world_step(world, &a));
        CHECK_OK(talus_world_step(copy, &b));
        CHECK_INT(a.contacts, b.contacts);
        CHECK_NEAR(a.ledger.kinetic, b.ledger.kinetic, 1e-6 * (1e-3 + a.ledger.kinetic));
        CHECK_NEAR(a.time, b.time, 1e-15);
    }
    talus_world_destroy(copy);
    talus_world_destroy(world);
}

TEST(wrong_settings_are_refused)
{
    TalusWorld *world = make_world(), *copy = NULL;
    TalusWorldChanges changes = settings_of(world);
    void *bytes;
    size_t size;
    changes.step = -1.0;
    CHECK_OK(talus_world_save(world, &bytes, &size));
    CHECK(talus_world_load_changed(bytes, size, 1, NULL, &changes, &copy) != TALUS_OK);
    CHECK(copy == NULL && strstr(talus_error(), "step"));
    talus_free(bytes);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(the_state_stays_and_the_settings_change);
    RUN(the_same_settings_change_nothing);
    RUN(wrong_settings_are_refused);
    return talus_test_result();
}
