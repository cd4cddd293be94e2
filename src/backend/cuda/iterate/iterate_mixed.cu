/* backend/cuda/iterate/iterate_mixed.cu - the iterations of iterate.h in single precision. */
#include "backend/cuda/iterate/iterate_kernels.h"

IterateKernels iterate_kernels_mixed(int rows, bool general, bool momentum, bool exact)
{
    return kernels_for<float>(rows, general, momentum, exact);
}
