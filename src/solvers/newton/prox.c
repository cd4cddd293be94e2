/* solvers/newton/prox.c - proximal point method with an inner semismooth Newton method, for exact Coulomb and ccp.
 *
 * A proximal step takes the centre c to a solution x of the same problem with velocities
 *     u(x) = (N + E) x + q + rho D (x - c),
 * with D the block scales. N + E + rho D is regular however rank deficient N is (hyperstatic bodies), and a step that
 * ends at x = c has solved the problem itself. Each proximal step is solved by Newton's method on the natural map f of
 * all blocks (natural_map.h). The Jacobian of f is diag(L) (N + E) + diag(M); each Newton step takes one sparse
 * factorisation, in an elimination order found once per solve (linalg/fronts.h).
 *
 * The rules. |f| is in m/s; the scale of a block is the diagonal of the proximal problem, d (1 + rho). Newton steps are
 * full at first: across kinks, where blocks change between open, sliding and sticking, |f| may rise for a step or two,
 * and a line search in every step would cost more factorisations. Once |f| is at most `inner` times its value at the
 * centre, x becomes the centre. rho then falls by `shrink` if at most FEW_NEWTON steps were needed, so that the method
 * ends as Newton's on the problem itself. If |f| hardly fell from centre to centre, the next proximal step is solved
 * more accurately, since inaccurate proximal steps can cycle. If MAX_NEWTON steps do not suffice, x returns to the
 * centre unless |f| fell, rho grows, and the line search is switched on if it was off, else off: full steps can
 * alternate between two points. Exact Coulomb is not monotone and no proof covers it; experience is in
 * docs/reference/solvers/direct.md.
 *
 * The impulses reported and returned are those of the iterate projected onto the cones. An iteration is one Newton
 * step; its factorisation and solution count as one product, as does every (N + E) x. Without friction the method is an
 * active-set method. Memory and time are those of a direct method: fine for hundreds to thousands of contacts, not for
 * deep beds. On infeasible problems the iterates grow, as rho falls, along a direction from which the infeasibility
 * monitor finds a certificate. */
#include "solvers/driver/best.h"
#include "solvers/newton/natural_system.h"

#include "base/status.h"

#include <math.h>
#include <string.h>

/* MAX_NEWTON: largest number of Newton steps in a proximal step. FEW_NEWTON: number of Newton steps up to which rho
 * falls. HALVINGS: largest number of halvings of a Newton step by the line search. */
enum { MAX_NEWTON = 6, FEW_NEWTON = 2, HALVINGS = 5 };

/* GROW: factor on rho after a failed proximal step. RISE: growth of |f| that the line search accepts. */
static const double GROW = 4.0, RISE = 2.0;
/* rho falls to RHO_MIN, and to RHO_LEAST where the weight limits progress; it grows to RHO_MAX. */
static const double RHO_LEAST = 1e-12, RHO_MIN = 1e-6, RHO_MAX = 1e6;
/* `inner` is multiplied by TIGHTEN, down to INNER_MIN, if more than the share STALLED of |f| is left from centre to
 * centre. */
static const double STALLED = 0.9, TIGHTEN = 0.3, INNER_MIN = 1e-3;
static const double SLOW = 0.5; /* share of |f| left from centre to centre that is slow progress */
static const double SUSPECT = 1e-5; /* rho below which growing impulses may grow without bound */

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    double rho, shrink, inner;
} Params;

static const TalusParam params[] = {
    TALUS_REAL(Params, rho, 0.3, 1e-8, 1e6, "proximal weight at first, over the diagonal"),
    TALUS_REAL(Params, shrink, 0.1, 1e-3, 1.0, "factor on rho after a proximal step"),
    TALUS_REAL(Params, inner, 0.7, 1e-6, 0.99,
               "share of the residual at which a proximal step ends"),
};

/* X: iterate x; CENTRE: c; U: (N + E) x + q without the proximal term; F: f with that term; STEP: Newton's step, to be
 * subtracted; REPORTED: x projected onto the sets; V: u of REPORTED; OFFSET: q. */
enum { X, CENTRE, U, F, STEP, REPORTED, V, OFFSET, VECTORS };

typedef struct Work {
    TalusNaturalSystem system;
    TalusVectors vectors;
    double *vector[VECTORS];
    TalusBest best;
    double rho; /* value at the end of the last call */
} Work;

typedef struct Run {
    TalusSolve *s;
    const Params *p;
    Work *w;
    int n;               /* number of rows */
    double rho, inner;   /* current values; the parameters are the first ones */
    double merit;        /* |f| at X */
    double centre_merit; /* |f| at the centre */
    int steps;           /* Newton steps since the centre was set */
    bool line_search;    /* Newton steps that raise |f| are halved */
} Run;

