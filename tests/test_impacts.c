/* Impacts that propagate (engine/cpu/impact.c), against impacts made one after the other by hand. */
#include "material_world.h"

#include "base/rng.h"

#include <stdlib.h>
#include <talus/joint.h>

/* Without gravity, with rigid contacts, so that nothing but impacts changes velocities. */
static TalusWorldDef impact_def(double h)
{
    TalusWorldDef def = tight_def(h);
    def.gravity = zero;
    def.reference_speed = 1.0;
    def.compliance = 0.0;
    def.impacts = TALUS_IMPACTS_PROPAGATING;
    return def;
}

static TalusWorld *make_impacts(const TalusWorldDef *def, double friction, double e)
{
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = friction;
    pair.restitution = e;
    return make_world(def, &pair);
}

/* One step of any number of bodies, whose ledger must close. */
static void strike(TalusWorld *world)
{
    CHECK_OK(talus_world_step(world, &info));
    const TalusLedger *l = &info.ledger;
    CHECK(fabs(l->imbalance) <= 1e-12 * (l->kinetic + fabs(l->impact) + fabs(l->friction)));
    CHECK(!info.missed);
}

enum { ROW = 6 };

/* Velocities along x of the first `count` bodies. */
static void get_speeds(const TalusWorld *world, int count, double *out)
{
    TalusVec3 v[64] = {{0}};
    TalusBodyState arrays = {.velocity = v};
    talus_world_get_state(world, &arrays);
    for (int i = 0; i < count; i++)
        out[i] = v[i].x;
}

/* A row of touching balls along x. */
static TalusWorld *make_row(double e, int count, const double *mass, const double *speed)
{
    TalusWorldDef def = impact_def(0.001);
    TalusWorld *world = make_impacts(&def, 0.0, e);
    for (int i = 0; i < count; i++)
        add_body(world, sphere(0.125), mass[i], talus_vec3(0.25 * i, 0, 0),
                 talus_vec3(speed[i], 0, 0), zero);
    return world;
}

/* Impacts of neighbours in a row, one after the other: all pairs of the same parity that approach, faster than `least`. */
static void collide_row(double e, int count, const double *mass, double *v, double least)
{
    for (int quiet = 0, k = 0; quiet < 2 && k < 1000000; k++, quiet++)
        for (int i = k % 2; i + 1 < count; i += 2) {
            double closing = v[i] - v[i + 1];
            if (!(closing > least))
                continue;
            double p = (1.0 + e) * closing / (1.0 / mass[i] + 1.0 / mass[i + 1]);
            v[i] -= p / mass[i];
            v[i + 1] += p / mass[i + 1];
            quiet = -1;
        }
}

TEST(the_last_ball_of_a_touching_cradle_takes_the_speed)
{
    const double mass[ROW] = {1, 1, 1, 1, 1, 1};
    double start[ROW] = {1.0}, v[ROW];
    TalusWorld *world = make_row(1.0, ROW, mass, start);
    strike(world);
    get_speeds(world, ROW, v);
    for (int i = 0; i < ROW; i++)
        CHECK_NEAR(v[i], i == ROW - 1, 1e-12);
    CHECK_INT(info.impacts.contacts, ROW - 1);
    CHECK_INT(info.impacts.rounds, ROW - 1);
    CHECK_INT(info.impacts.inexact, 0);
    talus_world_destroy(world);
    double two[ROW] = {1.0, 1.0};
    world = make_row(1.0, ROW, mass, two); /* two balls strike, two leave */
    strike(world);
    get_speeds(world, ROW, v);
    for (int i = 0; i < ROW; i++)
        CHECK_NEAR(v[i], i >= ROW - 2, 1e-12);
    talus_world_destroy(world);
}

