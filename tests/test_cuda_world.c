/* Worlds on the cuda backend against the same worlds on the host. Both are solved so tightly that what
 * differs is rounding, which collisions then enlarge step by step. */
#include "test_world_scene.h"

#include "backend/backend.h"

#include <stdio.h>
#include <talus/io.h>

enum { MOST = 4000 };

static const double tight = 1e-12; /* of the reference speed */

/* A world's state, read as a caller would. */
typedef struct State {
    int count;
    TalusVec3 x[MOST], v[MOST], w[MOST];
    TalusQuat e[MOST];
} State;

static State host_state, cuda_state; /* static: they are large */

static void read_state(const TalusWorld *world, State *s)
{
    TalusBodyState arrays = {.position = s->x, .velocity = s->v, .spin = s->w, .orientation = s->e};
    s->count = talus_world_body_count(world);
    if (CHECK(s->count <= MOST))
        talus_world_get_state(world, &arrays);
}

static double distance(TalusVec3 a, TalusVec3 b)
{
    return talus_norm(talus_sub(a, b));
}

/* The largest differences of positions and velocities between the two, positions over `length`,
 * velocities and surface speeds over the reference speed or the fastest body's. */
static void differences(const TalusWorld *host, const TalusWorld *cuda, double length, double *dx,
                        double *dv)
{
    const State *a = &host_state, *b = &cuda_state;
    double fast = host->reference_speed;
    read_state(host, &host_state);
    read_state(cuda, &cuda_state);
    *dx = *dv = INFINITY;
    if (!CHECK_INT(a->count, b->count))
        return;
    *dx = *dv = 0.0;
    for (int i = 0; i < a->count; i++)
        fast = fmax(fast, talus_norm(a->v[i]));
    for (int i = 0; i < a->count; i++) {
        double turned = fabs(a->e[i].w - b->e[i].w) + fabs(a->e[i].x - b->e[i].x) +
                        fabs(a->e[i].y - b->e[i].y) + fabs(a->e[i].z - b->e[i].z);
        *dx = fmax(*dx, fmax(distance(a->x[i], b->x[i]) / length, turned));
        *dv = fmax(*dv, distance(a->v[i], b->v[i]) / fast);
        *dv = fmax(*dv, length * distance(a->w[i], b->w[i]) / fast);
    }
}

/* The world as it is, on another backend. */
static TalusWorld *moved_to(TalusWorld *world, char *backend)
{
    char *kept = world->backend_name;
    void *bytes;
    size_t size;
    TalusWorld *out = NULL;
    world->backend_name = backend; /* which is what a saved state says of it */
    if (CHECK_OK(talus_world_save(world, &bytes, &size))) {
        CHECK_OK(talus_world_load(bytes, size, 1, &out));
        talus_free(bytes);
    }
    world->backend_name = kept;
    return out;
}

static void make_tight(TalusWorld *world)
{
    CHECK_OK(talus_world_set_accuracy(world, tight, 100000));
}

static double smallest_size(const TalusWorld *world)
{
    double size = INFINITY;
    for (int i = 0; i < world->bodies.counts.slots; i++)
        if (talus_slot_moves(&world->bodies, i))
            size = fmin(size, world->bodies.size[i]);
    return size;
}

/* ---- the shipped scenes ---- */

typedef struct Case {
    const char *scene, *set[2]; /* small, but more than one layer */
    int lead;                   /* steps on the host, until things touch and push */
} Case;

static const Case cases[] = {
    {"hourglass", {"bodies=60"}, 40},
    {"settle-box", {"bodies=40"}, 40},
    {"settle-cylinder", {"bodies=40", "vat=0.5"}, 90},
    {"heavy-on-light", {"bodies=30", "vat=0.5"}, 100},
    {"million", {"bodies=48", "layers=4"}, 12},
    {"pebble-bed", {"bodies=30"}, 4},
    {"impact", {"bodies=60"}, 60},
    {"dominoes", {"bodies=6"}, 150},
    {"box-stack", {"bodies=6"}, 20},
};

