/* solvers/first_order/lbfgs_fb.c - quasi-Newton on the forward-backward residual: fewest products.
 *
 * In the metric of apgd, x = gamma / s, with N for S (N + E) S, f(x) = x'(N x / 2 + q), g its gradient and L the norm
 * of N:
 *     T(x) = P(x - t g),  R(x) = x - T(x),  t = `step` / L, 1.6 / L by default
 *     x+ = x - H R(x),    H: L-BFGS from the last `memory` pairs (x+ - x, R+ - R), by default five
 * One product per iteration, N d with d = -H R: g+ = g + N d; g is recomputed from x every 300 iterations. A step is
 * accepted if the forward-backward envelope f(x) - g'R + |R|^2 / (2 t) does not rise, that is if its change
 *     g'd + d'N d / 2 - (g+'R+ - g'R) + (|R+|^2 - |R|^2) / (2 t),
 * is not positive, or if |R|^2 does not become more than `rise` times as large: rounding hides the change of the
 * envelope long before R, and R of a good step may grow. Otherwise d is halved, which needs no product, up to five
 * times. If no halved step is accepted, the pairs are dropped and x+ = T(x), for one more product.
 *
 * R jumps from iteration to iteration. A smoothed iterate z is measured and returned,
 *     z += eta (x - z),   eta in [0, 1] minimising |R_z + eta (R - R_z)|,   R_z = R(z),
 * and z = x whenever |R_z| would exceed |R|. Iterates are not in K; a claim of convergence is checked on P(z), the
 * result, with one more product.
 *
 * With friction, R_z lags behind f. Once the residual of z is within a few times the tolerance, n iterations of OGM-G
 * (Kim and Fessler 2021; with projection, which their proof does not cover) lower the residual itself: with theta_n =
 * 1, theta_i = (1 + sqrt(1 + 4 theta_{i+1}^2)) / 2, and 8 for 4 in theta_0, from x = y = z
 *     y+ = P(x - g / L)
 *     x+ = y+ + (theta_i - 1) (2 theta_{i+1} - 1) / (theta_i (2 theta_i - 1)) (y+ - y)
 *             + (2 theta_{i+1} - 1) / (2 theta_i - 1) (y+ - x).
 * n, and how near z must be, are learnt from solve to solve. At an equal residual the velocities are then less exact
 * than without OGM-G: docs/explanation/default-solver.md.
 *
 * L is estimated by power iteration, at the first solve and at every 64th after it, raised when a step shows more
 * curvature, and otherwise transferred. t above 1 / L has no proof; if |R_z| has not halved within `patience` products,
 * apgd takes over. Stella, Themelis and Patrinos 2017 have the envelope, and the proof for t < 1 / L with a line
 * search. */
#include "solvers/driver/solver.h"
#include "solvers/first_order/lbfgs.h"

#include "backend/part.h"
#include "base/status.h"

#include <math.h>

/* State.near, the ratio of residual to tolerance at which OGM-G begins: its bounds, and the factors by which it is
 * multiplied or divided from solve to solve. */
static const double MIN_NEAR = 1.25, MAX_NEAR = 8.0, NEAR_RISES = 1.2, NEAR_FALLS = 2.0;

/* OGM-G is not used for tolerances below TIGHT times the starting residual. It is not used either if the quasi-Newton
 * method has lowered the residual by the factor APPROACH in fewer products than OGM-G has planned iterations. */
static const double TIGHT = 3e-4, APPROACH = 4.0;

enum { MIN_FINISH = 8, MAX_FINISH = 400 }; /* bounds of the planned iterations of OGM-G */

/* NORM_LASTS: solves after which L is estimated again. REFRESH: iterations after which g is computed from x. HALVINGS:
 * maximum halvings of a step. */
enum { NORM_LASTS = 64, REFRESH = 300, HALVINGS = 5 };

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    int metric, memory, check, finish, patience;
    double step, rise, margin, near;
} Params;

typedef struct State {
    double norm;    /* L, 0 before the first solve */
    int64_t uses;   /* solves since L was estimated */
    double near;    /* residual over tolerance at which OGM-G begins; 0 before the first solve */
    int64_t length; /* planned iterations of OGM-G; 0 before the first solve */
} State;

