/* solvers/driver/chunk.h - a solve in runs of many iterations (TalusRun, backend/backend.h). */
#ifndef TALUS_SOLVERS_DRIVER_CHUNK_H
#define TALUS_SOLVERS_DRIVER_CHUNK_H

#include "solvers/driver/solver.h"

/* The next run: up to the iteration that someone wants to see, or to the end of the budget. The
 * residual is measured every `check` iterations, counted from the first of this call of the solver,
 * of which `since` are done. */
TalusRun talus_chunk_next(const TalusSolve *solve, int check, int since);
/* Iterations between residuals: `check`, but at least `unseen` where the backend spends a budget by itself. */
int talus_chunk_check(const TalusSolve *solve, int check, int unseen);

/* Counts its iterations, with one product each, and notes the first residual of the solve. */
void talus_chunk_count(TalusSolve *solve, const TalusRun *run);

#endif
