/* Flows: planes that count what crosses them, and sinks that count what they take. */
#include "test_world_scene.h"

#include <stdio.h>

/* A world of balls of radius 0.1 m without gravity, with the step 1/64 s. */
static TalusWorld *make_space(void)
{
    TalusWorldDef def = quick_def(1);
    def.gravity = zero;
    def.reference_speed = 0.01;
    def.step = 1.0 / 64.0;
    return make_world(&def);
}

/* Adds a ball of 3 kg that flies at `velocity`. */
static TalusStatus add_flying(TalusWorld *world, TalusVec3 at, TalusVec3 velocity)
{
    TalusBodyBatch batch = talus_body_batch_default();
    TALUS_TRY(talus_world_add_shape(world, &ball, &batch.shape));
    batch.count = 1;
    batch.position = &at;
    batch.velocity = &velocity;
    batch.mass = 3.0;
    return talus_world_add_bodies(world, &batch, NULL);
}

static TalusProbeDef plane_at(double z)
{
    return (TalusProbeDef){
        .name = "plane", .kind = TALUS_PROBE_PLANE, .at = {0, 0, z}, .normal = {0, 0, 2}};
}

/* ---- planes ---- */

TEST(a_plane_counts_each_crossing_once_and_with_its_sign)
{
    TalusWorld *world = make_space();
    TalusProbeDef def = plane_at(0.5);
    REQUIRE_OK(add_flying(world, talus_vec3(0.0, 0.0, 0.25), talus_vec3(0.0, 0.0, 1.0)));
    REQUIRE_OK(add_flying(world, talus_vec3(1.0, 0.0, 0.99), talus_vec3(0.0, 0.0, -4.0)));
    REQUIRE_OK(add_flying(world, talus_vec3(2.0, 0.0, 0.4), talus_vec3(5.0, 0.0, 0.0)));
    REQUIRE_OK(talus_world_add_probe(world, &def, NULL));
    CHECK_INT(talus_world_probe_kind(world, 0), TALUS_PROBE_PLANE);
    int up = 0, down = 0;
    for (int i = 0; i < 64; i++) {
        run(world, 1);
        TalusProbeValue v = talus_world_probe_value(world, 0);
        up += v.bodies == 1;
        down += v.bodies == -1;
        CHECK_NEAR(v.mass, 3.0 * v.bodies, 0.0);
        CHECK_NEAR(v.momentum.z, v.bodies == 1 ? 3.0 : v.bodies == -1 ? 12.0 : 0.0, 1e-12);
        CHECK_INT(v.total_bodies, up - down);
        CHECK_NEAR(v.total_mass, 3.0 * (up - down), 0.0);
        CHECK(v.contacts == 0 && v.force.z == 0.0);
    }
    CHECK_INT(up, 1);
    CHECK_INT(down, 1);
    talus_world_destroy(world);
}

/* The first ball ends a step on the plane, exactly: it is then ahead of it, and counts once. */
TEST(a_ball_that_stops_on_the_plane_is_ahead_of_it)
{
    TalusWorld *world = make_space();
    TalusProbeDef def = plane_at(0.0);
    REQUIRE_OK(add_flying(world, talus_vec3(0.0, 0.0, -0.125), talus_vec3(0.0, 0.0, 1.0)));
    REQUIRE_OK(talus_world_add_probe(world, &def, NULL));
    run(world, 7);
    CHECK_INT(talus_world_probe_value(world, 0).total_bodies, 0);
    run(world, 1);
    CHECK_NEAR(world->bodies.position[0].z, 0.0, 0.0);
    CHECK_INT(talus_world_probe_value(world, 0).total_bodies, 1);
    run(world, 8);
    CHECK_INT(talus_world_probe_value(world, 0).total_bodies, 1);
    REQUIRE_OK(talus_world_set_velocity(world, talus_slot_id(&world->bodies, 0),
                                        talus_vec3(0.0, 0.0, -1.0), zero));
    run(world, 8);
    CHECK_INT(talus_world_probe_value(world, 0).total_bodies, 1);
    run(world, 1);
    CHECK_INT(talus_world_probe_value(world, 0).total_bodies, 0);
    talus_world_destroy(world);
}

