/* backend/cuda/ops/blocks.cu - operations block by block: projections, forward-backward steps, faces, scaling,
 * recession cones.
 *
 * Memory bandwidth limits all of them: each reads and writes every vector once; one thread computes a block. */
#include "backend/cuda/ops/operator.h"

extern "C" {
#include "sets/recession.h"
}

#include <math.h>

/* ---- projections ---- */

template <int ROWS, bool VARIED> static __global__ void project_blocks(CuSets sets, double *x)
{
    int64_t i = item_index();
    if (i >= sets.blocks)
        return;
    double t[ROWS];
    load_block(x, i, t);
    project_block(block_set<ROWS, VARIED>(sets, i), t);
    store_block(x, i, t);
}

void cu_block_project(const TalusOperator *op, const TalusMetricBlock *metric, double *x)
{
    LAUNCH_SETS(launch, op, project_blocks, blocks_for(op->blocks), THREADS, cu_sets(op, metric),
                x);
}

/* Kernel argument of a forward-backward step. */
struct Forward {
    CuSets sets;
    const double *x, *g;
    double step;
    double *t, *r; /* NULL: not written */
};

/* t = P(x - step g), r = x - t; totals: |r|^2, r'g, sum and maximum of squared natural residuals of x. */
template <int ROWS, bool VARIED>
static __global__ void forward_backward_blocks(CuTallies tallies, double *totals, Forward pass)
{
    sum_items<3, 1>(tallies, totals, 0, pass.sets.blocks, 0.0, [&](int64_t i, double(&sums)[4]) {
        double x[ROWS], g[ROWS], t[ROWS], r[ROWS];
        load_block(pass.x, i, x);
        load_block(pass.g, i, g);
        for (int k = 0; k < ROWS; k++)
            t[k] = x[k] - pass.step * g[k];
        project_block(block_set<ROWS, VARIED>(pass.sets, i), t);
        double r2 = natural_residual2<VARIED>(pass.sets, i, metric_scales(pass.sets, i), x, g);
        for (int k = 0; k < ROWS; k++) {
            r[k] = x[k] - t[k];
            sums[0] += r[k] * r[k];
            sums[1] += r[k] * g[k];
        }
        if (pass.r)
            store_block(pass.r, i, r);
        if (pass.t)
            store_block(pass.t, i, t);
        sums[2] += r2;
        sums[3] = larger(sums[3], r2);
    });
}

void cu_block_forward_backward(const TalusOperator *op, const TalusMetricBlock *metric,
                               const double *x, const double *g, double step, double *t, double *r,
                               TalusForwardSums *sums)
{
    double total[4];
    LAUNCH_SETS(launch_sums, op, forward_backward_blocks, op->blocks, cu_context_of(op)->totals,
                Forward{cu_sets(op, metric), x, g, step, t, r});
    cu_totals_get(cu_context_of(op), 4, total);
    *sums = TalusForwardSums{total[0], total[1], total[2], sqrt(total[3])};
}

/* ---- faces ---- */

/* Sums of a split, as in TalusFace; RESIDUAL_MAX is a maximum, of squares. */
enum { FREE2, REDUCED_G, CHOPPED_G, CHOPPED2, ACTIVE, UNBOUND, RESIDUAL2, RESIDUAL_MAX, FACE_SUMS };

/* Kernel argument of a split of the gradient. */
struct Split {
    CuSets sets;
    const double *x, *g;
    double step;
    double *free_part, *reduced, *chopped; /* NULL: not written */
};

/* Sums over the rows of one block: |x|^2, |g|^2, x~'g and |x~|^2, with x~ = (x - P(x - step g)) / step (TalusFace).
 * bound: x~ is 0. */
struct Moved {
    double x2, g2, by_g, squared;
    bool bound;
};

/* Returns x~'g, which exact arithmetic makes at least |x~|^2; returns |x~|^2 if the difference is below rounding. On
 * the mantle near a solution x~ is nearly orthogonal to a larger g, so that x~'g is only rounding there. */
