/* solvers/face/cpg.c - the conjugate projected gradient method, preclik-2009 Algorithm 2 (after Renouf and Alart 2005).
 *
 *     r = -(N x + q),  r^ = P_T(x)(r),  p^ = P_T(x)(p)                                     lines 1-3
 *     beta = -r^'N p^ / p^'N p^,  p = r^ + beta p^                                         lines 4-5
 *     a = r'p / p'N p,  x = P(x + a p)                                                     lines 6-8
 * with T(x) the tangent cone of the set at x and N the operator in the metric. Line 5 of the paper lacks the hat over
 * r, without which p would point out of the set, contrary to its own text.
 *
 * variant=two evaluates these lines as they stand. The products are N x and N p and, if the projection onto the tangent
 * cone changed p, also N p^, which the paper's count of two products omits. variant=one forms only N p, and N x as a
 * second product if the projection in line 8 changed x; otherwise r is updated by a N p. In line 4, variant=one uses N
 * p in place of N p^. This changes beta and so the direction, but a is exact for any direction. variant=one takes about
 * as many iterations as variant=two, and half the products.
 *
 * Boxes and prisms with fixed bounds need only their tangent cones (sets/set.h). Coulomb's law on the square uses boxes
 * that change in each iteration (section 3.2), on the host only: after a step the bounds become mu times the new normal
 * impulses; tangential components that were at their bound move with it, the others are clamped to the new bounds.
 *
 * The paper's method is unscaled (metric=none). Convergence is not proven, since the projection in line 8 may undo the
 * descent. Tests without friction and with fixed bounds all converged; many with moving bounds did not
 * (docs/papers/preclik-2009.md). The method does not take circular cones, an open problem in the paper: the line search
 * ignores the curvature of the mantle, so that steps around the cone are too long, and even a single sliding contact
 * may cycle (docs/reference/solvers/active-set.md). */
#include "solvers/face/face.h"

#include "base/status.h"

#include <math.h>

typedef enum Variant { ONE, TWO } Variant;

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    int metric, variant;
} Params;

static const char *const variants[] = {"one", "two", NULL};

static const TalusParam params[] = {
    TALUS_FACE_METRIC(Params),
    TALUS_CHOICE(
        Params, variant, ONE, variants,
        "products per iteration while nothing is projected; two: the paper's lines as they stand"),
};

/* Projects p onto the tangent cone, with w->w as work vector; variant=two then computes N p again if p changed. Returns
 * the products used. */
static int project_direction(TalusSolve *s, TalusFaceWork *w, Variant variant)
{
    s->backend->block.project_tangent(s->op, w->metric, s->gamma, w->p, w->w);
    if (variant == TWO) {
        s->backend->vector.axpby(s->op, 1.0, w->w, -1.0, w->p);
        bool changed = s->backend->vector.dot(s->op, w->p, w->p) > 0.0;
        talus_vector_swap(&w->p, &w->w);
        if (!changed)
            return 0;
        talus_face_best_step(s, w, 1.0);
        return 1;
    }
    talus_vector_swap(&w->p, &w->w);
    return 0;
}

/* Lines 2 to 5: sets phi = r^ and p = r^ + beta p^, or p = r^ if there is no last p or the last p has no curvature.
 * Returns the products used. */
static int make_direction(TalusSolve *s, TalusFaceWork *w, Variant variant)
{
    int products = 0;
    s->backend->vector.combine(s->op, 1, (const double *const[]){w->g}, (const double[]){-1.0},
                               w->phi);
    s->backend->block.project_tangent(s->op, w->metric, s->gamma, w->phi, w->phi);
    if (w->pnp > 0.0)
        products = project_direction(s, w, variant);
    if (w->pnp > 0.0) {
        double beta = -s->backend->vector.dot(s->op, w->phi, w->np) / w->pnp;
        s->backend->vector.axpby(s->op, 1.0, w->phi, beta, w->p);
    } else {
        talus_vector_copy(s, w->phi, w->p);
    }
    return products;
}

/* ---- moving bounds ---- */

/* Returns the tangential impulse t after its bound moved from `before` to `after`: at the new bound if it was at the
 * old one, else clamped. The factor 1 - 1e-14 covers a projection that rounds the old bound differently. */
