/* backend/cuda/device/follow.h - overlapped kernels: a kernel starts while the previous one still runs (programmatic
 * dependent launch), and waits in await_previous_kernel for the end of the previous one. */
#ifndef TALUS_BACKEND_CUDA_DEVICE_FOLLOW_H
#define TALUS_BACKEND_CUDA_DEVICE_FOLLOW_H

#include "backend/cuda/device/device.h"

/* Waits for the end of the previous kernel, then allows the next one to start. Every thread of an overlapped kernel
 * calls it before reading results of earlier kernels and before returning. Does nothing where kernels cannot overlap
 * (emulated, GPUs before compute capability 9.0). */
static __device__ inline void await_previous_kernel()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* launch_overlapped starts an overlapped kernel. load_kernel loads a kernel's code on the device: call it before a
 * graph is captured, because loading is not possible during the capture. */
#ifdef TALUS_EMULATED
#define launch_overlapped launch_block

template <class K> static inline void load_kernel(CuContext *, K) {}
#else
template <class... P, class... A>
static inline void launch_overlapped(CuContext *cu, void (*kernel)(P...), unsigned blocks,
                                     unsigned threads, A... arguments)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    launch_with_attribute(cu, &early, kernel, blocks, threads, arguments...);
}

template <class K> static inline void load_kernel(CuContext *cu, K kernel)
{
    cudaFuncAttributes unused;
    cu_note_error(cu, cudaFuncGetAttributes(&unused, (const void *)kernel), "kernel");
}
#endif

#endif
