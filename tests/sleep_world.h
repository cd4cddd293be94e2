/* Settled bodies that are left out: when they fall asleep, what wakes them, what it costs; on any backend. */
#ifndef TALUS_TEST_SLEEP_WORLD_H
#define TALUS_TEST_SLEEP_WORLD_H

#include "material_world.h"

static const char *sleepy_backend = "cpu";

enum { BOXES = 27 };

static TalusWorldDef sleepy_def(double speed, int threads)
{
    TalusWorldDef def = talus_world_def_default();
    def.step = 2e-3;
    def.threads = threads;
    def.tolerance = 1e-3;
    def.sleep_speed = speed;
    def.sleep_steps = 20;
    def.backend = sleepy_backend;
    return def;
}

/* Three by three columns of three boxes, which stand. */
static TalusWorld *make_heap(double speed, int threads)
{
    TalusWorldDef def = sleepy_def(speed, threads);
    TalusWorld *world = make_world(&def, NULL);
    CHECK_OK(talus_world_set_friction(world, 0, 0, 0.5));
    add_floor(world);
    for (int i = 0; i < BOXES; i++)
        add_body(world, box(0.05, 0.05, 0.05), 1.0,
                 talus_vec3(0.13 * (i % 3), 0.13 * (i / 3 % 3), 0.05 + 0.1 * (i / 9)), zero, zero);
    return world;
}

static void run(TalusWorld *world, int steps)
{
    for (int i = 0; i < steps; i++) {
        CHECK_OK(talus_world_step(world, &info));
        CHECK(fabs(info.ledger.imbalance) < 1e-9);
    }
}

TEST(a_settled_heap_sleeps_and_stays_where_it_is)
{
    TalusWorld *world = make_heap(1.0, 1), *awake = make_heap(0.0, 1);
    run(awake, 1500);
    CHECK_INT(info.asleep, 0);
    CHECK(info.sleep_speed == 0.0);
    double potential = info.ledger.potential;
    run(world, 1500);
    CHECK_INT(info.asleep, BOXES);
    CHECK_INT(info.contacts, 0);
    CHECK_NEAR(info.sleep_speed, 9.81 * 2e-3, 1e-15);
    CHECK(info.ledger.kinetic == 0.0);
    CHECK_NEAR(info.ledger.potential, potential, 1e-3 * potential);
    TalusVec3 x[BOXES + 1], v[BOXES + 1];
    bool fixed[BOXES + 1];
    TalusBodyState state = {.position = x, .velocity = v, .fixed = fixed};
    talus_world_get_state(world, &state);
    CHECK(fixed[0] && !fixed[1] && v[1].x == 0.0);
    talus_world_destroy(world);
    talus_world_destroy(awake);
}

/* A probe of a region counts the bodies in it, asleep or not. */
TEST(a_region_holds_sleeping_bodies)
{
    TalusWorld *world = make_heap(1.0, 1);
    TalusProbeDef def = {.name = "all",
                         .kind = TALUS_PROBE_REGION,
                         .lo = talus_vec3(-1, -1, 0),
                         .hi = talus_vec3(1, 1, 1)};
    int probe;
    REQUIRE_OK(talus_world_add_probe(world, &def, &probe));
    run(world, 1);
    CHECK_INT(talus_world_probe_value(world, probe).bodies, BOXES);
    run(world, 1500);
    CHECK_INT(info.asleep, BOXES);
    TalusProbeValue value = talus_world_probe_value(world, probe);
    CHECK_INT(value.bodies, BOXES);
    CHECK(value.mass == BOXES && value.momentum.z == 0.0);
    talus_world_destroy(world);
}

TEST(a_body_that_falls_on_it_wakes_it)
{
    TalusWorld *world = make_heap(1.0, 1);
    run(world, 1500);
    CHECK_INT(info.asleep, BOXES);
    add_body(world, sphere(0.05), 5.0, talus_vec3(0.13, 0.13, 0.6), talus_vec3(0, 0, -1), zero);
    int least = BOXES, before = BOXES;
    for (int i = 0; i < 400; i++) {
        run(world, 1);
        if (info.asleep < before) /* whatever wakes stands on its corners in the same step */
            CHECK(info.contacts >= 4 * (before - info.asleep));
        before = info.asleep;
        least = info.asleep < least ? info.asleep : least;
    }
    CHECK(least < BOXES);
    run(world, 2500);
    CHECK_INT(info.asleep, BOXES + 1);
    CHECK(info.penetration_max < 0.01);
    talus_world_destroy(world);
}