typedef struct Work {
    TalusVectors vectors, pairs, metric;
} Work;

/* State of one solve. */
typedef struct Run {
    TalusSolve *s;
    const Params *p;
    State *state;
    TalusQuasi q;          /* vectors and pairs, in the backend's memory */
    TalusLbfgs h;          /* inner products of the pairs */
    double r2, rg;         /* |R|^2 and R'g */
    double smooth_r2;      /* |R_z|^2 */
    double checked2;       /* |z|^2 when the infeasibility monitor was last asked to check */
    double reached;        /* residual of z in the requested norm */
    double start;          /* residual at the start */
    bool approached;       /* the residual has been within APPROACH times that for OGM-G to begin */
    int approach_products; /* products when `approached` became true; -finish if true at the start */
    double polish_below;   /* |R|^2 below which OGM-G may be tried again */
    double claim_below;    /* residual needed to claim convergence again after a false claim */
    double mark;           /* |R_z|^2 when |R_z| last halved */
    int mark_products;     /* products when |R_z| last halved */
    int since_refresh;     /* iterations since g was computed from x */
    int since_check;       /* iterations since z was measured */
} Run;

static const TalusParam params[] = {
    TALUS_CHOICE(Params, metric, TALUS_METRIC_ANISOTROPIC, talus_metric_names,
                 "diagonal scaling of the unknowns"),
    TALUS_INT(Params, memory, 5, 1, TALUS_PAIRS, "pairs of L-BFGS"),
    TALUS_REAL(Params, step, 1.6, 0.01, 1.99, "step of the forward-backward map, times L"),
    TALUS_REAL(Params, rise, 10.0, 0.0, 1e6,
               "a step stands while |R|^2 stays below this times the old one"),
    TALUS_INT(Params, check, 3, 1, 1000, "iterations between smoothing and residual evaluation"),
    TALUS_INT(Params, finish, 80, 0, MAX_FINISH,
              "iterations of OGM-G in the last phase; 0: no such phase"),
    TALUS_REAL(Params, near, 5.0, 1.25, 100.0,
               "residual over tolerance at which that phase first begins; learnt after that"),
    TALUS_REAL(Params, margin, 1.02, 1.0, 10.0, "factor on the norm estimate"),
    TALUS_INT(Params, patience, 1500, 1, 1e9,
              "products without the residual halving after which apgd takes over"),
};

/* apgd, which takes over if |R_z| does not halve, starts anew each time: its state need not be saved. */
enum { APGD };
static const TalusPart parts[] = {[APGD] = {"apgd", false}, {NULL, false}};

/* ---- beginning ---- */

/* Reserves the vectors and pairs, and fills the metric. */
static TalusStatus reserve_vectors(Run *run, Work *w)
{
    TalusQuasi *q = &run->q;
    TALUS_TRY(TALUS_RESERVE_VECTORS(run->s, &w->vectors, "quasi-Newton vectors", &q->x, &q->g,
                                    &q->r, &q->d, &q->x_next, &q->g_next, &q->r_next, &q->smooth_x,
                                    &q->smooth_g, &q->smooth_r));
    TALUS_TRY(talus_vectors_reserve(run->s, &w->pairs, run->p->memory + 1, q->pair,
                                    "quasi-Newton pairs"));
    run->h.memory = run->p->memory;
    return talus_solver_make_metric(run->s, (TalusMetric)run->p->metric, &w->metric, &q->metric);
}

/* Sets state->norm = L: that of the last solve, or a new estimate in the first solve and every NORM_LASTS solves; 1 if
 * the estimate is not positive. */
static void renew_norm(Run *run)
{
    State *state = run->state;
    bool known = state->norm > 0.0 && isfinite(state->norm);
    if (!known || state->uses >= NORM_LASTS) {
        state->norm =
            run->p->margin * talus_operator_norm(run->s, run->q.metric, TALUS_POWER_ITERATIONS,
                                                 run->q.x_next, run->q.g_next);
        state->uses = 0;
    }
    if (!(state->norm > 0.0))
        state->norm = 1.0; /* N = 0, or not a number, which the first residual shows */
    state->uses++;
}

