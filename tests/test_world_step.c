/* The step: determinism, missed tolerances, failures that leave no trace, memory. */
#include "test_world_scene.h"

TEST(hash_is_equal_for_any_number_of_threads)
{
    static const int threads[4] = {1, 2, 3, 8};
    uint64_t hash[4];
    for (int k = 0; k < 4; k++) {
        TalusWorld *world = make_heap(threads[k], 120);
        CHECK_INT(talus_world_threads(world), threads[k]);
        run(world, 120);
        hash[k] = talus_world_hash(world);
        talus_world_destroy(world);
    }
    for (int k = 1; k < 4; k++)
        CHECK(hash[k] == hash[0]);
}

/* A heap that still settles may once in a while find more contacts than ever before. */
TEST(a_warm_step_allocates_nothing)
{
    TalusWorld *world = make_heap(2, 120);
    run(world, 200);
    uint64_t least = UINT64_MAX;
    for (int window = 0; window < 5 && least > 0; window++) {
        uint64_t before = talus_allocation_count();
        run(world, 20);
        uint64_t made = talus_allocation_count() - before;
        least = made < least ? made : least;
    }
    CHECK_INT((long long)least, 0);
    talus_world_destroy(world);
}

static double square_sum(const double *x, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sum;
}

TEST(impulses_are_carried_over_but_not_to_another_body)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    TalusBodyId id, again;
    TalusProblem *problem;
    TalusContactState c;
    REQUIRE_OK(add_floor(world, NULL));
    REQUIRE_OK(add_one(world, ball, talus_vec3(0.0, 0.0, 0.1), &id));
    REQUIRE_OK(talus_world_set_velocity(world, id, talus_vec3(0.3, 0.1, 0.0), zero));
    run(world, 10);
    CHECK_INT(talus_world_get_contacts(world, &c, 1), 1);
    REQUIRE_OK(talus_world_build(world, &problem));
    double sum = square_sum(talus_problem_gamma(problem), talus_problem_size(problem));
    CHECK_NEAR(sum, talus_dot(c.impulse, c.impulse), 1e-13 * sum);
    CHECK(sum > 0.0);
    world->impulse_step *= 0.5; /* as if the last step had been half as long */
    REQUIRE_OK(talus_world_build(world, &problem));
    double twice = square_sum(talus_problem_gamma(problem), talus_problem_size(problem));
    CHECK_NEAR(twice, 4.0 * sum, 1e-13 * twice);
    int slot = talus_slot_of(world, id);
    REQUIRE_OK(talus_world_remove_body(world, id));
    REQUIRE_OK(add_one(world, ball, talus_vec3(0.0, 0.0, 0.1), &again));
    CHECK_INT(talus_slot_of(world, again), slot);
    REQUIRE_OK(talus_world_build(world, &problem));
    CHECK_INT(talus_problem_blocks(problem), 1);
    CHECK(square_sum(talus_problem_gamma(problem), talus_problem_size(problem)) == 0.0);
    talus_world_destroy(world);
}

/* A heap with a solver whose impulses grow without bound, for 100 iterations or until they are infinite. */
static void diverge(int iterations)
{
    TalusWorldDef def = quick_def(1);
    def.solver = "jacobi:omega=2";
    def.tolerance = 0.0;
    def.max_iterations = iterations;
    TalusWorld *world = make_world(&def);
    TalusStatus status = add_heap(world, 60);
    for (int i = 0; i < 50 && status == TALUS_OK; i++)
        status = talus_world_step(world, NULL);
    CHECK_INT(status, TALUS_ERR_NUMERIC);
    talus_world_destroy(world);
}

TEST(divergence_is_told_from_a_nan)
{
    diverge(100);
    CHECK(said(": solver jacobi diverged: residual ") && said(" m/s of zero impulses"));
    CHECK(!said("NaN"));
    diverge(1000);
    CHECK(said(": solver jacobi met a NaN or infinity"));
}

