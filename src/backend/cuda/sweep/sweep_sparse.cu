/* backend/cuda/sweep/sweep_sparse.cu - Gauss-Seidel sweeps on an explicit sparse matrix, colour by colour.
 *
 * A warp forms the rows of N gamma of one block of the problem, and its first thread steps the block. A single warp
 * sweeps blocks without a colour (dense rows) one after the other. Per entry 12 B and one number of gamma. */
#include "backend/cuda/sweep/sweep_block.h"

enum { WARP = 32 };

/* Kernel argument: the explicit problem (arrays as in TalusOperator), the order and the impulses of a sweep. order:
 * block at each place. */
struct SweepRows {
    const int32_t *row_start, *column;
    const double *values, *offset, *mu, *coupling;
    const double (*diagonal)[2];
    const uint32_t *order;
    double *gamma;
    double omega, rho;
    bool trace, coulomb, ignore_coupling;
};

/* g = N gamma of block i. All threads of the warp call it; the result is valid in thread 0. */
template <int ROWS>
static __device__ inline void multiply_rows(const SweepRows &m, int64_t i, double (&g)[ROWS])
{
    for (int r = 0; r < ROWS; r++) {
        int64_t row = i * ROWS + r;
        g[r] = 0.0;
        for (int32_t k = m.row_start[row] + (int)threadIdx.x; k < m.row_start[row + 1]; k += WARP)
            g[r] += m.values[k] * m.gamma[m.column[k]];
    }
    reduce_block<ROWS, 0>(g);
}

/* Steps block i, a half line or cone, from g = N gamma; adds q itself. Called by thread 0; returns the squared velocity
 * change. */
template <int ROWS>
static __device__ inline double step_cone_block(const SweepRows &m, int64_t i,
                                                const double (&g)[ROWS])
{
    double nn = m.diagonal[i][0], tt = m.diagonal[i][1], next[ROWS], change = 0.0;
    double d = ROWS == 1 ? nn : (nn + 2.0 * tt) * (1.0 / 3.0);
    double coupling = m.ignore_coupling ? 1.0 : m.coupling[i];
    double bn = coupling * (m.trace ? d : nn), bt = coupling * (m.trace ? d : tt);
    double *gamma = m.gamma + i * ROWS;
    for (int k = 0; k < ROWS; k++)
        next[k] = gamma[k] - m.omega / (k ? bt : bn) * (g[k] + m.offset[i * ROWS + k]);
    if constexpr (ROWS == 3)
        talus_project_cone(m.mu[i], m.coulomb ? 0.0 : m.mu[i] * (bt / bn), &next[0], &next[1],
                           &next[2]);
    else
        next[0] = talus_project_nonneg(next[0]);
    for (int k = 0; k < ROWS; k++) {
        double step = m.rho * (next[k] - gamma[k]);
        gamma[k] += step;
        change += step * step;
    }
    return d * d * change;
}

/* step_cone_block for mixed sets or, with SOLVED, for blocks whose own problem is solved; adds q to g = N gamma. */
template <int ROWS, bool SOLVED>
static __device__ inline double step_other_block(const SweepBlocks &b, const double *offset,
                                                 int64_t i, double (&g)[ROWS])
{
    double change[ROWS];
    for (int k = 0; k < ROWS; k++)
        g[k] += offset[i * ROWS + k];
    if constexpr (SOLVED)
        return own_problem_step(b, i, false, g, change);
    else
        return projected_step(b, i, b.coupling[i], g, change);
}

/* KIND of sweep_rows: half lines or circular cones, mixed sets, blocks whose own problem is solved. */
enum { CONES, VARIED, SOLVED };

/* Sweeps the blocks at places range.x to range.y - 1; each warp, a block of threads, takes `each` of them in sequence
 * and adds the squared velocity changes to the tally. */
template <int ROWS, int KIND>
static __global__ void sweep_rows(SweepRows m, SweepBlocks b, int2 range, int each, CuTally *tally)
{
    double g[ROWS];
    int from = range.x + (int)blockIdx.x * each, to = from + each < range.y ? from + each : range.y;
    for (int at = from; at < to; at++) {
        int64_t i = m.order[at];
        multiply_rows<ROWS>(m, i, g);
        if (threadIdx.x == 0) {
            double change;
            if constexpr (KIND == CONES)
                change = step_cone_block<ROWS>(m, i, g);
            else
                change = step_other_block<ROWS, KIND == SOLVED>(b, m.offset, i, g);
            add_term(change, block_tally(tally));
        }
        __syncthreads(); /* the next block reads this one's gamma */
    }
}

TalusStatus cu_sweep_plan_sparse(TalusSweep *s, const double *gamma)
{
    int64_t n = (int64_t)s->op->rows * s->op->blocks;
    TALUS_TRY(cu_order_blocks(s->op, &s->order));
    TALUS_TRY(s->gamma.reserve(n, "impulses of the sweep"));
    TALUS_TRY(cu_sweep_fill_own_blocks(s));
    cu_copy(cu_context_of(s->op), s->gamma, gamma, (size_t)n * sizeof *gamma);
    return cu_sweep_reserve_sums(s);
}

/* Launches sweep_rows over the blocks of a class, `each` per warp. */
static void sweep_range(TalusSweep *s, const SweepRows &m, int class_of, int each)
{
    int2 range = make_int2(s->order.start[class_of], s->order.start[class_of + 1]);
    unsigned blocks = blocks_for(range.y - range.x, each);
    const SweepBlocks b = cu_sweep_blocks(s);
    const int rows = s->op->rows;
#define ROWS_OF(ROWS, KIND)                                                                     \
    launch_block(cu_context_of(s->op), sweep_rows<ROWS, KIND>, blocks, WARP, m, b, range, each, \
                 s->tally.at)
    if (b.local != TALUS_ONE_PROJECT)
        rows == 1 ? ROWS_OF(1, SOLVED) : ROWS_OF(3, SOLVED);
    else if (rows == 1)
        ROWS_OF(1, CONES);
    else if (rows == 6)
        ROWS_OF(6, VARIED);
    else
        s->op->mixed_sets ? ROWS_OF(3, VARIED) : ROWS_OF(3, CONES);
#undef ROWS_OF
}

void cu_sweep_sparse(TalusSweep *s)
{
    const TalusOperator *op = s->op;
    SweepRows m = {op->row_start,
                   op->column,
                   op->values,
                   op->offset,
                   op->mu,
                   op->coupling,
                   (const double(*)[2])op->diagonal,
                   s->order.contact,
                   s->gamma,
                   s->options.omega,
                   s->options.rho,
                   s->options.metric == TALUS_METRIC_TRACE,
                   s->options.coulomb,
                   s->options.ignore_coupling};
    for (int c = 0; c < CLASS_HEAVY; c++)
        sweep_range(s, m, c, 1);
    int alone = s->order.start[CLASS_HEAVY + 1] - s->order.start[CLASS_HEAVY];
    sweep_range(s, m, CLASS_HEAVY, alone ? alone : 1);
}
