/* backend/cpu/accelerate.c - one accelerated projected gradient step, fused.
 *
 * A step has two passes. In the first, bodies gather the wrenches of x (contact.c). The second, over the contacts,
 * evaluates the gradient, extrapolates, projects, sums and writes the wrenches of the new x. For contacts of two
 * spheres with friction the second pass is one loop; for other contacts three kernels pass their results through a
 * buffer of one chunk, which stays in the first-level cache. With an explicit matrix the first pass computes N gamma +
 * q, and no wrenches are written. */
#include "backend/cpu/cpu.h"

#include "backend/cpu/cone_lanes.h"
#include "backend/cpu/general.h"
#include "backend/cpu/sphere_lanes.h"
#include "backend/momentum.h"

/* Context of the loops over blocks of one step. */
typedef struct Pass {
    const TalusOperator *op;
    const TalusAccelerated *state;
} Pass;

/* Sums of the same names as in TalusStepSums, by lane; residual_max is squared. */
typedef struct Sums {
    Lane restart, dx2, dg2, x2, residual2, residual_max;
} Sums;

/* Number of packs of two blocks that are computed side by side: statements are loops over packs, which the compiler
 * unrolls. A step is one long chain of dependent operations; with one pack after the other the processor would wait for
 * results. */
enum { WIDE = 2 };

/* Completes g of two blocks to S ((N + E) gamma + q). On entry g is D'v or, for an explicit matrix, N gamma + q. */
KERNEL void finish_gradient(const TalusOperator *op, const Pair *pair, const Lane s[2],
                            const Lane x[3], Lane g[3])
{
    if (op->pair)
        g[0] += load1(op->bias, pair);
    if (op->slip) {
        const double *first = op->slip[pair->i], *second = op->slip[pair->i + pair->both];
        g[1] += (Lane){first[0], second[0]};
        g[2] += (Lane){first[1], second[1]};
    }
    if (op->compliance)
        g[0] += load1(op->compliance, pair) * s[0] * x[0];
    for (int k = 0; k < 3; k++)
        g[k] *= s[k > 0];
}

/* Returns De Saxce's shift in the metric, s_n mu |u_t| = nu |g_t| with nu = mu s_n / s_t. */
KERNEL Lane cone_shift(Lane nu, const Lane g[3])
{
    return nu * lane_sqrt(g[1] * g[1] + g[2] * g[2]);
}

/* y = x + beta (x - x_prev), next = y - step (g + ahead (g - g_prev)), which is not projected yet. With `exact` De
 * Saxce's shift at x is added to the gradient. Adds to x2, dx2 and dg2 of the sums; stores g in state->g_prev. */
KERNEL void step_from_extrapolated(const TalusAccelerated *state, const Pair *pair, bool exact,
                                   Lane nu, const Lane x[3], const Lane g[3], Lane y[3],
                                   Lane next[3], Sums *sums)
{
    const double ahead = talus_momentum_ahead(state->beta, state->lag);
    Lane xp[3], gp[3], dx[3], dg[3], gy[3];
    load3(state->x_prev, pair, xp);
    load3(state->g_prev, pair, gp);
    for (int k = 0; k < 3; k++) {
        dx[k] = x[k] - xp[k];
        dg[k] = g[k] - gp[k];
        y[k] = x[k] + state->beta * dx[k];
        gy[k] = g[k] + ahead * dg[k];
    }
    if (exact)
        gy[0] += cone_shift(nu, g);
    for (int k = 0; k < 3; k++)
        next[k] = y[k] - state->step * gy[k];
    sums->x2 += clear_idle_lane(pair, lane_norm2(x));
    sums->dx2 += clear_idle_lane(pair, lane_norm2(dx));
    sums->dg2 += clear_idle_lane(pair, lane_norm2(dg));
    store3(state->g_prev, pair, g);
}

/* Adds the natural residuals of two blocks to the sums, with De Saxce's shift in the gradient if `exact`. */
KERNEL void add_pair_residual(const TalusOperator *op, const Pair *pair, bool exact,
                              const Lane s[4], const Lane x[3], const Lane g[3], Sums *sums)
{
    Lane own[3] = {exact ? g[0] + cone_shift(s[2], g) : g[0], g[1], g[2]};
    Lane r2 = clear_idle_lane(pair, cone_residual2(op, pair, load1(op->mu, pair), s, x, own));
    sums->residual2 += r2;
    sums->residual_max = lane_select(r2 <= sums->residual_max, sums->residual_max, r2);
}

