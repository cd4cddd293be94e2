/* backend/cuda/iterate/iterate_double.cu - the iterations of iterate.h in double precision. Files of further slots include
 * this one, with the name of their function in ITERATE_DOUBLE. */
#ifndef ITERATE_DOUBLE
#define ITERATE_DOUBLE iterate_kernels_double
#endif

#include "backend/cuda/iterate/iterate_kernels.h"

IterateKernels ITERATE_DOUBLE(int rows, bool general, bool momentum, bool exact)
{
    return kernels_for<double>(rows, general, momentum, exact);
}
