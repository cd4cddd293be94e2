/* solvers/first_order/lbfgs_fb.c - quasi-Newton on the forward-backward residual: fewest products.
 *
 * In the metric of apgd, x = gamma / s, with N for S (N + E) S, f(x) = x'(N x / 2 + q), g its gradient and L the norm
 * of N:
 *     T(x) = P(x - t g),  R(x) = x - T(x),  t = 1.6 / L
 *     x+ = x - H R(x),    H: L-BFGS from the last five pairs (x+ - x, R+ - R)
 * One product per iteration, N d with d = -H R: g+ = g + N d; g is recomputed from x every 300 iterations. A step is
 * accepted if the forward-backward envelope f(x) - g'R + |R|^2 / (2 t) does not rise, by its difference
 *     g'd + d'N d / 2 - (g+'R+ - g'R) + (|R+|^2 - |R|^2) / (2 t),
 * or if |R|^2 does not become more than `rise` times as large: rounding hides the difference long before R, and R of a
 * good step may grow. Otherwise d is halved, which needs no product, up to five times. After that the pairs are dropped
 * and x+ = T(x), for one more product.
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

#include "base/status.h"

#include <math.h>

/* Residual over tolerance at which OGM-G begins, State.near: its bounds, and the factors by which it is adapted. */
static const double MIN_NEAR = 1.25, MAX_NEAR = 8.0, NEAR_RISES = 1.2, NEAR_FALLS = 2.0;

/* OGM-G is not used for tolerances below TIGHT times the starting residual, or if the quasi-Newton method took fewer
 * products for the last reduction of the residual, by APPROACH, than OGM-G has planned iterations. */
static const double TIGHT = 3e-4, APPROACH = 4.0;

enum { MIN_FINISH = 8, MAX_FINISH = 400 }; /* bounds of the planned iterations of OGM-G */

enum { NORM_LASTS = 64, REFRESH = 300, HALVINGS = 5 };

typedef struct Params {
    int metric, memory, check, finish, patience;
    double step, rise, margin, near;
} Params;

typedef struct State {
    double norm;    /* L, 0 before the first solve */
    int64_t uses;   /* solves since L was estimated */
    double near;    /* residual over tolerance at which OGM-G begins; 0 before the first */
    int64_t length; /* planned iterations of OGM-G */
} State;

typedef struct Work {
    TalusVectors vectors, pairs, metric;
} Work;

