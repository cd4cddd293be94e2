/* backend/cuda/device/device.h - CUDA as used by all .cu files.
 *
 * They are compiled by nvcc or, in a build with TALUS_CUDA=EMULATED, by the host's C++ compiler with emulate.h in
 * place of CUDA: kernels then run on the host, one thread after the other, for tests without a GPU (also under
 * AddressSanitizer). This requires that
 *     - kernels are started by `launch` or, if their threads wait for each other, by `launch_block`;
 *     - threads of a block wait only in __syncthreads and in the functions of reduce.h;
 *     - sorting and scanning use primitives.h.
 * All work runs in order in the stream of a context (CuContext), submitted by one host thread at a time: a context
 * owns work space, totals and the first error, without locks. Contexts on one device run concurrently. Arrays in
 * device memory need no context to grow or to be freed. Results are deterministic, except those of chaotic sweeps:
 * atomic operations are integer (minimum, maximum, or, sums), and no result shows the order of their threads. */
#ifndef TALUS_BACKEND_CUDA_DEVICE_DEVICE_H
#define TALUS_BACKEND_CUDA_DEVICE_DEVICE_H

#ifdef TALUS_EMULATED
#include "backend/cuda/device/emulate.h"
#else
#include <cuda_runtime.h>
#endif

extern "C" {
#include "backend/cuda/cuda.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
}

#include <stdint.h>
#include <string.h>

/* Default number of threads per block. Emulated: few, because emulated threads are slow, and because small tests then
 * have several blocks. */
#ifdef TALUS_EMULATED
enum { THREADS = 16 };
#else
enum { THREADS = 256 };
#endif

/* Returns the index of the calling thread among all threads of the kernel, which is the index of its item. */
static __device__ inline int64_t item_index()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Returns the number of blocks, of `threads` threads, that gives each item a thread; 0 for 0 items. */
static inline unsigned blocks_for(int64_t items, int threads = THREADS)
{
    return (unsigned)((items + threads - 1) / threads);
}

/* ---- memory.cu: arrays ---- */

/* Makes *array hold at least `need` elements of `element` bytes and sets *capacity. An array that is large enough
 * stays; else a new one, with undefined contents, replaces it, half as large again as the old one or larger (above 256
 * MiB: a sixteenth), or of `need` elements if memory is short; freeing the old one waits for the whole device. On
 * failure *array is NULL and *capacity 0. `what` names the array in messages. */
TalusStatus cu_reserve(void **array, size_t *capacity, size_t need, size_t element,
                       const char *what);
#define CU_RESERVE(pointer, capacity, need, what) \
    cu_reserve((void **)&(pointer), &(capacity), (size_t)(need), sizeof *(pointer), (what))
/* Frees device memory, after all work of the device; NULL is allowed. */
void cu_release(void *pointer);

/* An array in device memory with its capacity, in elements. Copies of the struct share the memory; `clear` frees it.
 * reserve: cu_reserve for `need` elements. */
template <class T> struct CuArray {
    T *at = nullptr;
    size_t capacity = 0;
    TalusStatus reserve(int64_t need, const char *what)
    {
        return CU_RESERVE(at, capacity, need, what);
    }
    void clear()
    {
        cu_release(at);
        at = nullptr;
        capacity = 0;
    }
    __host__ __device__ operator T *() const
    {
        return at;
    }
};

/* Frees all given arrays. */
template <class... T> static inline void cu_clear(CuArray<T> &...array)
{
    (array.clear(), ...);
}

/* ---- memory.cu: contexts ---- */

/* Data that a source file keeps with a context or an operator, and the function that frees the data; at NULL: none
 * yet. */
struct CuOwned {
    void *at;
    void (*clear)(void *at);
};

/* Writes the address of the data, of type T, to *out; the first call allocates them, all zeros. `clear` frees them when
 * their owner, the context or operator, is freed. `what` names them in messages. */
template <class T>
static inline TalusStatus cu_get_owned(CuOwned *owned, void (*clear)(void *at), const char *what,
                                       T **out)
{
    if (!owned->at)
        TALUS_TRY(talus_alloc(&owned->at, 1, sizeof(T), what));
    owned->clear = clear;
    *out = (T *)owned->at;
    return TALUS_OK;
}

/* Numbers of doubles in a context's totals, and of its counts. */
enum { CU_TOTALS = 128, CU_COUNTS = 512 };

/* The device state of one world or one problem. */
struct TalusContext {
    int device; /* number of the GPU */
    cudaStream_t stream;
    char *pinned;     /* [64 Ki] page-locked host memory, for small downloads */
    double *totals;   /* [CU_TOTALS] on the device: results of kernels for the host */
    uint32_t *counts; /* [CU_COUNTS], behind the totals: one download gets both */
    struct CuBoard
        *board; /* on the device: sums of the kernel that runs (reduce.h); NULL before the first */
    /* Of the operator that is used, if that is the part of one of several ranks (ops/part.cu); else NULL. */
    const struct CuPart *part;
    CuArray<char> work;    /* work space of primitives.cu */
    CuOwned iterate, face; /* data of iterate.cu and face.cu */
    CuOwned windows;       /* data of window.cu */
    cudaEvent_t timer[2];  /* start and end of a kernel in a profile; NULL before the first */
    uint64_t copied;       /* bytes copied between host and device so far (cu_copied_bytes) */
    char first_error[256]; /* text of the first error since the last cu_check; empty: none */
};

