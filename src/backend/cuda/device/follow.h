/* backend/cuda/device/follow.h - overlapped kernels: each is launched while the previous one still runs (programmatic
 * dependent launch), and waits in await_previous for its results. */
#ifndef TALUS_BACKEND_CUDA_DEVICE_FOLLOW_H
#define TALUS_BACKEND_CUDA_DEVICE_FOLLOW_H

#include "backend/cuda/device/device.h"

/* Every thread of such a kernel calls this before it reads results of an earlier kernel, and before it returns. */
static __device__ inline void await_previous()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* launch_next: starts such a kernel. load_kernel: loads it on the device; not allowed while a graph is captured. */
#ifdef TALUS_EMULATED
#define launch_next launch_block

template <class K> static inline void load_kernel(CuContext *, K) {}
#else
template <class... P, class... A>
static inline void launch_next(CuContext *cu, void (*kernel)(P...), unsigned blocks,
                               unsigned threads, A... arguments)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    launch_with(cu, &early, kernel, blocks, threads, arguments...);
}

template <class K> static inline void load_kernel(CuContext *cu, K kernel)
{
    cudaFuncAttributes unused;
    cu_note(cu, cudaFuncGetAttributes(&unused, (const void *)kernel), "kernel");
}
#endif

#endif