/* Options of a loop over cones, constants after inlining: `measure` is want_residual of the state, `exact` its exact.
 * With `exact` all blocks are under Coulomb's law. */
typedef struct LoopOptions {
    bool measure, exact;
} LoopOptions;

/* Takes the step of `wide` pairs of blocks and adds to the sums. Writes the new x to state->x_prev;
 * talus_cpu_step_accelerate exchanges x and x_prev at the end. u is D'v (for an explicit matrix N gamma + q) on entry,
 * the new gamma on return. `wide` and `options` are constants after inlining. */
KERNEL void step_cone_packs(const TalusOperator *op, const TalusAccelerated *state,
                            const Pair *pair, int wide, LoopOptions options, Lane u[][3],
                            Sums *sums)
{
    Lane s[WIDE][4], x[WIDE][3], y[WIDE][3], next[WIDE][3];
    for (int w = 0; w < wide; w++) {
        int64_t i = pair[w].i;
        lane_gather(state->metric[i], state->metric[i + pair[w].both], 2, s[w]);
        load3(state->x, &pair[w], x[w]);
        finish_gradient(op, &pair[w], s[w], x[w], u[w]);
    }
    if (options.measure)
        for (int w = 0; w < wide; w++)
            add_pair_residual(op, &pair[w], options.exact, s[w], x[w], u[w], sums);
    for (int w = 0; w < wide; w++)
        step_from_extrapolated(state, &pair[w], options.exact, s[w][2], x[w], u[w], y[w], next[w],
                               sums);
    for (int w = 0; w < wide; w++)
        lanes_project(s[w][2], s[w][3], next[w]);
    for (int w = 0; w < wide; w++) {
        Lane uphill[3];
        for (int k = 0; k < 3; k++) {
            uphill[k] = (y[w][k] - next[w][k]) * (next[w][k] - x[w][k]);
            u[w][k] = s[w][k > 0] * next[w][k];
        }
        sums->restart += clear_idle_lane(&pair[w], uphill[0] + uphill[1] + uphill[2]);
        store3(state->x_prev, &pair[w], next[w]);
    }
}

/* ---- two spheres: velocity, step and wrench in one loop ---- */

/* Takes the step of contacts i to i + 2 WIDE - 1, all of two spheres, and writes their wrenches (impulse and
 * torque). */
KERNEL void step_sphere_packs(const TalusOperator *op, const TalusAccelerated *state, int64_t i,
                              LoopOptions options, Sums *sums)
{
    const double(*velocity)[8] = (const double(*)[8])op->scratch->velocity;
    Lane frame[WIDE][4], v[WIDE][3], spin[WIDE][3], u[WIDE][3], turn[WIDE][3];
    Pair pair[WIDE];
    for (int w = 0; w < WIDE; w++) {
        pair[w] = (Pair){i + LANES * w, true};
        lanes_relative_motion(velocity, (const int32_t(*)[2])op->pair + pair[w].i, false, v[w],
                              spin[w]);
        lane_gather(op->frame[pair[w].i], op->frame[pair[w].i + 1], 2, frame[w]);
    }
    for (int w = 0; w < WIDE; w++)
        lanes_subtract_spin_velocity(frame[w], spin[w], v[w]);
    for (int w = 0; w < WIDE; w++)
        lanes_to_local(frame[w], v[w], u[w]);
    step_cone_packs(op, state, pair, WIDE, options, u, sums);
    for (int w = 0; w < WIDE; w++)
        lanes_to_world(frame[w], u[w], v[w]);
    for (int w = 0; w < WIDE; w++)
        lane_cross(frame[w], v[w], turn[w]);
    for (int w = 0; w < WIDE; w++)
        lanes_store_wrench(op->scratch->record[pair[w].i], v[w], turn[w]);
}

/* Takes the step of the sphere contacts [begin, end). Operator and state are passed as copies: the compiler then knows
 * that no store to a vector changes them. */
KERNEL void step_sphere_range(TalusOperator op, TalusAccelerated state, int64_t begin, int64_t end,
                              LoopOptions options, Sums *out)
{
    TalusHostScratch scratch = *op.scratch;
    Sums sums = *out;
    op.scratch = &scratch;
    for (int64_t i = begin; i < end; i += WIDE * LANES)
        step_sphere_packs(&op, &state, i, options, &sums);
    *out = sums;
}

/* Takes the step of the contacts of two spheres with friction in [begin, end), except for the last ones if their
 * number is not a multiple of 2 WIDE. Returns the first contact whose step was not taken. */
