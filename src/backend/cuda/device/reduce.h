/* backend/cuda/device/reduce.h - sums and maxima over a block and over a grid, the same bits every time.
 *
 * Sums over contacts and over bodies are binned (base/bins.h): a sum is a function of the set of its terms, whatever the
 * order of contacts, the number of blocks, and the device that a contact is on. A thread has a short sum. A block adds
 * those of its threads, all integers, and then adds the result to a tally in device memory by integer atomics. The last
 * block of a kernel to finish, or the next kernel, reads the tally. Devices that share a problem would add their
 * tallies. What an item adds to a sum must be a function of that item: a kernel forms the terms of one item and gives
 * them to CuSums.add. Where only the sign of a sum matters, its terms are rounded to integers of an agreed scale
 * (add_block_integers).
 *
 * reduce_block and sum_lanes add plain numbers, in an order that depends on the number of threads alone: for sums whose
 * terms are all of one body. */
#ifndef TALUS_BACKEND_CUDA_DEVICE_REDUCE_H
#define TALUS_BACKEND_CUDA_DEVICE_REDUCE_H

#include "backend/cuda/device/device.h"

extern "C" {
#include "base/bins.h"
#include "comm/comm.h"
}

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

/* ---- sums over items ---- */

/* A sum or a maximum in device memory, to which blocks of threads add; all zeros is the sum of no terms, or the maximum
 * of none. Of a maximum and of a sum of integers (add_block_integers) only bin[0] is used. */
struct CuTally {
    unsigned long long bin[TALUS_BINS]; /* as TalusBinnedSum.bin; bin[0] of a maximum: max_key */
    int top;                            /* as TalusBinnedSum.top */
};

static_assert(sizeof(CuTally) == sizeof(TalusBinnedSum), "a tally is sent as a binned sum");

/* max_key returns a number that grows with x, highest for NaN; max_of_key is its inverse, -infinity for 0. */
static __host__ __device__ inline unsigned long long max_key(double x)
{
    const unsigned long long sign = 1ull << 63;
    unsigned long long bits;
    memcpy(&bits, &x, sizeof bits);
    return x != x ? ~0ull : bits & sign ? ~bits : bits | sign;
}

static __host__ __device__ inline double max_of_key(unsigned long long key)
{
    const unsigned long long sign = 1ull << 63;
    unsigned long long bits = key & sign ? key & ~sign : ~key;
    double x;
    memcpy(&x, &bits, sizeof x);
    return key ? x : -HUGE_VAL;
}

/* Unrolls the loop that follows, so that arrays with its index stay in registers. */
#ifdef TALUS_EMULATED
#define CU_UNROLL
#else
#define CU_UNROLL _Pragma("unroll")
#endif

/* The sums and maxima of one thread: SUMS sums, then MAXIMA maxima. */
template <int SUMS, int MAXIMA> struct CuSums {
    TalusShortSum sum[SUMS ? SUMS : 1];
    double max[MAXIMA ? MAXIMA : 1];

    /* Starts with sums 0 and maxima `lowest`. */
    __device__ explicit CuSums(double lowest = 0.0)
    {
        for (TalusShortSum &s : sum)
            s = TalusShortSum{{0, 0, 0, 0}, 0};
        for (double &m : max)
            m = lowest;
    }

    /* Adds the terms v[SUMS + MAXIMA] of one item; at most TALUS_BIN_TERMS times before add_block_sums. */
    __device__ void add(const double *v)
    {
        CU_UNROLL
        for (int k = 0; k < SUMS; k++)
            talus_short_sum_add(&sum[k], v[k]);
        CU_UNROLL
        for (int k = 0; k < MAXIMA; k++)
            max[k] = larger(max[k], v[SUMS + k]);
    }
};

/* Sums of the threads of one row; a block of threads has one row for each warp, emulated for each thread. */
template <int SUMS, int MAXIMA> struct CuSumRow {
    long long digit[SUMS ? SUMS : 1][TALUS_BIN_DIGITS];
    int top[SUMS ? SUMS : 1];
    double max[MAXIMA ? MAXIMA : 1];
};

#ifndef TALUS_EMULATED
/* Return the sum and the maximum over a warp, to all of its threads. */
static __device__ inline int sum_warp(int v)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, v);
#else
    for (int off = 16; off > 0; off >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, off);
    return v;
