// The world as an object: arguments, ids, state, determinism, failure, save and load.

#include "support/test.h"

#include "base/hash.h"
#include "base/memory.h"
#include "world/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <talus/world.h>

static const TalusVec3 zero = {0.0, 0.0, 0.0};

// ---- scenes ----

static TalusWorldDef quick_def(int threads)
{
    TalusWorldDef def = talus_world_def_default();
    def.threads = threads;
    return def;
}

static TalusWorld *make_world(const TalusWorldDef *def)
{
    TalusWorld *world = NULL;
    CHECK_OK(talus_world_create(def, &world));
    return world;
}

static TalusStatus add_floor(TalusWorld *world, TalusBodyId *id)
{
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusBodyBatch batch = talus_body_batch_default();
    TALUS_TRY(talus_world_add_shape(world, &plane, &batch.shape));
    batch.count = 1;
    batch.fixed = true;
    batch.position = &zero;
    return talus_world_add_bodies(world, &batch, id);
}

static TalusStatus add_one(TalusWorld *world, TalusShapeDef shape, TalusVec3 x, TalusBodyId *id)
{
    TalusBodyBatch batch = talus_body_batch_default();
    TALUS_TRY(talus_world_add_shape(world, &shape, &batch.shape));
    batch.count = 1;
    batch.position = &x;
    return talus_world_add_bodies(world, &batch, id);
}

static const TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
static const TalusShapeDef brick = {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.12, 0.08}};

// A heap of `count` boxes and spheres falling onto a floor, in layers of 4 x 4.
static TalusStatus add_heap(TalusWorld *world, int count)
{
    TALUS_TRY(add_floor(world, NULL));
    for (int kind = 0; kind < 2; kind++) {
        TalusShapeDef shape = kind ? brick : ball;
        TalusBodyBatch batch = talus_body_batch_default();
        TALUS_TRY(talus_world_add_shape(world, &shape, &batch.shape));
        TalusVec3 x[200], v[200], w[200];
        for (int i = 0; i < count; i++) {
            if ((i % 3 == 0) != (kind == 1))
                continue;
            int n = batch.count++;
            x[n] = talus_vec3(0.22 * (i % 4) + 0.01 * (i % 7), 0.23 * (i / 4 % 4) + 0.005 * (i % 5),
                              0.15 + 0.26 * (i / 16));
            v[n] = talus_vec3(0.1 * (i % 3), 0.0, -0.5);
            w[n] = talus_vec3(0.0, 0.2 * (i % 5), 0.1);
        }
        batch.position = x;
        batch.velocity = v;
        batch.spin = w;
        TALUS_TRY(talus_world_add_bodies(world, &batch, NULL));
    }
    return TALUS_OK;
}

static TalusWorld *make_heap(int threads, int count)
{
    TalusWorldDef def = quick_def(threads);
    TalusWorld *world = make_world(&def);
    CHECK_OK(add_heap(world, count));
    return world;
}

static void run(TalusWorld *world, int steps)
{
    for (int i = 0; i < steps; i++)
        if (!CHECK_OK(talus_world_step(world, NULL)))
            return;
}

static bool said(const char *text)
{
    return strstr(talus_error(), text) != NULL;
}

// ---- log capture ----

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

// ---- arguments ----

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

static void refuse_def(TalusWorldDef def, TalusStatus status, const char *text)
{
    TalusWorld *world;
    CHECK_INT(talus_world_create(&def, &world), status);
    CHECK(world == NULL);
    if (!said(text))
        CHECK_STR(talus_error(), text);
}

