/* solvers/ipm/ipm_qp.c - Mehrotra's predictor and corrector with Gondzio's centrality correctors (ipm_qp.h).
 *
 * Systems of an iteration are (P + T) dl = rho + sum of s c / x, T = sum of w / x, sums over the pairs of each row,
 * with one factorisation; then dx = s dl and dw = (c - w dx) / x for each pair:
 *     predictor    c = -x w
 *     corrector    c = sigma mu - x w - dx dw,  sigma = (mu after the predictor / mu)^3
 *     centrality   c brings products x w at a longer step back into [0.1, 10] sigma mu;
 *                  added to the step while the step grows longer
 * Solutions are refined against the product with P itself. lambda, x and w have one step length, as in OOQP, by
 * Mehrotra's rule: the blocking pair ends with about 1 % of the mean product.
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
/* Largest share of its bound that a starting multiplier of a joint has. */
static const double SHARE_OF_BOUND = 0.9;

/* ---- memory ---- */

/* Lists the pairs of all multipliers. */
static TalusStatus list_pairs(TalusIpm *ipm)
{
    const double *bound = ipm->qp.bound;
    TALUS_TRY(TALUS_GROW(ipm->pair, 2 * (size_t)ipm->qp.multipliers, 0, "pairs"));
    ipm->pairs = 0;
    for (int k = 0; k < ipm->qp.multipliers; k++) {
        if (isfinite(bound[k]))
            ipm->pair[ipm->pairs++] = (TalusIpmPair){k, 1};
        if (isfinite(bound[k]) && bound[k] > 0.0)
            ipm->pair[ipm->pairs++] = (TalusIpmPair){k, -1};
    }
    return TALUS_OK;
}

TalusStatus talus_ipm_reserve(TalusIpm *ipm)
{
    size_t n = (size_t)ipm->qp.multipliers, size = (size_t)ipm->qp.rows * (size_t)ipm->qp.blocks;
    TALUS_TRY(list_pairs(ipm));
    size_t pairs = (size_t)ipm->pairs, first = TALUS_IPM_VECTORS * n;
    TALUS_TRY(TALUS_GROW(ipm->memory, first + TALUS_IPM_PAIR_VECTORS * pairs, 0, "vectors"));
    TALUS_TRY(TALUS_GROW(ipm->impulse, size, 0, "impulses"));
    TALUS_TRY(TALUS_GROW(ipm->velocity, size, 0, "velocities"));
    for (int k = 0; k < TALUS_IPM_VECTORS; k++)
        ipm->vector[k] = ipm->memory + (size_t)k * n;
    for (int k = 0; k < TALUS_IPM_PAIR_VECTORS; k++)
        ipm->pair_vector[k] = ipm->memory + first + (size_t)k * pairs;
    ipm->speed = 0.0;
    for (size_t k = 0; k < n; k++)
        ipm->speed = fmax(ipm->speed, fabs(ipm->qp.kappa[k]));
    return TALUS_OK;
}