enum { CASES = sizeof cases / sizeof *cases, STEPS = 3 };

static TalusWorld *build_scene(const char *name, const char *const *set)
{
    char path[1024];
    TalusScene *scene;
    TalusWorld *world = NULL;
    TalusSceneChoice choice = {.backend = "cpu", .threads = 1};
    const char *root = getenv("TALUS_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/scenes/%s.json", root ? root : ".", name);
    if (!CHECK_OK(talus_scene_load(path, set, set[1] ? 2 : 1, &scene)))
        return NULL;
    CHECK_OK(talus_scene_build(scene, &choice, &world));
    talus_scene_destroy(scene);
    return world;
}

static void compare_contacts(const TalusWorld *host, const TalusWorld *cuda)
{
    int count = talus_world_get_contacts(host, NULL, 0);
    if (!CHECK_INT(talus_world_get_contacts(cuda, NULL, 0), count) || !CHECK(count > 0))
        return;
    TalusContactState *a = calloc((size_t)count, sizeof *a), *b = calloc((size_t)count, sizeof *b);
    talus_world_get_contacts(host, a, count);
    talus_world_get_contacts(cuda, b, count);
    int other = 0;
    for (int i = 0; i < count; i++)
        other += memcmp(&a[i].a, &b[i].a, sizeof a[i].a) != 0 ||
                 memcmp(&a[i].b, &b[i].b, sizeof a[i].b) != 0 ||
                 memcmp(&a[i].normal, &b[i].normal, sizeof a[i].normal) != 0 ||
                 a[i].gap != b[i].gap;
    CHECK_INT(other, 0);
    free(a);
    free(b);
}

static void compare_scene(const Case *c)
{
    TalusWorld *world = build_scene(c->scene, c->set);
    if (!world)
        return;
    run(world, c->lead);
    make_tight(world);
    TalusWorld *cuda = moved_to(world, "cuda");
    double length = smallest_size(world), dx = INFINITY, dv = INFINITY;
    for (int i = 0; cuda && i < STEPS; i++) {
        run(world, 1);
        run(cuda, 1);
        if (i == 0)
            compare_contacts(world, cuda);
        differences(world, cuda, length, &dx, &dv);
        CHECK(dx <= 1e-9 && dv <= 1e-9);
    }
    printf("  %-16s %d bodies: positions %.1e of the smallest size, velocities %.1e\n", c->scene,
           talus_world_body_count(world), dx, dv);
    talus_world_destroy(world);
    talus_world_destroy(cuda);
}

TEST(scenes_agree_to_rounding)
{
    for (int i = 0; i < CASES; i++)
        compare_scene(&cases[i]);
}

/* ---- settling ---- */

/* What is left to compare once collisions have made two runs differ. */
typedef struct Bed {
    double mean,
        top; /* height over the lowest point: of all, and of those above 1.6 times the mean */
    double fraction; /* of the volume below twice the mean height, within the widest extent */
    double energy;
} Bed;

enum { FIGURES = sizeof(Bed) / sizeof(double) };

static Bed measure_bed(const TalusWorld *world, const TalusLedger *ledger)
{
    const TalusBodies *b = &world->bodies;
    Bed bed = {.energy = ledger->kinetic + ledger->potential};
    int count = 0, high = 0;
    double lo = INFINITY, volume = 0.0, width = 0.0;
    CHECK_OK(talus_world_look(world));
    for (int i = 0; i < b->counts.slots; i++) {
        if (!talus_slot_moves(b, i))
            continue;
        TalusVec3 x = b->position[i];
        double r = b->radius[i];
        count++;
        bed.mean += x.z;
        volume += 4.0 / 3.0 * 3.14159265358979 * r * r * r;
        lo = fmin(lo, x.z - r);
        width = fmax(width, fmax(fabs(x.x), fabs(x.y)) + r);
    }
    bed.mean = bed.mean / count - lo;
    for (int i = 0; i < b->counts.slots; i++)
        if (talus_slot_moves(b, i) && b->position[i].z - lo > 1.6 * bed.mean) {
            bed.top += b->position[i].z - lo;
            high++;
        }
    bed.top /= high ? high : 1;
    bed.fraction = volume / (4.0 * width * width * 2.0 * bed.mean);
    return bed;
}

