/* backend/cpu/accelerate.c - one accelerated projected gradient step, fused.
 *
 * Two passes: bodies gather the wrenches of x (contact.c), then one pass over the contacts evaluates
 * the gradient, extrapolates, projects, sums and writes the wrenches of the new x. Values between
 * its three kernels live in a buffer of one chunk that stays in the first-level cache.
 *
 * Per contact with friction the contact pass reads about 300 B (128 of them body records, mostly
 * cached) and writes 96 B, for about 190 flop with the residual. */
#include "backend/cpu/cpu.h"

#include "backend/cpu/lane.h"
#include "sets/cone.h"

typedef struct Pass {
    const TalusOperator *op;
    const TalusAccelerated *state;
} Pass;

typedef struct Sums {
    Lane restart, dx2, dg2, residual2, residual_max;
} Sums;

KERNEL Lane lane_norm2(const Lane a[3])
{
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

/* Euclidean projection of two blocks (talus_project_cone with kappa = mu), inv = 1 / (1 + mu^2). The
 * division runs beside the root instead of after it; TINY2 (lane.h) keeps it from overflowing. */
KERNEL void lanes_project(Lane mu, Lane inv, Lane x[3])
{
    Lane t2 = x[1] * x[1] + x[2] * x[2];
    Lane t = lane_sqrt(t2);
    Lane shrink = mu / lane_select(t2 > TINY2, t2, lane(1.0));
    Mask inside = t <= mu * x[0]; /* for mu 0 also where apex is meant, */
    Mask apex = mu * t <= -x[0];  /* which therefore decides */
    Lane mantle = (x[0] + mu * t) * inv;
    shrink = shrink * t * mantle;
    Lane n = lane_select(inside, x[0], mantle);
    Lane s = lane_select(inside, lane(1.0), shrink);
    x[0] = (Lane)(~apex & (Mask)n);
    x[1] = (Lane)(~apex & (Mask)(s * x[1]));
    x[2] = (Lane)(~apex & (Mask)(s * x[2]));
}

/* Two entries, or the last one twice with its copy masked out of the sums. */
typedef struct Pair {
    int64_t i;
    bool both;
} Pair;

KERNEL Lane live(const Pair *pair, Lane a)
{
    return pair->both ? a : (Lane){a[0], 0.0};
}

KERNEL void load3(const double *p, const Pair *pair, Lane r[3])
{
    if (pair->both)
        lane_load3(p + 3 * pair->i, r);
    else
        for (int k = 0; k < 3; k++)
            r[k] = lane(p[3 * pair->i + k]);
}

KERNEL void store3(double *p, const Pair *pair, const Lane r[3])
{
    if (pair->both)
        lane_store3(p + 3 * pair->i, r);
    else
        for (int k = 0; k < 3; k++)
            p[3 * pair->i + k] = r[k][0];
}

KERNEL Lane load1(const double *p, const Pair *pair)
{
    return pair->both ? lane_load(p + pair->i) : lane(p[pair->i]);
}

/* Natural residual (problem.h) of gamma = s x with gradient g / s, squared. */
KERNEL Lane cone_residual2(const TalusOperator *op, const Pair *pair, Lane mu, const Lane s[2],
                           const Lane x[3], const Lane g[3])
{
    Lane d2[2], gamma[3], r[3];
    lane_gather(op->diagonal[pair->i], op->diagonal[pair->i + pair->both], 1, d2);
    Lane d = (d2[0] + 2.0 * d2[1]) * (1.0 / 3.0);
    for (int k = 0; k < 3; k++) {
        gamma[k] = s[k > 0] * x[k];
        r[k] = gamma[k] - g[k] / (s[k > 0] * d);
    }
    lanes_project(mu, 1.0 / (1.0 + mu * mu), r);
    for (int k = 0; k < 3; k++)
        r[k] = d * (gamma[k] - r[k]);
    return lane_norm2(r);
}

/* Blocks i (and i+1) of a chunk whose first block is `begin`: u holds D'v (or N gamma + q) on entry
 * and the new gamma on return. */
KERNEL void cone_pair(const TalusOperator *op, const TalusAccelerated *state, int64_t begin,
                      const Pair *pair, bool measure, double *u, Sums *sums)
{
    const Pair local = {pair->i - begin, pair->both};
    Lane s[4], x[3], xp[3], g[3], gp[3], next[3];
    lane_gather(state->metric[pair->i], state->metric[pair->i + pair->both], 2, s);
    load3(state->x, pair, x);
    load3(state->x_prev, pair, xp);
    load3(state->g_prev, pair, gp);
    load3(u, &local, g);
    if (op->pair)
        g[0] += load1(op->bias, pair);
    if (op->compliance)
        g[0] += load1(op->compliance, pair) * s[0] * x[0];

    Lane restart = lane(0.0), dx2 = lane(0.0), dg2 = lane(0.0), y[3];
    for (int k = 0; k < 3; k++) {
        g[k] *= s[k > 0];
        Lane dx = x[k] - xp[k], dg = g[k] - gp[k];
        y[k] = x[k] + state->beta * dx;
        next[k] = y[k] - state->step * (g[k] + state->beta * dg);
        dx2 += dx * dx;
        dg2 += dg * dg;
    }
    lanes_project(s[2], s[3], next);
    for (int k = 0; k < 3; k++)
        restart += (y[k] - next[k]) * (next[k] - x[k]);
    sums->restart += live(pair, restart);
    sums->dx2 += live(pair, dx2);
    sums->dg2 += live(pair, dg2);
    if (measure) {
        Lane mu = load1(op->mu, pair);
        Lane r2 = live(pair, cone_residual2(op, pair, mu, s, x, g));
        sums->residual2 += r2;
        sums->residual_max = lane_select(r2 <= sums->residual_max, sums->residual_max, r2);
    }
    store3(state->g_prev, pair, g);
    store3(state->x_prev, pair, next);
    for (int k = 0; k < 3; k++)
        next[k] *= s[k > 0];
    store3(u, &local, next);
}

/* The operator and the state are copied, so that the compiler need not fear that a store to a vector
 * changes them; `measure` is a constant after inlining. */
KERNEL Sums cone_range(TalusOperator op, TalusAccelerated state, int64_t begin, int64_t end,
                       bool measure, double *u)
{
    Sums sums = {{0}, {0}, {0}, {0}, {0}};
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

static void cone_blocks(const Pass *pass, int64_t begin, int64_t end, double *u, Sums *sums)
{
    if (pass->state->want_residual)
        *sums = cone_range(*pass->op, *pass->state, begin, end, true, u);
    else
        *sums = cone_range(*pass->op, *pass->state, begin, end, false, u);
}

KERNEL void nonneg_block(const Pass *pass, int64_t begin, int64_t i, double *u, Sums *sums)
{
    const TalusOperator *op = pass->op;
    const TalusAccelerated *state = pass->state;
    double s = state->metric[i][0], x = state->x[i], g = u[i - begin];
    g += op->pair ? op->bias[i] : 0.0;
    g += op->compliance ? op->compliance[i] * s * x : 0.0;
    if (state->want_residual) {
        double d = talus_block_scale(op, (int)i), gamma = s * x;
        double r = d * (gamma - talus_project_nonneg(gamma - g / d));
        sums->residual2[0] += r * r;
        sums->residual_max[0] = r * r <= sums->residual_max[0] ? sums->residual_max[0] : r * r;
    }
    g *= s;
    double dx = x - state->x_prev[i], dg = g - state->g_prev[i];
    double y = x + state->beta * dx;
    double next = talus_project_nonneg(y - state->step * (g + state->beta * dg));
    sums->restart[0] += (y - next) * (next - x);
    sums->dx2[0] += dx * dx;
    sums->dg2[0] += dg * dg;
    state->g_prev[i] = g;
    state->x_prev[i] = next;
    u[i - begin] = s * next;
}

static void accelerate_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    const TalusOperator *op = pass->op;
    double u[3 * BLOCK_GRAIN];
    Sums sums = {{0}, {0}, {0}, {0}, {0}};
    if (op->pair)
        talus_cpu_contact_velocity(op, (const double(*)[8])op->scratch->velocity, (int)begin,
                                   (int)end, u);
    else
        memcpy(u, op->scratch->product + begin * op->rows,
               (size_t)((end - begin) * op->rows) * sizeof *u);
    if (op->rows == 3)
        cone_blocks(pass, begin, end, u, &sums);
    else
        for (int64_t i = begin; i < end; i++)
            nonneg_block(pass, begin, i, u, &sums);
    if (op->pair)
        talus_cpu_wrench(op, u, (int)begin, (int)end, op->scratch->record);
    double *partial = op->scratch->partial + PARTIALS * chunk;
    partial[0] = sums.restart[0] + sums.restart[1];
    partial[1] = sums.dx2[0] + sums.dx2[1];
    partial[2] = sums.dg2[0] + sums.dg2[1];
    partial[3] = sums.residual2[0] + sums.residual2[1];
    partial[4] =
        sums.residual_max[1] <= sums.residual_max[0] ? sums.residual_max[0] : sums.residual_max[1];
}

static void unscale_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    const TalusOperator *op = pass->op;
    double gamma[3 * BLOCK_GRAIN];
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < op->rows; k++)
            gamma[(i - begin) * op->rows + k] =
                pass->state->metric[i][k > 0] * pass->state->x[i * op->rows + k];
    if (op->pair)
        talus_cpu_wrench(op, gamma, (int)begin, (int)end, op->scratch->record);
    else
        memcpy(op->scratch->unscaled + begin * op->rows, gamma,
               (size_t)((end - begin) * op->rows) * sizeof *gamma);
}

