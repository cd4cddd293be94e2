/* solvers/sweep/bgs_enum.c - block Gauss-Seidel with total enumeration, preclik-2009 section 3.1.
 *
 * Every component of a contact is free or at one of its bounds, and each case is a linear system (sets/one_square.h).
 * The first case that meets all inequalities up to rounding is taken, or, if no case does, the case with the smallest
 * violation. If the rows are coupled so strongly that Coulomb's law may have several solutions, all cases are tried,
 * and of those that hold the one nearest to the last impulse is taken. Moving bounds, +-mu times the normal impulse of
 * the same case (Coulomb's law on the square), are exact too. */
#include "solvers/sweep/block_sweep.h"

const TalusSolverType talus_solver_bgs_enum = {
    .name = "bgs-enum",
    .summary = "block Gauss-Seidel, each contact by trying all cases of its bounds",
    .reference = "preclik-2009 section 3.1",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES_BOX | TALUS_TAKES(COULOMB, SQUARE),
    TALUS_BLOCK_SWEEP(TALUS_ONE_CASES),
};
