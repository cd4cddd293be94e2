/* solvers/driver/driver.c - a solve session: its stages, their measured residual and their outcome.
 *
 * A session runs a list of stages, usually one: the requested solver, or those of its parts that it plans (`auto`). A
 * stage uploads the problem to its backend (problem/location.c), eliminates free joints if the solver allows it, and
 * measures the result with the backend's residual, in double precision. An algorithm stops on its own estimate of the
 * residual. If it claims convergence but the measured residual misses the tolerance, it resumes with a lower tolerance
 * for its estimate, within the same limits, where that may help (may_tighten). Counts, clock, observers and the
 * infeasibility monitor belong to the session (session.c). */
#include "solvers/driver/session.h"

#include "backend/part.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "solvers/driver/gathered.h"
#include "solvers/driver/outer.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* A residual above this factor times the residual of zero impulses counts as divergence. */
static const double DIVERGED_GROWTH = 1e3;

/* tolerance_factor is lowered only while it is above this; under Siconos's measure without limit. */
static const double LEAST_TOLERANCE_FACTOR = 1e-4;

TalusSolveOptions talus_solve_options_default(void)
{
    TalusSolveOptions options = {
        .tolerance = 1e-6, .norm = TALUS_NORM_RMS, .max_iterations = 10000};
    return options;
}

const char *talus_outcome_name(TalusOutcome outcome)
{
    static const char *const names[] = {"converged", "budget", "infeasible", "diverged"};
    return names[outcome];
}

/* ---- what solvers take ---- */

/* Fills *plan. TALUS_ERR_UNSUPPORTED: the solver does not take the problem's laws and sets, or not its backend. */
static TalusStatus plan_outer(const TalusSolver *s, const TalusProblem *problem,
                              TalusOuterKind kind, TalusOuterPlan *plan)
{
    const TalusSolverType *t = s->type;
    bool on_host = t->on_host && (!t->is_on_host || t->is_on_host(s->params));
    TALUS_TRY(talus_outer_plan(t, problem, kind, plan));
    if (on_host && !talus_backend_can(problem->backend, TALUS_CAP_HOST_MEMORY))
        return talus_solver_fail(t->name, TALUS_ERR_UNSUPPORTED,
                                 "%s runs on backend cpu alone, and this problem is on %s",
                                 t->on_host, problem->backend->name);
    return TALUS_OK;
}

TalusStatus talus_solver_supports(const TalusSolver *s, const TalusProblem *problem)
{
    TalusOuterPlan plan;
    return plan_outer(s, problem, TALUS_OUTER_AUTO, &plan);
}

/* ---- what a stage has reached ---- */

/* Measures the residual of gamma into info->residual. Writes the number that the tolerance applies to (rms, maximum or
 * Siconos's measure) to *figure, its rounding error to info->rounding. */
static TalusStatus measure_result(TalusSolve *solve, double *figure)
{
    TalusSolveInfo *info = solve->info;
    TalusNorm norm = solve->wanted->norm;
    TalusMetrics metrics;
    if (!solve->has_measured)
        talus_outer_measure(solve, solve->gamma, &solve->measured, &solve->measured_rounding);
    TALUS_TRY(solve->backend->check(solve->op->context));
    solve->has_measured = false;
    info->residual = solve->measured;
    const TalusResidual *rounding = &solve->measured_rounding;
    *figure = norm == TALUS_NORM_MAX ? info->residual.max : info->residual.rms;
    info->rounding = norm == TALUS_NORM_MAX ? rounding->max : rounding->rms;
    if (norm != TALUS_NORM_SICONOS)
        return TALUS_OK;
    talus_problem_download(solve->problem);
    TALUS_TRY(talus_problem_measure(solve->problem, solve->problem->gamma, &metrics));
    *figure = metrics.siconos;
    info->rounding = metrics.siconos_rounding;
    return TALUS_OK;
}

static const double NEAR = 2.0; /* (may_tighten) */

/* For an algorithm that claims convergence while figure plus rounding misses the tolerance: true if a lower tolerance
 * for its estimate may help. Never if the residual is 0 or rounding alone exceeds the tolerance. Else in two cases: the
 * estimate is another number than the figure (Siconos's measure, or the residual with eliminated joints, whose blocks
 * have other diagonals), or the figure is within NEAR times the tolerance, as an estimate in single precision may be too
 * low by some per cent. */