/* Far from everything else, so that islands are told apart. */
TEST(calls_and_driven_bodies_wake_what_they_concern)
{
    TalusWorldDef def = sleepy_def(1.0, 1);
    TalusWorld *world = make_world(&def, NULL);
    TalusBodyId floor = add_floor(world), ball[3];
    for (int i = 0; i < 3; i++)
        ball[i] = add_body(world, box(0.05, 0.05, 0.05), 1.0, talus_vec3(i, 0, 0.05), zero, zero);
    TalusBodyId pusher =
        add_body(world, box(0.05, 0.05, 0.05), 0.0, talus_vec3(-0.3, 0, 0.06), zero, zero);
    run(world, 100);
    CHECK_INT(info.asleep, 3);
    REQUIRE_OK(talus_world_set_velocity(world, ball[1], talus_vec3(0.1, 0, 0), zero));
    run(world, 1);
    CHECK_INT(info.asleep, 2);
    run(world, 100);
    CHECK_INT(info.asleep, 3);
    REQUIRE_OK(talus_world_set_force(world, ball[2], talus_vec3(0.1, 0, 0), zero));
    run(world, 1);
    CHECK_INT(info.asleep, 2);
    run(world, 100);
    CHECK_INT(info.asleep, 3); /* held by friction */
    TalusDriveDef push = talus_drive_def_default();
    push.velocity = talus_vec3(1.0, 0, 0);
    push.stop = talus_world_time(world) + 0.3;
    push.start = talus_world_time(world);
    REQUIRE_OK(talus_world_set_drive(world, pusher, &push));
    run(world, 140);
    TalusVec3 x[5];
    TalusBodyState state = {.position = x};
    talus_world_get_state(world, &state);
    CHECK(x[1].x > 0.05); /* pushed along */
    CHECK_INT(info.asleep, 2);
    run(world, 400);
    CHECK_INT(info.asleep, 3); /* the pusher has stopped */
    REQUIRE_OK(talus_world_remove_body(world, floor));
    run(world, 20);
    CHECK_INT(info.asleep, 0);
    talus_world_get_state(world, &state);
    CHECK(x[0].z < 0.045);
    talus_world_destroy(world);
}

/* The origin of a mesh may be far from its triangles: a paddle 5 m from it moves by 0.2 m in a step. */
TEST(a_paddle_wakes_what_it_strikes_before_it_is_there)
{
    static const TalusVec3 corner[4] = {
        {4.95, 0, 0.02}, {5.05, 0, 0.02}, {5.05, 0, 0.08}, {4.95, 0, 0.08}};
    static const int32_t triangle[6] = {0, 1, 2, 0, 2, 3};
    TalusShapeDef paddle = {.kind = TALUS_SHAPE_MESH,
                            .vertex = corner,
                            .vertex_count = 4,
                            .triangle = triangle,
                            .triangle_count = 2};
    TalusWorldDef def = sleepy_def(1.0, 1);
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    add_body(world, box(0.05, 0.05, 0.05), 1.0, talus_vec3(5.0, 0.25, 0.05), zero, zero);
    TalusBodyId id = add_body(world, paddle, 0.0, zero, zero, zero);
    TalusDriveDef turn = talus_drive_def_default();
    turn.spin = talus_vec3(0, 0, 20.0);
    turn.start = 100 * def.step;
    REQUIRE_OK(talus_world_set_drive(world, id, &turn));
    run(world, 100);
    CHECK_INT(info.asleep, 1);
    run(world, 1);
    CHECK_INT(info.asleep, 0);
    talus_world_destroy(world);
}

TEST(a_body_at_the_top_of_its_flight_does_not_sleep)
{
    TalusWorldDef def = sleepy_def(100.0, 1);
    def.sleep_steps = 10;
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    add_body(world, sphere(0.05), 1.0, talus_vec3(0, 0, 5), zero, zero);
    run(world, 60);
    CHECK_INT(info.asleep, 0);
    CHECK(state_of(world).x.z < 4.95);
    talus_world_destroy(world);
}

typedef struct Saved {
    void *bytes;
    size_t size;
} Saved;

static Saved save(const TalusWorld *world)
{
    Saved saved = {NULL, 0};
    CHECK_OK(talus_world_save(world, &saved.bytes, &saved.size));
    return saved;
}

