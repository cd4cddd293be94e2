/* solvers/sweep/block_sweep.h - shared by the solvers that sweep over contacts and solve each contact's problem. */
#ifndef TALUS_SOLVERS_SWEEP_BLOCK_SWEEP_H
#define TALUS_SOLVERS_SWEEP_BLOCK_SWEEP_H

#include "solvers/driver/solver.h"

typedef struct TalusBlockSweepParams {
    double omega, rho;
    int order, seed;
} TalusBlockSweepParams;

typedef struct TalusBlockSweepState {
    uint64_t solves; /* count of solves: each draws its own permutations (random order) */
} TalusBlockSweepState;

typedef struct TalusBlockSweepWork {
    TalusSweep *sweep;
} TalusBlockSweepWork;

enum { TALUS_BLOCK_SWEEP_PARAMS = 4 };
extern const TalusParam talus_block_sweep_params[TALUS_BLOCK_SWEEP_PARAMS];

/* Sweeps gamma in place until the velocity change of one sweep is within the tolerance. *sweep persists. */
TalusStatus talus_sweep_until(TalusSolve *solve, const TalusSweepOptions *options,
                              TalusSweep **sweep);
/* talus_sweep_until with this solver of one contact and the parameters above. */
TalusStatus talus_block_sweep(TalusSolve *solve, TalusOneSolver local);
void talus_block_sweep_clear(void *work, const TalusBackend *backend);

/* Fields of TalusSolverType that all these solvers share. */
#define TALUS_BLOCK_SWEEP_FIELDS                                                             \
    .params = talus_block_sweep_params, .param_count = TALUS_BLOCK_SWEEP_PARAMS,             \
    .param_size = sizeof(TalusBlockSweepParams), .state_size = sizeof(TalusBlockSweepState), \
    .work_size = sizeof(TalusBlockSweepWork), .clear = talus_block_sweep_clear

#endif
