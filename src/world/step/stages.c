/* world/step/stages.c - the stages of a step, carried out by the world's engine (engine/engine.h).
 *
 * Between the engine's operations the world handles driven bodies, joints, sleeping bodies and the energy ledger. Each
 * stage adds its wall time to world->info. */
#include "world/step/stages.h"
#include "world/state.h"

#include "base/profile.h"
#include "base/timer.h"
#include "collide/period.h"

#include <float.h>
#include <math.h>

/* compliance added for wedged bodies (step.c), over (N + E)_nn */
static const double softening = 1e-3;

/* begin_stage starts a stage of the profile and returns the time; end_stage ends it and returns its seconds. */
static double begin_stage(const char *name)
{
    talus_profile_set_stage(name);
    return talus_now();
}

static double end_stage(double start)
{
    talus_profile_set_stage("");
    return talus_now() - start;
}

/* ---- detection ---- */

TalusDetectOptions talus_detect_options(const TalusWorld *world, double h)
{
    bool attract = world->materials.any_cohesion;
    double envelope =
        attract ? fmax(world->def.envelope, world->def.cohesion_range) : world->def.envelope;
    /* Envelopes grow by friction times sliding speed, the speed at which ccp opens a sliding contact. A coefficient
     * above 1 counts as 1, so that envelopes stay small; contacts with such a coefficient may leave their envelope. */
    TalusDetectOptions options = {h, envelope, world->reference_speed + talus_cell_closing(world),
                                  fmin(world->materials.max_friction, 1.0)};
    return options;
}

/* After a detection: stores its counts in the world and marks the host's contacts stale. */
static void store_counts(TalusWorld *world, const TalusEngineCounts *counts)
{
    talus_mirror_mark_contacts_stale(world);
    world->bodies.counts.detected = world->bodies.counts.created;
    world->contact_count = counts->contacts;
    world->min_size = counts->min_size;
    world->clipped_bodies = counts->clipped_bodies;
}

/* Uploads the host's changes and the targets of driven bodies, which halos have too, then detects the contacts of a
 * part. */
static TalusStatus upload_and_detect(TalusWorld *world, double h)
{
    TalusEngineCounts counts;
    talus_drives_set_targets(world, h);
    talus_cell_begin_part(world);
    TalusDetectOptions options = talus_detect_options(world, h);
    TALUS_TRY(talus_ranks_make_halo(world, &options));
    TALUS_TRY(talus_mirror_upload(world));
    TALUS_TRY(talus_mirror_upload_driven(world));
    TALUS_TRY(world->engine.ops->detect(world->engine.self, &options, world->def.gravity,
                                        (long long)world->steps + 1, &counts));
    store_counts(world, &counts);
    return TALUS_OK;
}

TalusStatus talus_stage_detect(TalusWorld *world, double h)
{
    double start = begin_stage("detect");
    bool woken;
    TALUS_TRY(talus_sleep_reserve(world));
    talus_compliance_begin_part(world);
    do {
        TALUS_TRY(upload_and_detect(world, h));
        TALUS_TRY(talus_sleep_wake_disturbed(world, &woken));
    } while (woken); /* woken bodies have undetected contacts */
    world->info.detect_seconds += end_stage(start);
    return TALUS_OK;
}

/* ---- the problem ---- */

/* Returns the sum of the magnitudes of the forces on free and sleeping bodies, N. It is exact, so that it does not depend
 * on the slots of bodies. */
static double sum_forces(const TalusWorld *world)
{
    TalusSum sum = {0};
    for (int i = 0; i < world->forces.count && i < world->bodies.counts.slots; i++) {
        double size = talus_norm(world->forces.force[i]);
        if (size != 0.0 && talus_slot_is_dynamic(&world->bodies, i))
            talus_sum_add(&sum, &size, 1);
    }
    talus_comm_add_sums(world->ranks.comm, &sum, 1);
    return talus_sum_value(&sum);
}

/* Returns an upper bound, N s, of the impulse of one contact by weight, momentum (the sum of m |v| is at most sqrt(2
 * mass kinetic)) and applied forces, times a factor for arches and wedges. Impulses can be larger where bodies are
 * squeezed between others that do not yield, or pressed by drives and joints (hardening_ratio). */
static double impulse_limit(TalusWorld *world, double h)
{
    const double factor = 16.0;
    double mass = world->masses.sum, kinetic = fmax(world->kinetic + world->exchange_kinetic, 0.0);
    double sum =
        mass * (world->gravity_norm * h + world->reference_speed) + sqrt(2.0 * mass * kinetic);
    return factor * (sum + h * sum_forces(world));
}

/* Returns TalusBuildOptions.hardening_ratio: 0, or 50 in a world with drives or joints, which may press with any force.
 * With 50 the overlap stays within twice its limit up to 5,000 times the force of a linear spring at the limit. */
