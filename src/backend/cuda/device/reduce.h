/* backend/cuda/device/reduce.h - sums and maxima over a block and over a grid, always in the same order.
 *
 * Each block of a summing kernel writes its partial results, and the last block to finish adds all of them, in an order
 * that depends on the numbers of blocks and threads alone: one launch, no atomic sum, the same bits every time. */
#ifndef TALUS_BACKEND_CUDA_DEVICE_REDUCE_H
#define TALUS_BACKEND_CUDA_DEVICE_REDUCE_H

#include "backend/cuda/device/device.h"

/* Returns the larger number; NaN if one of the two is NaN. */
static __device__ inline double larger(double a, double b)
{
    return a != a || b <= a ? a : b;
}

/* Over all threads of the block, which all call it: sums of the first SUMS values of v, maxima of the others. v of
 * thread 0 gets the results; v of other threads is undefined afterwards. The number of threads is a multiple of 32, at
 * most 1024 (emulated: a power of two). */
template <int SUMS, int MAXIMA>
static __device__ inline void reduce_block(double (&v)[SUMS + MAXIMA])
{
    enum { N = SUMS + MAXIMA };
#ifdef TALUS_EMULATED
    double(*shared)[N] = (double(*)[N])emulated_scratch(N * sizeof(double));
    unsigned t = threadIdx.x;
    for (int k = 0; k < N; k++)
        shared[t][k] = v[k];
    __syncthreads();
    for (unsigned half = t == 0 ? blockDim.x / 2 : 0; half > 0; half /= 2)
        for (unsigned i = 0; i < half; i++)
            for (int k = 0; k < N; k++)
                shared[i][k] = k < SUMS ? shared[i][k] + shared[i + half][k]
                                        : larger(shared[i][k], shared[i + half][k]);
    for (int k = 0; k < N; k++)
        v[k] = shared[0][k];
    __syncthreads();
#else
    __shared__ double shared[32][N];
    unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int off = 16; off > 0; off >>= 1) {
            double other = __shfl_down_sync(0xffffffffu, v[k], off);
            v[k] = k < SUMS ? v[k] + other : larger(v[k], other);
        }
    if (lane == 0)
        for (int k = 0; k < N; k++)
            shared[warp][k] = v[k];
    __syncthreads();
    if (warp == 0) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            double w = lane < warps ? shared[lane][k] : k < SUMS ? 0.0 : -HUGE_VAL;
#pragma unroll
            for (int off = 16; off > 0; off >>= 1) {
                double other = __shfl_down_sync(0xffffffffu, w, off);
                w = k < SUMS ? w + other : larger(w, other);
            }
            v[k] = w;
        }
    }
    __syncthreads();
#endif
}

/* Adds each value of v over groups of LANES neighbouring threads (LANES: a power of two, at most 32; the number of
 * threads is a multiple of 32, emulated of LANES). All threads of the block call it; each gets the sums of its
 * group. */
template <int LANES, int N> static __device__ inline void sum_lanes(double (&v)[N])
{
#ifdef TALUS_EMULATED
    double(*shared)[N] = (double(*)[N])emulated_scratch(N * sizeof(double));
    const unsigned t = threadIdx.x, first = t - t % LANES;
    for (int k = 0; k < N; k++)
        shared[t][k] = v[k];
    __syncthreads();
    for (int k = 0; k < N; k++) {
        v[k] = shared[first][k];
        for (unsigned other = 1; other < LANES; other++)
            v[k] += shared[first + other][k];
    }
    __syncthreads();
#else
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int off = LANES / 2; off > 0; off >>= 1)
            v[k] += __shfl_xor_sync(0xffffffffu, v[k], off);
#endif
}

/* Memory in which the blocks of a summing kernel leave their results. */
struct CuPartials {
    double *partial;   /* [blocks][values] */
    unsigned *arrived; /* number of finished blocks; 0 before the kernel and after it */
};

/* Sums of the first SUMS values of v and maxima of the others over the whole grid; all threads of the kernel call it
 * once. True in thread 0 of the last block to finish, with the totals in v; false elsewhere. A thread without an item
 * passes 0 for sums and -infinity, or a lower bound, for maxima. */
