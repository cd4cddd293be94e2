/* Worlds on several ranks: islands fall asleep and wake as on one rank. */
#include "ranks_world.h"

/* Numbers of ranks and threads of each; with a sanitizer few, since each exchange then takes long. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static const int grid[][2] = {{1, 1}, {3, 2}};
#else
static const int grid[][2] = {{1, 1}, {1, 2}, {2, 1}, {3, 2}, {5, 1}};
#endif
enum {
    GRID = sizeof grid / sizeof *grid,
    WIDE = 13,
    LAYERS = 3,
    COLUMNS = WIDE * WIDE,
    STEPS = 44
};

/* m: half the edge of a box, distance of columns. */
static const double HALF = 0.01, APART = 0.03;

/* Adds columns of boxes, layer by layer, so that the boxes of a column have numbers in several blocks. */
static TalusStatus add_columns(TalusWorld *world)
{
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_BOX, .half = {HALF, HALF, HALF}};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 position[LAYERS * COLUMNS];
    for (int k = 0; k < LAYERS * COLUMNS; k++)
        position[k] = (TalusVec3){APART * (k % WIDE), APART * (k / WIDE % WIDE),
                                  HALF * (1.0 + 2.0 * (k / COLUMNS))};
    batch.count = LAYERS * COLUMNS;
    batch.position = position;
    batch.density = 2000.0;
    TalusStatus status = talus_world_add_shape(world, &shape, &batch.shape);
    return status == TALUS_OK ? talus_world_add_bodies(world, &batch, NULL) : status;
}

/* Adds planks over rows of columns, so that islands are long. */
static TalusStatus add_planks(TalusWorld *world)
{
    const double length = APART * (WIDE - 1);
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_BOX,
                                 .half = {0.5 * length + HALF, HALF, 0.5 * HALF}};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 position[WIDE / 2];
    for (int k = 0; k < WIDE / 2; k++)
        position[k] = (TalusVec3){0.5 * length, 2.0 * APART * k, HALF * (2.0 * LAYERS + 0.5)};
    batch.count = WIDE / 2;
    batch.position = position;
    batch.density = 500.0;
    TalusStatus status = talus_world_add_shape(world, &shape, &batch.shape);
    return status == TALUS_OK ? talus_world_add_bodies(world, &batch, NULL) : status;
}

/* Adds spheres that arrive later and hit some of the columns. */
static TalusStatus add_shots(TalusWorld *world, double time)
{
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.008};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 position[4], velocity[4];
    for (int k = 0; k < 4; k++) {
        position[k] = (TalusVec3){-0.03, 3.0 * APART * k + 0.001, 0.05};
        velocity[k] = (TalusVec3){1.5, 0.0, 0.2};
    }
    batch.count = 4;
    batch.position = position;
    batch.velocity = velocity;
    batch.density = 4000.0;
    TalusStatus status = talus_world_add_shape(world, &shape, &batch.shape);
    return status == TALUS_OK ? talus_world_add_bodies_at(world, time, &batch) : status;
}

static TalusStatus make_columns(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    const TalusVec3 origin = {0, 0, 0};
    TalusBodyBatch floor = talus_body_batch_default();
    floor.count = 1;
    floor.fixed = true;
    floor.position = &origin;
    def->sleep_speed = 1.0;
    def->sleep_steps = 6;
    TalusStatus status = talus_world_create(def, world);
    status = status == TALUS_OK ? talus_world_add_shape(*world, &plane, &floor.shape) : status;
    status = status == TALUS_OK ? talus_world_add_bodies(*world, &floor, NULL) : status;
    status = status == TALUS_OK ? add_columns(*world) : status;
    status = status == TALUS_OK ? add_planks(*world) : status;
    return status == TALUS_OK ? add_shots(*world, 0.09) : status;
}

/* Wakes islands by calls, and all of them by a removal. */
static TalusStatus disturb(TalusWorld *world, int k)
{
    const TalusVec3 up = {0.0, 0.0, 0.3}, none = {0.0, 0.0, 0.0};
    if (k == 13) /* a column alone: its upper box */
        return talus_world_set_velocity(world, (TalusBodyId){2 + 2 * COLUMNS + WIDE + 4}, up, none);
    if (k == 14) /* a row with a plank: its lowest box */
        return talus_world_set_force(world, (TalusBodyId){2 + 2 * WIDE + 5}, up, none);
    if (k == 34)
        return talus_world_remove_body(world, (TalusBodyId){2 + COLUMNS + 7});
    return TALUS_OK;
}

TEST(columns_sleep_and_wake_alike_on_any_ranks)
{
    TalusStepInfo last = compare_ranks("columns", make_columns, disturb, STEPS, grid, GRID);
    CHECK(last.asleep > 100);
    CHECK(last.asleep < LAYERS * COLUMNS);
}

int main(void)
{
    RUN(columns_sleep_and_wake_alike_on_any_ranks);
    return talus_test_result();
}