#endif
}

static __device__ inline int max_warp(int v)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, v);
#else
    for (int off = 16; off > 0; off >>= 1)
        v = max(v, __shfl_xor_sync(0xffffffffu, v, off));
    return v;
#endif
}

/* Writes the sums and maxima of a warp to its row. A digit is added in halves, whose sums fit into 32 bits. */
template <int SUMS, int MAXIMA>
static __device__ inline void write_warp_row(CuSums<SUMS, MAXIMA> &s, CuSumRow<SUMS, MAXIMA> *row)
{
    const bool first = (threadIdx.x & 31) == 0;
#pragma unroll
    for (int k = 0; k < SUMS; k++) {
        const int top = max_warp(s.sum[k].top);
        talus_short_sum_raise(&s.sum[k], top);
#pragma unroll
        for (int j = 0; j < TALUS_BIN_DIGITS; j++) {
            const int low = sum_warp(s.sum[k].digit[j] & 0xffff);
            const int high = sum_warp(s.sum[k].digit[j] >> 16);
            if (first)
                row->digit[k][j] = (long long)high * 0x10000 + low;
        }
        if (first)
            row->top[k] = top;
    }
#pragma unroll
    for (int k = 0; k < MAXIMA; k++) {
        double v = s.max[k];
#pragma unroll
        for (int off = 16; off > 0; off >>= 1)
            v = larger(v, __shfl_down_sync(0xffffffffu, v, off));
        if (first)
            row->max[k] = v;
    }
}
#endif

/* Adds sums `k` of the rows, at most MAX_ROWS, to a tally: this thread digit j of them. */
template <int MAX_ROWS, int SUMS, int MAXIMA>
static __device__ inline void add_rows(const CuSumRow<SUMS, MAXIMA> *row, int rows, int k, int j,
                                       CuTally *tally)
{
    int top = 0;
    long long sum = 0;
    CU_UNROLL
    for (int r = 0; r < MAX_ROWS; r++)
        if (r < rows)
            top = row[r].top[k] > top ? row[r].top[k] : top;
    CU_UNROLL
    for (int r = 0; r < MAX_ROWS; r++)
        if (r < rows) {
            int at = j - (top - row[r].top[k]); /* index of the digit in its row */
            sum += at >= 0 ? row[r].digit[k][at] : 0;
        }
    if (sum)
        atomicAdd(&tally->bin[top + 3 - j], (unsigned long long)sum);
    if (j == 0 && top > __ldcg(&tally->top))
        atomicMax(&tally->top, top);
}

/* Adds the sums and maxima of all threads of a block, which all call it, to tally[SUMS + MAXIMA]; the threads' sums are
 * 0 afterwards. THREADS_HERE: threads of the block, or more. */
template <int THREADS_HERE = THREADS, int SUMS, int MAXIMA>
static __device__ inline void add_block_sums(CuSums<SUMS, MAXIMA> &s, CuTally *tally)
{
    typedef CuSumRow<SUMS, MAXIMA> Row;
#ifdef TALUS_EMULATED
    enum { MAX_ROWS = THREADS_HERE };
    Row *row = (Row *)emulated_scratch(sizeof(Row));
    const int rows = (int)blockDim.x;
    for (int k = 0; k < SUMS; k++) {
        row[threadIdx.x].top[k] = s.sum[k].top;
        for (int j = 0; j < TALUS_BIN_DIGITS; j++)
            row[threadIdx.x].digit[k][j] = s.sum[k].digit[j];
    }
    for (int k = 0; k < MAXIMA; k++)
        row[threadIdx.x].max[k] = s.max[k];
#else
    enum { MAX_ROWS = THREADS_HERE / 32 };
    __shared__ Row row[MAX_ROWS];
    const int rows = (int)blockDim.x / 32;
    write_warp_row(s, &row[threadIdx.x >> 5]);
#endif
    __syncthreads();
    for (int j = (int)threadIdx.x; j < SUMS * TALUS_BIN_DIGITS; j += (int)blockDim.x)
        add_rows<MAX_ROWS>(row, rows, j / TALUS_BIN_DIGITS, j % TALUS_BIN_DIGITS,
                           &tally[j / TALUS_BIN_DIGITS]);
    for (int k = (int)threadIdx.x; k < MAXIMA; k += (int)blockDim.x) {
        double v = row[0].max[k];
        for (int r = 1; r < rows; r++)
            v = larger(v, row[r].max[k]);
        atomicMax(&tally[SUMS + k].bin[0], max_key(v));
    }
    __syncthreads();
    for (int k = 0; k < SUMS; k++)
        s.sum[k] = TalusShortSum{{0, 0, 0, 0}, 0};
}

