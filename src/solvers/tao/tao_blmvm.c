/* solvers/tao/tao_blmvm.c - BLMVM of PETSc's TAO: quasi-Newton steps with limited memory, projected line search.
 * Gradients alone: no matrix is formed. */
#include "solvers/tao/tao.h"

static const char *const stops[] = {"ours", "paper", NULL};

static const TalusParam params[] = {
    TALUS_CHOICE(TalusTaoParams, stop, TALUS_TAO_STOP_OURS, stops,
                 "paper: once the projected gradient is below 1e-3 m/s, as in petra-2009"),
};

static const TalusTaoKind kind = {.method = TALUS_TAO_BLMVM, .paper = 1e-3};

const TalusSolverType talus_solver_tao_blmvm = {
    .name = "tao-blmvm",
    .summary = "PETSc's TAO: quasi-Newton with limited memory and bounds, on the dual QP",
    .reference = "Benson & More 2001; petra-2009",
    .takes = TALUS_TAO_TAKES | TALUS_TAKES_BOX,
    TALUS_PARAMS(params, TalusTaoParams),
    TALUS_TAO_FIELDS(kind),
};