static double hardening_ratio(const TalusWorld *world)
{
    return world->drives > 0 || world->joints.count > 0 ? 50.0 : 0.0;
}

/* Returns the speed, m/s, below which contacts do not rebound in a part of length h. */
static double rebound_speed(const TalusWorld *world, double h)
{
    return world->def.restitution_threshold * world->gravity_norm * h;
}

/* Returns the options for the problem of a part. */
static TalusBuildOptions make_build_options(TalusWorld *world, double h, bool soften)
{
    bool has_gravity = world->gravity_norm > 0.0;
    double compliance = world->compliance;
    TalusBuildOptions options = {
        .h = h,
        .impulse_ratio = world->impulse_step > 0.0 ? h / world->impulse_step : 0.0,
        /* with gravity in units of sqrt(g size) of each contact (talus_contact_bias), else in m/s */
        .recovery = world->def.recovery * (has_gravity ? 1.0 : world->reference_speed),
        .gravity = world->gravity_norm,
        /* the stiffness of a whole step in its parts too, so that halving does not throw resting bodies up */
        .compliance = compliance * (world->def.step / h) * (world->def.step / h),
        .elastic_overlap = world->def.elastic_overlap,
        .impulse_limit = compliance > 0.0 ? impulse_limit(world, h) : 0.0,
        .hardening_ratio = hardening_ratio(world),
        .soften = soften ? softening : 0.0,
        .gravity_change = talus_scale(h, world->def.gravity),
        /* impacts that propagate are over before the problem is built */
        .rebound_speed =
            world->def.impacts == TALUS_IMPACTS_PROPAGATING ? INFINITY : rebound_speed(world, h),
        .cohesion_range = world->def.cohesion_range,
    };
    return options;
}

TalusStatus talus_stage_build(TalusWorld *world, double h, bool soften)
{
    double start = begin_stage("build");
    TalusBuildReport report;
    TalusOperator *op;
    double *gamma;
    world->build_options = make_build_options(world, h, soften);
    if (world->joints.count > 0 || world->joints.exchange.problem)
        TALUS_TRY(talus_joints_upload(world, h));
    TALUS_TRY(
        world->engine.ops->build(world->engine.self, &world->build_options, &op, &gamma, &report));
    if (op)
        talus_problem_lend(world->problem, world->backend, op, gamma);
    world->penetration_mean = report.penetration_mean;
    world->penetration_max = report.penetration_max;
    world->info.build_seconds += end_stage(start);
    return TALUS_OK;
}

/* ---- impacts that propagate ---- */

/* Largest number of detections in a part that impacts call for. */
enum { MAX_IMPACT_DETECTIONS = 32 };

/* Returns the least speed of impacts in a part of length h, m/s: that of rebounds; no less than what solves resolve. */
static double least_impact_speed(const TalusWorld *world, double h)
{
    double resolved = fmax(world->def.tolerance, 0x1p-30) * world->reference_speed;
    return fmax(rebound_speed(world, h), resolved);
}

/* Adds works and numbers of impacts to the step's report. */
static void report_impacts(TalusWorld *world, const TalusEngineImpacts *part)
{
    TalusLedger *ledger = &world->info.ledger;
    TalusImpactSummary *sum = &world->info.impacts;
    ledger->kinetic_change += part->kinetic_change;
    ledger->impact += part->impact;
    ledger->friction += part->friction;
    ledger->driven += part->driven;
    sum->contacts += part->contacts;
    sum->rounds += part->rounds;
    sum->inexact += part->unsettled + part->left;
}

/* Makes the impacts of the contacts in the list, then detects with the velocities after them. *done: false if some
 * contacts still closed when the rounds ended. */
static TalusStatus propagate_and_detect(TalusWorld *world, const TalusImpactOptions *options,
                                        bool *done)
{
    TalusEngineImpacts part;
    TALUS_TRY(talus_stage_snapshot(world, true)); /* velocities change before the solve */
    TALUS_TRY(talus_probes_request_sums(world));
    TALUS_TRY(world->engine.ops->propagate_impacts(world->engine.self, options, &part));
    talus_mirror_mark_bodies_stale(world);
    TALUS_TRY(talus_probes_add_sums(world));
    report_impacts(world, &part);
    *done = part.left == 0;
    return talus_stage_detect(world, options->h);
}