TEST(a_nan_fails_the_step_and_names_the_body)
{
    TalusWorld *world = make_heap(2, 60);
    run(world, 50);
    TalusVec3 kept = world->bodies.velocity[17];
    world->bodies.velocity[17].y = NAN;
    uint64_t hash = talus_world_hash(world);
    CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_NUMERIC);
    CHECK(said("body 18 "));
    CHECK(talus_world_hash(world) == hash && talus_world_steps(world) == 50);
    world->bodies.velocity[17] =
        talus_vec3(1e308, 1e308, 0.0); /* finite, but too fast to move by */
    CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_NUMERIC);
    world->bodies.velocity[17] = talus_vec3(0.0, 0.0, 1e200); /* up and away, by itself */
    CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_NUMERIC);
    CHECK(said("body 18 "));
    world->bodies.velocity[17] = kept;
    TalusWorld *other = make_heap(1, 60);
    run(world, 10);
    run(other, 60);
    CHECK(talus_world_hash(world) == talus_world_hash(other));
    talus_world_destroy(world);
    talus_world_destroy(other);
}

typedef struct Log {
    int missed, infeasible;
} Log;

static void take_log(void *user, TalusLogLevel level, const char *id, const char *text)
{
    Log *log = user;
    CHECK(level == TALUS_LOG_WARNING && text[0]);
    log->missed += strcmp(id, "step.missed") == 0;
    log->infeasible += strcmp(id, "step.infeasible") == 0;
}

static TalusWorld *make_hasty(TalusMissPolicy policy, int count)
{
    TalusWorldDef def = quick_def(1);
    def.tolerance = 1e-9;
    def.max_iterations = 2;
    def.on_miss = policy;
    TalusWorld *world = make_world(&def);
    CHECK_OK(add_heap(world, count));
    return world;
}

TEST(a_missed_tolerance_follows_the_policy)
{
    Log log = {0, 0};
    talus_set_log(take_log, &log);
    TalusStepInfo info;
    TalusWorld *world = make_hasty(TALUS_MISS_CONTINUE, 60);
    for (int i = 0; i < 50; i++)
        CHECK_OK(talus_world_step(world, &info));
    CHECK(info.missed && info.solve.outcome == TALUS_OUTCOME_BUDGET && info.halvings == 0);
    CHECK(info.solve.residual.rms > 1e-9 * info.reference_speed);
    CHECK_INT(log.missed, 1);
    talus_world_destroy(world);

    world = make_hasty(TALUS_MISS_STOP, 60);
    TalusStatus status = TALUS_OK;
    uint64_t hash = 0;
    for (int i = 0; i < 50 && status == TALUS_OK; i++) {
        hash = talus_world_hash(world);
        status = talus_world_step(world, &info);
    }
    CHECK_INT(status, TALUS_ERR_TOLERANCE);
    CHECK(said("tolerance") && said("budget"));
    CHECK(talus_world_hash(world) == hash);
    CHECK_INT(talus_world_step(world, &info), TALUS_ERR_TOLERANCE);
    talus_world_destroy(world);

    world = make_hasty(TALUS_MISS_HALVE, 60);
    for (int i = 0; i < 50; i++)
        CHECK_OK(talus_world_step(world, &info));
    CHECK_INT(info.halvings, 4);
    CHECK(info.missed && info.length == 0.005);
    CHECK_INT(info.step, 50);
    CHECK_NEAR(info.time, 0.25, 1e-15);
    double scale = fabs(info.ledger.friction) + fabs(info.ledger.impact) + info.ledger.kinetic;
    CHECK(fabs(info.ledger.imbalance) <= 1e-12 * scale);
    talus_world_destroy(world);
    talus_set_log(NULL, NULL);
}

/* Free fall of a ball in whole steps of 5 ms, then one of 3, or two of 3.5 in place of 5 and 2: v = g t, x by the sum
 * of h v. */
