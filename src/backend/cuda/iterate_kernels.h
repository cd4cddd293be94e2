/* backend/cuda/iterate_kernels.h - the kernels of iterate.h, for one precision per file that includes this.
 *
 * Constants of a kernel: T, the precision; ROWS; GENERAL, whether there are bodies that are no spheres;
 * MOMENTUM, the accelerated method or Jacobi's; CHECK, whether the step also measures the residual of x
 * and compares gradients. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_KERNELS_H
#define TALUS_BACKEND_CUDA_ITERATE_KERNELS_H

#include "backend/cuda/iterate_bodies.h"
#include "backend/cuda/iterate_contacts.h"
#include "backend/cuda/iterate_resident.h"

static inline IterateArgs *args_place()
{
    void *place = &args;
#ifndef TALUS_EMULATED
    cu_note(cudaGetSymbolAddress(&place, args), "constant memory");
#endif
    return (IterateArgs *)place;
}

template <class T, int ROWS, bool GENERAL, bool MOMENTUM> static IterateKernels kernels_for()
{
    return IterateKernels{args_place(),
                          iterate_bodies<T, ROWS, GENERAL, MOMENTUM>,
                          iterate_contacts<T, ROWS, GENERAL, MOMENTUM, false>,
                          iterate_contacts<T, ROWS, GENERAL, MOMENTUM, true>,
                          iterate_conclude<MOMENTUM, sizeof(T) == sizeof(float)>,
                          iterate_resident<T, ROWS, GENERAL, MOMENTUM>,
                          resident_threads<T>()};
}

template <class T, int ROWS> static inline IterateKernels kernels_for(bool general, bool momentum)
{
    if (general)
        return momentum ? kernels_for<T, ROWS, true, true>() : kernels_for<T, ROWS, true, false>();
    return momentum ? kernels_for<T, ROWS, false, true>() : kernels_for<T, ROWS, false, false>();
}

#endif