static Bed settle(TalusWorld *world)
{
    TalusStepInfo info = {0};
    for (int i = 0; i < 130; i++)
        if (!CHECK_OK(talus_world_step(world, &info)))
            break;
    Bed bed = measure_bed(world, &info.ledger);
    printf("  %-10s mean height %.4f m, top %.4f m, fraction %.4f, energy %.2f J\n",
           talus_world_backend(world), bed.mean, bed.top, bed.fraction, bed.energy);
    return bed;
}

/* The figures of the bed agree within 3 times what one nudged body changes on the host, or 1 %. */
TEST(a_bed_settles_alike)
{
    TalusWorld *world = build_scene("settle-box", (const char *const[2]){"bodies=50"});
    REQUIRE(world);
    run(world, 20);
    TalusWorld *all[4] = {moved_to(world, "cpu"), moved_to(world, "cpu"), moved_to(world, "cuda"),
                          moved_to(world, "cuda-mixed")};
    REQUIRE(all[0] && all[1] && all[2] && all[3]);
    TalusBodyId nudged = talus_slot_id(&world->bodies, 30);
    CHECK_OK(talus_world_set_velocity(all[1], nudged, talus_vec3(0.01, 0.0, -1.0), zero));
    double figure[4][FIGURES];
    for (int k = 0; k < 4; k++) {
        Bed bed = settle(all[k]);
        memcpy(figure[k], &bed, sizeof bed);
    }
    for (int k = 2; k < 4; k++)
        for (int i = 0; i < FIGURES; i++) {
            double a = figure[0][i], scatter = fabs(figure[1][i] - a);
            CHECK_NEAR(figure[k][i], a, fmax(3.0 * scatter, 0.01 * fabs(a)));
        }
    for (int k = 0; k < 4; k++)
        talus_world_destroy(all[k]);
    talus_world_destroy(world);
}

/* ---- restart ---- */

TEST(a_loaded_world_goes_on_bitwise_as_the_saved_one)
{
    TalusWorld *world = make_full(1);
    for (int part = 0; part < 2; part++) {
        void *bytes, *again;
        size_t size, size_again;
        TalusWorld *copy;
        REQUIRE_OK(talus_world_save(world, &bytes, &size));
        REQUIRE_OK(talus_world_load(bytes, size, 1, &copy));
        CHECK_STR(talus_world_backend(copy), "cuda");
        REQUIRE_OK(talus_world_save(copy, &again, &size_again));
        CHECK(size == size_again && memcmp(bytes, again, size) == 0);
        talus_free(bytes);
        talus_free(again);
        run(copy, 20);
        run(world, 20);
        CHECK(talus_world_hash(copy) == talus_world_hash(world));
        REQUIRE_OK(talus_world_save(world, &bytes, &size));
        REQUIRE_OK(talus_world_save(copy, &again, &size_again));
        CHECK(size == size_again && memcmp(bytes, again, size) == 0);
        talus_free(bytes);
        talus_free(again);
        talus_world_destroy(copy);
    }
    talus_world_destroy(world);
}

TEST(looking_and_building_change_nothing)
{
    TalusWorld *world = make_heap(1, 32), *other = make_heap(1, 32);
    for (int i = 0; i < 25; i++) {
        TalusProblem *problem;
        TalusStepInfo info;
        TalusForceSummary summary;
        REQUIRE_OK(talus_world_build(world, &problem));
        REQUIRE_OK(talus_world_step(world, &info));
        REQUIRE_OK(talus_world_step(other, NULL));
        CHECK_INT(talus_problem_blocks(problem), info.contacts);
        CHECK_INT(talus_world_get_contacts(world, NULL, 0), info.contacts);
        CHECK_OK(talus_world_get_forces(world, NULL, NULL, &summary));
        CHECK_INT(summary.contacts, info.contacts);
        talus_world_hash(world);
    }
    CHECK(talus_world_hash(world) == talus_world_hash(other));
    talus_world_destroy(world);
    talus_world_destroy(other);
}

