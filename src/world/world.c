/* world/world.c - creation and destruction of a world, queries of its settings, hash of its state. */
#include "world/state.h"

#include "backend/backend.h"
#include "base/hash.h"
#include "collide/period.h"

enum { DEF_COOKIE = 0x7a105d1f };

TalusWorldDef talus_world_def_default(void)
{
    TalusWorldDef def = {
        .cookie = DEF_COOKIE,
        .gravity = {0.0, 0.0, -9.81},
        .step = 0.005,
        .tolerance = 1e-2,
        .norm = TALUS_NORM_RMS,
        .max_iterations = 1000,
        .solver = "auto",
        .on_miss = TALUS_MISS_CONTINUE,
        .envelope = 0.02,
        /* in sqrt(g size): a body pushed out at this speed rises by 0.02 of its size */
        .recovery = 0.2,
        .compliance = TALUS_COMPLIANCE_AUTO,
        .elastic_overlap = 0.02,
        .friction = {.section = TALUS_SECTION_DISC, .law = TALUS_LAW_COULOMB},
        /* in g h, the closing speed that gravity gives a resting contact in a step */
        .restitution_threshold = 2.0,
        .cohesion_range = 0.01,
        .sleep_steps = 100,
        .projection = true,
        .backend = "cpu",
        .threads = 0,
    };
    return def;
}

TalusWorldDef talus_world_def_relaxed(void)
{
    TalusWorldDef def = talus_world_def_default();
    def.compliance = 0.0;
    def.friction.law = TALUS_LAW_CCP;
    return def;
}

/* Returns TALUS_ERR_ARGUMENT with a message about member `key` of the def. */
#define REFUSE(key, ...) talus_error_key(key, talus_reject("world: " __VA_ARGS__))

TalusStatus talus_world_check_ranks(const TalusWorldDef *def, const TalusComm *comm)
{
    if (def->impacts == TALUS_IMPACTS_PROPAGATING && talus_comm_size(comm) > 1)
        return talus_fail_key(
            "impacts", TALUS_ERR_UNSUPPORTED,
            "several ranks have simultaneous impacts only; one rank has propagating ones");
    return TALUS_OK;
}

/* Refuses a value that is not finite or is below `min`; `want` says what is expected. */
static TalusStatus check_minimum(const char *key, double value, double min, const char *want)
{
    if (!isfinite(value) || value < min)
        return REFUSE(key, "%s is %g; expected %s", key, value, want);
    return TALUS_OK;
}

static TalusStatus check_period(const TalusPeriod *p)
{
    const double lo[3] = {p->lo.x, p->lo.y, p->lo.z}, hi[3] = {p->hi.x, p->hi.y, p->hi.z};
    for (int k = 0; k < 3; k++)
        if (p->on[k] && (!(lo[k] < hi[k]) || !isfinite(hi[k] - lo[k])))
            return REFUSE("period",
                          "the period along %c is from %g to %g; expected from a "
                          "smaller to a larger number",
                          "xyz"[k], lo[k], hi[k]);
    return TALUS_OK;
}

static TalusStatus check_components(TalusVec3 g)
{
    if (!(fmax(fabs(g.x), fmax(fabs(g.y), fabs(g.z))) <= TALUS_GRAVITY_MAX) ||
        !isfinite(g.x + g.y + g.z))
        return REFUSE("gravity", "gravity is (%g, %g, %g) m/s2; expected numbers from %g to %g",
                      g.x, g.y, g.z, -TALUS_GRAVITY_MAX, TALUS_GRAVITY_MAX);
    return TALUS_OK;
}

TalusStatus talus_world_check_gravity(TalusVec3 gravity, double reference_speed)
{
    TALUS_TRY(check_components(gravity));
    if (talus_norm(gravity) == 0.0 && reference_speed == 0.0)
        return REFUSE("reference_speed", "without gravity reference_speed must be more "
                                         "than 0: it scales tolerances and envelopes");
    return TALUS_OK;
}

