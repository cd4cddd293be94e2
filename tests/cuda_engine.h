/* One world on the host and on the engine of the cuda backend, and the comparison of the two. */
#ifndef TALUS_TEST_CUDA_ENGINE_H
#define TALUS_TEST_CUDA_ENGINE_H

#include "test_world_scene.h"
#include "world/step/stages.h"

#include "base/rng.h"
#include "engine/engine.h"
#include "support/cuda.h"

/* ---- worlds ---- */

static TalusRng rng;

static inline TalusStatus add_some(TalusWorld *world, TalusShapeDef shape, int material, bool fixed,
                                   int count, TalusVec3 first, TalusVec3 step)
{
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 x[32];
    double radius[32];
    TALUS_TRY(talus_world_add_shape(world, &shape, &batch.shape));
    for (int i = 0; i < count; i++) {
        x[i] = talus_madd(first, i, step);
        radius[i] = shape.radius * (1.0 + 0.1 * (i % 3));
    }
    batch.count = count;
    batch.material = material;
    batch.fixed = fixed;
    batch.position = x;
    batch.radius = shape.kind == TALUS_SHAPE_SPHERE ? radius : NULL;
    return talus_world_add_bodies(world, &batch, NULL);
}

/* Every shape, moving and fixed where it may; a stiff material and one without friction. */
static inline TalusStatus add_zoo(TalusWorld *world)
{
    static const double profile[] = {0.0, 0.2, 0.4, 0.25, 0.6, 0.6};
    TalusShapeDef bowl = {.kind = TALUS_SHAPE_REVOLVE, .profile = profile, .point_count = 3};
    TalusShapeDef drum = {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.1, .half_height = 0.12};
    TalusMaterialDef stiff = talus_material_def_default(), ice = stiff;
    int rubber, smooth;
    stiff.stiffness = 4e5;
    stiff.damping = 30.0;
    stiff.friction = 0.6;
    ice.friction = 0.0;
    TALUS_TRY(talus_world_add_material(world, &stiff, &rubber));
    TALUS_TRY(talus_world_add_material(world, &ice, &smooth));
    TALUS_TRY(add_heap(world, 48));
    TALUS_TRY(add_some(world, bowl, rubber, true, 1, talus_vec3(4.0, 0.0, 0.0), zero));
    TALUS_TRY(add_some(world, ball, 0, false, 6, talus_vec3(4.0, 0.0, 0.42),
                       talus_vec3(0.01, 0.005, 0.25)));
    TALUS_TRY(add_some(world, drum, rubber, false, 2, talus_vec3(8.0, 0.0, 0.13),
                       talus_vec3(1.0, 0.0, 0.0)));
    TALUS_TRY(add_some(world, drum, smooth, true, 1, talus_vec3(12.0, 0.0, 0.12), zero));
    TALUS_TRY(add_some(world, brick, 0, true, 1, talus_vec3(13.0, 0.0, 0.08), zero));
    TALUS_TRY(add_some(world, ball, rubber, true, 1, talus_vec3(14.0, 0.0, 0.1), zero));
    TALUS_TRY(add_some(world, ball, 0, false, 3, talus_vec3(12.0, 0.01, 0.36),
                       talus_vec3(1.0, 0.0, -0.02)));
    return add_some(world, brick, rubber, false, 2, talus_vec3(16.0, 0.0, 0.09),
                    talus_vec3(0.0, 0.0, 0.17));
}

static inline TalusStatus add_spheres(TalusWorld *world)
{
    TALUS_TRY(add_floor(world, NULL));
    TALUS_TRY(add_wall(world, -0.11, 1.0));
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 4; j++)
            TALUS_TRY(add_some(world, ball, 0, false, 5,
                               talus_vec3(0.012 * k, 0.23 * j + 0.01 * k, 0.11 + 0.2 * k),
                               talus_vec3(0.231, 0.003, 0.001)));
    return TALUS_OK;
}

/* Friction among the laws, but not among the contacts. */
static inline TalusStatus add_slippery(TalusWorld *world)
{
    TalusMaterialDef rough = talus_material_def_default();
    TALUS_TRY(talus_world_add_material(world, &rough, NULL));
    TALUS_TRY(talus_world_set_friction(world, 0, 0, 0.0));
    return add_spheres(world);
}