/* State of one solve. */
typedef struct Run {
    TalusSolve *s;
    const Params *p;
    State *state;
    TalusQuasi q;
    TalusLbfgs h;
    double r2, rg;         /* |R|^2 and R'g */
    double smooth_r2;      /* |R_z|^2 */
    double checked2;       /* |z|^2 when the infeasibility monitor was last asked to check */
    double reached;        /* residual of z in the requested norm */
    double start;          /* residual at the start */
    bool approached;       /* the residual is within APPROACH times that at which OGM-G begins */
    int approach_products; /* products at that time; -finish if the start was within */
    double polish_below;   /* |R|^2 below which OGM-G may be tried again */
    double claim_below;    /* residual needed to claim convergence again after a false claim */
    double mark;           /* |R_z|^2 when |R_z| last halved */
    int mark_products;     /* products at that time */
    int since_refresh, since_check;
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

static TalusStatus reserve(Run *run, Work *w)
{
    TalusQuasi *q = &run->q;
    TALUS_TRY(TALUS_VECTORS(run->s, &w->vectors, "quasi-Newton vectors", &q->x, &q->g, &q->r, &q->d,
                            &q->x_next, &q->g_next, &q->r_next, &q->smooth_x, &q->smooth_g,
                            &q->smooth_r));
    TALUS_TRY(talus_vectors_reserve(run->s, &w->pairs, run->p->memory + 1, q->pair,
                                    "quasi-Newton pairs"));
    run->h.memory = run->p->memory;
    return talus_solver_metric(run->s, (TalusMetric)run->p->metric, &w->metric, &q->metric);
}

static void estimate_norm(Run *run)
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
static double unit_of(double r2)
{
    int exponent = 0;
    if (r2 > 0.0 && isfinite(r2))
        (void)frexp(r2, &exponent);
    return ldexp(1.0, -exponent / 2);
}

/* Computes R(x) anew with the step t of the current L. The pairs belong to the old R and are dropped unless
 * keep_pairs. */
static void residual_anew(Run *run, bool keep_pairs, TalusForwardSums *sums)
{
    TalusQuasi *q = &run->q;
    q->step = run->p->step / run->state->norm;
    run->s->backend->block.forward_backward(run->s->op, q->metric, q->x, q->g, q->step, NULL, q->r,
                                            sums);
    run->r2 = sums->r2;
    run->rg = sums->rg;
    if (!keep_pairs)
        talus_lbfgs_forget(&run->h, q);
}

static void gradient_anew(Run *run)
{
    run->s->backend->op.gradient(run->s->op, run->q.metric, run->q.x, true, run->q.g);
    run->since_refresh = 0;
}

static void start_smoothing(Run *run, TalusSmoothSums *sums)
{
    run->s->backend->step.quasi_smooth(run->s->op, &run->q, 1.0, sums);
    run->smooth_r2 = sums->r2;
}

/* ---- one iteration ---- */

/* Takes the direction d = -H R and computes the sums at the new point. */
static void step(Run *run, TalusQuasiSums *sums)
{
    double weight[2 * TALUS_PAIRS + 1];
    run->q.unit = unit_of(run->r2);
    talus_lbfgs_direction(&run->h, weight);
    run->s->backend->step.quasi_direction(run->s->op, &run->q, weight);
    run->s->backend->step.quasi_step(run->s->op, &run->q, sums);
}

/* True if the step is accepted: |R|^2 has grown at most by the factor `rise`, or the envelope does not rise. */
static bool stands(const Run *run, const TalusQuasiSums *sums)
{
    double envelope = sums->gd + 0.5 * sums->dw - (sums->rg - run->rg) +
                      (sums->r2 - run->r2) / (2.0 * run->q.step);
    return sums->r2 <= run->p->rise * run->r2 || envelope <= 0.0;
}

static void move(Run *run, const TalusQuasiSums *sums)
{
    TalusQuasi *q = &run->q;
    talus_lbfgs_update(&run->h, q, sums);
    talus_swap(&q->x, &q->x_next);
    talus_swap(&q->g, &q->g_next);
    talus_swap(&q->r, &q->r_next);
    run->r2 = sums->r2;
    run->rg = sums->rg;
}

/* Raises L if w = N d is longer than L d. R is then computed anew with the shorter step, the pairs are dropped, z = x,
 * and *along = |R|^2. */
static void raise_norm(Run *run, const TalusQuasiSums *sums, double *along)
{
    TalusForwardSums forward;
    TalusSmoothSums smoothed;
    if (!(sums->ww > run->state->norm * run->state->norm * sums->dd))
        return;
    run->state->norm = run->p->margin * sqrt(sums->ww / sums->dd);
    residual_anew(run, false, &forward);
    start_smoothing(run, &smoothed);
    *along = run->r2;
}

/* Runs one iteration up to its new x. Returns its products and writes R_z'R to *along. */
static int advance(Run *run, double *along)
{
    int products = 1;
    TalusQuasiSums sums;
    step(run, &sums);
    run->q.halve = true;
    for (int k = 0; k < HALVINGS && !stands(run, &sums); k++)
        run->s->backend->step.quasi_step(run->s->op, &run->q, &sums);
    run->q.halve = false;
    if (!stands(run, &sums)) { /* no halving helped: the plain step T(x) */
        talus_lbfgs_forget(&run->h, &run->q);
        step(run, &sums);
        products++;
    }
    move(run, &sums);
    *along = sums.smooth;
    raise_norm(run, &sums, along);
    if (++run->since_refresh >= REFRESH) {
        TalusForwardSums forward;
        gradient_anew(run);
        residual_anew(run, true, &forward);
        products++;
    }
    return products;
}

/* z += eta (x - z) with the best eta, or z = x if |R_z| would exceed |R|; along is R_z'R. */
static void smooth(Run *run, double along, TalusSmoothSums *sums)
{
    double a = along - run->smooth_r2, b = run->r2 - 2.0 * along + run->smooth_r2;
    double eta = b > 0.0 ? fmin(fmax(-a / b, 0.0), 1.0) : 1.0;
    run->s->backend->step.quasi_smooth(run->s->op, &run->q, eta, sums);
    run->smooth_r2 = sums->r2;
    if (!(sums->r2 <= run->r2))
        start_smoothing(run, sums);
}

/* ---- measuring ---- */

/* Returns P(x), in x_next. */
static const double *projected(Run *run, const double *x)
{
    talus_copy(run->s, x, run->q.x_next);
    run->s->backend->block.project(run->s->op, run->q.metric, run->q.x_next);
    return run->q.x_next;
}

static double goal(const Run *run)
{
    return run->s->options->tolerance * run->s->tolerance_factor;
}

/* The residual in the requested norm. */
static double reached(const Run *run, double residual2, double residual_max)
{
    return run->s->options->norm == TALUS_NORM_MAX ? residual_max
                                                   : sqrt(residual2 / run->s->op->blocks);
}

/* Ends an iteration at x, whose residual is given. Returns true to go on. If the residual suffices, the result P(x) is
 * measured with one more product, and its residual decides. Overwrites q.x_next and q.g_next. */
static bool judge(Run *run, int products, const double *x, double residual2, double residual_max)
{
    TalusSolve *s = run->s;
    double now = reached(run, residual2, residual_max);
    bool claim = now <= fmin(goal(run), run->claim_below);
    if (claim) {
        TalusForwardSums sums;
        const double *reported = projected(run, x);
        run->claim_below = 0.9 * now;
        s->backend->op.gradient(s->op, run->q.metric, reported, true, run->q.g_next);
        s->backend->block.forward_backward(s->op, run->q.metric, reported, run->q.g_next,
                                           run->q.step, NULL, NULL, &sums);
        residual2 = sums.residual2;
        residual_max = sums.residual_max;
    }
    talus_solve_count(s, products + claim);
    const double *reported = talus_solve_wants_iterate(s) ? projected(run, x) : run->q.x_next;
    return talus_solve_report(s, reported, run->q.metric, residual2, residual_max);
}

static bool last_iteration(const TalusSolve *s)
{
    return s->info->iterations + 1 >= s->options->max_iterations;
}

/* Asks the infeasibility monitor for a check whenever |z|^2 = x2 is more than 16 times that at the last request:
 * quasi-Newton iterates diverge within few iterations, and its own snapshots would come too late. */
static void suspect(Run *run, double x2)
{
    if (x2 > 16.0 * run->checked2) {
        talus_solve_suspect(run->s);
        run->checked2 = x2;
    }
}

/* Ends a quasi-Newton iteration: counts it; every `check` iterations, and in the last, smooths and measures z. True to
 * go on. */
static bool finish(Run *run, int products, double along)
{
    TalusSolve *s = run->s;
    TalusSmoothSums sums;
    if (++run->since_check < run->p->check && !last_iteration(s)) {
        talus_solve_count(s, products);
        return talus_solve_within_budget(s);
    }
    run->since_check = 0;
    smooth(run, along, &sums);
    suspect(run, sums.x2);
    run->reached = reached(run, sums.residual2, sums.residual_max);
    return judge(run, products, run->q.smooth_x, sums.residual2, sums.residual_max);
}

/* ---- the last phase ---- */

/* theta of OGM-G with `length` iterations: theta_length = 1, backwards to theta_0. */
static void ogm_weights(int length, double *theta)
{
    theta[length] = 1.0;
    for (int i = length - 1; i > 0; i--)
        theta[i] = 0.5 * (1.0 + sqrt(1.0 + 4.0 * theta[i + 1] * theta[i + 1]));
    theta[0] = 0.5 * (1.0 + sqrt(1.0 + 8.0 * theta[1] * theta[1]));
}

/* Returns the planned length of the next OGM-G, if `needed` iterations sufficed this time. */
static int64_t shorter(const Run *run, int64_t needed)
{
    if (needed < MIN_FINISH)
        needed = MIN_FINISH;
    return needed < run->p->finish ? needed : run->p->finish;
}

/* Runs OGM-G once from z and its gradient. True to go on, with z and its gradient at the end of the run. The weights
 * depend on the planned length, state->length; on convergence it becomes the length that was needed. */
static bool polish(Run *run)
{
    const int length = (int)run->state->length;
    TalusSolve *s = run->s;
    TalusQuasi *q = &run->q;
    double theta[MAX_FINISH + 1], residual2, residual_max;
    ogm_weights(length, theta);
    talus_copy(run->s, q->smooth_x, q->d);
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
                      .want_residual = i > 0 && (i % run->p->check == 0 || last_iteration(s))};
        s->backend->step.ogm(s->op, &o, &residual2, &residual_max);
        int products = (i > 0) + (i == length - 1); /* for x, and for the last x_next */
        if (o.want_residual && !judge(run, products, q->smooth_x, residual2, residual_max)) {
            if (s->info->outcome == TALUS_OUTCOME_CONVERGED)
                run->state->length = shorter(run, i + 2);
            return false;
        }
        if (!o.want_residual) {
            talus_solve_count(s, products);
            if (!talus_solve_within_budget(s))
                return false;
        }
        talus_swap(&q->smooth_x, &q->smooth_r);
        s->backend->op.gradient(s->op, q->metric, q->smooth_x, true, q->smooth_g);
    }
    return true;
}

