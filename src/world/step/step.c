/* world/step/step.c - one step: arrivals, detect, impacts, build, solve, integrate.
 *
 * Engines carry out the stages (stages.c); the decisions between them are made here.
 *
 * The state of free bodies is not written before the solved velocities have been checked, so most failed steps need no
 * snapshot. Impacts that propagate write velocities before the build; they take one of contacts and states before. Changes before that check are rolled back one by one: arrivals and sinks (a journal, source.c), the
 * velocities of driven bodies (drive.c), bodies that were woken (sleep.c) and the solver's state (saved before the
 * step). Every attempt detects anew, which gives the same contacts and impulses from the same state.
 *
 * If a solve misses its tolerance, the world's policy on_miss applies. HALVE repeats the step as two steps of half the
 * length, each of which may be halved again, down to a sixteenth. A snapshot of the contacts is taken before redetection
 * and before solves with stiffer contacts, which replace impulses; one of contacts and states before halving (the first
 * half may succeed and the second fail) and before the integration of a world with joints (advance). Arrivals happen once for the whole
 * step. A step whose solve is infeasible or jammed (is_wedged) is not halved, since bodies stay wedged in shorter
 * steps: it is solved again with a normal compliance of 1e-3 (N + E)_nn added to every contact and joint limit. That
 * problem has a solution; the outcome that is reported stays infeasible or budget.
 *
 * Under every policy a step is halved if a body moves so far that contacts in periodic space may be missed
 * (collide/fit.h): two halves find contacts that the whole step would miss. Bodies that are too fast even in a
 * sixteenth of the step are reported. */
#include "world/state.h"
#include "world/step/stages.h"

#include "base/profile.h"
#include "problem/problem.h"

/* Limits per part: depth of halvings (a sixteenth of the step), redetections, solves with stiffer contacts in a row. */
enum { MAX_HALVINGS = 4, MAX_REDETECTIONS = 4, MAX_STIFFENINGS = 8 };

/* TalusWorld.overlap_ratio, the largest elastic overlap over its limit, above which a part is solved again with stiffer
 * contacts. */
static const double TOO_SOFT = 1.1;

/* A part begins with a rough solve, to ROUGH_FACTOR times the tolerance, if the last part found missing contacts and
 * took more than MANY_ITERATIONS iterations, as in a bed that collapses, and if contacts have relative compliance. A
 * rough solve and an accurate one after it take up to a third fewer products than accurate solves alone. */
static const double ROUGH_FACTOR = 10.0;
enum { MANY_ITERATIONS = 64 };

/* Copies the solver's state to world->solver_state, for rollback_step. */
static TalusStatus snapshot_solver(TalusWorld *world)
{
    size_t size = talus_solver_state_size(world->solver);
    TALUS_TRY(TALUS_GROW(world->solver_state, size, 0, "solver state"));
    if (size)
        talus_solver_state_save(world->solver, world->solver_state);
    world->solver_state_size = size;
    return TALUS_OK;
}

/* ---- solve ---- */

/* Adds the cost of a solve, `part`, to the cost of other solves of the step; memory is the larger of both. */
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

/* Adds the solve of a part to the step's report: costs are added; residuals and outcome are the worst of all parts. */
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

/* Returns TALUS_ERR_NUMERIC for a diverged solve; the message has the residual that the solver reached, if it is
 * finite. */
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

/* Solves once, with at most max_iterations - used iterations and tolerance_factor times the step's tolerance, then
 * computes the velocities. *part: output, the report of this solve alone. Without blocks nothing is solved and the
 * outcome is CONVERGED. Fails if the solver diverged. */
static TalusStatus solve_once(TalusWorld *world, double h, int used, double tolerance_factor,
                              TalusSolveInfo *part)
{
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = tolerance_factor * world->def.tolerance * world->reference_speed;
    options.norm = world->def.norm;
    /* the ratio of both is the same for any tolerance_factor, and so is the solver's choice of method */
    options.reference_speed = tolerance_factor * world->reference_speed;
    options.max_iterations = world->def.max_iterations - used;
    *part = (TalusSolveInfo){.outcome = TALUS_OUTCOME_CONVERGED, .solver = "none"};
    talus_profile_set_stage("solve");
    if (world->contact_count + world->joints.bounded + world->joints.free > 0)
        TALUS_TRY(talus_outside_solve(world, &options, part));
    else
        TALUS_TRY(talus_outside_check_empty(world));
    world->info.solve_seconds += part->seconds;
    if (part->outcome == TALUS_OUTCOME_DIVERGED)
        return fail_diverged(world, part);
    return talus_stage_velocities(world, h);
}

