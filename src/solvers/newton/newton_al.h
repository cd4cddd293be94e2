/* solvers/newton/newton_al.h - the linear systems of newton-al: (I + A N) dz = -f. A is diagonal, 1/w on the free rows
 * F, whose impulse p(u) of newton_al.c is positive, and 0 on the other rows. The systems are solved in one of two
 * forms:
 *
 *     bodies     (M + D A D') dv = -D f,   dz = -f - A D'dv                  for problems with bodies
 *     contacts   (w + N)_FF s = -(N f)_F,  dz = -f - s on F, -f elsewhere    for matrices
 * Both are symmetric and positive definite. The matrix of bodies has the same pattern in all steps. The matrix of
 * contacts has that of the free rows, and fewer rows than there are contacts. Matrix and right-hand side are multiplied
 * by a power of two, which brings their numbers near 1 before a package for direct solution gets them. */
#ifndef TALUS_SOLVERS_NEWTON_NEWTON_AL_H
#define TALUS_SOLVERS_NEWTON_NEWTON_AL_H

#include "linalg/direct.h"
#include "problem/jacobian.h"
#include "solvers/driver/solver.h"

typedef struct TalusAlSystem {
    int rows;            /* number of contacts, each of one row */
    bool bodies;         /* the form `bodies`; else `contacts` */
    double unit;         /* factor on matrix and right-hand side: a power of two */
    TalusDirect *direct; /* the factorisation */
    TalusSparse lower;   /* lower triangle of the matrix to factorise */
    double *x;           /* right-hand side, then solution: dv or s */
    double *product;     /* D'dv or N f */

    TalusJacobian jacobian; /* for bodies */
    TalusSparse matrix;     /* for contacts: N + E */
    int32_t *free_index;    /* for contacts: index of each row among the free ones, or -1 */
} TalusAlSystem;

/* Sets up the system for the problem of the solve, bodies or contacts; `kind` selects the factorisation in the first
 * call for this struct, which starts as zeros. */
TalusStatus talus_al_system_prepare(TalusAlSystem *w, const TalusSolve *solve,
                                    TalusDirectKind kind);
/* Solves (I + A N) dz = -f for dz, with w in `weight` and F in is_free; all arrays [rows]. Counts the factorisation,
 * unless it fails, and its products. TALUS_ERR_NUMERIC: the matrix is not positive definite, to rounding. */
TalusStatus talus_al_system_solve(TalusAlSystem *w, TalusSolve *solve, const bool *is_free,
                                  const double *weight, const double *f, double *dz);
/* Releases the memory; the struct must be zeroed before it is used again. */
void talus_al_system_clear(TalusAlSystem *w);

#endif
