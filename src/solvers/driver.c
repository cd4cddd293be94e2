/* solvers/driver.c - the table of solvers, and what is common to every solve.
 *
 * The driver brings the problem to where its backend works (problem/place.c) and measures the result
 * with the backend's residual, in double precision. An algorithm stops on its own estimate; if the truth
 * is worse than promised, it is sent back to work with a stricter one, within the same budget. */
#include "solvers/solver.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "problem/eliminate.h"
#include "solvers/auto.h"
#include "solvers/outer.h"
#include "solvers/show.h"
#include "solvers/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const TalusSolverType *const table[] = {
#define TALUS_SOLVER(name) &talus_solver_##name,
#include "solvers/table.h"
#undef TALUS_SOLVER
};

enum { SOLVERS = sizeof table / sizeof *table, MAX_NAME = 32 };

/* A residual this many times that of zero impulses is divergence. */
static const double GROWN = 1e3;

/* No stricter claim than this share of the tolerance is asked of a solver without joints. */
static const double STRICTEST = 1e-4;

struct TalusSolver {
    const TalusSolverType *type;
    TalusSolver *choice[TALUS_AUTO_CHOICES]; /* "auto" only: first itself, then those it owns */
    void *params, *state, *work;
    TalusWatch watch;
    TalusShow show;
    TalusReduced reduced;
    const TalusBackend *backend; /* in whose memory work, watch and show hold vectors */
    size_t held;                 /* bytes kept from solve to solve, there */
};

/* ---- options and names ---- */

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

int talus_solver_count(void)
{
    return SOLVERS + 1;
}

TalusSolverRow talus_solver_row(int index)
{
    TalusSolverRow row = {
        .name = "auto", .summary = talus_auto_summary, .reference = "docs/solvers.md"};
    const TalusSolverType *t = index > 0 ? table[index - 1] : &talus_solver_lbfgs_fb;
    if (index > 0) {
        row.name = t->name;
        row.summary = t->summary;
        row.reference = t->reference;
        row.missing = t->missing ? t->missing() : NULL;
    }
    /* auto is lbfgs-fb where it does not hand over, and apgd where that does not suffice */
    talus_outer_takes(index > 0 ? t->takes : t->takes | talus_solver_apgd.takes, row.accepts);
    return row;
}

void talus_solver_describe(int index, void (*line)(void *user, const char *text), void *user)
{
    if (index == 0)
        return;
    const TalusSolverType *t = table[index - 1];
    for (int i = 0; i < t->param_count; i++) {
        char text[320];
        talus_param_line(&t->params[i], text, sizeof text);
        line(user, text);
    }
}

/* ---- creating ---- */

static const TalusSolverType *find_type(const char *name)
{
    const char *names[SOLVERS + 1] = {"auto"};
    if (strcmp(name, "auto") == 0)
        return &talus_solver_lbfgs_fb;
    for (int i = 0; i < SOLVERS; i++) {
        names[i + 1] = table[i]->name;
        if (strcmp(name, table[i]->name) == 0)
            return table[i];
    }
    const char *near = talus_nearest(name, names, SOLVERS + 1);
    if (near)
        talus_fail(TALUS_ERR_ARGUMENT, "solver: no solver '%s'; did you mean '%s'?", name, near);
    else
        talus_fail(TALUS_ERR_ARGUMENT,
                   "solver: no solver '%s'; `talus list solvers` names them all", name);
    return NULL;
}

static TalusStatus init_solver(TalusSolver *s, const char *name, const char *parameters)
{
    s->type = find_type(name);
    if (!s->type)
        return TALUS_ERR_ARGUMENT;
    const char *missing = s->type->missing ? s->type->missing() : NULL;
    if (missing)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "solver %s: not in this build: %s", name, missing);
    if (strcmp(name, "auto") == 0) {
        if (*parameters)
            return talus_fail(TALUS_ERR_ARGUMENT,
                              "auto: takes no parameters; name the solver that should have '%s'",
                              parameters);
        s->choice[0] = s;
        for (int i = 1; i < TALUS_AUTO_CHOICES; i++)
            TALUS_TRY(talus_solver_create(talus_auto_specs[i], &s->choice[i]));
    }
    TALUS_TRY(talus_alloc(&s->params, 1, s->type->param_size, "solver parameters"));
    TALUS_TRY(talus_alloc(&s->state, 1, s->type->state_size, "solver state"));
    TALUS_TRY(talus_alloc(&s->work, 1, s->type->work_size, "solver workspace"));
    talus_params_default(s->type->params, s->type->param_count, s->params);
    return talus_params_parse(s->type->params, s->type->param_count, name, parameters, s->params);
}