/* True if the problem is infeasible, or if the budget is spent and the solver found bodies held between others by
 * friction (jammed). */
static bool is_wedged(const TalusSolveInfo *part)
{
    return part->outcome == TALUS_OUTCOME_INFEASIBLE ||
           (part->outcome == TALUS_OUTCOME_BUDGET && part->jammed);
}

/* Logs, once per world and kind, that bodies are wedged (infeasible) or jammed. */
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

/* Solves again, at most MAX_STIFFENINGS times, while some contact with relative compliance overlaps by more than
 * TOO_SOFT times its limit, as at the first impact of a heavy body, and iterations are left. Each time the compliances
 * are taken at the impulses just found. *part: on entry the first solve; on return the last one, with the costs of
 * all. */
static TalusStatus solve_stiffer(TalusWorld *world, double h, int used, double tolerance_factor,
                                 TalusSolveInfo *part)
{
    for (int k = 0; k < MAX_STIFFENINGS && world->overlap_ratio > TOO_SOFT &&
                    used + part->iterations < world->def.max_iterations;
         k++) {
        TalusSolveInfo first = *part;
        TALUS_TRY(world->engine.ops->store_impulses(world->engine.self));
        TALUS_TRY(talus_joints_download_impulses(world));
        world->impulse_step = h;
        TALUS_TRY(talus_stage_build(world, h, false));
        TALUS_TRY(solve_once(world, h, used + first.iterations, tolerance_factor, part));
        add_cost(part, &first);
        part->start_residual = first.start_residual;
    }
    return TALUS_OK;
}

/* Solves the problem of a part, and again with stiffer contacts where overlaps are too large. If bodies are wedged,
 * solves once more with added compliance, the whole budget and the step's own tolerance; the outcome stays that of the
 * solve before. *part: output, the last solve with the costs of all. */
