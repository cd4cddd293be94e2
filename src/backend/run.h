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

/* Sets run->done to 0 and marks first2 as not yet measured (< 0). */
void talus_run_reset(TalusRun *run);

/* Stores the residual of an iterate in *run, the first one also in first2. Returns true if this residual ends the run:
 * rms or maximum small enough, or rms not finite. */
bool talus_run_record(TalusRun *run, double blocks, double residual2, double residual_max);

/* Do a run of the accelerated method and of Jacobi's method, as TalusRunOps.accelerate and .jacobi specify, for any
 * problem and backend. */
TalusStatus talus_run_accelerate(const TalusBackend *backend, const TalusOperator *op,
                                 TalusAccelerated *state, TalusMomentum *momentum, TalusRun *run);
/* True if runs of this state are in single precision, in host memory: such a state needs no vectors but x until it is
 * `spent`. */
bool talus_run_is_single(const TalusBackend *backend, const TalusOperator *op,
                         const TalusAccelerated *state);
/* Makes the vectors of a state those that its last run reached; needed before they are read, if state->single. */
void talus_run_write_back(const TalusBackend *backend, const TalusOperator *op,
                          TalusAccelerated *state);
TalusStatus talus_run_jacobi(const TalusBackend *backend, const TalusOperator *op, double omega,
                             double lambda, double *gamma, TalusRun *run);

#ifdef __cplusplus
}
#endif

#endif
