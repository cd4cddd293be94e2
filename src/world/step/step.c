/* world/step/step.c - one step: arrivals, detect, build, solve, integrate.
 *
 * Engines carry out the stages (stages.c); the decisions between them are made here.
 *
 * The state of free bodies is not written before the solved velocities have been checked, so most failed steps need no
 * snapshot. What changes earlier is rolled back: arrivals and sinks (a journal, source.c), the velocities of driven
 * bodies (drive.c), what was woken (sleep.c) and the solver's state (saved before the step). Every attempt detects
 * anew, which gives the same contacts and impulses from the same state.
 *
 * A solve that misses its tolerance follows the world's policy. HALVE repeats the step as two of half the length, each
 * of which may be halved again, to a sixteenth. A snapshot is taken before (the first half may succeed and the second
 * fail), before redetection and repeated solves of too soft contacts, which replace impulses, and before a step with
 * joints (advance). Arrivals happen once for the whole step. An infeasible or jammed solve (is_wedged) is not halved,
 * since a wedge stays a wedge: it is repeated with normal compliance 1e-3 N_nn on every contact, which has a solution,
 * and keeps its outcome.
 *
 * Whatever the policy, a step is halved if a body moves farther than one image of a period allows (collide/fit.h): two
 * halves find contacts that the whole would miss. Bodies that are too fast even in a sixteenth are reported. */
#include "world/state.h"
#include "world/step/stages.h"

enum { MAX_HALVINGS = 4, MAX_REDETECTIONS = 4, MAX_STIFFENINGS = 8 };

/* Overlap by relative compliance over its limit, above which a step is solved again, stiffer. */
static const double TOO_SOFT = 1.1;

/* Where compliant contacts are found on the way and a step takes more than MANY iterations, as in a bed that collapses, a rough solve
 * comes first, to ROUGH times the tolerance: with an accurate one from there it takes up to a third fewer products
 * than accurate ones alone. */
static const double ROUGH = 10.0;
enum { MANY = 64 };

/* Takes a snapshot of engine and joints, unless this step has one already. */
static TalusStatus take_snapshot(TalusWorld *world)
{
    if (!world->snapshot.taken)
        TALUS_TRY(talus_stage_snapshot(world));
    world->snapshot.taken = true;
    return TALUS_OK;
}

static TalusStatus save_solver(TalusWorld *world)
{
    size_t size = talus_solver_state_size(world->solver);
    TALUS_TRY(TALUS_GROW(world->solver_state, size, 0, "solver state"));
    if (size)
        talus_solver_state_save(world->solver, world->solver_state);
    world->solver_state_size = size;
    return TALUS_OK;
}

/* ---- solve ---- */

/* Adds the cost of a solve to that of other solves of the step; memory is the largest of both. */
static void add_cost(TalusSolveInfo *sum, const TalusSolveInfo *part)
{
    sum->iterations += part->iterations;
    sum->products += part->products;
    sum->updates += part->updates;
    sum->factorisations += part->factorisations;
    sum->seconds += part->seconds;
    if (part->memory_bytes > sum->memory_bytes)
        sum->memory_bytes = part->memory_bytes;
}

/* Adds the solve of a part to the step's report: costs add up; of residuals and outcomes the worst stays. */
static void report_solve(TalusSolveInfo *sum, const TalusSolveInfo *part)
{
    add_cost(sum, part);
    sum->solver = part->solver;
    sum->residual.rms = fmax(sum->residual.rms, part->residual.rms);
    sum->rounding = fmax(sum->rounding, part->rounding);
    sum->jammed |= part->jammed;
    sum->residual.max = fmax(sum->residual.max, part->residual.max);
    sum->start_residual = fmax(sum->start_residual, part->start_residual);
    if (part->outcome > sum->outcome)
        sum->outcome = part->outcome;
}

/* Fails with what the solver came to: a finite residual, far above that of zero impulses, or none. */
static TalusStatus fail_diverged(const TalusWorld *world, const TalusSolveInfo *part)
{
    long long step = (long long)world->steps + 1;
    if (isfinite(part->rejected_residual) && part->rejected_residual > 0.0)
        return talus_fail(TALUS_ERR_NUMERIC,
                          "step %lld: solver %s diverged: residual %.3g m/s, against %.3g m/s of "
                          "zero impulses",
                          step, part->solver, part->rejected_residual, part->residual.rms);
    return talus_fail(TALUS_ERR_NUMERIC, "step %lld: solver %s met a NaN or infinity", step,
                      part->solver);
}

