/* solvers/driver/gathered.h - solves of a rank's part of a problem (problem/part.h). */
#ifndef TALUS_SOLVERS_DRIVER_GATHERED_H
#define TALUS_SOLVERS_DRIVER_GATHERED_H

#include "solvers/driver/session.h"

/* True if the problem is a rank's part and the solver needs the whole: rank 0 then solves that. False for a solver that
 * works through products alone or sweeps by colours, and for one that plans stages of other solvers. */
bool talus_solver_gathers(const TalusSolver *solver, const TalusProblem *problem);

/* talus_solver_solve, which calls this file. */
typedef TalusStatus TalusSolveFn(TalusSolver *solver, TalusProblem *problem,
                                 const TalusSolveOptions *options, TalusSolveInfo *info);

/* Solves by `solve` with rank 0's solver on rank 0; the other ranks' solvers do nothing. All ranks get their impulses and the same *info, which is
 * that of the solve of the whole problem. Only rank 0's monitor is asked. */
TalusStatus talus_solver_solve_gathered(TalusSolver *solver, TalusProblem *part,
                                        const TalusSolveOptions *options, TalusSolveInfo *info,
                                        TalusSolveFn *solve);

#endif