TalusStatus talus_solver_create(const char *spec, TalusSolver **out)
{
    char name[MAX_NAME];
    size_t length = strcspn(spec, ":");
    *out = NULL;
    if (length >= sizeof name)
        return talus_fail(TALUS_ERR_ARGUMENT, "solver: no solver '%.40s'", spec);
    memcpy(name, spec, length);
    name[length] = '\0';
    TalusSolver *s;
    TALUS_TRY(TALUS_ALLOC(s, 1, "solver"));
    TalusStatus status = init_solver(s, name, spec[length] ? spec + length + 1 : "");
    if (status != TALUS_OK) {
        talus_solver_destroy(s);
        return status;
    }
    *out = s;
    return TALUS_OK;
}

/* Gives back all that is kept from solve to solve but the state. */
static void forget_work(TalusSolver *s)
{
    if (!s->backend)
        return;
    s->type->clear(s->work, s->backend);
    talus_watch_clear(&s->watch, s->backend);
    talus_show_clear(&s->show, s->backend);
    talus_reduced_clear(&s->reduced);
    memset(s->work, 0, s->type->work_size);
    memset(&s->watch, 0, sizeof s->watch);
    memset(&s->show, 0, sizeof s->show);
    s->backend = NULL;
    s->held = 0;
}

void talus_solver_destroy(TalusSolver *s)
{
    if (!s)
        return;
    forget_work(s);
    for (int i = 1; i < TALUS_AUTO_CHOICES; i++)
        talus_solver_destroy(s->choice[i]);
    talus_release(s->params);
    talus_release(s->state);
    talus_release(s->work);
    talus_release(s);
}

static TalusStatus plan_solve(const TalusSolver *s, const TalusProblem *problem,
                              TalusOuterKind kind, TalusOuterPlan *plan)
{
    const char *part = s->type->on_host ? s->type->on_host(s->params) : NULL;
    TALUS_TRY(talus_outer_plan(s->type, problem, kind, plan));
    if (part && !talus_backend_can(problem->backend, TALUS_CAP_HOST_MEMORY))
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "solver %s: %s runs on backend cpu alone, and this problem is on %s",
                          s->type->name, part, problem->backend->name);
    return TALUS_OK;
}

TalusStatus talus_solver_supports(const TalusSolver *s, const TalusProblem *problem)
{
    TalusOuterPlan plan;
    return plan_solve(s, problem, TALUS_OUTER_AUTO, &plan);
}

/* Its own, then those of the solvers that "auto" chooses from. */
size_t talus_solver_state_size(const TalusSolver *s)
{
    size_t size = s->type->state_size;
    for (int i = 1; i < TALUS_AUTO_CHOICES && s->choice[i]; i++)
        size += s->choice[i]->type->state_size;
    return size;
}

void talus_solver_state_save(const TalusSolver *s, void *bytes)
{
    char *place = bytes;
    memcpy(place, s->state, s->type->state_size);
    place += s->type->state_size;
    for (int i = 1; i < TALUS_AUTO_CHOICES && s->choice[i]; i++) {
        talus_solver_state_save(s->choice[i], place);
        place += s->choice[i]->type->state_size;
    }
}

TalusStatus talus_solver_state_load(TalusSolver *s, const void *bytes, size_t size)
{
    const char *place = bytes;
    size_t expected = talus_solver_state_size(s);
    if (size != expected)
        return talus_fail(TALUS_ERR_FORMAT,
                          "solver %s: its saved state has %zu bytes, expected %zu", s->type->name,
                          size, expected);
    memcpy(s->state, place, s->type->state_size);
    place += s->type->state_size;
    for (int i = 1; i < TALUS_AUTO_CHOICES && s->choice[i]; i++) {
        memcpy(s->choice[i]->state, place, s->choice[i]->type->state_size);
        place += s->choice[i]->type->state_size;
    }
    return TALUS_OK;
}

/* ---- during a solve ---- */

void talus_solve_count(TalusSolve *solve, int products)
{
    solve->info->iterations++;
    solve->info->products += products;
}

bool talus_solve_within_budget(TalusSolve *solve)
{
    if (solve->info->iterations >= solve->options->max_iterations ||
        (solve->deadline > 0.0 && talus_now() - solve->paused > solve->deadline)) {
        solve->info->outcome = TALUS_OUTCOME_BUDGET;
        return false;
    }
    return true;
}

