/* solvers/sweep/block_sweep.h - what the solvers that sweep over contacts and solve each one's problem share. */
#ifndef TALUS_SOLVERS_SWEEP_BLOCK_SWEEP_H
#define TALUS_SOLVERS_SWEEP_BLOCK_SWEEP_H

#include "solvers/driver/solver.h"

typedef struct TalusBlockSweepParams {
    double omega, rho;
    int order, seed;
} TalusBlockSweepParams;

typedef struct TalusBlockSweepState {
    uint64_t solves; /* random order: each solve draws its own permutations */
} TalusBlockSweepState;

typedef struct TalusBlockSweepWork {
    TalusSweep *sweep;
} TalusBlockSweepWork;

enum { TALUS_BLOCK_SWEEP_PARAMS = 4 };
extern const TalusParam talus_block_sweep_params[TALUS_BLOCK_SWEEP_PARAMS];

/* Sweeps from and into gamma until the velocity change of one is within the tolerance. *sweep is kept from
 * solve to solve. */
TalusStatus talus_sweep_until(TalusSolve *solve, const TalusSweepOptions *options,
                              TalusSweep **sweep);
/* The same with this solver of one contact and the parameters above. */
TalusStatus talus_block_sweep(TalusSolve *solve, TalusOneSolver local);
void talus_block_sweep_clear(void *work, const TalusBackend *backend);

/* The fields of such a solver's TalusSolverType that all of them share. */
#define TALUS_BLOCK_SWEEP_FIELDS                                                             \
    .params = talus_block_sweep_params, .param_count = TALUS_BLOCK_SWEEP_PARAMS,             \
    .param_size = sizeof(TalusBlockSweepParams), .state_size = sizeof(TalusBlockSweepState), \
    .work_size = sizeof(TalusBlockSweepWork), .clear = talus_block_sweep_clear

#endif