static __device__ inline double reduced_by_g(double step, const Moved &m)
{
    return (m.by_g - m.squared) * step > 1e-15 * sqrt(m.x2 * m.g2) ? m.by_g : m.squared;
}

/* Returns the sums of block i, with t = P(x - step g), and writes its reduced and chopped gradients if their vectors
 * are not NULL. */
template <int ROWS>
static __device__ inline Moved split_parts(const Split &pass, int64_t i, bool active,
                                           const double (&x)[ROWS], const double (&g)[ROWS],
                                           const double (&t)[ROWS])
{
    Moved m = {0.0, 0.0, 0.0, 0.0, true};
    for (int k = 0; k < ROWS; k++) {
        double moved = (x[k] - t[k]) / pass.step;
        m.x2 += x[k] * x[k];
        m.g2 += g[k] * g[k];
        m.by_g += moved * g[k];
        m.squared += moved * moved;
        m.bound = m.bound && moved == 0.0;
        if (pass.reduced)
            pass.reduced[i * ROWS + k] = active ? 0.0 : moved;
        if (pass.chopped)
            pass.chopped[i * ROWS + k] = active ? moved : 0.0;
    }
    return m;
}

/* Block i of a split: writes free, reduced and chopped gradient, where their vectors are not NULL, and adds the
 * sums. */
template <int ROWS, bool VARIED>
static __device__ inline void split_block(const Split &pass, int64_t i, double (&sums)[FACE_SUMS])
{
    double x[ROWS], g[ROWS], t[ROWS], phi[ROWS];
    auto set = block_set<ROWS, VARIED>(pass.sets, i);
    load_block(pass.x, i, x);
    load_block(pass.g, i, g);
    bool active = is_active(set, x);
    for (int k = 0; k < ROWS; k++) {
        t[k] = x[k] - pass.step * g[k];
        phi[k] = active ? 0.0 : g[k];
    }
    zero_immovable_rows(set, phi);
    if (pass.free_part)
        store_block(pass.free_part, i, phi);
    for (int k = 0; k < ROWS; k++)
        sums[FREE2] += phi[k] * phi[k];
    project_block(set, t);
    double r2 = natural_residual2<VARIED>(pass.sets, i, metric_scales(pass.sets, i), x, g);
    Moved m = split_parts(pass, i, active, x, g, t);
    double by_g = reduced_by_g(pass.step, m);
    sums[REDUCED_G] += active ? 0.0 : by_g;
    sums[CHOPPED_G] += active ? by_g : 0.0;
    sums[CHOPPED2] += active ? m.squared : 0.0;
    sums[ACTIVE] += active ? 1.0 : 0.0;
    sums[UNBOUND] += active && !m.bound ? 1.0 : 0.0;
    sums[RESIDUAL2] += r2;
    sums[RESIDUAL_MAX] = larger(sums[RESIDUAL_MAX], r2);
}

template <int ROWS, bool VARIED>
static __global__ void split_blocks(CuTallies tallies, double *totals, Split pass)
{
    sum_items<FACE_SUMS - 1, 1>(
        tallies, totals, 0, pass.sets.blocks, 0.0,
        [&](int64_t i, double(&sums)[FACE_SUMS]) { split_block<ROWS, VARIED>(pass, i, sums); });
}

void cu_block_split_gradient(const TalusOperator *op, const TalusMetricBlock *metric,
                             const double *x, const double *g, double step, double *free_part,
                             double *reduced, double *chopped, TalusFace *face)
{
    double total[FACE_SUMS];
    LAUNCH_SETS(launch_sums, op, split_blocks, op->blocks, cu_context_of(op)->totals,
                Split{cu_sets(op, metric), x, g, step, free_part, reduced, chopped});
    cu_totals_get(cu_context_of(op), FACE_SUMS, total);
    face->free2 = total[FREE2];
    face->reduced_g = total[REDUCED_G];
    face->chopped_g = total[CHOPPED_G];
    face->chopped2 = total[CHOPPED2];
    face->residual2 = total[RESIDUAL2];
    face->residual_max = sqrt(total[RESIDUAL_MAX]);
    face->active = (int)total[ACTIVE];
    face->unbound = (int)total[UNBOUND];
}

