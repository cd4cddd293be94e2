/* solvers/tao/tao_tron.c - TRON of PETSc's TAO: Newton's method in a trust region, on the face that gradient
 * projection finds. */
#include "solvers/tao/tao.h"

#include <stddef.h>

static const char *const stops[] = {"ours", "paper", NULL};
static const char *const preconditions[] = {"icc", "jacobi", "none", NULL};

static const TalusParam params[] = {
    {"stop", TALUS_PARAM_CHOICE, offsetof(TalusTaoParams, stop), TALUS_TAO_STOP_OURS, 0, 0, stops,
     "paper: once the projected gradient is below 1e-4 m/s, as in petra-2009"},
    {"precondition", TALUS_PARAM_CHOICE, offsetof(TalusTaoParams, precondition), 0, 0, 0,
     preconditions, "of conjugate gradients: incomplete Cholesky, the diagonal, or none"},
};

static const TalusTaoKind kind = {
    .method = TALUS_TAO_TRON, .paper = 1e-4, .preconditions = preconditions, .patience = 20};

static TalusStatus solve(TalusSolve *s)
{
    return talus_tao_solve(s, &kind);
}

const TalusSolverType talus_solver_tao_tron = {
    .name = "tao-tron",
    .summary = "PETSc's TAO: trust-region Newton on faces, on the dual QP",
    .reference = "Lin & More 1999; petra-2009",
    .takes = TALUS_TAO_TAKES | TALUS_TAKES_BOX,
    TALUS_PARAMS(params, TalusTaoParams),
    .work_size = sizeof(TalusTaoWork),
    .solve = solve,
    .clear = talus_tao_clear,
    .on_host = "PETSc",
    .missing = talus_tao_missing,
    .load = talus_tao_load,
};
