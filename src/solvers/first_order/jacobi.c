/* solvers/first_order/jacobi.c - projected Jacobi iteration.
 *
 *     gamma <- gamma + lambda (P(gamma - omega eta g) - gamma),   g = (N + E) gamma + q,
 * with eta = rows / trace of each block's diagonal block of N + E: heyn-2012 Eq. (12) (whose sign in front of omega is
 * wrong: it must be minus) and negrut-2009 Eq. (15) without the inner sum. One product per iteration. The iteration
 * converges for small omega, slowly. */
#include "solvers/driver/chunk.h"

#include "backend/run.h"
#include "base/status.h"

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    double omega, lambda;
} Params;

static const TalusParam params[] = {
    TALUS_REAL(Params, omega, 0.3, 1e-6, 2.0, "step length"),
    TALUS_REAL(Params, lambda, 1.0, 1e-6, 1.0, "averaging with the old value"),
};

/* Iterations between residuals: CHECK on backends that run many iterations in one call (else 1), CHECK_UNSEEN where
 * only the budget can end the solve (talus_chunk_check_interval). */
enum { CHECK = 5, CHECK_UNSEEN = 20 };

/* `solve` of TalusSolverType: solves the problem from s->gamma, in place. */
static TalusStatus solve_jacobi(TalusSolve *s)
{
    const Params *p = s->params;
    const bool sees = talus_backend_can(s->backend, TALUS_CAP_SEES_ITERATES);
    const int check = talus_chunk_check_interval(s, sees ? 1 : CHECK, CHECK_UNSEEN);
    int since = 0;
    TalusRun run;
    do { /* the residual is measured before the step, so that one product gives residual and step */
        run = talus_chunk_next_run(s, check, since);
        TALUS_TRY(talus_run_jacobi(s->backend, s->op, p->omega, p->lambda, s->gamma, &run));
        since += run.done;
        talus_chunk_count_run(s, &run);
    } while (talus_solve_report(s, s->gamma, NULL, run.residual2, run.residual_max));
    return TALUS_OK;
}

const TalusSolverType talus_solver_jacobi = {
    .name = "jacobi",
    .summary = "projected Jacobi: simple, parallel, slow",
    .reference = "heyn-2012 Eq. (12), negrut-2009 Eq. (15)",
    .takes = TALUS_TAKES_CONVEX,
    .through_products = true,
    .in_runs = true,
    TALUS_PARAMS(params, Params),
    .solve = solve_jacobi,
};
