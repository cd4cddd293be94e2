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

/* block_diagonal of general contacts i and i + 1 of three rows, side by side in lanes; the same numbers. The bound of
 * eigenvalues is a chain of roots and divisions, for which the processor would wait. */
static void two_block_diagonals(TalusOperator *op, int i, double coupling[2])
{
    double block[2][9];
    for (int k = 0; k < 2; k++)
        fill_general_of_three(op, i + k, block[k]);
    Lane b[9];
    for (int k = 0; k < 9; k++)
        b[k] = (Lane){block[0][k], block[1][k]};
    Lane nn = b[0], tt = 0.5 * ((0.0 + b[4]) + b[8]);
    if (op->compliance)
        nn += lane_load(&op->compliance[i]);
    tt = lane_select(tt > 0.0, tt, nn);
    Lane k2 = (b[1] * b[1] + b[2] * b[2]) / (nn * tt), half = 0.5 * (b[4] - b[8]);
    Lane spread = lane_sqrt(half * half + b[5] * b[5]) / tt;
    lane_store(coupling, 1.0 + 0.5 * (spread + lane_sqrt(spread * spread + 4.0 * k2)));
    lane_store(op->diagonal[i], lane_low(nn, tt));
    lane_store(op->diagonal[i + 1], lane_high(nn, tt));
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
    int spheres = op->pair ? op->sphere_sphere + op->sphere_fixed : 0, i = (int)begin;
    (void)chunk;
    for (; i < (int)end && i < spheres; i++)
        talus_sphere_fill_diagonal(op, i);
    for (; op->pair && op->rows == 3 && i + 2 <= (int)end; i += 2) {
        for (int k = BLOCKS_AHEAD; k < BLOCKS_AHEAD + 2 && i + k < (int)end; k++)
            prefetch_second_body(op, i + k);
        two_block_diagonals(op, i, &op->coupling[i - spheres]);
    }
    for (; i < (int)end; i++)
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