/* Balls along x cross the plane at 0, 1 and 2 m from its point, obliquely: where they cross it counts, not where the step
 * begins. */
TEST(a_disc_and_a_rectangle_count_what_crosses_within_them)
{
    TalusWorld *world = make_space();
    for (int i = 0; i < 3; i++)
        REQUIRE_OK(add_flying(world, talus_vec3(i + 0.5, 0.0, -0.5), talus_vec3(-64.0, 0.0, 64.0)));
    TalusProbeDef disc = plane_at(0.0), rectangle = disc, all = disc, none = disc;
    disc.radius = 0.5;
    rectangle.half = talus_vec3(1.5, 0.1, 0.0);
    none.at = talus_vec3(0.0, 1.0, 0.0);
    none.half = talus_vec3(0.0, 0.5, 0.0);
    REQUIRE_OK(talus_world_add_probe(world, &disc, NULL));
    REQUIRE_OK(talus_world_add_probe(world, &rectangle, NULL));
    REQUIRE_OK(talus_world_add_probe(world, &all, NULL));
    REQUIRE_OK(talus_world_add_probe(world, &none, NULL));
    run(world, 1);
    const int bodies[] = {1, 2, 3, 0};
    for (int i = 0; i < 4; i++)
        CHECK_INT(talus_world_probe_value(world, i).bodies, bodies[i]);
    talus_world_destroy(world);
}

/* A ball that goes round crosses a plane at the border, and one in the middle, once per round; half a period away from
 * either nothing is counted. */
TEST(in_periodic_space_a_plane_counts_once_per_round)
{
    TalusWorldDef def = quick_def(1);
    def.gravity = zero;
    def.reference_speed = 0.01;
    def.step = 0.01;
    def.period =
        (TalusPeriod){.on = {true, false, false}, .lo = {-1.0, 0.0, 0.0}, .hi = {1.0, 0.0, 0.0}};
    TalusWorld *world = make_world(&def);
    TalusProbeDef middle = {
        .name = "middle", .kind = TALUS_PROBE_PLANE, .at = {0.1, 0, 0}, .normal = {1, 0, 0}};
    TalusProbeDef border = middle;
    border.at.x = 1.0;
    REQUIRE_OK(add_flying(world, talus_vec3(-0.513, 0.0, 0.0), talus_vec3(3.0, 0.1, 0.0)));
    REQUIRE_OK(talus_world_add_probe(world, &middle, NULL));
    REQUIRE_OK(talus_world_add_probe(world, &border, NULL));
    for (int i = 1; i <= 700; i++) {
        run(world, 1);
        double x = -0.513 + 0.03 * i; /* without period */
        CHECK_INT(talus_world_probe_value(world, 0).total_bodies, floor((x - 0.1) / 2.0) + 1.0);
        CHECK_INT(talus_world_probe_value(world, 1).total_bodies, floor((x - 1.0) / 2.0) + 1.0);
    }
    talus_world_destroy(world);
}

/* ---- sinks ---- */

/* Balls that rain onto a floor with a sink beside it, and one below; a plane just above the lower sink. */
static TalusWorld *make_rain(int threads)
{
    TalusWorldDef def = quick_def(threads);
    TalusWorld *world = make_world(&def);
    TalusShapeDef board = {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.5, 0.05}};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusEmitterDef rain = talus_emitter_def_default();
    TalusProbeDef plane = plane_at(-0.9);
    CHECK_OK(talus_world_add_shape(world, &board, &batch.shape));
    batch.count = 1;
    batch.fixed = true;
    batch.position = &zero;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    rain.lo = talus_vec3(-0.8, -0.8, 0.6);
    rain.hi = talus_vec3(0.8, 0.8, 1.2);
    rain.rate = 900.0;
    rain.count = 400;
    rain.radius_min = 0.03;
    rain.radius_max = 0.05;
    rain.velocity = talus_vec3(0.0, 1.0, 0.0);
    CHECK_OK(talus_world_add_emitter(world, &rain));
    CHECK_OK(talus_world_add_named_sink(world, "below", 2, -1.0));
    CHECK_OK(talus_world_add_sink(world, 0, -0.7));
    plane.normal.z = -1.0;
    CHECK_OK(talus_world_add_probe(world, &plane, NULL));
    return world;
}

