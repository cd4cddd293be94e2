/* solvers/driver/outer.h - outer loops that extend algorithms for convex sets to the laws `fixed` and `coulomb`: they
 * update bounds, or De Saxce's shifts in the offsets, between inner solves. */
#ifndef TALUS_SOLVERS_DRIVER_OUTER_H
#define TALUS_SOLVERS_DRIVER_OUTER_H

#include "solvers/driver/solver.h"

/* Fills *plan: how the algorithm solves the problem's laws, with the outer loop `kind` where one is needed.
 * TALUS_ERR_UNSUPPORTED: the algorithm cannot solve them. */
TalusStatus talus_outer_plan(const TalusSolverType *type, const TalusProblem *problem,
                             TalusOuterKind kind, TalusOuterPlan *plan);

/* Writes the sets and laws of the bits TALUS_TAKES_... in words, for messages. */
enum { TALUS_TAKES_TEXT = 96 };
void talus_outer_describe_takes(uint32_t takes, char text[TALUS_TAKES_TEXT]);

/* Runs the algorithm within the planned loops. Convergence is judged by the residual of the laws. Removes all shifts
 * before it returns, also on failure. After an algorithm that was stuck, solve->plan has the loop of shifts. */
TalusStatus talus_outer_run(TalusSolve *solve);

/* Marks the next call of the algorithm as resumed and multiplies the tolerance for the algorithm's own estimate of the
 * residual by `share`, since the last estimate was too small. */
static inline void talus_outer_tighten(TalusSolve *solve, double share)
{
    solve->tolerance_factor *= share;
    solve->resumed = true;
}

/* Measures the residual of gamma under the blocks' own laws for the whole problem, and unless `rounding` is NULL its
 * rounding error. If joints are eliminated, first writes their impulses behind the others in gamma. */
void talus_outer_measure(const TalusSolve *solve, double *gamma, TalusResidual *out,
                         TalusResidual *rounding);

#endif