/* Solves once with max_iterations - used iterations, then computes the velocities. accuracy: tolerance over the step's.
 * Without blocks nothing is solved and the outcome is CONVERGED. Fails if the solver diverged. */
static TalusStatus solve_once(TalusWorld *world, double h, int used, double accuracy,
                              TalusSolveInfo *part)
{
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = accuracy * world->def.tolerance * world->reference_speed;
    options.norm = world->def.norm;
    options.reference_speed =
        accuracy * world->reference_speed; /* the same method for any accuracy */
    options.max_iterations = world->def.max_iterations - used;
    *part = (TalusSolveInfo){.outcome = TALUS_OUTCOME_CONVERGED, .solver = "none"};
    if (world->contact_count + world->joints.kept + world->joints.free > 0)
        TALUS_TRY(talus_solver_solve(world->solver, world->problem, &options, part));
    world->info.solve_seconds += part->seconds;
    if (part->outcome == TALUS_OUTCOME_DIVERGED)
        return fail_diverged(world, part);
    return talus_stage_solved(world, h);
}

/* True if the problem is infeasible, or if the budget is spent and the solver found bodies held between others by
 * friction (jammed). */
static bool is_wedged(const TalusSolveInfo *part)
{
    return part->outcome == TALUS_OUTCOME_INFEASIBLE ||
           (part->outcome == TALUS_OUTCOME_BUDGET && part->jammed);
}

static void warn_wedged(TalusWorld *world, const TalusSolveInfo *part)
{
    bool proven = part->outcome == TALUS_OUTCOME_INFEASIBLE;
    bool *said = proven ? &world->said_infeasible : &world->said_jammed;
    if (!*said)
        talus_log_to(&world->log, TALUS_LOG_WARNING, proven ? "step.infeasible" : "step.jammed",
                     "step %lld: bodies are %s; solved with normal compliance (said once)",
                     (long long)world->steps + 1,
                     proven ? "wedged between fixed ones, or their joints contradict each other"
                            : "held between others by friction, and no solution was found");
    *said = true;
}

/* Solves again while relative compliance lets some contact overlap by more than TOO_SOFT times its limit, as at the
 * first impact of a heavy body: compliances then follow the impulses just found. */
static TalusStatus solve_stiffer(TalusWorld *world, double h, int used, double accuracy,
                                 TalusSolveInfo *part)
{
    for (int k = 0; k < MAX_STIFFENINGS && world->strain > TOO_SOFT &&
                    used + part->iterations < world->def.max_iterations;
         k++) {
        TalusSolveInfo first = *part;
        TALUS_TRY(world->engine.ops->store_impulses(world->engine.self));
        TALUS_TRY(talus_joints_store_impulses(world));
        world->impulse_step = h;
        TALUS_TRY(talus_stage_build(world, h, false));
        TALUS_TRY(solve_once(world, h, used + first.iterations, accuracy, part));
        add_cost(part, &first);
        part->start_residual = first.start_residual;
    }
    return TALUS_OK;
}

/* Solves; if bodies are wedged, solves again with compliance and the whole budget, and keeps the first outcome. */
static TalusStatus solve(TalusWorld *world, double h, int used, double accuracy,
                         TalusSolveInfo *part)
{
    TALUS_TRY(solve_once(world, h, used, accuracy, part));
    if (world->strain > TOO_SOFT && !is_wedged(part)) {
        TALUS_TRY(take_snapshot(world)); /* the impulses will change */
        TALUS_TRY(solve_stiffer(world, h, used, accuracy, part));
    }
    if (!is_wedged(part))
        return TALUS_OK;
    warn_wedged(world, part);
    TalusSolveInfo first = *part;
    TALUS_TRY(talus_stage_build(world, h, true));
    TALUS_TRY(solve_once(world, h, 0, 1.0, part));
    part->outcome = first.outcome;
    part->jammed = first.jammed;
    add_cost(part, &first);
    return TALUS_OK;
}

/* ---- one part of a step ---- */

static bool missed(const TalusWorld *world, const TalusSolveInfo *part)
{
    if (part->outcome == TALUS_OUTCOME_BUDGET && world->def.tolerance == 0.0)
        return false; /* the user asked for a budget, not a tolerance */
    return part->outcome != TALUS_OUTCOME_CONVERGED;
}

