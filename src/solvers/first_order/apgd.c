/* solvers/first_order/apgd.c - accelerated projected gradient descent.
 *
 * Nesterov's method in the metric x = gamma / s, by default s_n = N_nn^-1/2, s_t = N_tt^-1/2 (anisotropic; of N + E),
 * in which the cone stays circular with mu s_n / s_t. With `restart` momentum is dropped whenever it points uphill
 * (gradient restart). The step is 1/L, longer under Coulomb's law, with L an estimate of the largest eigenvalue of S (N + E) S. L comes from a few
 * power iterations, is kept from solve to solve and lowered by the factor `forget` each time. L is raised, and momentum
 * dropped, when two consecutive gradients show a larger curvature |g - g'| / |x - x'| and the difference exceeds
 * rounding (backend/momentum.h).
 *
 * Under Coulomb's law De Saxce's shift of the current iterate is added to the gradient in every step: no outer loop is
 * needed. Momentum has a bound that follows the residual, and the gradient lags behind the momentum by the share `lag`,
 * which permits longer steps (backend/momentum.h): a fifth fewer products on beds of spheres and on rocks.
 *
 * There is no test on the objective, whose changes vanish in rounding once x is accurate to a relative 1e-8 or so. One
 * product per iteration. */
#include "solvers/driver/chunk.h"

#include "backend/part.h"
#include "backend/run.h"
#include "base/status.h"

#include <math.h>

/* Iterations between residuals if the user does not say. A GPU tests the norm only where it measures the residual, and
 * there fewer are better: a bed of a million takes 5 to 9 % less time with 3 than with 5. CHECK_UNSEEN: least number if the
 * residuals serve only to test the step length (talus_chunk_check_interval). */
enum { CHECK_HOST = 5, CHECK_GPU = 3, CHECK_UNSEEN = 10 };

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    int metric, check;
    bool restart;
    double margin, forget, max_theta, lag;
} Params;

typedef struct Work {
    double *x_prev, *g_prev; /* iterate and gradient of the iteration before */
    TalusVectors vectors, metric_memory;
    const TalusMetricBlock *metric;
    bool widened; /* a solve went on in double precision: later ones may, and the memory is kept */
} Work;

static const TalusParam params[] = {
    TALUS_CHOICE(Params, metric, TALUS_METRIC_ANISOTROPIC, talus_metric_names,
                 "diagonal scaling of the unknowns"),
    TALUS_FLAG(Params, restart, 1, "drop the momentum when it points uphill"),
    TALUS_INT(Params, check, 0, 0, 1000,
              "iterations between residual evaluations; 0: 5 on the host, 3 on a GPU"),
    TALUS_REAL(Params, margin, 1.02, 1.0, 10.0, "factor on the norm estimate"),
    TALUS_REAL(Params, forget, 0.99, 0.1, 1.0,
               "factor on the norm estimate carried to the next solve"),
    TALUS_REAL(
        Params, max_theta, 15.0, 2.0, 1e6,
        "Coulomb's law: bound on the momentum at first, which stays below 1 - 1.5 / max_theta"),
    TALUS_REAL(Params, lag, 0.6, 0.0, 0.7,
               "Coulomb's law: share of the momentum that the gradient does not follow"),
};

/* True if the backend computes the metric by itself during a run. Its vectors are then unscaled impulses, and the
 * metric's memory is needed only for the first norm. */
static bool backend_finds_metric(const TalusSolve *s)
{
    return talus_backend_can(s->backend, TALUS_CAP_FINDS_METRIC) && s->op->pair &&
           !s->op->mixed_sets;
}

/* Reserves the vectors of the previous iterate. */
static TalusStatus reserve_previous(TalusSolve *s, Work *w)
{
    return TALUS_RESERVE_VECTORS(s, &w->vectors, "previous iterate", &w->x_prev, &w->g_prev);
}

/* Fills the metric and finds the norm, for which the vectors of the previous iterate are work space. Without `previous`
 * these are needed for the first norm only, and released after it. */
