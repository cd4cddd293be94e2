/* Worlds on several ranks: bodies that enter and leave during the run, probes, and calls that name a body. */
#include "ranks_world.h"

enum { STEPS = SANITIZED ? 9 : 30 };
static const RanksGrid all_ranks = {8, {1, 1, 2, 2, 3, 3, 5, 5}, {1, 2, 1, 2, 1, 2, 1, 2}};
static const RanksGrid few_ranks = {4, {1, 2, 3, 5}, {1, 2, 1, 1}};

/* ---- a stream of spheres over a table ---- */

/* Half the width of the table, m. */
static const double TABLE = 0.1;

/* Adds an emitter above the table, from which spheres fly to its edge. */
static TalusStatus add_stream(TalusWorld *world, double start, double x, uint64_t seed)
{
    TalusEmitterDef def = talus_emitter_def_default();
    def.lo = (TalusVec3){x - 0.05, -0.09, 0.03};
    def.hi = (TalusVec3){x + 0.05, 0.09, 0.10};
    def.rate = 3000.0;
    def.start = start;
    def.count = 1200;
    def.radius_min = 0.004;
    def.radius_max = 0.006;
    def.velocity = (TalusVec3){0.6, 0.1, -1.5};
    def.density = 2500.0;
    def.seed = seed;
    return talus_world_add_emitter(world, &def);
}

/* Copies a batch of spheres that arrives at `time` in a plane above the stream. */
static TalusStatus add_late(TalusWorld *world, double time)
{
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.007};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 position[100], velocity[100];
    for (int k = 0; k < 100; k++) {
        position[k] = (TalusVec3){0.018 * (k % 10 - 4.5), 0.018 * (k / 10 - 4.5), 0.12};
        velocity[k] = (TalusVec3){0.0, 0.1, -1.0};
    }
    batch.count = 100;
    batch.position = position;
    batch.velocity = velocity;
    batch.density = 1500.0;
    batch.force = (TalusVec3){0.0, 1e-3, 0.0};
    TalusStatus status = talus_world_add_shape(world, &shape, &batch.shape);
    return status == TALUS_OK ? talus_world_add_bodies_at(world, time, &batch) : status;
}

/* Adds probes of the table, of a region above it, of one that lies half beside it, and of a disc above the table. */
static TalusStatus add_probes(TalusWorld *world, TalusBodyId table)
{
    const TalusProbeDef def[4] = {
        {.name = "table", .kind = TALUS_PROBE_BODY, .body = table},
        {.name = "above",
         .kind = TALUS_PROBE_REGION,
         .lo = {-0.05, -0.05, 0.0},
         .hi = {0.02, 0.04, 0.03}},
        {.name = "edge",
         .kind = TALUS_PROBE_REGION,
         .lo = {0.07, -0.2, -1.0},
         .hi = {0.3, 0.2, 1.0}},
        {.name = "disc",
         .kind = TALUS_PROBE_PLANE,
         .at = {0.02, 0.0, 0.02},
         .normal = {0.1, 0.0, -1.0},
         .radius = 0.06},
    };
    TalusStatus status = TALUS_OK;
    for (int k = 0; k < 4 && status == TALUS_OK; k++)
        status = talus_world_add_probe(world, &def[k], NULL);
    return status;
}

static TalusStatus make_stream(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef table = {.kind = TALUS_SHAPE_BOX, .half = {TABLE, TABLE, 0.02}};
    TalusBodyId id;
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_fixed(*world, &table, talus_vec3(0.0, 0.0, -0.02), talus_quat_identity(), &id));
    TALUS_TRY(add_stream(*world, 0.0, -0.02, 1));
    TALUS_TRY(add_stream(*world, 0.02, 0.03, 2));
    TALUS_TRY(add_late(*world, 0.05));
    TALUS_TRY(talus_world_add_sink(*world, 2, -0.002));
    TALUS_TRY(talus_world_add_sink(*world, 1, -0.09));
    return add_probes(*world, id);
}

TEST(a_stream_over_a_table_into_sinks_has_the_same_bits_on_any_ranks)
{
    const RanksCase of = {.name = "stream",
                          .make = make_stream,
                          .steps = STEPS,
                          .grid = SANITIZED ? NULL : &all_ranks};
    TalusStepInfo last = compare_ranks(&of);
    CHECK(STEPS < 30 || last.bodies > 300);
    CHECK(STEPS < 30 || last.bodies < 900); /* some are in the sinks */
}

