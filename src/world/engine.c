/* world/engine.c - the stages of a step on an engine (backend/engine.h).
 *
 * Times are wall times: every stage ends with numbers that the host waits for. */
#include "world/internal.h"

#include "backend/backend.h"
#include "base/timer.h"

static const TalusEngineOps *ops_of(const TalusWorld *world)
{
    return world->backend->engine;
}

static TalusStatus find_contacts(TalusWorld *world, double h, bool again)
{
    TalusDetectOptions options = talus_detect_options(world, h);
    TalusEngineCounts counts;
    TALUS_TRY(ops_of(world)->detect(world->engine, &options, world->def.gravity, again, &counts));
    world->mirror.contacts_behind = true;
    world->contact_count = counts.contacts;
    world->least_size = counts.least_size;
    return TALUS_OK;
}

static TalusStatus detect(TalusWorld *world, double h)
{
    double start = talus_now();
    TALUS_TRY(talus_mirror_send(world));
    talus_drives_aim(world, h);
    TALUS_TRY(talus_mirror_send_driven(world));
    TALUS_TRY(find_contacts(world, h, false));
    world->info.detect_seconds += talus_now() - start;
    return TALUS_OK;
}

static TalusStatus look_again(TalusWorld *world, double h)
{
    double start = talus_now();
    TALUS_TRY(ops_of(world)->store_impulses(world->engine));
    TALUS_TRY(talus_desk_store(world));
    world->impulse_step = h;
    TALUS_TRY(find_contacts(world, h, true));
    world->info.detect_seconds += talus_now() - start;
    return TALUS_OK;
}

static TalusStatus build(TalusWorld *world, double h, bool soften)
{
    double start = talus_now();
    TalusBuildOptions options = talus_build_options(world, h, soften);
    TalusBuildReport report;
    TalusOperator *op;
    double *gamma;
    world->built = options;
    if (world->joints.living > 0 || world->joints.desk.problem)
        TALUS_TRY(talus_desk_send(world, h));
    TALUS_TRY(ops_of(world)->build(world->engine, &options, &op, &gamma, &report));
    talus_problem_lend(world->problem, world->backend, op, gamma);
    world->penetration_mean = report.penetration_mean;
    world->penetration_max = report.penetration_max;
    world->info.build_seconds += talus_now() - start;
    return TALUS_OK;
}

static TalusStatus solved(TalusWorld *world, double h)
{
    double start = talus_now(), limit = talus_surprise_limit(world, h);
    TALUS_TRY(ops_of(world)->solved(world->engine, limit, &world->surprised));
    world->info.solve_seconds += talus_now() - start;
    return TALUS_OK;
}

static bool surprised(TalusWorld *world, double h)
{
    (void)h;
    return world->surprised;
}

static void add_ledger(TalusLedger *sum, const TalusEngineLedger *part)
{
    sum->kinetic = part->kinetic;
    sum->potential = part->potential;
    sum->kinetic_change += part->kinetic_change;
    sum->potential_change += part->potential_change;
    sum->gravity_error += part->gravity_error;
    sum->spin += part->spin;
    sum->friction += part->friction;
    sum->stabilisation += part->stabilisation;
    sum->impact += part->impact;
    sum->cohesion += part->cohesion;
    sum->driven += part->driven;
    sum->applied += part->applied;
}

static TalusStatus integrate(TalusWorld *world, double h)
{
    double start = talus_now();
    TalusEngineLedger ledger;
    TALUS_TRY(talus_probes_ask(world));
    TALUS_TRY(talus_joints_aim(world));
    TALUS_TRY(ops_of(world)->integrate(world->engine, h, world->def.gravity,
                                       (long long)world->steps + 1, &ledger));
    world->mirror.bodies_behind = world->mirror.contacts_behind = true;
    TALUS_TRY(talus_probes_take(world));
    add_ledger(&world->info.ledger, &ledger);
    talus_drives_arrive(world);
    if (world->joints.living > 0)
        TALUS_TRY(talus_desk_close(world, h));
    world->impulse_step = h;
    world->info.integrate_seconds += talus_now() - start;
    return TALUS_OK;
}

static TalusStatus keep(TalusWorld *world)
{
    TALUS_TRY(ops_of(world)->backup(world->engine));
    world->backup.impulse_step = world->impulse_step;
    return talus_joints_keep(world);
}

/* Fails where the device does, and then every later call as well. */
static void go_back(TalusWorld *world)
{
    TalusStatus status = ops_of(world)->restore(world->engine);
    world->mirror.contacts_behind = true;
    talus_joints_go_back(world);
    if (status == TALUS_OK)
        status = talus_mirror_fetch_driven(world);
    if (status == TALUS_OK && world->joints.living > 0)
        status = talus_desk_fetch(world);
    world->impulse_step = status == TALUS_OK ? world->backup.impulse_step : 0.0;
}

const TalusStages talus_stages_engine = {
    .detect = detect,
    .build = build,
    .solved = solved,
    .surprised = surprised,
    .look_again = look_again,
    .integrate = integrate,
    .keep = keep,
    .go_back = go_back,
};