/* Returns the power of two that scales pairs (s, y) to about length 1, for |R|^2 = r2. */
static double pair_unit(double r2)
{
    int exponent = 0;
    if (r2 > 0.0 && isfinite(r2))
        (void)frexp(r2, &exponent);
    return ldexp(1.0, -exponent / 2);
}

/* Computes R(x) anew with the step t of the current L. The pairs belong to the old R and are dropped unless
 * keep_pairs. */
static void recompute_residual(Run *run, bool keep_pairs, TalusForwardSums *sums)
{
    TalusQuasi *q = &run->q;
    q->step = run->p->step / run->state->norm;
    run->s->backend->block.forward_backward(run->s->op, q->metric, q->x, q->g, q->step, NULL, q->r,
                                            sums);
    run->r2 = sums->r2;
    run->rg = sums->rg;
    if (!keep_pairs)
        talus_lbfgs_drop_pairs(&run->h, q);
}

/* Computes g from x, with one product, which the caller counts. */
static void recompute_gradient(Run *run)
{
    run->s->backend->op.gradient(run->s->op, run->q.metric, run->q.x, true, run->q.g);
    run->since_refresh = 0;
}

/* Sets z = x, with its gradient and R_z. */
static void restart_smoothing(Run *run, TalusSmoothSums *sums)
{
    run->s->backend->step.quasi_smooth(run->s->op, &run->q, 1.0, sums);
    run->smooth_r2 = sums->r2;
}

/* ---- one iteration ---- */

/* Forms the direction d = -H R and the trial point x + d, with its gradient and residual in x_next, g_next and r_next;
 * one product, which the caller counts. Writes the inner products of the trial to `sums`. */
static void try_direction(Run *run, TalusQuasiSums *sums)
{
    double weight[2 * TALUS_PAIRS + 1];
    run->q.unit = pair_unit(run->r2);
    talus_lbfgs_direction(&run->h, weight);
    run->s->backend->step.quasi_direction(run->s->op, &run->q, weight);
    run->s->backend->step.quasi_step(run->s->op, &run->q, sums);
}

/* True if the trial point is acceptable: |R|^2 has grown at most by the factor `rise`, or the envelope does not
 * rise. */
static bool is_accepted(const Run *run, const TalusQuasiSums *sums)
{
    double envelope = sums->gd + 0.5 * sums->dw - (sums->rg - run->rg) +
                      (sums->r2 - run->r2) / (2.0 * run->q.step);
    return sums->r2 <= run->p->rise * run->r2 || envelope <= 0.0;
}

/* Makes the trial point the iterate and updates the pairs. */
static void accept_step(Run *run, const TalusQuasiSums *sums)
{
    TalusQuasi *q = &run->q;
    talus_lbfgs_update(&run->h, q, sums);
    talus_vector_swap(&q->x, &q->x_next);
    talus_vector_swap(&q->g, &q->g_next);
    talus_vector_swap(&q->r, &q->r_next);
    run->r2 = sums->r2;
    run->rg = sums->rg;
}

/* Raises L if N d is longer than L d. Then also computes R with the shorter step, drops the pairs, and sets z = x and
 * *along = |R|^2. */
static void raise_norm(Run *run, const TalusQuasiSums *sums, double *along)
{
    TalusForwardSums forward;
    TalusSmoothSums smoothed;
    if (!(sums->ww > run->state->norm * run->state->norm * sums->dd))
        return;
    run->state->norm = run->p->margin * sqrt(sums->ww / sums->dd);
    recompute_residual(run, false, &forward);
    restart_smoothing(run, &smoothed);
    *along = run->r2;
}

/* Moves x by one quasi-Newton step, or by the plain step T(x) if that is not accepted. Raises L and recomputes g where
 * due. Returns the products used and writes R_z'R to *along. */
static int run_quasi_newton(Run *run, double *along)
{
    int products = 1;
    TalusQuasiSums sums;
    try_direction(run, &sums);
    run->q.halve = true;
    for (int k = 0; k < HALVINGS && !is_accepted(run, &sums); k++)
        run->s->backend->step.quasi_step(run->s->op, &run->q, &sums);
    run->q.halve = false;
    if (!is_accepted(run, &sums)) { /* no halving helped: the plain step T(x) */
        talus_lbfgs_drop_pairs(&run->h, &run->q);
        try_direction(run, &sums);
        products++;
    }
    accept_step(run, &sums);
    *along = sums.smooth;
    raise_norm(run, &sums, along);
    if (++run->since_refresh >= REFRESH) {
        TalusForwardSums forward;
        recompute_gradient(run);
        recompute_residual(run, true, &forward);
        products++;
    }
    return products;
}

