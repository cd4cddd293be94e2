/* backend/cuda/ops/quasi.cu - a quasi-Newton step on the forward-backward residual, fused.
 *
 * A direction is one pass over the pairs. In a step the bodies gather the impulses of d (operator.h; not with q.halve),
 * one pass over the contacts moves and projects, and passes over the pairs, GROUP at a time, take the inner products
 * with the new residual. A pair is stored in single precision, s and y of an entry side by side, in the memory of one
 * vector; it is combined and multiplied in double.
 *
 * Per contact with friction and five pairs, bytes of vectors read and written beside the product's own:
 *     direction   144 + 24
 *     step        120 + 96 (with q.halve 144 + 120), then 144 for the inner products
 *     smooth      96 + 72   (every third iteration by default) */
#include "backend/cuda/ops/operator.h"

#include <math.h>

/* Returns the memory of pair i: s and y of each entry as floats. */
static __device__ __host__ inline float2 *stored_pair(const TalusQuasi &q, int i)
{
    return (float2 *)q.pair[i];
}

/* ---- direction ---- */

/* Kernel argument of combine_direction. */
struct Direction {
    const double *r;
    double *d;
    int64_t n; /* length of the vectors */
    int count; /* number of pairs */
    const float2 *pair[TALUS_PAIRS];
    double weight[1 + 2 * TALUS_PAIRS]; /* of r, then of s and y of each pair */
};

/* d = weight[0] r + sum of weight[1 + 2 p] s_p + weight[2 + 2 p] y_p. */
static __global__ void combine_direction(Direction pass)
{
    int64_t i = item_index();
    if (i >= pass.n)
        return;
    double sum = pass.weight[0] * pass.r[i];
    for (int p = 0; p < pass.count; p++) {
        float2 sy = pass.pair[p][i];
        sum += pass.weight[1 + 2 * p] * (double)sy.x + pass.weight[2 + 2 * p] * (double)sy.y;
    }
    pass.d[i] = sum;
}

void cu_step_quasi_direction(const TalusOperator *op, const TalusQuasi *q, const double *weight)
{
    Direction pass = {q->r, q->d, (int64_t)op->rows * op->blocks, q->count, {}, {}};
    for (int p = 0; p < q->count; p++)
        pass.pair[p] = stored_pair(*q, p);
    memcpy(pass.weight, weight, (size_t)(1 + 2 * q->count) * sizeof *weight);
    launch(cu_context_of(op), combine_direction, blocks_for(pass.n), THREADS, pass);
}

/* ---- step ---- */

/* Sums of a step as in TalusQuasiSums; SR and YR: s'r_next and y'r_next of the new pair. */
enum { R2, RG, GD, DW, DD, WW, SMOOTH, SY, YY, SR, YR, MOVED };

/* Kernel argument of a step. */
struct Move {
    CuSets sets;
    CuView<double> view;
    CuMotion motion;
    TalusQuasi q;
};

/* Loads d and w = S (N + E) S d. With q.halve: halves d, also in memory, and w = (g_next - g) / 2, as g_next is still
 * that of the whole step. */
template <int ROWS>
static __device__ inline void load_step(const Move &pass, int64_t i, const double (&g)[ROWS],
                                        double (&d)[ROWS], double (&w)[ROWS])
{
    const TalusQuasi &q = pass.q;
    load_block(q.d, i, d);
    if (q.halve) {
        load_block(q.g_next, i, w);
        for (int k = 0; k < ROWS; k++) {
            d[k] *= 0.5;
            w[k] = 0.5 * (w[k] - g[k]);
        }
        store_block(q.d, i, d);
        return;
    }
    scaled_gradient(pass.view, pass.motion, (int)i, metric_scales(pass.sets, i), d, w);
}

/* Stores the pair s = unit d, y = unit (r_next - r) of block i in single precision; adds inner products of the stored
 * numbers. */
template <int ROWS>
static __device__ inline void store_new_pair(const TalusQuasi &q, int64_t i,
                                             const double (&d)[ROWS], const double (&r_next)[ROWS],
                                             double (&sums)[MOVED])
{
    double r[ROWS];
    float2 *pair = stored_pair(q, q.count);
    load_block(q.r, i, r);
    for (int k = 0; k < ROWS; k++) {
        float2 sy = make_float2((float)(q.unit * d[k]), (float)(q.unit * (r_next[k] - r[k])));
        double s = (double)sy.x, y = (double)sy.y;
        pair[i * ROWS + k] = sy;
        sums[SY] += s * y;
        sums[YY] += y * y;
        sums[SR] += s * r_next[k];
        sums[YR] += y * r_next[k];
    }
}

