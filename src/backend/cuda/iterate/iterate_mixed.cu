/* backend/cuda/iterate/iterate_mixed.cu - the iterations of iterate.h in single precision. Files of further slots include
 * this one, with the name of their function in ITERATE_MIXED. */
#ifndef ITERATE_MIXED
#define ITERATE_MIXED iterate_kernels_mixed
#endif

#include "backend/cuda/iterate/iterate_kernels.h"

IterateKernels ITERATE_MIXED(int rows, bool general, bool momentum, bool exact)
{
    return kernels_for<float>(rows, general, momentum, exact);
}