static double move_with_bound(double t, double before, double after)
{
    if (before > 0.0 && fabs(t) >= before * (1.0 - 1e-14))
        return copysign(after, t);
    return fmax(-after, fmin(t, after));
}

/* Sets the bounds of Coulomb blocks to mu times the normal impulses of x and moves the tangential parts of x with them.
 * True if x changed. */
static bool move_bounds(TalusSolve *s, const TalusMetricBlock *metric)
{
    const TalusOperator *op = s->op;
    bool changed = false;
    for (int i = 0; i < op->blocks; i++) {
        if (op->model[i].law != TALUS_LAW_COULOMB)
            continue;
        double *x = s->gamma + (size_t)i * (size_t)op->rows;
        double normal = metric ? metric[i][0] : 1.0, ratio = metric ? normal / metric[i][1] : 1.0;
        double before = op->mu[i] * ratio * (op->estimate[i] / normal);
        double after = op->mu[i] * ratio * x[0];
        for (int k = 1; k < op->rows; k++) {
            double t = move_with_bound(x[k], before, after);
            changed = changed || t != x[k];
            x[k] = t;
        }
        op->estimate[i] = normal * x[0];
    }
    return changed;
}

/* One iteration, lines 1 to 8, with moving bounds under Coulomb's law. If p does not descend, x stays and the next
 * direction is r^. Returns the products used. */
static int advance_iterate(TalusSolve *s, TalusFaceWork *w, Variant variant)
{
    TalusForwardSums change;
    int products = make_direction(s, w, variant) + 1;
    double a = talus_face_best_step(s, w, 1.0);
    if (a == 0.0) { /* not a descent direction: restart with the gradient */
        w->pnp = 0.0;
        return products;
    }
    s->backend->vector.axpby(s->op, a, w->p, 1.0, s->gamma);
    s->backend->block.forward_backward(s->op, w->metric, s->gamma, w->p, 0.0, s->gamma, NULL,
                                       &change);
    bool moved = s->op->prisms && move_bounds(s, w->metric);
    if (variant == ONE && change.r2 == 0.0 && !moved)
        return products + talus_face_update_gradient(s, w, a);
    talus_face_recompute_gradient(s, w);
    return products + 1;
}

/* Iterates until the driver ends the solve. */
static TalusStatus run_iterations(TalusSolve *s)
{
    const Params *p = s->params;
    TalusFaceWork *w = s->work;
    TALUS_TRY(talus_face_begin(s, w, p->metric));
    for (int products = 0; talus_face_report(s, w, products);)
        products = advance_iterate(s, w, (Variant)p->variant);
    talus_face_end(s, w);
    return TALUS_OK;
}

/* Under Coulomb's law turns the blocks into prisms for the time of the solve, with bounds from the given impulses. */
static TalusStatus solve_cpg(TalusSolve *s)
{
    if (!(s->op->kinds & TALUS_KINDS_OF(TALUS_LAW_COULOMB)))
        return run_iterations(s);
    if (!talus_backend_can(s->backend, TALUS_CAP_HOST_MEMORY))
        return talus_solver_fail("cpg", TALUS_ERR_UNSUPPORTED,
                                 "moving bounds are on backend cpu alone, and this problem is "
                                 "on %s",
                                 s->backend->name);
    TALUS_TRY(talus_problem_set_prisms(s->problem, true));
    for (int i = 0; i < s->op->blocks; i++)
        if (s->op->model[i].law == TALUS_LAW_COULOMB)
            s->op->estimate[i] = fmax(s->gamma[(size_t)i * (size_t)s->op->rows], 0.0);
    TalusStatus status = run_iterations(s);
    TalusStatus back = talus_problem_set_prisms(s->problem, false);
    return status != TALUS_OK ? status : back;
}

const TalusSolverType talus_solver_cpg = {
    .name = "cpg",
    .summary = "conjugate projected gradients: few products without friction and on boxes",
    .reference = "preclik-2009 Algorithm 2; Renouf and Alart 2005",
    .takes =
        TALUS_TAKES_NONNEG | TALUS_TAKES_BOX | TALUS_TAKES(COULOMB, SQUARE) | TALUS_TAKES_JOINT,
    TALUS_PARAMS(params, Params),
    .work_size = sizeof(TalusFaceWork),
    .solve = solve_cpg,
};