TalusStatus talus_stage_impacts(TalusWorld *world, double h)
{
    TalusImpactOptions options = {h, least_impact_speed(world, h)};
    int64_t closing;
    double fastest;
    if (world->def.impacts != TALUS_IMPACTS_PROPAGATING || !world->materials.any_restitution)
        return TALUS_OK;
    if (world->joints.count > 0) /* those of a state that was loaded under another def */
        return talus_fail_key("impacts", TALUS_ERR_UNSUPPORTED,
                              "impacts that propagate do not pass through joints, of which the "
                              "world has %d; simultaneous impacts do",
                              world->joints.count);
    for (int k = 0;; k++) {
        bool done;
        TALUS_TRY(
            world->engine.ops->find_impacts(world->engine.self, &options, &closing, &fastest));
        /* impacts that come after others in the same part end where they are negligible beside those */
        options.least_speed = fmax(options.least_speed, 0x1p-30 * fastest);
        if (closing == 0)
            return TALUS_OK;
        if (k == MAX_IMPACT_DETECTIONS) {
            world->info.impacts.inexact += closing;
            return TALUS_OK;
        }
        TALUS_TRY(propagate_and_detect(world, &options, &done));
        if (!done)
            return TALUS_OK;
    }
}

/* ---- after a solve ---- */

/* Two bodies without a contact are farther apart than their envelope. They touch within h only if the changes of their
 * velocities add up to more than twice this limit. */
double talus_velocity_change_limit(const TalusWorld *world, double h)
{
    return 0.5 * world->def.envelope * world->min_size / h + world->reference_speed;
}

TalusStatus talus_stage_velocities(TalusWorld *world, double h)
{
    double start = begin_stage("solve");
    TALUS_TRY(world->engine.ops->compute_velocities(
        world->engine.self, talus_velocity_change_limit(world, h), &world->velocities_changed,
        &world->overlap_ratio));
    world->info.solve_seconds += end_stage(start);
    return TALUS_OK;
}

TalusStatus talus_stage_find_missing(TalusWorld *world, double h, bool *missing)
{
    TalusDetectOptions options = talus_detect_options(world, h);
    TalusEngineCounts counts;
    *missing = world->velocities_changed;
    if (!*missing)
        return TALUS_OK;
    double start = begin_stage("detect");
    TALUS_TRY(talus_ranks_widen_halo(world, &options, talus_velocity_change_limit(world, h)));
    TALUS_TRY(world->engine.ops->find_missing(
        world->engine.self, &options, talus_velocity_change_limit(world, h),
        world->def.tolerance * world->reference_speed, missing));
    world->engine.ops->get_counts(world->engine.self, &counts);
    world->clipped_bodies = counts.clipped_bodies;
    TALUS_TRY(talus_comm_add_counts(world->ranks.comm, &world->clipped_bodies, 1));
    world->info.detect_seconds += end_stage(start);
    return TALUS_OK;
}

TalusStatus talus_stage_redetect(TalusWorld *world, double h)
{
    double start = begin_stage("detect");
    TalusDetectOptions options = talus_detect_options(world, h);
    TalusEngineCounts counts;
    TALUS_TRY(world->engine.ops->store_impulses(world->engine.self));
    TALUS_TRY(talus_joints_download_impulses(world));
    world->impulse_step = h;
    TALUS_TRY(
        world->engine.ops->redetect(world->engine.self, &options, world->def.gravity, &counts));
    store_counts(world, &counts);
    world->info.detect_seconds += end_stage(start);
    return TALUS_OK;
}

/* ---- integration ---- */

/* Copies the summary to world->info and adds the stiffness number kappa (docs/reference/glossary.md). o->mean is
 * overlap over size, half a diameter. */
static void report_overlap(TalusWorld *world, const TalusEngineOverlap *o)
{
    world->info.overlap = (TalusOverlapSummary){
        .loaded = o->loaded,
        .mean = o->mean,
        .p99 = o->p99,
        .max = o->max,
        .kappa = o->mean > 0.0 ? 2.0 / o->mean : INFINITY,
    };
}

/* Adds the engine's energies and works of a part to the ledger of the step; updates world->elastic and
 * world->kinetic. */
static void add_to_ledger(TalusWorld *world, const TalusEngineLedger *part)
{
    TalusLedger *sum = &world->info.ledger;
    sum->kinetic = part->kinetic;
    sum->potential = part->potential;
    sum->elastic = part->elastic;
    sum->elastic_change += part->elastic - world->elastic;
    sum->stiffening += part->elastic_start - world->elastic;
    world->elastic = part->elastic;
    world->kinetic = fmin(part->kinetic, DBL_MAX); /* states hold finite numbers */
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
    talus_cell_add_part(world, part);
}

/* Moves bodies back into the period. If gravity has a component along a period, as on a slope, that changes their
 * potential energy; the change counts as exchange in the ledger. */
static TalusStatus wrap_bodies(TalusWorld *world, double h)
{
    TalusLedger *ledger = &world->info.ledger;
    double lifted;
    if (!talus_has_period(&world->def.period))
        return TALUS_OK;
    if (world->def.cell.on)
        return talus_cell_finish_part(world, h);
    TALUS_TRY(world->engine.ops->wrap_bodies(world->engine.self, world->def.gravity, &lifted));
    ledger->potential += lifted;
    ledger->potential_change += lifted;
    ledger->exchange += lifted;
    return TALUS_OK;
}

