/* solvers/sweep/gs_disc.c - Gauss-Seidel by normal impulses and tangential discs, preclik-2009 Eqs. 14 to 16.
 *
 * The normal impulse of a contact solves its own row, with the tangential impulse held. Then the tangential impulse
 * minimises over a disc by Newton's method in the polar angle or, where that fails, by the equation of its multiplier
 * (sets/one_disc.h). The radius is given (law `fixed`, a cylinder) or mu times that normal impulse (Coulomb). Between
 * spheres the tangential block is a multiple of the identity, and Newton's method is not needed. */
#include "solvers/sweep/block_sweep.h"

const TalusSolverType talus_solver_gs_disc = {
    .name = "gs-disc",
    .summary =
        "Gauss-Seidel by normal impulse and tangential disc, for cylinders and circular Coulomb friction",
    .reference = "preclik-2009 Eqs. 14-16",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES(FIXED, DISC) | TALUS_TAKES(COULOMB, DISC),
    TALUS_BLOCK_SWEEP(TALUS_ONE_DISC),
};