void talus_ipm_release(TalusIpm *ipm)
{
    talus_qp_clear(&ipm->qp);
    talus_ipm_system_clear(&ipm->system);
    TALUS_RELEASE(ipm->pair, ipm->memory, ipm->impulse, ipm->velocity);
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
    const double *x = ipm->pair_vector[TALUS_IPM_X], *w = ipm->pair_vector[TALUS_IPM_W];
    double *rho = ipm->vector[TALUS_IPM_RHO], sum = 0.0, max = 0.0;
    talus_qp_slacks(&ipm->qp, ipm->velocity, rho);
    for (int k = 0; k < ipm->qp.multipliers; k++)
        rho[k] = -(rho[k] + ipm->qp.kappa[k]);
    for (int p = 0; p < ipm->pairs; p++) {
        rho[ipm->pair[p].row] += ipm->pair[p].sign * w[p];
        sum += x[p] * w[p];
    }
    for (int k = 0; k < ipm->qp.multipliers; k++)
        max = fmax(max, fabs(rho[k]));
    ipm->mu = ipm->pairs > 0 ? sum / ipm->pairs : 0.0;
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

TalusStatus talus_ipm_solve_refined(TalusIpm *ipm, double *x)
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

/* A step of the multipliers, dl, and of the pairs, dx and dw. */
typedef struct Direction {
    double *l, *x, *w;
} Direction;

/* The step, and the trial step. */
static Direction main_step(const TalusIpm *ipm)
{
    return (Direction){ipm->vector[TALUS_IPM_DL], ipm->pair_vector[TALUS_IPM_DX],
                       ipm->pair_vector[TALUS_IPM_DW]};
}

static Direction trial_step(const TalusIpm *ipm)
{
    return (Direction){ipm->vector[TALUS_IPM_MORE_L], ipm->pair_vector[TALUS_IPM_MORE_X],
                       ipm->pair_vector[TALUS_IPM_MORE_W]};
}

/* y += a x for all three parts of a step. */
static void add_step(const TalusIpm *ipm, double a, Direction x, Direction y)
{
    for (int k = 0; k < ipm->qp.multipliers; k++)
        y.l[k] += a * x.l[k];
    for (int p = 0; p < ipm->pairs; p++) {
        y.x[p] += a * x.x[p];
        y.w[p] += a * x.w[p];
    }
}

/* The iterate, for add_step. */
static Direction iterate(const TalusIpm *ipm)
{
    return (Direction){ipm->vector[TALUS_IPM_LAMBDA], ipm->pair_vector[TALUS_IPM_X],
                       ipm->pair_vector[TALUS_IPM_W]};
}

/* Computes the direction that changes the products x w by TARGET, to first order. If `whole`, a step of length 1 along
 * it also makes RHO vanish; else it leaves RHO as it is. */
static TalusStatus compute_direction(TalusIpm *ipm, bool whole, Direction d)
{
    const double *x = ipm->pair_vector[TALUS_IPM_X], *w = ipm->pair_vector[TALUS_IPM_W];
    const double *rho = ipm->vector[TALUS_IPM_RHO];
    const double *target = ipm->pair_vector[TALUS_IPM_TARGET];
    double *right = ipm->vector[TALUS_IPM_RIGHT];
    for (int k = 0; k < ipm->qp.multipliers; k++)
        right[k] = whole ? rho[k] : 0.0;
    for (int p = 0; p < ipm->pairs; p++)
        right[ipm->pair[p].row] += ipm->pair[p].sign * (target[p] / x[p]);
    TALUS_TRY(talus_ipm_solve_refined(ipm, d.l));
    for (int p = 0; p < ipm->pairs; p++) {
        d.x[p] = ipm->pair[p].sign * d.l[ipm->pair[p].row];
        d.w[p] = (target[p] - w[p] * d.x[p]) / x[p];
    }
    return TALUS_OK;
}

/* Sets T to the sum of w / x over the pairs of each row, and factorises P + T. */
static TalusStatus factorise_system(TalusIpm *ipm)
{
    const double *x = ipm->pair_vector[TALUS_IPM_X], *w = ipm->pair_vector[TALUS_IPM_W];
    double *t = ipm->vector[TALUS_IPM_T];
    memset(t, 0, (size_t)ipm->qp.multipliers * sizeof *t);
    for (int p = 0; p < ipm->pairs; p++)
        t[ipm->pair[p].row] += w[p] / x[p];
    return talus_ipm_system_factor(&ipm->system, t);
}

/* ---- steps ---- */

typedef struct Reach {
    double length; /* step to the boundary, at most 1 */
    int pair;      /* the pair of which x or w reaches 0 first; -1: none */
    bool slack;    /* w reaches 0 first, not x */
} Reach;

/* Returns the length at which some x or w reaches 0 along d, at most 1, and the pair that reaches 0. */
static Reach find_reach(const TalusIpm *ipm, Direction d)
{
    const double *x = ipm->pair_vector[TALUS_IPM_X], *w = ipm->pair_vector[TALUS_IPM_W];
    Reach r = {.length = 1.0, .pair = -1};
    for (int p = 0; p < ipm->pairs; p++) {
        if (x[p] + r.length * d.x[p] < 0.0)
            r = (Reach){-x[p] / d.x[p], p, false};
        if (w[p] + r.length * d.w[p] < 0.0)
            r = (Reach){-w[p] / d.w[p], p, true};
    }
    return r;
}

/* Returns the mean of the products x w after a step of length a; 0 without pairs. */
static double mean_product_after(const TalusIpm *ipm, double a, Direction d)
{
    const double *x = ipm->pair_vector[TALUS_IPM_X], *w = ipm->pair_vector[TALUS_IPM_W];
    double sum = 0.0;
    for (int p = 0; p < ipm->pairs; p++)
        sum += (x[p] + a * d.x[p]) * (w[p] + a * d.w[p]);
    return ipm->pairs > 0 ? sum / ipm->pairs : 0.0;
}

/* Returns the step length of Mehrotra 1992: after the step, the product of the blocking pair is 1 - NEAR of the mean
 * product at the boundary. The length is kept between NEAR and 1 - 1e-8 of the way to the boundary; 1 if no pair
 * blocks. */
static double step_length(const TalusIpm *ipm, Direction d)
{
    const double *x = ipm->pair_vector[TALUS_IPM_X], *w = ipm->pair_vector[TALUS_IPM_W];
    Reach r = find_reach(ipm, d);
    if (r.pair < 0)
        return 1.0;
    int p = r.pair;
    double mean = (1.0 - NEAR) * mean_product_after(ipm, r.length, d);
    double blocking = r.slack ? w[p] : x[p], change = r.slack ? d.w[p] : d.x[p];
    double other = r.slack ? x[p] + r.length * d.x[p] : w[p] + r.length * d.w[p];
    double a = (mean / other - blocking) / change;
    return fmin(fmax(a, NEAR * r.length), (1.0 - 1e-8) * r.length);
}

/* Sets TARGET of a centrality corrector: the change that brings each product x w, after a step of length a, back into
 * [MIN_PRODUCT, MAX_PRODUCT] times `centre`; a product falls by at most MAX_PRODUCT times `centre`. */
static void set_centrality_target(TalusIpm *ipm, double a, double centre)
{
    const double *x = ipm->pair_vector[TALUS_IPM_X], *w = ipm->pair_vector[TALUS_IPM_W];
    const Direction d = main_step(ipm);
    double *target = ipm->pair_vector[TALUS_IPM_TARGET];
    for (int p = 0; p < ipm->pairs; p++) {
        double product = (x[p] + a * d.x[p]) * (w[p] + a * d.w[p]);
        double wanted = fmin(fmax(product, MIN_PRODUCT * centre), MAX_PRODUCT * centre);
        target[p] = fmax(wanted - product, -MAX_PRODUCT * centre);
    }
}

/* Adds at most ipm->correctors centrality correctors to the step, while each lengthens the step by GAIN. goal: sigma
 * mu. */
static TalusStatus add_centrality_correctors(TalusIpm *ipm, double goal)
{
    const Direction d = main_step(ipm), more = trial_step(ipm);
    size_t pairs = (size_t)ipm->pairs * sizeof *d.x;
    double now = find_reach(ipm, d).length;
    for (int k = 0; k < ipm->correctors && now < 1.0; k++) {
        set_centrality_target(ipm, fmin(REACH_FACTOR * now + REACH_MORE, 1.0), goal);
        TALUS_TRY(compute_direction(ipm, false, more));
        add_step(ipm, 1.0, d, more);
        double next = find_reach(ipm, more).length;
        if (!(next >= now + GAIN))
            return TALUS_OK;
        memcpy(d.l, more.l, (size_t)ipm->qp.multipliers * sizeof *d.l);
        memcpy(d.x, more.x, pairs);
        memcpy(d.w, more.w, pairs);
        now = next;
    }
    return TALUS_OK;
}

/* Sets TARGET of the predictor (goal 0) or corrector: goal - x w, less dx dw if `second_order`. */
static void set_target(TalusIpm *ipm, double goal, bool second_order)
{
    const double *x = ipm->pair_vector[TALUS_IPM_X], *w = ipm->pair_vector[TALUS_IPM_W];
    const Direction d = main_step(ipm);
    double *target = ipm->pair_vector[TALUS_IPM_TARGET];
    for (int p = 0; p < ipm->pairs; p++)
        target[p] = goal - x[p] * w[p] - (second_order ? d.x[p] * d.w[p] : 0.0);
}

TalusStatus talus_ipm_step(TalusIpm *ipm)
{
    const Direction d = main_step(ipm);
    TALUS_TRY(factorise_system(ipm));
    set_target(ipm, 0.0, false);
    TALUS_TRY(compute_direction(ipm, true, d));
    double left = mean_product_after(ipm, find_reach(ipm, d).length, d) / ipm->mu;
    double goal = left * left * left * ipm->mu;
    set_target(ipm, goal, true);
    TALUS_TRY(compute_direction(ipm, true, d));
    TALUS_TRY(add_centrality_correctors(ipm, goal));
    ipm->length = step_length(ipm, d);
    add_step(ipm, ipm->length, d, iterate(ipm));
    return TALUS_OK;
}

/* ---- starting points ---- */

/* True if the pair is that of a contact. */
static bool is_contact(const TalusIpm *ipm, int p)
{
    return ipm->qp.bound[ipm->pair[p].row] == 0.0;
}

/* Sets x of all pairs from lambda. */
static void set_distances(TalusIpm *ipm)
{
    const double *lambda = ipm->vector[TALUS_IPM_LAMBDA];
    for (int p = 0; p < ipm->pairs; p++) {
        int k = ipm->pair[p].row;
        ipm->pair_vector[TALUS_IPM_X][p] = ipm->qp.bound[k] + ipm->pair[p].sign * lambda[k];
    }
}

/* Moves the multipliers of joints with bounds inside, and gives their pairs the mean product of the contacts' pairs;
 * that of a contact at the starting speed if there are none. Bounds may be far larger than any impulse: with slacks
 * like those of contacts, products would be as far from their mean. */
static void set_bounded_joints(TalusIpm *ipm)
{
    double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *x = ipm->pair_vector[TALUS_IPM_X];
    double *w = ipm->pair_vector[TALUS_IPM_W], sum = 0.0;
    int contacts = 0;
    for (int p = 0; p < ipm->pairs; p++)
        if (is_contact(ipm, p)) {
            sum += x[p] * w[p];
            contacts++;
        } else {
            int k = ipm->pair[p].row;
            double most = SHARE_OF_BOUND * ipm->qp.bound[k];
            lambda[k] = fmin(fmax(lambda[k], -most), most);
        }
    set_distances(ipm);
    for (int p = 0; p < ipm->pairs; p++)
        if (!is_contact(ipm, p)) {
            double alone = ipm->speed * ipm->speed / ipm->qp.scale[ipm->pair[p].row];
            w[p] = (contacts > 0 ? sum / contacts : alone) / x[p];
        }
}

/* Makes x and w of all contacts positive by two amounts: one is added to all x times scale, the other to all w. Each
 * first makes the negative ones nonnegative; then half the sum of products over the sum of the other variable is added
 * (Mehrotra 1992), or ipm->speed if that is 0. Joints with bounds follow. */
static void move_inside(TalusIpm *ipm)
{
    double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *w = ipm->pair_vector[TALUS_IPM_W];
    const double *scale = ipm->qp.scale;
    double low_l = 0.0, low_w = 0.0, product = 0.0, sum_l = 0.0, sum_w = 0.0;
    for (int p = 0; p < ipm->pairs; p++)
        if (is_contact(ipm, p)) {
            low_l = fmin(low_l, scale[ipm->pair[p].row] * lambda[ipm->pair[p].row]);
            low_w = fmin(low_w, w[p]);
        }
    for (int p = 0; p < ipm->pairs; p++)
        if (is_contact(ipm, p)) {
            int k = ipm->pair[p].row;
            double l = scale[k] * lambda[k] - 1.5 * low_l, slack = w[p] - 1.5 * low_w;
            product += l * slack;
            sum_l += l;
            sum_w += slack;
        }
    double more_l = sum_w > 0.0 ? 0.5 * product / sum_w : 0.0;
    double more_w = sum_l > 0.0 ? 0.5 * product / sum_l : 0.0;
    more_l = more_l > 0.0 ? more_l : ipm->speed;
    more_w = more_w > 0.0 ? more_w : ipm->speed;
    for (int p = 0; p < ipm->pairs; p++)
        if (is_contact(ipm, p)) {
            lambda[ipm->pair[p].row] += (more_l - 1.5 * low_l) / scale[ipm->pair[p].row];
            w[p] += more_w - 1.5 * low_w;
        }
    set_distances(ipm);
    set_bounded_joints(ipm);
}

TalusStatus talus_ipm_start(TalusIpm *ipm)
{
    double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *w = ipm->pair_vector[TALUS_IPM_W];
    const Direction d = main_step(ipm);
    for (int k = 0; k < ipm->qp.multipliers; k++)
        lambda[k] = ipm->qp.bound[k] > 0.0 ? 0.0 : ipm->speed / ipm->qp.scale[k];
    for (int p = 0; p < ipm->pairs; p++)
        w[p] = ipm->speed;
    set_distances(ipm);
    set_bounded_joints(ipm);
    multiply_by_p(ipm, lambda, ipm->vector[TALUS_IPM_REST]);
    talus_ipm_evaluate(ipm);
    TALUS_TRY(factorise_system(ipm));
    set_target(ipm, 0.0, false);
    TALUS_TRY(compute_direction(ipm, true, d));
    add_step(ipm, 1.0, d, iterate(ipm));
    move_inside(ipm);
    return TALUS_OK;
}

TalusStatus talus_ipm_start_near(TalusIpm *ipm, const double *given)
{
    double *lambda = ipm->vector[TALUS_IPM_LAMBDA], *slack = ipm->vector[TALUS_IPM_RIGHT];
    memmove(lambda, given, (size_t)ipm->qp.multipliers * sizeof *lambda);
    multiply_by_p(ipm, lambda, slack);
    for (int p = 0; p < ipm->pairs; p++) {
        int k = ipm->pair[p].row;
        ipm->pair_vector[TALUS_IPM_W][p] = slack[k] + ipm->qp.kappa[k];
    }
    move_inside(ipm);
    return TALUS_OK;
}
