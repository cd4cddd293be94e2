/* solvers/face/mprgp.c - modified proportioning with reduced gradient projection, pospisil-2015 Algorithm 2, and its
 * form for cones.
 *
 * phi is the gradient on free blocks, beta the chopped gradient on active ones (TalusFace): min(g, 0) for bounds. N is
 * the operator in the metric, Gamma the parameter `gamma`, a_f the step to the boundary.
 *     |beta| <= Gamma |phi|:  a step x - a p of conjugate gradients on the face if it stays in the set,
 *                             else the expansion, one of
 *                                 gradient   x = P(x - a~ phi(x)), a~ = step / |N|
 *                                 half-step  to the boundary, y = x - a_f p, then x = P(y - a~ phi(y))
 *                                 projcg     x = P(x - a p)
 *                                 spectral   to the boundary, then spectral steps
 *     otherwise:              the proportioning x - a beta with a = beta'g / beta'N beta.
 * The paper's step 3 is `gradient`; its proof, in Dostal and Schoeberl 2005, is of `half-step`. The paper takes
 * a~ = 1 / |N| and is unscaled (step=1, metric=none). Any step below 2 / |N| works (Dostal 2009); the default is long, and tolerates
 * a norm estimated 5 % too low.
 *
 * `projcg`, projected conjugate gradients as in PERMON, has no proof: its first step that raises the objective is the
 * last of the solve, half steps follow. Spectral steps are x - a d, d = x - P(x - l g), with the length l = d'd / d'N d
 * of Barzilai and Borwein from the step before, and a = 1 unless that raises the objective above the last ten
 * (backend/face.h). They go on until the number of active blocks stays and |beta| <= Gamma |phi|. Where most steps
 * would leave the set this halves the products: a spectral step takes one, while an expansion of another kind takes
 * two, and the next conjugate direction would leave the set again. The paper stops at |phi + beta| <= 1e-4 |q|:
 * `stop` is that number, with both norms in the metric. The driver's tolerance applies as well.
 *
 * Cones, and all blocks of three rows (MPGP of Dostal and Kozubek 2012): beta is the projected gradient on blocks at
 * the apex and on the mantle.
 * Proportioning is a projected gradient step of length a~ of all blocks, since a minimiser along beta may lie outside.
 * Sliding contacts are active and move only by projected gradients, as slowly as these converge. Products: 1 for a step
 * on the face, a proportioning and a spectral step, 2 for an expansion of another kind. */
#include "solvers/driver/chunk.h"
#include "solvers/face/face.h"

#include "base/status.h"

#include <math.h>

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    int metric;
    double gamma, step, stop;
    int expansion; /* TalusExpansion */
} Params;

static const char *const expansions[] = {"gradient", "half-step", "projcg", "spectral", NULL};

static const TalusParam params[] = {
    TALUS_FACE_METRIC(Params),
    TALUS_REAL(Params, gamma, 1.0, 1e-3, 1e3,
               "how large the chopped gradient may grow before blocks are released"),
    TALUS_REAL(Params, step, 1.9, 1e-3, 1.99, "fixed step times the norm of N; the paper has 1"),
    TALUS_REAL(
        Params, stop, 0.0, 0.0, 1.0,
        "also stop once the projected gradient is this small against q; the paper has 1e-4; 0: never"),
    TALUS_CHOICE(Params, expansion, TALUS_EXPAND_SPECTRAL, expansions,
                 "what follows where a step would leave the set; the paper has gradient"),
};

/* The proportioning step, which releases active blocks: in problems of one row per block a line search along beta,
 * which is in w->w; in others a projected gradient step of length `step`. Returns the products used. */
static int release_active_blocks(TalusSolve *s, TalusFaceWork *w, double step)
{
    if (s->op->rows == 1) /* beta <= 0, at x = 0: no a > 0 in x - a beta leaves the set */
        return talus_face_minimise_along(s, w, w->w);
    talus_face_projected_step(s, w, step, w->g);
    return 1;
}