static inline TalusStatus set_laws(TalusWorld *world, int a, int b, TalusFrictionLaw law,
                                   TalusSection section, TalusPairDef pair)
{
    pair.own_model = true;
    pair.model = (TalusFrictionModel){.law = law, .section = section};
    pair.model.sides = section == TALUS_SECTION_POLYGON ? 5 : 0;
    return talus_world_set_pair(world, a, b, &pair);
}

/* Another law for every pair; some rebound. */
static inline TalusStatus add_lawful(TalusWorld *world)
{
    TalusPairDef pair = talus_pair_def_default();
    TALUS_TRY(add_zoo(world));
    TALUS_TRY(set_laws(world, 0, 1, TALUS_LAW_FIXED, TALUS_SECTION_SQUARE, pair));
    TALUS_TRY(set_laws(world, 1, 1, TALUS_LAW_CCP, TALUS_SECTION_SQUARE, pair));
    pair.restitution = 0.4;
    TALUS_TRY(set_laws(world, 0, 0, TALUS_LAW_COULOMB, TALUS_SECTION_POLYGON, pair));
    return set_laws(world, 0, 2, TALUS_LAW_CCP, TALUS_SECTION_DISC, pair);
}

/* Exact friction for all contacts, another law for a material that no body has. */
static inline TalusStatus add_exact(TalusWorld *world)
{
    TalusPairDef pair = talus_pair_def_default();
    TalusMaterialDef unused = talus_material_def_default();
    TALUS_TRY(talus_world_add_material(world, &unused, NULL));
    TALUS_TRY(set_laws(world, 1, 1, TALUS_LAW_FIXED, TALUS_SECTION_SQUARE, pair));
    TALUS_TRY(set_laws(world, 0, 0, TALUS_LAW_COULOMB, TALUS_SECTION_DISC, pair));
    return add_spheres(world);
}

/* The laws above with friction against turning, and with attraction. */
static inline TalusStatus add_turning(TalusWorld *world)
{
    TalusPairDef pair = talus_pair_def_default();
    TALUS_TRY(add_lawful(world));
    pair.spinning = 0.03;
    pair.rolling = 0.05;
    TALUS_TRY(set_laws(world, 0, 1, TALUS_LAW_CCP, TALUS_SECTION_DISC, pair));
    pair.cohesion = 2.0;
    return set_laws(world, 0, 0, TALUS_LAW_COULOMB, TALUS_SECTION_DISC, pair);
}

typedef struct Scene {
    TalusStatus (*add)(TalusWorld *world);
    int steps, rows;
} Scene;

static const Scene scenes[] = {{add_zoo, 14, 3},    {add_spheres, 12, 3}, {add_slippery, 12, 1},
                               {add_lawful, 14, 3}, {add_exact, 12, 3},   {add_turning, 14, 6}};
enum { SCENES = sizeof scenes / sizeof *scenes };

/* ---- a world on both ---- */

typedef struct Both {
    TalusWorld *world; /* the host's */
    TalusEngine *engine;
    TalusBodyArrays got; /* memory for the engine's bodies */
    TalusContactList list;
    double h;
} Both;

static inline const TalusEngineOps *ops(void)
{
    return talus_engine_ops(cuda);
}

static inline TalusBodyArrays arrays_of(TalusWorld *world)
{
    CHECK_OK(talus_id_order_update(&world->id_order, world->bodies.id, world->bodies.counts.slots));
    return talus_mirror_body_arrays(world);
}

/* Velocities that tell every body from the others, as problem bodies are known by them, and overlaps. */
static inline void stir(TalusWorld *world)
{
    for (int i = 0; i < world->bodies.counts.slots; i++)
        if (talus_slot_is_free(&world->bodies, i))
            for (int k = 0; k < 3; k++) {
                (&world->bodies.position[i].x)[k] += 2e-2 * (talus_rng_uniform(&rng) - 0.5);
                (&world->bodies.velocity[i].x)[k] += 1e-3 * talus_rng_uniform(&rng);
                (&world->bodies.spin[i].x)[k] += 1e-2 * talus_rng_uniform(&rng);
            }
}

static inline bool send(Both *both)
{
    TalusWorld *w = both->world;
    TalusBodyArrays arrays = arrays_of(w);
    const TalusMaterials *m = &w->materials;
    TalusTables tables = {
        w->shape,           w->gyration,       w->shapes,      m->law,
        m->count,           m->any_compliance, m->any_models,  m->max_friction > 0.0,
        m->any_restitution, m->any_moments,    m->any_cohesion};
    return CHECK_OK(ops()->put_tables(both->engine, &tables)) &&
           CHECK_OK(ops()->put_bodies(both->engine, &arrays, NULL)) &&
           CHECK_OK(ops()->put_contacts(both->engine, talus_world_contacts(w)));
}