static TalusStatus solve_part(TalusWorld *world, double h, int used, double tolerance_factor,
                              TalusSolveInfo *part)
{
    TALUS_TRY(solve_once(world, h, used, tolerance_factor, part));
    if (world->overlap_ratio > TOO_SOFT && !is_wedged(part)) {
        TALUS_TRY(talus_stage_snapshot(world, false)); /* the impulses will change */
        TALUS_TRY(solve_stiffer(world, h, used, tolerance_factor, part));
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

/* True if the solve did not converge. A budget that is spent is no miss if the user asked for it alone (tolerance
 * 0). */
static bool misses_tolerance(const TalusWorld *world, const TalusSolveInfo *part)
{
    if (part->outcome == TALUS_OUTCOME_BUDGET && world->def.tolerance == 0.0)
        return false;
    return part->outcome != TALUS_OUTCOME_CONVERGED;
}

/* Returns the residual in the norm of the tolerance. */
static double residual_norm(const TalusWorld *world, const TalusSolveInfo *part)
{
    return world->def.norm == TALUS_NORM_MAX ? part->residual.max : part->residual.rms;
}

/* Returns TALUS_ERR_TOLERANCE with a message, for on_miss STOP. */
static TalusStatus fail_missed(const TalusWorld *world, const TalusSolveInfo *part)
{
    return talus_fail(TALUS_ERR_TOLERANCE,
                      "step %lld: %s after %d iterations: residual %.3g m/s, tolerance %.3g m/s",
                      (long long)world->steps + 1, talus_outcome_name(part->outcome),
                      part->iterations, residual_norm(world, part),
                      world->def.tolerance * world->reference_speed);
}

/* Copies contacts and penetration of the first part that was solved and not halved by moves_too_far to the step's info.
 * That part is the whole step, unless bodies move too far in it. */
static void report_start(TalusWorld *world)
{
    if (world->start_reported)
        return;
    world->start_reported = true;
    world->info.contacts = world->contact_count;
    world->info.penetration_mean = world->penetration_mean;
    world->info.penetration_max = world->penetration_max;
}

/* Returns the iterations that count as used before a solve after redetection: those used so far, but at most three
 * quarters of the budget, so that redetected contacts are solved even after a solve that missed its tolerance. With
 * tolerance 0, where the user asked for a budget, all iterations count. */
static int used_before_redetection(const TalusWorld *world, int iterations)
{
    int most = world->def.max_iterations - world->def.max_iterations / 4;
    return world->def.tolerance > 0.0 && iterations > most ? most : iterations;
}

/* Redetects and solves again, at most MAX_REDETECTIONS times, while the solve brings bodies together that have no
 * contact and iterations are left. rough: the solve of `part` was rough, so an accurate solve follows even if no
 * contact is missing. Sets world->rough_first for the next part, if it solves. *part: on entry the first solve; on
 * return the last one, with the costs of all and the start_residual of the first. */
static TalusStatus redetect_and_solve(TalusWorld *world, double h, bool rough, TalusSolveInfo *part)
{
    for (int k = 0; k < MAX_REDETECTIONS; k++) {
        TalusSolveInfo first = *part;
        int used = used_before_redetection(world, first.iterations);
        bool missing;
        if (used >= world->def.max_iterations)
            return TALUS_OK;
        TALUS_TRY(talus_stage_find_missing(world, h, &missing));
        if (!missing && !rough)
            return TALUS_OK;
        if (missing) {
            TALUS_TRY(talus_stage_snapshot(world, false)); /* the impulses will change */
            TALUS_TRY(talus_stage_redetect(world, h));
            TALUS_TRY(talus_stage_build(world, h, false));
        }
        TALUS_TRY(solve_part(world, h, used, 1.0, part));
        add_cost(part, &first);
        part->start_residual = first.start_residual;
        world->rough_first = missing && part->iterations > MANY_ITERATIONS;
        rough = false;
    }
    return TALUS_OK;
}

/* Solves a part and, while contacts are missing, redetects and solves again. The first solve is rough if
 * world->rough_first, contacts have relative compliance, the tolerance is above 0 and the budget is at least 4. The
 * outcome is that of an accurate solve, for which used_before_redetection leaves a quarter of the budget; if the rough
 * solve finds wedged bodies, it is the outcome of the rough solve. */
static TalusStatus solve_with_redetection(TalusWorld *world, double h, TalusSolveInfo *part)
{
    bool rough = world->rough_first && world->build_options.compliance > 0.0 &&
                 world->def.tolerance > 0.0 && world->def.max_iterations >= 4;
    world->rough_first = false;
    TALUS_TRY(solve_part(world, h, 0, rough ? ROUGH_FACTOR : 1.0, part));
    world->info.first_iterations += part->iterations;
    world->info.first_products += part->products;
    return redetect_and_solve(world, h, rough && !is_wedged(part), part);
}

/* Advances by a part of the step of length h: the whole step (depth 0) or the whole step halved `depth` times. */
static TalusStatus advance(TalusWorld *world, double h, int depth);

/* Advances by two halves in place of a part of length h, which was halved `depth` times. `part`: the discarded solve of
 * that part, whose cost is reported; NULL: it was not solved. */
static TalusStatus advance_halves(TalusWorld *world, double h, int depth,
                                  const TalusSolveInfo *part)
{
    if (part)
        add_cost(&world->info.solve, part);
    world->info.halvings = depth + 1 > world->info.halvings ? depth + 1 : world->info.halvings;
    TALUS_TRY(talus_stage_snapshot(world, true));
    talus_joints_leave_phases(world);
    TALUS_TRY(advance(world, 0.5 * h, depth + 1));
    return advance(world, 0.5 * h, depth + 1);
}

/* True if this part of the step must be halved because bodies move too far: radius plus motion exceeds a quarter of a
 * period or the space beside a wall (world->clipped_bodies counts such bodies and walls). In a sixteenth of the step
 * the result is false; their number goes to info.clipped, and a warning is logged once per world. */
static bool moves_too_far(TalusWorld *world, int depth)
{
    if (world->clipped_bodies == 0 || depth < MAX_HALVINGS)
        return world->clipped_bodies > 0;
    if (world->clipped_bodies > world->info.clipped)
        world->info.clipped = world->clipped_bodies;
    if (!world->said_clipped)
        talus_log_to(
            &world->log, TALUS_LOG_WARNING, "step.clipped",
            "step %lld: bodies (%lld) are so fast that a sixteenth of the step takes them a quarter "
            "of a period or past the room beside a wall; contacts of theirs may be missed (said "
            "once; a shorter step sees them)",
            (long long)world->steps + 1, (long long)world->clipped_bodies);
    world->said_clipped = true;
    return false;
}

static TalusStatus advance(TalusWorld *world, double h, int depth)
{
    TalusSolveInfo part;
    TALUS_TRY(talus_stage_detect(world, h));
    if (moves_too_far(world, depth))
        return advance_halves(world, h, depth, NULL);
    TALUS_TRY(talus_stage_impacts(world, h));
    TALUS_TRY(talus_stage_build(world, h, false));
    TALUS_TRY(solve_with_redetection(world, h, &part));
    if (moves_too_far(world, depth))
        return advance_halves(world, h, depth, &part);
    report_start(world);
    bool miss = misses_tolerance(world, &part);
    if (miss && world->def.on_miss == TALUS_MISS_STOP)
        return fail_missed(world, &part);
    if (miss && world->def.on_miss == TALUS_MISS_HALVE && depth < MAX_HALVINGS && !is_wedged(&part))
        return advance_halves(world, h, depth, &part);
    world->info.missed |= miss;
    report_solve(&world->info.solve, &part);
    if (world->joints.count > 0)
        TALUS_TRY(talus_stage_snapshot(
            world, true)); /* joint projection may fail after the bodies have moved */
    TALUS_TRY(talus_stage_integrate(world, h));
    world->part_time += h;
    return TALUS_OK;
}

/* ---- the step ---- */

/* Begins a step, applies sources and advances by `length`. On failure the caller calls rollback_step. */
static TalusStatus try_step(TalusWorld *world, double length)
{
    world->snapshot.contacts = world->snapshot.states = world->start_reported = false;
    world->info = (TalusStepInfo){.length = length,
                                  .reference_speed = world->reference_speed,
                                  .tolerance = world->def.tolerance * world->reference_speed};
    world->part_time = talus_time(world);
    world->elastic_before = world->elastic;
    world->kinetic_before = world->kinetic;
    world->rough_first_before = world->rough_first;
    talus_probes_begin_step(world);
    talus_joints_begin_step(world);
    talus_drives_snapshot(world);
    talus_sleep_begin_step(world);
    talus_cell_begin_step(world);
    TALUS_TRY(snapshot_solver(world));
    TALUS_TRY(talus_sources_apply(world));
    return advance(world, length, 0);
}

/* Returns to the state before the failed step. */
static void rollback_step(TalusWorld *world)
{
    if (world->snapshot.contacts)
        talus_stage_rollback(world);
    talus_drives_rollback(world);
    talus_cell_rollback(world);
    world->elastic = world->elastic_before;
    world->kinetic = world->kinetic_before;
    world->rough_first = world->rough_first_before;
    if (world->solver_state_size)
        /* cannot fail: the bytes are from the same solver */
        (void)talus_solver_state_load(world->solver, world->solver_state, world->solver_state_size);
    talus_sources_rollback(world);
    talus_sleep_rollback(world);
    talus_compliance_rollback(world);
}

/* Logs, once per world, that machines fell back in the projection of joints. */
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

/* Warns, once per world, if the compliance that was asked for lets a body sink by its own weight to more than half the
 * limit of elastic overlap: contacts are then stiffer than asked. world->overlap_ratio is 0 if no contact has relative
 * compliance. */
static void warn_soft(TalusWorld *world)
{
    const TalusWorldDef *def = &world->def;
    double compliance = def->compliance; /* TALUS_COMPLIANCE_AUTO is below 0: no warning */
    double fall = world->gravity_norm * def->step * def->step;
    double limit = def->elastic_overlap * world->min_size;
    if (world->said_soft || !(world->overlap_ratio > 0.0) || !(compliance * fall > 0.5 * limit))
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

/* Logs, once per world, that impacts were not carried to their end. */
static void warn_impacts(TalusWorld *world)
{
    const TalusImpactSummary *impacts = &world->info.impacts;
    if (impacts->inexact > 0 && !world->said_impacts)
        talus_log_to(
            &world->log, TALUS_LOG_WARNING, "step.impacts",
            "step %lld: impacts at contacts (%lld) were cut short after %lld rounds or are "
            "inexact: such contacts stop without rebound (said once; every step reports "
            "impacts_inexact; shorter steps help)",
            (long long)world->info.step, (long long)impacts->inexact, (long long)impacts->rounds);
    world->said_impacts |= impacts->inexact > 0;
}

/* Logs, once per world, that a step under Coulomb's law missed its tolerance in a world with high friction. */
static void warn_friction(TalusWorld *world)
{
    const double mu = world->materials.max_friction;
    if (world->said_friction || !(mu > TALUS_HIGH_FRICTION) ||
        world->def.friction.law != TALUS_LAW_COULOMB)
        return;
    talus_log_to(
        &world->log, TALUS_LOG_WARNING, "step.friction",
        "step %lld: missed with friction coefficients up to %g; exact Coulomb friction "
        "that high is hard to solve: a change of a normal impulse changes friction by mu "
        "times as much; the solver auto on the cpu gets farthest, and law ccp converges at "
        "any friction but lifts what slides (said once)",
        (long long)world->info.step, mu);
    world->said_friction = true;
}

/* Sets the imbalance, then adds the energy exchanged since the last step to the ledger. */
static void close_ledger(TalusWorld *world)
{
    TalusLedger *l = &world->info.ledger;
    /* before world->exchange_* is added, whose rounding would hide that of the step */
    l->imbalance = l->kinetic_change + l->potential_change + l->elastic_change -
                   (l->friction + l->impact + l->stabilisation + l->stiffening + l->cohesion +
                    l->gravity_error + l->spin + l->joints + l->driven + l->applied + l->cell +
                    l->projection + l->exchange);
    l->kinetic_change += world->exchange_kinetic;
    l->potential_change += world->exchange_potential;
    l->exchange += world->exchange_kinetic + world->exchange_potential;
    world->exchange_kinetic = world->exchange_potential = 0.0;
}

/* Completes a successful step: sleep, ledger, probes, joints, step count and time, info, warnings. `end`: time at the
 * end of a shortened step; NAN: the step was whole. */
static void finish_step(TalusWorld *world, double end)
{
    TalusStepInfo *info = &world->info;
    talus_compliance_finish_step(world);
    talus_sleep_update(world);
    close_ledger(world);
    talus_cell_finish_step(world);
    talus_probes_finish_step(world, info->length);
    talus_joints_finish_step(world, info->length);
    info->step = ++world->steps;
    if (!isnan(end)) {
        world->base_time = end;
        world->base_steps = world->steps;
    }
    info->time = talus_time(world);
    info->bodies = talus_world_living(world);
    world->overlap = info->overlap;
    warn_fallback(world);
    warn_impacts(world);
    warn_soft(world);
    if (!info->missed)
        return;
    warn_friction(world);
    world->missed_steps++;
    if (!world->said_missed)
        talus_log_to(&world->log, TALUS_LOG_WARNING, "step.missed",
                     "step %lld: %s after %d iterations: residual %.3g m/s, tolerance %.3g m/s "
                     "(said once; every step reports what it reached)",
                     (long long)info->step, talus_outcome_name(info->solve.outcome),
                     info->solve.iterations, residual_norm(world, &info->solve),
                     world->def.tolerance * world->reference_speed);
    world->said_missed = true;
}

/* Makes a step of `length`, or returns to the state before it on failure. `end`: as in finish_step. */
static TalusStatus step_by(TalusWorld *world, double length, double end, TalusStepInfo *info)
{
    TALUS_TRY(talus_ranks_balance(world));
    talus_ranks_begin_work(world);
    TalusStatus status = try_step(world, length);
    talus_ranks_end_work(world);
    if (status != TALUS_OK) {
        rollback_step(world);
        return status;
    }
    talus_arrivals_report(world);
    talus_sources_commit(world);
    finish_step(world, end);
    if (info)
        *info = world->info;
    return TALUS_OK;
}

TalusStatus talus_world_step(TalusWorld *world, TalusStepInfo *info)
{
    return step_by(world, world->def.step, NAN, info);
}

TalusStatus talus_world_step_with(TalusWorld *world, const double *gamma, int size,
                                  TalusStepInfo *info)
{
    TALUS_TRY(talus_outside_give(world, gamma, size));
    TalusStatus status = talus_world_step(world, info);
    world->outside.gamma = NULL; /* a step that failed early has not taken them */
    return status;
}

/* If between 1 and 1.5 steps are left until `time`, returns half of the rest, so that two equal steps reach it: a whole
 * step would leave less than half a step. Overlaps and open joints are undone within one step, and forces are impulses
 * over its length: a very short step would eject resting bodies and report spurious forces. */
double talus_world_next_length(const TalusWorld *world, double time)
{
    const double slack = 1e-6;
    double left = time - talus_time(world), h = world->def.step;
    /* the slack exceeds what rounding may leave after a whole step */
    if (!(left > 2.0 * slack * h))
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
    return step_by(world, length, length == time - now ? time : now + length, info);
}