/* ---- preparation ---- */

/* Sets rho and `inner` and, unless `resumed`, reserves vectors and sets up the natural map. A resumed call has the same
 * problem, whose last result the driver rejected; it reuses setup and rho. */
static TalusStatus prepare(Run *run, bool resumed)
{
    TalusSolve *s = run->s;
    Work *w = run->w;
    run->rho = resumed ? w->rho : run->p->rho;
    run->inner = run->p->inner;
    TALUS_TRY(talus_best_begin(&w->best, s));
    if (resumed)
        return TALUS_OK;
    w->rho = 0.0;
    TALUS_TRY(talus_vectors_reserve(s, &w->vectors, VECTORS, w->vector, "vectors"));
    s->backend->op.product(s->op, NULL, false, true, w->vector[OFFSET]);
    return talus_natural_system_prepare(&w->system, s);
}

/* ---- the map ---- */

/* u = (N + E) x + q; counts one product. */
static void compute_velocity(Run *run, const double *x, double *u)
{
    talus_block_matrix_apply(&run->w->system.matrix, x, run->w->vector[OFFSET], u);
    run->s->info->products++;
}

/* Returns block i of the proximal problem, whose scale is d (1 + rho), and writes its velocity, U + rho D (x - c), to
 * u. */
static TalusNaturalBlock proximal_block(const Run *run, int i, double u[3])
{
    const Work *w = run->w;
    TalusNaturalBlock b = w->system.block[i];
    for (int k = 0; k < b.rows; k++) {
        int at = i * b.rows + k;
        u[k] = w->vector[U][at] + run->rho * b.scale * (w->vector[X][at] - w->vector[CENTRE][at]);
    }
    b.scale *= 1.0 + run->rho;
    return b;
}

/* Computes f of the proximal problem at X from U, and run->merit = |f|. */
static void evaluate_map(Run *run)
{
    Work *w = run->w;
    double sum = 0.0;
    for (int i = 0; i < w->system.matrix.blocks; i++) {
        double u[3], *f = w->vector[F] + i * w->system.matrix.size;
        TalusNaturalBlock b = proximal_block(run, i, u);
        talus_natural_map(&b, w->vector[X] + i * b.rows, u, f);
        double size = talus_natural_residual(&b, f);
        sum += size * size;
    }
    run->merit = sqrt(sum);
}

/* Computes L and M of the Jacobian of f at X: L is df/du; M is df/dx plus rho D df/du, as u has the term rho D x. */
static void compute_jacobian(Run *run)
{
    Work *w = run->w;
    const int square = w->system.matrix.size * w->system.matrix.size;
    for (int i = 0; i < w->system.matrix.blocks; i++) {
        double u[3], weight = run->rho * w->system.block[i].scale;
        TalusNaturalJacobian slope;
        TalusNaturalBlock b = proximal_block(run, i, u);
        talus_natural_jacobian(&b, w->vector[X] + i * b.rows, u, &slope);
        for (int k = 0; k < square; k++) {
            w->system.left[i * square + k] = slope.by_velocity[k];
            w->system.own[i * square + k] = slope.by_impulse[k] + weight * slope.by_velocity[k];
        }
    }
}

/* Projects X to REPORTED, measures the problem's residual there and offers REPORTED as the best iterate. */
static void measure_projected(Run *run, double *sum, double *largest)
{
    Work *w = run->w;
    double *reported = w->vector[REPORTED];
    memcpy(reported, w->vector[X], (size_t)run->n * sizeof *reported);
    run->s->backend->block.project(run->s->op, NULL, reported);
    compute_velocity(run, reported, w->vector[V]);
    talus_natural_system_measure(&w->system, reported, w->vector[V], sum, largest);
    talus_best_offer(&w->best, run->s, reported, *sum);
}

/* ---- steps ---- */

/* Makes X the centre and computes f and |f| there. U must be that of X. */
static void set_centre(Run *run)
{
    Work *w = run->w;
    memcpy(w->vector[CENTRE], w->vector[X], (size_t)run->n * sizeof(double));
    evaluate_map(run);
}

/* Starts a proximal step: computes f with the current rho, notes |f| and resets the count of Newton steps. */
static void start_proximal_step(Run *run)
{
    evaluate_map(run);
    run->centre_merit = run->merit;
    run->steps = 0;
}

/* X = X - a STEP; computes U, f and |f| there. */
static void move_along_step(Run *run, double a)
{
    Work *w = run->w;
    for (int i = 0; i < run->n; i++)
        w->vector[X][i] -= a * w->vector[STEP][i];
    compute_velocity(run, w->vector[X], w->vector[U]);
    evaluate_map(run);
}

