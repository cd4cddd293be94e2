/* solvers/newton_al.h - the linear systems of newton-al: (I + A N) dz = -f, A = sum of T b b' over the directions
 * b in which impulses are free to move.
 *
 *     bodies     (M + D A D') dv = -D f,   dz = -f - A D'dv               for problems with bodies
 *     contacts   (T^-1 + B'N B) s = -B'N f,   dz = -f - B s               for matrices
 * Both are symmetric and positive definite, with T^-1 of the contacts' form down to rho times the diagonal of
 * N. The first has one pattern for all steps, the second that of the free directions, of which there are
 * fewer. Numbers are brought to a fixed range by a power of two before a package sees them. */
#ifndef TALUS_SOLVERS_NEWTON_AL_H
#define TALUS_SOLVERS_NEWTON_AL_H

#include "problem/block_matrix.h"
#include "problem/direct.h"
#include "problem/jacobian.h"
#include "solvers/solver.h"

enum { TALUS_AL_ROWS = 3, TALUS_AL_GROUPS = 4 };

/* Free directions of one block. */
typedef struct TalusAlBlock {
    int rank;
    double direction[TALUS_AL_ROWS][TALUS_AL_ROWS]; /* [rank] */
    double stiffness[TALUS_AL_ROWS];                /* [rank]: 1/T */
} TalusAlBlock;

typedef struct TalusAlSystem {
    int rows, blocks;
    bool bodies;
    TalusDirect *direct;
    TalusDirectKind kind;
    TalusSparse lower; /* the matrix to factorise */
    double *x;         /* its right-hand side and solution */

    TalusJacobian jacobian;
    TalusBlockMatrix groups; /* pattern of M + D A D', blocks of 3 */

    TalusBlockMatrix matrix; /* N + E */
    int32_t *first;          /* [blocks + 1]: packed directions */
    size_t x_room, first_room;
    double *product; /* N f */
    size_t product_room;
} TalusAlSystem;

/* For the problem as it is; `kind` is of the factorisation. */
TalusStatus talus_al_system_begin(TalusAlSystem *w, const TalusSolve *solve, TalusDirectKind kind);
/* dz of f. TALUS_ERR_NUMERIC: the matrix is not positive definite in these numbers. */
TalusStatus talus_al_system_solve(TalusAlSystem *w, TalusSolve *solve, const TalusAlBlock *block,
                                  const double *f, double *dz);
void talus_al_system_clear(TalusAlSystem *w);

#endif
