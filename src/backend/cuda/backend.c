/* backend/cuda/backend.c - the tables of the two cuda backends. They differ in the iterations that run
 * without the host: in double precision throughout, or in single precision with refinement. */
#ifdef TALUS_HAVE_CUDA

#include "backend/cuda/cuda.h"

static const TalusEngineOps engine_ops = {
    .create = cu_engine_create,
    .destroy = cu_engine_destroy,
    .tables = cu_engine_tables,
    .put_bodies = cu_engine_put_bodies,
    .get_bodies = cu_engine_get_bodies,
    .put_states = cu_engine_put_states,
    .get_states = cu_engine_get_states,
    .put_filter = cu_engine_put_filter,
    .put_forces = cu_engine_put_forces,
    .put_joints = cu_engine_put_joints,
    .get_joints = cu_engine_get_joints,
    .put_contacts = cu_engine_put_contacts,
    .get_contacts = cu_engine_get_contacts,
    .counts = cu_engine_counts,
    .below = cu_engine_below,
    .detect = cu_engine_detect,
    .build = cu_engine_build,
    .solved = cu_engine_solved,
    .store_impulses = cu_engine_store_impulses,
    .integrate = cu_engine_integrate,
    .sum_probes = cu_engine_sum_probes,
    .get_probes = cu_engine_get_probes,
    .backup = cu_engine_backup,
    .restore = cu_engine_restore,
};

/* clang-format off */
#define COMMON          \
    .capabilities = TALUS_CAP_FINDS_METRIC, \
    .engine = &engine_ops, \
    .open = cu_open,    \
    .context_create = cu_context_create, \
    .context_destroy = cu_context_destroy, \
    .mirror = cu_mirror, \
    .mirror_clear = cu_mirror_clear, \
    .reserve = cu_vec_reserve, \
    .release = cu_vec_release, \
    .put = cu_vec_put, \
    .get = cu_vec_get, \
    .copy = cu_vec_copy, \
    .zero = cu_vec_zero, \
    .dot = cu_dot, \
    .axpby = cu_axpby, \
    .scratch = cu_scratch, \
    .bodies = cu_bodies, \
    .product = cu_product, \
    .residual = cu_residual, \
    .relax = cu_relax, \
    .metric = cu_metric, \
    .sizes = cu_sizes, \
    .law_measure = cu_law_measure, \
    .law_shift = cu_law_shift, \
    .law_unshift = cu_law_unshift, \
    .law_estimate = cu_law_estimate, \
    .gradient = cu_gradient, \
    .dots = cu_dots, \
    .combine = cu_combine, \
    .project = cu_project, \
    .forward_backward = cu_forward_backward, \
    .split = cu_split, \
    .mask = cu_mask, \
    .tangent = cu_tangent, \
    .feasible_step = cu_feasible_step, \
    .compare = cu_compare, \
    .terms = cu_terms, \
    .recede = cu_recede, \
    .recede_span = cu_recede_span, \
    .accelerate = cu_accelerate, \
    .proportion_run = cu_proportion_run, \
    .scale = cu_scale, \
    .quasi_direction = cu_quasi_direction, \
    .quasi_step = cu_quasi_step, \
    .quasi_smooth = cu_quasi_smooth, \
    .ogm_step = cu_ogm_step, \
    .sweep_begin = cu_sweep_begin, \
    .sweep_run = cu_sweep_run, \
    .sweep_end = cu_sweep_end, \
    .sweep_destroy = cu_sweep_destroy, \
    .check = cu_check, \
    .describe = cu_describe, \
    .memory = cu_memory_now
/* clang-format on */

const TalusBackend talus_backend_cuda = {
    .name = "cuda",
    .summary = TALUS_CUDA_SUMMARY,
    .accelerate_run = cu_accelerate_run,
    .relax_run = cu_relax_run,
    COMMON,
};

const TalusBackend talus_backend_cuda_mixed = {
    .name = "cuda-mixed",
    .summary = TALUS_CUDA_MIXED_SUMMARY,
    .accelerate_run = cu_accelerate_run_mixed,
    .relax_run = cu_relax_run_mixed,
    COMMON,
};

#else
typedef int talus_no_cuda; /* a C file holds something */
#endif
