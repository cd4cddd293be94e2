/* Space that repeats itself: across a side bodies meet as they do inside; on any backend. */
#ifndef TALUS_TEST_PERIODIC_CASES_H
#define TALUS_TEST_PERIODIC_CASES_H

#include "material_world.h"

#include "base/rng.h"

static const double length = 1.0;

static TalusWorldDef periodic_def(double shift)
{
    TalusWorldDef def = tight_def(1e-3);
    def.period =
        (TalusPeriod){{shift, shift, 0}, {shift + length, shift + length, 0}, {1, 1, 0}, 0.0};
    return def;
}

/* A head-on collision in the middle of the box and one across a corner of it end alike. */
TEST(two_balls_meet_across_a_corner)
{
    State end[2][2];
    for (int k = 0; k < 2; k++) {
        TalusWorldDef def = periodic_def(0.0);
        def.gravity = zero;
        def.reference_speed = 0.01;
        TalusPairDef pair = talus_pair_def_default();
        pair.restitution = 0.7;
        TalusWorld *world = make_world(&def, &pair);
        double m = k ? 0.0 : 0.5;
        add_body(world, sphere(0.05), 1.0, talus_vec3(m - 0.06, m - 0.06, 0), talus_vec3(1, 1, 0),
                 zero);
        add_body(world, sphere(0.05), 2.0, talus_vec3(m + 0.06, m + 0.06, 0), talus_vec3(-1, -1, 0),
                 talus_vec3(0, 0, 1));
        for (int i = 0; i < 200; i++)
            step(world);
        TalusVec3 x[2], v[2], w[2];
        TalusBodyState arrays = {.position = x, .velocity = v, .spin = w};
        talus_world_get_state(world, &arrays);
        TalusVec3 p = talus_madd(v[0], 2.0, v[1]);
        CHECK_NEAR(p.x, -1.0, 1e-12);
        CHECK_NEAR(p.y, -1.0, 1e-12);
        for (int i = 0; i < 2; i++) {
            CHECK(x[i].x >= 0.0 && x[i].x < length && x[i].y >= 0.0 && x[i].y < length);
            end[k][i] = (State){x[i], v[i], w[i]};
        }
        CHECK(v[0].x < 0.0);
        talus_world_destroy(world);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_NEAR(end[0][i].v.x, end[1][i].v.x, 1e-9);
        CHECK_NEAR(end[0][i].w.z, end[1][i].w.z, 1e-9);
        double apart = end[0][i].x.x - 0.5 - end[1][i].x.x;
        CHECK_NEAR(apart - floor(apart + 0.5), 0.0, 1e-9);
    }
}

static TalusWorld *make_bed(int threads, double shift, bool boxes)
{
    const TalusWorldDef relaxed = talus_world_def_relaxed(); /* its velocities are unique */
    TalusWorldDef def = periodic_def(0.0);
    def.friction = relaxed.friction;
    def.compliance = relaxed.compliance;
    def.threads = threads;
    def.tolerance = 1e-8;
    TalusWorld *world = make_world(&def, NULL);
    TalusRng rng = talus_rng_from_seed(7);
    add_floor(world);
    for (int i = 0; i < 64; i++) {
        double r = 0.06 + 0.02 * talus_rng_uniform(&rng);
        TalusVec3 x = {0.25 * (i % 4) + 0.02 + shift, 0.25 * (i / 4 % 4) + 0.03 + 0.5 * shift,
                       0.1 + 0.2 * (i / 16)};
        add_body(world, boxes && i % 2 ? box(r, r, r) : sphere(r), 1.0, x, zero,
                 talus_vec3(0, 0.3, 1));
    }
    return world;
}

enum { CROWD = 160 };

