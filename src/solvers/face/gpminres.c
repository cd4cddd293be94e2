/* solvers/face/gpminres.c - gradient projection with MINRES in the faces: GPMINRES of heyn-2012.
 *
 * The phases and their conditions are in solvers/face/gp.h, MINRES in solvers/face/minres.c. The paper uses MINRES
 * instead of conjugate gradients because N is only positive semidefinite. It states 10 MINRES steps for each face, but
 * not mu, eta1 or eta2. An iteration is a MINRES step or a projection step. */
#include "solvers/face/minres.h"

#include "base/status.h"

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    TalusGpParams gp;
    bool null_exit;
} Params;

typedef struct Work {
    TalusGpWork gp;
    TalusMinres minres;
} Work;

static const TalusParam params[] = {TALUS_GP_ROWS(10), TALUS_MINRES_ROW(Params)};

/* `solve` of TalusSolverType: solves the problem from s->gamma, in place. */
static TalusStatus solve_gpminres(TalusSolve *s)
{
    static const TalusKrylov minres = {talus_minres_begin, talus_minres_step};
    const Params *p = s->params;
    Work *w = s->work;
    TALUS_TRY(talus_minres_reserve(s, &w->minres));
    w->minres.null_exit = p->null_exit;
    return talus_gp_solve(s, &p->gp, &w->gp, &minres, &w->minres);
}

const TalusSolverType talus_solver_gpminres = {
    .name = "gpminres",
    .summary = "gradient projection, minimum residuals in the faces",
    .reference = "heyn-2012 section 4, GPMINRES; Paige and Saunders 1975",
    .takes = TALUS_TAKES_NONNEG,
    TALUS_PARAMS(params, Params),
    .work_size = sizeof(Work),
    .solve = solve_gpminres,
};