bool talus_solve_continue(TalusSolve *solve, double rms, double max)
{
    const TalusSolveOptions *options = solve->options;
    double reached = options->norm == TALUS_NORM_MAX && !isnan(max) ? max : rms;
    if (!solve->started) {
        solve->started = true;
        solve->info->start_residual = rms;
    }
    if (!isfinite(rms)) {
        solve->info->outcome = TALUS_OUTCOME_DIVERGED;
        return false;
    }
    if (options->tolerance > 0.0 && reached <= options->tolerance * solve->strictness) {
        solve->info->outcome = TALUS_OUTCOME_CONVERGED;
        return false;
    }
    if (options->monitor && !options->monitor(options->monitor_user, solve->info->iterations,
                                              solve->info->products, reached)) {
        solve->info->outcome = TALUS_OUTCOME_BUDGET;
        solve->stopped = true;
        return false;
    }
    return talus_solve_within_budget(solve);
}

bool talus_solve_next(TalusSolve *solve, int products, const double *x,
                      const TalusMetricBlock *metric, double residual2, double residual_max)
{
    double rms = sqrt(residual2 / solve->op->blocks);
    talus_solve_count(solve, products);
    return talus_solve_show(solve, x, metric, rms) &&
           talus_solve_continue(solve, rms, residual_max);
}

bool talus_solve_wants_iterate(const TalusSolve *solve)
{
    return talus_show_due(solve) || talus_watch_due(solve);
}

void talus_solve_suspect(TalusSolve *solve)
{
    solve->watch->next = 0;
}

bool talus_solve_show(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                      double rms)
{
    if (talus_show_due(solve) && !talus_show_iterate(solve, x, metric)) {
        solve->info->outcome = TALUS_OUTCOME_BUDGET;
        solve->stopped = true;
        return false;
    }
    return !talus_watch_look(solve, x, metric, rms);
}

/* ---- the solve ---- */

/* The residual of gamma, and of it the figure that the tolerance is for, with what rounding may hide. */
static TalusStatus measure(TalusSolve *solve, TalusNorm norm, double *figure)
{
    TalusSolveInfo *info = solve->info;
    TalusResidual rounding;
    TalusMetrics metrics;
    talus_outer_measure(solve, solve->gamma, &info->residual, &rounding);
    TALUS_TRY(solve->backend->check(solve->op->context));
    *figure = norm == TALUS_NORM_MAX ? info->residual.max : info->residual.rms;
    info->rounding = norm == TALUS_NORM_MAX ? rounding.max : rounding.rms;
    if (norm != TALUS_NORM_SICONOS)
        return TALUS_OK;
    talus_problem_fetch(solve->problem);
    TALUS_TRY(talus_problem_measure(solve->problem, solve->problem->gamma, &metrics));
    *figure = metrics.siconos;
    info->rounding = metrics.siconos_rounding;
    return TALUS_OK;
}

/* Whether a stricter claim may do: where what the algorithm claims is not what the result is measured by, Siconos's
 * measure or the residual with joints, whose blocks have other diagonals; and where only rounding, if there is
 * room for it, keeps the result from being within the tolerance. */
static bool may_ask_more(const TalusSolve *solve, const TalusSolveOptions *wanted, double figure)
{
    if (!(solve->info->rounding < wanted->tolerance))
        return false;
    return wanted->norm == TALUS_NORM_SICONOS ||
           ((solve->reduced || figure <= wanted->tolerance) && solve->op->blocks > 0 &&
            solve->strictness > STRICTEST);
}

/* Runs the algorithm until what it reached is within the tolerance or it gives up. Siconos's measure is
 * of the whole problem and known at a claim alone: each sets the residual to claim next. */
static TalusStatus run(TalusSolve *solve, const TalusSolveOptions *wanted)
{
    TalusSolveInfo *info = solve->info;
    for (;;) {
        double now;
        if (solve->op->blocks > 0)
            TALUS_TRY(talus_outer_run(solve));
        else
            info->outcome = TALUS_OUTCOME_CONVERGED;
        TALUS_TRY(measure(solve, wanted->norm, &now));
        bool claimed = info->outcome == TALUS_OUTCOME_CONVERGED;
        if (wanted->tolerance > 0.0 && now + info->rounding <= wanted->tolerance)
            info->outcome = TALUS_OUTCOME_CONVERGED;
        else if (claimed)
            info->outcome = TALUS_OUTCOME_BUDGET;
        bool exact = info->residual.rms == 0.0; /* then a stricter claim changes nothing */
        if (!claimed || exact || info->outcome == TALUS_OUTCOME_CONVERGED ||
            !may_ask_more(solve, wanted, now))
            return TALUS_OK;
        double room = wanted->tolerance - info->rounding;
        solve->strictness *= fmin(fmax(0.5 * room / now, 1e-2), 0.5);
        if (!talus_solve_within_budget(solve))
            return TALUS_OK;
    }
}