/* Sets z += eta (x - z) with the best eta, or z = x if |R_z| would exceed |R|; along is R_z'R. */
static void smooth_z(Run *run, double along, TalusSmoothSums *sums)
{
    double a = along - run->smooth_r2, b = run->r2 - 2.0 * along + run->smooth_r2;
    double eta = b > 0.0 ? fmin(fmax(-a / b, 0.0), 1.0) : 1.0;
    run->s->backend->step.quasi_smooth(run->s->op, &run->q, eta, sums);
    run->smooth_r2 = sums->r2;
    if (!(sums->r2 <= run->r2))
        restart_smoothing(run, sums);
}

/* ---- measuring ---- */

/* Writes P(x) to q.x_next and returns it. */
static const double *project_into_x_next(Run *run, const double *x)
{
    talus_vector_copy(run->s, x, run->q.x_next);
    run->s->backend->block.project(run->s->op, run->q.metric, run->q.x_next);
    return run->q.x_next;
}

/* Returns the tolerance that the estimated residual must reach. */
static double estimate_tolerance(const Run *run)
{
    return run->s->options->tolerance * run->s->tolerance_factor;
}

/* Returns the residual in the requested norm from its sum of squares and its maximum. */
static double residual_in_norm(const Run *run, double residual2, double residual_max)
{
    return run->s->options->norm == TALUS_NORM_MAX ? residual_max
                                                   : sqrt(residual2 / talus_all_blocks(run->s->op));
}

/* Counts and reports an iteration at x, whose residual is given. Returns true to go on. If the residual is within the
 * tolerance, the result P(x) is measured with one more product, and its residual is reported instead; claim_below is
 * lowered in case the claim is false. Overwrites q.x_next and q.g_next. */
static bool end_iteration(Run *run, int products, const double *x, double residual2,
                          double residual_max)
{
    TalusSolve *s = run->s;
    double now = residual_in_norm(run, residual2, residual_max);
    bool claim = now <= fmin(estimate_tolerance(run), run->claim_below);
    if (claim) {
        TalusForwardSums sums;
        const double *reported = project_into_x_next(run, x);
        run->claim_below = 0.9 * now;
        s->backend->op.gradient(s->op, run->q.metric, reported, true, run->q.g_next);
        s->backend->block.forward_backward(s->op, run->q.metric, reported, run->q.g_next,
                                           run->q.step, NULL, NULL, &sums);
        residual2 = sums.residual2;
        residual_max = sums.residual_max;
    }
    talus_solve_count(s, products + claim);
    const double *reported =
        talus_solve_wants_iterate(s) ? project_into_x_next(run, x) : run->q.x_next;
    return talus_solve_report(s, reported, run->q.metric, residual2, residual_max);
}

/* True if the iteration that is not counted yet is the last one of the budget. */
static bool is_last_iteration(const TalusSolve *s)
{
    return s->info->iterations + 1 >= s->options->max_iterations;
}

/* Asks the infeasibility monitor for a check whenever |z|^2 = x2 is more than 16 times its value at the last request:
 * quasi-Newton iterates diverge within few iterations, and the monitor's own snapshots would come too late. */
static void request_check_if_grown(Run *run, double x2)
{
    if (x2 > 16.0 * run->checked2) {
        talus_solve_request_infeasibility_check(run->s);
        run->checked2 = x2;
    }
}

/* Counts a quasi-Newton iteration; every `check` iterations, and in the last one, updates z by smoothing and reports
 * its residual. True to go on. */
static bool end_quasi_newton(Run *run, int products, double along)
{
    TalusSolve *s = run->s;
    TalusSmoothSums sums;
    if (++run->since_check < run->p->check && !is_last_iteration(s)) {
        talus_solve_count(s, products);
        return talus_solve_within_budget(s);
    }
    run->since_check = 0;
    smooth_z(run, along, &sums);
    request_check_if_grown(run, sums.x2);
    run->reached = residual_in_norm(run, sums.residual2, sums.residual_max);
    return end_iteration(run, products, run->q.smooth_x, sums.residual2, sums.residual_max);
}

