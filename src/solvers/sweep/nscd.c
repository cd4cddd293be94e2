/* solvers/sweep/nscd.c - the non-smooth contact dynamics method (Jean 1999; preclik-2009 section 3.1).
 *
 * Gauss-Seidel over contacts. The impulse of one contact under Coulomb's law is a root of Alart and Curnier's function
 * (sets/one_newton.h). A generalised Newton method finds the root from the last impulse; if Newton's method fails, the
 * exact solver of bgs does. */
#include "solvers/sweep/block_sweep.h"

const TalusSolverType talus_solver_nscd = {
    .name = "nscd",
    .summary = "block Gauss-Seidel, each contact by a generalised Newton method",
    .reference = "preclik-2009 section 3.1; Jean 1999",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES(COULOMB, DISC),
    TALUS_BLOCK_SWEEP(TALUS_ONE_NEWTON),
};