/* Lowers the residual of z, already near the goal, by OGM-G; x and the pairs do not change. Repeats this while z stays
 * near and a run of full length (`finish`) at least halves its residual, or a shorter one lowers it. Learns the length
 * and how near z must be. True to go on with quasi-Newton steps. */
static bool polish_down(Run *run)
{
    TalusQuasi *q = &run->q;
    State *state = run->state;
    double before, now = run->reached;
    bool first = true, full;
    do {
        TalusForwardSums sums;
        run->claim_below = INFINITY;
        if (!polish(run)) {
            if (run->s->info->outcome == TALUS_OUTCOME_CONVERGED && first)
                state->near = fmin(NEAR_RISES * state->near, MAX_NEAR);
            return false;
        }
        run->s->backend->block.forward_backward(run->s->op, q->metric, q->smooth_x, q->smooth_g,
                                                q->step, NULL, q->smooth_r, &sums);
        run->smooth_r2 = sums.r2;
        before = now;
        now = reached(run, sums.residual2, sums.residual_max);
        full = state->length == run->p->finish;
        if (full)
            state->near = fmax(state->near / NEAR_FALLS, MIN_NEAR);
        else
            state->length = 2 * state->length < run->p->finish ? 2 * state->length : run->p->finish;
        first = false;
    } while (now < (full ? 0.5 : 1.0) * before && now <= state->near * goal(run));
    run->claim_below = INFINITY;
    run->polish_below = run->r2 / (NEAR_FALLS * NEAR_FALLS);
    return true;
}