/* ---- what comes and goes ---- */

static TalusWorld *on(const char *backend, TalusWorld *(*make)(void))
{
    test_backend = backend;
    TalusWorld *world = make();
    test_backend = "cuda";
    return world;
}

static void compare_probes(const TalusWorld *host, const TalusWorld *cuda, double accuracy)
{
    double weight = 0.0;
    for (int i = 0; i < talus_world_probe_count(host); i++)
        weight = fmax(weight, 9.81 * talus_world_probe_value(host, i).mass);
    for (int i = 0; i < talus_world_probe_count(host); i++) {
        TalusProbeValue p = talus_world_probe_value(host, i), q = talus_world_probe_value(cuda, i);
        double force = fmax(talus_norm(p.force), weight), speed = 1.0;
        CHECK(distance(p.force, q.force) <= accuracy * force);
        CHECK(distance(p.torque, q.torque) <= accuracy * force * 1.0);
        CHECK(distance(p.momentum, q.momentum) <= accuracy * speed * fmax(p.mass, 1.0));
        CHECK_INT(p.bodies, q.bodies);
        CHECK(fabs(p.mass - q.mass) <= 1e-12 * p.mass);
    }
}

/* Emitter, delayed batch, sink and probes of bodies, walls and regions. */
static TalusWorld *make_busy(void)
{
    TalusWorld *world = make_full(1);
    TalusProbeDef region = {.name = "region",
                            .kind = TALUS_PROBE_REGION,
                            .lo = {-0.2, -0.2, 0.0},
                            .hi = {0.5, 0.5, 0.6}};
    TalusProbeDef moving = {.name = "moving", .kind = TALUS_PROBE_BODY, .body = {20, 1}};
    CHECK_OK(talus_world_add_probe(world, &region, NULL));
    CHECK_OK(talus_world_add_probe(world, &moving, NULL));
    make_tight(world);
    return world;
}

TEST(arrivals_sinks_and_probes_are_those_of_the_host)
{
    TalusWorld *host = on("cpu", make_busy), *cuda = on("cuda", make_busy);
    double dx = 0.0, dv = 0.0;
    bool came = false, went = false;
    for (int i = 0; i < 15; i++) {
        int before = talus_world_body_count(host);
        run(host, 1);
        run(cuda, 1);
        came |= talus_world_body_count(host) > before;
        CHECK_INT(talus_world_body_count(cuda), talus_world_body_count(host));
        compare_probes(host, cuda, 1e-9);
    }
    CHECK(came && host->probe[0].value.contacts > 0);
    differences(host, cuda, 0.05, &dx, &dv);
    printf("  after 15 steps: positions %.1e, velocities %.1e\n", dx, dv);
    CHECK(dx <= 1e-8 && dv <= 1e-7);
    /* a probe of a body that is gone reads 0; a sink that has bodies below it takes them */
    CHECK_OK(talus_world_remove_body(host, talus_slot_id(&host->bodies, 20)));
    CHECK_OK(talus_world_remove_body(cuda, talus_slot_id(&cuda->bodies, 20)));
    CHECK_OK(talus_world_add_sink(host, 2, 0.09));
    CHECK_OK(talus_world_add_sink(cuda, 2, 0.09));
    for (int i = 0; i < 3; i++) {
        int before = talus_world_body_count(host);
        run(host, 1);
        run(cuda, 1);
        went |= talus_world_body_count(host) < before;
        CHECK_INT(talus_world_body_count(cuda), talus_world_body_count(host));
        compare_probes(host, cuda, 1e-9);
    }
    CHECK(went && talus_world_probe_value(cuda, 2).bodies == 0);
    differences(host, cuda, 0.05, &dx, &dv);
    CHECK(dx <= 1e-8 && dv <= 1e-7);
    talus_world_destroy(host);
    talus_world_destroy(cuda);
}

