/* backend/cpu/vector.c - vector operations; sums are over groups of blocks (backend/groups.h). */
#include "backend/cpu/cpu.h"
#include "backend/groups.h"
#include "backend/random.h"

#include <string.h>

/* Arguments of the loops below; each operation sets the members that its loop reads. */
typedef struct VectorPass {
    const double *x;     /* of dot and axpby */
    double *y;           /* the vector that axpby and scale change */
    const double *other; /* second vector of dot */
    double a, b;         /* factors of axpby */
    double *partial;     /* sums by group */
    const TalusMetricBlock *metric;
    int rows;
    bool into; /* of scale */
} VectorPass;

/* Returns x'y over n entries. Four running sums hide the adder's latency and have a fixed order. */
static double dot(int64_t n, const double *x, const double *y)
{
    double s[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            s[k] += x[i + k] * y[i + k];
    for (; i < n; i++)
        s[0] += x[i] * y[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* Stores x'y over the blocks [begin, end) of one group. */
static void dot_group(void *context, int64_t begin, int64_t end, int64_t group)
{
    const VectorPass *pass = context;
    const int64_t first = begin * pass->rows, n = (end - begin) * pass->rows;
    pass->partial[group] = dot(n, pass->x + first, pass->other + first);
}

double talus_cpu_vector_dot(const TalusOperator *op, const double *x, const double *y)
{
    VectorPass pass = {.x = x, .other = y, .partial = op->scratch->partial, .rows = op->rows};
    talus_cpu_for_each_group(op, dot_group, &pass);
    double sum;
    talus_cpu_sum_groups(op, 1, pass.partial, &sum);
    return sum;
}

/* Arguments of randomise_chunk. */
typedef struct RandomPass {
    const TalusOperator *op;
    double *x;
} RandomPass;

/* talus_cpu_vector_randomise for the blocks [begin, end). */
static void randomise_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const RandomPass *pass = context;
    const TalusOperator *op = pass->op;
    const TalusContactKeys keys = talus_contact_keys(op);
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        uint64_t key = talus_random_key(&keys, (int)i);
        for (int k = 0; k < op->rows; k++)
            pass->x[i * op->rows + k] = talus_random_entry(key, k);
    }
}

void talus_cpu_vector_randomise(const TalusOperator *op, double *x)
{
    RandomPass pass = {op, x};
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, randomise_chunk, &pass);
}

/* talus_cpu_vector_axpby for entries [begin, end). */
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

/* Divides the blocks [begin, end) of y by the metric if `into`, else multiplies them. */
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

/* Arguments of the loops over several vectors: of vector.dots and vector.combine. */
typedef struct ManyPass {
    const double *const *x;
    const double *y, *a;
    double *out, *partial;
    int64_t groups;
    int count, rows;
} ManyPass;

/* Stores x[v]'y of every vector v over the blocks [begin, end) of one group. */
static void dots_group(void *context, int64_t begin, int64_t end, int64_t group)
{
    const ManyPass *pass = context;
    const int64_t first = begin * pass->rows, n = (end - begin) * pass->rows;
    for (int v = 0; v < pass->count; v++)
        pass->partial[v * pass->groups + group] = dot(n, pass->x[v] + first, pass->y + first);
}

void talus_cpu_vector_dots(const TalusOperator *op, int count, const double *const *x,
                           const double *y, double *sums)
{
    ManyPass pass = {.x = x,
                     .y = y,
                     .partial = op->scratch->vector_partial,
                     .groups = talus_cpu_group_count(op),
                     .count = count,
                     .rows = op->rows};
    talus_cpu_for_each_group(op, dots_group, &pass);
    talus_cpu_sum_groups(op, count, pass.partial, sums);
}

/* out = sum of a[v] x[v] for entries [begin, end), in pieces that stay in the first-level cache while the terms of all
 * vectors are added. */
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
