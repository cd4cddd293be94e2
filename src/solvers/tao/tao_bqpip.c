/* solvers/tao/tao_bqpip.c - BQPIP of PETSc's TAO: Mehrotra's interior point method for bounds. */
#include "solvers/tao/tao.h"

static const char *const preconditions[] = {"cholesky", "icc", "jacobi", "none", NULL};

static const TalusParam params[] = {
    TALUS_CHOICE(
        TalusTaoParams, precondition, 0, preconditions,
        "of conjugate gradients: Cholesky, which leaves them nothing to do, incomplete Cholesky, the "
        "diagonal, or none"),
};

static const TalusTaoKind kind = {
    .method = TALUS_TAO_BQPIP, .preconditions = preconditions, .patience = 30};

const TalusSolverType talus_solver_tao_bqpip = {
    .name = "tao-bqpip",
    .summary = "PETSc's TAO: interior point method for bounds, on the dual QP",
    .reference = "Mehrotra 1992; PETSc's manual pages",
    .takes = TALUS_TAO_TAKES,
    TALUS_PARAMS(params, TalusTaoParams),
    TALUS_TAO_FIELDS(kind),
};
