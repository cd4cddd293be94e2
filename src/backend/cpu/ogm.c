/* backend/cpu/ogm.c - one step of the optimised gradient method for the gradient norm, fused.
 *
 * As accelerate.c: bodies gather the wrenches of x, then one pass over the contacts evaluates the
 * gradient, projects, extrapolates and writes the wrenches of the new x. The gradient is not kept.
 * Per contact with friction the contact pass reads about 250 B (128 of them body records, mostly
 * cached) and writes 96 B. */
#include "backend/cpu/cone_lanes.h"
#include "sets/cone.h"

#include <math.h>
#include <string.h>

typedef struct Pass {
    const TalusOperator *op;
    const TalusOgm *state;
} Pass;

typedef struct Sums {
    Lane residual2, residual_max;
} Sums;

/* Blocks i (and i+1) of a chunk whose first block is `begin`: u holds D'v (or N gamma + q) on entry
 * and the new gamma on return. */
KERNEL void cone_pair(const TalusOperator *op, const TalusOgm *state, int64_t begin,
                      const Pair *pair, bool measure, double *u, Sums *sums)
{
    const Pair local = {pair->i - begin, pair->both};
    Lane s[4], x[3], y[3], g[3], t[3];
    lane_gather(state->metric[pair->i], state->metric[pair->i + pair->both], 2, s);
    load3(state->x, pair, x);
    load3(state->y, pair, y);
    load3(u, &local, g);
    if (op->pair)
        g[0] += load1(op->bias, pair);
    if (op->compliance)
        g[0] += load1(op->compliance, pair) * s[0] * x[0];
    for (int k = 0; k < 3; k++) {
        g[k] *= s[k > 0];
        t[k] = x[k] - state->step * g[k];
    }
    lanes_project(s[2], s[3], t);
    if (measure) {
        Lane r2 = live(pair, cone_residual2(op, pair, load1(op->mu, pair), s, x, g));
        sums->residual2 += r2;
        sums->residual_max = lane_select(r2 <= sums->residual_max, sums->residual_max, r2);
    }
    for (int k = 0; k < 3; k++)
        x[k] = t[k] + state->along * (t[k] - y[k]) + state->over * (t[k] - x[k]);
    store3(state->y, pair, t);
    store3(state->x_next, pair, x);
    for (int k = 0; k < 3; k++)
        x[k] *= s[k > 0];
    store3(u, &local, x);
}

/* Copies, so that the compiler need not fear that a store to a vector changes them; `measure` is a
 * constant after inlining. */
KERNEL Sums cone_range(TalusOperator op, TalusOgm state, int64_t begin, int64_t end, bool measure,
                       double *u)
{
    Sums sums = {{0}, {0}};
    int64_t i = begin;
    for (; i + LANES <= end; i += LANES) {
        Pair pair = {i, true};
        cone_pair(&op, &state, begin, &pair, measure, u, &sums);
    }
    if (i < end) {
        Pair last = {i, false};
        cone_pair(&op, &state, begin, &last, measure, u, &sums);
    }
    return sums;
}

KERNEL void nonneg_block(const Pass *pass, int64_t begin, int64_t i, double *u, Sums *sums)
{
    const TalusOperator *op = pass->op;
    const TalusOgm *state = pass->state;
    double s = state->metric[i][0], x = state->x[i], g = u[i - begin];
    g += op->pair ? op->bias[i] : 0.0;
    g += op->compliance ? op->compliance[i] * s * x : 0.0;
    if (state->want_residual) {
        double d = talus_block_scale(op, (int)i), gamma = s * x;
        double r = d * (gamma - talus_project_nonneg(gamma - g / d));
        sums->residual2[0] += r * r;
        sums->residual_max[0] = r * r <= sums->residual_max[0] ? sums->residual_max[0] : r * r;
    }
    double t = talus_project_nonneg(x - state->step * s * g);
    double next = t + state->along * (t - state->y[i]) + state->over * (t - x);
    state->y[i] = t;
    state->x_next[i] = next;
    u[i - begin] = s * next;
}

static void step_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    const TalusOperator *op = pass->op;
    double u[3 * BLOCK_GRAIN];
    Sums sums = {{0}, {0}};
    if (op->pair)
        talus_cpu_contact_velocity(op, (const double(*)[8])op->scratch->velocity, (int)begin,
                                   (int)end, u);
    else
        memcpy(u, op->scratch->product + begin * op->rows,
               (size_t)((end - begin) * op->rows) * sizeof *u);
    if (op->rows == 1)
        for (int64_t i = begin; i < end; i++)
            nonneg_block(pass, begin, i, u, &sums);
    else if (pass->state->want_residual)
        sums = cone_range(*op, *pass->state, begin, end, true, u);
    else
        sums = cone_range(*op, *pass->state, begin, end, false, u);
    if (op->pair)
        talus_cpu_wrench(op, u, (int)begin, (int)end, op->scratch->record);
    double *partial = op->scratch->partial + PARTIALS * chunk;
    partial[0] = sums.residual2[0] + sums.residual2[1];
    partial[1] =
        sums.residual_max[1] <= sums.residual_max[0] ? sums.residual_max[0] : sums.residual_max[1];
}
