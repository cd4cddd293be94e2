/* backend/cuda/device/reduce.h - sums and maxima over a block and over a grid, always in the same order.
 *
 * A kernel that sums has each block write its partial results, and the last block to finish, whichever
 * it is, adds all of them in the order of blocks: one launch, no atomic sum, the same bits every time. */
#ifndef TALUS_BACKEND_CUDA_DEVICE_REDUCE_H
#define TALUS_BACKEND_CUDA_DEVICE_REDUCE_H

#include "backend/cuda/device/device.h"

/* A NaN must neither hide behind a maximum nor be dropped. */
static __device__ inline double larger(double a, double b)
{
    return a != a || b <= a ? a : b;
}

/* Adds the first SUMS values of all threads of the block, takes the largest of the others; the result
 * is valid in thread 0. The block has a power of two of threads, at most 1024. */
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

/* Adds v over each LANES neighbouring threads, a power of two; all threads of the block call it and get
 * the sum. */
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

/* Where a kernel's blocks leave their results. */
struct CuPartials {
    double *partial;   /* [blocks][values] */
    unsigned *arrived; /* 0 before the kernel and after it */
};

/* To be called by all threads at the end of a kernel: reduces over the grid. True in thread 0 of the
 * block that came last, with the totals in v; false elsewhere. Maxima start from v's own values, so a
 * thread without an item gives 0 for sums and whatever is least for maxima. */
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

/* Room for the partial results of a kernel of `blocks` blocks with `values` values each. memory.cu */
TalusStatus cu_partials_reserve(CuContext *cu, unsigned blocks, int values);

static inline CuPartials cu_partials(const CuContext *cu)
{
    return CuPartials{cu->partial.at, cu->arrived};
}

/* The first of the totals, on the host; waits for the stream. */
void cu_totals_get(CuContext *cu, int count, double *out);

#endif