TEST(a_row_of_unequal_masses_follows_its_impacts_one_by_one)
{
    const double mass[][ROW] = {{8, 4, 2, 1, 0.5, 0.25}, {0.25, 3, 0.5, 1, 7, 1}};
    const double e[] = {1.0, 0.9, 0.6};
    for (int m = 0; m < 2; m++)
        for (int k = 0; k < 3; k++) {
            double start[ROW] = {2.0, 0.0, 0.0, 0.0, 0.0, m ? -1.0 : 0.0}, v[ROW];
            TalusWorld *world = make_row(e[k], ROW, mass[m], start);
            strike(world);
            get_speeds(world, ROW, v);
            if (m == 0)
                collide_row(e[k], ROW, mass[m], start, 1e-9);
            double p = 0.0, q = 0.0, before = 2.0 * mass[m][0] - (m ? mass[m][ROW - 1] : 0.0);
            for (int i = 0; i < ROW; i++) {
                if (m == 0)
                    CHECK_NEAR(v[i], start[i], 1e-7);
                p += mass[m][i] * v[i];
                q += 0.5 * mass[m][i] * v[i] * v[i];
                CHECK(i == 0 || v[i] >= v[i - 1] - 1e-8);
            }
            CHECK_NEAR(p, before, 1e-11);
            CHECK_INT(info.impacts.inexact, 0);
            if (e[k] == 1.0)
                CHECK_NEAR(q, 0.5 * (4.0 * mass[m][0] + (m ? mass[m][ROW - 1] : 0.0)), 1e-9);
            talus_world_destroy(world);
        }
}

/* A small ball on a large one, both falling: the large one turns at the floor and strikes the small one. */
TEST(a_ball_on_a_ball_leaves_the_floor_up_to_three_times_as_fast)
{
    const double large = 1.0, small = 0.01, down = 2.0;
    TalusWorldDef def = impact_def(0.001);
    TalusWorld *world = make_impacts(&def, 0.5, 1.0);
    add_floor(world);
    add_body(world, sphere(0.25), large, talus_vec3(0, 0, 0.25), talus_vec3(0, 0, -down), zero);
    add_body(world, sphere(0.125), small, talus_vec3(0, 0, 0.625), talus_vec3(0, 0, -down), zero);
    strike(world);
    TalusVec3 v[3];
    TalusBodyState arrays = {.velocity = v};
    talus_world_get_state(world, &arrays);
    CHECK_NEAR(v[1].z, down * (large - 3.0 * small) / (large + small), 1e-12);
    CHECK_NEAR(v[2].z, down * (3.0 * large - small) / (large + small), 1e-12);
    talus_world_destroy(world);
}

/* A ball strikes two touching ones at once: they leave along the lines of centres, it comes back with a fifth. */
TEST(a_break_is_symmetric)
{
    const double r = 0.125, s = sqrt(3.0);
    TalusWorldDef def = impact_def(0.001);
    TalusWorld *world = make_impacts(&def, 0.0, 1.0);
    add_body(world, sphere(r), 1.0, zero, talus_vec3(1, 0, 0), zero);
    add_body(world, sphere(r), 1.0, talus_vec3(s * r, r, 0), zero, zero);
    add_body(world, sphere(r), 1.0, talus_vec3(s * r, -r, 0), zero, zero);
    strike(world);
    TalusVec3 v[3];
    TalusBodyState arrays = {.velocity = v};
    talus_world_get_state(world, &arrays);
    CHECK_NEAR(v[0].x, -0.2, 1e-12);
    CHECK_NEAR(v[0].y, 0.0, 1e-12);
    CHECK_NEAR(v[1].x, 0.6, 1e-12);
    CHECK_NEAR(v[1].y, 0.6 / s, 1e-12);
    CHECK_NEAR(v[2].y, -v[1].y, 1e-12);
    talus_world_destroy(world);
}

/* ---- energy ---- */

static const double half = 0.15, cell = 0.32, jitter = 0.01;

static double uniform(TalusRng *rng, double lo, double hi)
{
    return lo + (hi - lo) * talus_rng_uniform(rng);
}

static TalusVec3 random_vector(TalusRng *rng, double size)
{
    double x = uniform(rng, -size, size), y = uniform(rng, -size, size);
    return talus_vec3(x, y, uniform(rng, -size, size));
}

