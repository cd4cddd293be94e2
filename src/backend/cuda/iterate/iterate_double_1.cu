/* backend/cuda/iterate/iterate_double_1.cu - the kernels of iterate_double.cu with arguments of their own: slot 1. */
#define ITERATE_DOUBLE iterate_kernels_double_1
#include "backend/cuda/iterate/iterate_double.cu"
