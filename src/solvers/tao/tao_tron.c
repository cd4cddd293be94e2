/* solvers/tao/tao_tron.c - TRON of PETSc's TAO: Newton's method in a trust region, on the face that gradient
 * projection finds. */
#include "solvers/tao/tao.h"

static const char *const stops[] = {"ours", "paper", NULL};
static const char *const preconditions[] = {"icc", "jacobi", "none", NULL};

static const TalusParam params[] = {
    TALUS_CHOICE(TalusTaoParams, stop, TALUS_TAO_STOP_OURS, stops,
                 "paper: once the projected gradient is below 1e-4 m/s, as in petra-2009"),
    TALUS_CHOICE(TalusTaoParams, precondition, 0, preconditions,
                 "of conjugate gradients: incomplete Cholesky, the diagonal, or none"),
};

static const TalusTaoKind kind = {
    .method = TALUS_TAO_TRON, .paper = 1e-4, .preconditions = preconditions, .patience = 20};

const TalusSolverType talus_solver_tao_tron = {
    .name = "tao-tron",
    .summary = "PETSc's TAO: trust-region Newton on faces, on the dual QP",
    .reference = "Lin & More 1999; petra-2009",
    .takes = TALUS_TAO_TAKES | TALUS_TAKES_BOX,
    TALUS_PARAMS(params, TalusTaoParams),
    TALUS_TAO_FIELDS(kind),
};
