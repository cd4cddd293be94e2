/* solvers/ipm/pointed.c - the margin of a friction cone (pointed.h) by the interior point method.
 *
 * With offsets -c instead of kappa, the quadratic program seeks the minimum velocity that opens every contact at a
 * speed of c_k. It has a solution if and only if the cone is pointed. Each iterate lambda bounds the margin from both
 * sides, by v = M^-1 A'lambda and by beta = lambda:
 *     min_k (P lambda)_k / (c_k |v|)  <=  margin  <=  |v| / c'lambda,   |v|^2 = lambda'P lambda,
 * and one of the bounds passes the limit within a few iterations. */
#include "solvers/ipm/pointed.h"

#include "base/status.h"
#include "solvers/ipm/ipm_qp.h"

#include <math.h>
#include <string.h>

enum { MAX_ITERATIONS = 100 }; /* steps of the interior point method */
/* LIMIT: largest margin that counts as zero. BEARING: contacts whose normal impulse is above this share of the largest
 * are counted as bearing. */
static const double LIMIT = 1e-6, BEARING = 1e-3;

/* `product` of TalusIpm; context is a TalusProblem. */
static void multiply_by_operator(void *context, const double *gamma, double *u)
{
    talus_problem_apply(context, gamma, u);
}

/* Sets kappa_k = -c_k with c_k = sqrt(scale_k), about the norm of row k of A, in the unit of mass of the system. */
static void set_offsets(TalusIpm *ipm)
{
    for (int k = 0; k < ipm->qp.multipliers; k++)
        ipm->qp.kappa[k] = -sqrt(ipm->system.mass * ipm->qp.scale[k]);
}

/* Sets up the quadratic program with offsets -c and without compliance, and the starting point. */
static TalusStatus prepare_ipm(TalusIpm *ipm, TalusProblem *problem)
{
    bool missing = talus_direct_missing(TALUS_DIRECT_CHOLMOD) != NULL;
    TALUS_TRY(talus_qp_fill(&ipm->qp, problem));
    ipm->qp.compliance = NULL;
    ipm->product = multiply_by_operator;
    ipm->context = problem;
    ipm->correctors = 1;
    TALUS_TRY(talus_ipm_system_prepare(&ipm->system, &talus_ipm_normal,
                                       missing ? TALUS_DIRECT_LDL : TALUS_DIRECT_CHOLMOD, &ipm->qp,
                                       problem));
    set_offsets(ipm);
    TALUS_TRY(talus_ipm_reserve(ipm));
    return ipm->qp.multipliers > 0 ? talus_ipm_start(ipm) : TALUS_OK;
}

/* Narrows out->lower and out->upper by the bounds that the iterate gives; ipm->velocity must hold N G lambda. */
static void narrow_bounds(TalusIpm *ipm, TalusPointed *out)
{
    const double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *kappa = ipm->qp.kappa;
    double *opening = ipm->vector[TALUS_IPM_REST], energy = 0.0, weight = 0.0, least = INFINITY;
    talus_qp_slacks(&ipm->qp, ipm->velocity, opening);
    for (int k = 0; k < ipm->qp.multipliers; k++) {
        energy += lambda[k] * opening[k];
        weight -= kappa[k] * lambda[k];
        least = fmin(least, -opening[k] / kappa[k]);
    }
    double size = sqrt(ipm->system.mass * fmax(energy, 0.0));
    out->upper = fmin(out->upper, size / weight);
    if (size > 0.0)
        out->lower = fmax(out->lower, ipm->system.mass * least / size);
}

/* Iterates until a bound of the margin passes LIMIT. */
static TalusStatus narrow_until_decided(TalusIpm *ipm, TalusPointed *out)
{
    for (int k = 0; k < MAX_ITERATIONS; k++) {
        talus_qp_impulses(&ipm->qp, ipm->vector[TALUS_IPM_LAMBDA], ipm->impulse);
        ipm->product(ipm->context, ipm->impulse, ipm->velocity);
        narrow_bounds(ipm, out);
        if (out->lower > LIMIT || out->upper <= LIMIT)
            return TALUS_OK;
        talus_ipm_evaluate(ipm);
        TALUS_TRY(talus_ipm_step(ipm));
    }
    return talus_fail(TALUS_ERR_NUMERIC,
                      "friction cone: its margin is between %g and %g, and is not to be told from "
                      "none",
                      out->lower, out->upper);
}

/* For a cone that is not pointed: writes the number of bearing contacts and, unless gamma is NULL, impulses that move
 * no body, scaled so that normal parts add up to 1. */
static void write_jamming_impulses(const TalusIpm *ipm, TalusPointed *out, double *gamma)
{
    const TalusQp *qp = &ipm->qp;
    double sum = 0.0, max = 0.0;
    talus_qp_impulses(qp, ipm->vector[TALUS_IPM_LAMBDA], ipm->impulse);
    for (int i = 0; i < qp->blocks; i++) {
        sum += ipm->impulse[i * qp->rows];
        max = fmax(max, ipm->impulse[i * qp->rows]);
    }
    for (int i = 0; i < qp->blocks; i++)
        out->bearing += ipm->impulse[i * qp->rows] > BEARING * max;
    for (int k = 0; gamma && k < qp->rows * qp->blocks; k++)
        gamma[k] = ipm->impulse[k] / sum;
}

TalusStatus talus_qp_pointed(TalusProblem *problem, TalusPointed *out, double *gamma)
{
    TalusIpm ipm = {0};
    *out = (TalusPointed){.upper = INFINITY};
    if (gamma)
        memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
    TalusStatus status = prepare_ipm(&ipm, problem);
    if (status == TALUS_OK && ipm.qp.multipliers > 0)
        status = narrow_until_decided(&ipm, out);
    out->pointed = ipm.qp.multipliers == 0 || out->lower > LIMIT;
    if (status == TALUS_OK && !out->pointed)
        write_jamming_impulses(&ipm, out, gamma);
    talus_ipm_release(&ipm);
    return status;
}
