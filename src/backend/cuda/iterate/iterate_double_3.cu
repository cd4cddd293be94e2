/* backend/cuda/iterate/iterate_double_3.cu - the kernels of iterate_double.cu with arguments of their own: slot 3. */
#define ITERATE_DOUBLE iterate_kernels_double_3
#include "backend/cuda/iterate/iterate_double.cu"
