/* backend/cuda/iterate/iterate_mixed_2.cu - the kernels of iterate_mixed.cu with arguments of their own: slot 2. */
#define ITERATE_MIXED iterate_kernels_mixed_2
#include "backend/cuda/iterate/iterate_mixed.cu"
