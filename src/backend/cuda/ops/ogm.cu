/* backend/cuda/ops/ogm.cu - one step of the optimised gradient method for the gradient norm.
 *
 * One pass over the contacts. With friction it reads 104 B per contact (x, g, y and the metric) and writes 48. If the
 * residual is wanted it reads 24 more (diagonal, mu), and the host waits. */
#include "backend/cuda/ops/operator.h"

#include <math.h>

/* Writes x_next and y of block i, y = P(x - step g) (formula: step.ogm in operations.h). */
template <bool VARIED, int ROWS>
static __device__ inline void ogm_one_block(const CuSets &sets, const TalusOgm &o, int64_t i,
                                            const double (&x)[ROWS], const double (&g)[ROWS])
{
    double y[ROWS], t[ROWS], next[ROWS];
    load_block(o.y, i, y);
    for (int k = 0; k < ROWS; k++)
        t[k] = x[k] - o.step * g[k];
    project_block(block_set<ROWS, VARIED>(sets, i), t);
    for (int k = 0; k < ROWS; k++)
        next[k] = t[k] + o.along * (t[k] - y[k]) + o.over * (t[k] - x[k]);
    store_block(o.y, i, t);
    store_block(o.x_next, i, next);
}

template <int ROWS, bool VARIED> static __global__ void ogm_blocks(CuSets sets, TalusOgm o)
{
    int64_t i = item_index();
    if (i >= sets.blocks)
        return;
    double x[ROWS], g[ROWS];
    load_block(o.x, i, x);
    load_block(o.g, i, g);
    ogm_one_block<VARIED>(sets, o, i, x, g);
}

/* As ogm_blocks; totals: sum of squares and maximum of squares of the natural residual of x. */
template <int ROWS, bool VARIED>
static __global__ void ogm_blocks_measured(CuTallies tallies, double *totals, CuSets sets,
                                           TalusOgm o)
{
    sum_items<1, 1>(tallies, totals, 0, sets.blocks, 0.0, [&](int64_t i, double(&sums)[2]) {
        double x[ROWS], g[ROWS];
        load_block(o.x, i, x);
        load_block(o.g, i, g);
        ogm_one_block<VARIED>(sets, o, i, x, g);
        double r2 = natural_residual2<VARIED>(sets, i, metric_scales(sets, i), x, g);
        sums[0] += r2;
        sums[1] = larger(sums[1], r2);
    });
}

void cu_step_ogm(const TalusOperator *op, const TalusOgm *o, double *residual2,
                 double *residual_max)
{
    CuSets sets = cu_sets(op, o->metric);
    double total[2] = {0.0, 0.0};
    if (o->want_residual) {
        LAUNCH_SETS(launch_sums, op, ogm_blocks_measured, op->blocks, cu_context_of(op)->totals,
                    sets, *o);
        cu_totals_get(cu_context_of(op), 2, total);
    } else {
        LAUNCH_SETS(launch, op, ogm_blocks, blocks_for(op->blocks), THREADS, sets, *o);
    }
    *residual2 = total[0];
    *residual_max = sqrt(total[1]);
}
