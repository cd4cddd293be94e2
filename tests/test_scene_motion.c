/* Scene keys of driven bodies, forces, groups, periods and sleep: each does in a world what it says. */
#include "support/test.h"

#include <math.h>
#include <string.h>
#include <talus/io.h>
#include <talus/world.h>

static const char scene_text[] =
    "{\"step\": 0.01, \"gravity\": [0, 0, 0], \"solver\": {\"reference_speed\": 0.01},"
    " \"period\": {\"y\": [-2, 2]}, \"sleep\": {\"speed\": 0.5, \"steps\": 7},"
    " \"apart\": [{\"between\": [\"dust\", \"dust\"]}, {\"between\": [\"dust\", \"ice\"]}],"
    " \"bodies\": ["
    "  {\"name\": \"drum\", \"shape\": {\"kind\": \"box\", \"half\": [0.1, 0.1, 0.1]},"
    "   \"at\": [[5, 0, 0], [7, 0, 0]],"
    "   \"drive\": {\"velocity\": [0, 0, 1], \"amplitude\": [0.5, 0, 0], \"frequency\": 0.25,"
    "             \"spin\": [0, 0, 3.14159265358979], \"point\": [6, 0, 0], \"start\": 0.5,"
    "             \"stop\": 1.5}},"
    "  {\"radius\": 0.1, \"at\": [[0, 0, 0], [0.1, 0, 0]], \"group\": \"dust\"},"
    "  {\"radius\": 0.1, \"at\": [0, 0.1, 0], \"group\": \"ice\"},"
    "  {\"radius\": 0.1, \"at\": [0, 5, 3], \"mass\": 2, \"force\": [4, 0, 0],"
    "   \"torque\": [0, 0, 1]}]}";

TEST(keys_reach_the_world)
{
    TalusScene *scene;
    TalusWorld *world;
    TalusStepInfo info;
    TalusVec3 x[6], v[6], w[6];
    bool fixed[6];
    REQUIRE_OK(talus_scene_parse(scene_text, strlen(scene_text), "s", NULL, 0, &scene));
    REQUIRE_OK(talus_scene_build(scene, NULL, &world));
    for (int i = 0; i < 200; i++) {
        CHECK_OK(talus_world_step(world, &info));
        CHECK_INT(info.contacts, 0); /* three balls lie in one another: dust, dust and ice */
    }
    TalusBodyState state = {.position = x, .velocity = v, .spin = w, .fixed = fixed};
    talus_world_get_state(world, &state);
    /* half a turn about x = 6, one second of lift, a quarter of the sine */
    CHECK(fixed[0] && fixed[1] && !fixed[2]);
    CHECK_NEAR(x[0].x, 7.5, 1e-12);
    CHECK_NEAR(x[1].x, 5.5, 1e-12);
    CHECK_NEAR(x[0].z, 1.0, 1e-12);
    CHECK_NEAR(x[5].y, 1.0, 1e-15); /* 5 is 1, four further */
    CHECK_NEAR(v[5].x, 4.0, 1e-12);
    CHECK_NEAR(w[5].z, 2.0 / (0.4 * 2.0 * 0.01), 1e-9);
    CHECK(talus_world_period(world).on[1] == 1 && talus_world_period(world).on[0] == 0);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

/* Tables: a displacement and a velocity that are linear in between, beside a motion of a constant velocity. */
TEST(tables_of_a_drive)
{
    static const char tables[] =
        "{\"step\": 0.01, \"gravity\": [0, 0, 0], \"solver\": {\"reference_speed\": 0.01}, \"bodies\": ["
        " {\"shape\": {\"kind\": \"box\", \"half\": [0.1, 0.1, 0.1]}, \"at\": [1, 2, 3],"
        "  \"drives\": [{\"displacements\": [[0.1, 0, 0, 0], [0.2, 0, 0, 0.5], [0.4, 0, 0, -0.1]],"
        "               \"velocity\": [0, 1, 0], \"stop\": 0.3},"
        "              {\"velocities\": [[0.1, 0, 0, 0], [0.3, 1, 0, 0], [0.5, 1, 0, 0], [0.6, 0, 0, 0]]}]}]}";
    const double when[] = {0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7};
    const double x[] = {0.0, 0.00625, 0.025, 0.1, 0.2, 0.3, 0.35};
    const double z[] = {0.0, 0.25, 0.5, 0.2, -0.1, -0.1, -0.1};
    TalusScene *scene;
    TalusWorld *world;
    REQUIRE_OK(talus_scene_parse(tables, strlen(tables), "s", NULL, 0, &scene));
    REQUIRE_OK(talus_scene_build(scene, NULL, &world));
    TalusVec3 at, v;
    TalusBodyState state = {.position = &at, .velocity = &v};
    for (int i = 1, k = 0; i <= 70; i++) {
        CHECK_OK(talus_world_step(world, NULL));
        talus_world_get_state(world, &state);
        if (fabs(i * 0.01 - when[k]) > 1e-9)
            continue;
        CHECK_NEAR(at.x, 1.0 + x[k], 1e-12);
        CHECK_NEAR(at.y, 2.0 + fmin(when[k], 0.3), 1e-12);
        CHECK_NEAR(at.z, 3.0 + z[k], 1e-12);
        k++;
    }
    CHECK(talus_norm(v) < 1e-12);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

int main(void)
{
    RUN(keys_reach_the_world);
    RUN(tables_of_a_drive);
    return talus_test_result();
}
