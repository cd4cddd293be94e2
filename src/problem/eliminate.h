/* problem/eliminate.h - a problem with its free joints eliminated by a direct solution.
 *
 * With c the contacts (and all other blocks with bounds) and j the trailing free joints, N = [Ncc Ncj; Njc Njj]:
 *     gamma_j = -A^-1 (q_j + Njc gamma_c),   A = Njj + Ej,
 * so that only contacts remain, with Ncc - Ncj A^-1 Njc for N. The reduced operator is the problem's own with its
 * arrays shortened by the joints. Whenever the bodies' velocities have been gathered, they are made to satisfy the
 * joints: v -= M^-1 Dj A^-1 (Dj' v + b_j) (linalg/eliminate.h). Every product of a solver is then of the reduced
 * problem, and its velocities are those of the whole.
 *
 * Diagonals are exactly those of the reduced operator, except for a contact between two bodies of one machine, where
 * the coupling of the two through joints is left out: the true value is at most twice as large. There is no `coupling`,
 * hence no sweeps. Factors are computed on the host; arrays are in the backend's memory. */
#ifndef TALUS_PROBLEM_ELIMINATE_H
#define TALUS_PROBLEM_ELIMINATE_H

#include "linalg/eliminate.h"
#include "problem/problem.h"

typedef struct TalusReduced {
    TalusOperator op; /* the reduced problem, for solvers that use only products and sets */
    const TalusOperator *whole;  /* the problem with its joints */
    const TalusBackend *backend; /* owner of the vectors below; NULL: none yet */
    TalusElimination *joints;
    /* memory of op's arrays of the same names, whatever their type */
    double *incidence_start, *incidence, *diagonal;
    size_t start_capacity, incidence_capacity, diagonal_capacity;
} TalusReduced;

/* Fills r, which starts as zeros and may be filled again, from op, which has joints and must not change while r is in
 * use. Memory is reused while the backend is the same. */
TalusStatus talus_reduced_fill(TalusReduced *r, const TalusBackend *backend,
                               const TalusOperator *op);
/* Computes gamma_j from gamma_c, in gamma, which has the size of the whole problem. Uses the operator's scratch. */
void talus_reduced_recover_joints(TalusReduced *r, double *gamma);
/* The same for a direction: delta_j = -A^-1 Njc delta_c. */
void talus_reduced_extend_direction(TalusReduced *r, double *delta);
void talus_reduced_clear(TalusReduced *r);

#endif
