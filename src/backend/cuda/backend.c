/* backend/cuda/backend.c - the tables of the two cuda backends. They differ in the iterations that run
 * without the host: in double precision throughout, or in single precision with refinement. */
#ifdef TALUS_HAVE_CUDA

#include "backend/cuda/cuda.h"

/* clang-format off */
#define COMMON          \
    .remote = true,     \
    .open = cu_open,    \
    .check = cu_check
/* clang-format on */

const TalusBackend talus_backend_cuda = {
    .name = "cuda",
    .summary = "NVIDIA GPU, double precision; the whole step stays there",
    COMMON,
};

const TalusBackend talus_backend_cuda_mixed = {
    .name = "cuda-mixed",
    .summary = "NVIDIA GPU, iterations in single precision, refined in double",
    COMMON,
};

#else
typedef int talus_no_cuda; /* a C file holds something */
#endif
