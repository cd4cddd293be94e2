/* Contacts that begin, persist and end (world/watch.c). */
#include "support/test.h"

#include <talus/talus.h>

static const TalusVec3 zero = {0.0, 0.0, 0.0};
static const TalusQuat upright = {1.0, 0.0, 0.0, 0.0};

typedef struct Counts {
    int begin, persist, end;
} Counts;

static Counts update(TalusWatch *watch, const TalusWorld *world, const TalusContactEvent **event)
{
    Counts n = {0};
    int64_t count = -1;
    CHECK_OK(talus_watch_update(watch, world, event, &count));
    for (int64_t i = 0; i < count; i++) {
        const TalusContactEvent *e = &(*event)[i];
        n.begin += e->change == TALUS_CONTACT_BEGINS;
        n.persist += e->change == TALUS_CONTACT_PERSISTS;
        n.end += e->change == TALUS_CONTACT_ENDS;
        if (i > 0) {
            const TalusContactEvent *d = &(*event)[i - 1];
            CHECK(d->state.a.number < e->state.a.number ||
                  (d->state.a.number == e->state.a.number &&
                   (d->state.b.number < e->state.b.number ||
                    (d->state.b.number == e->state.b.number && d->feature < e->feature))));
        }
    }
    return n;
}

/* A box falls 1 mm onto a floor, rests on its four corners, is lifted, and falls again; then it is removed. */
TEST(a_box_lands_rests_and_is_lifted)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world;
    TalusWatch *watch;
    def.threads = 1;
    def.tolerance = 1e-6;
    REQUIRE_OK(talus_world_create(&def, &world));
    REQUIRE_OK(talus_watch_create(&watch));
    TalusShapeDef shapes[] = {{.kind = TALUS_SHAPE_PLANE},
                              {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.1, 0.1}}};
    TalusBodyBatch floor = talus_body_batch_default(), box = floor;
    TalusVec3 at = {0.0, 0.0, 0.101};
    TalusBodyId id;
    REQUIRE_OK(talus_world_add_shape(world, &shapes[0], &floor.shape));
    REQUIRE_OK(talus_world_add_shape(world, &shapes[1], &box.shape));
    floor.fixed = true, floor.count = 1, floor.position = &zero;
    box.count = 1, box.position = &at;
    REQUIRE_OK(talus_world_add_bodies(world, &floor, NULL));
    REQUIRE_OK(talus_world_add_bodies(world, &box, &id));

    const TalusContactEvent *event;
    Counts n = update(watch, world, &event);
    CHECK(n.begin + n.persist + n.end == 0);
    REQUIRE_OK(talus_world_step(world, NULL));
    n = update(watch, world, &event);
    CHECK_INT(n.begin + n.persist + n.end, 0); /* within the envelope, but apart */
    int steps = 0;
    while (n.begin == 0 && steps++ < 20) {
        REQUIRE_OK(talus_world_step(world, NULL));
        n = update(watch, world, &event);
    }
    CHECK(n.begin == 4 && n.persist == 0 && n.end == 0);
    uint32_t feature[4];
    for (int i = 0; i < 4; i++) {
        feature[i] = event[i].feature;
        CHECK(talus_dot(event[i].state.impulse, event[i].state.normal) > 0.0);
    }
    for (int k = 0; k < 10; k++) {
        REQUIRE_OK(talus_world_step(world, NULL));
        n = update(watch, world, &event);
        CHECK(n.begin == 0 && n.persist == 4 && n.end == 0);
        for (int i = 0; i < 4; i++)
            CHECK(event[i].feature == feature[i]);
    }
    REQUIRE_OK(talus_world_set_pose(world, id, talus_vec3(0, 0, 0.2), upright));
    REQUIRE_OK(talus_world_step(world, NULL));
    n = update(watch, world, &event);
    CHECK(n.begin == 0 && n.persist == 0 && n.end == 4);
    CHECK(event[0].state.a.number + event[0].state.b.number == 3 && event[0].state.gap == 0.0);
    n = update(watch, world, &event);
    CHECK(n.begin + n.persist + n.end == 0);

    REQUIRE_OK(talus_world_set_pose(world, id, talus_vec3(0, 0, 0.1), upright));
    REQUIRE_OK(talus_world_set_velocity(world, id, zero, zero));
    for (int k = 0; k < 3; k++)
        REQUIRE_OK(talus_world_step(world, NULL));
    n = update(watch, world, &event);
    CHECK_INT(n.begin, 4);
    REQUIRE_OK(talus_world_remove_body(world, id));
    n = update(watch, world, &event);
    CHECK_INT(n.end, 4);
    talus_watch_destroy(watch);
    talus_watch_destroy(NULL);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(a_box_lands_rests_and_is_lifted);
    return talus_test_result();
}
