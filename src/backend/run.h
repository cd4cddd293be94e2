/* backend/run.h - many iterations of a method, by the backend's operation in TalusRunOps or, where the backend has
 * none or the problem does not fit, by single steps. */
#ifndef TALUS_BACKEND_RUN_H
#define TALUS_BACKEND_RUN_H

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True if iteration `done` of the run, counted from 0, measures the residual: every run->check iterations of the
 * solve, and the last iteration of the run. */
bool talus_run_measures(const TalusRun *run, int done);

/* Do a run of the accelerated method and of Jacobi's method, as TalusRunOps.accelerate and .jacobi specify, for any
 * problem and backend. */
TalusStatus talus_run_accelerate(const TalusBackend *backend, const TalusOperator *op,
                                 TalusAccelerated *state, TalusMomentum *momentum, TalusRun *run);
TalusStatus talus_run_jacobi(const TalusBackend *backend, const TalusOperator *op, double omega,
                             double lambda, double *gamma, TalusRun *run);

#ifdef __cplusplus
}
#endif

#endif