static void fall_to(TalusWorld *world, double time, const double at[3])
{
    TalusStepInfo info;
    TalusVec3 x, v;
    TalusBodyState state = {.position = &x, .velocity = &v};
    double z = 5.0, before = 0.0;
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(talus_world_next_length(world, time), at[i] - before, 1e-17);
        CHECK_OK(talus_world_step_to(world, time, &info));
        CHECK(info.time == at[i] && talus_world_time(world) == at[i]);
        CHECK_NEAR(info.length, at[i] - before, 1e-17);
        CHECK_INT(info.step, i + 1);
        z -= (at[i] - before) * 10.0 * at[i];
        before = at[i];
    }
    CHECK(talus_world_next_length(world, time) == 0.0);
    talus_world_get_state(world, &state);
    CHECK_NEAR(v.z, -10.0 * time, 1e-15);
    CHECK_NEAR(x.z, z, 1e-14);
    CHECK_NEAR(info.ledger.imbalance, 0.0, 1e-12);
}

TEST(a_step_towards_a_time_is_shortened_to_it)
{
    TalusWorldDef def = quick_def(1);
    def.gravity = talus_vec3(0.0, 0.0, -10.0);
    TalusWorld *world = make_world(&def), *loaded, *other = make_world(&def);
    TalusStepInfo info;
    CHECK_OK(add_one(other, ball, talus_vec3(0.0, 0.0, 5.0), NULL));
    fall_to(other, 0.013, (const double[]){0.005, 0.010, 0.013});
    talus_world_destroy(other);
    CHECK_OK(add_one(world, ball, talus_vec3(0.0, 0.0, 5.0), NULL));
    fall_to(world, 0.012, (const double[]){0.005, 0.0085, 0.012});
    CHECK_INT(talus_world_step_to(world, 0.012, &info), TALUS_ERR_ARGUMENT);
    CHECK(said("after the world's, 0.012"));
    CHECK_INT(talus_world_step_to(world, NAN, NULL), TALUS_ERR_ARGUMENT);

    /* whole steps go on from there, in a world that was saved and loaded as well */
    void *bytes;
    size_t size;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &loaded));
    talus_free(bytes);
    CHECK(talus_world_hash(loaded) == talus_world_hash(world));
    for (int i = 1; i <= 3; i++) {
        CHECK_OK(talus_world_step(world, &info));
        CHECK_OK(talus_world_step(loaded, NULL));
        CHECK(info.time == 0.012 + i * 0.005 && info.length == 0.005);
        CHECK(talus_world_hash(loaded) == talus_world_hash(world));
    }
    talus_world_destroy(world);
    talus_world_destroy(loaded);
}

/* A heap at rest that is stepped to a moment after its last step stays at rest: nothing of it is undone within that
 * moment, as the whole of its overlaps would be. */
TEST(a_moment_beyond_the_last_step_throws_nothing)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    TalusStepInfo info;
    CHECK_OK(add_heap(world, 60));
    for (int i = 0; i < 400; i++)
        CHECK_OK(talus_world_step(world, &info));
    double rest = info.ledger.kinetic, end = info.time + def.step * (1.0 + 1e-4);
    while (talus_world_next_length(world, end) > 0.0) {
        CHECK_OK(talus_world_step_to(world, end, &info));
        CHECK(info.length >= 0.5 * def.step);
        CHECK(info.ledger.kinetic < 2.0 * rest + 1e-9);
    }
    CHECK(info.time == end);
    talus_world_destroy(world);
}

/* Rounding at the border of what counts as a whole step does not end a run half-way. */
TEST(steps_towards_a_time_arrive)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    for (int i = 1; i <= 2000; i++) {
        double share = i % 5 == 0 ? 1e-6 : i % 5 == 1 ? 1.5 : i % 5 == 2 ? 0.5 : 1e-3 * i;
        double end = talus_world_time(world) + def.step * (1.0 + share), length;
        for (int k = 0; k < 4 && (length = talus_world_next_length(world, end)) > 0.0; k++) {
            CHECK(length <= def.step && length >= 0.499 * def.step);
            CHECK_OK(talus_world_step_to(world, end, NULL));
        }
        CHECK(fabs(talus_world_time(world) - end) <= 1.1e-6 * def.step);
    }
    talus_world_destroy(world);
}

