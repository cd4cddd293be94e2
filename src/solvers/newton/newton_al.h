/* solvers/newton/newton_al.h - the linear systems of newton-al: (I + A N) dz = -f, A diagonal, 1/w on the rows that are
 * free to move and 0 on the others.
 *
 *     bodies     (M + D A D') dv = -D f,   dz = -f - A D'dv                  for problems with bodies
 *     contacts   (w + N)_FF s = -(N f)_F,  dz = -f - s on F, -f elsewhere    for matrices
 * Both are symmetric and positive definite. The first has one pattern for all steps, the second that of
 * the free rows, of which there are fewer. Numbers are brought to a fixed range by a power of two before a
 * package sees them. */
#ifndef TALUS_SOLVERS_NEWTON_NEWTON_AL_H
#define TALUS_SOLVERS_NEWTON_NEWTON_AL_H

#include "linalg/direct.h"
#include "problem/jacobian.h"
#include "solvers/driver/solver.h"

typedef struct TalusAlSystem {
    int rows; /* contacts */
    bool bodies;
    double unit; /* the matrix is multiplied by it */
    TalusDirect *direct;
    TalusSparse lower; /* the matrix to factorise */
    double *x;         /* its right-hand side and solution */
    double *product;   /* N f or D'dv */

    TalusJacobian jacobian; /* bodies */
    TalusSparse matrix;     /* contacts: N + E */
    int32_t *place;         /* of each row among the free ones, or -1 */
} TalusAlSystem;

/* For the problem as it is; `kind` is of the factorisation. */
TalusStatus talus_al_system_begin(TalusAlSystem *w, const TalusSolve *solve, TalusDirectKind kind);
/* dz of f, with w in `weight`. TALUS_ERR_NUMERIC: the matrix is not positive definite in these numbers. */
TalusStatus talus_al_system_solve(TalusAlSystem *w, TalusSolve *solve, const bool *is_free,
                                  const double *weight, const double *f, double *dz);
void talus_al_system_clear(TalusAlSystem *w);

#endif