/* Sets to 0 the blocks of y at which x is active, and rows of other blocks in which the set allows only 0. */
template <int ROWS, bool VARIED>
static __global__ void mask_active(CuSets sets, const double *x, double *y)
{
    int64_t i = item_index();
    if (i >= sets.blocks)
        return;
    double at[ROWS], out[ROWS];
    auto set = block_set<ROWS, VARIED>(sets, i);
    load_block(x, i, at);
    load_block(y, i, out);
    if (is_active(set, at))
        for (int k = 0; k < ROWS; k++)
            out[k] = 0.0;
    zero_immovable_rows(set, out);
    store_block(y, i, out);
}

void cu_block_clear_active(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                           double *y)
{
    LAUNCH_SETS(launch, op, mask_active, blocks_for(op->blocks), THREADS, cu_sets(op, metric), x,
                y);
}

/* out = projection of d onto the tangent cone of the set at x, block by block. */
template <int ROWS, bool VARIED>
static __global__ void project_tangent(CuSets sets, const double *x, const double *d, double *out)
{
    int64_t i = item_index();
    if (i >= sets.blocks)
        return;
    double at[ROWS], t[ROWS];
    load_block(x, i, at);
    load_block(d, i, t);
    if constexpr (VARIED) {
        TalusSet set = block_set<ROWS, true>(sets, i);
        talus_block_project_tangent(ROWS, &set, at, t);
    } else if constexpr (ROWS == 3)
        talus_cone_project_tangent(cone_friction<3>(sets, i), at, t);
    else if (!(at[0] > 0.0))
        t[0] = talus_project_nonneg(t[0]);
    store_block(out, i, t);
}

void cu_block_project_tangent(const TalusOperator *op, const TalusMetricBlock *metric,
                              const double *x, const double *d, double *out)
{
    LAUNCH_SETS(launch, op, project_tangent, blocks_for(op->blocks), THREADS, cu_sets(op, metric),
                x, d, out);
}

/* totals[0] = minus the largest a with x - a p in all sets (-infinity without bound): the sign turns a minimum into the
 * maximum that sum_items forms. */
template <int ROWS, bool VARIED>
static __global__ void find_feasible_step(CuTallies tallies, double *totals, CuSets sets,
                                          const double *x, const double *p)
{
    sum_items<0, 1>(tallies, totals, 0, sets.blocks, -INFINITY, [&](int64_t i, double(&v)[1]) {
        double at[ROWS], along[ROWS], a;
        load_block(x, i, at);
        load_block(p, i, along);
        if constexpr (VARIED) {
            TalusSet set = block_set<ROWS, true>(sets, i);
            a = talus_block_feasible_step(ROWS, &set, at, along);
        } else if constexpr (ROWS == 3)
            a = talus_cone_feasible_step(cone_friction<3>(sets, i), at, along);
        else
            a = along[0] > 0.0 ? at[0] / along[0] : INFINITY;
        v[0] = -a > v[0] ? -a : v[0];
    });
}

double cu_block_feasible_step(const TalusOperator *op, const TalusMetricBlock *metric,
                              const double *x, const double *p)
{
    double total = -INFINITY;
    LAUNCH_SETS(launch_sums, op, find_feasible_step, op->blocks, cu_context_of(op)->totals,
                cu_sets(op, metric), x, p);
    cu_totals_get(cu_context_of(op), 1, &total);
    return -total;
}

