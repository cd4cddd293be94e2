/* solvers/ipm/ipm_qp.c - Mehrotra's predictor and corrector with Gondzio's centrality correctors (ipm_qp.h).
 *
 * Systems of an iteration are (P + T) dl = rho + c / lambda, dw = (c - w dl) / lambda, T = w / lambda, row by row, with
 * one factorisation:
 *     predictor    c = -lambda w
 *     corrector    c = sigma mu - lambda w - dl dw,  sigma = (mu after the predictor / mu)^3
 *     centrality   c brings products lambda w at a longer step back into [0.1, 10] sigma mu;
 *                  added to the step while the step grows longer
 * Solutions are refined against the product with P itself. lambda and w have one step length, as in OOQP, by Mehrotra's
 * rule: the blocking pair ends with about 1 % of the mean product.
 *
 * Starting point after Mehrotra: the predictor's end from lambda = speed / scale, w = speed, moved inside. lambda times
 * scale and w are both speeds here, so that nothing depends on units. */
#include "solvers/ipm/ipm_qp.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* Largest number of refinements of a solution. */
enum { REFINEMENTS = 3 };

/* Residual of a system over its right-hand side, by the root of weighted_square(), at which refinement ends. */
static const double ENOUGH = 1e-10;
/* Centrality correctors: they aim at a step REACH_FACTOR times as long plus REACH_MORE, with products from MIN_PRODUCT
 * to MAX_PRODUCT times the goal, and must lengthen the step by GAIN. */
static const double REACH_FACTOR = 1.08, REACH_MORE = 0.08, MIN_PRODUCT = 0.1, MAX_PRODUCT = 10.0,
                    GAIN = 0.01;
static const double NEAR = 0.99; /* minimum share of the way to the boundary */

/* ---- memory ---- */

TalusStatus talus_ipm_reserve(TalusIpm *ipm)
{
    size_t n = (size_t)ipm->qp.multipliers, size = (size_t)ipm->qp.rows * (size_t)ipm->qp.blocks;
    TALUS_TRY(TALUS_GROW(ipm->memory, TALUS_IPM_VECTORS * n, 0, "vectors"));
    TALUS_TRY(TALUS_GROW(ipm->impulse, size, 0, "impulses"));
    TALUS_TRY(TALUS_GROW(ipm->velocity, size, 0, "velocities"));
    for (int k = 0; k < TALUS_IPM_VECTORS; k++)
        ipm->vector[k] = ipm->memory + (size_t)k * n;
    ipm->speed = 0.0;
    for (size_t k = 0; k < n; k++)
        ipm->speed = fmax(ipm->speed, fabs(ipm->qp.kappa[k]));
    return TALUS_OK;
}

void talus_ipm_release(TalusIpm *ipm)
{
    talus_qp_clear(&ipm->qp);
    talus_ipm_system_clear(&ipm->system);
    TALUS_RELEASE(ipm->memory, ipm->impulse, ipm->velocity);
    memset(ipm, 0, sizeof *ipm);
}

/* ---- the iterate ---- */

/* out = P x. Counts one product; leaves G x in ipm->impulse and (N + E) G x in ipm->velocity. */
static void multiply_by_p(TalusIpm *ipm, const double *x, double *out)
{
    talus_qp_impulses(&ipm->qp, x, ipm->impulse);
    ipm->product(ipm->context, ipm->impulse, ipm->velocity);
    ipm->products++;
    talus_qp_slacks(&ipm->qp, ipm->velocity, out);
}

void talus_ipm_evaluate(TalusIpm *ipm)
{
    const double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *w = ipm->vector[TALUS_IPM_W];
    double *rho = ipm->vector[TALUS_IPM_RHO], sum = 0.0, max = 0.0;
    talus_qp_slacks(&ipm->qp, ipm->velocity, rho);
    for (int k = 0; k < ipm->qp.multipliers; k++) {
        rho[k] = w[k] - (rho[k] + ipm->qp.kappa[k]);
        sum += lambda[k] * w[k];
        max = fmax(max, fabs(rho[k]));
    }
    ipm->mu = sum / ipm->qp.multipliers;
    ipm->infeasibility = max;
}

/* ---- systems ---- */

/* Returns the sum of r_k^2 / (scale_k + t_k). The weight takes into account that an error r_k in row k changes its
 * multiplier by about r_k / (scale_k + t_k). */
