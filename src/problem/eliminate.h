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
 * is not there: no sweeps. On the host, of matrix-free problems. */
#ifndef TALUS_PROBLEM_ELIMINATE_H
#define TALUS_PROBLEM_ELIMINATE_H

#include "linalg/eliminate.h"
#include "problem/problem.h"

typedef struct TalusReduced {
    TalusOperator op; /* for solvers that see it through products and sets alone */
    TalusElimination *joints;
    const TalusOperator *whole;
    int32_t *touch_start, *touch;
    double (*diagonal)[2];
    double (*taken)[36]; /* [vertices]: M^-1 Dj A^-1 Dj' M^-1 of a jointed body */
    double *impulse;     /* of joints, by rows */
} TalusReduced;

/* Of op, which has joints and stays as it is while this is in use. Starts as zeros; memory is kept. */
TalusStatus talus_reduced_fill(TalusReduced *r, const TalusOperator *op);
/* gamma_j from gamma_c; gamma has room for all of the problem. Uses the operator's scratch. */
void talus_reduced_recover(TalusReduced *r, double *gamma);
/* The same for a direction: delta_j = -A^-1 Njc delta_c. */
void talus_reduced_extend(TalusReduced *r, double *delta);
void talus_reduced_clear(TalusReduced *r);

#endif