/* Spheres of all sizes anywhere, against the distances of all pairs. */
TEST(every_pair_is_found_once)
{
    for (int axes = 1; axes < 8; axes++) {
        TalusWorldDef def = tight_def(1e-6);
        def.period = (TalusPeriod){{0, 0, 0}, {1, 1, 1}, {axes & 1, axes >> 1 & 1, axes >> 2}, 0.0};
        def.max_iterations = 1;
        TalusWorld *world = make_world(&def, NULL);
        TalusRng rng = talus_rng_from_seed((uint64_t)axes);
        TalusVec3 x[CROWD];
        double r[CROWD];
        for (int i = 0; i < CROWD; i++) {
            r[i] = i % 16 ? 0.03 : 0.2;
            double a = talus_rng_uniform(&rng), b = talus_rng_uniform(&rng);
            x[i] = talus_vec3(a, b, talus_rng_uniform(&rng));
            add_body(world, sphere(r[i]), 1.0, x[i], zero, zero);
        }
        int overlaps = 0, found = 0, doubled = 0;
        for (int i = 0; i < CROWD; i++)
            for (int j = 0; j < i; j++) {
                double d[3] = {x[i].x - x[j].x, x[i].y - x[j].y, x[i].z - x[j].z}, sum = 0.0;
                for (int k = 0; k < 3; k++) {
                    d[k] -= axes >> k & 1 ? floor(d[k] + 0.5) : 0.0;
                    sum += d[k] * d[k];
                }
                overlaps += sqrt(sum) < r[i] + r[j];
            }
        CHECK_OK(talus_world_step(world, NULL));
        static TalusContactState c[CROWD * CROWD];
        int n = talus_world_get_contacts(world, c, CROWD * CROWD);
        for (int i = 0; i < n; i++) {
            found += c[i].gap < 0.0;
            doubled +=
                i > 0 && c[i].a.number == c[i - 1].a.number && c[i].b.number == c[i - 1].b.number;
        }
        CHECK_INT(found, overlaps);
        CHECK_INT(doubled, 0);
        CHECK(overlaps > 50);
        talus_world_destroy(world);
    }
}

/* A fixed body much larger than the others is looked for on its own, and its image as well. */
TEST(a_wall_is_met_across_a_side)
{
    for (int k = 0; k < 2; k++) {
        TalusWorldDef def = periodic_def(0.0);
        TalusWorld *world = make_world(&def, NULL);
        add_body(world, box(0.1, 0.1, 0.1), 0.0, talus_vec3(0.02, 0.5, 0.5), zero, zero);
        for (int i = 0; i < 9; i++) /* beside its lower side, which is beyond that of the box */
            add_body(world, sphere(0.005), 1.0, talus_vec3(k ? 0.915 : 0.9, 0.46 + 0.011 * i, 0.5),
                     zero, zero);
        CHECK_OK(talus_world_step(world, &info));
        CHECK_INT(info.contacts, k ? 9 : 0);
        talus_world_destroy(world);
    }
}

/* A ball lies on a fixed box, beyond the side from its centre. */
TEST(a_probe_sees_the_nearest_image)
{
    TalusWorldDef def = periodic_def(0.0);
    TalusWorld *world = make_world(&def, NULL);
    TalusProbeDef probe = {.name = "box", .kind = TALUS_PROBE_BODY};
    probe.body = add_body(world, box(0.1, 0.1, 0.1), 0.0, talus_vec3(0.02, 0.5, 0.5), zero, zero);
    add_body(world, sphere(0.03), 1.0, talus_vec3(0.95, 0.5, 0.63), zero, zero);
    CHECK_OK(talus_world_add_probe(world, &probe, NULL));
    for (int i = 0; i < 3; i++)
        step(world);
    TalusProbeValue value = talus_world_probe_value(world, 0);
    CHECK_NEAR(value.force.z, -g, 1e-8);
    CHECK_NEAR(value.torque.y, -0.07 * g, 1e-8);
    talus_world_destroy(world);
}

/* A bed that is moved sideways, over the sides, is the same bed: to rounding, which a settling bed enlarges,
 * so not for long. It has no sides, so its momentum sideways is what friction on the floor makes it. */
