/* Fast bodies in space that repeats itself: a step that takes one farther than its nearest images is halved, and
 * what even a sixteenth of it may miss is reported. No run ends for it. On any backend. */
#ifndef TALUS_TEST_PERIODIC_FAST_CASES_H
#define TALUS_TEST_PERIODIC_FAST_CASES_H

#include "material_world.h"

#include "base/rng.h"

static const double ball = 0.05;

static TalusWorldDef fast_def(void)
{
    TalusWorldDef def = tight_def(1e-3);
    def.period = (TalusPeriod){{0, 0, 0}, {1, 1, 0}, {1, 1, 0}, 0.0};
    def.gravity = zero;
    def.reference_speed = 0.01;
    return def;
}

static TalusWorld *make_fast(double friction, double restitution)
{
    TalusWorldDef def = fast_def();
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = friction;
    pair.restitution = restitution;
    return make_world(&def, &pair);
}

static void velocities(const TalusWorld *world, TalusVec3 *v)
{
    TalusBodyState state = {.velocity = v};
    talus_world_get_state(world, &state);
}

/* The other ball is 0.6 ahead, and nearer, 0.4, behind. Each starts so as to be met within the first step. */
TEST(a_ball_meets_what_is_ahead_and_not_the_nearest)
{
    static const double speed[] = {100.0, 300.0, 700.0, 1200.0};
    for (int k = 0; k < 4; k++) {
        TalusWorld *world = make_fast(0.0, 1.0);
        double ahead = fmin(0.6, 0.5 * speed[k] * 1e-3 + 2.0 * ball);
        add_body(world, sphere(ball), 1.0, talus_vec3(0.7, 0.5, 0.5), talus_vec3(speed[k], 0, 0),
                 zero);
        add_body(world, sphere(ball), 1.0, talus_vec3(0.7 + ahead, 0.5, 0.5), zero, zero);
        REQUIRE_OK(talus_world_step(world, &info));
        TalusVec3 v[2];
        velocities(world, v);
        CHECK_NEAR(v[0].x, 0.0, 1e-6);
        CHECK_NEAR(v[1].x, speed[k], 1e-6);
        CHECK((info.halvings > 0) == (k > 0));
        CHECK_INT(info.clipped, 0);
        talus_world_destroy(world);
    }
}

/* A sphere's surface closes no gap, however fast it turns: nothing is missed, and nothing halved. */
TEST(a_fast_spin_of_a_sphere_costs_nothing)
{
    TalusWorld *world = make_fast(0.5, 0.0);
    add_body(world, sphere(ball), 1.0, talus_vec3(0.02, 0.5, 0.5), zero, talus_vec3(0, 0, 2e4));
    add_body(world, sphere(ball), 1.0, talus_vec3(0.9199, 0.5, 0.5), zero, zero);
    REQUIRE_OK(talus_world_step(world, &info));
    CHECK_INT(info.halvings, 0);
    CHECK_INT(info.clipped, 0);
    CHECK_INT(info.contacts, 1);
    talus_world_destroy(world);
}

TEST(a_fast_spin_of_a_box_halves_the_step)
{
    TalusWorld *world = make_fast(0.5, 0.0);
    add_body(world, box(0.1, 0.02, 0.02), 1.0, talus_vec3(0.02, 0.5, 0.5), zero,
             talus_vec3(0, 0, 3000));
    add_body(world, sphere(ball), 1.0, talus_vec3(0.5, 0.5, 0.5), zero, zero);
    for (int i = 0; i < 5; i++)
        REQUIRE_OK(talus_world_step(world, &info));
    CHECK(info.halvings > 0);
    CHECK_INT(info.clipped, 0);
    talus_world_destroy(world);
}

/* The light ball leaves with nearly twice the speed of the heavy one, which alone would not be too fast, and hits
 * the third within the step. */
TEST(a_blow_that_makes_a_ball_fast_halves_the_step)
{
    TalusWorld *world = make_fast(0.0, 1.0);
    add_body(world, sphere(ball), 1000.0, talus_vec3(0.8, 0.5, 0.5), talus_vec3(190, 0, 0), zero);
    add_body(world, sphere(ball), 1.0, talus_vec3(0.9001, 0.5, 0.5), zero, zero);
    add_body(world, sphere(ball), 1.0, talus_vec3(0.29, 0.5, 0.5), zero, zero);
    REQUIRE_OK(talus_world_step(world, &info));
    TalusVec3 v[3];
    velocities(world, v);
    CHECK(info.halvings > 0);
    CHECK_INT(info.clipped, 0);
    CHECK_NEAR(v[2].x, 2.0 * 190.0 * 1000.0 / 1001.0, 1e-3);
    talus_world_destroy(world);
}

static int warnings;

static void count_warnings(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)user;
    warnings += level == TALUS_LOG_WARNING && strcmp(id, "step.clipped") == 0 &&
                strstr(text, "contacts of theirs may be missed") != NULL;
}

