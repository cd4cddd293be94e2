/* solvers/driver/outer.h - outer loops that extend algorithms for convex sets to laws beyond ccp. */
#ifndef TALUS_SOLVERS_DRIVER_OUTER_H
#define TALUS_SOLVERS_DRIVER_OUTER_H

#include "solvers/driver/solver.h"

/* Plans how the algorithm solves the problem's laws. Fails with TALUS_ERR_UNSUPPORTED and a reason if it cannot. */
TalusStatus talus_outer_plan(const TalusSolverType *type, const TalusProblem *problem,
                             TalusOuterKind kind, TalusOuterPlan *plan);

/* Writes what the algorithm takes, in words. */
enum { TALUS_TAKES_TEXT = 96 };
void talus_outer_takes(uint32_t takes, char text[TALUS_TAKES_TEXT]);

/* Runs the algorithm within the planned loops. Convergence is judged by the residual of the laws. Removes all shifts
 * before it returns, also on failure. */
TalusStatus talus_outer_run(TalusSolve *solve);

/* Lets the algorithm resume from its last call, with its required estimate lowered by this factor. */
static inline void talus_outer_tighten(TalusSolve *solve, double share)
{
    solve->strictness *= share;
    solve->resumed = true;
}

/* Measures the residual of gamma by law for the whole problem, and its rounding (may be NULL). If joints are
 * eliminated, first writes their impulses behind the others in gamma. */
void talus_outer_measure(const TalusSolve *solve, double *gamma, TalusResidual *out,
                         TalusResidual *rounding);

#endif