/* Totals 0 and 1: number of blocks active at y; number of blocks active at only one of x and y. */
template <int ROWS, bool VARIED>
static __global__ void compare_active(CuTallies tallies, double *totals, CuSets sets,
                                      const double *x, const double *y)
{
    sum_items<2, 0>(tallies, totals, 0, sets.blocks, 0.0, [&](int64_t i, double(&sums)[2]) {
        double at[ROWS], other[ROWS];
        auto set = block_set<ROWS, VARIED>(sets, i);
        load_block(x, i, at);
        load_block(y, i, other);
        bool active = is_active(set, other);
        sums[0] += active ? 1.0 : 0.0;
        sums[1] += active != is_active(set, at) ? 1.0 : 0.0;
    });
}

void cu_block_compare_active(const TalusOperator *op, const TalusMetricBlock *metric,
                             const double *x, const double *y, int *active, int *changed)
{
    double total[2];
    LAUNCH_SETS(launch_sums, op, compare_active, op->blocks, cu_context_of(op)->totals,
                cu_sets(op, metric), x, y);
    cu_totals_get(cu_context_of(op), 2, total);
    *active = (int)total[0];
    *changed = (int)total[1];
}

/* ---- metric ---- */

/* x = x / s if `into`, else s x, with the scales s of the metric. */
template <int ROWS>
static __global__ void scale_blocks(int blocks, const TalusMetricBlock *metric, bool into,
                                    double *x)
{
    int64_t i = item_index();
    if (i >= blocks)
        return;
    double t[ROWS];
    load_block(x, i, t);
    for (int k = 0; k < ROWS; k++)
        t[k] = into ? t[k] / metric[i][k > 0] : t[k] * metric[i][k > 0];
    store_block(x, i, t);
}

void cu_op_scale(const TalusOperator *op, const TalusMetricBlock *metric, bool into, double *x)
{
    LAUNCH_ROWS(launch, op, scale_blocks, blocks_for(op->blocks), THREADS, op->blocks, metric, into,
                x);
}

/* ---- recession cones ---- */

/* Returns |x|^2. */
template <int ROWS> static __device__ inline double norm2(const double (&x)[ROWS])
{
    double sum = 0.0;
    for (int k = 0; k < ROWS; k++)
        sum += x[k] * x[k];
    return sum;
}

/* Projects x onto the recession cones, block by block; blocks of norm at most `least` become 0. relaxed: Coulomb blocks
 * are cones; else prisms. */
template <int ROWS>
static __global__ void project_recession(CuSets sets, bool relaxed, double least, double *x)
{
    int64_t i = item_index();
    if (i >= sets.blocks)
        return;
    TalusSet set = model_set(sets, i, !relaxed, nullptr);
    double at[ROWS];
    load_block(x, i, at);
    talus_recession_project(ROWS, &set, at);
    if (norm2(at) <= least * least)
        for (int k = 0; k < ROWS; k++)
            at[k] = 0.0;
    store_block(x, i, at);
}

void cu_block_project_recession(const TalusOperator *op, bool relaxed, double least, double *x)
{
    LAUNCH_ROWS(launch, op, project_recession, blocks_for(op->blocks), THREADS,
                cu_sets(op, nullptr), relaxed, least, x);
}

/* Projects y onto the spans of the recession cones at blocks with x != 0; other blocks of y become 0. */
template <int ROWS>
static __global__ void project_recession_span(CuSets sets, bool relaxed, const double *x, double *y)
{
    int64_t i = item_index();
    if (i >= sets.blocks)
        return;
    TalusSet set = model_set(sets, i, !relaxed, nullptr);
    double at[ROWS], out[ROWS];
    load_block(x, i, at);
    load_block(y, i, out);
    if (norm2(at) > 0.0)
        talus_recession_span(ROWS, &set, out);
    else
        for (int k = 0; k < ROWS; k++)
            out[k] = 0.0;
    store_block(y, i, out);
}

void cu_block_project_recession_span(const TalusOperator *op, bool relaxed, const double *x,
                                     double *y)
{
    LAUNCH_ROWS(launch, op, project_recession_span, blocks_for(op->blocks), THREADS,
                cu_sets(op, nullptr), relaxed, x, y);
}