/* Returns |S q|^2; the parameter `stop` is relative to |S q|. Overwrites p and np. */
static double scaled_offset_squared(TalusSolve *s, TalusFaceWork *w)
{
    s->backend->vector.zero(s->op, w->p, (size_t)s->op->rows * (size_t)s->op->blocks);
    s->backend->op.gradient(s->op, w->metric, w->p, true, w->np);
    return s->backend->vector.dot(s->op, w->np, w->np);
}

/* Iterates until the driver ends the solve or |phi + beta|^2 <= enough. `products`: used before the first iteration. */
static void run_iterations(TalusSolve *s, const Params *p, TalusFaceWork *w, double enough,
                           int products)
{
    for (;;) {
        double step = p->step / w->norm;
        TalusFace face;
        s->backend->block.split_gradient(s->op, w->metric, s->gamma, w->g, step, w->phi, NULL, w->w,
                                         &face);
        if (!talus_solve_next(s, products, s->gamma, w->metric, face.residual2, face.residual_max))
            return;
        if (face.free2 + face.chopped2 <= enough)
            return;
        bool proportional = face.chopped2 <= p->gamma * p->gamma * face.free2;
        if (w->spectral.length > 0.0 && (face.active != w->active || !proportional))
            products = talus_face_spectral_step(s, w, face.active);
        else if (proportional)
            products = talus_face_advance(s, w, &face, step, (TalusExpansion)p->expansion);
        else
            products = release_active_blocks(s, w, step);
    }
}

/* Like run_iterations, on a backend that does many iterations in one call; ends at |phi + beta|^2 <= enough. */
static TalusStatus run_iterations_on_backend(TalusSolve *s, const Params *p, TalusFaceWork *w,
                                             double enough)
{
    TalusProportioning state = {.metric = w->metric,
                                .x = s->gamma,
                                .g = w->g,
                                .p = w->p,
                                .np = w->np,
                                .phi = w->phi,
                                .w = w->w,
                                .gamma = p->gamma,
                                .step = p->step,
                                .expansion = (TalusExpansion)p->expansion,
                                .enough = enough,
                                .norm = w->norm};
    for (int since = 0;;) {
        TalusRun run = talus_chunk_next_run(s, 1, since);
        TALUS_TRY(s->backend->run.proportion(s->op, &state, &run));
        since += run.done;
        talus_chunk_count_run(s, &run);
        s->info->products +=
            state.products -
            run.done; /* talus_chunk_count_run has counted one product per iteration */
        w->norm = state.norm;
        if (!talus_solve_report(s, s->gamma, w->metric, run.residual2, run.residual_max) ||
            state.reached)
            return TALUS_OK;
    }
}

/* `solve` of TalusSolverType: solves the problem from s->gamma, in place. */
static TalusStatus solve_mprgp(TalusSolve *s)
{
    const Params *p = s->params;
    TalusNormState *state = s->state;
    TalusFaceWork *w = s->work;
    TalusStatus status = TALUS_OK;
    TALUS_TRY(talus_face_begin(s, w, p->metric));
    talus_face_estimate_norm(s, w, state->norm);
    double enough = p->stop > 0.0 ? p->stop * p->stop * scaled_offset_squared(s, w) : -1.0;
    int products = p->stop > 0.0;
    if (s->backend->run.proportion && s->op->pair && !s->op->mixed_sets && !s->op->elimination) {
        s->info->products += products;
        status = run_iterations_on_backend(s, p, w, enough);
    } else {
        run_iterations(s, p, w, enough, products);
    }
    state->norm = w->norm;
    talus_face_end(s, w);
    return status;
}

const TalusSolverType talus_solver_mprgp = {
    .name = "mprgp",
    .summary = "conjugate gradients on faces, left in proportion: bounds, and cones slowly",
    .reference = "pospisil-2015 Algorithm 2; Dostal and Kozubek 2012 for cones",
    .takes = TALUS_TAKES_CONVEX,
    .through_products = true,
    TALUS_PARAMS(params, Params),
    .state_size = sizeof(TalusNormState),
    .work_size = sizeof(TalusFaceWork),
    .solve = solve_mprgp,
};
