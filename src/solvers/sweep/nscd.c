/* solvers/sweep/nscd.c - the non-smooth contact dynamics method (Jean 1999; preclik-2009 section 3.1).
 *
 * Gauss-Seidel over contacts; the problem of one contact under Coulomb's law is written as the root of Alart
 * and Curnier's function and solved by a generalised Newton method, from the impulse as it was, with the
 * exact solver of bgs where that fails. */
#include "solvers/sweep/block_sweep.h"

static TalusStatus solve_nscd(TalusSolve *s)
{
    return talus_block_sweep(s, TALUS_ONE_NEWTON);
}

const TalusSolverType talus_solver_nscd = {
    .name = "nscd",
    .summary = "block Gauss-Seidel, each contact by a generalised Newton method",
    .reference = "preclik-2009 section 3.1; Jean 1999",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES(COULOMB, DISC),
    .solve = solve_nscd,
    TALUS_BLOCK_SWEEP_FIELDS,
};