static bool may_tighten(const TalusSolve *solve, double figure)
{
    const TalusSolveOptions *wanted = solve->wanted;
    if (solve->info->residual.rms == 0.0 || !(solve->info->rounding < wanted->tolerance))
        return false;
    return wanted->norm == TALUS_NORM_SICONOS ||
           ((solve->reduced || figure <= NEAR * wanted->tolerance) &&
            talus_all_blocks(solve->op) > 0.0 && solve->tolerance_factor > LEAST_TOLERANCE_FACTOR);
}

/* Measures the result of one call of the algorithm. Outcome converged: figure plus rounding is within the tolerance;
 * budget: the algorithm claims convergence but misses it; else the outcome stays. *again: the algorithm must resume,
 * with the tolerance for its own estimate multiplied by half of (tolerance - rounding) / figure, at least 0.01 and at
 * most 0.5. In this way even Siconos's measure is reached, which no algorithm computes. */
static TalusStatus judge_result(TalusSolve *solve, bool *again)
{
    TalusSolveInfo *info = solve->info;
    double tolerance = solve->wanted->tolerance, now;
    bool claimed = info->outcome == TALUS_OUTCOME_CONVERGED;
    *again = false;
    TALUS_TRY(measure_result(solve, &now));
    if (tolerance > 0.0 && now + info->rounding <= tolerance)
        info->outcome = TALUS_OUTCOME_CONVERGED;
    else if (claimed)
        info->outcome = TALUS_OUTCOME_BUDGET;
    if (!claimed || info->outcome == TALUS_OUTCOME_CONVERGED || !may_tighten(solve, now))
        return TALUS_OK;
    talus_outer_tighten(solve, fmin(fmax(0.5 * (tolerance - info->rounding) / now, 1e-2), 0.5));
    *again = talus_solve_within_budget(solve);
    return TALUS_OK;
}

/* True if the residual is not finite, or more than DIVERGED_GROWTH times the residual of zero impulses. The residual of
 * zero impulses is measured only if the residual is also more than DIVERGED_GROWTH times that at the start; false if
 * there is no memory for zero impulses. */
static bool has_diverged(TalusSolve *solve)
{
    const TalusSolveInfo *info = solve->info;
    TalusInfeasibility *spare = solve->infeasibility; /* spare->delta is a free work vector */
    size_t n = (size_t)talus_problem_size(solve->problem);
    TalusResidual zero;
    if (!isfinite(info->residual.rms))
        return true;
    if (!(info->residual.rms > DIVERGED_GROWTH * info->start_residual) ||
        TALUS_RESERVE_VECTORS(solve, &spare->delta_memory, "zero impulses", &spare->delta) !=
            TALUS_OK)
        return false;
    solve->backend->vector.zero(solve->op, spare->delta, n);
    talus_outer_measure(solve, spare->delta, &zero, NULL);
    return info->residual.rms > DIVERGED_GROWTH * zero.rms;
}

/* Replaces a diverged result by zero impulses and sets the outcome to diverged; info->residual is then that of zero
 * impulses, info->rejected_residual that of the result. Converged results are not tested. */
static void reject_if_diverged(TalusSolve *solve)
{
    TalusSolveInfo *info = solve->info;
    size_t n = (size_t)solve->op->rows * (size_t)solve->op->blocks;
    if (info->outcome == TALUS_OUTCOME_CONVERGED || !has_diverged(solve))
        return;
    info->outcome = TALUS_OUTCOME_DIVERGED;
    info->rejected_residual = info->residual.rms;
    solve->backend->vector.zero(solve->op, solve->gamma, n);
    talus_observe_mark_replaced(solve);
    talus_outer_measure(solve, solve->gamma, &info->residual, NULL);
}

/* ---- memory ---- */

/* Bytes in use of host memory (base/memory.h) and of the backend's own memory. */
typedef struct Bytes {
    size_t host, device;
} Bytes;

/* Bytes in use of a backend's own memory; 0 if it has none. Also 0 for a problem lent by a world's step, where the
 * query would cost as much as a small solve. */
static size_t backend_bytes(const TalusSolve *solve)
{
    return solve->backend->memory && !solve->problem->lent ? solve->backend->memory() : 0;
}