/* ---- periodic space ---- */

static TalusStatus make_periodic_stream(TalusWorldDef *def, TalusWorld **world)
{
    def->period = (TalusPeriod){
        .on = {true, true, false}, .lo = {-0.16, -0.16, 0.0}, .hi = {0.16, 0.16, 0.0}};
    TalusStatus status = make_stream(def, world);
    return status == TALUS_OK ? add_stream(*world, 0.0, 0.14, 3) : status; /* across the border */
}

TEST(a_stream_through_periodic_space_has_the_same_bits_on_any_ranks)
{
    const RanksCase of = {.name = "periodic stream",
                          .make = make_periodic_stream,
                          .steps = STEPS / 3,
                          .grid = &few_ranks};
    compare_ranks(&of);
}

TEST(a_stream_is_divided_and_gathered)
{
    const RanksCase of = {.name = "stream", .make = make_stream, .solver = "apgd", .steps = STEPS};
    compare_parts(&of);
}

/* ---- steps that fail ---- */

static TalusStatus make_strict(TalusWorldDef *def, TalusWorld **world)
{
    def->on_miss = TALUS_MISS_STOP;
    return make_stream(def, world);
}

/* Makes every fifth step with a tolerance that it misses, so that it fails and everything is undone. */
static TalusStatus fail_and_repeat(TalusWorld *world, int k)
{
    if (k % 5 != 4)
        return TALUS_OK;
    TalusStatus status = talus_world_set_accuracy(world, 1e-14, 2);
    CHECK(talus_world_step(world, NULL) == TALUS_ERR_TOLERANCE);
    return status == TALUS_OK ? talus_world_set_accuracy(world, 1e-2, 1000) : status;
}

TEST(a_step_that_fails_is_undone_on_all_ranks)
{
    const RanksCase of = {.name = "failing steps",
                          .make = make_strict,
                          .act = fail_and_repeat,
                          .steps = STEPS / 2,
                          .grid = &few_ranks};
    compare_ranks(&of);
}

/* ---- calls that name a body ---- */

/* Removes bodies, pushes others, and adds some where bodies were removed. */
static TalusStatus push_and_remove(TalusWorld *world, int k)
{
    const uint64_t first = 6, pick = first + (uint64_t)(97 * k) % HEAP;
    TalusBodyBatch batch = talus_body_batch_default();
    const TalusVec3 above = {0.05 + 0.001 * k, 0.1, 0.4 + 0.02 * (k % 10)};
    TalusStatus status = TALUS_OK;
    batch.count = 1;
    batch.shape = 5;
    batch.position = &above;
    batch.density = 1000.0;
    for (uint64_t j = 0; j < 3 && status == TALUS_OK; j++) {
        TalusStatus removed = talus_world_remove_body(world, (TalusBodyId){pick + j});
        CHECK(removed == TALUS_OK || removed == TALUS_ERR_ARGUMENT);
    }
    TalusStatus pushed = talus_world_set_velocity(world, (TalusBodyId){pick + 5},
                                                  (TalusVec3){0.1, 0.3, 2.0}, (TalusVec3){9, 0, 0});
    CHECK(pushed == TALUS_OK || pushed == TALUS_ERR_ARGUMENT);
    pushed = talus_world_set_force(world, (TalusBodyId){pick + 7}, (TalusVec3){0.0, 0.01, 0.05},
                                   (TalusVec3){0.0, 1e-5, 0.0});
    CHECK(pushed == TALUS_OK || pushed == TALUS_ERR_ARGUMENT);
    if (k % 2 == 0)
        status = talus_world_add_bodies(world, &batch, NULL);
    return status;
}

TEST(bodies_are_pushed_and_removed_alike_on_any_ranks)
{
    const RanksCase of = {.name = "pushes",
                          .make = make_heap,
                          .act = push_and_remove,
                          .steps = STEPS / 2,
                          .grid = &few_ranks};
    compare_ranks(&of);
}

/* What calls answered on a rank. */
typedef struct Answers {
    TalusStatus status[4];
    char text[4][200];
} Answers;

