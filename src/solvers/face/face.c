/* solvers/face/face.c - conjugate gradients on a face, the step that leaves it, and the test of the norm.
 *
 * N may be singular, and a matrix from a file slightly indefinite. A direction that is flat relative to the norm is
 * treated as slightly curved (backend/face.h). The step along such a direction ends at the boundary of the set. Without
 * a boundary the step is long, but its length does not depend on rounding. On a problem without a solution the impulses
 * then grow steadily, and the infeasibility monitor finds its proof. */
#include "solvers/face/face.h"

#include "backend/face.h"
#include "base/memory.h"
#include "base/status.h"

#include <math.h>

/* Factors on the norm. MARGIN: on a new estimate, which is from below. FORGET: on the norm of the last solve. */
static const double MARGIN = 1.02, FORGET = 0.97;

const char *const talus_face_metrics[] = {"none", "trace", "anisotropic", NULL};

/* ---- begin and end ---- */

void talus_face_recompute_gradient(TalusSolve *s, TalusFaceWork *w)
{
    s->backend->op.gradient(s->op, w->metric, s->gamma, true, w->g);
    w->g_updates = 0;
}

TalusStatus talus_face_begin(TalusSolve *s, TalusFaceWork *w, int metric)
{
    TALUS_TRY(TALUS_RESERVE_VECTORS(s, &w->vectors, "vectors of a face", &w->g, &w->p, &w->np,
                                    &w->phi, &w->w));
    w->metric = NULL;
    if (metric != TALUS_FACE_UNSCALED) {
        TalusMetric kind =
            metric == TALUS_FACE_TRACE ? TALUS_METRIC_TRACE : TALUS_METRIC_ANISOTROPIC;
        TALUS_TRY(talus_solver_make_metric(s, kind, &w->metric_memory, &w->metric));
        s->backend->op.scale(s->op, w->metric, true, s->gamma);
    }
    s->backend->block.project(s->op, w->metric, s->gamma);
    talus_face_recompute_gradient(s, w);
    s->info->products++;
    w->norm = talus_norm_lower_bound(s, w->metric);
    w->pnp = 0.0;
    w->active = 0;
    w->rose = false;
    w->spectral.length = 0.0;
    return TALUS_OK;
}

void talus_face_end(TalusSolve *s, TalusFaceWork *w)
{
    if (w->metric)
        s->backend->op.scale(s->op, w->metric, false, s->gamma);
}

/* ---- the norm ---- */

void talus_face_estimate_norm(TalusSolve *s, TalusFaceWork *w, double last_norm)
{
    double norm =
        w->metric && last_norm > 0.0
            ? FORGET * last_norm
            : MARGIN * talus_operator_norm(s, w->metric, TALUS_POWER_ITERATIONS, w->p, w->np);
    if (norm > w->norm && isfinite(norm))
        w->norm = norm;
}

/* ---- steps ---- */

bool talus_face_report(TalusSolve *s, TalusFaceWork *w, int products)
{
    TalusForwardSums at;
    s->backend->block.forward_backward(s->op, w->metric, s->gamma, w->g, 1.0, NULL, NULL, &at);
    return talus_solve_next(s, products, s->gamma, w->metric, at.residual2, at.residual_max);
}

double talus_face_projected_step(TalusSolve *s, TalusFaceWork *w, double step, const double *d)
{
    TalusForwardSums forward;
    double sums[3];
    talus_vector_copy(s, s->gamma, w->w);
    s->backend->block.forward_backward(s->op, w->metric, s->gamma, d, step, s->gamma, NULL,
                                       &forward);
    s->backend->op.gradient(s->op, w->metric, s->gamma, true, w->p);
    talus_vector_swap(&w->g, &w->p);
    w->g_updates = 0;
    w->pnp = 0.0;
    s->backend->vector.axpby(s->op, -1.0, s->gamma, 1.0,
                             w->w); /* w: minus the step; p: minus N times the step */
    s->backend->vector.axpby(s->op, -1.0, w->g, 1.0, w->p);
    s->backend->vector.dots(s->op, 3, (const double *const[]){w->p, w->w, w->g}, w->w, sums);
    talus_face_raise_norm(&w->norm, sums[0], sums[1]);
    return talus_face_decrease(sums[0], sums[2]);
}

/* Sets p = phi - rho p, conjugate to the last p, if the last p had curvature and the number of active blocks is the
 * same; else p = phi. */
