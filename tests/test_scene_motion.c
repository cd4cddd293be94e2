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

int main(void)
{
    RUN(keys_reach_the_world);
    return talus_test_result();
}
