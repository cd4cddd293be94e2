/* problem/jacobian.h - D' of a problem with bodies as a sparse matrix, and the bodies' masses.
 *
 * Unknowns are velocities in the units of operator.h, v and s = l w, all in m/s, in groups of three: one of
 * each body that can be moved, one of each that can be turned, bodies in order. Others have none.
 *     u = D'v + bias,   N = D' M^-1 D,   v = v_f + M^-1 D gamma. */
#ifndef TALUS_PROBLEM_JACOBIAN_H
#define TALUS_PROBLEM_JACOBIAN_H

#include "problem/problem.h"

/* The rows of contact i on its body a (side 0) or b (side 1). */
static inline void talus_jacobian_arms(const TalusOperator *op, int i, int side, TalusArm *arm)
{
    for (int k = 0; k < op->rows; k++)
        talus_block_arm(op, i, side, k, arm[k]);
}

typedef struct TalusJacobian {
    int groups;                /* 3 unknowns each */
    int32_t *body;             /* [groups] */
    uint8_t *turns;            /* [groups]: whether it is the spin */
    TalusSym3 *mass, *inverse; /* [groups]: of M and of M^-1 */
    double *free_velocity;     /* [3 groups] */
    TalusSparse transposed;    /* D': a row per entry of gamma, columns rising */
} TalusJacobian;

/* Of a matrix-free problem, from the host's arrays; one given as a matrix is refused, as is a body with an
 * inverse inertia that is singular but not zero. May be filled again. */
TalusStatus talus_jacobian_fill(TalusJacobian *j, const TalusProblem *problem);
void talus_jacobian_clear(TalusJacobian *j);

/* y = M^-1 x, y = M x; in place as well. */
void talus_jacobian_divide(const TalusJacobian *j, const double *x, double *y);
void talus_jacobian_weigh(const TalusJacobian *j, const double *x, double *y);

#endif
