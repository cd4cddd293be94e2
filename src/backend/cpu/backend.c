/* backend/cpu/backend.c - the table of the CPU backend, and its vectors. */
#include "backend/cpu/accelerate_single.h"

#include "base/memory.h"

#include <string.h>

TalusStatus talus_cpu_vector_reserve(const TalusOperator *op, double **vector, size_t *capacity,
                                     size_t n, const char *what)
{
    (void)op;
    TalusStatus status = TALUS_GROW(*vector, n, 0, what);
    *capacity = TALUS_CAPACITY(*vector);
    return status;
}

void talus_cpu_vector_release(double *vector)
{
    talus_release(vector);
}

void talus_cpu_vector_copy(const TalusOperator *op, double *to, const double *from, size_t n)
{
    (void)op;
    memcpy(to, from, n * sizeof *to);
}

void talus_cpu_vector_put(const TalusOperator *op, double *vector, const double *host, size_t n)
{
    talus_cpu_vector_copy(op, vector, host, n);
}

void talus_cpu_vector_get(const TalusOperator *op, double *host, const double *vector, size_t n)
{
    talus_cpu_vector_copy(op, host, vector, n);
}

void talus_cpu_vector_zero(const TalusOperator *op, double *vector, size_t n)
{
    (void)op;
    memset(vector, 0, n * sizeof *vector);
}

static TalusStatus open_always(void)
{
    return TALUS_OK;
}

static TalusStatus report_no_error(TalusContext *context)
{
    (void)context;
    return TALUS_OK;
}

const TalusBackend talus_backend_cpu = {
    .name = "cpu",
    .summary =
        "threads and vector units of this machine, double precision (single within solves of "
        "loose steps), bitwise reproducible",
    .capabilities = TALUS_CAP_HOST_MEMORY | TALUS_CAP_SEES_ITERATES | TALUS_CAP_FACTORISES,
    .open = open_always,
    .check = report_no_error,
#define OPERATION(result, group, name, arguments) .group.name = talus_cpu_##group##_##name,
#define OPTIONAL(result, group, name, arguments)
#include "backend/operations.h"
    .run = {.accelerate = talus_cpu_run_accelerate,
            .write_back = talus_cpu_run_write_back,
            .widen = talus_cpu_run_widen},
};