/* Balls and boxes near the places of a lattice on a floor, so close that most pairs close in a step, with random masses
 * and velocities. */
static void add_heap(TalusWorld *world, TalusRng *rng, int bodies)
{
    add_floor(world);
    for (int i = 0; i < bodies; i++) {
        double mass = pow(10.0, uniform(rng, -1.0, 1.0));
        TalusVec3 place = {cell * (i % 2), cell * (i / 2 % 2), cell * (i / 4) + half + jitter};
        TalusVec3 x = talus_add(place, random_vector(rng, jitter));
        TalusVec3 v = random_vector(rng, 1.0), w = random_vector(rng, 3.0);
        bool ball = talus_rng_uniform(rng) < 0.5;
        add_body(world, ball ? sphere(half) : box(half, half, half), mass, x, v, w);
    }
}

/* Sets the friction of all pairs, and a random restitution, often 1. */
static void set_random_restitution(TalusWorld *world, TalusRng *rng, double friction)
{
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = friction;
    pair.restitution = talus_rng_uniform(rng) < 0.3 ? 1.0 : talus_rng_uniform(rng);
    CHECK_OK(talus_world_set_pair(world, 0, 0, &pair));
}

static double kinetic_energy(TalusWorld *world)
{
    double sum = 0.0;
    for (int i = 0; i < world->bodies.counts.slots; i++) {
        const TalusBodies *b = &world->bodies;
        if (!talus_slot_is_dynamic(b, i))
            continue;
        const TalusGyration *shape = talus_slot_gyration(world, i);
        double spin =
            shape ? talus_dot(b->spin[i],
                              talus_sym3_mul(talus_sym3_rotate(b->orientation[i], shape->inertia),
                                             b->spin[i]))
                  : 0.4 * b->radius[i] * b->radius[i] * talus_dot(b->spin[i], b->spin[i]);
        sum += 0.5 * b->mass[i] * (talus_dot(b->velocity[i], b->velocity[i]) + spin);
    }
    return sum;
}

TEST(impacts_never_add_energy_in_a_thousand_heaps)
{
    TalusRng rng = talus_rng_from_seed(7);
    int64_t contacts = 0, inexact = 0;
    for (int k = 0; k < 1000; k++) {
        TalusWorldDef def = impact_def(0.05);
        def.tolerance = 1e-4;
        def.recovery = 0.0;
        double friction = k % 3 ? uniform(&rng, 0.0, 1.0) : 0.0;
        TalusWorld *world = make_impacts(&def, 0.0, 0.0);
        set_random_restitution(world, &rng, friction);
        add_heap(world, &rng, 2 + k % 7);
        double before = kinetic_energy(world);
        TalusStepInfo report;
        REQUIRE_OK(talus_world_step(world, &report));
        const TalusLedger *l = &report.ledger;
        contacts += report.impacts.contacts;
        inexact += report.impacts.inexact;
        CHECK(l->impact + l->friction + l->stabilisation <= 1e-4 * before);
        CHECK(kinetic_energy(world) <= before * (1.0 + 1e-4)); /* the tolerance of the solve */
        CHECK_NEAR(l->kinetic_change - l->exchange, kinetic_energy(world) - before, 1e-11 * before);
        CHECK(fabs(l->imbalance) <= 1e-12 * before);
        talus_world_destroy(world);
    }
    CHECK(contacts > 10000);
    CHECK(inexact < contacts / 10); /* jammed by large friction */
}

/* ---- where nothing propagates ---- */

/* A bed that falls on a floor, with gravity and friction. */
static TalusWorld *make_bed(TalusImpactLaw impacts, double e, int threads)
{
    TalusWorldDef def = talus_world_def_default();
    def.impacts = impacts;
    def.threads = threads;
    TalusWorld *world = make_impacts(&def, 0.3, e);
    TalusRng rng = talus_rng_from_seed(3);
    add_heap(world, &rng, 24);
    return world;
}

