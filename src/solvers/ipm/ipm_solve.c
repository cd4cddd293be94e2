/* solvers/ipm/ipm_solve.c - the interior point method of ipm_qp.h as a solver: shared by ipm-chol and ipm-aug.
 *
 * The given impulses are measured first and returned if good enough. Otherwise the method starts from the data or, with
 * warm=on, near the given impulses. Products with N are counted with their iteration; factorisations are counted
 * separately. A solve that OOQP's rule (stop=ooqp) ends has the outcome `budget` unless the driver finds its residual
 * within the tolerance. */
#include "solvers/ipm/ipm_ends.h"
#include "solvers/ipm/ipm_qp.h"

#include "base/status.h"

#include <math.h>
#include <string.h>

/* OOQP's tolerances: of the mean product, J, and of the infeasibility over the size of the data. */
static const double OOQP_MEAN = 1e-8, OOQP_INFEASIBILITY = 1e-8;

/* PATIENCE: iterations without a residual below BETTER times the minimum, after which the method ends. GROWN: if a
 * multiplier times its scale exceeds this multiple of the largest |kappa|, multipliers may be growing without bound,
 * and the infeasibility monitor is asked for a check. */
enum { PATIENCE = 12 };
static const double BETTER = 0.9, GROWN = 1e3;

const char *const talus_ipm_correctors[] = {"auto", "0", "1", "2", "3", "4", "5", "6", NULL};
const char *const talus_ipm_stops[] = {"residual", "ooqp", NULL};

/* `product` of TalusIpm; context is a TalusSolve. */
static void multiply_by_operator(void *context, const double *gamma, double *u)
{
    const TalusSolve *s = context;
    s->backend->op.product(s->op, gamma, true, false, u);
}

/* Returns the maximum number of centrality correctors: the parameter, or HOPDM's rule (Gondzio 1996), one, two or three
 * if a factorisation costs more than 10, 30 or 50 solutions. */
static int corrector_count(const TalusIpmParams *p, const TalusIpmSystem *system)
{
    double ratio = talus_ipm_system_cost_ratio(system);
    if (p->correctors > 0)
        return p->correctors - 1;
    return (ratio > 10.0) + (ratio > 30.0) + (ratio > 50.0);
}

/* Returns the direct solver of the parameter `linear`; auto: the first of `kinds` that this build has. */
static TalusDirectKind choose_direct(const TalusIpmParams *p, const TalusDirectKind kinds[2])
{
    if (p->linear > 0)
        return kinds[p->linear - 1];
    return talus_direct_missing(kinds[0]) ? kinds[1] : kinds[0];
}

/* Writes the iterate's impulses, projected against rounding, to `shown` and measures their natural residual. Leaves (N
 * + E) gamma in ipm->velocity for talus_ipm_evaluate; overwrites ipm->impulse. */
static void measure_iterate(TalusSolve *s, TalusIpm *ipm, double *shown, TalusForwardSums *sums)
{
    talus_qp_impulses(&ipm->qp, ipm->vector[TALUS_IPM_LAMBDA], shown);
    s->backend->block.project(s->op, NULL, shown);
    s->backend->op.product(s->op, shown, true, false, ipm->velocity);
    ipm->products++;
    for (int k = 0; k < ipm->qp.rows * ipm->qp.blocks; k++)
        ipm->impulse[k] = ipm->velocity[k] + ipm->qp.offset[k];
    s->backend->block.forward_backward(s->op, NULL, shown, ipm->impulse, 1.0, NULL, NULL, sums);
}

/* OOQP's rule: the mean of the products lambda w is at most 1e-8, a number with a unit, and the infeasibility 1e-8
 * times the size of the data, `datum`. */
static bool meets_ooqp(const TalusIpm *ipm, double datum)
{
    return ipm->mu <= OOQP_MEAN && ipm->infeasibility <= OOQP_INFEASIBILITY * datum;
}

/* Returns the largest multiplier times its scale, m/s. */
static double largest_multiplier(const TalusIpm *ipm)
{
    double max = 0.0;
    for (int k = 0; k < ipm->qp.multipliers; k++)
        max = fmax(max, ipm->qp.scale[k] * fabs(ipm->vector[TALUS_IPM_LAMBDA][k]));
    return max;
}

/* Takes one step, unless `idle`, the number of iterations without progress, exceeds PATIENCE or mu is 0 (free joints
 * alone have no mu: their steps refine one solution). *on: true if
 * the step was taken; false also if the factorisation failed. */
static TalusStatus step_unless_idle(TalusSolve *s, TalusIpm *ipm, int idle, bool *on)
{
    int before = ipm->system.factorisations;
    *on = idle <= PATIENCE && (ipm->mu > 0.0 || ipm->pairs == 0);
    if (!*on)
        return TALUS_OK;
    TalusStatus status = talus_ipm_step(ipm);
    s->info->factorisations += ipm->system.factorisations - before;
    *on = status == TALUS_OK;
    return status == TALUS_ERR_NUMERIC ? TALUS_OK : status;
}

