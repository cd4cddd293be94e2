/* problem/diagonal.c - each block's own part of N: its diagonal, and a bound on the rest. */
#include "problem/problem.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* Adds one side's part of the 3x3 block: (arm x e_k)' inertia (arm x e_l) + delta_kl / m. */
static void add_side(const TalusOperator *op, int body, const double arm[3], TalusVec3 axes[3],
                     double block[3][3])
{
    TalusSym3 inertia;
    TalusVec3 lever[3], arm3 = talus_vec3(arm[0], arm[1], arm[2]);
    memcpy(&inertia, op->inertia[body], sizeof inertia);
    for (int k = 0; k < 3; k++)
        lever[k] = talus_cross(arm3, axes[k]);
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
            block[k][l] += talus_dot(lever[k], talus_sym3_mul(inertia, lever[l])) +
                           (k == l ? op->body[body][3] : 0.0);
}

static void general_block(const TalusOperator *op, int i, double block[3][3])
{
    const double *arm = op->arm[i - op->sphere_sphere - op->sphere_fixed];
    TalusVec3 axes[3];
    for (int k = 0; k < 3; k++) {
        double local[3] = {k == 0, k == 1, k == 2}, world[3];
        talus_frame_world(op->frame[i], local, world);
        axes[k] = talus_vec3(world[0], world[1], world[2]);
    }
    memset(block, 0, 9 * sizeof(double));
    add_side(op, op->pair[i][0], arm, axes, block);
    if (op->pair[i][1] >= 0)
        add_side(op, op->pair[i][1], arm + 3, axes, block);
}

static void explicit_block(const TalusOperator *op, int i, double block[3][3])
{
    memset(block, 0, 9 * sizeof(double));
    for (int k = 0; k < op->rows; k++) {
        int row = i * op->rows + k;
        for (int32_t e = op->row_start[row]; e < op->row_start[row + 1]; e++)
            if (op->column[e] / op->rows == i)
                block[k][op->column[e] % op->rows] += op->values[e];
    }
}

/* Largest row sum of D^-1/2 B D^-1/2, D = diag(nn, tt, tt): bounds its eigenvalues (Gershgorin). */
static double coupling_of(double block[3][3], int rows, double nn, double tt)
{
    double largest = 1.0;
    for (int k = 0; k < rows; k++) {
        double sum = 0.0;
        for (int l = 0; l < rows; l++)
            sum += fabs(block[k][l]) / sqrt((k ? tt : nn) * (l ? tt : nn));
        largest = sum > largest ? sum : largest;
    }
    return largest;
}

static void sphere_diagonal(TalusOperator *op, int i)
{
    const double *a = op->body[op->pair[i][0]];
    double nn = a[3], k = a[7];
    if (i < op->sphere_sphere) {
        const double *b = op->body[op->pair[i][1]];
        nn += b[3];
        k += b[7];
    }
    op->diagonal[i][0] = nn + (op->compliance ? op->compliance[i] : 0.0);
    op->diagonal[i][1] = nn + k;
}

static void block_diagonal(TalusOperator *op, int i, double *coupling)
{
    double block[3][3];
    if (op->pair)
        general_block(op, i, block);
    else
        explicit_block(op, i, block);
    if (op->compliance)
        block[0][0] += op->compliance[i];
    double nn = block[0][0], tt = 0.5 * (block[1][1] + block[2][2]);
    if (op->rows == 1 || !(tt > 0.0))
        tt = nn;
    op->diagonal[i][0] = nn;
    op->diagonal[i][1] = tt;
    *coupling = coupling_of(block, op->rows, nn, tt);
}

static void diagonal_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusOperator *op = context;
    int spheres = op->pair ? op->sphere_sphere + op->sphere_fixed : 0;
    (void)chunk;
    for (int i = (int)begin; i < (int)end; i++)
        if (i < spheres)
            sphere_diagonal(op, i);
        else
            block_diagonal(op, i, &op->coupling[i - spheres]);
}

TalusStatus talus_problem_diagonals(TalusProblem *p)
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
