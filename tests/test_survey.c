/* The survey of a world: bodies that will arrive have the data that they have once they are there. */
#include "test_world_scene.h"
#include "world/source/survey.h"

/* Compares the data of a body in slot 0 with those of the same body in a delayed batch. */
static void check_same_data(const TalusWorld *there, const TalusWorld *delayed)
{
    TalusSurveyBody a = talus_survey_body(there, (TalusBodyRef){-1, 0});
    TalusSurveyBody b = talus_survey_body(delayed, (TalusBodyRef){0, 0});
    CHECK(a.shape_index == b.shape_index && a.group == b.group && a.fixed == b.fixed);
    CHECK(memcmp(&a.position, &b.position, sizeof a.position) == 0);
    CHECK(memcmp(&a.velocity, &b.velocity, sizeof a.velocity) == 0);
    CHECK(memcmp(&a.orientation, &b.orientation, sizeof a.orientation) == 0);
    CHECK(a.radius == b.radius && a.size == b.size && a.volume == b.volume);
    CHECK_NEAR(b.mass, a.mass, 1e-15 * a.mass);
}

static void check_batch(TalusShapeDef shape, TalusBodyBatch batch)
{
    TalusWorldDef def = quick_def(1);
    TalusMaterialDef material = talus_material_def_default();
    def.period = (TalusPeriod){{-2.0, 0.0, 0.0}, {2.0, 0.0, 0.0}, {1, 0, 0}, 0.0};
    material.density = 3.0;
    TalusWorld *there = make_world(&def), *delayed = make_world(&def);
    CHECK_OK(talus_world_add_shape(there, &shape, &batch.shape));
    CHECK_OK(talus_world_add_shape(delayed, &shape, &batch.shape));
    CHECK_OK(talus_world_add_material(there, &material, &batch.material));
    CHECK_OK(talus_world_add_material(delayed, &material, &batch.material));
    CHECK_OK(talus_world_add_bodies(there, &batch, NULL));
    CHECK_OK(talus_world_add_bodies_at(delayed, 1.0, &batch));
    check_same_data(there, delayed);
    talus_world_destroy(there);
    talus_world_destroy(delayed);
}

TEST(delayed_bodies_have_the_data_of_their_arrival)
{
    TalusShapeDef sphere = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.5};
    TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.2, 0.3}};
    TalusVec3 position = {9.0, 1.0, 2.0}, velocity = {1.0, 2.0, 3.0};
    TalusQuat nearly_unit = {0.6001, 0.8, 0.0, 0.0};
    double radius = 0.25;
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 1;
    batch.group = 3;
    batch.position = &position;
    batch.velocity = &velocity;
    check_batch(sphere, batch);
    check_batch(box, batch);
    batch.radius = &radius;
    check_batch(sphere, batch);
    batch.radius = NULL;
    batch.orientation = &nearly_unit;
    batch.mass = 7.0;
    check_batch(box, batch);
    batch.fixed = true;
    check_batch(box, batch);
}

int main(void)
{
    RUN(delayed_bodies_have_the_data_of_their_arrival);
    return talus_test_result();
}
