/* Lists of contacts of boxes alone, which one thread makes from drafts without a copy, are those of two threads, which
 * copy: in the first step, when drafts are too small, in later ones, and when spheres come and go. */
#include "support/test.h"

#include <talus/talus.h>

enum { SIDE = 9, HEIGHT = 7, STEPS = 3 };

/* Adds stacks of boxes on a floor, which touch: four contacts of each pair, twice as many as drafts have room for. */
static TalusWorld *stack_boxes(int threads)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world;
    def.threads = threads;
    CHECK_OK(talus_world_create(&def, &world));
    TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.1, 0.1}};
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusMaterialDef material = talus_material_def_default();
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 x[SIDE * SIDE * HEIGHT], origin = {0, 0, 0};
    material.name = "wood";
    material.density = 600;
    CHECK_OK(talus_world_add_material(world, &material, &batch.material));
    CHECK_OK(talus_world_add_shape(world, &plane, &batch.shape));
    batch.fixed = true;
    batch.count = 1;
    batch.position = &origin;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    CHECK_OK(talus_world_add_shape(world, &box, &batch.shape));
    for (int i = 0; i < SIDE * SIDE * HEIGHT; i++)
        x[i] = talus_vec3(0.25 * (i % SIDE), 0.25 * (i / SIDE % SIDE),
                          0.0999 + 0.1998 * (i / SIDE / SIDE));
    batch.fixed = false;
    batch.count = SIDE * SIDE * HEIGHT;
    batch.position = x;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    return world;
}

static TalusBodyId add_sphere(TalusWorld *world)
{
    TalusShapeDef sphere = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 x = {0.25, 0.25, 0.0999 + 0.1998 * HEIGHT};
    TalusBodyId id;
    CHECK_OK(talus_world_add_shape(world, &sphere, &batch.shape));
    batch.count = 1;
    batch.position = &x;
    CHECK_OK(talus_world_add_bodies(world, &batch, &id));
    return id;
}

/* Steps both worlds; every step has the same contacts and the same bits. */
static void step_both(TalusWorld *one, TalusWorld *two, int least)
{
    for (int k = 0; k < STEPS; k++) {
        TalusStepInfo a, b;
        CHECK_OK(talus_world_step(one, &a));
        CHECK_OK(talus_world_step(two, &b));
        CHECK_INT(a.contacts, b.contacts);
        CHECK(a.contacts >= least);
        CHECK(talus_world_hash(one) == talus_world_hash(two));
    }
}

TEST(lists_from_drafts_are_those_that_are_copied)
{
    const int boxes = 4 * SIDE * SIDE * HEIGHT;
    TalusWorld *one = stack_boxes(1), *two = stack_boxes(2);
    step_both(one, two, boxes);
    TalusBodyId first = add_sphere(one), second = add_sphere(two);
    step_both(one, two, boxes + 1);
    CHECK_OK(talus_world_remove_body(one, first));
    CHECK_OK(talus_world_remove_body(two, second));
    step_both(one, two, boxes);
    talus_world_destroy(one);
    talus_world_destroy(two);
}

int main(void)
{
    RUN(lists_from_drafts_are_those_that_are_copied);
    return talus_test_result();
}
