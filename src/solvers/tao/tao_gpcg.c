/* solvers/tao/tao_gpcg.c - GPCG of PETSc's TAO: gradient projection, then conjugate gradients on the face. */
#include "solvers/tao/tao.h"

#include <stddef.h>

static const char *const preconditions[] = {"jacobi", "icc", "none", NULL};

static const TalusParam params[] = {
    {"precondition", TALUS_PARAM_CHOICE, offsetof(TalusTaoParams, precondition), 0, 0, 0,
     preconditions, "of conjugate gradients: the diagonal, incomplete Cholesky, or none"},
    {"steps", TALUS_PARAM_INT, offsetof(TalusTaoParams, steps), 100, 0, 1e6, NULL,
     "of conjugate gradients in an iteration, at most; 0: as PETSc does, 10000"},
};

static const TalusTaoKind kind = {
    .method = TALUS_TAO_GPCG, .preconditions = preconditions, .patience = 10};

static TalusStatus solve(TalusSolve *s)
{
    return talus_tao_solve(s, &kind);
}

const TalusSolverType talus_solver_tao_gpcg = {
    .name = "tao-gpcg",
    .summary = "PETSc's TAO: gradient projection and conjugate gradients, on the dual QP",
    .reference = "More & Toraldo 1991",
    .takes = TALUS_TAO_TAKES | TALUS_TAKES_BOX,
    TALUS_PARAMS(params, TalusTaoParams),
    .work_size = sizeof(TalusTaoWork),
    .solve = solve,
    .clear = talus_tao_clear,
    .on_host = "PETSc",
    .missing = talus_tao_missing,
    .load = talus_tao_load,
};