TEST(bad_defs_are_refused_by_name)
{
    TalusWorldDef def = quick_def(1), bad = def;
    bad.step = 0.0;
    refuse_def(bad, TALUS_ERR_ARGUMENT, "step is 0");
    bad = def;
    bad.tolerance = -1.0;
    refuse_def(bad, TALUS_ERR_ARGUMENT, "tolerance is -1");
    bad = def;
    bad.gravity.x = NAN;
    refuse_def(bad, TALUS_ERR_ARGUMENT, "gravity");
    bad = def;
    bad.gravity = zero;
    refuse_def(bad, TALUS_ERR_ARGUMENT, "reference_speed");
    bad = def;
    bad.max_iterations = 0;
    refuse_def(bad, TALUS_ERR_ARGUMENT, "max_iterations");
    bad = def;
    bad.on_miss = (TalusMissPolicy)7;
    refuse_def(bad, TALUS_ERR_ARGUMENT, "on_miss");
    bad = def;
    bad.solver = "aqgd";
    refuse_def(bad, TALUS_ERR_ARGUMENT, "apgd");
    bad = def;
    bad.backend = "cuda";
    refuse_def(bad, TALUS_ERR_UNSUPPORTED, "\"cpu\"");
    bad = def;
    bad.threads = -1;
    refuse_def(bad, TALUS_ERR_ARGUMENT, "threads");
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
    TalusProbeDef probe = {.name = "p", .kind = TALUS_PROBE_BODY, .body = {7, 1}};
    CHECK_INT(talus_world_add_probe(world, &probe, NULL), TALUS_ERR_ARGUMENT);
    CHECK(said("no body 7"));
    CHECK_INT(talus_world_set_velocity(world, floor, zero, zero), TALUS_ERR_ARGUMENT);
    CHECK(said("fixed"));
    CHECK_INT(talus_world_add_bodies_at(world, NAN, NULL), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

// ---- bodies ----

TEST(ids_have_generations_and_slots_are_reused_in_order)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    TalusBodyId id[4], again;
    for (int i = 0; i < 4; i++)
        REQUIRE_OK(add_one(world, ball, talus_vec3(i, 0.0, 5.0), &id[i]));
    CHECK_INT(id[3].index, 3);
    CHECK_INT(id[3].generation, 1);
    CHECK_OK(talus_world_remove_body(world, id[2]));
    CHECK_OK(talus_world_remove_body(world, id[1]));
    CHECK_INT(talus_world_remove_body(world, id[1]), TALUS_ERR_ARGUMENT);
    CHECK(said("no such body"));
    CHECK_INT(talus_world_body_count(world), 2);
    CHECK_OK(add_one(world, ball, talus_vec3(0.0, 1.0, 5.0), &again));
    CHECK_INT(again.index, 1);
    CHECK_INT(again.generation, 2);
    CHECK_OK(add_one(world, ball, talus_vec3(0.0, 2.0, 5.0), &again));
    CHECK_INT(again.index, 2);
    CHECK_OK(add_one(world, ball, talus_vec3(0.0, 3.0, 5.0), &again));
    CHECK_INT(again.index, 4);
    CHECK_INT(talus_world_set_velocity(world, id[1], zero, zero), TALUS_ERR_ARGUMENT);
    TalusBodyId none = {0, 0};
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

// A soft ball sinks into the floor by m g / k.
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

// ---- determinism ----

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

// Everything a world can hold.
static TalusWorld *make_full(int threads)
{
    TalusWorld *world = make_heap(threads, 60);
    TalusEmitterDef emitter = talus_emitter_def_default();
    emitter.lo = talus_vec3(-0.5, -0.5, 1.8);
    emitter.hi = talus_vec3(1.0, 1.0, 2.4);
    emitter.rate = 150.0;
    emitter.count = 60;
    emitter.radius_min = 0.05;
    emitter.radius_max = 0.12;
    emitter.velocity = talus_vec3(0.0, 0.0, -1.0);
    emitter.seed = 7;
    CHECK_OK(talus_world_add_emitter(world, &emitter));
    TalusVec3 late[2] = {{3.0, 0.0, 0.5}, {3.0, 0.0, 1.0}};
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 2;
    batch.shape = 1;
    batch.position = late;
    CHECK_OK(talus_world_add_bodies_at(world, 0.3, &batch));
    CHECK_OK(talus_world_add_sink(world, 0, -0.6));
    TalusShapeDef tub = {.kind = TALUS_SHAPE_REVOLVE,
                         .profile = (const double[]){0.0, 0.0, 2.0, 0.0, 2.0, 1.0},
                         .point_count = 3};
    CHECK_OK(talus_world_add_shape(world, &tub, NULL));
    TalusProbeDef probe = {.name = "floor", .kind = TALUS_PROBE_BODY, .body = {0, 1}};
    CHECK_OK(talus_world_add_probe(world, &probe, NULL));
    return world;
}

TEST(a_loaded_world_goes_on_bitwise_as_the_saved_one)
{
    TalusWorld *world = make_full(2);
    for (int part = 0; part < 5; part++) {
        void *bytes, *again;
        size_t size, size_again;
        REQUIRE_OK(talus_world_save(world, &bytes, &size));
        TalusWorld *copy;
        REQUIRE_OK(talus_world_load(bytes, size, 1, &copy));
        CHECK(talus_world_hash(copy) == talus_world_hash(world));
        REQUIRE_OK(talus_world_save(copy, &again, &size_again));
        CHECK(size == size_again && memcmp(bytes, again, size) == 0);
        talus_free(bytes);
        talus_free(again);
        run(copy, 20);
        run(world, 20);
        CHECK(talus_world_hash(copy) == talus_world_hash(world));
        CHECK_INT(talus_world_body_count(copy), talus_world_body_count(world));
        TalusProbeValue p = talus_world_probe_value(copy, 0);
        TalusProbeValue q = talus_world_probe_value(world, 0);
        CHECK(memcmp(&p, &q, sizeof p) == 0);
        talus_world_destroy(copy);
    }
    talus_world_destroy(world);
}

TEST(a_world_saved_after_a_removal_goes_on_the_same)
{
    TalusWorld *world = make_heap(1, 60), *copy;
    run(world, 80);
    CHECK_OK(talus_world_remove_body(world, talus_slot_id(&world->bodies, 5)));
    CHECK_OK(talus_world_remove_body(world, talus_slot_id(&world->bodies, 50)));
    void *bytes;
    size_t size;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, &copy));
    talus_free(bytes);
    CHECK_INT(talus_world_get_contacts(copy, NULL, 0), talus_world_get_contacts(world, NULL, 0));
    CHECK_OK(add_one(world, ball, talus_vec3(0.3, 0.3, 2.0), NULL));
    CHECK_OK(add_one(copy, ball, talus_vec3(0.3, 0.3, 2.0), NULL));
    run(world, 40);
    run(copy, 40);
    CHECK(talus_world_hash(copy) == talus_world_hash(world));
    talus_world_destroy(world);
    talus_world_destroy(copy);
}