TEST(without_restitution_the_laws_give_the_same_bits)
{
    TalusWorld *world[2];
    for (int k = 0; k < 2; k++) {
        world[k] = make_bed((TalusImpactLaw)k, 0.0, 1);
        for (int i = 0; i < 100; i++)
            REQUIRE_OK(talus_world_step(world[k], NULL));
    }
    CHECK(talus_world_hash(world[0]) == talus_world_hash(world[1]));
    talus_world_destroy(world[0]);
    talus_world_destroy(world[1]);
}

TEST(threads_and_a_restart_do_not_change_the_bits)
{
    TalusWorld *world[3] = {make_bed(TALUS_IMPACTS_PROPAGATING, 0.6, 1),
                            make_bed(TALUS_IMPACTS_PROPAGATING, 0.6, 3), NULL};
    int64_t contacts = 0;
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 2; k++)
            REQUIRE_OK(talus_world_step(world[k], &info));
        contacts += info.impacts.contacts;
        if (i == 20) {
            void *bytes;
            size_t size;
            REQUIRE_OK(talus_world_save(world[0], &bytes, &size));
            REQUIRE_OK(talus_world_load(bytes, size, 2, NULL, &world[2]));
            talus_free(bytes);
        }
        if (i > 20)
            REQUIRE_OK(talus_world_step(world[2], NULL));
    }
    CHECK(contacts > 100);
    CHECK(talus_world_hash(world[1]) == talus_world_hash(world[0]));
    CHECK(talus_world_hash(world[2]) == talus_world_hash(world[0]));
    for (int k = 0; k < 3; k++)
        talus_world_destroy(world[k]);
}

/* ---- ledger, probes, driven bodies, failures ---- */

TEST(a_probe_feels_impacts)
{
    const double h = 0.001, mass = 2.0, speed = 3.0;
    TalusWorldDef def = impact_def(h);
    TalusWorld *world = make_impacts(&def, 0.0, 1.0);
    TalusProbeDef probe = {.name = "floor", .kind = TALUS_PROBE_BODY, .body = add_floor(world)};
    REQUIRE_OK(talus_world_add_probe(world, &probe, NULL));
    add_body(world, sphere(0.1), mass, talus_vec3(0, 0, 0.1), talus_vec3(0, 0, -speed), zero);
    CHECK_NEAR(step(world).v.z, speed, 1e-12);
    CHECK_NEAR(talus_world_probe_value(world, 0).force.z, -2.0 * mass * speed / h, 1e-8);
    talus_world_destroy(world);
}

TEST(a_driven_wall_gives_energy_and_the_ledger_says_how_much)
{
    const double push = 2.0, e = 0.5;
    TalusWorldDef def = impact_def(0.001);
    TalusWorld *world = make_impacts(&def, 0.0, e);
    TalusDriveDef drive = talus_drive_def_default();
    drive.velocity.x = push;
    TalusBodyId bat = add_body(world, box(0.1, 0.1, 0.1), 0.0, zero, zero, zero);
    REQUIRE_OK(talus_world_set_drive(world, bat, &drive));
    add_body(world, sphere(0.1), 1.0, talus_vec3(0.2, 0, 0), zero, zero);
    CHECK_NEAR(step(world).v.x, (1.0 + e) * push, 1e-12);
    CHECK_NEAR(info.ledger.driven, (1.0 + e) * push * push, 1e-9);
    CHECK_NEAR(info.ledger.impact, -0.5 * (1.0 - e * e) * push * push, 1e-9);
    talus_world_destroy(world);
}

static void count_messages(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)level;
    (void)text;
    *(int *)user += strcmp(id, "step.impacts") == 0;
}