/* One step whose solve misses its tolerance, then as before. */
static void fail_step(TalusWorld *world)
{
    TalusWorldDef kept = world->def;
    world->def.on_miss = TALUS_MISS_STOP;
    world->def.tolerance = 1e-300;
    world->def.max_iterations = 1;
    CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_TOLERANCE);
    world->def = kept;
}

/* A fixed body that arrives wakes all; a step that fails takes it back, and they sleep again. */
TEST(a_failed_step_wakes_nothing)
{
    TalusWorld *world = make_heap(1.0, 1), *loaded;
    run(world, 1500);
    CHECK_INT(info.asleep, BOXES);
    TalusVec3 far = {5.0, 0, 0};
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 1;
    batch.shape = 1;
    batch.fixed = true;
    batch.position = &far;
    REQUIRE_OK(talus_world_add_bodies_at(world, talus_world_time(world) + 0.05, &batch));
    run(world, 25); /* the batch is due in the next one */
    Saved before = save(world);
    fail_step(world);
    CHECK_INT(world->sleep.asleep, BOXES);
    Saved after = save(world);
    CHECK(after.size == before.size && memcmp(after.bytes, before.bytes, before.size) == 0);
    REQUIRE_OK(talus_world_load(after.bytes, after.size, 1, NULL, &loaded));
    run(world, 30);
    run(loaded, 30);
    CHECK(talus_world_hash(world) == talus_world_hash(loaded));
    CHECK_INT(talus_world_body_count(world), BOXES + 2);
    talus_free(before.bytes);
    talus_free(after.bytes);
    talus_world_destroy(world);
    talus_world_destroy(loaded);
}

/* A ball wakes what it is about to strike; not if that step fails and the ball then leaves, and not if only the problem
 * of that step is built. */
TEST(what_a_failed_step_or_a_built_problem_woke_sleeps_on)
{
    TalusWorld *world = make_heap(1.0, 1);
    TalusProblem *problem;
    run(world, 1500);
    CHECK_INT(info.asleep, BOXES);
    TalusBodyId id = add_body(world, sphere(0.05), 5.0, talus_vec3(0.13, 0.13, 0.37), zero, zero);
    TalusVec3 down = {0, 0, -20.0}, up = {0, 0, 1.0}; /* 4 cm a step, towards boxes 2 cm below */
    for (int k = 0; k < 2; k++) {
        REQUIRE_OK(talus_world_set_velocity(world, id, down, zero));
        if (k == 0) {
            fail_step(world);
        } else {
            REQUIRE_OK(talus_world_build(world, &problem));
            CHECK(talus_problem_blocks(problem) > 12); /* three boxes on their corners, the ball */
        }
        CHECK_INT(world->sleep.asleep, BOXES);
        REQUIRE_OK(talus_world_set_velocity(world, id, up, zero));
        run(world, 1);
        CHECK_INT(info.asleep, BOXES);
    }
    REQUIRE_OK(talus_world_set_velocity(world, id, down, zero));
    run(world, 3);
    CHECK(info.asleep < BOXES);
    talus_world_destroy(world);
}

/* Two boxes that sleep, and then a ball about to strike one of them, and in the air rows of three balls: the first
 * strikes the second, which meets the third in a later part of a halved step. */
static Saved save_strikes(void)
{
    enum { ROWS = 20 };
    TalusWorldDef def = sleepy_def(1.0, 1);
    def.solver = "apgd";
    def.compliance = 0.01; /* an automatic one changes with the tolerance, which wakes all */
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    for (int i = 0; i < 2; i++)
        add_body(world, box(0.05, 0.05, 0.05), 1.0, talus_vec3(i, 0, 0.05), zero, zero);
    run(world, 100);
    CHECK_INT(info.asleep, 2);
    add_body(world, sphere(0.05), 5.0, talus_vec3(0, 0, 0.17), talus_vec3(0, 0, -20), zero);
    for (int i = 0; i < 3 * ROWS; i++)
        add_body(world, sphere(0.1), 1.0, talus_vec3(0.21 * (i % 3), i / 3, 5.0 + 0.01 * (i % 3)),
                 talus_vec3(i % 3 ? 0 : 25, 0, 0), zero);
    Saved saved = save(world);
    talus_world_destroy(world);
    return saved;
}

