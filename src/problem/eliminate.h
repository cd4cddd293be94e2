/* problem/eliminate.h - a problem with its free joints eliminated by a direct solution.
 *
 * With c the contacts (and all other blocks with bounds) and j the trailing free joints, N = [Ncc Ncj; Njc Njj]:
 *     gamma_j = -A^-1 (q_j + Njc gamma_c),   A = Njj + Ej,
 * so that only contacts remain, with Ncc - Ncj A^-1 Njc in place of N. The reduced operator shares the arrays of the
 * problem's operator, without their last entries, those of joints. Whenever the bodies' velocities have been gathered,
 * they are changed so that they satisfy the joints: v -= M^-1 Dj A^-1 (Dj' v + b_j) (linalg/eliminate.h). Every product
 * of a solver is then one of the reduced problem, and the velocities are those of the whole problem.
 *
 * op->diagonal has exactly the diagonal entries of the reduced operator, except for a contact between two bodies of one
 * machine: the coupling of the two bodies through joints is left out, and the true entry is at most twice as large. An
 * entry is at least 1e-9 of that with joints as blocks (backend/arms.h). op->coupling is NULL, so sweeps are not
 * possible. Factors are computed on the host; arrays are in the backend's memory. */
#ifndef TALUS_PROBLEM_ELIMINATE_H
#define TALUS_PROBLEM_ELIMINATE_H

#include "linalg/eliminate.h"
#include "problem/problem.h"

/* A reduced problem and its memory. */
typedef struct TalusReduced {
    TalusOperator op; /* the reduced problem, for solvers that use only products and sets */
    const TalusOperator *whole;  /* the problem with its joints */
    const TalusBackend *backend; /* owner of the vectors below; NULL: none yet */
    TalusElimination *joints;    /* the factored joints */
    /* memory of op's arrays of the same names, as vectors of doubles, and their capacities */
    double *incidence_start, *incidence, *diagonal;
    size_t start_capacity, incidence_capacity, diagonal_capacity;
} TalusReduced;

/* Makes *r the reduced problem of `op`, which has joints and must not change while r is in use. *r starts as zeros and
 * may be filled again, with reuse of its memory, by the same backend; before another one, clear it. After a failure *r
 * can only be filled again or cleared. */
TalusStatus talus_reduced_fill(TalusReduced *r, const TalusBackend *backend,
                               const TalusOperator *op);
/* Computes the joints' impulses gamma_j from the contacts' impulses gamma_c; gamma has the size of the whole problem.
 * Uses the scratch of r->op. */
void talus_reduced_recover_joints(TalusReduced *r, double *gamma);
/* Computes the joints' part of a direction delta from its contacts' part, likewise: delta_j = -A^-1 Njc delta_c. */
void talus_reduced_extend_direction(TalusReduced *r, double *delta);
/* Releases the memory of r and sets it to zeros. */
void talus_reduced_clear(TalusReduced *r);

#endif