/* Zero impulses are always at hand: a result that is GROWN times as bad is no result. The starting
 * residual, which costs nothing, rules it out in all but strange cases. */
static bool has_diverged(const TalusSolve *solve)
{
    const TalusSolveInfo *info = solve->info;
    TalusWatch *w = solve->watch; /* it has a vector to spare */
    size_t n = (size_t)talus_problem_size(solve->problem);
    TalusResidual zero;
    if (!isfinite(info->residual.rms))
        return true;
    if (!(info->residual.rms > GROWN * info->start_residual) ||
        solve->backend->vector.reserve(solve->op, &w->delta, &w->delta_room, n, "zero impulses") !=
            TALUS_OK)
        return false;
    solve->backend->vector.zero(solve->op, w->delta, n);
    talus_outer_measure(solve, w->delta, &zero, NULL);
    return info->residual.rms > GROWN * zero.rms;
}

static void settle_outcome(TalusSolve *solve)
{
    TalusSolveInfo *info = solve->info;
    size_t n = (size_t)solve->op->rows * (size_t)solve->op->blocks;
    if (info->outcome == TALUS_OUTCOME_CONVERGED || !has_diverged(solve))
        return;
    info->outcome = TALUS_OUTCOME_DIVERGED;
    solve->backend->vector.zero(solve->op, solve->gamma, n);
    talus_show_other(solve);
    talus_outer_measure(solve, solve->gamma, &info->residual, NULL);
}

/* Bytes in use of a backend's own memory; to ask costs as much as a small solve, so not in every step of
 * a world. */
static size_t backend_bytes(const TalusSolve *solve)
{
    return solve->backend->memory && !solve->problem->lent ? solve->backend->memory() : 0;
}

/* Free joints on the host are left to the driver by solvers that can do without them. */
static TalusStatus eliminate(TalusSolver *s, TalusSolve *solve)
{
    bool can = s->type->through_products && solve->op->pair &&
               talus_backend_can(solve->backend, TALUS_CAP_ELIMINATES);
    if (!can || solve->op->joints == 0 || solve->options->keep_joints)
        return TALUS_OK;
    TALUS_TRY(talus_reduced_fill(&s->reduced, solve->op));
    solve->reduced = &s->reduced;
    solve->op = &s->reduced.op;
    return TALUS_OK;
}

static TalusStatus run_reduced(TalusSolver *s, TalusSolve *solve, const TalusSolveOptions *wanted)
{
    TALUS_TRY(eliminate(s, solve));
    if (solve->op->blocks == 0 && !solve->reduced) {
        solve->info->outcome = TALUS_OUTCOME_CONVERGED;
        return TALUS_OK;
    }
    return run(solve, wanted);
}

/* The solve itself, op and gamma being in place. */
static TalusStatus run_in_place(TalusSolver *s, TalusSolve *solve, const TalusSolveOptions *wanted)
{
    TalusSolveInfo *info = solve->info;
    TALUS_TRY(talus_show_begin(solve));
    size_t held = talus_memory_now(), before = backend_bytes(solve);
    talus_memory_reset_peak();
    talus_watch_reset(&s->watch);
    TalusStatus status = run_reduced(s, solve, wanted);
    size_t after =
        backend_bytes(solve); /* of the whole device: another process may give some back */
    size_t grown = after > before ? after - before : 0;
    size_t most = talus_memory_peak() - held + grown + s->held;
    info->memory_bytes = most > info->memory_bytes ? most : info->memory_bytes;
    s->held += talus_memory_now() - held + grown;
    TALUS_TRY(status);
    settle_outcome(solve);
    talus_show_end(solve);
    return solve->backend->check(solve->op->context);
}

static TalusStatus check_options(const TalusSolveOptions *options, const TalusProblem *problem)
{
    const TalusOuter *outer = &options->outer;
    const uint32_t others = ~TALUS_KIND(TALUS_LAW_COULOMB, TALUS_SECTION_DISC);
    if (options->max_iterations <= 0)
        return talus_fail(TALUS_ERR_ARGUMENT, "solver: max_iterations is %d, expected at least 1",
                          options->max_iterations);
    if (!(outer->share >= 0.0 && outer->share <= 1.0) || outer->every < 0 || outer->refresh < -1)
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "solver: outer share %g, every %d and refresh %d; expected 0 to 1, at "
                          "least 0 and at least -1",
                          outer->share, outer->every, outer->refresh);
    if (options->norm == TALUS_NORM_SICONOS &&
        (talus_problem_kinds(problem) & others || problem->lent))
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "solver: Siconos's measure is for problems under coulomb x disc alone");
    return TALUS_OK;
}

