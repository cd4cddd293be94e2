/* backend/cpu/recede.c - projection onto recession cones (directions in which impulses can grow without bound) and onto
 * their linear spans, block by block for all sets: for the search for a certificate. */
#include "backend/cpu/general.h"

#include "sets/recession.h"

#include <string.h>

/* Context of the two loops over blocks. */
typedef struct Pass {
    const TalusOperator *op;
    bool relaxed;
    double least;    /* of project_recession: blocks with a norm of at most this become 0 */
    const double *x; /* of project_recession_span: `out` becomes 0 in blocks where x is 0 */
    double *out;
} Pass;

/* Returns |x|^2 of a block. */
static double norm2(int rows, const double *x)
{
    double sum = 0.0;
    for (int k = 0; k < rows; k++)
        sum += x[k] * x[k];
    return sum;
}

/* Returns the set of block i whose recession cone is wanted. Blocks under `fixed` are prisms, in which only the normal
 * impulse can grow without bound; blocks under Coulomb's law are cones if pass->relaxed, else prisms. */
static TalusSet recession_set(const Pass *pass, int64_t i)
{
    return talus_set_of_block(pass->op, i, !pass->relaxed, NULL);
}

/* talus_cpu_block_project_recession for blocks [begin, end). */
static void project_recession_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    const int rows = pass->op->rows;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        TalusSet set = recession_set(pass, i);
        double *x = pass->out + i * rows;
        talus_recession_project(rows, &set, x);
        if (norm2(rows, x) <= pass->least * pass->least)
            memset(x, 0, (size_t)rows * sizeof *x);
    }
}

void talus_cpu_block_project_recession(const TalusOperator *op, bool relaxed, double least,
                                       double *x)
{
    Pass pass = {.op = op, .relaxed = relaxed, .least = least, .out = x};
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, project_recession_chunk, &pass);
}

/* talus_cpu_block_project_recession_span for blocks [begin, end). */
static void project_span_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    const int rows = pass->op->rows;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        TalusSet set = recession_set(pass, i);
        double *y = pass->out + i * rows;
        if (norm2(rows, pass->x + i * rows) > 0.0)
            talus_recession_span(rows, &set, y);
        else
            memset(y, 0, (size_t)rows * sizeof *y);
    }
}

void talus_cpu_block_project_recession_span(const TalusOperator *op, bool relaxed, const double *x,
                                            double *y)
{
    Pass pass = {.op = op, .relaxed = relaxed, .x = x, .out = y};
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, project_span_chunk, &pass);
}
