/* solvers/face/pgd.c - projected gradient descent with tangent cones, preclik-2009 Algorithm 1.
 *
 *     r = -(N x + q),  p = P_T(x)(r),  a = r'p / p'N p,  x = P(x + a p)
 * with T(x) the tangent cone of the set at x and N the operator in the metric. The line search is exact but ignores the
 * set. The paper recomputes r each time, two products per iteration. Here r is updated by a N p if the projection of x
 * + a p changed nothing: the same iterates, and two products only if it did. The paper is unscaled (metric=none). Slow:
 * steepest descent. Convergence is not proven, since the projection may undo the descent. Not for cones, for the reason
 * given in cpg.c. */
#include "solvers/face/face.h"

#include <math.h>

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    int metric;
} Params;

static const TalusParam params[] = {
    TALUS_FACE_METRIC(Params),
};

/* One iteration: sets p and moves x along it, with the gradient. Returns the products used. */
static int advance_iterate(TalusSolve *s, TalusFaceWork *w)
{
    TalusForwardSums change;
    s->backend->vector.combine(s->op, 1, (const double *const[]){w->g}, (const double[]){-1.0},
                               w->p);
    s->backend->block.project_tangent(s->op, w->metric, s->gamma, w->p, w->p);
    double a = talus_face_best_step(s, w, 1.0);
    s->backend->vector.axpby(s->op, a, w->p, 1.0, s->gamma);
    s->backend->block.forward_backward(s->op, w->metric, s->gamma, w->p, 0.0, s->gamma, NULL,
                                       &change);
    if (change.r2 == 0.0)
        return 1 + talus_face_update_gradient(s, w, a);
    talus_face_recompute_gradient(s, w);
    return 2;
}

/* `solve` of TalusSolverType: solves the problem from s->gamma, in place. */
static TalusStatus solve_pgd(TalusSolve *s)
{
    const Params *p = s->params;
    TalusFaceWork *w = s->work;
    TALUS_TRY(talus_face_begin(s, w, p->metric));
    for (int products = 0; talus_face_report(s, w, products);)
        products = advance_iterate(s, w);
    talus_face_end(s, w);
    return TALUS_OK;
}

const TalusSolverType talus_solver_pgd = {
    .name = "pgd",
    .summary = "projected gradient descent with exact line search: for comparison",
    .reference = "preclik-2009 Algorithm 1",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES_BOX | TALUS_TAKES_JOINT,
    .through_products = true,
    TALUS_PARAMS(params, Params),
    .work_size = sizeof(TalusFaceWork),
    .solve = solve_pgd,
};