static int64_t step_spheres(const Pass *pass, int64_t begin, int64_t end, Sums *sums)
{
    bool known = pass->op->pair && pass->op->rows == 3 && !pass->op->mixed_sets;
    int64_t spheres = known ? pass->op->sphere_sphere : 0;
    int64_t count = (spheres < end ? spheres : end) - begin;
    if (count < WIDE * LANES)
        return begin;
    end = begin + count / (WIDE * LANES) * (WIDE * LANES);
    const TalusAccelerated *state = pass->state;
    if (state->exact && state->want_residual)
        step_sphere_range(*pass->op, *state, begin, end, (LoopOptions){true, true}, sums);
    else if (state->exact)
        step_sphere_range(*pass->op, *state, begin, end, (LoopOptions){false, true}, sums);
    else if (state->want_residual)
        step_sphere_range(*pass->op, *state, begin, end, (LoopOptions){true, false}, sums);
    else
        step_sphere_range(*pass->op, *state, begin, end, (LoopOptions){false, false}, sums);
    return end;
}

/* ---- any contact: velocities and impulses through a buffer ---- */

/* step_cone_packs for one pair of blocks. u has the entries of these blocks: D'v on entry, the new gamma on return. */
KERNEL void step_cone_pair(const TalusOperator *op, const TalusAccelerated *state, const Pair *pair,
                           LoopOptions options, double *u, Sums *sums)
{
    const Pair local = {0, pair->both};
    Lane g[1][3];
    load3(u, &local, g[0]);
    step_cone_packs(op, state, pair, 1, options, g, sums);
    store3(u, &local, g[0]);
}

/* step_cone_packs for blocks [begin, end), pair by pair; u starts at block `begin`. */
KERNEL void step_cone_range(TalusOperator op, TalusAccelerated state, int64_t begin, int64_t end,
                            LoopOptions options, double *u, Sums *out)
{
    Sums sums = *out;
    int64_t i = begin;
    for (; i + LANES <= end; i += LANES, u += 3 * LANES)
        step_cone_pair(&op, &state, &(Pair){i, true}, options, u, &sums);
    if (i < end)
        step_cone_pair(&op, &state, &(Pair){i, false}, options, u, &sums);
    *out = sums;
}

/* Calls step_cone_range with the options of the state as constants. */
static void step_cones(const Pass *pass, int64_t begin, int64_t end, double *u, Sums *sums)
{
    const TalusAccelerated *state = pass->state;
    if (state->exact && state->want_residual)
        step_cone_range(*pass->op, *state, begin, end, (LoopOptions){true, true}, u, sums);
    else if (state->exact)
        step_cone_range(*pass->op, *state, begin, end, (LoopOptions){false, true}, u, sums);
    else if (state->want_residual)
        step_cone_range(*pass->op, *state, begin, end, (LoopOptions){true, false}, u, sums);
    else
        step_cone_range(*pass->op, *state, begin, end, (LoopOptions){false, false}, u, sums);
}

/* Adds the natural residual of block i at gamma = s x to the sums; g is the gradient with respect to gamma. */
KERNEL void add_block_residual(const TalusOperator *op, int64_t i, int rows, const double *s,
                               const double *x, const double *g, Sums *sums)
{
    double d = talus_block_scale(op, (int)i), gamma[TALUS_ROWS], step[TALUS_ROWS];
    for (int k = 0; k < rows; k++) {
        gamma[k] = s[k > 0] * x[k];
        step[k] = gamma[k] - g[k] / d;
    }
    double r2 = plain_residual2(op, i, rows, d, gamma, step);
    sums->residual2[0] += r2;
    sums->residual_max[0] = r2 <= sums->residual_max[0] ? sums->residual_max[0] : r2;
}

/* Takes the step of block i, a half line (with constant `rows`) or any set, as step_cone_packs does for pairs of
 * cones. u starts at block `begin`. */