static void sign(unsigned char *bytes, size_t size)
{
    uint64_t total = size, hash;
    memcpy(bytes + 16, &total, sizeof total);
    hash = talus_hash(TALUS_HASH_SEED, bytes, size - sizeof hash);
    memcpy(bytes + size - sizeof hash, &hash, sizeof hash);
}

TEST(damaged_bytes_are_refused_and_never_harm)
{
    TalusWorld *world = make_full(1), *out;
    run(world, 50);
    unsigned char *bytes;
    void *block;
    size_t size;
    REQUIRE_OK(talus_world_save(world, &block, &size));
    talus_world_destroy(world);
    bytes = malloc(size);
    for (size_t cut = 0; cut < size; cut += cut < 200 ? 1 : size / 50) {
        CHECK_INT(talus_world_load(block, cut, 1, &out), TALUS_ERR_FORMAT);
        memcpy(bytes, block, cut);
        if (cut < 32)
            continue;
        sign(bytes, cut);
        CHECK_INT(talus_world_load(bytes, cut, 1, &out), TALUS_ERR_FORMAT);
        CHECK(out == NULL && said("saved state, byte "));
    }
    TalusRng rng = talus_rng(1);
    int accepted = 0;
    for (int k = 0; k < 1500; k++) {
        memcpy(bytes, block, size);
        size_t at = talus_rng_below(&rng, k % 2 ? size : 2000);
        bytes[at] ^= (unsigned char)(1u << talus_rng_below(&rng, 8));
        CHECK_INT(talus_world_load(bytes, size, 1, &out), TALUS_ERR_FORMAT);
        sign(bytes, size);
        TalusStatus status = talus_world_load(bytes, size, 1, &out);
        CHECK(status == TALUS_OK || status == TALUS_ERR_FORMAT);
        if (status == TALUS_OK && ++accepted % 20 == 0) // what is accepted can be stepped
            (void)talus_world_step(out, NULL);
        talus_world_destroy(out);
    }
    CHECK(accepted > 100); // positions and the like: nothing can tell
    free(bytes);
    talus_free(block);
}

