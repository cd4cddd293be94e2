/* backend/cuda/iterate/iterate_kernels.h - the table of the kernels of iterate.h, for one precision per including file.
 *
 * Constants of a kernel: T, the precision, double or float; ROWS, 1 or 3; GENERAL, true if there are general contacts;
 * MOMENTUM, true for the accelerated method, false for Jacobi's; EXACT, true if contacts follow Coulomb's law instead
 * of its relaxation (TalusAccelerated.exact); CHECK, true if the step also measures the residual of x and, in the
 * accelerated method, compares gradients. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_ITERATE_KERNELS_H
#define TALUS_BACKEND_CUDA_ITERATE_ITERATE_KERNELS_H

#include "backend/cuda/iterate/iterate_bodies.h"
#include "backend/cuda/iterate/iterate_contacts.h"
#include "backend/cuda/iterate/iterate_resident.h"

/* Returns the device address of the kernels' arguments; NULL if CUDA does not know it. */
static inline IterateArgs *args_place()
{
    void *place = &args;
#ifndef TALUS_EMULATED
    if (cudaGetSymbolAddress(&place, args) != cudaSuccess)
        place = nullptr; /* the upload to it will report the error */
#endif
    return (IterateArgs *)place;
}

/* Returns the kernels with these constants. */
template <class T, int ROWS, bool GENERAL, bool MOMENTUM, bool EXACT = false>
static IterateKernels kernels_for()
{
    return IterateKernels{args_place(),
                          iterate_bodies<T, ROWS, GENERAL, MOMENTUM>,
                          sizeof(T) == sizeof(double) ? iterate_machines : nullptr,
                          iterate_contacts<T, ROWS, GENERAL, MOMENTUM, EXACT, false>,
                          iterate_contacts<T, ROWS, GENERAL, MOMENTUM, EXACT, true>,
                          iterate_conclude<MOMENTUM, sizeof(T) == sizeof(float)>,
                          iterate_resident<T, ROWS, GENERAL, MOMENTUM, EXACT>,
                          resident_threads<T, MOMENTUM>()};
}

template <class T, int ROWS> static inline IterateKernels kernels_for(bool general, bool momentum)
{
    if (general)
        return momentum ? kernels_for<T, ROWS, true, true>() : kernels_for<T, ROWS, true, false>();
    return momentum ? kernels_for<T, ROWS, false, true>() : kernels_for<T, ROWS, false, false>();
}

/* Returns the kernels for 1 or 3 rows. `exact` needs momentum, and makes no difference with one row. */
template <class T>
static inline IterateKernels kernels_for(int rows, bool general, bool momentum, bool exact)
{
    if (rows == 3 && exact)
        return general ? kernels_for<T, 3, true, true, true>()
                       : kernels_for<T, 3, false, true, true>();
    return rows == 1 ? kernels_for<T, 1>(general, momentum) : kernels_for<T, 3>(general, momentum);
}

#endif