/* Adds the integers v of all threads of a block, which all call it, to bin[0] of a tally. The caller has a
 * __syncthreads between two calls. THREADS_HERE: threads of the block, or more, at most 1024. */
template <int THREADS_HERE>
static __device__ inline void add_block_integers(long long v, CuTally *tally)
{
#ifndef TALUS_EMULATED
    __shared__ long long row[THREADS_HERE / 32];
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x / 32;
    for (int off = 16; off > 0; off >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, off);
    if (lane == 0)
        row[warp] = v;
    __syncthreads();
    if (warp > 0)
        return;
    v = lane < warps ? row[lane] : 0;
    for (int off = 16; off > 0; off >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, off);
    if (lane > 0)
        return;
#endif
    atomicAdd(&tally->bin[0], (unsigned long long)v);
}

/* Adds one term to a tally. */
static __device__ inline void add_term(double x, CuTally *tally)
{
    TalusShortSum s = {{0, 0, 0, 0}, 0};
    talus_short_sum_add(&s, x);
    for (int k = 0; k < TALUS_BIN_DIGITS; k++)
        atomicAdd(&tally->bin[s.top + 3 - k], (unsigned long long)s.digit[k]);
    atomicMax(&tally->top, s.top);
}

/* Returns the sum of `count` tallies of sums. */
static __device__ inline double tally_sum(const CuTally *tally, int count = 1)
{
    int top = 0;
    long long b[TALUS_BIN_DIGITS] = {0, 0, 0, 0};
    for (int t = 0; t < count; t++) {
        int one = __ldcg(&tally[t].top);
        top = one > top ? one : top;
    }
    for (int t = 0; t < count; t++)
        for (int k = 0; k < TALUS_BIN_DIGITS; k++)
            b[k] += (long long)__ldcg(&tally[t].bin[top + 3 - k]);
    const int64_t bins[TALUS_BIN_DIGITS] = {b[0], b[1], b[2], b[3]};
    return talus_bins_value(top, bins);
}

/* Returns the maximum in a tally; -infinity if it is empty. */
static __device__ inline double tally_max(const CuTally *tally)
{
    return max_of_key(__ldcg(&tally->bin[0]));
}

/* Writes the sum in a tally, or with `max` the maximum, to *total: by the threads of a warp, which all call it, or
 * emulated by one thread. A warp loads all bins together, since waiting for `top` first would double the time. */
static __device__ inline void read_tally(const CuTally *tally, bool max, double *total)
{
#ifdef TALUS_EMULATED
    *total = max ? tally_max(tally) : tally_sum(tally);
#else
    static_assert(TALUS_BINS > 64 && TALUS_BINS <= 96, "three bins for each thread of a warp");
    const int lane = (int)threadIdx.x & 31, last = 64 + lane;
    const int top = max ? 0 : __ldcg(&tally->top);
    long long own[3] = {(long long)__ldcg(&tally->bin[lane]),
                        (long long)__ldcg(&tally->bin[32 + lane]),
                        last < TALUS_BINS ? (long long)__ldcg(&tally->bin[last]) : 0};
    int64_t bins[TALUS_BIN_DIGITS];
    for (int k = 0; k < TALUS_BIN_DIGITS; k++) {
        const int at = top + 3 - k;
        bins[k] = __shfl_sync(0xffffffffu, at < 32 ? own[0] : at < 64 ? own[1] : own[2], at & 31);
    }
    if (lane == 0)
        *total = max ? max_of_key((unsigned long long)own[0]) : talus_bins_value(top, bins);
#endif
}

/* v = sums and maxima in tally[SUMS + MAXIMA], the same in all threads of a block, which all call it. The number of
 * threads is a multiple of 32. */