/* Memory runs out wherever it may: what slept sleeps on, and all is where it was. */
TEST(a_halved_step_that_fails_wakes_nothing)
{
    Saved saved = save_strikes();
    int halved = 0, succeeded = 0; /* in a row: a device does without some of its memory */
    for (long n = 1; succeeded < 10; n += sleepy_backend[1] == 'p' ? 1 : 7) {
        TalusWorld *world;
        REQUIRE_OK(talus_world_load(saved.bytes, saved.size, 1, NULL, &world));
        world->def.on_miss = TALUS_MISS_HALVE;
        REQUIRE_OK(talus_world_set_accuracy(world, 1e-300, 3));
        uint64_t before = talus_world_hash(world);
        talus_fail_allocation_in(n);
        TalusStatus status = talus_world_step(world, &info);
        talus_fail_allocation_in(0);
        succeeded = status == TALUS_OK ? succeeded + 1 : 0;
        if (status == TALUS_OK) {
            CHECK(world->sleep.asleep == 1 && info.halvings > 0);
        } else {
            CHECK_INT(status, TALUS_ERR_MEMORY);
            CHECK_INT(world->sleep.asleep, 2);
            CHECK(talus_world_hash(world) == before);
            halved += world->snapshot.states;
        }
        talus_world_destroy(world);
        REQUIRE(n < 5000);
    }
    CHECK(halved > 0);
    talus_free(saved.bytes);
}

TEST(sleep_survives_a_restart_and_threads)
{
    TalusWorld *one = make_heap(1.0, 1), *four = make_heap(1.0, 4), *loaded;
    run(one, 1400);
    run(four, 1400);
    CHECK(talus_world_hash(one) == talus_world_hash(four));
    void *bytes;
    size_t size;
    REQUIRE_OK(talus_world_save(one, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 2, NULL, &loaded));
    talus_free(bytes);
    TalusWorld *all[2] = {one, loaded};
    for (int k = 0; k < 2; k++) {
        add_body(all[k], sphere(0.05), 5.0, talus_vec3(0.13, 0.13, 0.5), zero, zero);
        run(all[k], 300);
    }
    CHECK(talus_world_hash(one) == talus_world_hash(loaded));
    talus_world_destroy(one);
    talus_world_destroy(four);
    talus_world_destroy(loaded);
}

static void add_soft_ball(TalusWorld *world, double radius, TalusVec3 x)
{
    TalusMaterialDef soft = talus_material_def_default();
    TalusShapeDef shape = sphere(radius);
    TalusBodyBatch batch = talus_body_batch_default();
    soft.stiffness = 1e5;
    CHECK_OK(talus_world_add_material(world, &soft, &batch.material));
    CHECK_OK(talus_world_add_shape(world, &shape, &batch.shape));
    batch.count = 1;
    batch.mass = 1.0;
    batch.position = &x;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
}

/* A soft ball on a plate that is asleep and far larger: overlap is relative to the thinner of the two, the plate. */
TEST(a_sleeping_plate_counts_with_its_thickness)
{
    const double half = 0.005, radius = 0.05;
    TalusWorldDef def = sleepy_def(100.0, 1);
    def.sleep_steps = 100;
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    add_body(world, box(0.5, 0.5, half), 10.0, talus_vec3(0, 0, half), zero, zero);
    run(world, 150);
    CHECK_INT(info.asleep, 1);
    add_soft_ball(world, radius, talus_vec3(0, 0, 2.0 * half + 1.4 * radius));
    TalusVec3 x[3];
    TalusBodyState state = {.position = x};
    int sunk = 0;
    for (int i = 0; i < 90; i++) {
        talus_world_get_state(world, &state);
        double overlap = half + radius - (x[2].z - x[1].z);
        run(world, 1);
        CHECK_INT(info.asleep, 1);
        CHECK_NEAR(info.penetration_max, fmax(0.0, overlap / half), 1e-12);
        sunk += overlap > 1e-6;
    }
    CHECK(sunk > 5);
    talus_world_destroy(world);
}

static inline int run_sleep_tests(void)
{
    RUN(a_settled_heap_sleeps_and_stays_where_it_is);
    RUN(a_region_holds_sleeping_bodies);
    RUN(a_body_that_falls_on_it_wakes_it);
    RUN(calls_and_driven_bodies_wake_what_they_concern);
    RUN(a_paddle_wakes_what_it_strikes_before_it_is_there);
    RUN(a_body_at_the_top_of_its_flight_does_not_sleep);
    RUN(a_failed_step_wakes_nothing);
    RUN(what_a_failed_step_or_a_built_problem_woke_sleeps_on);
    RUN(a_halved_step_that_fails_wakes_nothing);
    RUN(sleep_survives_a_restart_and_threads);
    RUN(a_sleeping_plate_counts_with_its_thickness);
    return talus_test_result();
}

#endif