// ---- the step ----

TEST(a_warm_step_allocates_nothing)
{
    TalusWorld *world = make_heap(2, 120);
    run(world, 200);
    uint64_t before = talus_allocation_count();
    run(world, 20);
    CHECK_INT((long long)(talus_allocation_count() - before), 0);
    talus_world_destroy(world);
}

TEST(a_nan_fails_the_step_and_names_the_body)
{
    TalusWorld *world = make_heap(2, 60);
    run(world, 50);
    TalusVec3 kept = world->bodies.velocity[17];
    world->bodies.velocity[17].y = NAN;
    uint64_t hash = talus_world_hash(world);
    CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_NUMERIC);
    CHECK(said("body 17 "));
    CHECK(talus_world_hash(world) == hash && talus_world_steps(world) == 50);
    world->bodies.velocity[17] = talus_vec3(1e308, 1e308, 0.0); // finite, but too fast to move by
    CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_NUMERIC);
    world->bodies.velocity[17] = talus_vec3(0.0, 0.0, 1e200); // up and away, by itself
    CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_NUMERIC);
    CHECK(said("body 17 "));
    world->bodies.velocity[17] = kept;
    TalusWorld *other = make_heap(1, 60);
    run(world, 10);
    run(other, 60);
    CHECK(talus_world_hash(world) == talus_world_hash(other));
    talus_world_destroy(world);
    talus_world_destroy(other);
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

// Memory runs out in a halved step: nothing of it remains, and the step can be repeated.
TEST(a_halved_step_that_fails_leaves_no_trace)
{
    TalusWorld *world = make_hasty(TALUS_MISS_HALVE, 16);
    run(world, 30);
    uint64_t expected = talus_world_hash(world);
    talus_world_destroy(world);
    int failures = 0;
    for (TalusStatus status = TALUS_ERR_MEMORY; status != TALUS_OK;) {
        world = make_hasty(TALUS_MISS_HALVE, 16); // a fresh one, whose buffers have yet to grow
        run(world, 10);
        talus_fail_allocation_in(++failures);
        while (talus_world_steps(world) < 30) {
            uint64_t before = talus_world_hash(world);
            status = talus_world_step(world, NULL);
            if (status == TALUS_OK)
                continue;
            CHECK_INT(status, TALUS_ERR_MEMORY);
            CHECK(talus_world_hash(world) == before);
            break;
        }
        talus_fail_allocation_in(0);
        run(world, 30 - (int)talus_world_steps(world));
        CHECK(talus_world_hash(world) == expected);
        talus_world_destroy(world);
        REQUIRE(failures < 500);
    }
    CHECK(failures > 3);
}

// A fast ball hits a second one, which then flies at a third: a contact that only the later parts of
// the halved step see, and for which a buffer must grow.
static TalusWorld *make_chain(void)
{
    TalusWorldDef def = quick_def(1);
    def.gravity = zero;
    def.reference_speed = 1e-3;
    def.tolerance = 1e-12;
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
            taken_back += world->backup.taken;
            CHECK_OK(talus_world_step(world, NULL));
        }
        CHECK(talus_world_hash(world) == after);
        talus_world_destroy(world);
        REQUIRE(n < 500);
    }
    CHECK(taken_back > 0);
}

