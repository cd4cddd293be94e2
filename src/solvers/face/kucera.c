/* solvers/face/kucera.c - Kucera's method for separable convex sets, heyn-2012 Eqs. (25) to (29).
 *
 * A block is active if its impulse is on the boundary of its set (apex or mantle of a cone), else free. With g the
 * gradient, N the operator in the metric, a~ = step / |N| and the projected gradient
 *     g~ = (x - P(x - a~ g)) / a~                                                             (25)
 * phi~ and beta~ are its free and active parts, phi the free part of g. Each iteration,
 *     beta~'g <= Gamma^2 phi~'g:  a step of conjugate gradients on the face, along
 *                                 p = phi - rho p_old, rho = phi'N p_old / p_old'N p_old,      (29)
 *                                 if it stays in the set; else the expansion, lines 14 and 15,
 *                                     y = x - a_f p,  x = y - a~ phi~(y)
 *     otherwise:                  the proportioning x = x - a~ beta~, line 19.
 * Gamma is the parameter `gamma`, a_f the step to the boundary. A step on the face or a proportioning takes one
 * product, an expansion two. Convergence is finite on a face, linear overall. The paper's method is unscaled
 * (metric=none) and meant for bounds; Kucera's own takes any separable convex set. On cones, sliding contacts are
 * active: they move only by projected gradients, and converge as slowly as these. */
#include "solvers/face/face.h"

#include <math.h>

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    int metric;
    double gamma, step;
} Params;

static const TalusParam params[] = {
    TALUS_FACE_METRIC(Params),
    TALUS_REAL(Params, gamma, 1.0, 1e-3, 1e3,
               "how large the active part of the gradient may grow before blocks are released"),
    TALUS_REAL(Params, step, 1.0, 1e-3, 1.99, "fixed step times the norm of N"),
};

/* Iterates until the driver ends the solve. */
static void run_iterations(TalusSolve *s, const Params *p, TalusFaceWork *w)
{
    int products = 0;
    for (;;) {
        double step = p->step / w->norm;
        TalusFace face;
        s->backend->block.split_gradient(s->op, w->metric, s->gamma, w->g, step, w->phi, NULL, NULL,
                                         &face);
        if (!talus_solve_next(s, products, s->gamma, w->metric, face.residual2, face.residual_max))
            return;
        if (face.chopped_g <= p->gamma * p->gamma * face.reduced_g) {
            products = talus_face_advance(s, w, &face, step, TALUS_EXPAND_HALF_STEP);
        } else {
            s->backend->vector.axpby(s->op, 1.0, w->g, -1.0,
                                     w->phi); /* phi becomes g on active blocks */
            talus_face_projected_step(s, w, step, w->phi);
            products = 1;
        }
    }
}

/* `solve` of TalusSolverType: solves the problem from s->gamma, in place. */
static TalusStatus solve_kucera(TalusSolve *s)
{
    const Params *p = s->params;
    TalusNormState *state = s->state;
    TalusFaceWork *w = s->work;
    TALUS_TRY(talus_face_begin(s, w, p->metric));
    talus_face_estimate_norm(s, w, state->norm);
    run_iterations(s, p, w);
    state->norm = w->norm;
    talus_face_end(s, w);
    return TALUS_OK;
}

const TalusSolverType talus_solver_kucera = {
    .name = "kucera",
    .summary =
        "conjugate gradients on faces, projected gradients between: bounds, and cones slowly",
    .reference = "heyn-2012 Eqs. (25)-(29); Kucera 2008",
    .takes = TALUS_TAKES_CONVEX,
    .through_products = true,
    TALUS_PARAMS(params, Params),
    .state_size = sizeof(TalusNormState),
    .work_size = sizeof(TalusFaceWork),
    .solve = solve_kucera,
};