/* Resets the peak of allocated memory and returns the bytes in use now. */
static Bytes begin_memory_count(const TalusSolve *solve)
{
    talus_memory_reset_peak();
    return (Bytes){talus_memory_now(), backend_bytes(solve)};
}

/* Raises info->memory_bytes to the peak of this stage, including memory that the solver held before; adds the memory
 * that stays allocated to solver->held. */
static void count_memory(TalusSolve *solve, Bytes before)
{
    TalusSolveInfo *info = solve->info;
    size_t after = backend_bytes(solve); /* of the whole device: another process may free some */
    size_t grown = after > before.device ? after - before.device : 0;
    size_t peak = talus_memory_peak() - before.host + grown + solve->solver->held;
    info->memory_bytes = peak > info->memory_bytes ? peak : info->memory_bytes;
    solve->solver->held += talus_memory_now() - before.host + grown;
}

/* ---- stages ---- */

/* Eliminates the free joints of a matrix-free problem if the solver works through products alone and the options do not
 * keep joints. */
static TalusStatus eliminate_joints(TalusSolve *solve)
{
    TalusReduced *reduced = &solve->solver->reduced;
    bool can = solve->type->through_products && solve->op->pair;
    if (!can || solve->op->joints == 0 || solve->options->keep_joints)
        return TALUS_OK;
    TALUS_TRY(talus_reduced_fill(reduced, solve->backend, solve->op));
    solve->reduced = reduced;
    solve->op = &reduced->op;
    return TALUS_OK;
}

/* Runs the algorithm until its measured residual is within the tolerance or it gives up. If elimination leaves no
 * blocks, only measures; without any blocks the outcome is converged at once. */
static TalusStatus run_to_tolerance(TalusSolve *solve)
{
    Bytes before = begin_memory_count(solve);
    talus_infeasibility_reset(solve->infeasibility);
    TalusStatus status = eliminate_joints(solve);
    bool empty = talus_all_blocks(solve->op) == 0.0, again = !empty || solve->reduced;
    if (empty)
        solve->info->outcome = TALUS_OUTCOME_CONVERGED;
    while (status == TALUS_OK && again) {
        if (!empty && !solve->stopped)
            status = talus_outer_run(solve);
        TALUS_THEN(status, judge_result(solve, &again));
    }
    count_memory(solve, before);
    return status;
}

/* Sets the options that algorithms see: norm and tolerance of a residual in m/s, and at most `limit` more iterations.
 * For Siconos's measure, which has no unit, algorithms first see the tolerance times the rms residual of zero
 * impulses. */
static void set_stage_options(TalusSolve *solve, int limit)
{
    TalusSolveOptions *options = &solve->limited;
    const int done = solve->info->iterations, left = solve->wanted->max_iterations - done;
    TalusMetrics metrics;
    *options = *solve->wanted;
    options->max_iterations = done + (limit < left ? limit : left);
    solve->options = options;
    if (options->norm != TALUS_NORM_SICONOS)
        return;
    options->norm = TALUS_NORM_RMS;
    if (talus_problem_measure(solve->problem, solve->problem->gamma, &metrics) == TALUS_OK)
        options->tolerance *= metrics.natural_at_zero;
}

/* Sets the fields of a stage except op, gamma and options. Loads external libraries with the clock stopped and plans
 * the outer loops. */
static TalusStatus begin_stage(TalusSolve *solve, TalusSolver *s)
{
    double before = talus_now();
    talus_solve_set_solver(solve, s);
    solve->infeasibility = &s->infeasibility;
    solve->observed = &s->observed;
    solve->tolerance_factor = 1.0;
    solve->resumed = solve->called = solve->stuck = solve->has_measured = false;
    solve->reduced = NULL;
    solve->info->outcome = TALUS_OUTCOME_BUDGET;
    solve->info->solver = s->type->name;
    TalusStatus status = s->type->load ? s->type->load() : TALUS_OK;
    solve->paused += talus_now() - before;
    TALUS_THEN(status, plan_outer(s, solve->problem, solve->wanted->outer.kind, &solve->plan));
    return status;
}

/* Uploads the problem to the backend and sets op and gamma of the stage. For Tresca's loop, Coulomb blocks become
 * prisms before the upload. */