/* An elastic ball between walls that it all but touches would bounce for ever: the rounds end, and it is said once. */
TEST(endless_rounds_end_and_are_reported)
{
    int said = 0;
    TalusWorldDef def = impact_def(0.001);
    TalusWorld *world = make_impacts(&def, 0.0, 1.0);
    talus_world_set_log(world, count_messages, &said);
    add_body(world, box(0.1, 1, 1), 0.0, talus_vec3(-0.2, 0, 0), zero, zero);
    add_body(world, sphere(0.1), 1.0, zero, talus_vec3(1, 0, 0), zero);
    add_body(world, box(0.1, 1, 1), 0.0, talus_vec3(0.2, 0, 0), zero, zero);
    for (int k = 0; k < 2; k++) {
        CHECK_OK(talus_world_step(world, &info));
        CHECK_INT(info.impacts.inexact > 0, k == 0);
        CHECK_INT(info.impacts.rounds, k == 0 ? 1000 + 2 * 100 : 0);
    }
    CHECK_INT(said, 1);
    talus_world_destroy(world);
}

TEST(a_step_that_fails_after_impacts_leaves_the_world_as_it_was)
{
    TalusWorldDef def = talus_world_def_default();
    def.impacts = TALUS_IMPACTS_PROPAGATING;
    def.threads = 1;
    def.on_miss = TALUS_MISS_STOP;
    TalusWorld *world = make_impacts(&def, 0.3, 0.5);
    TalusRng rng = talus_rng_from_seed(5);
    add_heap(world, &rng, 24);
    for (int k = 0; k < 100; k++)
        REQUIRE_OK(talus_world_step(world, NULL));
    CHECK_OK(talus_world_set_velocity(world, (TalusBodyId){2}, talus_vec3(0, 0, -5), zero));
    uint64_t hash = talus_world_hash(world);
    REQUIRE_OK(talus_world_set_accuracy(world, 1e-12, 1));
    for (int k = 0; k < 2; k++)
        CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_TOLERANCE);
    CHECK(talus_world_hash(world) == hash);
    REQUIRE_OK(talus_world_set_accuracy(world, 1e-2, 1000));
    CHECK_OK(talus_world_step(world, &info));
    CHECK(info.impacts.contacts > 0);
    talus_world_destroy(world);
}

TEST(joints_cells_and_unknown_laws_are_refused)
{
    TalusWorldDef def = impact_def(0.001);
    TalusWorld *world = make_impacts(&def, 0.0, 1.0);
    TalusJointDef joint = talus_joint_def_default();
    joint.a = add_body(world, sphere(0.1), 1.0, zero, zero, zero);
    CHECK_INT(talus_world_add_joint(world, &joint, NULL), TALUS_ERR_UNSUPPORTED);
    CHECK_STR(talus_error_record()->key, "impacts");
    talus_world_destroy(world);
    def.period = (TalusPeriod){.hi = {1.0, 1.0, 1.0}, .on = {1, 1, 1}};
    def.cell.on = true;
    CHECK_INT(talus_world_create(&def, &world), TALUS_ERR_UNSUPPORTED);
    CHECK_STR(talus_error_record()->key, "impacts");
    def.cell.on = false;
    def.impacts = (TalusImpactLaw)2;
    CHECK_INT(talus_world_create(&def, &world), TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error_record()->key, "impacts");
}

int main(void)
{
    RUN(the_last_ball_of_a_touching_cradle_takes_the_speed);
    RUN(a_row_of_unequal_masses_follows_its_impacts_one_by_one);
    RUN(a_ball_on_a_ball_leaves_the_floor_up_to_three_times_as_fast);
    RUN(a_break_is_symmetric);
    RUN(impacts_never_add_energy_in_a_thousand_heaps);
    RUN(without_restitution_the_laws_give_the_same_bits);
    RUN(threads_and_a_restart_do_not_change_the_bits);
    RUN(a_probe_feels_impacts);
    RUN(a_driven_wall_gives_energy_and_the_ledger_says_how_much);
    RUN(endless_rounds_end_and_are_reported);
    RUN(a_step_that_fails_after_impacts_leaves_the_world_as_it_was);
    RUN(joints_cells_and_unknown_laws_are_refused);
    return talus_test_result();
}