static double weighted_square(const TalusIpm *ipm, const double *r)
{
    const double *t = ipm->vector[TALUS_IPM_T];
    double sum = 0.0;
    for (int k = 0; k < ipm->qp.multipliers; k++)
        sum += r[k] * r[k] / (ipm->qp.scale[k] + t[k]);
    return sum;
}

/* Sets REST = RIGHT - (P + T) x. Returns its weighted square. */
static double compute_rest(TalusIpm *ipm, const double *x)
{
    const double *right = ipm->vector[TALUS_IPM_RIGHT], *t = ipm->vector[TALUS_IPM_T];
    double *rest = ipm->vector[TALUS_IPM_REST];
    multiply_by_p(ipm, x, rest);
    for (int k = 0; k < ipm->qp.multipliers; k++)
        rest[k] = right[k] - rest[k] - t[k] * x[k];
    return weighted_square(ipm, rest);
}

/* Sets x = (P + T)^-1 RIGHT, refined while the residual halves. */
static TalusStatus solve_refined(TalusIpm *ipm, double *x)
{
    const double *right = ipm->vector[TALUS_IPM_RIGHT];
    double *rest = ipm->vector[TALUS_IPM_REST];
    size_t bytes = (size_t)ipm->qp.multipliers * sizeof *x;
    double size = weighted_square(ipm, right), before = INFINITY;
    memcpy(x, right, bytes);
    TALUS_TRY(talus_ipm_system_solve(&ipm->system, x));
    for (int k = 0; k < REFINEMENTS; k++) {
        double now = compute_rest(ipm, x);
        if (!(now > ENOUGH * ENOUGH * size && now < 0.25 * before))
            return TALUS_OK;
        before = now;
        TALUS_TRY(talus_ipm_system_solve(&ipm->system, rest));
        for (int i = 0; i < ipm->qp.multipliers; i++)
            x[i] += rest[i];
    }
    return TALUS_OK;
}

/* Computes the direction dl, dw that changes the products lambda_k w_k by TARGET, to first order. If `whole`, a step of
 * length 1 along it also makes RHO vanish; else it leaves RHO as it is. */
static TalusStatus compute_direction(TalusIpm *ipm, bool whole, double *dl, double *dw)
{
    const double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *w = ipm->vector[TALUS_IPM_W];
    const double *rho = ipm->vector[TALUS_IPM_RHO], *target = ipm->vector[TALUS_IPM_TARGET];
    double *right = ipm->vector[TALUS_IPM_RIGHT];
    for (int k = 0; k < ipm->qp.multipliers; k++)
        right[k] = (whole ? rho[k] : 0.0) + target[k] / lambda[k];
    TALUS_TRY(solve_refined(ipm, dl));
    for (int k = 0; k < ipm->qp.multipliers; k++)
        dw[k] = (target[k] - w[k] * dl[k]) / lambda[k];
    return TALUS_OK;
}

/* Sets T = w / lambda and factorises P + T. */
static TalusStatus factorise_system(TalusIpm *ipm)
{
    const double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *w = ipm->vector[TALUS_IPM_W];
    double *t = ipm->vector[TALUS_IPM_T];
    for (int k = 0; k < ipm->qp.multipliers; k++)
        t[k] = w[k] / lambda[k];
    return talus_ipm_system_factor(&ipm->system, t);
}

/* ---- steps ---- */

typedef struct Reach {
    double length; /* step to the boundary, at most 1 */
    int block;     /* index k of the pair lambda_k, w_k that reaches 0 first; -1: none */
    bool slack;    /* w_k reaches 0 first, not lambda_k */
} Reach;

/* Returns the length at which lambda or w reaches 0 along dl, dw, at most 1, and the pair that reaches 0. */
static Reach find_reach(const TalusIpm *ipm, const double *dl, const double *dw)
{
    const double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *w = ipm->vector[TALUS_IPM_W];
    Reach r = {.length = 1.0, .block = -1};
    for (int k = 0; k < ipm->qp.multipliers; k++) {
        if (lambda[k] + r.length * dl[k] < 0.0) {
            r.length = -lambda[k] / dl[k];
            r.block = k;
            r.slack = false;
        }
        if (w[k] + r.length * dw[k] < 0.0) {
            r.length = -w[k] / dw[k];
            r.block = k;
            r.slack = true;
        }
    }
    return r;
}

