/* The world as an object: arguments, ids, state, materials, ledger, probes, arrivals. */
#include "test_world_scene.h"

#include <string.h>

TEST(a_zeroed_def_is_caught)
{
    TalusWorldDef def = {0};
    TalusWorld *world = (TalusWorld *)&def;
    CHECK_INT(talus_world_create(&def, &world), TALUS_ERR_ARGUMENT);
    CHECK(world == NULL && said("talus_world_def_default"));
    def = quick_def(1);
    world = make_world(&def);
    TalusBodyBatch batch = {0};
    CHECK_INT(talus_world_add_bodies(world, &batch, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("talus_body_batch_default"));
    TalusEmitterDef emitter = {0};
    CHECK_INT(talus_world_add_emitter(world, &emitter), TALUS_ERR_ARGUMENT);
    CHECK(said("talus_emitter_def_default"));
    talus_world_destroy(world);
    talus_world_destroy(NULL);
}

static void refuse_def(TalusWorldDef def, TalusStatus status, const char *key, const char *text)
{
    TalusWorld *world;
    CHECK_INT(talus_world_create(&def, &world), status);
    CHECK(world == NULL);
    CHECK_STR(talus_error_record()->key, key);
    if (!said(text))
        CHECK_STR(talus_error(), text);
}

TEST(bad_defs_are_refused_by_name)
{
    TalusWorldDef def = quick_def(1), bad = def;
    bad.step = 0.0;
    refuse_def(bad, TALUS_ERR_ARGUMENT, "step", "step is 0");
    bad = def;
    bad.tolerance = -1.0;
    refuse_def(bad, TALUS_ERR_ARGUMENT, "tolerance", "tolerance is -1");
    bad = def;
    bad.gravity.x = NAN;
    refuse_def(bad, TALUS_ERR_ARGUMENT, "gravity", "gravity");
    bad = def;
    bad.gravity.z = -1e300; /* finite, but not its square */
    refuse_def(bad, TALUS_ERR_ARGUMENT, "gravity",
               "gravity is (0, 0, -1e+300) m/s2; expected numbers from -1e+100 to 1e+100");
    bad = def;
    bad.gravity = zero;
    refuse_def(bad, TALUS_ERR_ARGUMENT, "reference_speed", "reference_speed");
    bad = def;
    bad.max_iterations = 0;
    refuse_def(bad, TALUS_ERR_ARGUMENT, "max_iterations", "max_iterations");
    bad = def;
    bad.on_miss = (TalusMissPolicy)7;
    refuse_def(bad, TALUS_ERR_ARGUMENT, "on_miss", "on_miss");
    bad = def;
    bad.solver = "aqgd";
    refuse_def(bad, TALUS_ERR_ARGUMENT, "aqgd", "apgd");
    bad = def;
    bad.backend = "abacus";
    refuse_def(bad, TALUS_ERR_UNSUPPORTED, "abacus", "backend");
    bad = def;
    bad.threads = -1;
    refuse_def(bad, TALUS_ERR_ARGUMENT, "threads", "threads");
}

TEST(bad_bodies_are_refused_and_nothing_is_added)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    int shape, plane;
    TalusShapeDef plane_def = {.kind = TALUS_SHAPE_PLANE};
    REQUIRE_OK(talus_world_add_shape(world, &ball, &shape));
    REQUIRE_OK(talus_world_add_shape(world, &plane_def, &plane));
    TalusVec3 x[2] = {{0.0, 0.0, 1.0}, {0.0, 0.0, NAN}};
    TalusBodyBatch good = talus_body_batch_default(), bad;
    good.count = 2;
    good.shape = shape;
    good.position = x;
    CHECK_INT(talus_world_add_bodies(world, &good, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("position of body 1"));
    x[1] = talus_vec3(0.0, 0.0, 2.0);
    bad = good;
    bad.shape = 5;
    CHECK_INT(talus_world_add_bodies(world, &bad, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("shape 5"));
    bad = good;
    bad.material = -1;
    CHECK_INT(talus_world_add_bodies(world, &bad, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("material -1"));
    bad = good;
    bad.shape = plane;
    CHECK_INT(talus_world_add_bodies(world, &bad, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("plane must be fixed"));
    double radius[2] = {0.1, -0.1};
    bad = good;
    bad.radius = radius;
    CHECK_INT(talus_world_add_bodies(world, &bad, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("radius of body 1"));
    TalusQuat e[2] = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0}};
    bad = good;
    bad.orientation = e;
    CHECK_INT(talus_world_add_bodies(world, &bad, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("orientation of body 1"));
    bad = good;
    bad.mass = 1e-310; /* its inverse is infinite */
    CHECK_INT(talus_world_add_bodies(world, &bad, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("mass of 1e-310"));
    TalusShapeDef speck = {.kind = TALUS_SHAPE_BOX, .half = {1e-60, 1e-60, 1e-60}};
    CHECK_INT(talus_world_add_shape(world, &speck, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("inertia overflows"));
    bad = good;
    TalusMaterialDef weightless = talus_material_def_default();
    weightless.density = 0.0;
    REQUIRE_OK(talus_world_add_material(world, &weightless, &bad.material));
    bad.orientation = NULL;
    CHECK_INT(talus_world_add_bodies(world, &bad, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("density"));
    CHECK_INT(talus_world_body_count(world), 0);
    talus_world_destroy(world);
}

TEST(bad_materials_sinks_probes_and_velocities_are_refused)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    TalusBodyId floor;
    REQUIRE_OK(add_floor(world, &floor));
    TalusMaterialDef material = talus_material_def_default();
    material.damping = 1.0;
    CHECK_INT(talus_world_add_material(world, &material, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("stiffness"));
    CHECK_INT(talus_world_set_friction(world, 0, 1, 0.3), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_set_friction(world, 0, 0, -0.3), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_add_sink(world, 3, 0.0), TALUS_ERR_ARGUMENT);
    /* no saved state can hold what is not finite */
    CHECK_INT(talus_world_add_sink(world, 2, -INFINITY), TALUS_ERR_ARGUMENT);
    TalusProbeDef half_space = {.name = "h", .kind = TALUS_PROBE_REGION, .hi = {1, 1, INFINITY}};
    CHECK_INT(talus_world_add_probe(world, &half_space, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("not finite"));
    TalusProbeDef probe = {.name = "p", .kind = TALUS_PROBE_BODY, .body = {7}};
    CHECK_INT(talus_world_add_probe(world, &probe, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("no body 7"));
    CHECK_INT(talus_world_set_velocity(world, floor, zero, zero), TALUS_ERR_ARGUMENT);
    CHECK(said("fixed"));
    CHECK_INT(talus_world_add_bodies_at(world, NAN, NULL), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

TEST(ids_are_new_and_slots_are_reused_in_order)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    TalusBodyId id[4], again;
    for (int i = 0; i < 4; i++)
        REQUIRE_OK(add_one(world, ball, talus_vec3(i, 0.0, 5.0), &id[i]));
    CHECK_INT(id[0].number, 1);
    CHECK_INT(id[3].number, 4);
    CHECK_OK(talus_world_remove_body(world, id[2]));
    CHECK_OK(talus_world_remove_body(world, id[1]));
    CHECK_INT(talus_world_remove_body(world, id[1]), TALUS_ERR_ARGUMENT);
    CHECK(said("no such body"));
    CHECK_INT(talus_world_body_count(world), 2);
    CHECK_OK(add_one(world, ball, talus_vec3(0.0, 1.0, 5.0), &again));
    CHECK_INT(again.number, 5);
    CHECK_INT(talus_slot_of(world, again), 1);
    CHECK_OK(add_one(world, ball, talus_vec3(0.0, 2.0, 5.0), &again));
    CHECK_INT(talus_slot_of(world, again), 2);
    CHECK_OK(add_one(world, ball, talus_vec3(0.0, 3.0, 5.0), &again));
    CHECK_INT(again.number, 7);
    CHECK_INT(talus_slot_of(world, again), 4);
    CHECK_INT(talus_world_set_velocity(world, id[1], zero, zero), TALUS_ERR_ARGUMENT);
    TalusBodyId none = {0};
    CHECK_INT(talus_world_remove_body(world, none), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

TEST(bulk_add_gives_the_state_back_as_arrays)
{
    enum { N = 100000 };
    TalusWorldDef def = quick_def(2);
    TalusWorld *world = make_world(&def);
    TalusVec3 *x = calloc(N, sizeof *x), *out = calloc(N, sizeof *out);
    double *radius = calloc(N, sizeof *radius), *mass = calloc(N, sizeof *mass);
    int *tag = calloc(N, sizeof *tag);
    for (int i = 0; i < N; i++) {
        x[i] = talus_vec3(0.3 * (i % 100), 0.3 * (i / 100 % 100), 1.0 + 0.3 * (i / 10000));
        radius[i] = 0.05 + 1e-7 * i;
    }
    TalusBodyBatch batch = talus_body_batch_default();
    CHECK_OK(talus_world_add_shape(world, &ball, &batch.shape));
    batch.count = N;
    batch.position = x;
    batch.radius = radius;
    batch.density = 2000.0;
    batch.tag = 42;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    CHECK_INT(talus_world_body_count(world), N);
    TalusBodyState state = {.position = out, .mass = mass, .tag = tag};
    talus_world_get_state(world, &state);
    CHECK(memcmp(x, out, N * sizeof *x) == 0);
    double r = radius[N - 1];
    CHECK_NEAR(mass[N - 1], 2000.0 * 4.0 / 3.0 * 3.14159265358979 * r * r * r, 1e-9);
    CHECK_INT(tag[N / 2], 42);
    CHECK_OK(talus_world_step(world, NULL));
    free(x);
    free(out);
    free(radius);
    free(mass);
    free(tag);
    talus_world_destroy(world);
}

TEST(given_mass_overrides_density_and_friction_follows_the_pair)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    TalusVec3 x = {0.0, 0.0, 1.0};
    TalusBodyBatch batch = talus_body_batch_default();
    REQUIRE_OK(talus_world_add_shape(world, &brick, &batch.shape));
    batch.count = 1;
    batch.position = &x;
    batch.mass = 7.5;
    REQUIRE_OK(talus_world_add_bodies(world, &batch, NULL));
    CHECK(world->bodies.mass[0] == 7.5);
    TalusMaterialDef soft = talus_material_def_default();
    soft.friction = 0.1;
    soft.stiffness = 1e4;
    soft.damping = 20.0;
    int a, b;
    REQUIRE_OK(talus_world_add_material(world, &soft, &a));
    soft.friction = 0.9;
    REQUIRE_OK(talus_world_add_material(world, &soft, &b));
    const TalusMaterials *m = &world->materials;
    CHECK(m->law[0 * m->count + a].mu == 0.1 && m->law[b * m->count + 0].mu == 0.3);
    CHECK(m->law[a * m->count + b].stiffness == 5e3 && m->law[a * m->count + b].damping == 10.0);
    CHECK(m->law[a * m->count + 0].stiffness == 1e4);
    CHECK_OK(talus_world_set_friction(world, a, b, 0.5));
    CHECK(m->law[b * m->count + a].mu == 0.5 && m->law[a * m->count + b].mu == 0.5);
    soft.friction = 0.7;
    REQUIRE_OK(talus_world_add_material(world, &soft, NULL));
    CHECK(m->law[b * m->count + a].mu == 0.5 && m->law[3 * m->count + b].mu == 0.7);
    talus_world_destroy(world);
}

/* A soft ball sinks into the floor by m g / k. */
TEST(compliant_contact_carries_weight_by_its_stiffness)
{
    TalusWorldDef def = quick_def(1);
    def.tolerance = 1e-8;
    TalusWorld *world = make_world(&def);
    REQUIRE_OK(add_floor(world, NULL));
    TalusMaterialDef soft = talus_material_def_default();
    soft.stiffness = 1e4;
    soft.damping = 100.0;
    TalusBodyBatch batch = talus_body_batch_default();
    REQUIRE_OK(talus_world_add_material(world, &soft, &batch.material));
    REQUIRE_OK(talus_world_add_shape(world, &ball, &batch.shape));
    TalusVec3 x = {0.0, 0.0, 0.1};
    batch.count = 1;
    batch.position = &x;
    batch.mass = 2.0;
    REQUIRE_OK(talus_world_add_bodies(world, &batch, NULL));
    run(world, 400);
    CHECK_NEAR(world->bodies.position[1].z, 0.1 - 2.0 * 9.81 / 1e4, 1e-6);
    talus_world_destroy(world);
}

static double ledger_scale(const TalusLedger *l)
{
    return fabs(l->kinetic) + fabs(l->potential_change) + fabs(l->kinetic_change) +
           fabs(l->friction) + fabs(l->impact) + fabs(l->stabilisation) + fabs(l->gravity_error) +
           fabs(l->spin) + fabs(l->exchange);
}

TEST(the_ledger_closes_to_rounding_in_every_step)
{
    TalusWorld *world = make_full(2);
    double kinetic = 0.0, potential = 0.0;
    double friction = 0.0;
    for (int i = 0; i < 200; i++) {
        TalusStepInfo info;
        REQUIRE_OK(talus_world_step(world, &info));
        const TalusLedger *l = &info.ledger;
        CHECK(fabs(l->imbalance) <= 1e-12 * ledger_scale(l));
        double sum = l->friction + l->impact + l->stabilisation + l->stiffening + l->gravity_error +
                     l->spin + l->exchange;
        CHECK_NEAR(l->kinetic_change + l->potential_change + l->elastic_change, sum,
                   1e-12 * ledger_scale(l));
        double size = fabs(kinetic) + fabs(potential) + ledger_scale(l);
        CHECK_NEAR(l->kinetic, kinetic + l->kinetic_change, 1e-12 * size);
        CHECK_NEAR(l->potential, potential + l->potential_change, 1e-12 * size);
        kinetic = l->kinetic;
        potential = l->potential;
        friction += l->friction;
        CHECK(l->impact <= 1e-3 * ledger_scale(l));
    }
    CHECK(friction < 0.0);
    talus_world_destroy(world);
}

TEST(contacts_are_told_with_points_and_impulses)
{
    TalusWorldDef def = quick_def(1);
    def.tolerance = 1e-4;
    TalusWorld *world = make_world(&def);
    TalusBodyId floor, body;
    REQUIRE_OK(add_floor(world, &floor));
    REQUIRE_OK(add_one(world, ball, talus_vec3(0.5, 0.25, 0.1), &body));
    run(world, 60);
    TalusContactState c;
    CHECK_INT(talus_world_get_contacts(world, &c, 1), 1);
    CHECK_INT(c.a.number, body.number);
    CHECK_INT(c.b.number, floor.number);
    CHECK_NEAR(c.normal.z, -1.0, 1e-15);
    CHECK_NEAR(c.point.x, 0.5, 1e-6);
    CHECK_NEAR(c.point.z, 0.0, 1e-3);
    double weight = world->bodies.mass[1] * 9.81;
    CHECK_NEAR(c.impulse.z, -weight * 0.005, 1e-3 * weight * 0.005);
    CHECK_OK(talus_world_remove_body(world, body));
    CHECK_INT(talus_world_get_contacts(world, NULL, 0), 0);
    talus_world_destroy(world);
}

TEST(a_region_probe_sees_what_crosses_its_border)
{
    TalusWorldDef def = quick_def(2);
    def.tolerance = 1e-7;
    def.max_iterations = 20000;
    TalusWorld *world = make_world(&def);
    REQUIRE_OK(add_floor(world, NULL));
    TalusBodyId top = {0};
    for (int i = 0; i < 4; i++) /* a column, exactly upright */
        REQUIRE_OK(add_one(world, ball, talus_vec3(0.0, 0.0, 0.1 + 0.2 * i), &top));
    TalusProbeDef defs[3] = {
        {.name = "lower half", .kind = TALUS_PROBE_REGION, .lo = {-1, -1, -1}, .hi = {1, 1, 0.4}},
        {.name = "top", .kind = TALUS_PROBE_BODY, .body = top},
        {.name = "wrong", .kind = TALUS_PROBE_REGION, .lo = {1, 1, 1}, .hi = {0, 2, 2}},
    };
    REQUIRE_OK(talus_world_add_probe(world, &defs[0], NULL));
    REQUIRE_OK(talus_world_add_probe(world, &defs[1], NULL));
    CHECK_INT(talus_world_add_probe(world, &defs[2], NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("hi is below lo"));
    CHECK_INT(talus_world_probe_count(world), 2);
    CHECK_STR(talus_world_probe_name(world, 0), "lower half");
    run(world, 60);
    double weight = world->bodies.mass[1] * 9.81;
    TalusProbeValue lower = talus_world_probe_value(world, 0);
    CHECK_INT(lower.bodies, 2);
    CHECK_INT(lower.contacts, 2); /* the floor below, the third ball above; not the one between */
    CHECK_NEAR(lower.force.z, 2.0 * weight, 1e-4 * weight);
    CHECK_NEAR(lower.torque.x, 0.0, 1e-4 * weight);
    TalusProbeValue on_top = talus_world_probe_value(world, 1);
    CHECK_NEAR(on_top.force.z, weight, 1e-4 * weight);
    CHECK_INT(on_top.contacts, 1);
    CHECK_OK(talus_world_remove_body(world, top));
    run(world, 1);
    CHECK_INT(talus_world_probe_value(world, 1).bodies, 0);
    CHECK(talus_world_probe_value(world, 1).force.z == 0.0);
    talus_world_destroy(world);
}

TEST(a_given_velocity_appears_as_exchange)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    TalusBodyId id;
    TalusStepInfo info;
    REQUIRE_OK(add_one(world, brick, talus_vec3(0.0, 0.0, 5.0), &id));
    run(world, 1);
    CHECK_INT(talus_world_set_velocity(world, id, talus_vec3(NAN, 0.0, 0.0), zero),
              TALUS_ERR_ARGUMENT);
    REQUIRE_OK(talus_world_set_velocity(world, id, talus_vec3(3.0, 4.0, 0.0), zero));
    REQUIRE_OK(talus_world_step(world, &info));
    double m = world->bodies.mass[0];
    CHECK_NEAR(info.ledger.exchange, 12.5 * m, 0.01 * m);
    CHECK_INT(talus_world_shape_count(world), 1);
    CHECK(talus_world_shape(world, 0).half.y == brick.half.y);
    CHECK(talus_world_gravity(world).z == -9.81 && talus_world_step_length(world) == 0.005);
    talus_world_destroy(world);
}

TEST(emitters_fill_free_spots_only)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    REQUIRE_OK(add_floor(world, NULL));
    REQUIRE_OK(add_one(world, brick, talus_vec3(0.0, 0.0, 1.0), NULL));
    TalusEmitterDef emitter = talus_emitter_def_default();
    emitter.lo = talus_vec3(-0.5, -0.5, 0.0); /* the floor cuts through: nothing below 0.05 */
    emitter.hi = talus_vec3(0.5, 0.5, 1.5);
    emitter.rate = 4000.0; /* more than there is room for */
    emitter.count = 500;
    emitter.radius_min = 0.04;
    emitter.radius_max = 0.08;
    emitter.seed = 3;
    emitter.tag = 9;
    REQUIRE_OK(talus_world_add_emitter(world, &emitter));
    int last = 2;
    double mean = 0.0;
    for (int i = 0; i < 250; i++) {
        TalusStepInfo info;
        REQUIRE_OK(talus_world_step(world, &info));
        CHECK(info.bodies >= last);
        CHECK(i > 0 || info.penetration_max == 0.0);
        last = info.bodies;
    }
    CHECK(last > 300 && last <= 502);
    for (int i = 2; i < last; i++) {
        double r = world->bodies.radius[i];
        CHECK(r >= 0.04 && r <= 0.08);
        CHECK_INT(world->bodies.tag[i], 9);
        mean += r / (last - 2);
    }
    CHECK_NEAR(mean, 0.06, 0.004); /* small ones are not favoured */
    talus_world_destroy(world);
}

TEST(an_emitter_keeps_to_its_rate_and_count)
{
    TalusWorldDef def = quick_def(1);
    def.gravity = talus_vec3(0.0, 0.0, -50.0);
    TalusWorld *world = make_world(&def);
    TalusEmitterDef emitter = talus_emitter_def_default();
    emitter.hi = talus_vec3(5.0, 5.0, 5.0);
    emitter.rate = 100.0;
    emitter.start = 0.1;
    emitter.count = 30;
    emitter.radius_min = emitter.radius_max = 0.02;
    REQUIRE_OK(talus_world_add_emitter(world, &emitter));
    run(world, 20); /* up to 0.1 s */
    CHECK_INT(talus_world_body_count(world), 0);
    run(world, 20); /* up to 0.2 s */
    CHECK_INT(talus_world_body_count(world), 10);
    run(world, 100);
    CHECK_INT(talus_world_body_count(world), 30);
    talus_world_destroy(world);
}

TEST(delayed_batches_come_and_sinks_take)
{
    TalusWorldDef def = quick_def(1);
    def.step = 0.1;
    TalusWorld *world = make_world(&def);
    TalusVec3 x[2] = {{0.0, 0.0, 1.0}, {1.0, 0.0, 30.0}};
    TalusBodyBatch batch = talus_body_batch_default();
    REQUIRE_OK(talus_world_add_shape(world, &ball, &batch.shape));
    batch.count = 2;
    batch.position = x;
    REQUIRE_OK(talus_world_add_bodies_at(world, 0.7, &batch));
    REQUIRE_OK(talus_world_add_sink(world, 2, 0.0));
    x[0].z = 1e9; /* the batch was copied */
    TalusStepInfo info;
    run(world, 7);
    CHECK_INT(talus_world_body_count(world), 0);
    REQUIRE_OK(talus_world_step(world, &info)); /* starts at 0.7 */
    CHECK_INT(info.bodies, 2);
    double weight = world->bodies.mass[0] * 9.81;
    CHECK_NEAR(info.ledger.exchange, 31.0 * weight, 1e-9 * weight);
    run(world, 9);
    CHECK_INT(talus_world_body_count(world), 1);
    CHECK_INT(world->bodies.counts.slots, 2);
    talus_world_destroy(world);
}

/* The rows of a view are the world's own arrays: the same memory as long as nothing changes, with the states that
 * talus_world_get_state copies; a removed body leaves a row without a shape. */
TEST(a_view_lends_the_arrays_of_bodies)
{
    TalusWorld *world;
    TalusWorldDef def = talus_world_def_default();
    CHECK_OK(talus_world_create(&def, &world));
    TalusShapeDef sphere = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
    const TalusVec3 at[] = {{0, 0, 1}, {1, 0, 2}, {2, 0, 3}};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusBodyId id[3];
    CHECK_OK(talus_world_add_shape(world, &sphere, &batch.shape));
    batch.count = 3, batch.position = at;
    CHECK_OK(talus_world_add_bodies(world, &batch, id));
    CHECK_OK(talus_world_step(world, NULL));
    TalusBodyRows rows, again;
    CHECK_OK(talus_world_view_bodies(world, &rows));
    CHECK_OK(talus_world_view_bodies(world, &again));
    CHECK(rows.count == 3 && again.position == rows.position);
    TalusVec3 x[3], v[3];
    TalusBodyState state = {.position = x, .velocity = v};
    talus_world_get_state(world, &state);
    CHECK(memcmp(x, rows.position, sizeof x) == 0 && memcmp(v, rows.velocity, sizeof v) == 0);
    CHECK(x[0].z < 1.0 && rows.radius[2] == 0.1 && rows.id[1] == id[1].number);
    CHECK_OK(talus_world_remove_body(world, id[1]));
    CHECK_OK(talus_world_view_bodies(world, &rows));
    CHECK(rows.count == 3 && rows.shape[0] >= 0 && rows.shape[1] < 0 && rows.shape[2] >= 0);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(a_zeroed_def_is_caught);
    RUN(bad_defs_are_refused_by_name);
    RUN(bad_bodies_are_refused_and_nothing_is_added);
    RUN(bad_materials_sinks_probes_and_velocities_are_refused);
    RUN(ids_are_new_and_slots_are_reused_in_order);
    RUN(bulk_add_gives_the_state_back_as_arrays);
    RUN(given_mass_overrides_density_and_friction_follows_the_pair);
    RUN(compliant_contact_carries_weight_by_its_stiffness);
    RUN(the_ledger_closes_to_rounding_in_every_step);
    RUN(contacts_are_told_with_points_and_impulses);
    RUN(a_region_probe_sees_what_crosses_its_border);
    RUN(a_given_velocity_appears_as_exchange);
    RUN(emitters_fill_free_spots_only);
    RUN(an_emitter_keeps_to_its_rate_and_count);
    RUN(delayed_batches_come_and_sinks_take);
    RUN(a_view_lends_the_arrays_of_bodies);
    return talus_test_result();
}
