/* Worlds on several ranks: islands fall asleep and wake as on one rank. */
#include "ranks_world.h"

enum {
    WIDE = 13,
    LAYERS = 3,
    COLUMNS = WIDE * WIDE,
    STEPS = 44,
    SWEEP_STEPS = 32,
    PART_STEPS = 36
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
    def->sleep_speed = 1.0;
    def->sleep_steps = 6;
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_plane(*world, talus_vec3(0, 0, 0), talus_vec3(0, 0, 1), NULL));
    TALUS_TRY(add_columns(*world));
    TALUS_TRY(add_planks(*world));
    return add_shots(*world, 0.09);
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
    const RanksCase of = {.name = "columns", .make = make_columns, .act = disturb, .steps = STEPS};
    TalusStepInfo last = compare_ranks(&of);
    CHECK(last.asleep > 100);
    CHECK(last.asleep < LAYERS * COLUMNS);
}

TEST(sleeping_columns_are_divided_and_gathered)
{
    const RanksCase of = {
        .name = "columns", .make = make_columns, .solver = "apgd", .steps = PART_STEPS};
    compare_parts(&of);
}

/* Columns, and a driven box that sweeps some of them away, with a probe of a region. */
static TalusStatus make_swept(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_BOX, .half = {HALF, 2.0 * HALF, HALF}};
    const TalusVec3 at = {-0.06, 5.0 * APART, 3.0 * HALF};
    const TalusProbeDef probe = {.name = "middle",
                                 .kind = TALUS_PROBE_REGION,
                                 .lo = {0.05, 0.05, 0.0},
                                 .hi = {0.25, 0.25, 0.1}};
    TalusDriveDef drive = talus_drive_def_default();
    TalusBodyId id;
    drive.velocity = (TalusVec3){0.7, 0.0, 0.0};
    drive.start = 0.05;
    drive.stop = 0.2;
    TALUS_TRY(make_columns(def, world));
    TALUS_TRY(add_fixed(*world, &shape, at, talus_quat_identity(), &id));
    TALUS_TRY(talus_world_set_drive(*world, id, &drive));
    return talus_world_add_probe(*world, &probe, NULL);
}

TEST(a_driven_body_wakes_columns_alike_on_any_ranks)
{
    const RanksCase of = {.name = "swept", .make = make_swept, .steps = SWEEP_STEPS};
    TalusStepInfo last = compare_ranks(&of);
    CHECK(last.asleep > 100);
    CHECK(last.contacts > 20);
}

/* The upper boxes of two columns, which are joined. */
static const TalusBodyId joined[2] = {{2 + 2 * COLUMNS + 5 * WIDE + 6},
                                      {3 + 2 * COLUMNS + 5 * WIDE + 6}};

static TalusStatus join_columns(TalusWorld *world)
{
    TalusJointDef def = talus_joint_def_default();
    def.kind = TALUS_JOINT_BALL;
    def.a = joined[0];
    def.b = joined[1];
    def.point = (TalusVec3){APART * 6.5, APART * 5.0, 5.0 * HALF};
    return talus_world_add_joint(world, &def, NULL);
}

static TalusStatus make_joined(TalusWorldDef *def, TalusWorld **world)
{
    TalusStatus status = make_columns(def, world);
    return status == TALUS_OK ? join_columns(*world) : status;
}

TEST(joined_and_sleeping_columns_are_divided_and_gathered)
{
    const RanksCase of = {
        .name = "joined columns", .make = make_joined, .solver = "apgd", .steps = PART_STEPS};
    compare_parts(&of);
}

/* Joins two columns that sleep, which must stay awake then, and removes one of the joined boxes. */
static TalusStatus join_and_part(TalusWorld *world, int k)
{
    if (k == 10)
        return join_columns(world);
    if (k != 26)
        return TALUS_OK;
    CHECK_INT(talus_world_joint_count(world), 1);
    TalusStatus status = talus_world_remove_body(world, joined[0]);
    CHECK_INT(talus_world_joint_count(world), 0);
    return status;
}

TEST(columns_that_are_joined_and_parted_sleep_alike_on_any_ranks)
{
    const RanksCase of = {
        .name = "joined", .make = make_columns, .act = join_and_part, .steps = STEPS};
    CHECK(compare_ranks(&of).asleep > 100);
}

int main(void)
{
    RUN(columns_sleep_and_wake_alike_on_any_ranks);
    RUN(sleeping_columns_are_divided_and_gathered);
    RUN(joined_and_sleeping_columns_are_divided_and_gathered);
    RUN(columns_that_are_joined_and_parted_sleep_alike_on_any_ranks);
    RUN(a_driven_body_wakes_columns_alike_on_any_ranks);
    return talus_test_result();
}