TEST(a_bed_is_its_translated_copy)
{
    for (int boxes = 0; boxes < 2; boxes++) {
        TalusWorld *a = make_bed(1, 0.0, boxes), *b = make_bed(2, 0.37, boxes);
        for (int i = 0; i < (boxes ? 130 : 300); i++) {
            REQUIRE_OK(talus_world_step(a, &info));
            int contacts = info.contacts;
            REQUIRE_OK(talus_world_step(b, &info));
            CHECK_INT(info.contacts, contacts);
            CHECK(fabs(info.ledger.imbalance) < 1e-10);
        }
        TalusVec3 x[2][65], v[2][65];
        TalusBodyState sa = {.position = x[0], .velocity = v[0]};
        TalusBodyState sb = {.position = x[1], .velocity = v[1]};
        talus_world_get_state(a, &sa);
        talus_world_get_state(b, &sb);
        double farthest = 0.0;
        int crossed = 0;
        for (int i = 1; i < 65; i++) {
            double dx = x[1][i].x - x[0][i].x - 0.37, dy = x[1][i].y - x[0][i].y - 0.185;
            crossed += fabs(dx) > 0.5;
            dx -= floor(dx + 0.5);
            dy -= floor(dy + 0.5);
            farthest = fmax(farthest, fabs(dx) + fabs(dy) + fabs(x[1][i].z - x[0][i].z));
            farthest = fmax(farthest, 1e-3 * talus_norm(talus_sub(v[1][i], v[0][i])));
        }
        CHECK(crossed > 5);
        CHECK(info.contacts > 50);
        CHECK_NEAR(farthest, 0.0, 1e-9);
        talus_world_destroy(a);
        talus_world_destroy(b);
    }
}

/* Without a floor nothing takes momentum away, however often bodies cross a side. */
TEST(momentum_is_kept_across_the_sides)
{
    TalusWorldDef def = periodic_def(-0.3);
    def.period.lo.z = 0.0;
    def.period.hi.z = 1.0;
    def.period.on[2] = 1;
    def.gravity = zero;
    def.reference_speed = 1e-3;
    def.step = 5e-3;
    def.tolerance = 1e-3;
    TalusPairDef pair = talus_pair_def_default();
    pair.restitution = 0.9;
    TalusWorld *world = make_world(&def, &pair);
    TalusRng rng = talus_rng_from_seed(3);
    TalusVec3 before = zero;
    double energy = 0.0;
    for (int i = 0; i < 125; i++) {
        TalusVec3 v = {talus_rng_uniform(&rng) - 0.3, talus_rng_uniform(&rng) - 0.5,
                       talus_rng_uniform(&rng) - 0.5};
        TalusVec3 x = {0.2 * (i % 5), 0.2 * (i / 5 % 5), 0.2 * (i / 25)};
        add_body(world, sphere(0.08), 1.0, x, v, zero);
        before = talus_add(before, v);
        energy += 0.5 * talus_dot(v, v);
    }
    int hits = 0;
    for (int i = 0; i < 300; i++) {
        REQUIRE_OK(talus_world_step(world, &info));
        hits += info.ledger.impact < -1e-6;
        CHECK(fabs(info.ledger.imbalance) < 1e-11);
    }
    TalusVec3 v[125], after = zero;
    TalusBodyState state = {.velocity = v};
    talus_world_get_state(world, &state);
    for (int i = 0; i < 125; i++)
        after = talus_add(after, v[i]);
    CHECK(hits > 50 && info.ledger.kinetic < energy);
    CHECK_NEAR(after.x, before.x, 1e-11);
    CHECK_NEAR(after.y, before.y, 1e-11);
    CHECK_NEAR(after.z, before.z, 1e-11);
    talus_world_destroy(world);
}

