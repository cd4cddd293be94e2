/* backend/cuda/iterate/iterate_mixed_3.cu - the kernels of iterate_mixed.cu with arguments of their own: slot 3. */
#define ITERATE_MIXED iterate_kernels_mixed_3
#include "backend/cuda/iterate/iterate_mixed.cu"