static TalusStatus ask_in_vain(TalusComm *comm, void *context)
{
    Answers *all = context, *mine = &all[talus_comm_rank(comm)];
    const TalusVec3 up = {0, 0, 1};
    const TalusBodyId missing = {HEAP + 1000}, wall = {1};
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.comm = comm;
    def.threads = 1;
    TalusStatus status = make_heap(&def, &world);
    for (int k = 0; k < 4 && status == TALUS_OK; k++) {
        mine->status[k] = k == 0   ? talus_world_remove_body(world, missing)
                          : k == 1 ? talus_world_set_velocity(world, missing, up, up)
                          : k == 2 ? talus_world_set_velocity(world, wall, up, up)
                                   : talus_world_set_force(world, wall, up, up);
        snprintf(mine->text[k], sizeof mine->text[k], "%s", talus_error());
    }
    const TalusProbeDef probe = {.name = "none", .kind = TALUS_PROBE_BODY, .body = missing};
    if (status == TALUS_OK)
        CHECK(talus_world_add_probe(world, &probe, NULL) == TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
    return status;
}

TEST(all_ranks_refuse_alike_what_no_body_can_do)
{
    enum { RANKS = 3 };
    Answers one = {0}, all[RANKS] = {0};
    CHECK_OK(talus_ranks_run(1, ask_in_vain, &one));
    CHECK_OK(talus_ranks_run(RANKS, ask_in_vain, all));
    for (int k = 0; k < 4 * RANKS; k++) {
        CHECK(all[k / 4].status[k % 4] == TALUS_ERR_ARGUMENT);
        CHECK(strcmp(all[k / 4].text[k % 4], one.text[k % 4]) == 0);
    }
}

/* ---- the warning of arrivals ---- */

/* The last warning that bodies arrive where others are, and how many there were. */
typedef struct Warning {
    int count;
    char text[300];
} Warning;

static void store_warning(void *user, TalusLogLevel level, const char *event, const char *text)
{
    Warning *warning = user;
    (void)level;
    if (strcmp(event, "step.overlap") != 0)
        return;
    warning->count++;
    snprintf(warning->text, sizeof warning->text, "%s", text);
}

static TalusStatus run_into_others(TalusComm *comm, void *context)
{
    Warning *all = context;
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    TalusBodyBatch batch = talus_body_batch_default();
    const TalusVec3 position[2] = {{0.0115, 0.0125, 0.014}, {0.0815, 0.1, 0.09}};
    def.comm = comm;
    def.threads = 1;
    def.solver = "apgd";
    TalusStatus status = make_heap(&def, &world);
    batch.count = 2;
    batch.shape = 5;
    batch.position = position;
    batch.density = 1000.0;
    if (status == TALUS_OK) {
        talus_world_set_log(world, store_warning, &all[talus_comm_rank(comm)]);
        status = talus_world_add_bodies_at(world, 0.009, &batch);
    }
    for (int k = 0; k < 5 && status == TALUS_OK; k++)
        status = talus_world_step(world, NULL);
    talus_world_destroy(world);
    return status;
}

TEST(every_rank_warns_of_the_same_arrival)
{
    enum { RANKS = 3 };
    Warning one = {0}, all[RANKS] = {0};
    CHECK_OK(talus_ranks_run(1, run_into_others, &one));
    CHECK_OK(talus_ranks_run(RANKS, run_into_others, all));
    CHECK_INT(one.count, 1);
    for (int r = 0; r < RANKS; r++) {
        CHECK_INT(all[r].count, 1);
        CHECK(strcmp(all[r].text, one.text) == 0);
    }
}

int main(void)
{
    RUN(a_stream_over_a_table_into_sinks_has_the_same_bits_on_any_ranks);
    RUN(a_stream_through_periodic_space_has_the_same_bits_on_any_ranks);
    RUN(a_stream_is_divided_and_gathered);
    RUN(a_step_that_fails_is_undone_on_all_ranks);
    RUN(bodies_are_pushed_and_removed_alike_on_any_ranks);
    RUN(all_ranks_refuse_alike_what_no_body_can_do);
    RUN(every_rank_warns_of_the_same_arrival);
    return talus_test_result();
}