/* Returns the mean of the products lambda_k w_k after a step of length a. */
static double mean_product_after(const TalusIpm *ipm, double a, const double *dl, const double *dw)
{
    const double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *w = ipm->vector[TALUS_IPM_W];
    double sum = 0.0;
    for (int k = 0; k < ipm->qp.multipliers; k++)
        sum += (lambda[k] + a * dl[k]) * (w[k] + a * dw[k]);
    return sum / ipm->qp.multipliers;
}

/* Returns the step length of Mehrotra 1992: after the step, the product of the blocking pair is 1 - NEAR of the mean
 * product at the boundary. The length is kept between NEAR and 1 - 1e-8 of the way to the boundary; 1 if no pair
 * blocks. */
static double step_length(const TalusIpm *ipm, const double *dl, const double *dw)
{
    const double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *w = ipm->vector[TALUS_IPM_W];
    Reach r = find_reach(ipm, dl, dw);
    if (r.block < 0)
        return 1.0;
    int k = r.block;
    double mean = (1.0 - NEAR) * mean_product_after(ipm, r.length, dl, dw);
    double x = r.slack ? w[k] : lambda[k], dx = r.slack ? dw[k] : dl[k];
    double y = r.slack ? lambda[k] + r.length * dl[k] : w[k] + r.length * dw[k];
    double a = (mean / y - x) / dx;
    return fmin(fmax(a, NEAR * r.length), (1.0 - 1e-8) * r.length);
}

/* Sets TARGET of a centrality corrector: the change that brings each product lambda_k w_k, after a step of length a,
 * back into [MIN_PRODUCT, MAX_PRODUCT] times `centre`; a product falls by at most MAX_PRODUCT times `centre`. */
static void set_centrality_target(TalusIpm *ipm, double a, double centre)
{
    const double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *w = ipm->vector[TALUS_IPM_W];
    const double *dl = ipm->vector[TALUS_IPM_DL], *dw = ipm->vector[TALUS_IPM_DW];
    double *target = ipm->vector[TALUS_IPM_TARGET];
    for (int k = 0; k < ipm->qp.multipliers; k++) {
        double product = (lambda[k] + a * dl[k]) * (w[k] + a * dw[k]);
        double wanted = fmin(fmax(product, MIN_PRODUCT * centre), MAX_PRODUCT * centre);
        target[k] = fmax(wanted - product, -MAX_PRODUCT * centre);
    }
}

/* Adds at most ipm->correctors centrality correctors to DL, DW, while each lengthens the step by GAIN. goal: sigma
 * mu. */
static TalusStatus add_centrality_correctors(TalusIpm *ipm, double goal)
{
    double *dl = ipm->vector[TALUS_IPM_DL], *dw = ipm->vector[TALUS_IPM_DW];
    double *more_l = ipm->vector[TALUS_IPM_MORE_L], *more_w = ipm->vector[TALUS_IPM_MORE_W];
    size_t bytes = (size_t)ipm->qp.multipliers * sizeof *dl;
    double now = find_reach(ipm, dl, dw).length;
    for (int k = 0; k < ipm->correctors && now < 1.0; k++) {
        set_centrality_target(ipm, fmin(REACH_FACTOR * now + REACH_MORE, 1.0), goal);
        TALUS_TRY(compute_direction(ipm, false, more_l, more_w));
        for (int i = 0; i < ipm->qp.multipliers; i++) {
            more_l[i] += dl[i];
            more_w[i] += dw[i];
        }
        double next = find_reach(ipm, more_l, more_w).length;
        if (!(next >= now + GAIN))
            return TALUS_OK;
        memcpy(dl, more_l, bytes);
        memcpy(dw, more_w, bytes);
        now = next;
    }
    return TALUS_OK;
}

/* Sets TARGET of the predictor (goal 0) or corrector: goal - lambda w, less dl dw if `second_order`. */
static void set_target(TalusIpm *ipm, double goal, bool second_order)
{
    const double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *w = ipm->vector[TALUS_IPM_W];
    const double *dl = ipm->vector[TALUS_IPM_DL], *dw = ipm->vector[TALUS_IPM_DW];
    double *target = ipm->vector[TALUS_IPM_TARGET];
    for (int k = 0; k < ipm->qp.multipliers; k++)
        target[k] = goal - lambda[k] * w[k] - (second_order ? dl[k] * dw[k] : 0.0);
}