/* A ball on the floor, with a probe, and two that come later. */
static TalusWorld *make_late(void)
{
    TalusWorldDef def = quick_def(1);
    def.solver = "jacobi";
    TalusWorld *world = make_world(&def);
    TalusVec3 late[2] = {{0.0, 0.0, 0.5}, {0.01, 0.0, 0.72}};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusProbeDef probe = {.name = "floor", .kind = TALUS_PROBE_BODY};
    CHECK_OK(add_floor(world, &probe.body));
    CHECK_OK(add_one(world, ball, talus_vec3(0.0, 0.0, 0.1), NULL));
    batch.count = 2;
    batch.shape = 1;
    batch.position = late;
    CHECK_OK(talus_world_add_bodies_at(world, 0.05, &batch));
    CHECK_OK(talus_world_add_probe(world, &probe, NULL));
    make_tight(world);
    return world;
}

static void step_both(TalusWorld *const world[2], int steps)
{
    double dx, dv;
    run(world[0], steps);
    run(world[1], steps);
    differences(world[0], world[1], 0.1, &dx, &dv);
    CHECK(dx <= 1e-9 && dv <= 1e-9);
    compare_probes(world[0], world[1], 1e-9);
    CHECK_INT(talus_world_probe_value(world[1], 0).contacts,
              talus_world_probe_value(world[0], 0).contacts);
}

/* Velocities, friction, bodies and shapes that change between steps reach the engine. One iteration
 * shows where it started from: a body has nothing from the one that had its slot before. */
TEST(changes_between_steps_are_those_of_the_host)
{
    TalusWorld *const world[2] = {on("cpu", make_late), on("cuda", make_late)};
    TalusBodyId id = {1, 1};
    step_both(world, 30);
    CHECK_INT(talus_world_body_count(world[1]), 4);
    for (int k = 0; k < 2; k++) {
        CHECK_OK(talus_world_set_velocity(world[k], id, talus_vec3(0.5, 0.2, 0.0),
                                          talus_vec3(0.0, 3.0, 0.0)));
        CHECK_OK(talus_world_set_friction(world[k], 0, 0, 0.05));
    }
    step_both(world, 5);
    for (int k = 0; k < 2; k++)
        CHECK_OK(talus_world_set_accuracy(world[k], 0.0, 1));
    step_both(world, 1);
    for (int k = 0; k < 2; k++) {
        CHECK_OK(talus_world_remove_body(world[k], id));
        CHECK_OK(add_one(world[k], ball, talus_vec3(0.5, 0.0, 0.1), &id));
        CHECK_INT(id.index, 1);
        id.generation = 1;
    }
    step_both(world, 1);
    for (int k = 0; k < 2; k++) {
        make_tight(world[k]);
        CHECK_OK(add_one(world[k], brick, talus_vec3(1.0, 0.0, 0.07), NULL));
    }
    step_both(world, 20);
    talus_world_destroy(world[0]);
    talus_world_destroy(world[1]);
}

static TalusWorld *make_floating(void)
{
    TalusWorldDef def = quick_def(1);
    return make_world(&def);
}

TEST(worlds_without_contacts_or_bodies_step)
{
    TalusWorld *world = on("cuda", make_floating);
    TalusBodyId id;
    TalusStepInfo info;
    REQUIRE_OK(talus_world_step(world, &info));
    CHECK(info.contacts == 0 && info.bodies == 0);
    REQUIRE_OK(add_one(world, ball, zero, &id));
    REQUIRE_OK(talus_world_step(world, &info));
    CHECK_INT(info.bodies, 1);
    CHECK(fabs(info.ledger.imbalance) <= 1e-15 * info.ledger.kinetic);
    read_state(world, &cuda_state);
    CHECK_NEAR(cuda_state.v[0].z, -9.81 * 0.005, 1e-16);
    REQUIRE_OK(talus_world_remove_body(world, id));
    REQUIRE_OK(talus_world_step(world, &info));
    CHECK_INT(info.bodies, 0);
    talus_world_destroy(world);
}

