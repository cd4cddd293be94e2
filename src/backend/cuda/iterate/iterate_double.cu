/* backend/cuda/iterate/iterate_double.cu - the iterations of iterate.h in double precision. */
#include "backend/cuda/iterate/iterate_kernels.h"

IterateKernels iterate_kernels_double(int rows, bool general, bool momentum, bool exact)
{
    return kernels_for<double>(rows, general, momentum, exact);
}