TalusStatus talus_ipm_step(TalusIpm *ipm)
{
    double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *w = ipm->vector[TALUS_IPM_W];
    double *dl = ipm->vector[TALUS_IPM_DL], *dw = ipm->vector[TALUS_IPM_DW];
    TALUS_TRY(factorise_system(ipm));
    set_target(ipm, 0.0, false);
    TALUS_TRY(compute_direction(ipm, true, dl, dw));
    double left = mean_product_after(ipm, find_reach(ipm, dl, dw).length, dl, dw) / ipm->mu;
    double goal = left * left * left * ipm->mu;
    set_target(ipm, goal, true);
    TALUS_TRY(compute_direction(ipm, true, dl, dw));
    TALUS_TRY(add_centrality_correctors(ipm, goal));
    double a = step_length(ipm, dl, dw);
    for (int k = 0; k < ipm->qp.multipliers; k++) {
        lambda[k] += a * dl[k];
        w[k] += a * dw[k];
    }
    ipm->length = a;
    return TALUS_OK;
}

/* ---- starting points ---- */

/* Makes all lambda and w positive by two amounts: one is added to all lambda times scale, the other to all w. Each
 * first makes the negative ones nonnegative; then half the sum of products over the sum of the other variable is added
 * (Mehrotra 1992), or ipm->speed if that is 0. */
static void move_inside(TalusIpm *ipm)
{
    double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *w = ipm->vector[TALUS_IPM_W];
    const double *scale = ipm->qp.scale;
    double low_l = 0.0, low_w = 0.0, product = 0.0, sum_l = 0.0, sum_w = 0.0;
    for (int k = 0; k < ipm->qp.multipliers; k++) {
        low_l = fmin(low_l, scale[k] * lambda[k]);
        low_w = fmin(low_w, w[k]);
    }
    for (int k = 0; k < ipm->qp.multipliers; k++) {
        double l = scale[k] * lambda[k] - 1.5 * low_l, slack = w[k] - 1.5 * low_w;
        product += l * slack;
        sum_l += l;
        sum_w += slack;
    }
    double more_l = sum_w > 0.0 ? 0.5 * product / sum_w : 0.0;
    double more_w = sum_l > 0.0 ? 0.5 * product / sum_l : 0.0;
    more_l = more_l > 0.0 ? more_l : ipm->speed;
    more_w = more_w > 0.0 ? more_w : ipm->speed;
    for (int k = 0; k < ipm->qp.multipliers; k++) {
        lambda[k] += (more_l - 1.5 * low_l) / scale[k];
        w[k] += more_w - 1.5 * low_w;
    }
}

TalusStatus talus_ipm_start(TalusIpm *ipm)
{
    double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *w = ipm->vector[TALUS_IPM_W];
    double *dl = ipm->vector[TALUS_IPM_DL], *dw = ipm->vector[TALUS_IPM_DW];
    for (int k = 0; k < ipm->qp.multipliers; k++) {
        lambda[k] = ipm->speed / ipm->qp.scale[k];
        w[k] = ipm->speed;
    }
    multiply_by_p(ipm, lambda, ipm->vector[TALUS_IPM_REST]);
    talus_ipm_evaluate(ipm);
    TALUS_TRY(factorise_system(ipm));
    set_target(ipm, 0.0, false);
    TALUS_TRY(compute_direction(ipm, true, dl, dw));
    for (int k = 0; k < ipm->qp.multipliers; k++) {
        lambda[k] += dl[k];
        w[k] += dw[k];
    }
    move_inside(ipm);
    return TALUS_OK;
}

TalusStatus talus_ipm_start_near(TalusIpm *ipm, const double *given)
{
    double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *w = ipm->vector[TALUS_IPM_W];
    memmove(lambda, given, (size_t)ipm->qp.multipliers * sizeof *lambda);
    multiply_by_p(ipm, lambda, w);
    for (int k = 0; k < ipm->qp.multipliers; k++)
        w[k] += ipm->qp.kappa[k];
    move_inside(ipm);
    return TALUS_OK;
}