static TalusStatus prepare(TalusSolve *s, const Params *p, bool metric, bool previous, Work *w)
{
    TalusNormState *state = s->state;
    const bool known = state->norm > 0.0;
    if (previous || !known)
        TALUS_TRY(reserve_previous(s, w));
    if (metric || !known)
        TALUS_TRY(
            talus_solver_make_metric(s, (TalusMetric)p->metric, &w->metric_memory, &w->metric));
    talus_norm_renew(s, state, w->metric, p->forget, p->margin, w->x_prev, w->g_prev);
    if (!previous && !known)
        talus_vectors_release(s->backend, &w->vectors);
    if (!metric) {
        if (!w->widened)
            talus_vectors_release(s->backend, &w->metric_memory);
        w->metric = NULL;
    }
    return TALUS_OK;
}

/* ---- Coulomb's law ---- */

/* START_THETA: weight of the momentum at the start of a solve. The solve is stuck if the residual does not fall to
 * PROGRESS times `mark` within PATIENCE iterations. EXACT_LENGTH: maximum number of iterations of a run, after each of
 * which this is tested. */
enum { EXACT_LENGTH = 200, PATIENCE = 2000 };
static const double START_THETA = 3.0, PROGRESS = 0.8;

typedef struct Progress {
    double mark;    /* a past residual; replaced when the residual falls to PROGRESS times it */
    int since_mark; /* iterations since `mark` was set */
} Progress;

/* True if the residual has not fallen to PROGRESS times `mark` for PATIENCE iterations, as when impulses drift along a
 * null space of N, for which bounded momentum is too slow. Updates `mark`. */
static bool is_stuck(Progress *r, double residual, int iterations)
{
    r->since_mark += iterations;
    if (!(residual > PROGRESS * r->mark)) {
        r->mark = residual;
        r->since_mark = 0;
    }
    return r->since_mark > PATIENCE;
}

/* ---- the iteration ---- */

/* The residual after a run, in the norm that ends the solve, and the iterations of that run; residual < 0: none yet. */
typedef struct Reached {
    double residual;
    int iterations;
} Reached;

/* Shortens the next run if the tolerance is likely to be reached before its end, by the rate at which the residual fell
 * in the last run, from `before` to `now`. Only on backends whose single steps cost no more than runs. */
static void end_run_at_tolerance(const TalusSolve *s, const Reached *before, const Reached *now,
                                 TalusRun *run)
{
    double stop = run->stop_rms > 0.0 ? run->stop_rms : run->stop_max;
    if (!talus_backend_can(s->backend, TALUS_CAP_SEES_ITERATES) || !(stop > 0.0) ||
        !(before->residual > now->residual) || !(now->residual > stop))
        return;
    double left = log(now->residual / stop) / log(before->residual / now->residual);
    double iterations = ceil(left * now->iterations);
    if (iterations < run->iterations)
        run->iterations = iterations > 1.0 ? (int)iterations : 1;
}

/* Goes on in double precision, if a run in single precision has come to its end and the state has only x. */
static TalusStatus widen_if_spent(TalusSolve *s, Work *w, TalusAccelerated *a)
{
    if (!a->spent)
        return TALUS_OK;
    TALUS_TRY(reserve_previous(s, w));
    TALUS_TRY(talus_solver_make_metric(s, a->kind, &w->metric_memory, &w->metric));
    w->widened = true;
    a->x_prev = w->x_prev;
    a->g_prev = w->g_prev;
    a->metric = w->metric;
    s->backend->run.widen(s->op, a);
    return TALUS_OK;
}

/* Returns the iterate that was measured last, after talus_run_write_back. */
static double *measured_iterate(const TalusAccelerated *a)
{
    return a->x_prev ? a->x_prev : a->x;
}

/* Iterates until the driver ends the solve or, under Coulomb's law, the iteration is stuck. The result is
 * measured_iterate. */
