/* solvers/first_order/anderson.c - Anderson acceleration of projected Jacobi or projected gradients, safeguarded.
 *
 * In a metric x = gamma / s the plain method is x' = P(x - omega g(x)). It is accelerated
 * (solvers/first_order/extrapolate.h) as a map of the point before the projection, y -> h(y) = x - omega g(x), x =
 * P(y). y retains what the projection discards: how far the impulse of a contact is beyond the boundary of its set. An
 * extrapolated y needs no further projection, and one product gives g, the residual of x and the next step. (A method
 * that extrapolates x and projects it needs more iterations at tight tolerances:
 * docs/reference/solvers/first-order.md.)
 *
 * The plain map does not expand if omega is at most 2 over the operator's norm. So omega is halved if a plain step (the
 * first step, and each step after a rejected extrapolation) increases |h - y|. This test of the step length costs no
 * product.
 *
 * map=jacobi    omega itself: in the metric the diagonal is 1 (heyn-2012 Eq. 12)
 * map=gradient  omega over the norm of the operator, by power iteration in the first solve
 *
 * One product per iteration. The residual is not monotone; a solve that does not converge returns its best iterate. */
#include "solvers/first_order/extrapolate.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>

/* Values of the parameter map. */
enum { MAP_JACOBI, MAP_GRADIENT };

/* Default step lengths. */
static const double JACOBI_OMEGA = 0.4, GRADIENT_OMEGA = 1.5;
/* Factor on the norm of the last solve, since the norm of this problem may be smaller. */
static const double FORGET = 0.97;

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    int map, metric, memory;
    double omega, regular, factor;
} Params;

typedef struct Work {
    TalusExtrapolation extrapolation;
    TalusBest best;
    TalusVectors metric;
} Work;

typedef struct Run {
    const TalusMetricBlock *metric;
    double *x;    /* P(y), in the memory of gamma */
    double omega; /* current step length, in the metric */
} Run;

static const char *const maps[] = {"jacobi", "gradient", NULL};
static const TalusParam params[] = {
    TALUS_CHOICE(Params, map, MAP_JACOBI, maps, "what is accelerated"),
    TALUS_CHOICE(Params, metric, TALUS_METRIC_ANISOTROPIC, talus_metric_names,
                 "diagonal scaling of the unknowns"),
    TALUS_REAL(Params, omega, 0.0, 0.0, 10.0,
               "step over the inverse diagonal or norm; 0 takes 0.4 (jacobi) or 1.5 (gradient)"),
    TALUS_INT(Params, memory, 10, 1, TALUS_EXTRAPOLATE_MEMORY, "differences kept"),
    TALUS_REAL(Params, regular, 1e-10, 0.0, 1.0, "added to the scaled Gram matrix"),
    TALUS_REAL(Params, factor, 2.0, 1.0, 1e6,
               "growth of the fixed-point residual that is accepted"),
};

/* Computes x, h and the residual of x from y. */
static void evaluate_map(TalusSolve *s, Run *run, TalusForwardSums *sums)
{
    Work *w = s->work;
    double *h = w->extrapolation.part[0].h;
    talus_vector_copy(s, w->extrapolation.part[0].y, run->x);
    s->backend->block.project(s->op, run->metric, run->x);
    s->backend->op.gradient(s->op, run->metric, run->x, true, h);
    s->backend->block.forward_backward(s->op, run->metric, run->x, h, run->omega, NULL, NULL, sums);
    s->backend->vector.axpby(s->op, 1.0, run->x, -run->omega, h);
}

/* Halves omega after an expanding plain step, which shows that omega exceeds 2 over the norm; sets y = x - omega g for
 * the new omega and empties the memory of the extrapolation. For map=gradient also doubles the norm that is kept for
 * the next solve. */
static void halve_omega(TalusSolve *s, const Params *p, Run *run)
{
    TalusExtrapolation *e = &((Work *)s->work)->extrapolation;
    s->backend->vector.axpby(s->op, 0.5, run->x, 0.5, e->part[0].y);
    run->omega *= 0.5;
    if (p->map == MAP_GRADIENT)
        ((TalusNormState *)s->state)->norm *= 2.0;
    talus_extrapolate_empty_memory(e);
}

/* Iterates until the driver ends the solve. */
static void run_iterations(TalusSolve *s, const Params *p, Run *run)
{
    TalusExtrapolation *e = &((Work *)s->work)->extrapolation;
    TalusBest *best = &((Work *)s->work)->best;
    TalusForwardSums sums;
    for (;;) {
        evaluate_map(s, run, &sums);
        talus_best_offer(best, s, run->x, sums.residual2);
        if (!talus_solve_next(s, 1, run->x, run->metric, sums.residual2, sums.residual_max))
            return;
        if (talus_extrapolate_next(e, s) == TALUS_EXTRAPOLATE_EXPANDED)
            halve_omega(s, p, run);
    }
}

/* Returns the first omega; for map=gradient it is divided by the norm, which is estimated by power iteration in the
 * first solve. The power iteration uses vectors of the extrapolation, still without contents, as work vectors. */
static double first_omega(TalusSolve *s, const Params *p, const Run *run)
{
    TalusNormState *state = s->state;
    TalusExtrapolated *part = ((Work *)s->work)->extrapolation.part;
    if (p->map == MAP_JACOBI)
        return p->omega > 0.0 ? p->omega : JACOBI_OMEGA;
    talus_norm_renew(s, state, run->metric, FORGET, 1.0, part->y, part->h);
    double omega = p->omega > 0.0 ? p->omega : GRADIENT_OMEGA;
    return state->norm > 0.0 ? omega / state->norm : omega;
}

/* `solve` of TalusSolverType: solves the problem from s->gamma, in place. */
static TalusStatus solve_anderson(TalusSolve *s)
{
    const Params *p = s->params;
    Work *w = s->work;
    Run run = {.x = s->gamma};
    TALUS_TRY(talus_solver_make_metric(s, (TalusMetric)p->metric, &w->metric, &run.metric));
    TALUS_TRY(talus_best_begin(&w->best, s));
    TALUS_TRY(talus_extrapolate_begin(&w->extrapolation, s, 1, p->memory));
    w->extrapolation.regular = p->regular;
    w->extrapolation.factor = p->factor;
    run.omega = first_omega(s, p, &run);
    s->backend->op.scale(s->op, run.metric, true, run.x);
    talus_vector_copy(s, run.x, w->extrapolation.part[0].y);
    run_iterations(s, p, &run);
    talus_best_restore(&w->best, s, s->gamma);
    s->backend->op.scale(s->op, run.metric, false, s->gamma);
    s->backend->block.project(s->op, NULL, s->gamma);
    return TALUS_OK;
}

const TalusSolverType talus_solver_anderson = {
    .name = "anderson",
    .summary =
        "Anderson acceleration of projected Jacobi, safeguarded: few products to high accuracy",
    .reference = "Anderson 1965; Walker and Ni 2011; the map: heyn-2012 Eq. (12)",
    .takes = TALUS_TAKES_CONVEX,
    .through_products = true,
    TALUS_PARAMS(params, Params),
    .state_size = sizeof(TalusNormState),
    .work_size = sizeof(Work),
    .solve = solve_anderson,
};