/* Sum of the masses of the free bodies, kg. */
static double mass_in_world(const TalusWorld *world)
{
    double sum = 0.0;
    for (int i = 0; i < world->bodies.counts.slots; i++)
        if (talus_slot_is_free(&world->bodies, i))
            sum += world->bodies.mass[i];
    return sum;
}

TEST(what_sinks_take_is_what_leaves)
{
    TalusWorld *world = make_rain(2);
    CHECK_INT(talus_world_sink_count(world), 2);
    CHECK_STR(talus_world_sink_name(world, 0), "below");
    CHECK_STR(talus_world_sink_name(world, 1), "sink 1");
    run(world, 100); /* all have come */
    TalusFlow before[2] = {talus_world_sink_flow(world, 0), talus_world_sink_flow(world, 1)};
    int64_t living = talus_world_body_count(world);
    CHECK_INT(living - 1 + before[0].total_bodies + before[1].total_bodies, 400);
    double mass = mass_in_world(world);
    int64_t taken = 0;
    for (int i = 0; i < 200; i++) {
        run(world, 1);
        taken += talus_world_sink_flow(world, 0).bodies + talus_world_sink_flow(world, 1).bodies;
    }
    TalusFlow below = talus_world_sink_flow(world, 0), beside = talus_world_sink_flow(world, 1);
    CHECK(below.total_bodies > before[0].total_bodies + 20 && beside.total_bodies > 10);
    CHECK_INT(living - talus_world_body_count(world), taken);
    CHECK_INT(taken, below.total_bodies + beside.total_bodies - before[0].total_bodies -
                         before[1].total_bodies);
    double lost =
        below.total_mass + beside.total_mass - before[0].total_mass - before[1].total_mass;
    CHECK_NEAR(mass - mass_in_world(world), lost, 1e-12 * mass);
    /* all that the sink below has taken, and what is between, has crossed the plane */
    TalusProbeValue plane = talus_world_probe_value(world, 0);
    int between = 0;
    for (int i = 0; i < world->bodies.counts.slots; i++)
        between += talus_slot_is_free(&world->bodies, i) && world->bodies.position[i].z < -0.9;
    CHECK(plane.total_bodies >= below.total_bodies + between); /* some go into the other sink */
    CHECK(plane.total_bodies <= below.total_bodies + beside.total_bodies + between);
    talus_world_destroy(world);
}

static bool same_flows(const TalusWorld *a, const TalusWorld *b)
{
    TalusProbeValue p = talus_world_probe_value(a, 0), q = talus_world_probe_value(b, 0);
    bool same = p.bodies == q.bodies && p.mass == q.mass && p.total_bodies == q.total_bodies &&
                p.total_mass == q.total_mass;
    for (int i = 0; i < 2; i++) {
        TalusFlow f = talus_world_sink_flow(a, i), g = talus_world_sink_flow(b, i);
        same = same && f.bodies == g.bodies && f.mass == g.mass &&
               f.total_bodies == g.total_bodies && f.total_mass == g.total_mass;
    }
    return same;
}