/* True if OGM-G is worth a try, with z just measured: there is friction, z is near a goal that is not very tight,
 * quasi-Newton steps were slow before, and |R| has halved since the last try. */
static bool is_near(Run *run)
{
    double near = run->state->near * goal(run);
    if (run->p->finish == 0 || run->s->op->rows == 1 || run->since_check > 0 ||
        goal(run) < TIGHT * run->start)
        return false;
    if (run->reached <= APPROACH * near && !run->approached) {
        run->approached = true;
        run->approach_products = run->s->info->products;
    }
    return run->reached <= near && run->r2 < run->polish_below &&
           run->s->info->products - run->approach_products >= run->state->length;
}

/* True if |R_z| has not halved within `patience` products. */
static bool stuck(Run *run)
{
    if (!(run->smooth_r2 > 0.25 * run->mark)) {
        run->mark = run->smooth_r2;
        run->mark_products = run->s->info->products;
    }
    return run->s->info->products - run->mark_products > run->p->patience;
}

/* ---- the solve ---- */

/* Sets x = P(gamma / s), its gradient and residual, and z = x. Counts an iteration; true to go on. */
static bool begin(Run *run)
{
    TalusSolve *s = run->s;
    TalusForwardSums sums;
    TalusSmoothSums smoothed;
    talus_copy(run->s, s->gamma, run->q.x);
    s->backend->op.scale(s->op, run->q.metric, true, run->q.x);
    s->backend->block.project(s->op, run->q.metric, run->q.x);
    gradient_anew(run);
    residual_anew(run, false, &sums);
    start_smoothing(run, &smoothed);
    run->checked2 = smoothed.x2;
    run->reached = run->start = reached(run, sums.residual2, sums.residual_max);
    run->approached = run->start <= APPROACH * run->state->near * goal(run);
    run->approach_products = -run->p->finish;
    run->mark = run->r2;
    run->mark_products = s->info->products;
    return talus_solve_next(s, 1, run->q.x, run->q.metric, sums.residual2, sums.residual_max);
}

static TalusStatus solve_lbfgs(TalusSolve *s)
{
    Run run = {.s = s,
               .p = s->params,
               .state = s->state,
               .claim_below = INFINITY,
               .polish_below = INFINITY};
    TALUS_TRY(reserve(&run, s->work));
    estimate_norm(&run);
    if (!(run.state->near > 0.0))
        run.state->near = run.p->near;
    if (run.state->length < 1 || run.state->length > run.p->finish)
        run.state->length = run.p->finish;
    bool go = begin(&run), slow = false;
    if (go && is_near(&run))
        go = polish_down(&run);
    while (go && !slow) {
        double along;
        int products = advance(&run, &along);
        go = finish(&run, products, along);
        if (go && is_near(&run))
            go = polish_down(&run);
        slow = stuck(&run);
    }
    talus_copy(s, projected(&run, run.q.smooth_x), s->gamma);
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