/* Block i of a step: writes x_next = x + d, g_next, r_next and the new pair; adds the sums of the step. */
template <int ROWS, bool VARIED>
static __device__ inline void move_quasi_block(const Move &pass, int64_t i, double (&sums)[MOVED])
{
    const TalusQuasi &q = pass.q;
    double x[ROWS], g[ROWS], d[ROWS], w[ROWS], r[ROWS];
    load_block(q.x, i, x);
    load_block(q.g, i, g);
    load_step(pass, i, g, d, w);
    for (int k = 0; k < ROWS; k++) {
        sums[GD] += g[k] * d[k];
        sums[DW] += d[k] * w[k];
        sums[DD] += d[k] * d[k];
        sums[WW] += w[k] * w[k];
        x[k] += d[k];
        g[k] += w[k];
        r[k] = x[k] - q.step * g[k];
    }
    store_block(q.x_next, i, x);
    store_block(q.g_next, i, g);
    project_block(block_set<ROWS, VARIED>(pass.sets, i), r);
    load_block(q.smooth_r, i, w);
    for (int k = 0; k < ROWS; k++) {
        r[k] = x[k] - r[k];
        sums[R2] += r[k] * r[k];
        sums[RG] += r[k] * g[k];
        sums[SMOOTH] += r[k] * w[k];
    }
    store_block(q.r_next, i, r);
    store_new_pair(q, i, d, r, sums);
}

/* Two blocks per multiprocessor leave 128 registers per thread, which the sums of three rows need. */
template <int ROWS, bool VARIED>
static __global__ void __launch_bounds__(THREADS, ROWS == 6 ? 1 : 2)
    move_quasi_blocks(CuTallies tallies, double *totals, Move pass)
{
    sum_items<MOVED, 0>(
        tallies, totals, 0, pass.sets.blocks, 0.0,
        [&](int64_t i, double(&sums)[MOVED]) { move_quasi_block<ROWS, VARIED>(pass, i, sums); });
}

/* Pairs per pass of inner products: the default number of pairs of the solver lbfgs-fb. */
enum { GROUP = 5 };

/* Kernel argument of sum_pair_dots. */
struct PairDots {
    const double *r;
    int blocks;
    int count;
    const float2 *pair[GROUP];
};

/* totals[2 p] = s'r and totals[2 p + 1] = y'r of pair p. */
template <int ROWS>
static __global__ void sum_pair_dots(CuTallies tallies, double *totals, PairDots pass)
{
    enum { SUMS = 2 * GROUP };
    sum_items<SUMS, 0>(tallies, totals, 0, pass.blocks, 0.0, [&](int64_t i, double(&sums)[SUMS]) {
        double r[ROWS];
        load_block(pass.r, i, r);
        for (int p = 0; p < GROUP; p++)
            for (int k = 0; k < ROWS && p < pass.count; k++) {
                float2 sy = pass.pair[p][i * ROWS + k];
                sums[2 * p] += (double)sy.x * r[k];
                sums[2 * p + 1] += (double)sy.y * r[k];
            }
    });
}

/* Writes s'r_next and y'r_next of pairs 0 to q->count - 1 to totals, GROUP pairs per kernel. A kernel always writes 2
 * GROUP totals, 0 for pairs that do not exist. */
static void launch_pair_dots(const TalusOperator *op, const TalusQuasi *q, double *totals)
{
    for (int first = 0; first < q->count; first += GROUP) {
        int count = q->count - first < GROUP ? q->count - first : GROUP;
        PairDots pass = {q->r_next, op->blocks, count, {}};
        for (int p = 0; p < pass.count; p++)
            pass.pair[p] = stored_pair(*q, first + p);
        LAUNCH_ROWS(launch_sums, op, sum_pair_dots, op->blocks, totals + 2 * first, pass);
    }
}

