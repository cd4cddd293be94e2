/* solvers/sweep/gs_coulomb.c - projected Gauss-Seidel under Coulomb's law itself, without an outer loop.
 *
 *     n' = max(0, n - omega u_n / b_n),   t' = P(t - omega u_t / b_t),
 * P is the projection onto the section of size mu n' (for the disc |t'| <= mu n'), u the velocity after all earlier
 * updates; body velocities are updated at once. This is gs with another projection (sets/set.h talus_block_restrict),
 * with the same memory traffic, colours and treatment of heavy bodies. A fixed point obeys the law exactly. Rows of
 * spinning and rolling friction are restricted like t; joints and blocks under other laws are solved as by gs. For
 * spheres with omega 1 a step solves the contact exactly. Convergence is not proven: on rigid sheared beds the law has
 * several solutions that repel, and sweeps stall; a compliance of some 1e-3 of N_nn avoids this
 * (docs/explanation/friction.md). */
#include "solvers/sweep/gs.h"

const TalusSolverType talus_solver_gs_coulomb = {
    .name = "gs-coulomb",
    .summary = "projected Gauss-Seidel that solves Coulomb's law itself, to a loose tolerance",
    .reference = "preclik-2009 section 3.1, with the projected step of negrut-2009",
    .takes = TALUS_TAKES_ALL,
    TALUS_GS,
};
