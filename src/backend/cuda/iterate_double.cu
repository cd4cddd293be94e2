/* backend/cuda/iterate_double.cu - the iterations of iterate.h in double precision. */
#include "backend/cuda/iterate_kernels.h"

IterateKernels iterate_kernels_double(int rows, bool general, bool momentum)
{
    return rows == 1 ? kernels_for<double, 1>(general, momentum)
                     : kernels_for<double, 3>(general, momentum);
}