/* Returns the residual in the norm of the tolerance. */
static double reached(const TalusWorld *world, const TalusSolveInfo *part)
{
    return world->def.norm == TALUS_NORM_MAX ? part->residual.max : part->residual.rms;
}

static TalusStatus fail_missed(const TalusWorld *world, const TalusSolveInfo *part)
{
    return talus_fail(TALUS_ERR_TOLERANCE,
                      "step %lld: %s after %d iterations: residual %.3g m/s, tolerance %.3g m/s",
                      (long long)world->steps + 1, talus_outcome_name(part->outcome),
                      part->iterations, reached(world, part),
                      world->def.tolerance * world->reference_speed);
}

/* Reports contacts and penetration of the first part that was solved and not halved by moves_too_far: the whole step,
 * unless bodies move too far in it. */
static void report_start(TalusWorld *world)
{
    if (world->start_reported)
        return;
    world->start_reported = true;
    world->info.contacts = world->contact_count;
    world->info.penetration_mean = world->penetration_mean;
    world->info.penetration_max = world->penetration_max;
}

/* Returns the iterations that count as used in a solve after redetection: at most three quarters of the budget, so that
 * a solve that missed its tolerance does not leave bodies without contacts; all if the user asked for a budget. */
static int used_before_redetection(const TalusWorld *world, int iterations)
{
    int most = world->def.max_iterations - world->def.max_iterations / 4;
    return world->def.tolerance > 0.0 && iterations > most ? most : iterations;
}

/* Redetects and solves again, at most MAX_REDETECTIONS times, while the solve brings bodies together that have no
 * contact and iterations are left. rough: the solve of `part` was to ROUGH; another follows in any case. */
static TalusStatus redetect_and_solve(TalusWorld *world, double h, bool rough, TalusSolveInfo *part)
{
    for (int k = 0; k < MAX_REDETECTIONS; k++) {
        TalusSolveInfo first = *part;
        int used = used_before_redetection(world, first.iterations);
        bool missed;
        if (used >= world->def.max_iterations)
            return TALUS_OK;
        TALUS_TRY(talus_stage_missed(world, h, &missed));
        if (!missed && !rough)
            return TALUS_OK;
        if (missed) {
            TALUS_TRY(take_snapshot(world)); /* the impulses will change */
            TALUS_TRY(talus_stage_redetect(world, h));
            TALUS_TRY(talus_stage_build(world, h, false));
        }
        TALUS_TRY(solve(world, h, used, 1.0, part));
        add_cost(part, &first);
        part->start_residual = first.start_residual;
        world->rough_first = missed && part->iterations > MANY;
        rough = false;
    }
    return TALUS_OK;
}

/* Solves, with contacts that are found on the way, roughly first if the last step suggests it. The outcome is that of an
 * accurate solve, for which redetect_and_solve keeps a quarter of the budget. */
static TalusStatus solve_and_redetect(TalusWorld *world, double h, TalusSolveInfo *part)
{
    bool rough = world->rough_first && world->built.compliance > 0.0 &&
                 world->def.tolerance > 0.0 && world->def.max_iterations >= 4;
    world->rough_first = false;
    TALUS_TRY(solve(world, h, 0, rough ? ROUGH : 1.0, part));
    return redetect_and_solve(world, h, rough && !is_wedged(part), part);
}

/* Advances by a part of the step: h is its length, the whole step's halved `depth` times. */
static TalusStatus advance(TalusWorld *world, double h, int depth);

/* Replaces a part of the step by two halves. `part`: the discarded solve of the whole; NULL: it was not solved. */
static TalusStatus advance_halves(TalusWorld *world, double h, int depth,
                                  const TalusSolveInfo *part)
{
    if (part)
        add_cost(&world->info.solve, part); /* only its cost counts */
    world->info.halvings = depth + 1 > world->info.halvings ? depth + 1 : world->info.halvings;
    TALUS_TRY(take_snapshot(world));
    TALUS_TRY(advance(world, 0.5 * h, depth + 1));
    return advance(world, 0.5 * h, depth + 1);
}

/* True if this part of the step must be halved because bodies move too far: radius plus motion exceeds a quarter of a
 * period or the space beside a wall (world->clipped counts them). In a sixteenth of the step they are reported
 * instead. */
