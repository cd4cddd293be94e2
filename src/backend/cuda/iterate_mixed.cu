/* backend/cuda/iterate_mixed.cu - the iterations of iterate.h in single precision. */
#include "backend/cuda/iterate_kernels.h"

IterateKernels iterate_kernels_mixed(int rows, bool general, bool momentum)
{
    return rows == 1 ? kernels_for<float, 1>(general, momentum)
                     : kernels_for<float, 3>(general, momentum);
}
