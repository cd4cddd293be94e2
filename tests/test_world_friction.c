/* Laws and sections of friction in worlds: what they do to bodies that slide, and that all of them, with all
 * other laws of materials, are the same for any number of threads and after a restart. */
#include "base/memory.h"
#include "material_world.h"

/* A block slides; the largest |gap| over its size, or, for the relaxation, the largest error of its gap as a
 * part of mu v h, with which it starts: from the floor itself it would leap off at the speed mu v. */
static double slide(TalusFrictionLaw law)
{
    const double h = 0.001, mu = 0.4, half = 0.05;
    TalusWorldDef def = tight_def(h);
    def.friction.law = law;
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = mu;
    TalusWorld *world = make_world(&def, &pair);
    add_floor(world);
    add_body(world, box(0.1, 0.1, half), 1.0,
             talus_vec3(0, 0, half + (law == TALUS_LAW_CCP ? mu * 1.3 * h : 0.0)),
             talus_vec3(1.2, 0.5, 0), zero);
    double worst = 0.0;
    for (int i = 0; i < 300; i++) {
        State s = step(world);
        double gap = s.x.z - half, speed = sqrt(s.v.x * s.v.x + s.v.y * s.v.y);
        double opened = mu * speed * h;
        worst = fmax(worst, law == TALUS_LAW_CCP ? fabs(gap - opened) / opened : fabs(gap) / half);
    }
    talus_world_destroy(world);
    return worst;
}

TEST(a_sliding_block_gains_no_gap_but_in_the_relaxation)
{
    CHECK(slide(TALUS_LAW_COULOMB) < 1e-9);
    CHECK(slide(TALUS_LAW_FIXED) < 1e-9);
    CHECK(slide(TALUS_LAW_CCP) < 0.01);
}

/* Power of friction on a ball that slides under `angle`, over mu m g speed: 1 for the disc. The support
 * function of the section. */
static double resistance(TalusFrictionModel model, double angle)
{
    const double h = 1e-4, mu = 0.4;
    TalusWorldDef def = tight_def(h);
    def.friction = model;
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = mu;
    TalusWorld *world = make_world(&def, &pair);
    TalusVec3 along = {cos(angle), sin(angle), 0.0};
    add_floor(world);
    add_body(world, sphere(0.1), 1.0, talus_vec3(0, 0, 0.1), along, zero);
    State s = step(world);
    talus_world_destroy(world);
    return (1.0 - talus_dot(s.v, along)) / (mu * g * h);
}

TEST(the_square_resists_by_direction)
{
    const double pi = 3.14159265358979323846;
    for (int law = TALUS_LAW_FIXED; law <= TALUS_LAW_COULOMB; law++) {
        TalusFrictionModel model = {.section = TALUS_SECTION_SQUARE, .law = (TalusFrictionLaw)law};
        double least = INFINITY, most = 0.0;
        for (int i = 0; i <= 12; i++) {
            double angle = i * pi / 24.0, r = resistance(model, angle);
            CHECK_NEAR(r, fabs(cos(angle)) + fabs(sin(angle)), 1e-6);
            least = fmin(least, r);
            most = fmax(most, r);
        }
        CHECK_NEAR(most / least, sqrt(2.0), 1e-6);
    }
}

TEST(polygons_approach_the_disc_as_the_square_of_their_sides)
{
    const double pi = 3.14159265358979323846;
    double before = 0.0;
    for (int sides = 4; sides <= 32; sides *= 2) {
        TalusFrictionModel model = {TALUS_SECTION_POLYGON, TALUS_LAW_COULOMB, sides};
        double deviation = 0.0;
        for (int i = 0; i < 16; i++)
            deviation = fmax(deviation, fabs(resistance(model, i * pi / 32.0) - 1.0));
        CHECK_NEAR(deviation, 1.0 - cos(pi / sides), 1e-6);
        if (before > 0.0)
            CHECK_NEAR(order(before, deviation), 2.0, 0.1);
        before = deviation;
    }
    TalusFrictionModel disc = {.law = TALUS_LAW_COULOMB};
    CHECK_NEAR(resistance(disc, 0.3), 1.0, 1e-6);
    TalusFrictionModel none = {.section = TALUS_SECTION_NONE, .law = TALUS_LAW_COULOMB};
    CHECK_NEAR(resistance(none, 0.3), 0.0, 1e-9);
}

/* ---- all laws at once: threads and restarts ---- */