static TalusStatus check_def(const TalusWorldDef *def)
{
    if (!def || def->cookie != DEF_COOKIE)
        return talus_reject("world: the def was not made by talus_world_def_default()");
    TALUS_TRY(check_components(def->gravity));
    if (!(def->step > 0.0) || !isfinite(def->step))
        return REFUSE("step", "step is %g; expected seconds, more than 0", def->step);
    TALUS_TRY(check_minimum("tolerance", def->tolerance, 0.0, "a fraction of the reference speed"));
    TALUS_TRY(check_minimum("reference_speed", def->reference_speed, 0.0, "m/s, 0 or more"));
    TALUS_TRY(check_minimum("envelope", def->envelope, 0.0, "a fraction of the body size"));
    TALUS_TRY(check_minimum("recovery", def->recovery, 0.0, "0 (no limit) or more"));
    if (def->compliance != TALUS_COMPLIANCE_AUTO)
        TALUS_TRY(check_minimum(
            "compliance", def->compliance, 0.0,
            "TALUS_COMPLIANCE_AUTO, 0 (rigid) or more, such as 1e-3, over the contact's inverse "
            "mass"));
    if (!(def->elastic_overlap > 0.0 && def->elastic_overlap <= TALUS_ELASTIC_OVERLAP_MAX))
        return REFUSE("elastic_overlap",
                      "elastic_overlap is %g; expected a fraction of the body size, more than 0 "
                      "and at most %g; compliance 0 makes contacts rigid",
                      def->elastic_overlap, TALUS_ELASTIC_OVERLAP_MAX);
    TALUS_TRY(check_minimum("restitution_threshold", def->restitution_threshold, 0.0,
                            "a multiple of gravity times step"));
    if ((unsigned)def->impacts > TALUS_IMPACTS_PROPAGATING)
        return REFUSE("impacts", "impacts is %d; expected simultaneous (0) or propagating (1)",
                      (int)def->impacts);
    TALUS_TRY(
        check_minimum("cohesion_range", def->cohesion_range, 0.0, "a fraction of the body size"));
    TALUS_TRY(talus_model_check(def->friction));
    TALUS_TRY(check_period(&def->period));
    TALUS_TRY(talus_cell_check(def));
    TALUS_TRY(talus_world_check_ranks(def, def->comm));
    TALUS_TRY(check_minimum("sleep_speed", def->sleep_speed, 0.0,
                            "a multiple of the reference speed, 0 for never"));
    if (def->sleep_steps < 1)
        return REFUSE("sleep_steps", "sleep_steps is %d; expected 1 or more", def->sleep_steps);
    if (def->max_iterations <= 0)
        return REFUSE("max_iterations", "max_iterations is %d; expected 1 or more",
                      def->max_iterations);
    if ((unsigned)def->norm > TALUS_NORM_MAX)
        return REFUSE("norm", "norm is %d; expected rms (0) or max (1)", (int)def->norm);
    if ((unsigned)def->on_miss > TALUS_MISS_HALVE)
        return REFUSE("on_miss", "on_miss is %d; expected continue (0), stop (1) or halve (2)",
                      (int)def->on_miss);
    if (!def->solver)
        return REFUSE("solver", "solver is NULL; \"auto\" is the default");
    if (!def->backend)
        return REFUSE("backend", "backend is NULL; \"cpu\" is the default");
    return talus_world_check_gravity(def->gravity, def->reference_speed);
}

/* Refuses impacts that propagate on devices and in a cell that deforms: they are computed by the host, for images at rest. */
static TalusStatus check_impacts(const TalusWorld *world)
{
    if (world->def.impacts != TALUS_IMPACTS_PROPAGATING)
        return TALUS_OK;
    if (!talus_engine_can(world->engine, TALUS_ENGINE_IMPACTS))
        return talus_fail_key(
            "impacts", TALUS_ERR_UNSUPPORTED,
            "backend %s has simultaneous impacts only; backend cpu has propagating ones",
            world->def.backend);
    if (world->def.cell.on)
        return talus_fail_key("impacts", TALUS_ERR_UNSUPPORTED,
                              "a cell that deforms has simultaneous impacts only; a period that "
                              "stands still has propagating ones");
    return TALUS_OK;
}

/* Refuses sums of dissipated energy on devices and with impacts that propagate, whose works are not those of contacts of the
 * step. */
static TalusStatus check_dissipation(const TalusWorld *world)
{
    if (!world->def.dissipation)
        return TALUS_OK;
    if (!talus_engine_can(world->engine, TALUS_ENGINE_DISSIPATION))
        return talus_fail_key("dissipation", TALUS_ERR_UNSUPPORTED,
                              "backend %s does not sum it body by body; backend cpu does",
                              world->def.backend);
    if (world->def.impacts == TALUS_IMPACTS_PROPAGATING)
        return talus_fail_key("dissipation", TALUS_ERR_UNSUPPORTED,
                              "it is not summed with impacts that propagate; expected "
                              "simultaneous ones");
    return TALUS_OK;
}