TEST(flows_have_the_same_bits_after_a_restart_and_for_any_threads)
{
    TalusWorld *world = make_rain(1), *other = make_rain(3), *loaded;
    void *bytes;
    size_t size;
    run(world, 90);
    run(other, 90);
    CHECK(talus_world_sink_flow(world, 1).total_bodies > 0);
    CHECK(same_flows(world, other));
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &loaded));
    CHECK(same_flows(world, loaded));
    CHECK_STR(talus_world_sink_name(loaded, 0), "below");
    run(world, 60);
    run(loaded, 60);
    CHECK(same_flows(world, loaded));
    CHECK(talus_world_probe_value(loaded, 0).total_bodies > 10);
    talus_free(bytes);
    talus_world_destroy(world);
    talus_world_destroy(other);
    talus_world_destroy(loaded);
}

/* A step that fails counts nothing. */
TEST(a_failed_step_is_not_counted)
{
    TalusWorld *world = make_rain(1), *other = make_rain(1);
    world->def.on_miss = TALUS_MISS_STOP;
    int failed = 0;
    for (int i = 0; i < 120; i++) {
        REQUIRE_OK(talus_world_set_accuracy(world, 1e-14, 1));
        failed += talus_world_step(world, NULL) == TALUS_ERR_TOLERANCE;
        REQUIRE_OK(talus_world_set_accuracy(world, 1e-2, 1000));
        while (talus_world_steps(world) <= i)
            run(world, 1);
        run(other, 1);
    }
    CHECK(failed > 50);
    TalusFlow f = talus_world_sink_flow(world, 1), g = talus_world_sink_flow(other, 1);
    CHECK_INT(f.total_bodies, g.total_bodies);
    CHECK(f.total_bodies > 0);
    talus_world_destroy(world);
    talus_world_destroy(other);
}

/* ---- refusals ---- */

TEST(planes_without_direction_are_refused)
{
    TalusWorld *world = make_space();
    TalusProbeDef def = plane_at(0.0);
    def.normal = zero;
    CHECK_INT(talus_world_add_probe(world, &def, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("normal"));
    def = plane_at(INFINITY);
    CHECK_INT(talus_world_add_probe(world, &def, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("not finite"));
    def = plane_at(0.0);
    def.radius = -1.0;
    CHECK_INT(talus_world_add_probe(world, &def, NULL), TALUS_ERR_ARGUMENT);
    def = plane_at(0.0);
    def.half.y = NAN;
    CHECK_INT(talus_world_add_probe(world, &def, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("radius or half"));
    def = plane_at(0.0);
    def.kind = TALUS_PROBE_PLANE + 1;
    CHECK_INT(talus_world_add_probe(world, &def, NULL), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_probe_count(world), 0);
    talus_world_destroy(world);
}

TEST(planes_in_a_cell_that_deforms_are_refused)
{
    TalusWorldDef def = quick_def(1);
    def.gravity = zero;
    def.reference_speed = 0.01;
    def.period =
        (TalusPeriod){.on = {true, true, true}, .lo = {0.0, 0.0, 0.0}, .hi = {1.0, 1.0, 1.0}};
    def.cell.on = true;
    def.cell.rate.xy = 1.0;
    TalusWorld *world = make_world(&def);
    TalusProbeDef plane = plane_at(0.5);
    REQUIRE(world != NULL);
    CHECK_INT(talus_world_add_probe(world, &plane, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("a plane does not move with a cell that deforms"));
    talus_world_destroy(world);
}

int main(void)
{
    RUN(a_plane_counts_each_crossing_once_and_with_its_sign);
    RUN(a_ball_that_stops_on_the_plane_is_ahead_of_it);
    RUN(a_disc_and_a_rectangle_count_what_crosses_within_them);
    RUN(in_periodic_space_a_plane_counts_once_per_round);
    RUN(what_sinks_take_is_what_leaves);
    RUN(flows_have_the_same_bits_after_a_restart_and_for_any_threads);
    RUN(a_failed_step_is_not_counted);
    RUN(planes_without_direction_are_refused);
    RUN(planes_in_a_cell_that_deforms_are_refused);
    return talus_test_result();
}