TalusStatus talus_stage_integrate(TalusWorld *world, double h)
{
    double start = begin_stage("integrate");
    TalusEngineLedger ledger;
    TALUS_TRY(talus_probes_request_sums(world));
    TALUS_TRY(talus_joints_prepare_projection(world));
    TALUS_TRY(world->engine.ops->integrate(world->engine.self, h, world->def.gravity,
                                           (long long)world->steps + 1, &ledger));
    talus_mirror_mark_bodies_stale(world);
    talus_mirror_mark_contacts_stale(world);
    TALUS_TRY(talus_probes_add_sums(world));
    add_to_ledger(world, &ledger);
    report_overlap(world, &ledger.overlap);
    world->info.ledger.potential += talus_sleep_potential(world);
    talus_drives_reach_targets(world);
    if (world->joints.count > 0)
        TALUS_TRY(talus_joints_finish_part(world, h));
    TALUS_TRY(wrap_bodies(world, h));
    world->impulse_step = h;
    world->info.integrate_seconds += end_stage(start);
    return TALUS_OK;
}

/* ---- snapshot and rollback ---- */

/* Copies contacts and the warm starts of joints. */
static TalusStatus snapshot_contacts(TalusWorld *world)
{
    TALUS_TRY(world->engine.ops->snapshot_contacts(world->engine.self));
    TALUS_TRY(talus_ranks_snapshot(world));
    world->snapshot.impulse_step = world->impulse_step;
    TALUS_TRY(talus_joints_snapshot(world));
    world->snapshot.contacts = true;
    return TALUS_OK;
}

TalusStatus talus_stage_snapshot(TalusWorld *world, bool states)
{
    if (!world->snapshot.contacts)
        TALUS_TRY(snapshot_contacts(world));
    if (states && !world->snapshot.states) {
        TALUS_TRY(world->engine.ops->snapshot_states(world->engine.self));
        world->snapshot.states = true;
    }
    return TALUS_OK;
}

/* If the engine fails here, its impulses are lost: impulse_step 0 makes the next build start from zero impulses. If the
 * device itself is lost, later calls fail too. */
void talus_stage_rollback(TalusWorld *world)
{
    TalusStatus status = world->engine.ops->rollback(world->engine.self, world->snapshot.states);
    talus_ranks_rollback(world);
    talus_mirror_mark_bodies_stale(world); /* talus_sleep_wake_disturbed may have downloaded them */
    talus_mirror_mark_contacts_stale(world);
    talus_joints_rollback(world);
    TALUS_THEN(status, talus_mirror_download_driven(world));
    if (status == TALUS_OK && world->joints.count > 0)
        status = talus_joints_download_bodies(world);
    world->impulse_step = status == TALUS_OK ? world->snapshot.impulse_step : 0.0;
}

/* ---- the problem of a step, lent to the caller ---- */

/* Detects and builds with the CPU engine in place of the world's. */
static TalusStatus build_on_host(TalusWorld *world)
{
    TalusEngineHandle on = world->engine;
    world->engine = world->host;
    TalusStatus status = talus_stage_detect(world, world->def.step);
    TALUS_THEN(status, talus_stage_build(world, world->def.step, false));
    world->engine = on;
    return status;
}

/* Uses the bodies as they are, without arrivals and sinks, which belong to the step. Builds on the host whatever the
 * backend, so that the caller can read the problem's arrays. */
TalusStatus talus_world_build_part(TalusWorld *world, TalusProblem **problem)
{
    *problem = NULL;
    TALUS_TRY(talus_world_download_bodies(world));
    TALUS_TRY(talus_world_download_contacts(world));
    world->part_time = talus_time(world);
    talus_drives_snapshot(world);
    talus_sleep_begin_step(world);
    TalusStatus status = build_on_host(world);
    talus_drives_rollback(world); /* restores their velocities; the problem has copies */
    talus_sleep_rollback(world);
    TALUS_TRY(status);
    if (world->clipped_bodies > 0)
        talus_log_to(
            &world->log, TALUS_LOG_WARNING, "build.clipped",
            "step %lld: bodies (%lld) are so fast that the step takes them a quarter of a period or "
            "past the room beside a wall; a run would halve it, and the problem of the whole step "
            "may lack contacts of theirs",
            (long long)world->steps + 1, (long long)world->clipped_bodies);
    talus_outside_note_lent(world);
    *problem = world->problem;
    return TALUS_OK;
}

TalusStatus talus_world_build(TalusWorld *world, TalusProblem **problem)
{
    *problem = NULL;
    TALUS_TRY(talus_ranks_refuse(world, "problem to lend"));
    return talus_world_build_part(world, problem);
}