/* Refuses a world with a period, with sleep or with a cell that deforms if its engine lacks that capability. */
static TalusStatus check_engine(const TalusWorld *world)
{
    TALUS_TRY(check_impacts(world));
    TALUS_TRY(check_dissipation(world));
    bool periods = talus_has_period(&world->def.period) &&
                   !talus_engine_can(world->engine, TALUS_ENGINE_PERIODS);
    bool sleep =
        world->def.sleep_speed > 0.0 && !talus_engine_can(world->engine, TALUS_ENGINE_SLEEP);
    bool cell = world->def.cell.on && !talus_engine_can(world->engine, TALUS_ENGINE_CELL);
    if (!periods && !sleep && !cell)
        return TALUS_OK;
    return talus_fail(TALUS_ERR_UNSUPPORTED, "backend %s has no %s; backend cpu has",
                      world->def.backend,
                      periods ? "periods"
                      : sleep ? "sleeping bodies"
                              : "periodic cell that deforms");
}

/* Creates the CPU engine and, unless it takes the steps itself, the backend's context and engine. */
static TalusStatus create_engines(TalusWorld *world)
{
    TalusEngineSetup setup = {
        .pool = world->pool, .problem = world->problem, .period = &world->def.period};
    world->engine.ops = talus_engine_ops(world->backend);
    world->host.ops = talus_engine_host();
    TALUS_TRY(check_engine(world));
    TALUS_TRY(world->host.ops->create(&setup, &world->host.self));
    if (world->engine.ops == world->host.ops) {
        world->engine = world->host;
    } else {
        TALUS_TRY(world->backend->context_create(&world->context));
        setup.context = world->context;
        TALUS_TRY(world->engine.ops->create(&setup, &world->engine.self));
    }
    world->mirror.tables_dirty = world->mirror.bodies_dirty = true;
    return TALUS_OK;
}

/* Destroys both engines, or the one that is both, and the backend's context. */
static void destroy_engines(TalusWorld *world)
{
    if (world->engine.self && world->engine.self != world->host.self)
        world->engine.ops->destroy(world->engine.self);
    if (world->host.self)
        world->host.ops->destroy(world->host.self);
    if (world->context)
        world->backend->context_destroy(world->context);
}

/* Copies the def, creates pool, problem, engines and solver, and adds the default material. */
static TalusStatus init_world(TalusWorld *world, const TalusWorldDef *def)
{
    world->def = *def;
    world->last_compliance = -1.0;
    TALUS_TRY(talus_copy_text(def->solver, "world solver", &world->solver_spec));
    TALUS_TRY(talus_copy_text(def->backend, "world backend", &world->backend_name));
    world->def.solver = world->solver_spec;
    world->def.backend = world->backend_name;
    world->gravity_norm = talus_norm(def->gravity);
    world->reference_speed = fmax(world->gravity_norm * def->step, def->reference_speed);
    talus_filters_init(&world->filters);
    talus_cell_init(world);
    world->backend = talus_backend_find(world->backend_name);
    if (!world->backend)
        return TALUS_ERR_UNSUPPORTED;
    TALUS_TRY(talus_pool_create(def->threads, &world->pool));
    TALUS_TRY(talus_problem_create_empty(world->pool, &world->problem));
    TALUS_TRY(create_engines(world));
    TALUS_TRY(talus_ranks_init(world));
    TALUS_TRY(talus_solver_create(def->solver, &world->solver));
    TALUS_TRY(talus_bodies_reserve(&world->bodies, 1)); /* so that no array is ever NULL */
    TalusMaterialDef material = talus_material_def_default();
    material.name = "default";
    return talus_world_add_material(world, &material, NULL);
}

TalusStatus talus_world_create(const TalusWorldDef *def, TalusWorld **out)
{
    *out = NULL;
    TALUS_TRY(check_def(def));
    TalusWorld *world;
    TALUS_TRY(TALUS_ALLOC(world, 1, "world"));
    TalusStatus status = init_world(world, def);
    if (status != TALUS_OK) {
        talus_world_destroy(world);
        return status;
    }
    *out = world;
    return TALUS_OK;
}

