/* solvers/sweep/pgs.c - projected Gauss-Seidel component by component, preclik-2009 section 3.1.
 *
 * Each component solves its own row and is clamped to its bounds. A normal component has the bounds [0, oo). A
 * tangential component has the bounds of its box or, under Coulomb's law on the square, +-mu times the current normal
 * impulse. A fixed point with these moving bounds obeys the law exactly; convergence to it is not proven. */
#include "solvers/sweep/block_sweep.h"

const TalusSolverType talus_solver_pgs = {
    .name = "pgs",
    .summary = "Gauss-Seidel component by component, friction bounds moved with the normal impulse",
    .reference = "preclik-2009 section 3.1",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES_BOX | TALUS_TAKES(COULOMB, SQUARE),
    TALUS_BLOCK_SWEEP(TALUS_ONE_ROWS),
};
