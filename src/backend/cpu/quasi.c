/* backend/cpu/quasi.c - a quasi-Newton step on the forward-backward residual, fused.
 *
 * step.quasi_direction is one pass over the pairs (s, y) of TalusQuasi; it also writes the wrenches of S d (for an
 * explicit matrix, the vector S d). step.quasi_step gathers the wrenches; its one pass over the blocks evaluates w = S
 * (N + E) S d, adds d to x and w to g, projects, and computes all inner products with the new residual while that is
 * in the first-level cache. Pairs are stored, combined and multiplied in single precision; sums over more than a piece
 * of PIECE blocks are in double precision. */
#include "backend/cpu/cone_lanes.h"
#include "backend/cpu/general.h"
#include "backend/groups.h"

#include <math.h>
#include <string.h>

/* PIECE: number of blocks that are handled at a time, so that the entries of about ten vectors fit in the first-level
 * cache. QUAD: number of floats in a Quad. */
enum { PIECE = 64, QUAD = 4 };

/* Four floats. */
typedef float Quad __attribute__((vector_size(16)));

/* Context of the loops over blocks; each operation sets the members that its loop reads. */
typedef struct Pass {
    const TalusOperator *op;
    const TalusQuasi *q;
    /* direction d = own r + scale (sum over pairs of weight[2 i] s_i + weight[2 i + 1] y_i); scale is a power of two */
    double own, scale;
    float weight[2 * TALUS_PAIRS]; /* weights of s and y of each pair, relative to `scale` */
    double eta;                    /* smoothing: share of x in the running average */
} Pass;

KERNEL Quad quad_load(const float *p)
{
    Quad r;
    memcpy(&r, p, sizeof r);
    return r;
}

KERNEL double quad_sum(Quad a)
{
    return ((double)a[0] + (double)a[1]) + ((double)a[2] + (double)a[3]);
}

/* Return the addresses of s and of y of pair i. */
static inline const float *pair_s(const TalusQuasi *q, int i)
{
    return (const float *)q->pair[i];
}

static inline const float *pair_y(const TalusOperator *op, const TalusQuasi *q, int i)
{
    return pair_s(q, i) + (size_t)op->rows * (size_t)op->blocks;
}

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- direction ---- */

/* Writes the entries [first, first + length) of the direction d. */
static void combine_pairs(const Pass *pass, int64_t first, int64_t length)
{
    const TalusQuasi *q = pass->q;
    const int count = q->count;
    const double *r = q->r + first;
    const float *s[TALUS_PAIRS], *y[TALUS_PAIRS];
    double *d = q->d + first;
    for (int p = 0; p < count; p++) {
        s[p] = pair_s(q, p) + first;
        y[p] = pair_y(pass->op, q, p) + first;
    }
    int64_t i = 0;
    for (; i + QUAD <= length; i += QUAD) {
        Quad sum = {0};
        float four[QUAD];
        for (int p = 0; p < count; p++)
            sum += pass->weight[2 * p] * quad_load(s[p] + i) +
                   pass->weight[2 * p + 1] * quad_load(y[p] + i);
        memcpy(four, &sum, sizeof four);
        lane_store(d + i, pass->own * lane_load(r + i) + pass->scale * lane_load_floats(four));
        lane_store(d + i + LANES, pass->own * lane_load(r + i + LANES) +
                                      pass->scale * lane_load_floats(four + LANES));
    }
    for (; i < length;
         i++) { /* as a lane of the loop above: an entry's place in the list changes no bit */
        float sum = 0.0f;
        for (int p = 0; p < count; p++)
            sum += pass->weight[2 * p] * s[p][i] + pass->weight[2 * p + 1] * y[p][i];
        d[i] = pass->own * r[i] + pass->scale * (double)sum;
    }
}