void talus_world_destroy(TalusWorld *world)
{
    if (!world)
        return;
    talus_solver_destroy(world->solver);
    talus_problem_destroy(world->problem);
    destroy_engines(world);
    talus_pool_destroy(world->pool);
    talus_sources_clear(world);
    talus_emit_candidates_clear(&world->candidates);
    talus_probes_clear(world);
    talus_materials_clear(&world->materials);
    talus_shapes_clear(world);
    talus_bodies_clear(&world->bodies);
    talus_forces_clear(world);
    talus_sleep_clear(world);
    talus_filters_clear(&world->filters);
    talus_users_clear(&world->users);
    talus_joints_clear(world);
    talus_ranks_clear(&world->ranks);
    talus_release(world->drive);
    talus_mirror_clear(&world->mirror);
    talus_id_order_clear(&world->id_order);
    TALUS_RELEASE(world->partial, world->solver_state, world->solver_spec, world->backend_name,
                  world);
}

void talus_world_set_log(TalusWorld *world, TalusLogFn *fn, void *user)
{
    world->log = (TalusLog){fn, user};
}

double talus_world_time(const TalusWorld *world)
{
    return talus_time(world);
}

int64_t talus_world_steps(const TalusWorld *world)
{
    return world->steps;
}

TalusStatus talus_world_set_accuracy(TalusWorld *world, double tolerance, int max_iterations)
{
    if (!(tolerance >= 0.0 && isfinite(tolerance)) || max_iterations < 1)
        return talus_reject(
            "talus_world_set_accuracy: tolerance %g and %d iterations; expected at least 0 and at "
            "least 1",
            tolerance, max_iterations);
    world->def.tolerance = tolerance;
    world->def.max_iterations = max_iterations;
    return TALUS_OK;
}

TalusFrictionModel talus_world_friction(const TalusWorld *world)
{
    return world->def.friction;
}

double talus_world_step_length(const TalusWorld *world)
{
    return world->def.step;
}

int64_t talus_world_body_count(const TalusWorld *world)
{
    return talus_world_living(world);
}

int talus_world_threads(const TalusWorld *world)
{
    return talus_pool_threads(world->pool);
}

const char *talus_world_backend(const TalusWorld *world)
{
    return world->def.backend;
}

TalusVec3 talus_world_gravity(const TalusWorld *world)
{
    return world->def.gravity;
}

TalusPeriod talus_world_period(const TalusWorld *world)
{
    return world->def.period;
}

/* Returns a hash of one body: its id and its state. */
static uint64_t hash_body(const TalusBodies *bodies, int slot)
{
    uint64_t hash = talus_hash(TALUS_HASH_SEED, &bodies->id[slot], sizeof bodies->id[slot]);
    hash = talus_hash(hash, &bodies->position[slot], sizeof(TalusVec3));
    hash = talus_hash(hash, &bodies->orientation[slot], sizeof(TalusQuat));
    hash = talus_hash(hash, &bodies->velocity[slot], sizeof(TalusVec3));
    return talus_hash(hash, &bodies->spin[slot], sizeof(TalusVec3));
}

/* Returns the sum, modulo 2^64, of the hashes of all ranks, of which only the first counts the time. */
static uint64_t join_hashes(const TalusWorld *world, uint64_t hash)
{
    double time = talus_world_time(world);
    TalusComm *comm = world->ranks.comm;
    if (talus_comm_rank(comm) > 0)
        hash -= talus_hash(TALUS_HASH_SEED, &time, sizeof time);
    int64_t half[2] = {(int64_t)(hash & UINT32_MAX), (int64_t)(hash >> 32)};
    if (talus_comm_add_counts(comm, half, 2) != TALUS_OK)
        return 0;
    return (uint64_t)half[0] + ((uint64_t)half[1] << 32);
}

uint64_t talus_world_hash(const TalusWorld *world)
{
    const TalusBodies *bodies = &world->bodies;
    talus_world_refresh(world, false);
    double time = talus_world_time(world);
    uint64_t hash = talus_hash(TALUS_HASH_SEED, &time, sizeof time);
    for (int i = 0; i < bodies->counts.slots; i++)
        if (bodies->shape[i] >= 0)
            hash += hash_body(bodies, i); /* a sum modulo 2^64 is the same in any order of bodies */
    return join_hashes(world, hash);
}
