/* backend/cuda/backend.c - the tables of the two cuda backends. Their runs of many iterations differ: in double
 * precision throughout, or in single precision with refinement. */
#ifdef TALUS_HAVE_CUDA

#include "backend/cuda/cuda.h"

/* clang-format off */
#define COMMON \
    .capabilities = TALUS_CAP_FINDS_METRIC, \
    .open = cu_open, \
    .describe = cu_describe, \
    .memory = cu_memory_now, \
    .context_create = cu_context_create, \
    .context_destroy = cu_context_destroy, \
    .check = cu_check, \
    .vector = { \
        .reserve = cu_vec_reserve, \
        .release = cu_vec_release, \
        .put = cu_vec_put, \
        .get = cu_vec_get, \
        .copy = cu_vec_copy, \
        .zero = cu_vec_zero, \
        .dot = cu_dot, \
        .dots = cu_dots, \
        .axpby = cu_axpby, \
        .combine = cu_combine, \
    }, \
    .op = { \
        .mirror = cu_mirror, \
        .mirror_clear = cu_mirror_clear, \
        .scratch = cu_scratch, \
        .bodies = cu_bodies, \
        .product = cu_product, \
        .gradient = cu_gradient, \
        .residual = cu_residual, \
        .terms = cu_terms, \
        .metric = cu_metric, \
        .scale = cu_scale, \
        .sizes = cu_sizes, \
    }, \
    .block = { \
        .project = cu_project, \
        .forward_backward = cu_forward_backward, \
        .split = cu_split, \
        .mask = cu_mask, \
        .tangent = cu_tangent, \
        .feasible_step = cu_feasible_step, \
        .compare = cu_compare, \
        .recede = cu_recede, \
        .recede_span = cu_recede_span, \
    }, \
    .law = { \
        .measure = cu_law_measure, \
        .shift = cu_law_shift, \
        .unshift = cu_law_unshift, \
        .estimate = cu_law_estimate, \
    }, \
    .sweep = { \
        .begin = cu_sweep_begin, \
        .run = cu_sweep_run, \
        .end = cu_sweep_end, \
        .destroy = cu_sweep_destroy, \
    }, \
    .step = { \
        .relax = cu_relax, \
        .accelerate = cu_accelerate, \
        .quasi_direction = cu_quasi_direction, \
        .quasi_step = cu_quasi_step, \
        .quasi_smooth = cu_quasi_smooth, \
        .ogm = cu_ogm_step, \
    }, \
    .joint = { \
        .rows = cu_joint_rows, \
        .take_out = cu_joint_take_out, \
        .recover = cu_joint_recover, \
    }
/* clang-format on */

const TalusBackend talus_backend_cuda = {
    .name = "cuda",
    .summary = TALUS_CUDA_SUMMARY,
    COMMON,
    .run = {cu_accelerate_run, cu_relax_run, cu_proportion_run},
};

const TalusBackend talus_backend_cuda_mixed = {
    .name = "cuda-mixed",
    .summary = TALUS_CUDA_MIXED_SUMMARY,
    COMMON,
    .run = {cu_accelerate_run_mixed, cu_relax_run_mixed, cu_proportion_run},
};

#else
typedef int talus_no_cuda; /* a C file must not be empty */
#endif
