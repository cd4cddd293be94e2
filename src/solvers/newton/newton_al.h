/* solvers/newton/newton_al.h - the linear systems of newton-al: (I + A N) dz = -f, with A = diag(1/w) on the free rows
 * F, whose impulse p(u) of newton_al.c is positive, and 0 elsewhere.
 *
 *     bodies     (M + D A D') dv = -D f,   dz = -f - A D'dv                  for problems with bodies
 *     contacts   (w + N)_FF s = -(N f)_F,  dz = -f - s on F, -f elsewhere    for matrices
 * Both are symmetric and positive definite. The first has one pattern for all steps; the second has that of the free
 * rows, which are fewer. A power of two scales the numbers to a fixed range before a package sees them. */
#ifndef TALUS_SOLVERS_NEWTON_NEWTON_AL_H
#define TALUS_SOLVERS_NEWTON_NEWTON_AL_H

#include "linalg/direct.h"
#include "problem/jacobian.h"
#include "solvers/driver/solver.h"

typedef struct TalusAlSystem {
    int rows; /* contacts */
    bool bodies;
    double unit; /* factor on the matrix: a power of two */
    TalusDirect *direct;
    TalusSparse lower; /* the matrix to factorise */
    double *x;         /* right-hand side, then solution */
    double *product;   /* N f or D'dv */

    TalusJacobian jacobian; /* for bodies */
    TalusSparse matrix;     /* for contacts: N + E */
    int32_t *place;         /* index of each row among the free ones, or -1 */
} TalusAlSystem;

/* Prepares for the problem; `kind` selects the factorisation. */
TalusStatus talus_al_system_begin(TalusAlSystem *w, const TalusSolve *solve, TalusDirectKind kind);
/* Writes dz for f, with w in `weight`; all [rows]. TALUS_ERR_NUMERIC: not positive definite, to rounding. */
TalusStatus talus_al_system_solve(TalusAlSystem *w, TalusSolve *solve, const bool *is_free,
                                  const double *weight, const double *f, double *dz);
void talus_al_system_clear(TalusAlSystem *w);

#endif
