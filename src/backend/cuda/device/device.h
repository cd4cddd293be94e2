/* backend/cuda/device/device.h - CUDA as used by the files of this folder.
 *
 * They are compiled by nvcc or, in a build with TALUS_CUDA=EMULATED, by the host's C++ compiler with emulate.h in
 * place of CUDA: kernels then run on the host, one thread after the other, for tests without a GPU (also under
 * AddressSanitizer). This requires that
 *     - kernels are started by `launch` or, if their threads wait for each other, by `launch_block`;
 *     - threads of a block wait only in __syncthreads and in the functions of reduce.h;
 *     - sorting, scanning and selecting use primitives.h.
 * All work runs in order in the stream of a context (CuContext), submitted by one host thread at a time: a context
 * owns work space, totals and the first error, without locks. Contexts on one device run concurrently. Arrays in
 * device memory need no context to grow or to be freed. Results are deterministic: no atomic operation depends on the
 * order of threads (integer minimum, maximum, or, and counts that are sorted afterwards are allowed). */
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
#include "base/status.h"
}

#include <stdint.h>
#include <string.h>

/* Default number of threads per block. Emulated threads are slow; few of them also give small problems many blocks. */
#ifdef TALUS_EMULATED
enum { THREADS = 16 };
#else
enum { THREADS = 256 };
#endif

/* Returns the thread's index in the grid: the index of its item. */
static __device__ inline int64_t item()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Returns the number of blocks that gives each item a thread. */
static inline unsigned blocks_for(int64_t items, int threads = THREADS)
{
    return (unsigned)((items + threads - 1) / threads);
}

/* ---- memory.cu: arrays ---- */

/* Grows *array to at least `need` elements of `element` bytes and sets *capacity; contents are lost. Growth is by at
 * least half, of arrays above 256 MiB by a sixteenth. Waits for the whole device if the array is replaced. `what` names
 * the array in messages. */
TalusStatus cu_reserve(void **array, size_t *capacity, size_t need, size_t element,
                       const char *what);
#define CU_RESERVE(pointer, capacity, need, what) \
    cu_reserve((void **)&(pointer), &(capacity), (size_t)(need), sizeof *(pointer), (what))
void cu_release(void *pointer);

/* An array in device memory with its capacity, in elements. Copies share the memory; `clear` frees it. */
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

/* Data that a file stores with a context or an operator, and the function that frees it. */
struct CuOwned {
    void *at;
    void (*clear)(void *at);
};

/* Writes the data to *out; the first call allocates it, all zeros. `clear` frees it with its owner. */
template <class T>
static inline TalusStatus cu_own(CuOwned *owned, void (*clear)(void *at), const char *what, T **out)
{
    if (!owned->at)
        TALUS_TRY(talus_alloc(&owned->at, 1, sizeof(T), what));
    owned->clear = clear;
    *out = (T *)owned->at;
    return TALUS_OK;
}

/* Number of doubles in a context's totals. */
enum { CU_TOTALS = 128 };

/* The device state of one world or one problem. */
struct TalusContext {
    cudaStream_t stream;
    char *pinned;            /* for small copies, at a third of the latency */
    double *totals;          /* [CU_TOTALS] on the device: results of kernels for the host */
    CuArray<double> partial; /* partial sums of kernels, which run one after the other */
    unsigned *arrived;       /* counts finished blocks (reduce.h) */
    CuArray<char> work;      /* of primitives.cu */
    CuOwned iterate, face;   /* data of iterate.cu and face.cu */
    char first_error[256];   /* empty: none */
};

typedef TalusContext CuContext;

static inline CuContext *cu_of(const TalusOperator *op)
{
    return op->context;
}

/* Stores `error`, with the operation `where`, if it is the first; cu_check reports it as a status and clears it. */
void cu_note(CuContext *cu, cudaError_t error, const char *where);

/* Copies in the stream: to the device, to the host, and device to device. cu_put and cu_get wait for the stream; small
 * downloads go through pinned memory. */
void cu_put(CuContext *cu, void *device, const void *host, size_t bytes);
void cu_get(CuContext *cu, void *host, const void *device, size_t bytes);
void cu_copy(CuContext *cu, void *to, const void *from, size_t bytes);
void cu_zero(CuContext *cu, void *device, size_t bytes);
void cu_wait(CuContext *cu);

/* ---- launches ---- */

/* Records the work that `launches` submits to the stream as a graph *exec, without running it. */
template <class F> static inline void cu_capture(CuContext *cu, cudaGraphExec_t *exec, F launches)
{
    cudaGraph_t graph = nullptr;
    cu_note(cu, cudaStreamBeginCapture(cu->stream, cudaStreamCaptureModeThreadLocal), "capture");
    launches();
    cu_note(cu, cudaStreamEndCapture(cu->stream, &graph), "capture");
    cu_note(cu, cudaGraphInstantiate(exec, graph, 0), "graph");
    cu_note(cu, cudaGraphDestroy(graph), "graph");
}

#ifdef TALUS_EMULATED
/* Starts a kernel with `blocks` blocks; does nothing if that is 0. */
template <class... P, class... A>
static inline void launch(CuContext *cu, void (*kernel)(P...), unsigned blocks, unsigned threads,
                          A... arguments)
{
    if (blocks)
        emulate(cu->stream, blocks, threads, false, [=] { kernel(P(arguments)...); });
}

/* The same for kernels whose threads wait for each other in __syncthreads. */
template <class... P, class... A>
static inline void launch_block(CuContext *cu, void (*kernel)(P...), unsigned blocks,
                                unsigned threads, A... arguments)
{
    if (blocks)
        emulate(cu->stream, blocks, threads, true, [=] { kernel(P(arguments)...); });
}
#else
template <class... P, class... A>
static inline void launch(CuContext *cu, void (*kernel)(P...), unsigned blocks, unsigned threads,
                          A... arguments)
{
    if (blocks)
        kernel<<<blocks, threads, 0, cu->stream>>>(P(arguments)...);
}

template <class... P, class... A>
static inline void launch_block(CuContext *cu, void (*kernel)(P...), unsigned blocks,
                                unsigned threads, A... arguments)
{
    launch(cu, kernel, blocks, threads, arguments...);
}

/* Launches a kernel with one launch attribute: it may overlap the kernel before, or its blocks run all at once. */
template <class... P, class... A>
static inline void launch_with(CuContext *cu, cudaLaunchAttribute *attribute, void (*kernel)(P...),
                               unsigned blocks, unsigned threads, A... arguments)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.stream = cu->stream;
    config.attrs = attribute;
    config.numAttrs = 1;
    cu_note(cu, cudaLaunchKernelEx(&config, kernel, P(arguments)...), "iteration");
}
#endif

#endif
