/* backend/cuda/iterate/iterate_double_2.cu - the kernels of iterate_double.cu with arguments of their own: slot 2. */
#define ITERATE_DOUBLE iterate_kernels_double_2
#include "backend/cuda/iterate/iterate_double.cu"