/* Options as algorithms see them: a residual in m/s. For Siconos's measure, which has no unit, the first
 * to claim is the tolerance times that of zero impulses. */
static TalusSolveOptions algorithm_options(const TalusSolve *solve, const TalusSolveOptions *wanted)
{
    TalusSolveOptions options = *wanted;
    TalusMetrics metrics;
    if (wanted->norm != TALUS_NORM_SICONOS)
        return options;
    options.norm = TALUS_NORM_RMS;
    if (talus_problem_measure(solve->problem, solve->problem->gamma, &metrics) == TALUS_OK)
        options.tolerance *= metrics.natural_at_zero;
    return options;
}

/* The solve with everything where it belongs before and after. */
static TalusStatus run_there(TalusSolver *s, TalusSolve *solve, const TalusSolveOptions *wanted)
{
    TalusProblem *problem = solve->problem;
    TALUS_TRY(talus_problem_send(problem));
    solve->op = problem->there_op;
    solve->gamma = problem->there_gamma;
    TalusSolveOptions options = algorithm_options(solve, wanted);
    solve->options = &options;
    TalusStatus status = run_in_place(s, solve, wanted);
    solve->options = wanted;
    talus_problem_fetch(problem);
    return status;
}

/* The same, with the bounds of Tresca's loop where the plan has them. */
static TalusStatus run_plan(TalusSolver *s, TalusSolve *solve, const TalusSolveOptions *wanted)
{
    if (s->backend != solve->backend)
        forget_work(s);
    s->backend = solve->backend;
    if (!solve->plan.tresca)
        return run_there(s, solve, wanted);
    TALUS_TRY(talus_problem_set_moving(solve->problem, true));
    TalusStatus status = run_there(s, solve, wanted);
    TALUS_TRY(talus_problem_set_moving(solve->problem, false));
    return status;
}

TalusStatus talus_solver_leg(TalusSolver *s, TalusProblem *problem,
                             const TalusSolveOptions *options, int most, TalusSolveInfo *info,
                             bool *over)
{
    TalusSolveOptions part = *options;
    TalusSolve solve = {.problem = problem,
                        .backend = problem->backend,
                        .options = &part,
                        .type = s->type,
                        .params = s->params,
                        .state = s->state,
                        .work = s->work,
                        .info = info,
                        .strictness = 1.0,
                        .began = talus_now() - info->seconds,
                        .started = info->iterations > 0,
                        .watch = &s->watch,
                        .show = &s->show};
    part.max_iterations = most < options->max_iterations ? most : options->max_iterations;
    info->outcome = TALUS_OUTCOME_BUDGET;
    info->solver = s->type->name;
    TALUS_TRY(check_options(&part, problem));
    TALUS_TRY(plan_solve(s, problem, options->outer.kind, &solve.plan));
    if (options->max_seconds > 0.0)
        solve.deadline = solve.began + options->max_seconds;
    TalusStatus status = run_plan(s, &solve, &part);
    info->seconds = talus_now() - solve.began - solve.paused;
    *over = solve.stopped || info->outcome == TALUS_OUTCOME_CONVERGED ||
            info->outcome == TALUS_OUTCOME_INFEASIBLE ||
            info->iterations >= options->max_iterations ||
            (options->max_seconds > 0.0 && info->seconds > options->max_seconds);
    return status;
}

static TalusStatus solve_by_type(TalusSolver *s, TalusProblem *problem,
                                 const TalusSolveOptions *options, TalusSolveInfo *info)
{
    bool over;
    if (s->choice[0])
        return talus_auto_solve(s->choice, problem, options, info);
    if (s->type->load)
        TALUS_TRY(s->type->load());
    return talus_solver_leg(s, problem, options, options->max_iterations, info, &over);
}

TalusStatus talus_solver_solve(TalusSolver *s, TalusProblem *problem,
                               const TalusSolveOptions *options, TalusSolveInfo *info)
{
    *info = (TalusSolveInfo){0};
    problem->has_certificate = false;
    TalusStatus status = solve_by_type(s, problem, options, info);
    if (info->outcome != TALUS_OUTCOME_INFEASIBLE)
        problem->has_certificate = false;
    return status;
}