static void sparse_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const TalusOperator *op = ((const Pass *)context)->op;
    double *out = op->scratch->product + begin * op->rows;
    (void)chunk;
    talus_cpu_sparse_product(op, op->scratch->unscaled, (int)begin, (int)end, out);
    for (int64_t k = begin * op->rows; k < end * op->rows; k++)
        op->scratch->product[k] += op->offset[k];
}

void talus_cpu_accelerate(const TalusOperator *op, TalusAccelerated *state, TalusStepSums *sums)
{
    Pass pass = {op, state};
    if (!state->warm || !op->pair)
        talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, unscale_chunk, &pass);
    if (op->pair)
        talus_cpu_gather(op, (const double(*)[6])op->scratch->record, true, op->scratch->velocity);
    else
        talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, sparse_chunk, &pass);
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, accelerate_chunk, &pass);

    double total[5] = {0.0, 0.0, 0.0, 0.0, 0.0};
    for (int64_t c = 0; c < talus_chunks(op->blocks, BLOCK_GRAIN); c++) {
        const double *partial = op->scratch->partial + PARTIALS * c;
        for (int k = 0; k < 4; k++)
            total[k] += partial[k];
        total[4] = partial[4] <= total[4] ? total[4] : partial[4];
    }
    *sums = (TalusStepSums){total[0], total[1], total[2], total[3], sqrt(total[4])};
    double *next = state->x_prev;
    state->x_prev = state->x;
    state->x = next;
    state->warm = true;
}
