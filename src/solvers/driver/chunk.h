/* solvers/driver/chunk.h - splits a solve into runs of many iterations (TalusRun, backend/backend.h). */
#ifndef TALUS_SOLVERS_DRIVER_CHUNK_H
#define TALUS_SOLVERS_DRIVER_CHUNK_H

#include "solvers/driver/solver.h"

/* Returns the next run. It ends at the next iteration that an observer or monitor needs, or with the budget. The
 * residual is measured every `check` iterations, counted from the start of this call; `since` of them are done. */
TalusRun talus_chunk_next(const TalusSolve *solve, int check, int since);
/* Returns the iterations between residuals: `check`, but at least `unseen` if the backend spends a budget by itself. */
int talus_chunk_check(const TalusSolve *solve, int check, int unseen);

/* Counts the iterations of a run, with one product each, and notes the first residual of the solve. */
void talus_chunk_count(TalusSolve *solve, const TalusRun *run);

#endif
