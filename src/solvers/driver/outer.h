/* solvers/driver/outer.h - laws beyond ccp around algorithms for convex sets. */
#ifndef TALUS_SOLVERS_DRIVER_OUTER_H
#define TALUS_SOLVERS_DRIVER_OUTER_H

#include "solvers/driver/solver.h"

/* How an algorithm comes to the problem, or why it cannot. */
TalusStatus talus_outer_plan(const TalusSolverType *type, const TalusProblem *problem,
                             TalusOuterKind kind, TalusOuterPlan *plan);

/* What the algorithm takes, in words. */
enum { TALUS_TAKES_TEXT = 96 };
void talus_outer_takes(uint32_t takes, char text[TALUS_TAKES_TEXT]);

/* The algorithm within the loops of the plan; a claim of convergence is by the residual of the laws.
 * Leaves no shift behind, whatever comes back. */
TalusStatus talus_outer_run(TalusSolve *solve);

/* Has the algorithm go on where its last call ended: estimates must beat this share of what they had to. */
static inline void talus_outer_tighten(TalusSolve *solve, double share)
{
    solve->strictness *= share;
    solve->resumed = true;
}

/* The residual of gamma, by law, of the whole problem, and what rounding may hide of it (may be NULL): where
 * joints are eliminated, their impulses are written behind the others first. */
void talus_outer_measure(const TalusSolve *solve, double *gamma, TalusResidual *out,
                         TalusResidual *rounding);

#endif