static TalusStatus upload_problem(TalusSolve *solve)
{
    TalusProblem *problem = solve->problem;
    if (solve->plan.tresca)
        TALUS_TRY(talus_problem_set_prisms(problem, true));
    TalusStatus status = talus_problem_upload(problem);
    if (status != TALUS_OK && solve->plan.tresca)
        talus_problem_set_prisms(problem, false);
    solve->op = problem->solver_op;
    solve->gamma = problem->solver_gamma;
    return status;
}

/* Copies gamma back to the problem and turns the prisms of Tresca's loop into cones again. */
static void download_result(TalusSolve *solve)
{
    talus_problem_download(solve->problem);
    if (solve->plan.tresca)
        talus_problem_set_prisms(solve->problem, false);
}

/* Adds what a solve of the whole problem by rank 0 reports to the session's info. */
static void add_gathered(TalusSolve *solve, const TalusSolveInfo *of_root)
{
    TalusSolveInfo *info = solve->info;
    talus_solve_note_start(solve, of_root->start_residual);
    info->outcome = of_root->outcome;
    info->iterations += of_root->iterations;
    info->products += of_root->products;
    info->updates += of_root->updates;
    info->factorisations += of_root->factorisations;
    info->residual = of_root->residual;
    info->rounding = of_root->rounding;
    info->jammed = info->jammed || of_root->jammed;
    info->rejected_residual = of_root->rejected_residual;
    if (of_root->memory_bytes > info->memory_bytes)
        info->memory_bytes = of_root->memory_bytes;
}

/* run_stage on a rank's part, by a solver that needs the whole problem. */
static TalusStatus run_gathered(TalusSolve *solve, TalusSolver *s, int limit)
{
    TalusSolveOptions options = *solve->wanted;
    TalusSolveInfo of_root = {0};
    const int left = options.max_iterations - solve->info->iterations;
    options.max_iterations = limit < left ? limit : left;
    if (options.max_seconds > 0.0)
        options.max_seconds = fmax(options.max_seconds - talus_solve_elapsed(solve), DBL_MIN);
    solve->op = solve->problem->solver_op;
    solve->gamma = solve->problem->solver_gamma;
    TALUS_TRY(
        talus_solver_solve_gathered(s, solve->problem, &options, &of_root, talus_solver_solve));
    add_gathered(solve, &of_root);
    solve->info->seconds = talus_solve_elapsed(solve);
    return TALUS_OK;
}

/* Runs solver `s` from the problem's gamma for at most `limit` iterations and writes the result to gamma, also if the
 * algorithm fails. */
static TalusStatus run_stage(TalusSolve *solve, TalusSolver *s, int limit)
{
    TALUS_TRY(begin_stage(solve, s));
    if (talus_solver_gathers(s, solve->problem, solve->wanted))
        return run_gathered(solve, s, limit);
    TALUS_TRY(upload_problem(solve));
    set_stage_options(solve, limit);
    TalusStatus status = talus_observe_begin(solve);
    TALUS_THEN(status, run_to_tolerance(solve));
    if (status == TALUS_OK) {
        reject_if_diverged(solve);
        talus_observe_result(solve);
        status = solve->backend->check(solve->op->context);
    }
    download_result(solve);
    solve->info->seconds = talus_solve_elapsed(solve);
    return status;
}

/* True if the outcome is converged or infeasible. */
static bool is_solved(const TalusSolve *solve)
{
    return solve->info->outcome == TALUS_OUTCOME_CONVERGED ||
           solve->info->outcome == TALUS_OUTCOME_INFEASIBLE;
}

/* True if no stage may follow. Lateness counts only after an iteration: the first stage begins however late it is. */
static bool is_over(const TalusSolve *solve)
{
    const int done = solve->info->iterations;
    return solve->stopped || is_solved(solve) || done >= solve->wanted->max_iterations ||
           (done > 0 && talus_solve_is_late(solve));
}

/* Measures the impulses after a trial and `before_trial`, the impulses from before it. If `before_trial` has the
 * smaller rms residual, restores it and reports it to the observer, as it may become the result. */
static void restore_if_better(TalusSolve *solve, const double *before_trial)
{
    TalusProblem *problem = solve->problem;
    TalusResidual before, *after = &solve->info->residual;
    talus_problem_residual(problem, before_trial, &before);
    talus_problem_residual(problem, problem->gamma, after);
    if (after->rms <= before.rms)
        return;
    memcpy(problem->gamma, before_trial,
           (size_t)talus_problem_size(problem) * sizeof *before_trial);
    problem->scratch.velocity_of = NULL; /* those were of the trial */
    *after = before;
    if (solve->wanted->observer && !talus_observe_between_stages(solve))
        solve->stopped = true;
}

