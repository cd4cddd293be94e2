/* solvers/driver/gathered.h - solves of a rank's part of a problem (problem/part.h). */
#ifndef TALUS_SOLVERS_DRIVER_GATHERED_H
#define TALUS_SOLVERS_DRIVER_GATHERED_H

#include "solvers/driver/session.h"

/* True if the problem is a rank's part and rank 0 has to solve the whole: if the solver needs that, or if the problem is so
 * small that one rank's backend would do its runs in another way (TalusBackend.gathered_blocks). False for a solver that
 * plans stages of others. Called by all ranks, which get the same answer. */
bool talus_solver_gathers(const TalusSolver *solver, const TalusProblem *problem,
                          const TalusSolveOptions *options);

/* talus_solver_solve, which calls this file. */
typedef TalusStatus TalusSolveFn(TalusSolver *solver, TalusProblem *problem,
                                 const TalusSolveOptions *options, TalusSolveInfo *info);

/* Solves by `solve` with rank 0's solver on rank 0; the other ranks' solvers do nothing. All ranks get their impulses and the same *info, which is
 * that of the solve of the whole problem. Only rank 0's monitor is asked. */
TalusStatus talus_solver_solve_gathered(TalusSolver *solver, TalusProblem *part,
                                        const TalusSolveOptions *options, TalusSolveInfo *info,
                                        TalusSolveFn *solve);

#endif
