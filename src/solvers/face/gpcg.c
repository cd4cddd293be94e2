/* solvers/face/gpcg.c - gradient projection with conjugate gradients in the faces.
 *
 * More and Toraldo 1991, the method that heyn-2012 starts from; gp.h has f, A and the phases. In a face with free
 * entries F, from w = 0 and r = -g_F, with p = r at first:
 *     a = r'r / p'Ap,  w += a p,  r -= a (Ap)_F,  p = r + (r'r / old r'r) p;   f falls by a r'r / 2.
 * A semidefinite A has directions without curvature if the equations of a face contradict each other. Along such a
 * direction one long step is taken, the last in the face; the projected search brings it back to the bounds. */
#include "solvers/face/gp.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

typedef struct Work {
    TalusGpWork gp;
    TalusVectors vectors;
    double *p, *r, *ap; /* direction; minus the gradient at x + w in the face; A p */
    double rr;          /* r'r */
} Work;

static const TalusParam params[] = {TALUS_GP_ROWS(10)};

/* `begin` of TalusKrylov. */
static TalusStatus begin_cg(TalusGp *gp, void *work)
{
    Work *w = work;
    talus_gp_set_multiple(gp, -1.0, gp->r, w->r);
    talus_gp_set_multiple(gp, 1.0, w->r, w->p);
    w->rr = gp->solve->backend->vector.dot(gp->solve->op, w->r, w->r);
    return TALUS_OK;
}

/* `step` of TalusKrylov. */
static double step_cg(TalusGp *gp, void *work, bool *more)
{
    Work *w = work;
    const TalusBackend *b = gp->solve->backend;
    const TalusOperator *op = gp->solve->op;
    bool flat;
    talus_gp_product(gp, w->p, w->ap);
    double pAp = b->vector.dot(op, w->p, w->ap), pp = b->vector.dot(op, w->p, w->p), old = w->rr;
    double a = old / talus_gp_curvature(gp, pAp, pp, &flat);
    b->vector.axpby(op, a, w->p, 1.0, gp->w);
    b->vector.axpby(op, a, w->ap, 1.0, gp->gw);
    b->block.clear_active(op, gp->metric, gp->x, w->ap);
    b->vector.axpby(op, -a, w->ap, 1.0, w->r);
    w->rr = b->vector.dot(op, w->r, w->r);
    b->vector.axpby(op, 1.0, w->r, w->rr / old, w->p);
    *more = !flat && w->rr > 0.0;
    return a * old - 0.5 * a * a * pAp;
}

/* `solve` of TalusSolverType: solves the problem from s->gamma, in place. */
static TalusStatus solve_gpcg(TalusSolve *s)
{
    static const TalusKrylov cg = {begin_cg, step_cg};
    Work *w = s->work;
    TALUS_TRY(TALUS_RESERVE_VECTORS(s, &w->vectors, "conjugate gradients", &w->p, &w->r, &w->ap));
    return talus_gp_solve(s, s->params, &w->gp, &cg, w);
}

const TalusSolverType talus_solver_gpcg = {
    .name = "gpcg",
    .summary = "gradient projection, conjugate gradients in the faces",
    .reference = "More and Toraldo 1991; heyn-2012 Eqs. (13) to (20)",
    .takes = TALUS_TAKES_NONNEG,
    TALUS_PARAMS(params, TalusGpParams),
    .work_size = sizeof(Work),
    .solve = solve_gpcg,
};