/* Writes S d of blocks [begin, end) to the scratch: as wrenches or, for an explicit matrix, to `unscaled`. */
static void write_unscaled_direction(const Pass *pass, int64_t begin, int64_t end)
{
    const TalusOperator *op = pass->op;
    const int rows = op->rows;
    const double *d = pass->q->d + begin * rows;
    double local[TALUS_ROWS * PIECE],
        *gamma = op->pair ? local : op->scratch->unscaled + begin * rows;
    for (int64_t i = 0; i < end - begin; i++)
        for (int k = 0; k < rows; k++)
            gamma[i * rows + k] = pass->q->metric[begin + i][k > 0] * d[i * rows + k];
    if (op->pair)
        talus_cpu_write_wrenches(op, gamma, (int)begin, (int)end, op->scratch->record);
}

/* Writes d of blocks [begin, end), and its wrenches or S d, piece by piece. */
static void direction_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    const int rows = pass->op->rows;
    (void)chunk;
    for (int64_t i = begin; i < end; i += PIECE) {
        int64_t stop = smaller(i + PIECE, end);
        combine_pairs(pass, i * rows, (stop - i) * rows);
        write_unscaled_direction(pass, i, stop);
    }
}

void talus_cpu_step_quasi_direction(const TalusOperator *op, const TalusQuasi *q,
                                    const double *weight)
{
    Pass pass = {.op = op, .q = q, .own = weight[0]};
    double largest = 0.0;
    int exponent = 0;
    for (int k = 0; k < 2 * q->count; k++)
        largest = fmax(largest, fabs(weight[1 + k]));
    (void)frexp(isfinite(largest) ? largest : 1.0, &exponent);
    pass.scale = ldexp(1.0, exponent);
    for (int k = 0; k < 2 * q->count; k++)
        pass.weight[k] = (float)(weight[1 + k] / pass.scale);
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, direction_chunk, &pass);
}

/* ---- step ---- */

/* Sums of a step over blocks, of the same names as in TalusQuasiSums, by lane. */
typedef struct Moved {
    Lane r2, rg, gd, dw, dd, ww, smooth;
} Moved;

/* Number of sums in Moved. */
enum { MOVED = sizeof(Moved) / sizeof(Lane) };

/* Halves the last step of two blocks: d becomes d / 2, also in q->d; w = (g_next - g) / 2, with g_next of the last
 * step. */
KERNEL void halve_step(const TalusQuasi *q, const Pair *pair, const Lane g[3], Lane d[3], Lane w[3])
{
    load3(q->g_next, pair, w);
    for (int k = 0; k < 3; k++) {
        d[k] *= 0.5;
        w[k] = 0.5 * (w[k] - g[k]);
    }
    store3(q->d, pair, d);
}

/* Writes x_next, g_next and r_next of the two cones of `pair` and adds to the sums. u holds N S d from block `begin`
 * on; it is not read if `halve`. */
KERNEL void step_cone_pair(const TalusOperator *op, const TalusQuasi *q, int64_t begin,
                           const Pair *pair, bool halve, const double *u, Moved *sums)
{
    const Pair local = {pair->i - begin, pair->both};
    Lane m[4], x[3], g[3], d[3], w[3], t[3], old[3], sum[MOVED] = {{0}};
    lane_gather(q->metric[pair->i], q->metric[pair->i + pair->both], 2, m);
    load3(q->x, pair, x);
    load3(q->g, pair, g);
    load3(q->d, pair, d);
    load3(q->smooth_r, pair, old);
    if (halve) {
        halve_step(q, pair, g, d, w);
    } else {
        load3(u, &local, w);
        if (op->compliance)
            w[0] += load1(op->compliance, pair) * m[0] * d[0];
        for (int k = 0; k < 3; k++)
            w[k] *= m[k > 0];
    }
    for (int k = 0; k < 3; k++) {
        sum[2] += g[k] * d[k];
        sum[3] += d[k] * w[k];
        sum[4] += d[k] * d[k];
        sum[5] += w[k] * w[k];
        x[k] += d[k];
        g[k] += w[k];
        t[k] = x[k] - q->step * g[k];
    }
    store3(q->x_next, pair, x);
    store3(q->g_next, pair, g);
    lanes_project(m[2], m[3], t);
    for (int k = 0; k < 3; k++) {
        t[k] = x[k] - t[k];
        sum[0] += t[k] * t[k];
        sum[1] += t[k] * g[k];
        sum[6] += t[k] * old[k];
    }
    store3(q->r_next, pair, t);
    sums->r2 += clear_idle_lane(pair, sum[0]);
    sums->rg += clear_idle_lane(pair, sum[1]);
    sums->gd += clear_idle_lane(pair, sum[2]);
    sums->dw += clear_idle_lane(pair, sum[3]);
    sums->dd += clear_idle_lane(pair, sum[4]);
    sums->ww += clear_idle_lane(pair, sum[5]);
    sums->smooth += clear_idle_lane(pair, sum[6]);
}

