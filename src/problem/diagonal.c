/* problem/diagonal.c - computes op->diagonal, the diagonal entries of N + E, and op->coupling, a divisor of the steps
 * of sweeps (backend/operator.h). */
#include "problem/problem.h"

#include "backend/block.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* Writes diagonal block i of an explicit N into the upper left of the size x size array `block`; the rest is 0. */
static void explicit_block(const TalusOperator *op, int i, int size, double *block)
{
    memset(block, 0, (size_t)(size * size) * sizeof *block);
    for (int k = 0; k < op->rows; k++) {
        int row = i * op->rows + k;
        for (int32_t e = op->row_start[row]; e < op->row_start[row + 1]; e++)
            if (op->column[e] / op->rows == i)
                block[k * size + op->column[e] % op->rows] += op->values[e];
    }
}

/* Writes op->diagonal[i] and *coupling of a general contact or explicit block. */
static void block_diagonal(TalusOperator *op, int i, double *coupling)
{
    double block[36];
    if (op->pair && op->rows == 6) /* constant sizes, so that loops are unrolled */
        talus_block_fill_general(op, i, 6, block);
    else if (op->pair)
        talus_block_fill_general(op, i, 3, block);
    else
        explicit_block(op, i, op->rows == 6 ? 6 : 3, block);
    if (op->rows == 6)
        talus_block_fill_diagonal(op, i, 6, block, coupling);
    else
        talus_block_fill_diagonal(op, i, 3, block, coupling);
}

/* Writes op->diagonal and op->coupling of blocks [begin, end). */
static void diagonal_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusOperator *op = context;
    int spheres = op->pair ? op->sphere_sphere + op->sphere_fixed : 0;
    (void)chunk;
    for (int i = (int)begin; i < (int)end; i++)
        if (i < spheres)
            talus_sphere_fill_diagonal(op, i);
        else
            block_diagonal(op, i, &op->coupling[i - spheres]);
}

TalusStatus talus_problem_fill_diagonals(TalusProblem *p)
{
    talus_parallel(p->op.pool, p->op.blocks, BLOCK_GRAIN, diagonal_chunk, &p->op);
    for (int i = 0; i < p->op.blocks; i++)
        if (!(p->op.diagonal[i][0] > 0.0) || !isfinite(p->op.diagonal[i][0]))
            return talus_fail(
                TALUS_ERR_ARGUMENT,
                "problem: block %d has the diagonal entry %g, expected a positive one", i,
                p->op.diagonal[i][0]);
    return TALUS_OK;
}
