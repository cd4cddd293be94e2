/* backend/cuda/device/together.h - kernels whose blocks all run at the same time and wait for each other. */
#ifndef TALUS_BACKEND_CUDA_DEVICE_TOGETHER_H
#define TALUS_BACKEND_CUDA_DEVICE_TOGETHER_H

#include "backend/cuda/device/device.h"

/* Blocks of such a kernel, one per processor of an H200. */
#ifdef TALUS_EMULATED
enum { RESIDENT_BLOCKS = 1 };
#else
enum { RESIDENT_BLOCKS = 132 };
#endif

/* Barrier over all blocks of the grid, which run at the same time. *arrived, 0 at the kernel's start, counts the
 * arrivals of blocks at barriers. `goal`, 0 at the start and raised here, is the count at which all blocks are at this
 * barrier. */
static __device__ inline void await_all_blocks(unsigned *arrived, unsigned &goal)
{
    goal += RESIDENT_BLOCKS;
    __syncthreads();
#ifndef TALUS_EMULATED /* emulated: one block */
    if (threadIdx.x == 0) {
        unsigned seen;
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(seen)
                         : "l"(arrived)
                         : "memory");
        while ((int)(seen - goal) < 0); /* the difference: counts of long runs pass 2^32 */
    }
    __syncthreads();
#else
    (void)arrived;
#endif
}

/* launch_cooperative launches a kernel whose blocks all run at the same time. can_run_together is true if
 * RESIDENT_BLOCKS blocks, of this number of threads, fit on device 0 and it can launch such kernels. */
#ifdef TALUS_EMULATED
#define launch_cooperative launch_block

template <class K> static inline bool can_run_together(CuContext *, K, int)
{
    return true;
}
#else
template <class... P, class... A>
static inline void launch_cooperative(CuContext *cu, void (*kernel)(P...), unsigned blocks,
                                      unsigned threads, A... arguments)
{
    cudaLaunchAttribute together = {};
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    launch_with_attribute(cu, &together, kernel, blocks, threads, arguments...);
}

template <class K> static inline bool can_run_together(CuContext *cu, K kernel, int threads)
{
    int can = 0, processors = 0, each = 0;
    cu_note_error(cu, cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0), "device");
    cu_note_error(cu, cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0),
                  "device");
    cu_note_error(cu, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0),
                  "occupancy");
    return can && each * processors >= RESIDENT_BLOCKS;
}
#endif

#endif