template <int SUMS, int MAXIMA>
static __device__ inline bool reduce_grid(CuPartials p, double (&v)[SUMS + MAXIMA])
{
    enum { N = SUMS + MAXIMA };
    __shared__ bool last;
    reduce_block<SUMS, MAXIMA>(v);
    if (threadIdx.x == 0) {
        for (int k = 0; k < N; k++)
            p.partial[(size_t)blockIdx.x * N + k] = v[k];
        __threadfence();
        last = atomicAdd(p.arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return false;
    __threadfence();
    for (int k = 0; k < N; k++)
        v[k] = k < SUMS ? 0.0 : -HUGE_VAL;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        for (int k = 0; k < N; k++) {
            double w = ((volatile double *)p.partial)[(size_t)b * N + k];
            v[k] = k < SUMS ? v[k] + w : larger(v[k], w);
        }
    reduce_block<SUMS, MAXIMA>(v);
    if (threadIdx.x == 0)
        *p.arrived = 0;
    return threadIdx.x == 0;
}

/* memory.cu: reserves partial results in the context for a kernel of at most `blocks` blocks with `values` values
 * each. */
TalusStatus cu_partials_reserve(CuContext *cu, unsigned blocks, int values);

/* Returns the memory that cu_partials_reserve has reserved. */
static inline CuPartials cu_partials(const CuContext *cu)
{
    return CuPartials{cu->partial.at, cu->arrived};
}

/* Copies the first `count` of the context's totals to out[count] on the host; waits for the stream. After an error that
 * cu_check has still to report, out is all NaN. */
void cu_totals_get(CuContext *cu, int count, double *out);
/* Copies totals[CU_TOTALS] and counts[CU_COUNTS] likewise; after an error the counts are 0. */
void cu_totals_and_counts_get(CuContext *cu, double *totals, uint32_t *counts);

/* ---- kernels that sum over items ---- */

/* SUM_BLOCKS: largest number of blocks of a summing kernel; a thread takes every grid_stride()-th item. The number of
 * blocks, and so the order of sums, depends on the number of items alone, not on the device; 1056 are eight per
 * processor of an H200. Emulated it is 3, so that threads take several items in small tests too. MAX_SUMS: largest
 * number of values of one kernel. */
#ifdef TALUS_EMULATED
enum { SUM_BLOCKS = 3 };
#else
enum { SUM_BLOCKS = 1056 };
#endif
enum { MAX_SUMS = 32 };

/* Returns the number of threads of the kernel: a thread that takes several items takes every grid_stride()-th. */
static __device__ inline int64_t grid_stride()
{
    return (int64_t)gridDim.x * blockDim.x;
}

/* Starts kernel(partials, totals, arguments...), which ends by write_totals to `totals`, an address in device memory.
 * The kernel also runs for 0 items, so that sums become 0. After an error that cu_check has still to report it does not
 * run; lack of memory for partial sums is such an error. */
template <class... P, class... A>
static inline void launch_sums(CuContext *cu, void (*kernel)(P...), int64_t items, double *totals,
                               A... arguments)
{
    unsigned blocks = blocks_for(items ? items : 1);
    if (cu_partials_reserve(cu, SUM_BLOCKS, MAX_SUMS) != TALUS_OK)
        cu_note_error(cu, cudaErrorMemoryAllocation, "partial sums");
    if (cu->first_error[0])
        return;
    launch_block(cu, kernel, blocks < SUM_BLOCKS ? blocks : (unsigned)SUM_BLOCKS, THREADS,
                 cu_partials(cu), totals, arguments...);
}

/* Ends a summing kernel: writes to `totals` the sums over all threads of the first SUMS values of v, then the maxima of
 * the others. */
template <int SUMS, int MAXIMA>
static __device__ inline void write_totals(CuPartials partials, double *totals,
                                           double (&v)[SUMS + MAXIMA])
{
    static_assert(SUMS + MAXIMA <= MAX_SUMS, "too many sums");
    if (reduce_grid<SUMS, MAXIMA>(partials, v))
        for (int k = 0; k < SUMS + MAXIMA; k++)
            totals[k] = v[k];
}

#endif
