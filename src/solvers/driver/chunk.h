/* solvers/driver/chunk.h - splits a solve into runs: many iterations in one call of the backend (TalusRun). */
#ifndef TALUS_SOLVERS_DRIVER_CHUNK_H
#define TALUS_SOLVERS_DRIVER_CHUNK_H

#include "solvers/driver/solver.h"

/* Returns the next run, which ends at the next iteration that an observer or monitor needs, where the clock must be
 * read, or with the budget. The residual is measured every `check` iterations. `since`: iterations before the run in
 * this call of the solver. If only the budget can end the solve, may delay the first snapshot of the infeasibility
 * monitor. */
TalusRun talus_chunk_next_run(const TalusSolve *solve, int check, int since);
/* Returns the number of iterations between residuals: `check`, or the larger `unseen` if only the budget can end the
 * solve and single steps are expensive: no tolerance, no monitor, and a backend without TALUS_CAP_SEES_ITERATES. */
int talus_chunk_check_interval(const TalusSolve *solve, int check, int unseen);

/* Counts the iterations of a run, with one product each, and notes the first residual of the solve. */
void talus_chunk_count_run(TalusSolve *solve, const TalusRun *run);

#endif