/* step_cone_pair for blocks [begin, end). op and q are passed as copies: the compiler then knows that no store to a
 * vector changes them. `halve` is a constant after inlining. */
KERNEL void step_cone_range(TalusOperator op, TalusQuasi q, int64_t begin, int64_t end, bool halve,
                            const double *u, Moved *total)
{
    Moved sums = *total;
    int64_t i = begin;
    for (; i + LANES <= end; i += LANES) {
        Pair pair = {i, true};
        step_cone_pair(&op, &q, begin, &pair, halve, u, &sums);
    }
    if (i < end) {
        Pair last = {i, false};
        step_cone_pair(&op, &q, begin, &last, halve, u, &sums);
    }
    *total = sums;
}

/* Calls step_cone_range with q->halve as a constant. */
static void step_cones(const Pass *pass, int64_t begin, int64_t end, const double *u, Moved *sums)
{
    if (pass->q->halve)
        step_cone_range(*pass->op, *pass->q, begin, end, true, u, sums);
    else
        step_cone_range(*pass->op, *pass->q, begin, end, false, u, sums);
}

/* w = S (N + E) S d of block i, from u = N S d. With q->halve does what halve_step does, without reading u. */
KERNEL void write_change(const Pass *pass, int64_t i, int rows, const double *u, double *w)
{
    const TalusOperator *op = pass->op;
    const TalusQuasi *q = pass->q;
    const double *s = q->metric[i], *g = q->g + i * rows;
    double *d = q->d + i * rows;
    for (int k = 0; k < rows; k++)
        if (q->halve) {
            d[k] = 0.5 * d[k];
            w[k] = 0.5 * (q->g_next[i * rows + k] - g[k]);
        } else {
            double own = k == 0 && op->compliance ? op->compliance[i] * s[0] * d[0] : 0.0;
            w[k] = s[k > 0] * (u[k] + own);
        }
}

/* As step_cone_range, one block after the other, for half lines (with constant `rows`) and mixed sets. */
KERNEL void step_plain_blocks(const Pass *pass, int64_t begin, int64_t end, int rows,
                              const double *u, Moved *sums)
{
    const TalusQuasi *q = pass->q;
    for (int64_t i = begin; i < end; i++) {
        double w[TALUS_ROWS], t[TALUS_ROWS];
        double *x = q->x_next + i * rows, *g = q->g_next + i * rows, *r = q->r_next + i * rows;
        const double *d = q->d + i * rows;
        write_change(pass, i, rows, u + (i - begin) * rows, w);
        for (int k = 0; k < rows; k++) {
            double old = q->g[i * rows + k];
            sums->gd[0] += old * d[k];
            sums->dw[0] += d[k] * w[k];
            sums->dd[0] += d[k] * d[k];
            sums->ww[0] += w[k] * w[k];
            x[k] = q->x[i * rows + k] + d[k];
            g[k] = old + w[k];
            t[k] = x[k] - q->step * g[k];
        }
        plain_project(pass->op, q->metric, i, t);
        for (int k = 0; k < rows; k++) {
            r[k] = x[k] - t[k];
            sums->r2[0] += r[k] * r[k];
            sums->rg[0] += r[k] * g[k];
            sums->smooth[0] += r[k] * q->smooth_r[i * rows + k];
        }
    }
}