/* What the solves of a step cost reaches its report: of one solve, and of all parts of a halved one. */
TEST(a_step_reports_what_all_its_solves_cost)
{
    TalusStepInfo info;
    for (int halve = 0; halve < 2; halve++) {
        TalusWorldDef def = quick_def(1);
        def.solver = "prox";
        def.tolerance = halve ? 1e-14 : 1e-6;
        def.max_iterations = halve ? 2 : 500;
        def.on_miss = TALUS_MISS_HALVE;
        TalusWorld *world = make_world(&def);
        CHECK_OK(add_heap(world, 60));
        for (int i = 0; i < 50; i++)
            CHECK_OK(talus_world_step(world, &info));
        CHECK_INT(info.halvings, 4 * halve);
        int solves = halve ? 1 + 2 + 4 + 8 + 16 : 1; /* the first fifteen were given up */
        CHECK(info.solve.factorisations >= solves);
        CHECK(info.solve.iterations >= info.solve.factorisations);
        CHECK(info.solve.products > 0);
        CHECK(info.solve.memory_bytes > 0);
        talus_world_destroy(world);
    }
}

/* Memory runs out in a halved step: nothing of it remains, and the step can be repeated. */
TEST(a_halved_step_that_fails_leaves_no_trace)
{
    TalusWorld *world = make_hasty(TALUS_MISS_HALVE, 16);
    TalusStepInfo info;
    run(world, 14);
    REQUIRE_OK(talus_world_step(world, &info));
    CHECK(info.halvings > 0);
    uint64_t expected = talus_world_hash(world);
    talus_world_destroy(world);
    int failures = 0;
    for (TalusStatus status = TALUS_ERR_MEMORY; status != TALUS_OK;) {
        world = make_hasty(TALUS_MISS_HALVE, 16); /* a fresh one, whose buffers have yet to grow */
        talus_fail_allocation_in(++failures);
        while (talus_world_steps(world) < 15) {
            uint64_t before = talus_world_hash(world);
            status = talus_world_step(world, NULL);
            if (status == TALUS_OK)
                continue;
            CHECK_INT(status, TALUS_ERR_MEMORY);
            CHECK(talus_world_hash(world) == before);
            break;
        }
        talus_fail_allocation_in(0);
        run(world, 15 - (int)talus_world_steps(world));
        CHECK(talus_world_hash(world) == expected);
        talus_world_destroy(world);
        REQUIRE(failures < 500);
    }
    CHECK(failures > 20);
}

/* A fast ball hits a second one, which then flies at a third: a contact that only the later parts
 * of the halved step see, and for which a buffer must grow. */
static TalusWorld *make_chain(void)
{
    TalusWorldDef def = quick_def(1);
    def.gravity = zero;
    def.reference_speed = 1e-3;
    def.tolerance = 1e-12;
    def.solver = "apgd"; /* three iterations are too few for it */
    def.max_iterations = 3;
    def.on_miss = TALUS_MISS_HALVE;
    TalusWorld *world = make_world(&def);
    TalusBodyId id;
    CHECK_OK(add_one(world, ball, talus_vec3(0.42, 0.02, 0.0), NULL));
    CHECK_OK(add_one(world, ball, talus_vec3(0.21, 0.01, 0.0), NULL));
    CHECK_OK(add_one(world, ball, talus_vec3(0.0, 0.0, 0.0), &id));
    CHECK_OK(talus_world_set_velocity(world, id, talus_vec3(10.0, 0.0, 0.0), zero));
    return world;
}

