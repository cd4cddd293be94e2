/* backend/cuda/iterate/iterate_mixed_1.cu - the kernels of iterate_mixed.cu with arguments of their own: slot 1. */
#define ITERATE_MIXED iterate_kernels_mixed_1
#include "backend/cuda/iterate/iterate_mixed.cu"