void cu_step_quasi_step(const TalusOperator *op, const TalusQuasi *q, TalusQuasiSums *sums)
{
    static_assert(MOVED + 2 * (TALUS_PAIRS + GROUP) <= CU_TOTALS, "totals of all pairs");
    double total[MOVED + 2 * TALUS_PAIRS];
    Move pass = {cu_sets(op, q->metric), cu_view(op), {}, *q};
    if (!q->halve)
        pass.motion = cu_compute_motion(op, q->d, q->metric, false);
    LAUNCH_SETS(launch_sums, op, move_quasi_blocks, op->blocks, cu_context_of(op)->totals, pass);
    launch_pair_dots(op, q, cu_context_of(op)->totals + MOVED);
    cu_totals_get(cu_context_of(op), MOVED + 2 * q->count, total);
    sums->r2 = total[R2];
    sums->rg = total[RG];
    sums->gd = total[GD];
    sums->dw = total[DW];
    sums->dd = total[DD];
    sums->ww = total[WW];
    sums->smooth = total[SMOOTH];
    sums->sy = total[SY];
    sums->yy = total[YY];
    for (int p = 0; p < q->count; p++) {
        sums->sr[p] = total[MOVED + 2 * p];
        sums->yr[p] = total[MOVED + 2 * p + 1];
    }
    sums->sr[q->count] = total[SR];
    sums->yr[q->count] = total[YR];
}

/* ---- smoothing ---- */

/* Sums of quasi_smooth as in TalusSmoothSums; RESIDUAL_MAX is a maximum, of squares. */
enum { X2, SMOOTH_R2, RESIDUAL2, RESIDUAL_MAX, SMOOTHED };

/* Block i of quasi_smooth: averages x and g with weight eta, writes the residual of the averages, adds the sums. */
template <int ROWS, bool VARIED>
static __device__ inline void smooth_block(const CuSets &sets, const TalusQuasi &q, double eta,
                                           int64_t i, double (&sums)[SMOOTHED])
{
    double x[ROWS], g[ROWS], old_x[ROWS], old_g[ROWS], r[ROWS], keep = 1.0 - eta;
    load_block(q.x, i, x);
    load_block(q.g, i, g);
    load_block(eta < 1.0 ? q.smooth_x : q.x, i, old_x); /* with eta = 1 smooth_x may be unset */
    load_block(eta < 1.0 ? q.smooth_g : q.g, i, old_g);
    for (int k = 0; k < ROWS; k++) {
        x[k] = keep * old_x[k] + eta * x[k];
        g[k] = keep * old_g[k] + eta * g[k];
        r[k] = x[k] - q.step * g[k];
        sums[X2] += x[k] * x[k];
    }
    store_block(q.smooth_x, i, x);
    store_block(q.smooth_g, i, g);
    project_block(block_set<ROWS, VARIED>(sets, i), r);
    for (int k = 0; k < ROWS; k++) {
        r[k] = x[k] - r[k];
        sums[SMOOTH_R2] += r[k] * r[k];
    }
    store_block(q.smooth_r, i, r);
    double natural = natural_residual2<VARIED>(sets, i, metric_scales(sets, i), x, g);
    sums[RESIDUAL2] += natural;
    sums[RESIDUAL_MAX] = larger(sums[RESIDUAL_MAX], natural);
}

template <int ROWS, bool VARIED>
static __global__ void smooth_blocks(CuTallies tallies, double *totals, CuSets sets, TalusQuasi q,
                                     double eta)
{
    sum_items<SMOOTHED - 1, 1>(tallies, totals, 0, sets.blocks, 0.0,
                               [&](int64_t i, double(&sums)[SMOOTHED]) {
                                   smooth_block<ROWS, VARIED>(sets, q, eta, i, sums);
                               });
}

void cu_step_quasi_smooth(const TalusOperator *op, const TalusQuasi *q, double eta,
                          TalusSmoothSums *sums)
{
    double total[SMOOTHED];
    LAUNCH_SETS(launch_sums, op, smooth_blocks, op->blocks, cu_context_of(op)->totals,
                cu_sets(op, q->metric), *q, eta);
    cu_totals_get(cu_context_of(op), SMOOTHED, total);
    *sums =
        TalusSmoothSums{total[X2], total[SMOOTH_R2], total[RESIDUAL2], sqrt(total[RESIDUAL_MAX])};
}