/* ---- steps that do not go as planned ---- */

static TalusWorld *make_hasty(TalusMissPolicy policy)
{
    TalusWorldDef def = quick_def(1);
    def.tolerance = 1e-9;
    def.solver = "apgd";
    def.max_iterations = 2;
    def.on_miss = policy;
    TalusWorld *world = make_world(&def);
    CHECK_OK(add_heap(world, 32));
    return world;
}

static void be_quiet(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)level, (void)text;
    *(int *)user += strcmp(id, "step.infeasible") == 0;
}

TEST(a_missed_tolerance_follows_the_policy)
{
    int infeasible = 0;
    TalusStepInfo info;
    talus_set_log(be_quiet, &infeasible);
    TalusWorld *world = make_hasty(TALUS_MISS_STOP);
    TalusStatus status = TALUS_OK;
    uint64_t hash = 0;
    for (int i = 0; i < 50 && status == TALUS_OK; i++) {
        hash = talus_world_hash(world);
        status = talus_world_step(world, &info);
    }
    CHECK_INT(status, TALUS_ERR_TOLERANCE);
    CHECK(talus_world_hash(world) == hash);
    CHECK_INT(talus_world_step(world, &info), TALUS_ERR_TOLERANCE);
    CHECK(talus_world_hash(world) == hash);
    talus_world_destroy(world);

    world = make_hasty(TALUS_MISS_HALVE);
    for (int i = 0; i < 30; i++)
        REQUIRE_OK(talus_world_step(world, &info));
    CHECK_INT(info.halvings, 4);
    double scale = fabs(info.ledger.friction) + fabs(info.ledger.impact) + info.ledger.kinetic;
    CHECK(fabs(info.ledger.imbalance) <= 1e-12 * scale);
    talus_world_destroy(world);
    talus_set_log(NULL, NULL);
}

static TalusWorld *make_failing(void)
{
    int ignored = 0;
    talus_set_log(be_quiet, &ignored);
    TalusWorld *world = make_full(1);
    CHECK_OK(talus_world_set_accuracy(world, 1e-12, 1));
    run(world, 21);
    CHECK_OK(talus_world_remove_body(world, talus_slot_id(&world->bodies, 3)));
    talus_set_log(NULL, NULL);
    return world;
}

TEST(a_failed_step_takes_arrivals_back)
{
    TalusWorld *world = make_failing(), *other = make_failing();
    uint64_t hash = talus_world_hash(world);
    int bodies = talus_world_body_count(world), ignored = 0;
    talus_set_log(be_quiet, &ignored);
    for (int i = 0; i < 2; i++) {
        world->def.on_miss = TALUS_MISS_STOP;
        CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_TOLERANCE);
        CHECK_INT(talus_world_body_count(world), bodies);
        CHECK(talus_world_hash(world) == hash);
    }
    world->def.on_miss = TALUS_MISS_CONTINUE; /* and now as if nothing had happened */
    run(world, 20);
    run(other, 20);
    CHECK(talus_world_hash(world) == talus_world_hash(other));
    talus_set_log(NULL, NULL);
    talus_world_destroy(world);
    talus_world_destroy(other);
}

TEST(a_nan_fails_the_step_and_names_the_body)
{
    TalusWorld *world = make_heap(1, 32);
    run(world, 30);
    uint64_t hash = talus_world_hash(world);
    TalusVec3 kept = world->bodies.velocity[17];
    const TalusVec3 bad[3] = {{0.0, NAN, 0.0}, {1e308, 1e308, 0.0}, {0.0, 0.0, 1e200}};
    for (int i = 0; i < 3; i++) {
        REQUIRE_OK(talus_world_touch(world));
        world->bodies.velocity[17] = bad[i];
        CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_NUMERIC);
        CHECK(said("body 17"));
        CHECK_INT(talus_world_steps(world), 30);
    }
    REQUIRE_OK(talus_world_touch(world));
    world->bodies.velocity[17] = kept;
    CHECK(talus_world_hash(world) == hash);
    run(world, 5);
    TalusWorld *other = make_heap(1, 32);
    run(other, 35);
    CHECK(talus_world_hash(world) == talus_world_hash(other));
    talus_world_destroy(world);
    talus_world_destroy(other);
}

