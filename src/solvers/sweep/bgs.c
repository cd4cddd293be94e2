/* solvers/sweep/bgs.c - block Gauss-Seidel, each contact solved exactly.
 *
 * Coulomb's law on the disc: open, sticking, or the root of one scalar equation (sets/one_coulomb.h). The relaxation
 * ccp: a quadratic program over one cone (sets/one_cone.h). If normal and tangential rows are coupled so strongly (mu
 * |A_nt| >= A_nn) that Coulomb's law may have several solutions, the one nearest to the last impulse is taken; else a
 * contact that can stick sticks. */
#include "solvers/sweep/block_sweep.h"

const TalusSolverType talus_solver_bgs = {
    .name = "bgs",
    .summary = "block Gauss-Seidel, each contact solved exactly",
    .reference = "sets/one_coulomb.h; one_cone.h",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES_CONE | TALUS_TAKES(COULOMB, DISC),
    TALUS_BLOCK_SWEEP(TALUS_ONE_EXACT),
};
