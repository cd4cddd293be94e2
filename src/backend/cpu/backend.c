/* backend/cpu/backend.c - the table of the CPU backend, and its vectors. */
#include "backend/cpu/cpu.h"

#include "base/memory.h"

#include <string.h>

static TalusStatus vector_reserve(const TalusOperator *op, double **vector, size_t *capacity,
                                  size_t n, const char *what)
{
    (void)op;
    TalusStatus status = TALUS_GROW(*vector, n, 0, what);
    *capacity = TALUS_CAPACITY(*vector);
    return status;
}

static void vector_release(double *vector)
{
    talus_release(vector);
}

static void vector_copy(const TalusOperator *op, double *to, const double *from, size_t n)
{
    (void)op;
    memcpy(to, from, n * sizeof *to);
}

static void vector_zero(const TalusOperator *op, double *vector, size_t n)
{
    (void)op;
    memset(vector, 0, n * sizeof *vector);
}

static TalusStatus fine(void)
{
    return TALUS_OK;
}

/* The operator owns pool and scratch, so a context holds nothing. */
static TalusStatus context_create(TalusContext **out)
{
    *out = NULL;
    return TALUS_OK;
}

static void context_destroy(TalusContext *context)
{
    (void)context;
}

static TalusStatus check(TalusContext *context)
{
    (void)context;
    return TALUS_OK;
}

const TalusBackend talus_backend_cpu = {
    .name = "cpu",
    .summary = "threads and vector units of this machine, double precision, bitwise reproducible",
    .capabilities = TALUS_CAP_HOST_MEMORY | TALUS_CAP_SEES_ITERATES | TALUS_CAP_FACTORISES,
    .open = fine,
    .context_create = context_create,
    .context_destroy = context_destroy,
    .check = check,
    .vector =
        {
            .reserve = vector_reserve,
            .release = vector_release,
            .put = vector_copy,
            .get = vector_copy,
            .copy = vector_copy,
            .zero = vector_zero,
            .dot = talus_cpu_dot,
            .dots = talus_cpu_dots,
            .axpby = talus_cpu_axpby,
            .combine = talus_cpu_combine,
        },
    .op =
        {
            .scratch = talus_cpu_scratch,
            .bodies = talus_cpu_bodies,
            .product = talus_cpu_product,
            .gradient = talus_cpu_gradient,
            .residual = talus_cpu_residual,
            .terms = talus_cpu_terms,
            .metric = talus_cpu_metric,
            .scale = talus_cpu_scale,
            .sizes = talus_cpu_sizes,
        },
    .block =
        {
            .project = talus_cpu_project,
            .forward_backward = talus_cpu_forward_backward,
            .split = talus_cpu_split,
            .mask = talus_cpu_mask,
            .tangent = talus_cpu_tangent,
            .feasible_step = talus_cpu_feasible_step,
            .compare = talus_cpu_compare,
            .recede = talus_cpu_recede,
            .recede_span = talus_cpu_recede_span,
        },
    .law =
        {
            .measure = talus_cpu_law_measure,
            .shift = talus_cpu_law_shift,
            .unshift = talus_cpu_law_unshift,
            .estimate = talus_cpu_law_estimate,
        },
    .sweep =
        {
            .begin = talus_cpu_sweep_begin,
            .run = talus_cpu_sweep_run,
            .end = talus_cpu_sweep_end,
            .destroy = talus_cpu_sweep_destroy,
        },
    .step =
        {
            .relax = talus_cpu_relax,
            .accelerate = talus_cpu_accelerate,
            .quasi_direction = talus_cpu_quasi_direction,
            .quasi_step = talus_cpu_quasi_step,
            .quasi_smooth = talus_cpu_quasi_smooth,
            .ogm = talus_cpu_ogm_step,
        },
    .joint =
        {
            .rows = talus_cpu_joint_rows,
            .take_out = talus_cpu_joint_take_out,
            .recover = talus_cpu_joint_recover,
        },
};