static TalusStatus add_wall(TalusWorld *world, double x, double facing)
{
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusBodyBatch batch = talus_body_batch_default();
    TALUS_TRY(talus_world_add_shape(world, &plane, &batch.shape));
    TalusVec3 at = {x, 0.0, 0.0};
    double s = sqrt(0.5);
    TalusQuat e = {s, 0.0, s * facing, 0.0}; // z to facing * x
    batch.count = 1;
    batch.fixed = true;
    batch.position = &at;
    batch.orientation = &e;
    return talus_world_add_bodies(world, &batch, NULL);
}

TEST(a_wedged_body_is_an_outcome_not_a_hang)
{
    Log log = {0, 0};
    talus_set_log(take_log, &log);
    TalusWorldDef def = quick_def(1);
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

// ---- ledger, contacts, probes ----

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
        double sum = l->friction + l->impact + l->stabilisation + l->gravity_error + l->spin +
                     l->exchange;
        CHECK_NEAR(l->kinetic_change + l->potential_change, sum, 1e-12 * ledger_scale(l));
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
    TalusWorld *world = make_world(&def);
    TalusBodyId floor, body;
    REQUIRE_OK(add_floor(world, &floor));
    REQUIRE_OK(add_one(world, ball, talus_vec3(0.5, 0.25, 0.1), &body));
    run(world, 20);
    TalusContactState c;
    CHECK_INT(talus_world_get_contacts(world, &c, 1), 1);
    CHECK_INT(c.a.index, body.index);
    CHECK_INT(c.b.index, floor.index);
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
    TalusBodyId top = {0, 0};
    for (int i = 0; i < 4; i++) // a column, exactly upright
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
    CHECK_INT(lower.contacts, 2); // the floor below, the third ball above; not the one between
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

// ---- sources ----

TEST(emitters_fill_free_spots_only)
{
    TalusWorldDef def = quick_def(2);
    TalusWorld *world = make_world(&def);
    REQUIRE_OK(add_floor(world, NULL));
    REQUIRE_OK(add_one(world, brick, talus_vec3(0.0, 0.0, 1.0), NULL));
    TalusEmitterDef emitter = talus_emitter_def_default();
    emitter.lo = talus_vec3(-0.5, -0.5, 0.0); // the floor cuts through: nothing below 0.05
    emitter.hi = talus_vec3(0.5, 0.5, 1.5);
    emitter.rate = 4000.0; // more than there is room for
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
    CHECK_NEAR(mean, 0.06, 0.004); // small ones are not favoured
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
    run(world, 20); // up to 0.1 s
    CHECK_INT(talus_world_body_count(world), 0);
    run(world, 20); // up to 0.2 s
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
    x[0].z = 1e9; // the batch was copied
    TalusStepInfo info;
    run(world, 7);
    CHECK_INT(talus_world_body_count(world), 0);
    REQUIRE_OK(talus_world_step(world, &info)); // starts at 0.7
    CHECK_INT(info.bodies, 2);
    double weight = world->bodies.mass[0] * 9.81;
    CHECK_NEAR(info.ledger.exchange, 31.0 * weight, 1e-9 * weight);
    run(world, 9);
    CHECK_INT(talus_world_body_count(world), 1);
    CHECK_INT(world->bodies.counts.slots, 2);
    talus_world_destroy(world);
}

TEST(a_failed_step_takes_arrivals_back)
{
    TalusWorld *world = make_full(1);
    world->def.on_miss = TALUS_MISS_STOP;
    world->def.max_iterations = 1;
    world->def.tolerance = 1e-12;
    TalusStatus status = TALUS_OK;
    uint64_t hash = 0;
    int bodies = 0;
    for (int i = 0; i < 100 && status == TALUS_OK; i++) {
        hash = talus_world_hash(world);
        bodies = talus_world_body_count(world);
        status = talus_world_step(world, NULL);
    }
    CHECK_INT(status, TALUS_ERR_TOLERANCE);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_TOLERANCE);
        CHECK_INT(talus_world_body_count(world), bodies);
        CHECK(talus_world_hash(world) == hash);
    }
    int64_t failed_at = talus_world_steps(world);
    world->def.on_miss = TALUS_MISS_CONTINUE; // and now as if nothing had happened
    run(world, 30);
    TalusWorld *other = make_full(1);
    other->def.max_iterations = 1;
    other->def.tolerance = 1e-12;
    run(other, (int)failed_at + 30);
    CHECK(talus_world_hash(world) == talus_world_hash(other));
    talus_world_destroy(world);
    talus_world_destroy(other);
}