template <int SUMS, int MAXIMA>
static __device__ inline void read_tallies(const CuTally *tally, double (&v)[SUMS + MAXIMA])
{
#ifdef TALUS_EMULATED
    enum { READERS = 1 };
#else
    enum { READERS = 32 };
#endif
    __shared__ double total[SUMS + MAXIMA];
    for (int k = (int)threadIdx.x / READERS; k < SUMS + MAXIMA; k += (int)blockDim.x / READERS)
        read_tally(&tally[k], k >= SUMS, &total[k]);
    __syncthreads();
    for (int k = 0; k < SUMS + MAXIMA; k++)
        v[k] = total[k];
    __syncthreads();
}

/* Empties tallies; the threads of a block share the work. */
static __device__ inline void clear_tallies(CuTally *tally, int count)
{
    const int words = count * (int)(sizeof *tally / sizeof(unsigned long long));
    for (int k = (int)threadIdx.x; k < words; k += (int)blockDim.x)
        ((unsigned long long *)tally)[k] = 0;
}

/* ---- kernels that sum over items ---- */

/* SUM_BLOCKS: largest number of blocks of a summing kernel; 1056 are eight per processor of an H200. Emulated it is 3,
 * so that threads take several items in small tests too. MAX_SUMS: largest number of values of one kernel,
 * MAX_MAXIMA: of maxima among them. */
#ifdef TALUS_EMULATED
enum { SUM_BLOCKS = 3 };
#else
enum { SUM_BLOCKS = 1056 };
#endif
enum { MAX_SUMS = 32, MAX_MAXIMA = 4 };

/* Memory of the sums of the kernel that runs. All zeros before a summing kernel and after it. */
struct CuBoard {
    unsigned arrived; /* number of finished blocks */
    /* for the host, if totals are over all ranks (CuTallies.shared): numbers of tallies, and where the totals go */
    int sums, maxima;
    double *totals;
    CuTally tally[MAX_SUMS];
};

/* Argument of summing kernels. */
struct CuTallies {
    CuBoard *board;
    const uint8_t *counted; /* items that count in sums and maxima; NULL: all */
    bool shared; /* totals are over all ranks: the kernel leaves its tallies for the host */
};

/* memory.cu: makes the context's board, if there is none yet. */
TalusStatus cu_board_reserve(CuContext *cu);

/* Sums and maxima over the whole grid; all threads of the kernel call it once. True in thread 0 of the last block to
 * finish, with the totals in v; false elsewhere, and if they are over all ranks. */
template <int SUMS, int MAXIMA>
static __device__ inline bool reduce_grid(const CuTallies &t, CuSums<SUMS, MAXIMA> &sums,
                                          double (&v)[SUMS + MAXIMA])
{
    enum { N = SUMS + MAXIMA };
    static_assert((int)N <= (int)MAX_SUMS && (int)MAXIMA <= (int)MAX_MAXIMA, "too many sums");
    __shared__ bool last;
    CuBoard *board = t.board;
    add_block_sums(sums, board->tally);
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(&board->arrived, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last)
        return false;
    if (t.shared) {
        board->sums = SUMS;
        board->maxima = MAXIMA;
        return false;
    }
    read_tallies<SUMS, MAXIMA>(board->tally, v);
    clear_tallies(board->tally, N);
    if (threadIdx.x == 0)
        board->arrived = 0;
    return threadIdx.x == 0;
}

/* Adds the counts of all threads of the block, which all call it, to the numbers to[0 .. N - 1] in device memory. v are
 * integers below 2^40: their sums need no bins. */
template <int N>
static __device__ inline void add_block_counts(double (&v)[N], unsigned long long *const (&to)[N])
{
    reduce_block<N, 0>(v);
    for (int k = 0; threadIdx.x == 0 && k < N; k++)
        if (v[k] != 0.0)
            atomicAdd(to[k], (unsigned long long)v[k]);
}

/* Returns the number of threads of the kernel: a thread that takes several items takes every grid_stride()-th. */
static __device__ inline int64_t grid_stride()
{
    return (int64_t)gridDim.x * blockDim.x;
}

/* Does the work of a summing kernel: calls item(i, v) for each item i from begin to end - 1, which adds what the item
 * contributes to v, the SUMS sums, at 0 before, and raises the MAXIMA maxima after them, at `lowest` before. Writes sums
 * and maxima over all items to `totals`. */