/* Inner products of one pair (s, y) with a vector r: s'r and y'r. */
typedef struct PairSums {
    double sr, yr;
} PairSums;

/* Adds s'r and y'r over `length` entries, at most a piece, to the sums. */
static void add_pair_dots(const float *s, const float *y, const float *r, int64_t length,
                          PairSums *sums)
{
    Quad sr = {0}, yr = {0};
    double s1 = 0.0, y1 = 0.0;
    int64_t i = 0;
    for (; i + QUAD <= length; i += QUAD) {
        Quad a = quad_load(r + i);
        sr += quad_load(s + i) * a;
        yr += quad_load(y + i) * a;
    }
    for (; i < length; i++) {
        s1 += (double)s[i] * (double)r[i];
        y1 += (double)y[i] * (double)r[i];
    }
    sums->sr += quad_sum(sr) + s1;
    sums->yr += quad_sum(yr) + y1;
}

/* Stores entries [first, first + length) of the new pair s = unit d, y = unit (r_next - r), and writes unit r_next of
 * these entries to r[length], all in single precision. Adds s'y and y'y to *sy and *yy. */
static void store_pair(const Pass *pass, int64_t first, int64_t length, float *r, double *sy,
                       double *yy)
{
    const TalusQuasi *q = pass->q;
    const double *d = q->d + first, *old = q->r + first, *next = q->r_next + first;
    float *s = (float *)q->pair[q->count] + first;
    float *y = s + (size_t)pass->op->rows * (size_t)pass->op->blocks;
    const double unit = q->unit;
    PairSums sums = {0.0, 0.0};
    int64_t i = 0;
    for (; i + LANES <= length; i += LANES) {
        Lane a = lane_load(next + i);
        lane_store_floats(s + i, unit * lane_load(d + i));
        lane_store_floats(y + i, unit * (a - lane_load(old + i)));
        lane_store_floats(r + i, unit * a);
    }
    for (; i < length; i++) {
        s[i] = (float)(unit * d[i]);
        y[i] = (float)(unit * (next[i] - old[i]));
        r[i] = (float)(unit * next[i]);
    }
    add_pair_dots(s, y, y, length, &sums);
    *sy += sums.sr;
    *yy += sums.yr;
}

/* u = N S d of blocks [begin, end), from the velocities of the scratch or, for an explicit matrix, from its
 * `unscaled`. */
static void write_product(const TalusOperator *op, int64_t begin, int64_t end, double *u)
{
    if (op->pair)
        talus_cpu_contact_velocity(op, (const double(*)[8])op->scratch->velocity, (int)begin,
                                   (int)end, u);
    else
        talus_cpu_sparse_product(op, op->scratch->unscaled, (int)begin, (int)end, u);
}

/* Takes the step of the blocks [begin, end) of one group, piece by piece, and stores the sums of the group in the
 * scratch's vector_partial. */