KERNEL void step_block(const Pass *pass, int64_t begin, int64_t i, int rows, double *u, Sums *sums)
{
    const TalusOperator *op = pass->op;
    const TalusAccelerated *state = pass->state;
    const double *x = state->x + i * rows, *s = state->metric[i];
    const double ahead = talus_momentum_ahead(state->beta, state->lag);
    double y[TALUS_ROWS], gy[TALUS_ROWS], next[TALUS_ROWS], *g = u + (i - begin) * rows;
    double *xp = state->x_prev + i * rows, *gp = state->g_prev + i * rows;
    g[0] += op->pair ? op->bias[i] : 0.0;
    for (int k = 1; op->slip && k < 3 && k < rows; k++)
        g[k] += op->slip[i][k - 1];
    g[0] += op->compliance ? op->compliance[i] * s[0] * x[0] : 0.0;
    if (state->want_residual) {
        double shift = state->exact ? talus_general_shift(op, NULL, i, g) : 0.0, raw = g[0];
        g[0] = state->exact ? raw + shift : raw;
        add_block_residual(op, i, rows, s, x, g, sums);
        g[0] = raw;
    }
    for (int k = 0; k < rows; k++) {
        g[k] *= s[k > 0];
        double dx = x[k] - xp[k], dg = g[k] - gp[k];
        y[k] = x[k] + state->beta * dx;
        gy[k] = g[k] + ahead * dg;
        sums->x2[0] += x[k] * x[k];
        sums->dx2[0] += dx * dx;
        sums->dg2[0] += dg * dg;
        gp[k] = g[k];
    }
    if (state->exact)
        gy[0] += talus_general_shift(op, state->metric, i, g);
    for (int k = 0; k < rows; k++)
        next[k] = y[k] - state->step * gy[k];
    plain_project(op, state->metric, i, next);
    for (int k = 0; k < rows; k++) {
        sums->restart[0] += (y[k] - next[k]) * (next[k] - x[k]);
        xp[k] = next[k];
        g[k] = s[k > 0] * next[k];
    }
}

/* step_block for blocks [begin, end). */
KERNEL void step_blocks(const Pass *pass, int64_t begin, int64_t end, int rows, double *u,
                        Sums *sums)
{
    for (int64_t i = begin; i < end; i++)
        step_block(pass, begin, i, rows, u, sums);
}

/* Second pass of the step, for the blocks [begin, end) of one group; stores the sums of the group. */
static void accelerate_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    const TalusOperator *op = pass->op;
    double u[TALUS_ROWS * BLOCK_GRAIN];
    Sums sums = {{0}, {0}, {0}, {0}, {0}, {0}};
    begin = step_spheres(pass, begin, end, &sums);
    if (op->pair)
        talus_cpu_contact_velocity(op, (const double(*)[8])op->scratch->velocity, (int)begin,
                                   (int)end, u);
    else
        memcpy(u, op->scratch->product + begin * op->rows,
               (size_t)((end - begin) * op->rows) * sizeof *u);
    if (op->mixed_sets)
        step_blocks(pass, begin, end, op->rows, u, &sums);
    else if (op->rows == 3)
        step_cones(pass, begin, end, u, &sums);
    else
        step_blocks(pass, begin, end, 1, u, &sums);
    if (op->pair)
        talus_cpu_write_wrenches(op, u, (int)begin, (int)end, op->scratch->record);
    const double both[] = {lane_sum(sums.restart),   lane_sum(sums.dx2),
                           lane_sum(sums.dg2),       lane_sum(sums.x2),
                           lane_sum(sums.residual2), lane_max(sums.residual_max)};
    talus_cpu_store_sums(op, chunk, 6, both);
}

/* First pass with an explicit matrix: scratch->product = N gamma + q for blocks [begin, end). */
static void matrix_gradient_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const TalusOperator *op = ((const Pass *)context)->op;
    double *out = op->scratch->product + begin * op->rows;
    (void)chunk;
    talus_cpu_sparse_product(op, op->scratch->unscaled, (int)begin, (int)end, out);
    for (int64_t k = begin * op->rows; k < end * op->rows; k++)
        op->scratch->product[k] += op->offset[k];
}

void talus_cpu_step_accelerate(const TalusOperator *op, TalusAccelerated *state,
                               TalusStepSums *sums)
{
    Pass pass = {op, state};
    if (!state->warm || !op->pair)
        talus_cpu_unscale_impulses(op, state->metric, state->x);
    if (op->pair)
        talus_cpu_gather_wrenches(op, (const double(*)[6])op->scratch->record, true, false,
                                  op->scratch->velocity);
    else
        talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, matrix_gradient_chunk, &pass);
    talus_cpu_for_each_group_when_ready(op, accelerate_chunk, &pass);
    double total[6];
    talus_cpu_combine_sums(op, 5, 1, total);
    *sums = (TalusStepSums){total[0], total[1], total[2], total[3], total[4], sqrt(total[5])};
    double *next = state->x_prev;
    state->x_prev = state->x;
    state->x = next;
    state->warm = true;
}