/* Down a slope that goes on for ever: what gravity lifts a body by at the side is in the exchange. */
TEST(a_slope_that_repeats_itself)
{
    TalusWorldDef def = periodic_def(0.0);
    def.gravity = talus_vec3(g * 0.6, 0.0, -g * 0.8);
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = 0.0;
    TalusWorld *world = make_world(&def, &pair), *loaded;
    add_floor(world);
    add_body(world, box(0.1, 0.1, 0.05), 1.0, talus_vec3(0.5, 0.5, 0.05), zero, zero);
    double exchange = 0.0;
    step(world); /* which the arrival of the box is in */
    State s = {zero, zero, zero};
    for (int i = 1; i < 1000; i++) {
        s = step(world);
        exchange += info.ledger.exchange;
    }
    CHECK_NEAR(s.v.x, 0.6 * g, 1e-6);
    double way = 0.5 + 0.3 * g * 1.001;
    CHECK_NEAR(s.x.x, way - floor(way), 1e-6);
    CHECK_NEAR(exchange, 0.6 * g * floor(way), 1e-9); /* m g sin of the slope, once a round */
    void *bytes;
    size_t size;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &loaded));
    talus_free(bytes);
    CHECK(talus_world_period(loaded).on[1] == 1 && talus_world_period(loaded).hi.y == length);
    step(world);
    CHECK_OK(talus_world_step(loaded, NULL));
    CHECK(talus_world_hash(world) == talus_world_hash(loaded));
    talus_world_destroy(world);
    talus_world_destroy(loaded);
}

/* Emitted spheres keep clear of bodies across a side, and threads change nothing. */
TEST(an_emitter_sees_across_the_sides)
{
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        TalusWorldDef def = periodic_def(0.0);
        def.threads = k ? 3 : 1;
        def.tolerance = 1e-3;
        TalusWorld *world = make_world(&def, NULL);
        TalusEmitterDef e = talus_emitter_def_default();
        e.hi = talus_vec3(1.0, 1.0, 0.8);
        e.rate = 40000.0;
        e.radius_min = e.radius_max = 0.09;
        e.density = 100.0;
        e.count = 120;
        REQUIRE_OK(talus_world_add_emitter(world, &e));
        REQUIRE_OK(talus_world_step(world, &info));
        REQUIRE_OK(talus_world_step(world, &info));
        CHECK(info.bodies > 40);
        CHECK(info.penetration_max == 0.0);
        for (int i = 0; i < 20; i++)
            REQUIRE_OK(talus_world_step(world, &info));
        hash[k] = talus_world_hash(world);
        talus_world_destroy(world);
    }
    CHECK(hash[0] == hash[1]);
}

static void expect_refusal(TalusShapeDef shape, double mass, TalusVec3 normal, const char *text)
{
    TalusWorldDef def = periodic_def(0.0);
    TalusWorld *world = make_world(&def, NULL);
    TalusBodyBatch batch = talus_body_batch_default();
    TalusQuat turn = {sqrt(0.5), 0.0, normal.x * sqrt(0.5), 0.0};
    add_body(world, sphere(0.01), 1.0, talus_vec3(0.5, 0.5, 0.5), zero, zero);
    CHECK_OK(talus_world_add_shape(world, &shape, &batch.shape));
    batch.count = 1;
    batch.fixed = mass == 0.0;
    batch.mass = mass;
    batch.position = &zero;
    batch.orientation = normal.x != 0.0 ? &turn : NULL;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_UNSUPPORTED);
    CHECK(strstr(talus_error(), text));
    talus_world_destroy(world);
}

TEST(what_would_meet_itself_is_refused)
{
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    expect_refusal(sphere(0.3), 1.0, zero, "the largest body has");
    expect_refusal(box(0.5, 0.1, 0.1), 0.0, zero, "a box, reaches");
    expect_refusal(plane, 0.0, talus_vec3(1, 0, 0), "is not parallel");
    TalusWorldDef def = periodic_def(0.0);
    TalusWorld *world;
    def.period.hi.x = def.period.lo.x;
    CHECK_INT(talus_world_create(&def, &world), TALUS_ERR_ARGUMENT);
}

static inline void run_periodic_cases(void)
{
    RUN(two_balls_meet_across_a_corner);
    RUN(every_pair_is_found_once);
    RUN(a_wall_is_met_across_a_side);
    RUN(a_probe_sees_the_nearest_image);
    RUN(a_bed_is_its_translated_copy);
    RUN(momentum_is_kept_across_the_sides);
    RUN(a_slope_that_repeats_itself);
    RUN(an_emitter_sees_across_the_sides);
    RUN(what_would_meet_itself_is_refused);
}

#endif