static void step_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    const TalusOperator *op = pass->op;
    const TalusQuasi *q = pass->q;
    Moved moved = {{0}, {0}, {0}, {0}, {0}, {0}, {0}};
    double sy = 0.0, yy = 0.0;
    PairSums pairs[TALUS_PAIRS + 1];
    memset(pairs, 0, sizeof pairs);
    for (int64_t i = begin; i < end; i += PIECE) {
        double u[TALUS_ROWS * PIECE];
        float r[TALUS_ROWS * PIECE];
        int64_t stop = smaller(i + PIECE, end), first = i * op->rows;
        int64_t length = (stop - i) * op->rows;
        if (!q->halve)
            write_product(op, i, stop, u);
        if (op->mixed_sets)
            step_plain_blocks(pass, i, stop, op->rows, u, &moved);
        else if (op->rows == 3)
            step_cones(pass, i, stop, u, &moved);
        else
            step_plain_blocks(pass, i, stop, 1, u, &moved);
        store_pair(pass, first, length, r, &sy, &yy);
        for (int p = 0; p <= q->count; p++)
            add_pair_dots(pair_s(q, p) + first, pair_y(op, q, p) + first, r, length, &pairs[p]);
    }
    const Lane own[] = {moved.r2, moved.rg, moved.gd, moved.dw, moved.dd, moved.ww, moved.smooth};
    const int64_t groups = talus_cpu_group_count(op);
    double *partial = op->scratch->vector_partial + chunk;
    for (int k = 0; k < MOVED; k++, partial += groups)
        *partial = lane_sum(own[k]);
    *partial = sy;
    partial[groups] = yy;
    partial += 2 * groups;
    for (int p = 0; p <= q->count; p++, partial += 2 * groups) {
        *partial = pairs[p].sr;
        partial[groups] = pairs[p].yr;
    }
}

void talus_cpu_step_quasi_step(const TalusOperator *op, const TalusQuasi *q, TalusQuasiSums *sums)
{
    enum { OWN = 9 };
    Pass pass = {.op = op, .q = q};
    double total[TALUS_VECTORS] = {0.0};
    if (op->pair && !q->halve)
        talus_cpu_gather_wrenches(op, (const double(*)[6])op->scratch->record, false, false,
                                  op->scratch->velocity);
    talus_cpu_for_each_group_when_ready(op, step_chunk, &pass);
    talus_cpu_sum_groups(op, OWN + 2 * (q->count + 1), op->scratch->vector_partial, total);
    *sums = (TalusQuasiSums){.r2 = total[0],
                             .rg = total[1],
                             .gd = total[2],
                             .dw = total[3],
                             .dd = total[4],
                             .ww = total[5],
                             .smooth = total[6],
                             .sy = total[7],
                             .yy = total[8]};
    for (int p = 0; p <= q->count; p++) {
        sums->sr[p] = total[OWN + 2 * p] / q->unit;
        sums->yr[p] = total[OWN + 2 * p + 1] / q->unit;
    }
}

/* ---- smoothing ---- */

/* Sums of the running average over blocks, of the same names as in TalusSmoothSums, by lane. */
typedef struct Smoothed {
    Lane x2, r2, residual2, residual_max;
} Smoothed;

/* Updates smooth_x, smooth_g and smooth_r of two cones and adds to the sums. */
KERNEL void smooth_cone_pair(const TalusOperator *op, const TalusQuasi *q, double eta,
                             const Pair *pair, Smoothed *sums)
{
    Lane m[4], x[3], g[3], xs[3], gs[3], t[3], x2 = lane(0.0), r2 = lane(0.0);
    double keep = 1.0 - eta;
    lane_gather(q->metric[pair->i], q->metric[pair->i + pair->both], 2, m);
    load3(q->x, pair, x);
    load3(q->g, pair, g);
    load3(eta < 1.0 ? q->smooth_x : q->x, pair, xs); /* smooth_x may be unset */
    load3(eta < 1.0 ? q->smooth_g : q->g, pair, gs);
    for (int k = 0; k < 3; k++) {
        xs[k] = keep * xs[k] + eta * x[k];
        gs[k] = keep * gs[k] + eta * g[k];
        t[k] = xs[k] - q->step * gs[k];
        x2 += xs[k] * xs[k];
    }
    store3(q->smooth_x, pair, xs);
    store3(q->smooth_g, pair, gs);
    lanes_project(m[2], m[3], t);
    for (int k = 0; k < 3; k++) {
        t[k] = xs[k] - t[k];
        r2 += t[k] * t[k];
    }
    store3(q->smooth_r, pair, t);
    sums->x2 += clear_idle_lane(pair, x2);
    sums->r2 += clear_idle_lane(pair, r2);
    Lane natural = clear_idle_lane(pair, cone_residual2(op, pair, load1(op->mu, pair), m, xs, gs));
    sums->residual2 += natural;
    sums->residual_max = lane_select(natural <= sums->residual_max, sums->residual_max, natural);
}