static TalusStatus run_iterations(TalusSolve *s, const Params *p, TalusMomentum *momentum,
                                  TalusAccelerated *a)
{
    const int usual =
        talus_backend_can(s->backend, TALUS_CAP_SEES_ITERATES) ? CHECK_HOST : CHECK_GPU;
    const int check = talus_chunk_check_interval(s, p->check ? p->check : usual, CHECK_UNSEEN);
    bool go = true;
    Progress progress = {.mark = INFINITY};
    Reached before, now = {.residual = -1.0};
    for (int since = 0; go;) {
        TalusRun run = talus_chunk_next_run(s, check, since);
        if (a->exact && run.iterations > EXACT_LENGTH)
            run.iterations = EXACT_LENGTH;
        if (since > 0)
            end_run_at_tolerance(s, &before, &now, &run);
        TALUS_TRY(talus_run_accelerate(s->backend, s->op, a, momentum, &run));
        TALUS_TRY(widen_if_spent(s, s->work, a));
        since += run.done;
        talus_chunk_count_run(s, &run);
        double rms = sqrt(run.residual2 / talus_all_blocks(s->op));
        before = now;
        now = (Reached){run.stop_max > 0.0 ? run.residual_max : rms, run.done};
        if (talus_solve_wants_iterate(s)) {
            talus_run_write_back(s->backend, s->op, a);
            a->warm = false; /* reporting overwrites the scratch */
        }
        go = talus_solve_report(s, measured_iterate(a), a->metric, run.residual2, run.residual_max);
        s->stuck = a->exact && go && is_stuck(&progress, rms, run.done);
        go = go && !s->stuck;
    }
    talus_run_write_back(s->backend, s->op, a);
    return TALUS_OK;
}

/* `solve` of TalusSolverType: solves the problem from s->gamma, in place. */
static TalusStatus solve_apgd(TalusSolve *s)
{
    const Params *p = s->params;
    TalusNormState *state = s->state;
    Work *w = s->work;
    size_t n = (size_t)s->op->rows * (size_t)s->op->blocks;
    TalusAccelerated a = {.x = s->gamma,
                          .kind = (TalusMetric)p->metric,
                          .exact = s->plan.exact,
                          .single = talus_solve_takes_single(s)};
    const bool previous = !talus_run_is_single(s->backend, s->op, &a);
    TALUS_TRY(prepare(s, p, previous && !backend_finds_metric(s), previous, w));
    a.metric = w->metric;
    if (a.metric)
        s->backend->op.scale(s->op, a.metric, true, s->gamma);
    if (previous) {
        a.x_prev = w->x_prev;
        a.g_prev = w->g_prev;
        s->backend->vector.copy(s->op, w->x_prev, s->gamma, n);
        if (a.metric)
            s->backend->vector.zero(s->op, w->g_prev, n);
    }
    TalusMomentum momentum = {.norm = state->norm,
                              .margin = p->margin,
                              .theta = s->plan.exact ? fmin(START_THETA, p->max_theta) : 1.0,
                              .max_theta = s->plan.exact ? p->max_theta : 0.0,
                              .lag = s->plan.exact ? p->lag : 0.0,
                              .restart = p->restart};
    TALUS_TRY(run_iterations(s, p, &momentum, &a));
    state->norm = momentum.norm;
    if (measured_iterate(&a) != s->gamma)
        s->backend->vector.copy(s->op, s->gamma, measured_iterate(&a), n);
    if (a.metric)
        s->backend->op.scale(s->op, a.metric, false, s->gamma);
    return TALUS_OK;
}

const TalusSolverType talus_solver_apgd = {
    .name = "apgd",
    .summary = "accelerated projected gradient, anisotropic metric, restarts",
    .reference = "Nesterov 1983; O'Donoghue and Candes 2015 for the restart; Mazhar et al. 2015",
    .takes = TALUS_TAKES_ALL,
    .through_products = true,
    .in_runs = true,
    TALUS_PARAMS(params, Params),
    .state_size = sizeof(TalusNormState),
    .work_size = sizeof(Work),
    .solve = solve_apgd,
};
