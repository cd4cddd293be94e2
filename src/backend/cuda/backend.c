/* backend/cuda/backend.c - the tables of the two cuda backends. They differ only in run.accelerate and run.jacobi: in
 * double precision (cuda), or in single precision with refinement (cuda-mixed). */
#ifdef TALUS_HAVE_CUDA

#include "backend/cuda/cuda.h"

/* clang-format off */
#define COMMON \
    .capabilities = TALUS_CAP_FINDS_METRIC, \
    .gathered_blocks = CU_SMALL_BLOCKS, \
    .open = cu_open, \
    .describe = cu_describe, \
    .memory = cu_memory_in_use, \
    .copy_speed = cu_copy_speed, \
    .context_create = cu_context_create, \
    .context_destroy = cu_context_destroy, \
    .check = cu_check
/* clang-format on */

const TalusBackend talus_backend_cuda = {
    .name = "cuda",
    .summary = TALUS_CUDA_SUMMARY,
    COMMON,
    .run = {.accelerate = cu_accelerate_run,
            .jacobi = cu_jacobi_run,
            .proportion = cu_proportion_run},
#define OPERATION(result, group, name, arguments) .group.name = cu_##group##_##name,
#include "backend/operations.h"
};

const TalusBackend talus_backend_cuda_mixed = {
    .name = "cuda-mixed",
    .summary = TALUS_CUDA_MIXED_SUMMARY,
    COMMON,
    .run = {.accelerate = cu_accelerate_run_mixed,
            .jacobi = cu_jacobi_run_mixed,
            .proportion = cu_proportion_run},
#define OPERATION(result, group, name, arguments) .group.name = cu_##group##_##name,
#include "backend/operations.h"
};

#else
typedef int talus_no_cuda; /* a C file must not be empty */
#endif