/* Takes one Newton step of X. With the line search the step is halved, at most HALVINGS times, until |f| rises by at
 * most the factor RISE. */
static void take_newton_step(Run *run)
{
    Work *w = run->w;
    double before = run->merit, a = 1.0;
    compute_jacobian(run);
    talus_fronts_factor(&w->system.fronts, &w->system.matrix, w->system.left, w->system.own);
    memcpy(w->vector[STEP], w->vector[F], (size_t)run->n * sizeof(double));
    talus_fronts_solve(&w->system.fronts, w->vector[STEP]);
    run->s->info->products++;
    run->s->info->factorisations++;
    run->steps++;
    move_along_step(run, a);
    for (int k = 0; k < HALVINGS && run->line_search && !(run->merit <= RISE * before); k++) {
        a *= 0.5;
        move_along_step(run, -a);
    }
}

/* Adapts rho, `inner` and the line search after a proximal step. done: the proximal step succeeded; was, is: |f| at the
 * old and the new centre. rho falls below RHO_MIN only if the proximal weight limits progress: few Newton steps were
 * needed, but |f| has not halved from centre to centre. */
static void adapt_parameters(Run *run, bool done, double was, double is)
{
    double least = is > SLOW * was ? RHO_LEAST : fmin(RHO_MIN, run->rho);
    run->inner = is > STALLED * was ? fmin(fmax(TIGHTEN * run->inner, INNER_MIN), run->inner)
                                    : run->p->inner;
    if (!done) {
        run->rho = fmin(run->rho * GROW, RHO_MAX);
        run->line_search = !run->line_search;
    } else if (run->steps <= FEW_NEWTON) {
        run->rho = fmax(run->rho * run->p->shrink, least);
    }
    if (run->rho <= SUSPECT)
        talus_solve_request_infeasibility_check(run->s);
}

/* Ends the proximal step if |f| has fallen enough (success), or after MAX_NEWTON steps or if |f| is not finite
 * (failure); else does nothing. Then adapts the parameters and starts the next proximal step with x as centre; x
 * returns to the old centre first if |f| has risen or is not finite. */
static void end_proximal_step_if_due(Run *run)
{
    Work *w = run->w;
    bool done = run->merit <= run->inner * run->centre_merit;
    if (!done && run->steps < MAX_NEWTON && isfinite(run->merit))
        return;
    if (!(run->merit <= run->centre_merit)) {
        memcpy(w->vector[X], w->vector[CENTRE], (size_t)run->n * sizeof(double));
        compute_velocity(run, w->vector[X], w->vector[U]);
    }
    double was = run->centre_merit;
    set_centre(run);
    adapt_parameters(run, done, was, run->merit);
    start_proximal_step(run);
}

/* ---- the solve ---- */

/* Runs Newton steps and proximal steps from X until the solve ends. */
static void run_newton_steps(Run *run)
{
    Work *w = run->w;
    compute_velocity(run, w->vector[X], w->vector[U]);
    set_centre(run);
    start_proximal_step(run);
    for (;;) {
        double sum, largest;
        measure_projected(run, &sum, &largest);
        if (!talus_solve_next(run->s, 0, w->vector[REPORTED], NULL, sum, largest))
            return;
        take_newton_step(run);
        end_proximal_step_if_due(run);
    }
}

/* Writes the last projected iterate to gamma, or the best one if the outcome is budget or infeasible. */
static TalusStatus solve_prox(TalusSolve *s)
{
    Work *w = s->work;
    Run run = {.s = s, .p = s->params, .w = w, .n = s->op->rows * s->op->blocks};
    TALUS_TRY(prepare(&run, s->resumed && w->rho > 0.0));
    memcpy(w->vector[X], s->gamma, (size_t)run.n * sizeof *s->gamma);
    run_newton_steps(&run);
    w->rho = run.rho;
    memcpy(s->gamma, w->vector[REPORTED], (size_t)run.n * sizeof *s->gamma);
    talus_best_restore(&w->best, s, s->gamma);
    return TALUS_OK;
}

/* `clear` of TalusSolverType. */
static void clear_work(void *work)
{
    Work *w = work;
    talus_natural_system_clear(&w->system);
}

const TalusSolverType talus_solver_prox = {
    .name = "prox",
    .summary = "proximal point, Newton steps, direct solver: exact Coulomb, small stiff problems",
    .reference =
        "Acary, Bremond & Huber 2018; the rules for rho and steps: docs/reference/solvers/direct.md",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES(CCP, DISC) | TALUS_TAKES(COULOMB, DISC) |
             TALUS_TAKES_JOINT,
    TALUS_PARAMS(params, Params),
    .work_size = sizeof(Work),
    .solve = solve_prox,
    .clear = clear_work,
    .on_host = "the factorisation",
};
