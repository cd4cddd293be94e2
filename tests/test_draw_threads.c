/* Pictures: the number of threads does not show; memory may run out. */
#include "base/memory.h"
#include "base/rng.h"
#include "draw_scene.h"
#include "support/test.h"

static Scene scene;

static void pile(int bodies)
{
    TalusRng rng = talus_rng_from_seed(7);
    scene_clear(&scene);
    for (int k = 0; k < bodies; k++) {
        double x = 8.0 * talus_rng_uniform(&rng), y = 8.0 * talus_rng_uniform(&rng);
        int row = scene_add(&scene, k % 3, talus_vec3(x, y, 8.0 * talus_rng_uniform(&rng)), 0.7);
        scene.speed[row] = talus_rng_uniform(&rng);
        TalusQuat q = {1.0, x - y, 0.3 * y, 0.2 * x};
        scene.orientation[row] = talus_quat_normalize(q);
    }
    scene_wall(&scene, GROUND, talus_vec3(0, 0, -1));
    scene_wall(&scene, CUP, talus_vec3(4, 4, 4));
}

TEST(threads_do_not_show)
{
    TalusDrawDef def = scene_def();
    TalusImage one, four;
    TalusPool *pool;
    pile(300);
    def.width = 150;
    def.height = 110;
    def.container = TALUS_CONTAINER_GHOST;
    def.colour = TALUS_COLOUR_SPEED;
    def.azimuth = -55.0;
    def.elevation = 20.0;
    REQUIRE_OK(talus_draw(&scene_head, &scene.s, &def, NULL, &one));
    REQUIRE_OK(talus_pool_create(4, &pool));
    CHECK_OK(talus_draw(&scene_head, &scene.s, &def, pool, &four));
    talus_pool_destroy(pool);
    CHECK(memcmp(one.pixel, four.pixel, (size_t)4 * 150 * 110) == 0);
    talus_image_free(&one);
    talus_image_free(&four);
}

TEST(every_allocation_may_fail)
{
    TalusDrawDef def = scene_def();
    pile(9);
    def.width = def.height = 16;
    def.container = TALUS_CONTAINER_GHOST;
    check_draw_memory(&scene_head, &scene.s, &def, 2000, 4);
}

int main(void)
{
    RUN(threads_do_not_show);
    RUN(every_allocation_may_fail);
    return talus_test_result();
}