TEST(a_later_part_that_fails_takes_the_earlier_ones_back)
{
    TalusWorld *world = make_chain();
    uint64_t before = talus_world_hash(world), after;
    TalusStepInfo info;
    REQUIRE_OK(talus_world_step(world, &info));
    CHECK(info.halvings > 0);
    after = talus_world_hash(world);
    talus_world_destroy(world);
    int taken_back = 0;
    TalusStatus status = TALUS_ERR_MEMORY;
    for (int n = 1; status != TALUS_OK; n++) {
        world = make_chain();
        talus_fail_allocation_in(n);
        status = talus_world_step(world, NULL);
        talus_fail_allocation_in(0);
        if (status != TALUS_OK) {
            CHECK_INT(status, TALUS_ERR_MEMORY);
            CHECK(talus_world_hash(world) == before);
            taken_back += world->snapshot.contacts;
            CHECK_OK(talus_world_step(world, NULL));
        }
        CHECK(talus_world_hash(world) == after);
        talus_world_destroy(world);
        REQUIRE(n < 500);
    }
    CHECK(taken_back > 0);
}

TEST(a_wedged_body_is_an_outcome_not_a_hang)
{
    Log log = {0, 0};
    talus_set_log(take_log, &log);
    TalusWorldDef def = quick_def(1);
    def.compliance = 0.0;
    def.max_iterations = 5000;
    TalusWorld *world = make_world(&def);
    REQUIRE_OK(add_floor(world, NULL));
    REQUIRE_OK(add_wall(world, -0.09, 1.0));
    REQUIRE_OK(add_wall(world, 0.09, -1.0));
    REQUIRE_OK(add_one(world, ball, talus_vec3(0.0, 0.0, 0.1), NULL));
    int infeasible = 0;
    for (int i = 0; i < 20; i++) {
        TalusStepInfo info;
        REQUIRE_OK(talus_world_step(world, &info));
        infeasible += info.solve.outcome == TALUS_OUTCOME_INFEASIBLE;
        CHECK(info.missed || info.solve.outcome == TALUS_OUTCOME_CONVERGED);
    }
    CHECK(infeasible > 0);
    CHECK_INT(log.infeasible, 1);
    TalusVec3 x = world->bodies.position[3];
    CHECK(fabs(x.x) < 0.02 && fabs(x.y) < 0.02 && x.z < 0.2);
    talus_world_destroy(world);
    talus_set_log(NULL, NULL);
}

TEST(building_the_problem_changes_no_step)
{
    TalusWorld *world = make_heap(1, 60), *other = make_heap(1, 60);
    for (int i = 0; i < 60; i++) {
        TalusProblem *problem;
        REQUIRE_OK(talus_world_build(world, &problem));
        TalusStepInfo info;
        REQUIRE_OK(talus_world_step(world, &info));
        REQUIRE_OK(talus_world_step(other, NULL));
        CHECK_INT(talus_problem_blocks(problem), info.contacts);
    }
    CHECK(talus_world_hash(world) == talus_world_hash(other));
    talus_world_destroy(world);
    talus_world_destroy(other);
}

TEST(a_budget_without_tolerance_is_no_miss)
{
    TalusWorldDef def = quick_def(1);
    def.tolerance = 0.0;
    def.max_iterations = 5;
    def.on_miss = TALUS_MISS_STOP;
    TalusWorld *world = make_world(&def);
    REQUIRE_OK(add_heap(world, 60));
    TalusStepInfo info;
    for (int i = 0; i < 40; i++)
        REQUIRE_OK(talus_world_step(world, &info));
    CHECK(!info.missed && info.solve.outcome == TALUS_OUTCOME_BUDGET);
    CHECK_INT(info.solve.iterations, 5);
    talus_world_destroy(world);
}