static bool moves_too_far(TalusWorld *world, int depth)
{
    if (world->clipped == 0 || depth < MAX_HALVINGS)
        return world->clipped > 0;
    if (world->clipped > world->info.clipped)
        world->info.clipped = world->clipped;
    if (!world->said_clipped)
        talus_log_to(
            &world->log, TALUS_LOG_WARNING, "step.clipped",
            "step %lld: bodies (%d) are so fast that a sixteenth of the step takes them a quarter "
            "of a period or past the room beside a wall; contacts of theirs may be missed (said "
            "once; a shorter step sees them)",
            (long long)world->steps + 1, world->clipped);
    world->said_clipped = true;
    return false;
}

static TalusStatus advance(TalusWorld *world, double h, int depth)
{
    TalusSolveInfo part;
    TALUS_TRY(talus_stage_detect(world, h));
    if (moves_too_far(world, depth))
        return advance_halves(world, h, depth, NULL);
    TALUS_TRY(talus_stage_build(world, h, false));
    TALUS_TRY(solve_and_redetect(world, h, &part));
    if (moves_too_far(world, depth))
        return advance_halves(world, h, depth, &part);
    report_start(world);
    bool miss = missed(world, &part);
    if (miss && world->def.on_miss == TALUS_MISS_STOP)
        return fail_missed(world, &part);
    if (miss && world->def.on_miss == TALUS_MISS_HALVE && depth < MAX_HALVINGS && !is_wedged(&part))
        return advance_halves(world, h, depth, &part);
    world->info.missed |= miss;
    report_solve(&world->info.solve, &part);
    if (world->joints.count > 0)
        TALUS_TRY(take_snapshot(world)); /* joint projection may fail after the bodies have moved */
    TALUS_TRY(talus_stage_integrate(world, h));
    world->part_time += h;
    return TALUS_OK;
}

/* ---- the step ---- */

static TalusStatus try_step(TalusWorld *world, double length)
{
    world->snapshot.taken = world->start_reported = false;
    world->info = (TalusStepInfo){.length = length,
                                  .reference_speed = world->reference_speed,
                                  .tolerance = world->def.tolerance * world->reference_speed};
    world->part_time = talus_time(world);
    world->elastic_before = world->elastic;
    world->kinetic_before = world->kinetic;
    world->rough_first_before = world->rough_first;
    talus_probes_begin(world);
    talus_joints_begin(world);
    talus_drives_snapshot(world);
    talus_sleep_begin(world);
    TALUS_TRY(save_solver(world));
    TALUS_TRY(talus_sources_apply(world));
    return advance(world, length, 0);
}

/* Returns to the state before the failed step. */
static void take_back(TalusWorld *world)
{
    if (world->snapshot.taken)
        talus_stage_rollback(world);
    talus_drives_rollback(world);
    world->elastic = world->elastic_before;
    world->kinetic = world->kinetic_before;
    world->rough_first = world->rough_first_before;
    if (world->solver_state_size)
        (void)talus_solver_state_load(world->solver, world->solver_state,
                                      world->solver_state_size); /* its own bytes: cannot fail */
    talus_sources_rollback(world);
    talus_sleep_rollback(world);
}

static void warn_fallback(TalusWorld *world)
{
    const TalusStepInfo *info = &world->info;
    if (info->projection_fallbacks > 0 && !world->said_fallback)
        talus_log_to(
            &world->log, TALUS_LOG_WARNING, "step.projection",
            "step %lld: no impulse closes the joints of %d machine%s, which loses energy: its "
            "bodies turn too far in a step of %g s, or it is too taut or struck too hard for one; "
            "shorter steps help (said once; every step reports projection_fallbacks)",
            (long long)info->step, info->projection_fallbacks,
            info->projection_fallbacks > 1 ? "s" : "", info->length);
    world->said_fallback |= info->projection_fallbacks > 0;
}

/* Warns if the weight of one body takes it most of the way to the limit of its elastic overlap: the limit then holds it,
 * not the compliance that was asked for. world->strain is 0 where no contact has relative compliance. */