/* ---- the last phase ---- */

/* Fills theta of OGM-G for `length` iterations: from theta_length = 1 backwards to theta_0. */
static void fill_ogm_theta(int length, double *theta)
{
    theta[length] = 1.0;
    for (int i = length - 1; i > 0; i--)
        theta[i] = 0.5 * (1.0 + sqrt(1.0 + 4.0 * theta[i + 1] * theta[i + 1]));
    theta[0] = 0.5 * (1.0 + sqrt(1.0 + 8.0 * theta[1] * theta[1]));
}

/* Returns `needed` raised to MIN_FINISH and limited to the parameter `finish`: the planned length of the next OGM-G. */
static int64_t clamp_length(const Run *run, int64_t needed)
{
    if (needed < MIN_FINISH)
        needed = MIN_FINISH;
    return needed < run->p->finish ? needed : run->p->finish;
}

/* Runs OGM-G once from z and its gradient, for state->length iterations, on which its weights depend. True to go on,
 * with z and its gradient at the end of the run. On convergence state->length becomes the length that was needed. */
static bool run_ogm(Run *run)
{
    const int length = (int)run->state->length;
    TalusSolve *s = run->s;
    TalusQuasi *q = &run->q;
    double theta[MAX_FINISH + 1], residual2, residual_max;
    fill_ogm_theta(length, theta);
    talus_vector_copy(run->s, q->smooth_x, q->d);
    for (int i = 0; i < length; i++) {
        double t = theta[i], next = 2.0 * theta[i + 1] - 1.0, now = 2.0 * t - 1.0;
        TalusOgm o = {.metric = q->metric,
                      .x = q->smooth_x,
                      .g = q->smooth_g,
                      .y = q->d,
                      .x_next = q->smooth_r,
                      .step = 1.0 / run->state->norm,
                      .along = (t - 1.0) * next / (t * now),
                      .over = next / now,
                      .want_residual = i > 0 && (i % run->p->check == 0 || is_last_iteration(s))};
        s->backend->step.ogm(s->op, &o, &residual2, &residual_max);
        int products = (i > 0) + (i == length - 1); /* for x, and for the last x_next */
        if (o.want_residual &&
            !end_iteration(run, products, q->smooth_x, residual2, residual_max)) {
            if (s->info->outcome == TALUS_OUTCOME_CONVERGED)
                run->state->length = clamp_length(run, i + 2);
            return false;
        }
        if (!o.want_residual) {
            talus_solve_count(s, products);
            if (!talus_solve_within_budget(s))
                return false;
        }
        talus_vector_swap(&q->smooth_x, &q->smooth_r);
        s->backend->op.gradient(s->op, q->metric, q->smooth_x, true, q->smooth_g);
    }
    return true;
}

/* Lowers the residual of z, already near the tolerance, by runs of OGM-G; x and the pairs do not change. Another run
 * follows while z stays near and the last run lowered its residual; a run of full length (`finish`) must halve it.
 * Adapts state->length and state->near for the next solves. True to go on with quasi-Newton steps. */
static bool repeat_ogm(Run *run)
{
    TalusQuasi *q = &run->q;
    State *state = run->state;
    double before, now = run->reached;
    bool first = true, full;
    do {
        TalusForwardSums sums;
        run->claim_below = INFINITY;
        if (!run_ogm(run)) {
            if (run->s->info->outcome == TALUS_OUTCOME_CONVERGED && first)
                state->near = fmin(NEAR_RISES * state->near, MAX_NEAR);
            return false;
        }
        run->s->backend->block.forward_backward(run->s->op, q->metric, q->smooth_x, q->smooth_g,
                                                q->step, NULL, q->smooth_r, &sums);
        run->smooth_r2 = sums.r2;
        before = now;
        now = residual_in_norm(run, sums.residual2, sums.residual_max);
        full = state->length == run->p->finish;
        if (full)
            state->near = fmax(state->near / NEAR_FALLS, MIN_NEAR);
        else
            state->length = 2 * state->length < run->p->finish ? 2 * state->length : run->p->finish;
        first = false;
    } while (now < (full ? 0.5 : 1.0) * before && now <= state->near * estimate_tolerance(run));
    run->claim_below = INFINITY;
    run->polish_below = run->r2 / (NEAR_FALLS * NEAR_FALLS);
    return true;
}