template <int SUMS, int MAXIMA, class Item>
static __device__ inline void sum_items(const CuTallies &t, double *totals, int64_t begin,
                                        int64_t end, double lowest, Item item)
{
    enum { N = SUMS + MAXIMA };
    CuSums<SUMS, MAXIMA> sums(lowest);
    double v[N];
    int terms = 0;
    if (t.shared && item_index() == 0)
        t.board->totals = totals;
    for (int64_t i = begin + item_index(); i - threadIdx.x < end; i += grid_stride()) {
        for (int k = 0; k < N; k++)
            v[k] = k < SUMS ? 0.0 : lowest;
        if (i < end) {
            item(i, v);
            if (!t.counted || t.counted[i])
                sums.add(v);
        }
        if (++terms == TALUS_BIN_TERMS) {
            add_block_sums(sums, t.board->tally);
            terms = 0;
        }
    }
    if (reduce_grid(t, sums, v))
        for (int k = 0; k < N; k++)
            totals[k] = v[k];
}

/* Copies the first `count` of the context's totals to out[count] on the host; waits for the stream. After an error that
 * cu_check has still to report, out is all NaN. */
void cu_totals_get(CuContext *cu, int count, double *out);
/* Copies totals[CU_TOTALS] and counts[CU_COUNTS] likewise; after an error the counts are 0. */
void cu_totals_and_counts_get(CuContext *cu, double *totals, uint32_t *counts);

/* What a context's kernels need to know of an operator that is the part of one of several ranks (comm/halo.h). */
struct CuPart {
    TalusComm *comm;
    const uint8_t *counted; /* [blocks], on the device: 1 if this rank counts the contact */
};

/* ops/part.cu: writes the sums and maxima over all ranks of the kernel that has just run to its totals; all ranks call it.
 * After an error of some rank cu_check reports one on all of them. */
void cu_reduce_over_ranks(CuContext *cu);

/* Starts kernel(tallies, totals, arguments...), which ends by sum_items or reduce_grid, for these tallies, whose board
 * is filled in. */
template <class... P, class... A>
static inline void launch_tallied(CuContext *cu, CuTallies tallies, void (*kernel)(P...),
                                  int64_t items, double *totals, A... arguments)
{
    unsigned blocks = blocks_for(items ? items : 1);
    if (cu_board_reserve(cu) != TALUS_OK)
        cu_note_error(cu, cudaErrorMemoryAllocation, "partial sums");
    tallies.board = cu->board;
    if (!cu->first_error[0])
        launch_block(cu, kernel, blocks < SUM_BLOCKS ? blocks : (unsigned)SUM_BLOCKS, THREADS,
                     tallies, totals, arguments...);
    if (tallies.shared)
        cu_reduce_over_ranks(cu);
}

/* Starts kernel(tallies, totals, arguments...), which ends by sum_items or reduce_grid; `totals` is an address in device
 * memory. The kernel also runs for 0 items, so that sums become 0. After an error that cu_check has still to report it
 * does not run; lack of memory for the context's board is such an error.
 *
 * On several ranks, all of which call it, the items are contacts, and the totals are those of all ranks;
 * launch_body_sums: the items are bodies of this rank; launch_own_sums: the totals are those of this rank alone. */
template <class... P, class... A>
static inline void launch_sums(CuContext *cu, void (*kernel)(P...), int64_t items, double *totals,
                               A... arguments)
{
    const CuPart *part = cu->part;
    launch_tallied(cu, CuTallies{nullptr, part ? part->counted : nullptr, part != nullptr}, kernel,
                   items, totals, arguments...);
}

template <class... P, class... A>
static inline void launch_body_sums(CuContext *cu, void (*kernel)(P...), int64_t items,
                                    double *totals, A... arguments)
{
    launch_tallied(cu, CuTallies{nullptr, nullptr, cu->part != nullptr}, kernel, items, totals,
                   arguments...);
}

template <class... P, class... A>
static inline void launch_own_sums(CuContext *cu, void (*kernel)(P...), int64_t items,
                                   double *totals, A... arguments)
{
    launch_tallied(cu, CuTallies{nullptr, nullptr, false}, kernel, items, totals, arguments...);
}

#endif
