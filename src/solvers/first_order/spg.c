/* solvers/first_order/spg.c - spectral projected gradients with fall-back, preconditioned: P-SPG-FB of heyn-2012.
 *
 *     d = P_K(x - alpha g) - x,    x' = x + lambda d,    g' = g + lambda N d,
 * x = gamma / s with s^-2 the mean of each block's diagonal: the paper's averaged preconditioner, its Eqs. (21)-(23). N
 * is the operator in these variables. One number per block commutes with the projection, so this is line (5) of the
 * paper's listing. Without preconditioning s = 1.
 *     alpha   alternates |e|^2 / e'y (BB1, after odd iterations) and e'y / |y|^2 (BB2), lines (19)-(22), with the step
 *             e = lambda d and y = lambda N d: lambda cancels. It takes its upper bound where the curvature d'Nd is not
 *             positive.
 *     lambda  line (13), f' <= max of the last gll + 1 values + xi lambda d'g. f' - f is lambda d'g +
 *             lambda^2 d'Nd / 2, and values are stored as differences to the current one: no difference of two large
 *             numbers, and no product beside N d. Line (14) by interpolation.
 *     result  the last iterate if it converged, else that with the minimum |x - P(x - tau_g g)| / tau_g, Eq. (24);
 *             line (24) of the listing lacks the division. Measured in the preconditioned variables.
 * The paper's bounds on alpha, 1e-9 and 1e9, have the unit of mass without a preconditioner. Here they, tau_g and the
 * first alpha are multiples of 1 (preconditioned: the diagonal of the operator is 1) or of one over the operator's size
 * on a random vector. Lines (6)-(7) treat a direction that does not descend. Each block has d'g <= -|d|^2 / alpha, so
 * only rounding leads to these lines. On sliding contacts the sum d'g is rounding from about 1e-8 on and may become
 * positive; the bound -|d|^2 / alpha then replaces it. If d is zero the gradient is recomputed and alpha restarts.
 *
 * One product per iteration. A good method without friction; with friction it is slow
 * (docs/reference/solvers/first-order.md). */
#include "solvers/driver/best.h"
#include "solvers/first_order/gll.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>

enum { REFRESH = 200 }; /* iterations between gradients computed from x */

/* Values of the parameter step. */
enum { STEP_ALTERNATE, STEP_BB1, STEP_BB2 };

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    bool precondition;
    int step, gll;
    double xi, sigma_min, sigma_max, alpha_min, alpha_max, tau_g;
} Params;

typedef struct Work {
    double *g, *d, *nd; /* gradient at x; minus the d above; N times the vector d of this struct */
    TalusBest best;
    TalusVectors vectors, metric;
} Work;

typedef struct Run {
    const TalusMetricBlock *metric; /* NULL: not preconditioned */
    double *x;                      /* iterate, in the memory of gamma */
    double unit; /* unit of alpha and tau_g: 1, or one over the operator's size */
    double alpha;
    TalusGll gll;
} Run;

static const char *const steps[] = {"alternate", "bb1", "bb2", NULL};

static const TalusParam params[] = {
    TALUS_FLAG(Params, precondition, 1, "scale by each block's mean diagonal"),
    TALUS_CHOICE(Params, step, STEP_ALTERNATE, steps, "Barzilai-Borwein step length"),
    TALUS_INT(Params, gll, 10, 0, TALUS_GLL_MAX,
              "earlier objective values the line search remembers"),
    TALUS_REAL(Params, xi, 1e-4, 0.0, 0.5, "sufficient decrease (Armijo)"),
    TALUS_REAL(Params, sigma_min, 0.1, 1e-3, 0.9, "least factor on a rejected lambda"),
    TALUS_REAL(Params, sigma_max, 0.9, 0.1, 0.999, "largest factor on a rejected lambda"),
    TALUS_REAL(Params, alpha_min, 1e-9, 1e-15, 1.0, "least step length"),
    TALUS_REAL(Params, alpha_max, 1e9, 1.0, 1e15, "largest step length"),
    TALUS_REAL(Params, tau_g, 1.0, 1e-9, 1e3, "step in the measure that picks the result"),
};

/* Projects x onto K, since rounding in sums of feasible points leads out of K, and computes its gradient from x, since
 * updates of the gradient add up rounding. */
static void project_and_recompute_gradient(TalusSolve *s, Run *run)
{
    Work *w = s->work;
    s->backend->block.project(s->op, run->metric, run->x);
    s->backend->op.gradient(s->op, run->metric, run->x, true, w->g);
    s->info->products++;
}