TEST(what_a_sixteenth_may_miss_is_reported)
{
    TalusWorld *world = make_fast(0.3, 0.5);
    CHECK_OK(talus_world_set_accuracy(world, 1e-3, 100));
    add_body(world, sphere(ball), 1.0, talus_vec3(0.7, 0.5, 0.5), talus_vec3(1e6, 10, 0), zero);
    for (int i = 0; i < 8; i++)
        add_body(world, sphere(ball), 1.0, talus_vec3(0.12 * i, 0.8, 0.5), zero, zero);
    warnings = 0;
    talus_set_log(count_warnings, NULL);
    for (int i = 0; i < 3; i++) {
        REQUIRE_OK(talus_world_step(world, &info));
        CHECK_INT(info.halvings, 4);
        CHECK(info.clipped > 0);
    }
    CHECK_INT(warnings, 1);
    TalusProblem *problem;
    CHECK_OK(talus_world_build(world, &problem));
    talus_set_log(NULL, NULL);
    talus_world_destroy(world);
}

/* Beside a wall that leaves little room, and with one that turns fast. */
TEST(walls_and_fast_bodies)
{
    for (int k = 0; k < 2; k++) {
        TalusWorld *world = make_fast(0.3, 0.0);
        TalusBodyId wall =
            add_body(world, box(0.2, 0.2, 0.2), 0.0, talus_vec3(0.02, 0.5, 0.5), zero, zero);
        for (int i = 0; i < 9; i++) /* small ones, so that the box is a wall */
            add_body(world, sphere(0.005), 1.0, talus_vec3(0.815, 0.46 + 0.011 * i, 0.5), zero,
                     zero);
        if (k) {
            TalusDriveDef drive = talus_drive_def_default();
            drive.spin = talus_vec3(0, 0, 800); /* whose margin alone is too wide */
            CHECK_OK(talus_world_set_drive(world, wall, &drive));
        } else {
            add_body(world, sphere(0.005), 1.0, talus_vec3(0.5, 0.5, 0.5), talus_vec3(-1000, 0, 0),
                     zero);
        }
        for (int i = 0; i < 5; i++) {
            REQUIRE_OK(talus_world_step(world, &info));
            CHECK(info.halvings > 0 || i > 0);
            CHECK_INT(info.clipped, 0);
        }
        TalusVec3 x[11];
        TalusBodyState state = {.position = x};
        talus_world_get_state(world, &state);
        if (k == 0) { /* the fast one has come to the wall and not into it */
            CHECK(x[10].x > 0.2249);
            CHECK(x[10].x < 0.5);
        }
        talus_world_destroy(world);
    }
}

static TalusWorld *make_gas(int threads)
{
    TalusWorldDef def = fast_def();
    TalusPairDef pair = talus_pair_def_default();
    TalusRng rng = talus_rng_from_seed(11);
    def.threads = threads;
    def.period.on[2] = 1;
    def.period.hi.z = 1.0;
    def.tolerance = 1e-3;
    pair.restitution = 0.9;
    TalusWorld *world = make_world(&def, &pair);
    for (int i = 0; i < 125; i++) {
        TalusVec3 x = {0.2 * (i % 5), 0.2 * (i / 5 % 5), 0.2 * (i / 25)};
        TalusVec3 v = {talus_rng_uniform(&rng) - 0.5, talus_rng_uniform(&rng) - 0.5, 0.0};
        add_body(world, sphere(0.08), 1.0, x, i == 62 ? talus_vec3(900, 300, 200) : v, zero);
    }
    return world;
}

/* Momentum, threads and a restart in mid-run. */
TEST(a_gas_with_one_fast_ball)
{
    TalusWorld *world[3] = {make_gas(1), make_gas(3), NULL};
    TalusVec3 v[125], before = zero, after = zero;
    velocities(world[0], v);
    for (int i = 0; i < 125; i++)
        before = talus_add(before, v[i]);
    int halved = 0;
    for (int i = 0; i < 15; i++) {
        if (i == 2) {
            void *bytes;
            size_t size;
            REQUIRE_OK(talus_world_save(world[0], &bytes, &size));
            REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &world[2]));
            talus_free(bytes);
        }
        for (int k = 0; k < 3 && world[k]; k++)
            REQUIRE_OK(talus_world_step(world[k], &info));
        halved += info.halvings > 0;
        CHECK(fabs(info.ledger.imbalance) < 1e-6);
    }
    velocities(world[0], v);
    for (int i = 0; i < 125; i++)
        after = talus_add(after, v[i]);
    CHECK(halved > 0);
    CHECK_NEAR(talus_norm(talus_sub(after, before)), 0.0, 1e-9);
    for (int k = 1; k < 3; k++)
        CHECK(talus_world_hash(world[k]) == talus_world_hash(world[0]));
    for (int k = 0; k < 3; k++)
        talus_world_destroy(world[k]);
}

static inline void run_periodic_fast_cases(void)
{
    RUN(a_ball_meets_what_is_ahead_and_not_the_nearest);
    RUN(a_fast_spin_of_a_sphere_costs_nothing);
    RUN(a_fast_spin_of_a_box_halves_the_step);
    RUN(a_blow_that_makes_a_ball_fast_halves_the_step);
    RUN(what_a_sixteenth_may_miss_is_reported);
    RUN(walls_and_fast_bodies);
    RUN(a_gas_with_one_fast_ball);
}

#endif