TEST(accuracy_can_change_on_the_way)
{
    TalusWorld *world = make_full(1);
    TalusStepInfo info;
    run(world, 40);
    REQUIRE_OK(talus_world_set_accuracy(world, 0.0, 3));
    REQUIRE_OK(talus_world_step(world, &info));
    CHECK(info.contacts > 0 && info.solve.iterations == 3);
    REQUIRE_OK(talus_world_set_accuracy(world, 1e-6, 20000));
    REQUIRE_OK(talus_world_step(world, &info));
    CHECK(!info.missed && info.solve.residual.rms <= 1e-6 * info.reference_speed);
    CHECK_INT(talus_world_set_accuracy(world, -1.0, 10), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_set_accuracy(world, NAN, 10), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_set_accuracy(world, 1e-2, 0), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

TEST(without_friction_a_contact_has_one_row)
{
    TalusWorld *world = make_heap(1, 60);
    REQUIRE_OK(talus_world_set_friction(world, 0, 0, 0.0));
    run(world, 60);
    TalusStepInfo info;
    REQUIRE_OK(talus_world_step(world, &info));
    CHECK(info.contacts > 60 && info.ledger.friction == 0.0);
    CHECK(fabs(info.ledger.imbalance) <= 1e-12 * (info.ledger.kinetic + fabs(info.ledger.impact)));
    TalusProblem *problem;
    REQUIRE_OK(talus_world_build(world, &problem));
    CHECK_INT(talus_problem_rows(problem), 1);
    talus_world_destroy(world);
}

/* A world in the middle of arrivals whose solves miss, with a slot that the next arrival takes. */
static TalusWorld *make_failing(void)
{
    TalusWorld *world = make_full(1);
    world->def.max_iterations = 1;
    world->def.tolerance = 1e-12;
    run(world, 21);
    CHECK_OK(talus_world_remove_body(world, talus_slot_id(&world->bodies, 3)));
    return world;
}

TEST(a_failed_step_takes_arrivals_back)
{
    TalusWorld *world = make_failing(), *other = make_failing();
    uint64_t hash = talus_world_hash(world);
    int bodies = talus_world_body_count(world);
    world->def.on_miss = TALUS_MISS_STOP;
    for (int i = 0; i < 3; i++) {
        CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_TOLERANCE);
        CHECK_INT(talus_world_body_count(world), bodies);
        CHECK(talus_world_hash(world) == hash);
    }
    world->def.on_miss = TALUS_MISS_CONTINUE; /* and now as if nothing had happened */
    run(world, 1);
    run(other, 1);
    CHECK(talus_world_body_count(world) > bodies && world->bodies.shape[3] >= 0);
    run(world, 50);
    run(other, 50);
    CHECK(talus_world_hash(world) == talus_world_hash(other));
    for (int i = 0; i < world->bodies.counts.slots; i++)
        CHECK_INT(world->bodies.id[i], other->bodies.id[i]);
    talus_world_destroy(world);
    talus_world_destroy(other);
}

static TalusStatus whole_life(TalusWorld **world)
{
    TalusWorldDef def = quick_def(1);
    TALUS_TRY(talus_world_create(&def, world));
    TALUS_TRY(add_heap(*world, 30));
    TalusEmitterDef emitter = talus_emitter_def_default();
    emitter.lo = talus_vec3(0.0, 0.0, 2.0);
    emitter.hi = talus_vec3(1.0, 1.0, 3.0);
    emitter.rate = 500.0;
    emitter.radius_min = emitter.radius_max = 0.05;
    TALUS_TRY(talus_world_add_emitter(*world, &emitter));
    TalusVec3 x = {0.0, 0.0, 5.0};
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 1;
    batch.shape = 1;
    batch.position = &x;
    TALUS_TRY(talus_world_add_bodies_at(*world, 0.0, &batch));
    TALUS_TRY(talus_world_add_sink(*world, 2, -1.0));
    TalusProbeDef probe = {.name = "floor", .kind = TALUS_PROBE_BODY, .body = {1}};
    TALUS_TRY(talus_world_add_probe(*world, &probe, NULL));
    for (int i = 0; i < 12; i++) {
        uint64_t hash = talus_world_hash(*world);
        TalusStatus status = talus_world_step(*world, NULL);
        if (status != TALUS_OK) {
            CHECK(talus_world_hash(*world) == hash);
            return status;
        }
    }
    return TALUS_OK;
}

/* A fast ball strikes a row of resting ones with gaps that nobody watches at first: each is pushed
 * into the next within the same step. */
static double strike_row(double compliance, double tolerance)
{
    enum { ROW = 6 };
    TalusWorldDef def = quick_def(1);
    def.compliance = compliance;
    def.tolerance = tolerance;
    def.solver = tolerance < 1e-15 ? "apgd" : def.solver; /* it spends the whole budget */
    def.gravity = zero;
    def.reference_speed = 0.01;
    TalusWorld *world = make_world(&def);
    TalusBodyId id[ROW];
    for (int i = 0; i < ROW; i++)
        CHECK_OK(add_one(world, ball, talus_vec3(0.2 * i + 0.008 * i, 0.0, 0.0), &id[i]));
    CHECK_OK(talus_world_set_velocity(world, id[0], talus_vec3(20.0, 0.0, 0.0), zero));
    double worst = 0.0;
    for (int k = 0; k < 20; k++) {
        TalusStepInfo info;
        CHECK_OK(talus_world_step(world, &info));
        worst = fmax(worst, info.penetration_max);
    }
    talus_world_destroy(world);
    return worst;
}

TEST(a_struck_body_meets_what_it_is_pushed_into)
{
    double usual = quick_def(1).tolerance;
    CHECK(strike_row(0.0, usual) < 1e-3);
    CHECK(strike_row(TALUS_COMPLIANCE_AUTO, usual) < 1.1 * quick_def(1).elastic_overlap);
    /* also where each solve misses its tolerance */
    CHECK(strike_row(0.0, 1e-300) < 1e-2);
}

TEST(every_allocation_may_fail)
{
    TalusStatus status = TALUS_ERR_MEMORY;
    uint64_t expected = 0;
    long n = 0;
    for (; status != TALUS_OK; n++) {
        TalusWorld *world = NULL;
        talus_fail_allocation_in(n ? n : 0);
        status = whole_life(&world);
        talus_fail_allocation_in(0);
        if (n == 0) {
            REQUIRE_OK(status);
            expected = talus_world_hash(world);
            status = TALUS_ERR_MEMORY;
        } else if (status != TALUS_OK) {
            CHECK_INT(status, TALUS_ERR_MEMORY);
            if (world && talus_world_probe_count(world)) { /* it failed in a step: go on */
                run(world, 12 - (int)talus_world_steps(world));
                CHECK(talus_world_hash(world) == expected);
            }
        }
        talus_world_destroy(world);
        REQUIRE(n < 2000);
    }
    CHECK(n > 50);
}

int main(void)
{
    RUN(hash_is_equal_for_any_number_of_threads);
    RUN(a_warm_step_allocates_nothing);
    RUN(impulses_are_carried_over_but_not_to_another_body);
    RUN(divergence_is_told_from_a_nan);
    RUN(a_nan_fails_the_step_and_names_the_body);
    RUN(a_missed_tolerance_follows_the_policy);
    RUN(a_step_towards_a_time_is_shortened_to_it);
    RUN(a_moment_beyond_the_last_step_throws_nothing);
    RUN(steps_towards_a_time_arrive);
    RUN(a_step_reports_what_all_its_solves_cost);
    RUN(a_halved_step_that_fails_leaves_no_trace);
    RUN(a_later_part_that_fails_takes_the_earlier_ones_back);
    RUN(a_wedged_body_is_an_outcome_not_a_hang);
    RUN(building_the_problem_changes_no_step);
    RUN(a_budget_without_tolerance_is_no_miss);
    RUN(accuracy_can_change_on_the_way);
    RUN(without_friction_a_contact_has_one_row);
    RUN(a_failed_step_takes_arrivals_back);
    RUN(a_struck_body_meets_what_it_is_pushed_into);
    RUN(every_allocation_may_fail);
    return talus_test_result();
}
