/* problem/jacobian.h - D' of a problem with bodies as a sparse matrix, and the bodies' masses.
 *
 * Columns of D' are velocities of bodies in the units of operator.h, v and s = l w, all in m/s, in groups of three:
 * body by body, in the order of their numbers (TalusBodyNumbers), one group if the body can translate, then one if it can
 * rotate.
 *     u = D'v + bias,   N = D' M^-1 D,   v = v_f + M^-1 D gamma. */
#ifndef TALUS_PROBLEM_JACOBIAN_H
#define TALUS_PROBLEM_JACOBIAN_H

#include "problem/problem.h"

/* Writes to arm[op->rows] the rows of contact i in D', the parts on its body a (side 0) or b (side 1). */
static inline void talus_jacobian_rows(const TalusOperator *op, int i, int side,
                                       TalusJacobianRow *arm)
{
    for (int k = 0; k < op->rows; k++)
        talus_block_jacobian_row(op, i, side, k, arm[k]);
}

/* D' as a sparse matrix, with the masses and free velocities of the groups that its columns belong to. */
typedef struct TalusJacobian {
    int groups;                /* number of groups of 3 unknowns */
    int32_t *body;             /* [groups]: body of each group */
    uint8_t *turns;            /* [groups]: 1 for the spin, 0 for the velocity */
    TalusSym3 *mass, *inverse; /* [groups]: blocks of M and M^-1 */
    double *free_velocity;     /* [3 groups]: v_f */
    TalusSparse transposed;    /* D': a row per entry of gamma, columns rising */
} TalusJacobian;

/* Fills *j, which starts as zeros, from the host's arrays of a matrix-free problem; may be called again. Fails for an
 * explicit problem and for a body whose inverse inertia is singular but not zero. */
TalusStatus talus_jacobian_fill(TalusJacobian *j, const TalusProblem *problem);
/* Frees the arrays of j and sets it to zeros. */
void talus_jacobian_clear(TalusJacobian *j);

/* y = M^-1 x; x and y may be the same. */
void talus_jacobian_divide_by_mass(const TalusJacobian *j, const double *x, double *y);

#endif