TEST(a_wedged_body_is_an_outcome_not_a_hang)
{
    int said_infeasible = 0, infeasible = 0;
    talus_set_log(be_quiet, &said_infeasible);
    TalusWorldDef def = quick_def(1);
    def.max_iterations = 5000;
    TalusWorld *world = make_world(&def);
    REQUIRE_OK(add_floor(world, NULL));
    REQUIRE_OK(add_wall(world, -0.09, 1.0));
    REQUIRE_OK(add_wall(world, 0.09, -1.0));
    REQUIRE_OK(add_one(world, ball, talus_vec3(0.0, 0.0, 0.1), NULL));
    for (int i = 0; i < 10; i++) {
        TalusStepInfo info;
        REQUIRE_OK(talus_world_step(world, &info));
        infeasible += info.solve.outcome == TALUS_OUTCOME_INFEASIBLE;
        CHECK(info.missed || info.solve.outcome == TALUS_OUTCOME_CONVERGED);
    }
    CHECK(infeasible > 0);
    CHECK_INT(said_infeasible, 1);
    read_state(world, &cuda_state);
    TalusVec3 x = cuda_state.x[3];
    CHECK(fabs(x.x) < 0.02 && fabs(x.y) < 0.02 && x.z < 0.2);
    talus_world_destroy(world);
    talus_set_log(NULL, NULL);
}

/* Each ball is pushed into the next within the step: contacts are looked for again. */
static TalusWorld *make_row(void)
{
    TalusWorldDef def = quick_def(1);
    def.gravity = zero;
    def.reference_speed = 0.01;
    TalusWorld *world = make_world(&def);
    TalusBodyId id;
    for (int i = 5; i >= 0; i--)
        CHECK_OK(add_one(world, ball, talus_vec3(0.2 * i + 0.008 * i, 0.0, 0.0), &id));
    CHECK_OK(talus_world_set_velocity(world, id, talus_vec3(20.0, 0.0, 0.0), zero));
    make_tight(world);
    return world;
}

TEST(a_struck_body_meets_what_it_is_pushed_into)
{
    TalusWorld *host = on("cpu", make_row), *cuda = on("cuda", make_row);
    double dx, dv, worst = 0.0;
    for (int i = 0; i < 12; i++) {
        TalusStepInfo a, b;
        REQUIRE_OK(talus_world_step(host, &a));
        REQUIRE_OK(talus_world_step(cuda, &b));
        CHECK_INT(a.contacts, b.contacts);
        worst = fmax(worst, b.penetration_max);
    }
    differences(host, cuda, 0.1, &dx, &dv);
    CHECK(dx <= 1e-9 && dv <= 1e-9);
    CHECK(worst < 1e-3);
    talus_world_destroy(host);
    talus_world_destroy(cuda);
}

int main(void)
{
    test_backend = "cuda";
    if (!talus_backend_find("cuda")) {
        printf("skipped: %s\n", talus_error());
        return 77;
    }
    RUN(worlds_without_contacts_or_bodies_step);
    RUN(a_struck_body_meets_what_it_is_pushed_into);
    RUN(changes_between_steps_are_those_of_the_host);
    RUN(scenes_agree_to_rounding);
    RUN(looking_and_building_change_nothing);
    RUN(a_loaded_world_goes_on_bitwise_as_the_saved_one);
    RUN(arrivals_sinks_and_probes_are_those_of_the_host);
    RUN(a_missed_tolerance_follows_the_policy);
    RUN(a_failed_step_takes_arrivals_back);
    RUN(a_nan_fails_the_step_and_names_the_body);
    RUN(a_wedged_body_is_an_outcome_not_a_hang);
    RUN(a_bed_settles_alike);
    return talus_test_result();
}
