/* solvers/sweep/block_sweep.h - Gauss-Seidel sweeps over contacts: the loop that all solvers of this folder share, and
 * the parameters of those that solve each contact's problem. */
#ifndef TALUS_SOLVERS_SWEEP_BLOCK_SWEEP_H
#define TALUS_SOLVERS_SWEEP_BLOCK_SWEEP_H

#include "solvers/driver/solver.h"

typedef struct TalusSweepState {
    uint64_t solves; /* calls of talus_sweep_solve so far, so that each has its own random order */
} TalusSweepState;

typedef struct TalusSweepWork {
    TalusSweep *sweep;           /* order, colours and work arrays of the last solve */
    const TalusBackend *backend; /* owner of `sweep` */
} TalusSweepWork;

/* Runs sweeps from gamma until the estimated residual is within the tolerance or the solve must end; gamma is written
 * when an observer needs it, and at the end. The estimate is the velocity change of one sweep, rms over blocks; under
 * Coulomb's law it is scaled (block_sweep.c). `seed`: of the random order. */
TalusStatus talus_sweep_solve(TalusSolve *solve, TalusSweepOptions options, int seed);
/* `clear` of TalusSolverType: destroys the sweep of a TalusSweepWork. */
void talus_sweep_clear(void *work);

/* Fields of TalusSolverType that all sweeps share. */
#define TALUS_SWEEP_FIELDS                                                      \
    .state_size = sizeof(TalusSweepState), .work_size = sizeof(TalusSweepWork), \
    .clear = talus_sweep_clear

/* ---- sweeps that solve each contact's problem ---- */

typedef struct TalusBlockSweepParams {
    double omega, rho;
    int order, seed;
} TalusBlockSweepParams;

/* Number of parameters, and their table. */
enum { TALUS_BLOCK_SWEEP_PARAMS = 4 };
extern const TalusParam talus_block_sweep_params[TALUS_BLOCK_SWEEP_PARAMS];

/* `solve` of these solvers: talus_sweep_solve with the parameters and the TalusOneSolver in the type's `variant`. */
TalusStatus talus_block_sweep_solve(TalusSolve *solve);

/* `on_parts` of these solvers. */
bool talus_block_sweep_is_coloured(const void *params);

/* Fields of TalusSolverType of these solvers; local: the TalusOneSolver that solves one contact. */
#define TALUS_BLOCK_SWEEP(local)                                                            \
    .solve = talus_block_sweep_solve, .variant = &(const TalusOneSolver){local},            \
    .params = talus_block_sweep_params, .param_count = TALUS_BLOCK_SWEEP_PARAMS,            \
    .param_size = sizeof(TalusBlockSweepParams), .on_parts = talus_block_sweep_is_coloured, \
    TALUS_SWEEP_FIELDS

#endif