static inline bool open_both(Both *both, const Scene *scene)
{
    TalusWorldDef def = quick_def(1);
    *both = (Both){.world = make_world(&def), .h = def.step};
    rng = talus_rng_from_seed(5);
    if (!both->world || !CHECK_OK(scene->add(both->world)))
        return false;
    run(both->world, scene->steps);
    TalusBodyId gone = {both->world->bodies.id[3]};
    CHECK_OK(talus_world_remove_body(both->world, gone)); /* a dead slot */
    stir(both->world);
    size_t slots = (size_t)both->world->bodies.counts.slots;
    both->got = (TalusBodyArrays){.position = calloc(slots, sizeof(TalusVec3)),
                                  .velocity = calloc(slots, sizeof(TalusVec3)),
                                  .spin = calloc(slots, sizeof(TalusVec3)),
                                  .orientation = calloc(slots, sizeof(TalusQuat))};
    return CHECK_OK(ops()->create(&(TalusEngineSetup){.context = cuda_context()}, &both->engine)) &&
           send(both);
}

static inline void clear_list(TalusContactList *list)
{
    free(list->contact);
    free(list->arms);
    free(list->impulse);
    *list = (TalusContactList){0};
}

static inline void close_both(Both *both)
{
    free(both->got.position);
    free(both->got.velocity);
    free(both->got.spin);
    free(both->got.orientation);
    clear_list(&both->list);
    ops()->destroy(both->engine);
    talus_world_destroy(both->world);
}