/* Reserves memory, and sets the metric or the unit of alpha, the first x, its gradient and the first alpha. */
static TalusStatus begin_run(TalusSolve *s, const Params *p, Run *run)
{
    Work *w = s->work;
    *run = (Run){.x = s->gamma, .unit = 1.0, .gll.memory = p->gll};
    TALUS_TRY(
        TALUS_RESERVE_VECTORS(s, &w->vectors, "gradient and direction", &w->g, &w->d, &w->nd));
    TALUS_TRY(talus_best_begin(&w->best, s));
    if (p->precondition) {
        TALUS_TRY(talus_solver_make_metric(s, TALUS_METRIC_TRACE, &w->metric, &run->metric));
        s->backend->op.scale(s->op, run->metric, true, run->x);
    } else {
        double size = talus_operator_norm(s, NULL, 1, w->d, w->nd);
        run->unit = size > 0.0 ? 1.0 / size : 1.0;
    }
    run->alpha = run->unit;
    project_and_recompute_gradient(s, run);
    return TALUS_OK;
}

/* Lines (24)-(26): offers x as best iterate. Writes the residual of x to `sums`. */
static void offer_best(TalusSolve *s, const Params *p, Run *run, TalusForwardSums *sums)
{
    Work *w = s->work;
    double tau = p->tau_g * run->unit;
    s->backend->block.forward_backward(s->op, run->metric, run->x, w->g, tau, NULL, NULL, sums);
    talus_best_offer(&w->best, s, run->x, sqrt(sums->r2) / tau);
}

/* Lines (9)-(16), for f(x + lambda d) - f(x) = lambda slope + lambda^2 curvature / 2. Returns lambda and stores the new
 * value of f. */
static double search_line(const Params *p, Run *run, double slope, double curvature)
{
    double lambda = 1.0, ceiling = talus_gll_ceiling(&run->gll);
    while (lambda * slope + 0.5 * lambda * lambda * curvature > ceiling + p->xi * lambda * slope) {
        double lowest = -slope / curvature; /* minimum of the parabola */
        lambda = fmin(fmax(lowest, p->sigma_min * lambda), p->sigma_max * lambda);
    }
    talus_gll_add(&run->gll, lambda * slope + 0.5 * lambda * lambda * curvature);
    return lambda;
}

/* Returns the next alpha, lines (19)-(23), after iteration j: dd = d'd, curvature = d'N d, nd2 = |N d|^2. */
static double next_alpha(const Params *p, const Run *run, int j, double dd, double curvature,
                         double nd2)
{
    bool first = p->step == STEP_BB1 || (p->step == STEP_ALTERNATE && j % 2 == 1);
    double alpha = first ? dd / curvature : curvature / nd2;
    if (!(curvature > 0.0))
        alpha = INFINITY;
    return fmin(p->alpha_max * run->unit, fmax(p->alpha_min * run->unit, alpha));
}

/* Line search along the direction in w->d; moves x, updates the gradient and sets the next alpha. j: iteration; sums:
 * of the forward-backward step that gave the direction. */
static void advance_iterate(TalusSolve *s, const Params *p, Run *run, int j,
                            const TalusForwardSums *sums)
{
    Work *w = s->work;
    const double *both[2] = {w->d, w->nd};
    double dots[2], slope = -fmax(sums->rg, sums->r2 / run->alpha);
    s->backend->op.gradient(s->op, run->metric, w->d, false, w->nd);
    s->info->products++;
    s->backend->vector.dots(s->op, 2, both, w->nd, dots);
    double lambda = search_line(p, run, slope, dots[0]);
    s->backend->vector.axpby(s->op, -lambda, w->d, 1.0, run->x); /* w->d is minus the paper's d */
    s->backend->vector.axpby(s->op, -lambda, w->nd, 1.0, w->g);
    run->alpha = next_alpha(p, run, j, sums->r2, dots[0], dots[1]);
}

/* `solve` of TalusSolverType: solves the problem from s->gamma, in place. */
static TalusStatus solve_spg(TalusSolve *s)
{
    const Params *p = s->params;
    Work *w = s->work;
    Run run;
    TALUS_TRY(begin_run(s, p, &run));
    for (int j = 0;; j++) {
        TalusForwardSums sums;
        offer_best(s, p, &run, &sums);
        if (!talus_solve_next(s, 0, run.x, run.metric, sums.residual2, sums.residual_max))
            break;
        s->backend->block.forward_backward(s->op, run.metric, run.x, w->g, run.alpha, NULL, w->d,
                                           &sums);
        bool descends = sums.r2 > 0.0;
        if (descends)
            advance_iterate(s, p, &run, j, &sums);
        else
            run.alpha = run.unit;
        if (!descends || j % REFRESH == REFRESH - 1)
            project_and_recompute_gradient(s, &run);
    }
    talus_best_restore(&w->best, s, s->gamma);
    if (run.metric)
        s->backend->op.scale(s->op, run.metric, false, s->gamma);
    s->backend->block.project(s->op, NULL, s->gamma);
    return TALUS_OK;
}

const TalusSolverType talus_solver_spg = {
    .name = "spg",
    .summary = "spectral projected gradients, preconditioned, with fall-back (P-SPG-FB)",
    .reference = "heyn-2012, algorithm P-SPG-FB; Birgin, Martinez and Raydan 2000",
    .takes = TALUS_TAKES_CONVEX,
    .through_products = true,
    TALUS_PARAMS(params, Params),
    .work_size = sizeof(Work),
    .solve = solve_spg,
};
