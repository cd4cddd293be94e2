/* solvers/ipm/ipm_schur.h - the equations of free joints in the normal form: petra-2009 Eq. 34 and 35.
 *
 * With M1 the matrix of ipm_chol.c, A_j the rows of free joints in A and T_j their entries of T (ipm_system.h),
 * compliance included, the unknowns are velocities v and the joints' multipliers y:
 *     M1 v - A_j' y = r,   A_j v + T_j y = r_j,
 * which two factors solve:
 *     M2 y = r_j - A_j M1^-1 r,   M2 = A_j M1^-1 A_j' + T_j        (34)
 *     M1 v = r + A_j' y                                            (35)
 * The paper's T_j is 0 for rigid joints. Here it is the floor of ipm_system.h, so M2 is positive definite even if
 * equations imply each other.
 *
 * Entry (k, l) of M2 is not 0 only if contacts connect some body of row k with some body of row l, or if they share
 * one. M2 has these entries: joints of machines that no contact connects leave M2 sparse; one heap makes it full. M2
 * takes one solution with M1's factor per equation and factorisation. Without equations all functions do what M1 alone
 * needs. */
#ifndef TALUS_SOLVERS_IPM_IPM_SCHUR_H
#define TALUS_SOLVERS_IPM_IPM_SCHUR_H

#include "linalg/direct.h"
#include "problem/qp.h"

typedef struct TalusIpmSchur {
    int rows;            /* number of equations */
    TalusDirect *direct; /* factorisation of `lower`; NULL until there are equations */
    TalusSparse lower;   /* lower triangle of M2 */
    double *velocity;    /* [unknowns]: a column of M1^-1 A_j', later r */
} TalusIpmSchur;

/* Sets up pattern, memory and analysis. graph: lower triangle, with diagonal, of pairs of groups (TalusJacobian) that
 * M1 couples. TALUS_ERR_UNSUPPORTED: M2 has too many entries. */
TalusStatus talus_ipm_schur_prepare(TalusIpmSchur *c, const TalusQp *qp, const TalusSparse *graph,
                                    TalusDirectKind kind);
/* Computes and factorises M2 with m1, the factor of M1 / mass. t: T times mass, [multipliers]. TALUS_ERR_NUMERIC: a
 * pivot was rejected. */
TalusStatus talus_ipm_schur_factor(TalusIpmSchur *c, const TalusQp *qp, TalusDirect *m1,
                                   double mass, const double *t);
/* v: r, becomes v. y: r_j, becomes y. */
TalusStatus talus_ipm_schur_solve(TalusIpmSchur *c, const TalusQp *qp, TalusDirect *m1, double *v,
                                  double *y);
/* Releases the memory and zeroes *c. */
void talus_ipm_schur_clear(TalusIpmSchur *c);

#endif