static inline bool same(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

/* Compares the engine's bodies with the world's: to the bit if `tolerance` is 0. */
static inline void check_bodies(Both *both, double tolerance)
{
    const TalusBodies *b = &both->world->bodies;
    TalusBodyArrays *g = &both->got;
    double worst = 0.0;
    REQUIRE_OK(ops()->get_bodies(both->engine, g));
    for (int i = 0; i < b->counts.slots; i++) {
        if (b->shape[i] < 0)
            continue;
        if (tolerance == 0.0)
            CHECK(same(&g->position[i], &b->position[i], sizeof *g->position) &&
                  same(&g->velocity[i], &b->velocity[i], sizeof *g->velocity) &&
                  same(&g->spin[i], &b->spin[i], sizeof *g->spin) &&
                  same(&g->orientation[i], &b->orientation[i], sizeof *g->orientation));
        worst = fmax(worst, talus_norm(talus_sub(g->position[i], b->position[i])));
        worst = fmax(worst, talus_norm(talus_sub(g->velocity[i], b->velocity[i])));
        worst = fmax(worst, b->radius[i] * talus_norm(talus_sub(g->spin[i], b->spin[i])));
        const double *e = &g->orientation[i].w, *f = &b->orientation[i].w;
        for (int k = 0; k < 4; k++)
            worst = fmax(worst, fabs(e[k] - f[k]));
    }
    CHECK(worst <= tolerance);
}

/* The engine's contacts into both->list. */
static inline bool fetch_contacts(Both *both)
{
    TalusEngineCounts n;
    ops()->get_counts(both->engine, &n);
    clear_list(&both->list);
    both->list.contact = calloc((size_t)n.contacts + 1, sizeof *both->list.contact);
    both->list.arms = calloc((size_t)n.general + 1, sizeof *both->list.arms);
    both->list.impulse = calloc((size_t)n.contacts + 1, sizeof *both->list.impulse);
    return CHECK_OK(ops()->get_contacts(both->engine, &both->list));
}

static inline void check_contacts(Both *both)
{
    const TalusContactList *host = talus_world_contacts(both->world), *list = &both->list;
    REQUIRE(fetch_contacts(both));
    REQUIRE(CHECK_INT(list->count, host->count));
    CHECK_INT(list->sphere_sphere, host->sphere_sphere);
    CHECK_INT(list->sphere_fixed, host->sphere_fixed);
    REQUIRE(CHECK_INT(list->general, host->general));
    CHECK(same(list->contact, host->contact, (size_t)host->count * sizeof *host->contact));
    CHECK(same(list->arms, host->arms, (size_t)host->general * sizeof *host->arms));
    CHECK(same(list->impulse, host->impulse, (size_t)host->count * sizeof *host->impulse));
}

/* ---- the problem ---- */

/* The engine's problem on the host, and who is who. */
typedef struct Copy {
    TalusOperator op; /* arrays on the host */
    double *gamma;
    int *slot;  /* [bodies]: -1 for one that cannot move */
    int *block; /* [blocks]: the same contact in the host's problem */
    double *device_gamma;
} Copy;

static inline void *fetch(const void *device, size_t bytes)
{
    double *host = calloc(bytes / sizeof(double) + 1, sizeof(double));
    if (device && host)
        cuda->vector.get(cuda_op(), host, device, bytes / sizeof(double));
    return host;
}

#define FETCH(field, count) copy->op.field = fetch(op->field, (size_t)(count) * sizeof *op->field)

static inline void fetch_problem(const TalusOperator *op, double *gamma, Copy *copy)
{
    size_t blocks = (size_t)op->blocks;
    copy->op = *op;
    copy->device_gamma = gamma;
    FETCH(pair, op->blocks);
    FETCH(frame, op->blocks);
    FETCH(arm, op->general);
    FETCH(body, op->bodies);
    FETCH(inverse_inertia, op->bodies);
    FETCH(bias, op->blocks);
    FETCH(mu, op->blocks);
    FETCH(compliance, op->blocks);
    FETCH(diagonal, op->blocks);
    FETCH(coupling, op->general);
    FETCH(model, op->blocks);
    FETCH(estimate, op->blocks);
    FETCH(unshifted, op->blocks);
    FETCH(moment_mu, op->blocks);
    FETCH(lever, op->general);
    copy->gamma = fetch(gamma, blocks * (size_t)op->rows * sizeof *gamma);
    copy->slot = calloc((size_t)op->bodies + 1, sizeof(int));
    copy->block = calloc(blocks + 1, sizeof(int));
}

static inline void clear_copy(Copy *c)
{
    void *owned[] = {
        c->op.pair,  c->op.frame,    c->op.arm,        c->op.body,      c->op.inverse_inertia,
        c->op.bias,  c->op.mu,       c->op.compliance, c->op.diagonal,  c->op.coupling,
        c->op.model, c->op.estimate, c->op.unshifted,  c->op.moment_mu, c->op.lever,
        c->gamma,    c->slot,        c->block};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    *c = (Copy){0};
}

static inline bool same_record(const double *a, const double *b, double tolerance)
{
    bool close = true;
    for (int k = 0; k < 8; k++)
        close = close && fabs(a[k] - b[k]) <= tolerance;
    return close;
}

/* Problem bodies are matched by their records, which thereby are the same to the bit: attraction alone,
 * as a sum over contacts, adds to them in another order. */
static inline void match_bodies(const TalusOperator *host, double tolerance, Copy *copy)
{
    int found = 0, moving = 0;
    for (int i = 0; i < host->bodies; i++)
        moving += host->body[i][3] > 0.0;
    for (int p = 0; p < copy->op.bodies; p++) {
        copy->slot[p] = -1;
        for (int i = 0; copy->op.body[p][3] > 0.0 && i < host->bodies; i++)
            if (same_record(copy->op.body[p], host->body[i], tolerance))
                copy->slot[p] = i;
        found += copy->slot[p] >= 0;
        if (copy->slot[p] >= 0 && host->inverse_inertia)
            CHECK(same(copy->op.inverse_inertia[p], host->inverse_inertia[copy->slot[p]],
                       sizeof *host->inverse_inertia));
    }
    CHECK_INT(found, moving);
}

static inline int run_of(const TalusOperator *op, int i)
{
    return i < op->sphere_sphere ? 0 : i < op->sphere_sphere + op->sphere_fixed ? 1 : 2;
}

/* Whether block i of the copy is block j of the host, by bodies and geometry. */
static inline bool same_block(const TalusOperator *host, const Copy *copy, int i, int j)
{
    const int32_t *p = copy->op.pair[i];
    int general = i - copy->op.sphere_sphere - copy->op.sphere_fixed,
        spheres = host->blocks - host->general;
    return host->pair[j][0] == copy->slot[p[0]] &&
           host->pair[j][1] == (p[1] < 0 ? -1 : copy->slot[p[1]]) &&
           run_of(&copy->op, i) == run_of(host, j) &&
           same(copy->op.frame[i], host->frame[j], sizeof *host->frame) &&
           copy->op.bias[i] == host->bias[j] &&
           (general < 0 || same(copy->op.arm[general], host->arm[j - spheres], sizeof *host->arm));
}

static inline void check_block(const TalusOperator *host, const double *gamma, const Copy *copy,
                               int i)
{
    int j = copy->block[i], rows = host->rows, spheres = host->blocks - host->general;
    CHECK(same(copy->op.diagonal[i], host->diagonal[j], sizeof *host->diagonal));
    CHECK(same(copy->gamma + rows * i, gamma + rows * j, (size_t)rows * sizeof *gamma));
    CHECK(rows == 1 || copy->op.mu[i] == host->mu[j]);
    CHECK(!host->compliance || copy->op.compliance[i] == host->compliance[j]);
    CHECK(j < spheres || copy->op.coupling[i - spheres] == host->coupling[j - spheres]);
    CHECK(!host->model || same(&copy->op.model[i], &host->model[j], sizeof *host->model));
    CHECK(!host->estimate || copy->op.estimate[i] == host->estimate[j]);
    CHECK(!host->unshifted || copy->op.unshifted[i] == host->unshifted[j]);
    if (rows == 6)
        CHECK(same(copy->op.moment_mu[i], host->moment_mu[j], sizeof *host->moment_mu) &&
              same(copy->op.lever[i], host->lever[j], sizeof *host->lever));
}

static inline void match_blocks(const TalusOperator *host, const double *gamma, Copy *copy)
{
    char *taken = calloc((size_t)host->blocks + 1, 1);
    for (int i = 0; i < copy->op.blocks; i++) {
        copy->block[i] = -1;
        for (int j = 0; j < host->blocks && copy->block[i] < 0; j++)
            if (!taken[j] && same_block(host, copy, i, j))
                copy->block[i] = j;
        if (!CHECK(copy->block[i] >= 0)) {
            copy->block[i] = 0;
            continue;
        }
        taken[copy->block[i]] = 1;
        check_block(host, gamma, copy, i);
    }
    free(taken);
}

/* Contacts and problem on both, compared. */
static inline bool build_both(Both *both, bool soften, Copy *copy)
{
    TalusWorld *w = both->world;
    TalusDetectOptions detect = talus_detect_options(w, both->h);
    TalusEngineCounts counts;
    TalusBuildReport report;
    TalusOperator *op;
    double *gamma;
    if (!CHECK_OK(talus_stage_detect(w, both->h)) ||
        !CHECK_OK(talus_stage_build(w, both->h, soften)) ||
        !CHECK_OK(ops()->detect(both->engine, &detect, w->def.gravity, 1, &counts)) ||
        !CHECK_OK(ops()->build(both->engine, &w->build_options, &op, &gamma, &report)))
        return false;
    const TalusOperator *host = talus_problem_operator(w->problem);
    CHECK(counts.min_size == w->min_size);
    CHECK_NEAR(report.penetration_mean, w->penetration_mean, 1e-14);
    CHECK(report.penetration_max == w->penetration_max);
    fetch_problem(op, gamma, copy);
    if (!CHECK_INT(copy->op.blocks, host->blocks) || !CHECK_INT(copy->op.rows, host->rows))
        return false;
    CHECK(!op->compliance == !host->compliance && !op->model == !host->model);
    CHECK(!op->estimate == !host->estimate && !op->unshifted == !host->unshifted);
    CHECK(op->kinds == host->kinds && op->mixed_sets == host->mixed_sets &&
          op->prisms == host->prisms);
    match_bodies(host, w->materials.any_cohesion ? 1e-13 : 0.0, copy);
    match_blocks(host, talus_problem_gamma(w->problem), copy);
    return true;
}

/* Impulses of `size` for both problems. */
static inline void give_impulses(Both *both, const Copy *copy, double size)
{
    const TalusOperator *op = &copy->op;
    double *gamma = talus_problem_gamma(both->world->problem);
    bool changed;
    double overlap_ratio;
    size_t n = (size_t)op->blocks * (size_t)op->rows;
    double *permuted = calloc(n + 1, sizeof(double));
    for (size_t k = 0; k < n; k++)
        gamma[k] = size * (talus_rng_uniform(&rng) - (k % (size_t)op->rows ? 0.5 : 0.0));
    for (int i = 0; i < op->blocks; i++)
        memcpy(permuted + op->rows * i, gamma + op->rows * copy->block[i],
               (size_t)op->rows * sizeof(double));
    cuda->vector.put(cuda_op(), copy->device_gamma, permuted, n);
    free(permuted);
    CHECK_OK(both->world->host.ops->compute_velocities(both->world->host.self, INFINITY, &changed,
                                                       &overlap_ratio));
}

#endif
