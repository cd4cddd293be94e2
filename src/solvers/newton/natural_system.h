/* solvers/newton/natural_system.h - the natural map of all blocks: what Newton methods on it share.
 *
 * The Jacobian of the map (natural_map.h) is diag(L) (N + E) + diag(M), with the pattern of N: one sparse factorisation
 * per Newton step, ordered once per solve (linalg/fronts.h). */
#ifndef TALUS_SOLVERS_NEWTON_NATURAL_SYSTEM_H
#define TALUS_SOLVERS_NEWTON_NATURAL_SYSTEM_H

#include "linalg/fronts.h"
#include "solvers/driver/solver.h"
#include "solvers/newton/natural_map.h"

/* Starts as zeros. */
typedef struct TalusNaturalSystem {
    TalusBlockMatrix matrix; /* N + E */
    TalusFronts fronts;
    double *left, *own; /* L and M of the Jacobian */
    TalusNaturalBlock *block;
} TalusNaturalSystem;

/* Reads the problem of the solve. Blocks are under Coulomb's law if the plan is exact (solve->plan), else under the
 * relaxation, with the shifts that the offsets contain. */
TalusStatus talus_natural_system_prepare(TalusNaturalSystem *system, const TalusSolve *solve);
void talus_natural_system_clear(TalusNaturalSystem *system);

/* Returns |f| of block i, in m/s: the norm of f, an impulse, times the block's scale. */
double talus_natural_size(const TalusNaturalBlock *block, const double *f);
/* Sum of squares and maximum of |f| over blocks, at impulses x and velocities u; a NaN stays one. */
void talus_natural_system_measure(const TalusNaturalSystem *system, const double *x,
                                  const double *u, double *sum, double *largest);

#endif
