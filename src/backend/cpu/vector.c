/* backend/cpu/vector.c - vector operations whose sums do not depend on the number of threads. */
#include "backend/cpu/cpu.h"

#include <string.h>

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

/* partial[chunk] = x'other of a chunk. Four running sums hide the adder's latency and have a fixed order. */
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

double talus_cpu_vector_dot(const TalusOperator *op, const double *x, const double *y)
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

void talus_cpu_vector_axpby(const TalusOperator *op, double a, const double *x, double b, double *y)
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

void talus_cpu_op_scale(const TalusOperator *op, const TalusMetricBlock *metric, bool into,
                        double *x)
{
    VectorPass pass = {.y = x, .metric = metric, .rows = op->rows, .into = into};
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, scale_chunk, &pass);
}

typedef struct ManyPass {
    const double *const *x;
    const double *y, *a;
    double *out, *partial;
    int64_t chunks;
    int count;
} ManyPass;

static void dots_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const ManyPass *pass = context;
    for (int v = 0; v < pass->count; v++) {
        VectorPass one = {
            .x = pass->x[v], .other = pass->y, .partial = pass->partial + v * pass->chunks};
        dot_chunk(&one, begin, end, chunk);
    }
}

void talus_cpu_vector_dots(const TalusOperator *op, int count, const double *const *x,
                           const double *y, double *sums)
{
    int64_t n = (int64_t)op->rows * op->blocks, chunks = talus_chunks(n, VECTOR_GRAIN);
    ManyPass pass = {
        .x = x, .y = y, .partial = op->scratch->many, .count = count, .chunks = chunks};
    talus_parallel(op->pool, n, VECTOR_GRAIN, dots_chunk, &pass);
    for (int v = 0; v < count; v++) {
        sums[v] = 0.0;
        for (int64_t i = 0; i < chunks; i++)
            sums[v] += pass.partial[v * chunks + i];
    }
}

/* A piece of the result stays in the first-level cache while all vectors pass over it. */
static void combine_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    enum { PIECE = 512 };
    const ManyPass *pass = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i += PIECE) {
        double sum[PIECE] = {0.0};
        int64_t length = end - i < PIECE ? end - i : PIECE;
        for (int v = 0; v < pass->count; v++)
            for (int64_t k = 0; k < length; k++)
                sum[k] += pass->a[v] * pass->x[v][i + k];
        memcpy(pass->out + i, sum, (size_t)length * sizeof *sum);
    }
}

void talus_cpu_vector_combine(const TalusOperator *op, int count, const double *const *x,
                              const double *a, double *out)
{
    ManyPass pass = {.x = x, .a = a, .out = out, .count = count};
    talus_parallel(op->pool, (int64_t)op->rows * op->blocks, VECTOR_GRAIN, combine_chunk, &pass);
}
