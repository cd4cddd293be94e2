/* A box that is struck within a step does not go through a box that nobody watched. */
#include "support/test.h"

#include <talus/talus.h>

enum { BOXES = 3 };

/* Three boxes of 0.2 m in a row: the heavy first one flies at 40 m/s, 0.2 m a step, and is about to strike the
 * second; the third is out of the envelope until that moves. */
static double overlap_after(TalusWorldDef def, int steps, TalusStepInfo *info)
{
    TalusWorld *world;
    def.gravity = talus_vec3(0, 0, 0);
    def.reference_speed = 0.05;
    def.step = 0.005;
    def.tolerance = 1e-3;
    CHECK_OK(talus_world_create(&def, &world));
    TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.1, 0.1}};
    const double at[BOXES] = {0.0, 0.25, 0.55};
    for (int i = 0; i < BOXES; i++) {
        TalusMaterialDef material = talus_material_def_default();
        char name[] = {'m', (char)('0' + i), 0};
        TalusBodyBatch batch = talus_body_batch_default();
        TalusVec3 x = {at[i], 0, 0}, v = {i == 0 ? 40.0 : 0.0, 0, 0};
        material.name = name;
        material.density = i == 0 ? 1e5 : 1e3;
        CHECK_OK(talus_world_add_material(world, &material, &batch.material));
        CHECK_OK(talus_world_add_shape(world, &box, &batch.shape));
        batch.count = 1;
        batch.position = &x;
        batch.velocity = &v;
        CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    }
    for (int k = 0; k < steps; k++)
        CHECK_OK(talus_world_step(world, info));
    TalusVec3 x[BOXES];
    TalusBodyState state = {.position = x};
    talus_world_get_state(world, &state);
    talus_world_destroy(world);
    return 0.2 - (x[2].x - x[1].x);
}

TEST(a_struck_box_meets_the_next_one)
{
    TalusStepInfo info;
    CHECK(overlap_after(talus_world_def_relaxed(), 1, &info) < 1e-4);
    CHECK(info.contacts == 8); /* four touches of each pair */
    TalusWorldDef def = talus_world_def_default();
    CHECK(overlap_after(def, 1, &info) < 1.1 * def.elastic_overlap * 0.1);
    CHECK(info.contacts == 8);
}

TEST(the_cost_of_first_solves_is_told_apart)
{
    TalusStepInfo info;
    overlap_after(talus_world_def_relaxed(), 1, &info);
    CHECK(info.first_iterations > 0 && info.first_iterations < info.solve.iterations);
    CHECK(info.first_products > 0 && info.first_products < info.solve.products);
    overlap_after(talus_world_def_relaxed(), 30, &info); /* apart again, nothing is solved twice */
    CHECK_INT(info.first_iterations, info.solve.iterations);
    CHECK_INT(info.first_products, info.solve.products);
}

int main(void)
{
    RUN(a_struck_box_meets_the_next_one);
    RUN(the_cost_of_first_solves_is_told_apart);
    return talus_test_result();
}