static void warn_soft(TalusWorld *world)
{
    const TalusWorldDef *def = &world->def;
    double compliance = def->compliance; /* TALUS_COMPLIANCE_AUTO, below 0, asks for none */
    double fall = world->gravity_norm * def->step * def->step;
    double limit = def->elastic_overlap * world->min_size;
    if (world->said_soft || !(world->strain > 0.0) || !(compliance * fall > 0.5 * limit))
        return;
    talus_log_to(&world->log, TALUS_LOG_WARNING, "step.soft",
                 "step %lld: compliance %g is more than elastic_overlap %g allows: its own weight "
                 "would press a body of size %.3g m in by %.2g m, and the limit is %.2g m, so "
                 "contacts are stiffer than asked; expected a compliance of at most %.2g, or "
                 "shorter steps (said once)",
                 (long long)world->info.step, compliance, def->elastic_overlap, world->min_size,
                 compliance * fall, limit, 0.1 * limit / fall);
    world->said_soft = true;
}

static void close_ledger(TalusWorld *world)
{
    TalusLedger *l = &world->info.ledger;
    /* before the energy of added bodies counts, whose rounding would hide this one */
    l->imbalance = l->kinetic_change + l->potential_change + l->elastic_change -
                   (l->friction + l->impact + l->stabilisation + l->stiffening + l->cohesion +
                    l->gravity_error + l->spin + l->joints + l->driven + l->applied +
                    l->projection + l->exchange);
    l->kinetic_change += world->exchange_kinetic;
    l->potential_change += world->exchange_potential;
    l->exchange += world->exchange_kinetic + world->exchange_potential;
    world->exchange_kinetic = world->exchange_potential = 0.0;
}

/* Completes a successful step. `end`: time at the end of a shortened step; NAN: the step was whole. */
static void report_step(TalusWorld *world, double end)
{
    TalusStepInfo *info = &world->info;
    talus_sleep_update(world);
    close_ledger(world);
    talus_probes_close(world, info->length);
    talus_joints_close(world, info->length);
    info->step = ++world->steps;
    if (!isnan(end)) {
        world->base_time = end;
        world->base_steps = world->steps;
    }
    info->time = talus_time(world);
    info->bodies = world->bodies.counts.living;
    world->overlap = info->overlap;
    world->last_compliance = world->compliance;
    warn_fallback(world);
    warn_soft(world);
    if (!info->missed)
        return;
    world->missed_steps++;
    if (!world->said_missed)
        talus_log_to(&world->log, TALUS_LOG_WARNING, "step.missed",
                     "step %lld: %s after %d iterations: residual %.3g m/s, tolerance %.3g m/s "
                     "(said once; every step reports what it reached)",
                     (long long)info->step, talus_outcome_name(info->solve.outcome),
                     info->solve.iterations, reached(world, &info->solve),
                     world->def.tolerance * world->reference_speed);
    world->said_missed = true;
}

static TalusStatus step(TalusWorld *world, double length, double end, TalusStepInfo *info)
{
    TalusStatus status = try_step(world, length);
    if (status != TALUS_OK) {
        take_back(world);
        return status;
    }
    talus_arrivals_report(world);
    talus_sources_commit(world);
    report_step(world, end);
    if (info)
        *info = world->info;
    return TALUS_OK;
}

TalusStatus talus_world_step(TalusWorld *world, TalusStepInfo *info)
{
    return step(world, world->def.step, NAN, info);
}

/* If more than one and less than 1.5 steps are left, two equal steps are made, or the last one would be shorter than
 * half a step. Overlaps and open joints are undone within one step, and forces are impulses over its length: a very
 * short step would eject resting bodies and report spurious forces. */
double talus_world_next_length(const TalusWorld *world, double time)
{
    const double slack = 1e-6;
    double left = time - talus_time(world), h = world->def.step;
    if (!(left > 2.0 * slack * h)) /* more than the rounding that a whole step may leave */
        return 0.0;
    if (left < (1.0 - slack) * h)
        return left;
    return left > (1.0 + slack) * h && left < 1.5 * h ? 0.5 * left : h;
}

TalusStatus talus_world_step_to(TalusWorld *world, double time, TalusStepInfo *info)
{
    double now = talus_time(world), length = talus_world_next_length(world, time);
    if (length == 0.0)
        return talus_reject("talus_world_step_to: time %g; expected one after the world's, %g",
                            time, now);
    if (length == world->def.step)
        return talus_world_step(world, info);
    return step(world, length, length == time - now ? time : now + length, info);
}