/* smooth_cone_pair for blocks [begin, end). */
static void smooth_cones(TalusOperator op, TalusQuasi q, double eta, int64_t begin, int64_t end,
                         Smoothed *total)
{
    Smoothed sums = *total;
    int64_t i = begin;
    for (; i + LANES <= end; i += LANES) {
        Pair pair = {i, true};
        smooth_cone_pair(&op, &q, eta, &pair, &sums);
    }
    if (i < end) {
        Pair last = {i, false};
        smooth_cone_pair(&op, &q, eta, &last, &sums);
    }
    *total = sums;
}

/* As smooth_cones, one block after the other, for half lines (with constant `rows`) and mixed sets. */
KERNEL void smooth_plain_blocks(const Pass *pass, int64_t begin, int64_t end, int rows,
                                Smoothed *sums)
{
    const TalusQuasi *q = pass->q;
    const double *xs = pass->eta < 1.0 ? q->smooth_x : q->x;
    const double *gs = pass->eta < 1.0 ? q->smooth_g : q->g;
    double keep = 1.0 - pass->eta;
    for (int64_t i = begin; i < end; i++) {
        double d = talus_block_scale(pass->op, (int)i), t[TALUS_ROWS];
        double gamma[TALUS_ROWS], step[TALUS_ROWS];
        for (int k = 0; k < rows; k++) {
            int64_t e = i * rows + k;
            double x = keep * xs[e] + pass->eta * q->x[e], s = q->metric[i][k > 0];
            double g = keep * gs[e] + pass->eta * q->g[e];
            gamma[k] = s * x;
            step[k] = gamma[k] - g / (s * d);
            t[k] = x - q->step * g;
            sums->x2[0] += x * x;
            q->smooth_x[e] = x;
            q->smooth_g[e] = g;
        }
        plain_project(pass->op, q->metric, i, t);
        for (int k = 0; k < rows; k++) {
            double r = q->smooth_x[i * rows + k] - t[k];
            q->smooth_r[i * rows + k] = r;
            sums->r2[0] += r * r;
        }
        double natural = plain_residual2(pass->op, i, rows, d, gamma, step);
        sums->residual2[0] += natural;
        sums->residual_max[0] = natural <= sums->residual_max[0] ? sums->residual_max[0] : natural;
    }
}

/* Updates the running averages of the blocks [begin, end) of one group and stores the sums of the group. */
static void smooth_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    Smoothed sums = {{0}, {0}, {0}, {0}};
    if (pass->op->mixed_sets)
        smooth_plain_blocks(pass, begin, end, pass->op->rows, &sums);
    else if (pass->op->rows == 3)
        smooth_cones(*pass->op, *pass->q, pass->eta, begin, end, &sums);
    else
        smooth_plain_blocks(pass, begin, end, 1, &sums);
    const double both[] = {lane_sum(sums.x2), lane_sum(sums.r2), lane_sum(sums.residual2),
                           lane_max(sums.residual_max)};
    talus_cpu_store_sums(pass->op, chunk, 4, both);
}

void talus_cpu_step_quasi_smooth(const TalusOperator *op, const TalusQuasi *q, double eta,
                                 TalusSmoothSums *sums)
{
    Pass pass = {.op = op, .q = q, .eta = eta};
    double total[4];
    talus_cpu_for_each_group(op, smooth_chunk, &pass);
    talus_cpu_combine_sums(op, 3, 1, total);
    *sums = (TalusSmoothSums){total[0], total[1], total[2], sqrt(total[3])};
}
