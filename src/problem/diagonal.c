/* problem/diagonal.c - computes op->diagonal, the diagonal entries of N + E, and op->coupling, a divisor of the steps
 * of sweeps (backend/operator.h). */
#include "problem/problem.h"

#include "backend/block.h"

#include "base/lane.h"
#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* Blocks between the one that is computed and the one whose second body is fetched. */
enum { BLOCKS_AHEAD = 6 };

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

/* talus_block_fill_general for three rows, with the parts of both bodies side by side in lanes; the same numbers. */
static void fill_general_of_three(const TalusOperator *op, int i, double block[9])
{
    static const double none[6];
    const double *arm = op->arm[i - op->sphere_sphere - op->sphere_fixed];
    const int a = op->pair[i][0], b = op->pair[i][1];
    const double *of_b = b >= 0 ? op->inverse_inertia[b] : none;
    Lane inertia[6], r[3], turn[3][3], turned[3][3];
    Lane inv_mass = {op->body[a][3], b >= 0 ? op->body[b][3] : 0.0};
    lane_gather(op->inverse_inertia[a], of_b, 3, inertia);
    for (int k = 0; k < 3; k++)
        r[k] = (Lane){arm[k], arm[3 + k]};
    double axes[3][3];
    talus_frame_axes(op->frame[i], axes);
    for (int k = 0; k < 3; k++) {
        const Lane axis[3] = {lane(axes[k][0]), lane(axes[k][1]), lane(axes[k][2])}, *t = turn[k];
        lane_cross(r, axis, turn[k]);
        turned[k][0] = inertia[0] * t[0] + inertia[3] * t[1] + inertia[4] * t[2];
        turned[k][1] = inertia[3] * t[0] + inertia[1] * t[1] + inertia[5] * t[2];
        turned[k][2] = inertia[4] * t[0] + inertia[5] * t[1] + inertia[2] * t[2];
    }
    for (int k = 0; k < 3; k++)
        for (int l = k; l < 3; l++) {
            Lane part = lane_dot(turn[k], turned[l]) + (k == l ? inv_mass : lane(0.0));
            block[3 * k + l] = block[3 * l + k] = (0.0 + part[0]) + part[1];
        }
}

/* Writes op->diagonal[i] and *coupling of a general contact or explicit block. */
static void block_diagonal(TalusOperator *op, int i, double *coupling)
{
    double block[36];
    if (op->pair && op->rows == 6) /* constant sizes, so that loops are unrolled */
        talus_block_fill_general(op, i, 6, block);
    else if (op->pair)
        fill_general_of_three(op, i, block);
    else
        explicit_block(op, i, op->rows == 6 ? 6 : 3, block);
    if (op->rows == 6)
        talus_block_fill_diagonal(op, i, 6, block, coupling);
    else
        talus_block_fill_diagonal(op, i, 3, block, coupling);
}

/* Fetches the second body of block i, if it has one: second bodies are scattered. */
static inline void prefetch_second_body(const TalusOperator *op, int i)
{
    int b = op->pair[i][1];
    if (b < 0)
        return;
    __builtin_prefetch(op->body[b]);
    __builtin_prefetch(op->inverse_inertia[b]);
}

/* Writes op->diagonal and op->coupling of blocks [begin, end). */
static void diagonal_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusOperator *op = context;
    int spheres = op->pair ? op->sphere_sphere + op->sphere_fixed : 0;
    (void)chunk;
    for (int i = (int)begin; i < (int)end; i++) {
        if (op->pair && op->inverse_inertia && i + BLOCKS_AHEAD < (int)end)
            prefetch_second_body(op, i + BLOCKS_AHEAD);
        if (i < spheres)
            talus_sphere_fill_diagonal(op, i);
        else
            block_diagonal(op, i, &op->coupling[i - spheres]);
    }
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
