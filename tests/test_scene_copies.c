/* Scenes with copies: copies do what the scene does alone, never meet, and differ where the file says so. */
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <talus/io.h>
#include <talus/world.h>

/* A ball that slides on a floor between two walls; friction and start depend on the copy. */
#define BALL_ON_FLOOR                                                                               \
    "\"step\": 0.005, \"solver\": {\"tolerance\": 1e-9},"                                           \
    " \"materials\": {\"m\": {\"friction\": \"=0.1*(1 + copy)\"}},"                                 \
    " \"shapes\": {\"wall\": {\"kind\": \"plane\"}},"                                               \
    " \"bodies\": ["                                                                                \
    "  {\"name\": \"floor\", \"shape\": \"wall\", \"at\": [0, 0, 0]},"                              \
    "  {\"shape\": \"wall\", \"at\": [-1, 0, 0], \"normal\": [1, 0, 0]},"                           \
    "  {\"shape\": \"wall\", \"at\": [1, 0, 0], \"normal\": [-1, 0, 0]},"                           \
    "  {\"radius\": 0.1, \"mass\": 1, \"at\": [0, \"=0.01*copy\", 0.1], \"velocity\": [2, 0, 0]}]," \
    " \"probes\": [{\"name\": \"floor\", \"body\": \"floor\"}]"

enum { BODIES = 4 };

static TalusWorld *build(const char *text)
{
    TalusScene *scene;
    TalusWorld *world = NULL;
    CHECK_OK(talus_scene_parse(text, strlen(text), "s", NULL, 0, &scene));
    CHECK_OK(talus_scene_build(scene, NULL, &world));
    talus_scene_destroy(scene);
    return world;
}

/* Makes steps and fetches positions and velocities. */
static void advance(TalusWorld *world, int steps, TalusVec3 *x, TalusVec3 *v)
{
    TalusStepInfo info;
    TalusBodyState state = {.position = x, .velocity = v};
    for (int i = 0; i < steps; i++)
        CHECK_OK(talus_world_step(world, &info));
    talus_world_get_state(world, &state);
}

/* The ball of copy k slows down as the ball of a scene with that friction alone. */
TEST(copies_do_what_the_scene_does_alone)
{
    enum { COPIES = 5 };
    TalusVec3 x[COPIES * BODIES], v[COPIES * BODIES], one_x[BODIES], one_v[BODIES];
    TalusWorld *all = build("{\"copies\": {\"count\": 5, \"spacing\": [4, 3]}," BALL_ON_FLOOR "}");
    CHECK_INT(talus_world_body_count(all), COPIES * BODIES);
    CHECK_INT(talus_world_probe_count(all), COPIES);
    CHECK(strcmp(talus_world_probe_name(all, 3), "floor[3]") == 0);
    advance(all, 60, x, v);
    for (int k = 0; k < COPIES; k++) {
        char override[64];
        const char *overrides[1] = {override};
        TalusScene *scene;
        TalusWorld *one;
        snprintf(override, sizeof override, "materials.m.friction=%.17g", 0.1 * (1 + k));
        REQUIRE_OK(talus_scene_parse("{" BALL_ON_FLOOR "}", strlen("{" BALL_ON_FLOOR "}"), "s",
                                     overrides, 1, &scene));
        REQUIRE_OK(talus_scene_build(scene, NULL, &one));
        talus_scene_destroy(scene);
        advance(one, 60, one_x, one_v);
        const TalusVec3 *at = &x[k * BODIES + 3], *speed = &v[k * BODIES + 3];
        CHECK_NEAR(at->x - 4.0 * (k % 3), one_x[3].x, 1e-9);
        CHECK_NEAR(at->y - 3.0 * (k / 3) - 0.01 * k, one_x[3].y, 1e-9);
        CHECK_NEAR(at->z, one_x[3].z, 1e-9);
        CHECK_NEAR(speed->x, one_v[3].x, 1e-9);
        CHECK_NEAR(talus_world_probe_value(all, k).force.z, talus_world_probe_value(one, 0).force.z,
                   1e-6);
        talus_world_destroy(one);
    }
    talus_world_destroy(all);
}

/* Balls of different copies pass through each other, and a region counts those of its own copy. */
TEST(copies_never_meet)
{
    static const char text[] =
        "{\"copies\": {\"count\": 2, \"spacing\": [1e-3, 1e-3]}, \"gravity\": [0, 0, 0],"
        " \"solver\": {\"reference_speed\": 0.01}, \"bodies\": ["
        "  {\"radius\": 0.1, \"at\": [0, 0, 0], \"velocity\": [\"=1 - 2*copy\", 0, 0]}],"
        " \"probes\": [{\"name\": \"here\", \"region\": {\"lo\": [-9, -9, -9], \"hi\": [9, 9, 9]}}]}";
    TalusVec3 x[2], v[2];
    TalusStepInfo info;
    TalusWorld *world = build(text);
    CHECK_OK(talus_world_step(world, &info));
    CHECK_INT(info.contacts, 0);
    for (int k = 0; k < 2; k++) /* the regions are in each other, their bodies are not */
        CHECK_INT(talus_world_probe_value(world, k).bodies, 1);
    advance(world, 99, x, v);
    CHECK_NEAR(v[0].x, 1.0, 1e-15);
    CHECK_NEAR(v[1].x, -1.0, 1e-15);
    talus_world_destroy(world);
}

/* Spheres that arrive belong to the copy of their emitter: the floors of others do not hold them. */
TEST(emitters_belong_to_their_copies)
{
    static const char text[] =
        "{\"copies\": 3, \"bodies\": [{\"shape\": {\"kind\": \"plane\"}, \"at\": [0, 0, \"=-copy\"]},"
        "  {\"shape\": {\"kind\": \"plane\"}, \"at\": [-1, 0, 0], \"normal\": [1, 0, 0]},"
        "  {\"shape\": {\"kind\": \"plane\"}, \"at\": [1, 0, 0], \"normal\": [-1, 0, 0]}],"
        " \"emitters\": [{\"lo\": [-0.5, -0.5, 0.2], \"hi\": [0.5, 0.5, 0.5], \"rate\": 100,"
        "  \"count\": 1, \"radius\": 0.1}]}";
    enum { ALL = 3 * 3 + 3 };
    TalusVec3 x[ALL], v[ALL];
    TalusWorld *world = build(text);
    advance(world, 300, x, v);
    CHECK_INT(talus_world_body_count(world), ALL);
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(x[9 + k].z, 0.1 - k, 1e-3);
    talus_world_destroy(world);
}

/* A saved world with copies goes on as the one that was saved. */
TEST(copies_survive_a_checkpoint)
{
    enum { ALL = 3 * BODIES };
    TalusVec3 x[ALL], v[ALL], later_x[ALL], later_v[ALL];
    TalusWorld *world = build("{\"copies\": 3," BALL_ON_FLOOR "}"), *loaded = NULL;
    void *bytes = NULL;
    size_t size;
    advance(world, 20, x, v);
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &loaded));
    advance(world, 40, x, v);
    advance(loaded, 40, later_x, later_v);
    CHECK(memcmp(x, later_x, sizeof x) == 0 && memcmp(v, later_v, sizeof v) == 0);
    CHECK(talus_world_hash(world) == talus_world_hash(loaded));
    talus_free(bytes);
    talus_world_destroy(loaded);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(copies_do_what_the_scene_does_alone);
    RUN(copies_never_meet);
    RUN(emitters_belong_to_their_copies);
    RUN(copies_survive_a_checkpoint);
    return talus_test_result();
}
