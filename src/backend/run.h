/* backend/run.h - many iterations: by a backend's own runs, or by single steps of the contract where it has none
 * or, as with explicit matrices, none for the problem. */
#ifndef TALUS_BACKEND_RUN_H
#define TALUS_BACKEND_RUN_H

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether iteration `done` of a run, counted from 0, is one whose residual is measured. */
bool talus_run_measures(const TalusRun *run, int done);

TalusStatus talus_run_accelerate(const TalusBackend *backend, const TalusOperator *op,
                                 TalusAccelerated *state, TalusMomentum *momentum, TalusRun *run);
TalusStatus talus_run_relax(const TalusBackend *backend, const TalusOperator *op, double omega,
                            double lambda, double *gamma, TalusRun *run);

#ifdef __cplusplus
}
#endif

#endif
