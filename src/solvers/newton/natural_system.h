/* solvers/newton/natural_system.h - the natural map of all blocks, for the Newton methods that solve for its root.
 *
 * The Jacobian of the map (natural_map.h) is diag(L) (N + E) + diag(M), with L and M block-diagonal, and has the
 * pattern of N. Each Newton step takes one sparse factorisation, in an elimination order found once per solve
 * (linalg/fronts.h). */
#ifndef TALUS_SOLVERS_NEWTON_NATURAL_SYSTEM_H
#define TALUS_SOLVERS_NEWTON_NATURAL_SYSTEM_H

#include "linalg/fronts.h"
#include "solvers/driver/solver.h"
#include "solvers/newton/natural_map.h"

/* Starts as zeros. */
typedef struct TalusNaturalSystem {
    TalusBlockMatrix matrix; /* N + E */
    TalusFronts fronts;      /* factorisation of the Jacobian */
    double *left, *own;      /* blocks L_i and M_i of the Jacobian, by rows; the solver sets them */
    TalusNaturalBlock *block; /* [blocks] */
} TalusNaturalSystem;

/* Assembles N + E of the solve's problem, finds its elimination order and sets the blocks; reserves L and M. Blocks
 * with Coulomb's law are exact if solve->plan is; otherwise they are under ccp, with the shifts that the offsets
 * contain. */
TalusStatus talus_natural_system_prepare(TalusNaturalSystem *system, const TalusSolve *solve);
/* Releases all memory; the struct must be zeroed before it is used again. */
void talus_natural_system_clear(TalusNaturalSystem *system);

/* Returns |f| of a block, in m/s: the norm of f, an impulse, times the block's scale. */
double talus_natural_residual(const TalusNaturalBlock *block, const double *f);
/* Writes the sum of squares and the maximum of |f| over blocks, at impulses x and velocities u; both are NaN if an |f|
 * is. */
void talus_natural_system_measure(const TalusNaturalSystem *system, const double *x,
                                  const double *u, double *sum, double *largest);

#endif