/* True if a trial may fail with this status and the next stage can go on. */
static bool is_refusal(TalusStatus status)
{
    return status == TALUS_ERR_MEMORY || status == TALUS_ERR_UNSUPPORTED ||
           status == TALUS_ERR_NUMERIC;
}

/* Runs a trial (TalusStage); skips it if there is no memory for a copy of the impulses from before the trial. */
static TalusStatus run_trial(TalusSolve *solve, TalusSolver *s, int limit)
{
    const TalusProblem *problem = solve->problem;
    int left = solve->wanted->max_iterations - solve->info->iterations, half = left / 2 + left % 2;
    size_t n = (size_t)talus_problem_size(problem);
    double *before_trial;
    TalusStatus reserved = TALUS_ALLOC(before_trial, n, "impulses before a stage");
    if (talus_comm_agree(talus_operator_comm(&problem->op), reserved) != TALUS_OK) {
        talus_release(before_trial);
        return TALUS_OK;
    }
    memcpy(before_trial, problem->gamma, n * sizeof *before_trial);
    TalusStatus status = run_stage(solve, s, limit < half ? limit : half);
    if (is_refusal(status)) {
        solve->info->outcome = TALUS_OUTCOME_BUDGET;
        status = TALUS_OK;
    }
    if (status == TALUS_OK && !is_solved(solve))
        restore_if_better(solve, before_trial);
    talus_release(before_trial);
    return status;
}

/* ---- the session ---- */

/* Fails if the options are out of range, or if their norm does not apply to the problem. */
static TalusStatus check_options(const TalusSolveOptions *options, const TalusProblem *problem)
{
    const TalusOuter *outer = &options->outer;
    const uint32_t others = ~TALUS_KIND(TALUS_LAW_COULOMB, TALUS_SECTION_DISC);
    if (options->max_iterations <= 0)
        return talus_reject("solver: max_iterations is %d, expected at least 1",
                            options->max_iterations);
    if (!(outer->share >= 0.0 && outer->share <= 1.0) || outer->every < 0 || outer->refresh < -1)
        return talus_reject("solver: outer share %g, every %d and refresh %d; expected 0 to 1, at "
                            "least 0 and at least -1",
                            outer->share, outer->every, outer->refresh);
    if (options->norm == TALUS_NORM_SICONOS &&
        (talus_problem_kinds(problem) & others || problem->lent))
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "solver: Siconos's measure is for problems under coulomb x disc alone");
    return TALUS_OK;
}

TalusStatus talus_solver_solve(TalusSolver *s, TalusProblem *problem,
                               const TalusSolveOptions *options, TalusSolveInfo *info)
{
    TalusStatus status = TALUS_OK;
    TalusStage stage[TALUS_MAX_STAGES] = {{.max_iterations = INT_MAX}};
    TalusSolve solve = {.problem = problem,
                        .backend = problem->backend,
                        .options = options,
                        .wanted = options,
                        .info = info,
                        .began = talus_now()};
    *info = (TalusSolveInfo){.outcome = TALUS_OUTCOME_BUDGET, .solver = s->type->name};
    problem->has_certificate = false;
    problem->scratch.velocity_of = NULL;
    TALUS_TRY(check_options(options, problem));
    if (talus_solver_gathers(s, problem, options))
        return talus_solver_solve_gathered(s, problem, options, info, talus_solver_solve);
    talus_solver_set_backend(s, problem->backend);
    const bool planned = s->type->plan != NULL;
    const int stages = planned ? s->type->plan(problem, options, stage) : 1;
    for (int i = 0; i < stages && status == TALUS_OK && !is_over(&solve); i++) {
        TalusSolver *next = planned ? s->part[stage[i].part] : s;
        solve.until_stuck = stage[i].until_stuck;
        status = stage[i].trial ? run_trial(&solve, next, stage[i].max_iterations)
                                : run_stage(&solve, next, stage[i].max_iterations);
    }
    if (info->outcome != TALUS_OUTCOME_INFEASIBLE)
        problem->has_certificate = false;
    return status;
}
