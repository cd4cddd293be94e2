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

/* Index of this thread's item. */
static __device__ inline int64_t item()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static inline unsigned blocks_for(int64_t items, int threads = THREADS)
{
    return (unsigned)((items + threads - 1) / threads);
}

/* ---- memory.cu: arrays ---- */

/* Device memory that grows by half, like TALUS_GROW, without keeping contents; arrays large enough that a few fill
 * the device grow by a sixteenth. Waits for the whole device if an array is replaced. */
TalusStatus cu_reserve(void **array, size_t *capacity, size_t need, size_t element,
                       const char *what);
#define CU_RESERVE(pointer, capacity, need, what) \
    cu_reserve((void **)&(pointer), &(capacity), (size_t)(need), sizeof *(pointer), (what))
void cu_release(void *pointer);

/* An array with its capacity. */
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

/* Frees arrays. */
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

/* Returns the data, made when first asked for. */
template <class T>
static inline TalusStatus cu_own(CuOwned *owned, void (*clear)(void *at), const char *what, T **out)
{
    if (!owned->at)
        TALUS_TRY(talus_alloc(&owned->at, 1, sizeof(T), what));
    owned->clear = clear;
    *out = (T *)owned->at;
    return TALUS_OK;
}

/* Doubles of a context's totals. */
enum { CU_TOTALS = 128 };

/* The device state of one world or one problem. */
struct TalusContext {
    cudaStream_t stream;
    char *pinned;            /* for small copies, at a third of the latency */
    double *totals;          /* [CU_TOTALS] on the device: results of kernels for the host */
    CuArray<double> partial; /* partial sums of kernels, which run one after the other */
    unsigned *arrived;
    CuArray<char> work;    /* of primitives.cu */
    CuOwned iterate, face; /* of iterate.cu and face.cu */
    char first_error[256];
};

typedef TalusContext CuContext;

static inline CuContext *cu_of(const TalusOperator *op)
{
    return op->context;
}

/* cu_note stores the first CUDA error and where it occurred; cu_check reports it as a status and clears it. */
void cu_note(CuContext *cu, cudaError_t error, const char *where);

/* Copies; `cu_get` waits for the stream. Small ones go through pinned memory. */
void cu_put(CuContext *cu, void *device, const void *host, size_t bytes);
void cu_get(CuContext *cu, void *host, const void *device, size_t bytes);
void cu_copy(CuContext *cu, void *to, const void *from, size_t bytes); /* device to device */
void cu_zero(CuContext *cu, void *device, size_t bytes);
void cu_wait(CuContext *cu);

/* ---- launches ---- */

/* Records what `launches` starts in the stream as a graph. */
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

/* The same for kernels whose threads wait for each other. */
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

/* Launches a kernel with one attribute, for kernels that overlap or whose blocks wait for each other. */
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