/* True if z was just measured and OGM-G may help: there is friction, z is near a tolerance that is not very tight,
 * quasi-Newton steps were slow before, and |R| has halved since the last run of OGM-G. Also notes when z approached. */
static bool is_ogm_worth_trying(Run *run)
{
    double near = run->state->near * estimate_tolerance(run);
    if (run->p->finish == 0 || run->s->op->rows == 1 || run->since_check > 0 ||
        estimate_tolerance(run) < TIGHT * run->start)
        return false;
    if (run->reached <= APPROACH * near && !run->approached) {
        run->approached = true;
        run->approach_products = run->s->info->products;
    }
    return run->reached <= near && run->r2 < run->polish_below &&
           run->s->info->products - run->approach_products >= run->state->length;
}

/* True if |R_z| has not halved within `patience` products. */
static bool is_stuck(Run *run)
{
    if (!(run->smooth_r2 > 0.25 * run->mark)) {
        run->mark = run->smooth_r2;
        run->mark_products = run->s->info->products;
    }
    return run->s->info->products - run->mark_products > run->p->patience;
}

/* ---- the solve ---- */

/* Sets x = P(gamma / s), its gradient and residual, and z = x. Counts and reports an iteration; true to go on. */
static bool begin_run(Run *run)
{
    TalusSolve *s = run->s;
    TalusForwardSums sums;
    TalusSmoothSums smoothed;
    talus_vector_copy(run->s, s->gamma, run->q.x);
    s->backend->op.scale(s->op, run->q.metric, true, run->q.x);
    s->backend->block.project(s->op, run->q.metric, run->q.x);
    recompute_gradient(run);
    recompute_residual(run, false, &sums);
    restart_smoothing(run, &smoothed);
    run->checked2 = smoothed.x2;
    run->reached = run->start = residual_in_norm(run, sums.residual2, sums.residual_max);
    run->approached = run->start <= APPROACH * run->state->near * estimate_tolerance(run);
    run->approach_products = -run->p->finish;
    run->mark = run->r2;
    run->mark_products = s->info->products;
    return talus_solve_next(s, 1, run->q.x, run->q.metric, sums.residual2, sums.residual_max);
}

/* `solve` of TalusSolverType: solves the problem from s->gamma, in place. */
static TalusStatus solve_lbfgs(TalusSolve *s)
{
    Run run = {.s = s,
               .p = s->params,
               .state = s->state,
               .claim_below = INFINITY,
               .polish_below = INFINITY};
    TALUS_TRY(reserve_vectors(&run, s->work));
    renew_norm(&run);
    if (!(run.state->near > 0.0))
        run.state->near = run.p->near;
    if (run.state->length < 1 || run.state->length > run.p->finish)
        run.state->length = run.p->finish;
    bool go = begin_run(&run), slow = false;
    if (go && is_ogm_worth_trying(&run))
        go = repeat_ogm(&run);
    while (go && !slow) {
        double along;
        int products = run_quasi_newton(&run, &along);
        go = end_quasi_newton(&run, products, along);
        if (go && is_ogm_worth_trying(&run))
            go = repeat_ogm(&run);
        slow = is_stuck(&run);
    }
    talus_vector_copy(s, project_into_x_next(&run, run.q.smooth_x), s->gamma);
    s->backend->op.scale(s->op, run.q.metric, false, s->gamma);
    return go ? talus_solve_hand_over(s, APGD, false) : TALUS_OK;
}

const TalusSolverType talus_solver_lbfgs_fb = {
    .name = "lbfgs-fb",
    .summary = "L-BFGS on the forward-backward residual, smoothed: fewest products with friction",
    .reference =
        "Stella, Themelis and Patrinos 2017 for the envelope; docs/explanation/default-solver.md",
    .takes = TALUS_TAKES_CONVEX,
    .through_products = true,
    TALUS_PARAMS(params, Params),
    .state_size = sizeof(State),
    .work_size = sizeof(Work),
    .parts = parts,
    .solve = solve_lbfgs,
};
