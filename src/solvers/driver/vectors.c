/* solvers/driver/vectors.c - vectors of a solver's workspace in the backend's memory, and its metric (solver.h). */
#include "solvers/driver/session.h"

#include "base/status.h"

const char *const talus_metric_names[] = {"trace", "anisotropic", NULL};

/* Reserves n entries in the backend's memory for v, which enters the list of the current solver if it is in none. */
static TalusStatus reserve_block(TalusSolve *solve, TalusVectors *v, size_t n, const char *what)
{
    if (!v->is_listed) {
        v->is_listed = true;
        v->next = solve->solver->vectors;
        solve->solver->vectors = v;
    }
    return solve->backend->vector.reserve(solve->op, &v->block, &v->capacity, n, what);
}

/* Returns the number of entries from one vector to the next: a multiple of 256 bytes, so that each vector begins at a
 * line of the device's memory. */
static size_t vector_stride(const TalusSolve *solve)
{
    return ((size_t)talus_problem_size(solve->problem) + 31) / 32 * 32;
}

TalusStatus talus_vectors_reserve(TalusSolve *solve, TalusVectors *v, int count, double **vector,
                                  const char *what)
{
    const size_t stride = vector_stride(solve);
    TALUS_TRY(reserve_block(solve, v, (size_t)count * stride, what));
    for (int k = 0; k < count; k++)
        vector[k] = v->block + (size_t)k * stride;
    return TALUS_OK;
}

TalusStatus talus_vectors_reserve_each(TalusSolve *solve, TalusVectors *v, const char *what,
                                       int count, double **const *pointer)
{
    const size_t stride = vector_stride(solve);
    TALUS_TRY(reserve_block(solve, v, (size_t)count * stride, what));
    for (int k = 0; k < count; k++)
        *pointer[k] = v->block + (size_t)k * stride;
    return TALUS_OK;
}

void talus_vectors_release(const TalusBackend *backend, TalusVectors *v)
{
    backend->vector.release(v->block);
    v->block = NULL;
    v->capacity = 0;
}

void talus_vector_copy(TalusSolve *solve, const double *from, double *to)
{
    const double one = 1.0;
    solve->backend->vector.combine(solve->op, 1, &from, &one, to);
}

TalusStatus talus_solver_make_metric(TalusSolve *solve, TalusMetric kind, TalusVectors *v,
                                     const TalusMetricBlock **out)
{
    TALUS_TRY(reserve_block(solve, v, (size_t)solve->op->blocks * (sizeof **out / sizeof(double)),
                            "metric"));
    TalusMetricBlock *metric = (TalusMetricBlock *)v->block;
    solve->backend->op.fill_metric(solve->op, kind, metric);
    *out = (const TalusMetricBlock *)metric;
    return TALUS_OK;
}