/* Balls and bricks fall into each other with every law there is. */
static TalusWorld *make_mix(TalusFrictionModel model, int threads)
{
    TalusWorldDef def = talus_world_def_default();
    def.friction = model;
    def.threads = threads;
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = 0.5;
    pair.restitution = 0.4;
    pair.spinning = 0.02;
    pair.rolling = 0.05;
    pair.cohesion = 0.3;
    TalusWorld *world = make_world(&def, &pair);
    add_floor(world);
    for (int i = 0; i < 12; i++) {
        TalusVec3 x = {0.07 * (i % 2), 0.06 * (i / 2 % 2), 0.08 + 0.11 * (i / 4)};
        TalusVec3 v = {0.1 * i, -0.05 * i, -0.5};
        add_body(world, i % 3 ? sphere(0.05) : box(0.03, 0.04, 0.05), 1.0, talus_scale(1.5, x), v,
                 talus_vec3(i, 1.0, -2.0));
    }
    return world;
}

static void run(TalusWorld *world, int steps)
{
    for (int i = 0; i < steps; i++)
        CHECK_OK(talus_world_step(world, NULL));
}

static void check_mix(TalusFrictionModel model)
{
    TalusWorld *one = make_mix(model, 1), *copy = NULL;
    void *bytes;
    size_t size;
    run(one, 20);
    REQUIRE_OK(talus_world_save(one, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 2, NULL, &copy));
    talus_free(bytes);
    run(one, 20);
    run(copy, 20);
    CHECK(talus_world_hash(one) == talus_world_hash(copy));
    CHECK(talus_world_get_contacts(one, NULL, 0) > 6);
    for (int threads = 2; threads <= 3; threads++) {
        TalusWorld *other = make_mix(model, threads);
        run(other, 40);
        CHECK(talus_world_hash(one) == talus_world_hash(other));
        talus_world_destroy(other);
    }
    talus_world_destroy(copy);
    talus_world_destroy(one);
}

TEST(every_law_is_the_same_for_any_threads_and_after_a_restart)
{
    const TalusFrictionModel sections[] = {{.section = TALUS_SECTION_DISC},
                                           {.section = TALUS_SECTION_SQUARE},
                                           {.section = TALUS_SECTION_POLYGON, .sides = 6}};
    for (int law = 0; law < TALUS_LAWS; law++)
        for (int i = 0; i < 3; i++) {
            TalusFrictionModel model = sections[i];
            model.law = (TalusFrictionLaw)law;
            check_mix(model);
        }
}

/* Bodies at rest, so that no step finds more contacts than the one before. */
TEST(a_warm_step_allocates_nothing_under_any_law)
{
    for (int law = 0; law < TALUS_LAWS; law++) {
        TalusFrictionModel model = {.section = TALUS_SECTION_SQUARE, .law = (TalusFrictionLaw)law};
        TalusWorld *world = make_mix(model, 2);
        run(world, 300);
        uint64_t before = talus_allocation_count();
        run(world, 10);
        CHECK_INT((long long)(talus_allocation_count() - before), 0);
        talus_world_destroy(world);
    }
}

/* ---- jams ---- */

static void lean(TalusWorld *world, double side)
{
    const double half = 0.5 * acos(0.3);
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 at = {-0.1 * side, 0.0, 0.0};
    TalusQuat e = {cos(half), 0.0, side * sin(half), 0.0};
    CHECK_OK(talus_world_add_shape(world, &plane, &batch.shape));
    batch.count = 1;
    batch.fixed = true;
    batch.position = &at;
    batch.orientation = &e;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
}

/* A ball driven between two steep walls that friction holds it by: Coulomb's law has no solution that a solver finds,
 * and there is no proof that there is none. Compliance brings it to rest. */
TEST(a_jam_comes_to_rest)
{
    TalusWorldDef def = talus_world_def_relaxed();
    def.threads = 1;
    def.step = 0.005;
    def.friction.law = TALUS_LAW_COULOMB;
    TalusWorld *world = NULL;
    TalusStepInfo info = {0};
    TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.11};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 at = {0.0, 0.0, -0.004}, v = {0.0, 0.0, -1.0};
    CHECK_OK(talus_world_create(&def, &world));
    CHECK_OK(talus_world_set_friction(world, 0, 0, 0.9));
    lean(world, 1.0);
    lean(world, -1.0);
    CHECK_OK(talus_world_add_shape(world, &ball, &batch.shape));
    batch.count = 1;
    batch.position = &at;
    batch.velocity = &v;
    batch.mass = 1.0;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    for (int i = 0; i < 40; i++)
        CHECK_OK(talus_world_step(world, &info));
    CHECK(info.missed && info.solve.jammed);
    CHECK_INT(info.solve.outcome, TALUS_OUTCOME_BUDGET);
    CHECK(info.ledger.kinetic < 1e-5);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(a_sliding_block_gains_no_gap_but_in_the_relaxation);
    RUN(the_square_resists_by_direction);
    RUN(polygons_approach_the_disc_as_the_square_of_their_sides);
    RUN(a_warm_step_allocates_nothing_under_any_law);
    RUN(every_law_is_the_same_for_any_threads_and_after_a_restart);
    RUN(a_jam_comes_to_rest);
    return talus_test_result();
}
