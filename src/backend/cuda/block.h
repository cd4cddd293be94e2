/* backend/cuda/block.h - one block of a vector: its set, its projection, its natural residual; and how
 * kernels that sum over blocks are started.
 *
 * ROWS, 1 or 3, is a constant of every kernel, so that a block stays in registers. The operations are
 * those of backend/cpu/blocks.c in the same order. */
#ifndef TALUS_BACKEND_CUDA_BLOCK_H
#define TALUS_BACKEND_CUDA_BLOCK_H

#include "backend/cuda/reduce.h"

extern "C" {
#include "sets/cone.h"
}

/* The sets of a problem in a metric. */
struct CuSets {
    int blocks;
    const double *mu;
    const double (*diagonal)[2];
    const TalusMetricBlock *metric; /* NULL: s = 1 */
};

static inline CuSets cu_sets(const TalusOperator *op, const TalusMetricBlock *metric)
{
    return CuSets{op->blocks, op->mu, (const double(*)[2])op->diagonal, metric};
}

template <int ROWS>
static __device__ inline void load_block(const double *vector, int64_t i, double (&out)[ROWS])
{
    for (int k = 0; k < ROWS; k++)
        out[k] = vector[i * ROWS + k];
}

template <int ROWS>
static __device__ inline void store_block(double *vector, int64_t i, const double (&in)[ROWS])
{
    for (int k = 0; k < ROWS; k++)
        vector[i * ROWS + k] = in[k];
}

/* s_n and s_t. */
static __device__ inline double2 block_scales(const CuSets &sets, int64_t i)
{
    return sets.metric ? make_double2(sets.metric[i][0], sets.metric[i][1])
                       : make_double2(1.0, 1.0);
}

/* The friction of the set in the metric. */
template <int ROWS> static __device__ inline double block_friction(const CuSets &sets, int64_t i)
{
    if constexpr (ROWS == 1)
        return 0.0;
    else
        return sets.metric ? sets.metric[i][2] : sets.mu[i];
}

template <int ROWS> static __device__ inline void project_block(double mu, double (&x)[ROWS])
{
    if constexpr (ROWS == 1)
        x[0] = talus_project_nonneg(x[0]);
    else
        talus_project_cone(mu, mu, &x[0], &x[1], &x[2]);
}

/* On the boundary of its set. */
template <int ROWS> static __device__ inline bool block_active(double mu, const double (&x)[ROWS])
{
    if constexpr (ROWS == 1)
        return !(x[0] > 0.0);
    else
        return talus_cone_state(mu, x[0], x[1], x[2]) != TALUS_CONE_INSIDE;
}

/* A block without friction in a problem with it moves along its axis only. */
template <int ROWS> static __device__ inline void free_gradient(double mu, double (&g)[ROWS])
{
    if constexpr (ROWS == 3)
        if (mu == 0.0)
            g[1] = g[2] = 0.0;
}

/* Squared natural residual (problem.h) of gamma = s x whose gradient is g / s. */
template <int ROWS>
static __device__ inline double natural2(const CuSets &sets, int64_t i, double2 s,
                                         const double (&x)[ROWS], const double (&g)[ROWS])
{
    const double *diagonal = sets.diagonal[i];
    double d = ROWS == 1 ? diagonal[0] : (diagonal[0] + 2.0 * diagonal[1]) * (1.0 / 3.0);
    double gamma[ROWS], step[ROWS], r2 = 0.0;
    for (int k = 0; k < ROWS; k++) {
        double scale = k ? s.y : s.x;
        gamma[k] = scale * x[k];
        step[k] = gamma[k] - g[k] / (scale * d);
    }
    project_block(ROWS == 1 ? 0.0 : sets.mu[i], step);
    for (int k = 0; k < ROWS; k++) {
        double r = d * (gamma[k] - step[k]);
        r2 += r * r;
    }
    return r2;
}

/* ---- kernels that sum ---- */

/* They run over the items with a stride. The number of blocks depends on that of the items alone, not
 * on the device, and so does the order of sums; it fills a GPU of 132 processors eight times. Emulated
 * there are few, so that small tests take strides too. */
#ifdef TALUS_EMULATED
enum { SUM_BLOCKS = 3 };
#else
enum { SUM_BLOCKS = 1056 };
#endif

static __device__ inline int64_t stride()
{
    return (int64_t)gridDim.x * blockDim.x;
}

/* Starts kernel(partials, totals, arguments...), which reduces `values` values. It also runs where there
 * are no items: then sums are 0. */
template <class... P, class... A>
static inline void launch_sums(void (*kernel)(P...), int64_t items, int values, double *totals,
                               A... arguments)
{
    unsigned blocks = blocks_for(items ? items : 1);
    blocks = blocks < SUM_BLOCKS ? blocks : (unsigned)SUM_BLOCKS;
    if (cu_partials_reserve(blocks, values) != TALUS_OK) {
        cu_note(cudaErrorMemoryAllocation, "partial sums");
        return;
    }
    launch_block(kernel, blocks, THREADS, cu_partials(), totals, arguments...);
}

/* The end of such a kernel: the totals of all threads' values, sums first. */
template <int SUMS, int MAXIMA>
static __device__ inline void leave_totals(CuPartials partials, double *totals,
                                           double (&v)[SUMS + MAXIMA])
{
    if (reduce_grid<SUMS, MAXIMA>(partials, v))
        for (int k = 0; k < SUMS + MAXIMA; k++)
            totals[k] = v[k];
}

#endif
