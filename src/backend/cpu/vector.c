/* backend/cpu/vector.c - vector operations with sums that do not depend on threads. */
#include "backend/cpu/cpu.h"

typedef struct VectorPass {
    const double *x;
    double *y;
    const double *other;
    double a, b;
    double *partial;
    const TalusMetricBlock *metric;
    int rows;
    bool into;
} VectorPass;

/* Four running sums: enough for the adder's latency, and a fixed order. */
static void dot_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const VectorPass *pass = context;
    double s[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t i = begin;
    for (; i + 4 <= end; i += 4)
        for (int k = 0; k < 4; k++)
            s[k] += pass->x[i + k] * pass->other[i + k];
    for (; i < end; i++)
        s[0] += pass->x[i] * pass->other[i];
    pass->partial[chunk] = (s[0] + s[1]) + (s[2] + s[3]);
}

double talus_cpu_dot(const TalusOperator *op, const double *x, const double *y)
{
    int64_t n = (int64_t)op->rows * op->blocks;
    VectorPass pass = {.x = x, .other = y, .partial = op->scratch->partial};
    talus_parallel(op->pool, n, VECTOR_GRAIN, dot_chunk, &pass);
    double sum = 0.0;
    for (int64_t i = 0; i < talus_chunks(n, VECTOR_GRAIN); i++)
        sum += pass.partial[i];
    return sum;
}

static void axpby_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const VectorPass *pass = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        pass->y[i] = pass->a * pass->x[i] + pass->b * pass->y[i];
}

void talus_cpu_axpby(const TalusOperator *op, double a, const double *x, double b, double *y)
{
    VectorPass pass = {.x = x, .y = y, .a = a, .b = b};
    talus_parallel(op->pool, (int64_t)op->rows * op->blocks, VECTOR_GRAIN, axpby_chunk, &pass);
}

static void scale_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const VectorPass *pass = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < pass->rows; k++) {
            double s = pass->metric[i][k > 0];
            double *x = &pass->y[i * pass->rows + k];
            *x = pass->into ? *x / s : *x * s;
        }
}

void talus_cpu_scale(const TalusOperator *op, const TalusMetricBlock *metric, bool into, double *x)
{
    VectorPass pass = {.y = x, .metric = metric, .rows = op->rows, .into = into};
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, scale_chunk, &pass);
}
