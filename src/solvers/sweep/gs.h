/* solvers/sweep/gs.h - what gs and gs-coulomb share: their parameters and their solve. */
#ifndef TALUS_SOLVERS_SWEEP_GS_H
#define TALUS_SOLVERS_SWEEP_GS_H

#include "solvers/sweep/block_sweep.h"

typedef struct TalusGsParams {
    double omega, rho;
    int order, metric, seed;
    bool coupling;
} TalusGsParams;

/* Number of parameters, and their table. */
enum { TALUS_GS_PARAMS = 6 };
extern const TalusParam talus_gs_params[TALUS_GS_PARAMS];

/* `solve` of gs and gs-coulomb: projected sweeps. Blocks under Coulomb's law are solved by that law if the plan is
 * exact (TalusOuterPlan), else as cones with De Saxce's shifts. */
TalusStatus talus_gs_solve(TalusSolve *solve);

/* `on_parts` of gs and gs-coulomb. */
bool talus_gs_is_coloured(const void *params);

/* Fields of TalusSolverType that gs and gs-coulomb share. */
#define TALUS_GS                                                                        \
    .solve = talus_gs_solve, .params = talus_gs_params, .param_count = TALUS_GS_PARAMS, \
    .param_size = sizeof(TalusGsParams), .on_parts = talus_gs_is_coloured, TALUS_SWEEP_FIELDS

#endif
