/* backend/cuda/device/emulate.h - the part of CUDA that the .cu files use, on the host (device.h says why).
 *
 * Device memory is heap memory, so that AddressSanitizer checks every access. Blocks run one after the other. A
 * kernel of `launch` runs thread after thread; one of `launch_block` runs its threads as coroutines that switch in
 * __syncthreads. Work is done by the host thread that submits it, before the call returns, unless the stream captures a
 * graph: a graph records launches, copies and memsets and replays them. That graph is all that a stream holds. */
#ifndef TALUS_BACKEND_CUDA_DEVICE_EMULATE_H
#define TALUS_BACKEND_CUDA_DEVICE_EMULATE_H

#include <functional>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static thread_local
#define __constant__ static
#define __launch_bounds__(...)

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
};
#define TALUS_VECTOR_TYPES(T, name)                                 \
    struct name##2                                                  \
    {                                                               \
        T x, y;                                                     \
    };                                                              \
    struct name##3                                                  \
    {                                                               \
        T x, y, z;                                                  \
    };                                                              \
    struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) name##4 \
    {                                                               \
        T x, y, z, w;                                               \
    };                                                              \
    static inline name##2 make_##name##2(T x, T y)                  \
    {                                                               \
        return {x, y};                                              \
    }                                                               \
    static inline name##3 make_##name##3(T x, T y, T z)             \
    {                                                               \
        return {x, y, z};                                           \
    }                                                               \
    static inline name##4 make_##name##4(T x, T y, T z, T w)        \
    {                                                               \
        return {x, y, z, w};                                        \
    }
TALUS_VECTOR_TYPES(float, float)
TALUS_VECTOR_TYPES(double, double)
TALUS_VECTOR_TYPES(int, int)
TALUS_VECTOR_TYPES(signed char, char)
#undef TALUS_VECTOR_TYPES

/* Indices and sizes in the kernel that this host thread runs. */
extern __thread uint3 threadIdx, blockIdx;
extern __thread dim3 blockDim, gridDim;

void __syncthreads(void);
static inline void __threadfence(void) {}
template <class T> static inline T __ldg(const T *p)
{
    return *p;
}
template <class T> static inline T __ldcs(const T *p)
{
    return *p;
}
template <class T> static inline T __ldcg(const T *p)
{
    return *p;
}
template <class T> static inline void __stcs(T *p, T v)
{
    *p = v;
}
static inline double rsqrt(double x)
{
    return 1.0 / sqrt(x);
}
static inline int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}

template <class T> static inline T atomicAdd(T *p, T v)
{
    T old = *p;
    *p = old + v;
    return old;
}
template <class T> static inline T atomicMax(T *p, T v)
{
    T old = *p;
    *p = old < v ? v : old;
    return old;
}
template <class T> static inline T atomicMin(T *p, T v)
{
    T old = *p;
    *p = v < old ? v : old;
    return old;
}
template <class T> static inline T atomicOr(T *p, T v)
{
    T old = *p;
    *p = old | v;
    return old;
}
template <class T> static inline T atomicExch(T *p, T v)
{
    T old = *p;
    *p = v;
    return old;
}
template <class T> static inline T atomicCAS(T *p, T expected, T v)
{
    T old = *p;
    if (old == expected)
        *p = v;
    return old;
}

/* ---- runtime ---- */

typedef int cudaError_t;
enum {
    cudaSuccess = 0,
    cudaErrorMemoryAllocation = 2,
    cudaErrorNoDevice = 100,
    cudaErrorPeerAccessAlreadyEnabled = 704
};
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum {
    cudaStreamNonBlocking = 1,
    cudaStreamCaptureModeThreadLocal = 1,
    cudaEventDisableTiming = 2
};
typedef struct EmulatedStream *cudaStream_t;
typedef struct EmulatedGraph *cudaGraph_t;
typedef struct EmulatedGraph *cudaGraphExec_t;
typedef double *cudaEvent_t; /* time of the last record, s */
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int multiProcessorCount, l2CacheSize, major, minor;
};

cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaMallocHost(void **p, size_t bytes);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaEventDestroy(cudaEvent_t event);

/* ---- launches ---- */

/* Runs a kernel in the calling host thread, or records it if the stream captures a graph. `coroutines`: the kernel's
 * threads wait for each other (launch_block). */
void emulate_kernel(cudaStream_t stream, unsigned blocks, unsigned threads, bool coroutines,
                    std::function<void()> kernel);

/* Returns memory shared by a block's threads, `bytes` for each of at most 1024, for reduce.h. The next call with more
 * bytes may move the memory; all threads of a block pass the same number. */
void *emulated_scratch(size_t bytes);

/* Returns `bytes` of memory shared by a block's threads, for a shared array that is large: __shared__ arrays are
 * thread_local here and so take of the stack of every thread of the program, also of those that never run a kernel.
 * A kernel calls it for one array, always with the same number of bytes. */
void *emulated_shared(size_t bytes);

#endif