/* Takes steps until the driver or OOQP's rule ends the solve, or progress stops. */
static TalusStatus run_iterations(TalusSolve *s, TalusIpmWork *w)
{
    TalusIpm *ipm = &w->ipm;
    double least = INFINITY;
    bool on = true;
    for (int idle = 0; on;) {
        TalusForwardSums sums;
        measure_iterate(s, ipm, s->gamma, &sums);
        if (!isfinite(sums.residual2))
            break;
        talus_ipm_evaluate(ipm);
        talus_best_offer(&w->best, s, s->gamma, sums.residual2);
        if (largest_multiplier(ipm) > GROWN * ipm->speed)
            talus_solve_request_infeasibility_check(s);
        int products = ipm->products;
        ipm->products = 0;
        if (!talus_solve_next(s, products, s->gamma, NULL, sums.residual2, sums.residual_max) ||
            (w->datum > 0.0 && meets_ooqp(ipm, w->datum)))
            return TALUS_OK;
        idle = sums.residual2 < BETTER * BETTER * least ? 0 : idle + 1;
        least = fmin(least, sums.residual2);
        TALUS_TRY(step_unless_idle(s, ipm, idle, &on));
    }
    talus_ipm_end_with_best(s, &w->best, ipm->products);
    return TALUS_OK;
}

/* Fills the quadratic program and sets up the linear systems and the data of the iteration. */
static TalusStatus prepare_ipm(TalusSolve *s, TalusIpmWork *w)
{
    const TalusIpmVariant *variant = s->type->variant;
    TalusIpm *ipm = &w->ipm;
    const TalusIpmParams *p = s->params;
    TALUS_TRY(talus_qp_fill_with_joints(&ipm->qp, s->problem));
    TALUS_TRY(talus_ipm_reserve(ipm));
    TALUS_TRY(talus_ipm_system_prepare(&ipm->system, variant->form,
                                       choose_direct(p, variant->kinds), &ipm->qp, s->problem));
    w->datum = p->stop == 1 ? talus_qp_data_scale(&ipm->qp, &ipm->system.lower) : 0.0;
    ipm->correctors = corrector_count(p, &ipm->system);
    ipm->product = multiply_by_operator;
    ipm->context = s;
    ipm->products = 0;
    return TALUS_OK;
}

/* Sets the starting point. *on: true if there is one. There is none if all offsets are 0, as gamma = 0 is then the
 * solution, which is written; nor if the factorisation fails, as for a matrix that is not semidefinite. */
static TalusStatus set_start(TalusSolve *s, TalusIpmWork *w, bool *on)
{
    TalusIpm *ipm = &w->ipm;
    const TalusIpmParams *p = s->params;
    int before = ipm->system.factorisations;
    TalusStatus status = TALUS_OK;
    *on = ipm->speed > 0.0;
    if (!*on) {
        s->backend->vector.zero(s->op, s->gamma, (size_t)s->op->rows * (size_t)s->op->blocks);
        talus_best_offer(&w->best, s, s->gamma, 0.0);
        return TALUS_OK;
    }
    if (p->warm && s->backend->vector.dot(s->op, s->gamma, s->gamma) > 0.0) {
        talus_qp_multipliers(&ipm->qp, s->gamma, ipm->vector[TALUS_IPM_REST]);
        status = talus_ipm_start_near(ipm, ipm->vector[TALUS_IPM_REST]);
    } else {
        status = talus_ipm_start(ipm);
    }
    s->info->factorisations += ipm->system.factorisations - before;
    *on = status == TALUS_OK;
    return status == TALUS_ERR_NUMERIC ? TALUS_OK : status;
}

TalusStatus talus_ipm_solve(TalusSolve *s)
{
    TalusIpmWork *w = s->work;
    bool on = s->resumed && w->ready, resumed = on;
    w->ready = false;
    TALUS_TRY(talus_best_begin(&w->best, s));
    if (!resumed) {
        if (!talus_ipm_must_iterate(s, &w->best))
            return TALUS_OK;
        TALUS_TRY(prepare_ipm(s, w));
        TALUS_TRY(set_start(s, w, &on));
    }
    w->ipm.context = s;
    if (on)
        TALUS_TRY(run_iterations(s, w));
    else
        talus_ipm_end_with_best(s, &w->best, w->ipm.products);
    w->ready = on;
    talus_best_restore(&w->best, s, s->gamma);
    return TALUS_OK;
}

void talus_ipm_clear(void *work)
{
    TalusIpmWork *w = work;
    talus_ipm_release(&w->ipm);
}