typedef TalusContext CuContext;

/* Returns the context of an operator. */
static inline CuContext *cu_context_of(const TalusOperator *op)
{
    return op->context;
}

/* Stores the text of `error`, after the name `where` of the operation, unless it is cudaSuccess or an earlier error is
 * stored; cu_check returns the stored error as a status and clears it. */
void cu_note_error(CuContext *cu, cudaError_t error, const char *where);

/* Copies in the stream: to the device, to the host, and device to device; cu_zero sets all bytes to 0; cu_wait waits
 * until all work of the stream is done. cu_put and cu_get wait likewise, unless bytes is 0; downloads of at most 64 KiB
 * go through the context's pinned memory. Errors are stored (cu_note_error). */
void cu_put(CuContext *cu, void *device, const void *host, size_t bytes);
void cu_get(CuContext *cu, void *host, const void *device, size_t bytes);
/* To and from page-locked memory, cu_put_pinned and cu_get_pinned do not wait. */
void cu_put_pinned(CuContext *cu, void *device, const void *pinned, size_t bytes);
void cu_get_pinned(CuContext *cu, void *pinned, const void *device, size_t bytes);
void cu_copy(CuContext *cu, void *to, const void *from, size_t bytes);
void cu_zero(CuContext *cu, void *device, size_t bytes);
void cu_wait(CuContext *cu);

/* ---- profile ---- */

/* While a profile is on (base/profile.h), the time from the construction to the end of the work submitted since, as a
 * loop of the profile that has the name of a kernel or `name`. Waits for the end. Not during the capture of a graph. */
struct CuTimer {
    CuContext *cu; /* NULL: no profile is on */
    const void *kernel;
    const char *name;
    CuTimer(CuContext *context, const void *timed, const char *text = nullptr)
        : cu(talus_profile_is_on() ? context : nullptr), kernel(timed), name(text)
    {
        if (cu)
            start();
    }
    ~CuTimer()
    {
        if (cu)
            finish();
    }
    void start();
    void finish();
};

/* ---- launches ---- */

/* Records the work that `launches` submits to the stream as a graph *exec, without running it. The caller destroys the
 * graph; errors are stored (cu_note_error). */
template <class F>
static inline void cu_capture_graph(CuContext *cu, cudaGraphExec_t *exec, F launches)
{
    cudaGraph_t graph = nullptr;
    cu_note_error(cu, cudaStreamBeginCapture(cu->stream, cudaStreamCaptureModeThreadLocal),
                  "capture");
    launches();
    cu_note_error(cu, cudaStreamEndCapture(cu->stream, &graph), "capture");
    cu_note_error(cu, cudaGraphInstantiate(exec, graph, 0), "graph");
    cu_note_error(cu, cudaGraphDestroy(graph), "graph");
}

#ifdef TALUS_EMULATED
/* Starts a kernel with `blocks` blocks; does nothing if that is 0. */
template <class... P, class... A>
static inline void launch(CuContext *cu, void (*kernel)(P...), unsigned blocks, unsigned threads,
                          A... arguments)
{
    CuTimer timer(cu, (const void *)kernel);
    if (blocks)
        emulate_kernel(cu->stream, blocks, threads, false, [=] { kernel(P(arguments)...); });
}

/* As launch, for kernels whose threads wait for each other in __syncthreads: emulated, their threads run as
 * coroutines. */
template <class... P, class... A>
static inline void launch_block(CuContext *cu, void (*kernel)(P...), unsigned blocks,
                                unsigned threads, A... arguments)
{
    CuTimer timer(cu, (const void *)kernel);
    if (blocks)
        emulate_kernel(cu->stream, blocks, threads, true, [=] { kernel(P(arguments)...); });
}
#else
/* As in the emulated build above. A failed launch is stored as error by the next cu_wait or cu_check. */
template <class... P, class... A>
static inline void launch(CuContext *cu, void (*kernel)(P...), unsigned blocks, unsigned threads,
                          A... arguments)
{
    CuTimer timer(cu, (const void *)kernel);
    if (blocks)
        kernel<<<blocks, threads, 0, cu->stream>>>(P(arguments)...);
}

template <class... P, class... A>
static inline void launch_block(CuContext *cu, void (*kernel)(P...), unsigned blocks,
                                unsigned threads, A... arguments)
{
    launch(cu, kernel, blocks, threads, arguments...);
}

/* Launches a kernel with one launch attribute: the one of follow.h lets it start before the previous kernel ends, the
 * one of iterate.cu makes all its blocks run at the same time. */
template <class... P, class... A>
static inline void launch_with_attribute(CuContext *cu, cudaLaunchAttribute *attribute,
                                         void (*kernel)(P...), unsigned blocks, unsigned threads,
                                         A... arguments)
{
    CuTimer timer(cu, (const void *)kernel);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.stream = cu->stream;
    config.attrs = attribute;
    config.numAttrs = 1;
    cu_note_error(cu, cudaLaunchKernelEx(&config, kernel, P(arguments)...), "iteration");
}
#endif

#endif