// ---- memory ----

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
    TalusProbeDef probe = {.name = "floor", .kind = TALUS_PROBE_BODY, .body = {0, 1}};
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
            if (world && talus_world_probe_count(world)) { // it failed in a step: go on
                run(world, 12 - (int)talus_world_steps(world));
                CHECK(talus_world_hash(world) == expected);
            }
        }
        talus_world_destroy(world);
        REQUIRE(n < 2000);
    }
    CHECK(n > 50);
}

TEST(saving_and_loading_survive_failed_allocations)
{
    TalusWorld *world = make_full(1), *copy;
    run(world, 20);
    void *bytes, *lost;
    size_t size;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    TalusStatus status = TALUS_ERR_MEMORY;
    for (long n = 1; status != TALUS_OK; n++) {
        talus_fail_allocation_in(n);
        status = talus_world_save(world, &lost, &size);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || (status == TALUS_ERR_MEMORY && lost == NULL));
        talus_free(lost);
        REQUIRE(n < 100);
    }
    REQUIRE_OK(talus_world_save(world, &lost, &size));
    talus_free(lost);
    status = TALUS_ERR_MEMORY;
    for (long n = 1; status != TALUS_OK; n++) {
        talus_fail_allocation_in(n);
        status = talus_world_load(bytes, size, 1, &copy);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || (status == TALUS_ERR_MEMORY && copy == NULL));
        REQUIRE(n < 500);
    }
    CHECK(talus_world_hash(copy) == talus_world_hash(world));
    talus_world_destroy(copy);
    talus_world_destroy(world);
    talus_free(bytes);
}

int main(void)
{
    RUN(a_zeroed_def_is_caught);
    RUN(bad_defs_are_refused_by_name);
    RUN(bad_bodies_are_refused_and_nothing_is_added);
    RUN(bad_materials_sinks_probes_and_velocities_are_refused);
    RUN(ids_have_generations_and_slots_are_reused_in_order);
    RUN(bulk_add_gives_the_state_back_as_arrays);
    RUN(given_mass_overrides_density_and_friction_follows_the_pair);
    RUN(compliant_contact_carries_weight_by_its_stiffness);
    RUN(hash_is_equal_for_any_number_of_threads);
    RUN(a_loaded_world_goes_on_bitwise_as_the_saved_one);
    RUN(a_world_saved_after_a_removal_goes_on_the_same);
    RUN(damaged_bytes_are_refused_and_never_harm);
    RUN(a_warm_step_allocates_nothing);
    RUN(a_nan_fails_the_step_and_names_the_body);
    RUN(a_missed_tolerance_follows_the_policy);
    RUN(a_halved_step_that_fails_leaves_no_trace);
    RUN(a_later_part_that_fails_takes_the_earlier_ones_back);
    RUN(a_wedged_body_is_an_outcome_not_a_hang);
    RUN(building_the_problem_changes_no_step);
    RUN(a_budget_without_tolerance_is_no_miss);
    RUN(without_friction_a_contact_has_one_row);
    RUN(the_ledger_closes_to_rounding_in_every_step);
    RUN(contacts_are_told_with_points_and_impulses);
    RUN(a_region_probe_sees_what_crosses_its_border);
    RUN(a_given_velocity_appears_as_exchange);
    RUN(emitters_fill_free_spots_only);
    RUN(an_emitter_keeps_to_its_rate_and_count);
    RUN(delayed_batches_come_and_sinks_take);
    RUN(a_failed_step_takes_arrivals_back);
    RUN(every_allocation_may_fail);
    RUN(saving_and_loading_survive_failed_allocations);
    return talus_test_result();
}
