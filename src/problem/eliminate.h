/* problem/eliminate.h - a problem without its free joints, which are solved for directly.
 *
 * With c the contacts (and whatever else has bounds) and j the trailing free joints, N = [Ncc Ncj; Njc Njj]:
 *     gamma_j = -A^-1 (q_j + Njc gamma_c),   A = Njj + Ej,
 * so that contacts alone remain, with Ncc - Ncj A^-1 Njc for N. As an operator it is the problem's own, its
 * arrays shortened by the joints; whenever bodies' velocities have been gathered, joints are satisfied in
 * them: v -= M^-1 Dj A^-1 (Dj' v + b_j) (linalg/eliminate.h). Every product of a solver is then of the
 * reduced problem, and its velocities are those of the whole.
 *
 * Diagonals are those of the reduced operator, exactly, but for a contact between two bodies of one machine,
 * where what joints carry from one to the other is left out: at most the double of that is true. `coupling`
 * is not there: no sweeps. Factors are made on the host; arrays are where the backend keeps its memory. */
#ifndef TALUS_PROBLEM_ELIMINATE_H
#define TALUS_PROBLEM_ELIMINATE_H

#include "linalg/eliminate.h"
#include "problem/problem.h"

typedef struct TalusReduced {
    TalusOperator op; /* for solvers that see it through products and sets alone */
    const TalusOperator *whole;
    const TalusBackend *backend; /* whose the following vectors are; NULL: none yet */
    TalusElimination *joints;
    double *contact_start, *touch, *diagonal; /* memory of op's arrays of these names */
    size_t start_capacity, touch_capacity, diagonal_capacity;
} TalusReduced;

/* Of op, which has joints and stays as it is while this is in use. Starts as zeros; memory is kept, for the same
 * backend. */
TalusStatus talus_reduced_fill(TalusReduced *r, const TalusBackend *backend,
                               const TalusOperator *op);
/* gamma_j from gamma_c; gamma has room for all of the problem. Uses the operator's scratch. */
void talus_reduced_recover(TalusReduced *r, double *gamma);
/* The same for a direction: delta_j = -A^-1 Njc delta_c. */
void talus_reduced_extend(TalusReduced *r, double *delta);
void talus_reduced_clear(TalusReduced *r);

#endif
