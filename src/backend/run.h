/* backend/run.h - many iterations, by a backend's own run or, where it has none for the problem, by single steps. */
#ifndef TALUS_BACKEND_RUN_H
#define TALUS_BACKEND_RUN_H

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True if iteration `done` of the run, counted from 0, measures the residual: by period `check`, and the last. */
bool talus_run_measures(const TalusRun *run, int done);

/* Run the accelerated method and Jacobi's. Contracts: TalusRunOps.accelerate and .jacobi, for any problem. */
TalusStatus talus_run_accelerate(const TalusBackend *backend, const TalusOperator *op,
                                 TalusAccelerated *state, TalusMomentum *momentum, TalusRun *run);
TalusStatus talus_run_jacobi(const TalusBackend *backend, const TalusOperator *op, double omega,
                             double lambda, double *gamma, TalusRun *run);

#ifdef __cplusplus
}
#endif

#endif
