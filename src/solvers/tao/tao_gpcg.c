/* solvers/tao/tao_gpcg.c - GPCG of PETSc's TAO: gradient projection, then conjugate gradients on the face. */
#include "solvers/tao/tao.h"

static const char *const preconditions[] = {"jacobi", "icc", "none", NULL};

static const TalusParam params[] = {
    TALUS_CHOICE(TalusTaoParams, precondition, 0, preconditions,
                 "of conjugate gradients: the diagonal, incomplete Cholesky, or none"),
    TALUS_INT(TalusTaoParams, steps, 100, 0, 1e6,
              "of conjugate gradients in an iteration, at most; 0: as PETSc does, 10000"),
};

static const TalusTaoKind kind = {
    .method = TALUS_TAO_GPCG, .preconditions = preconditions, .patience = 10};

const TalusSolverType talus_solver_tao_gpcg = {
    .name = "tao-gpcg",
    .summary = "PETSc's TAO: gradient projection and conjugate gradients, on the dual QP",
    .reference = "More & Toraldo 1991",
    .takes = TALUS_TAO_TAKES | TALUS_TAKES_BOX,
    TALUS_PARAMS(params, TalusTaoParams),
    TALUS_TAO_FIELDS(kind),
};