static void make_direction(TalusSolve *s, TalusFaceWork *w, int active)
{
    if (w->pnp > 0.0 && active == w->active) {
        double rho = s->backend->vector.dot(s->op, w->phi, w->np) / w->pnp;
        s->backend->vector.axpby(s->op, 1.0, w->phi, -rho, w->p);
    } else {
        talus_vector_copy(s, w->phi, w->p);
    }
    w->active = active;
}

double talus_face_best_step(TalusSolve *s, TalusFaceWork *w, double sign)
{
    double sums[3];
    s->backend->op.gradient(s->op, w->metric, w->p, false, w->np);
    s->backend->vector.dots(s->op, 3, (const double *const[]){w->np, w->g, w->p}, w->p, sums);
    w->pp = sums[2];
    return talus_face_step_length(&w->norm, &w->pnp, sums[0], sums[1], sums[2], sign);
}

int talus_face_update_gradient(TalusSolve *s, TalusFaceWork *w, double a)
{
    s->backend->vector.axpby(s->op, a, w->np, 1.0, w->g);
    if (++w->g_updates < TALUS_FACE_REFRESH)
        return 0;
    talus_face_recompute_gradient(s, w);
    return 1;
}

/* Sets x = x - a p and updates its gradient. Returns the products used. */
static int move_along_p(TalusSolve *s, TalusFaceWork *w, double a)
{
    s->backend->vector.axpby(s->op, -a, w->p, 1.0, s->gamma);
    return talus_face_update_gradient(s, w, -a);
}

/* Expands the face, as TalusExpansion says: a is the step that minimises along p, `limit` that to the boundary, `step`
 * that of projected gradients. Returns the products used. */
static int expand_face(TalusSolve *s, TalusFaceWork *w, double a, double limit, double step,
                       TalusExpansion expansion)
{
    int products = 1;
    if (expansion == TALUS_EXPAND_PROJCG && !w->rose) {
        w->rose = !(talus_face_projected_step(s, w, a, w->p) > 0.0);
        return products;
    }
    if (expansion != TALUS_EXPAND_GRADIENT) {
        products += move_along_p(s, w, limit * TALUS_FACE_OVERSHOOT);
        s->backend->block.project(s->op, w->metric, s->gamma);
        if (expansion == TALUS_EXPAND_SPECTRAL) {
            talus_spectral_begin(&w->spectral, w->norm, w->pnp, w->pp);
            w->pnp = 0.0;
            return products - 1;
        }
        talus_vector_copy(s, w->g, w->phi);
        s->backend->block.clear_active(s->op, w->metric, s->gamma, w->phi);
    }
    talus_face_projected_step(s, w, step, w->phi);
    return products;
}

int talus_face_advance(TalusSolve *s, TalusFaceWork *w, const TalusFace *face, double step,
                       TalusExpansion expansion)
{
    w->spectral.length = 0.0;
    make_direction(s, w, face->active);
    double a = talus_face_best_step(s, w, -1.0);
    if (a == 0.0) { /* no descent: the face is solved up to rounding */
        talus_face_projected_step(s, w, step, w->g);
        return 2;
    }
    double limit = s->backend->block.feasible_step(s->op, w->metric, s->gamma, w->p);
    if (!(a < limit))
        return 1 + expand_face(s, w, a, limit, step, expansion);
    return 1 + move_along_p(s, w, a);
}

int talus_face_spectral_step(TalusSolve *s, TalusFaceWork *w, int active)
{
    TalusForwardSums forward;
    int products = 1;
    s->backend->block.forward_backward(s->op, w->metric, s->gamma, w->g, w->spectral.length, w->p,
                                       NULL, &forward);
    s->backend->vector.axpby(s->op, 1.0, s->gamma, -1.0, w->p);
    double best = talus_face_best_step(s, w, -1.0);
    w->active = active;
    if (best > 0.0) {
        double a = talus_spectral_choose_step(&w->spectral, best, w->pnp);
        products += move_along_p(s, w, a);
        s->backend->block.project(s->op, w->metric, s->gamma);
        talus_spectral_set_length(&w->spectral, w->norm, w->pnp, w->pp);
    } else {
        w->spectral.length = 0.0; /* no descent: the problem is solved up to rounding */
    }
    w->pnp = 0.0;
    return products;
}

int talus_face_minimise_along(TalusSolve *s, TalusFaceWork *w, double *d)
{
    double *old = w->p;
    w->p = d;
    double a = talus_face_best_step(s, w, -1.0);
    int products = 1 + move_along_p(s, w, a);
    w->p = old;
    w->pnp = 0.0;
    return products;
}
