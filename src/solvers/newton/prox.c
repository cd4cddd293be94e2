/* solvers/newton/prox.c - proximal point method with an inner semismooth Newton method, for exact Coulomb and ccp.
 *
 * A proximal step takes the centre c to a solution x of the same problem with velocities
 *     u(x) = (N + E) x + q + rho D (x - c),
 * with D the block scales. N + E + rho D is regular however rank deficient N is (hyperstatic bodies), and a step that
 * ends at x = c has solved the problem itself. Newton's method solves each step on the natural map f of all blocks
 * (natural_map.h), whose Jacobian is diag(L) (N + E) + diag(M): one sparse factorisation per step, ordered once per
 * solve (linalg/fronts.h).
 *
 * The rules. |f| is in m/s; the scale of a block is the diagonal of the proximal problem, d (1 + rho). Newton steps are
 * full at first: across kinks, where blocks change between open, sliding and sticking, |f| may rise for a step or two,
 * and a line search in every step would cost more factorisations. Once |f| is at most `inner` times its value at the
 * centre, x becomes the centre. rho then falls by `shrink` if at most FEW_NEWTON steps were needed, so that the method
 * ends as Newton's on the problem itself. If |f| hardly fell from centre to centre, the next proximal step is solved
 * more tightly: loose ones can cycle. If MAX_NEWTON steps do not suffice, x returns to the centre unless |f| fell, rho
 * grows, and the line search is switched on, or off: full steps can alternate between two points. Exact Coulomb is not
 * monotone and no proof covers it; experience is in docs/reference/solvers/direct.md.
 *
 * The impulses reported and returned are those of the iterate projected onto the cones. An iteration is one Newton
 * step; its factorisation and solution count as one product, as does every (N + E) x. Without friction it is an
 * active-set method. Memory and time are those of a direct method: fine for hundreds to thousands of contacts, not for
 * deep beds. On infeasible problems the iterates grow, as rho falls, along a direction from which the infeasibility
 * monitor finds its proof. */
#include "solvers/driver/best.h"
#include "solvers/newton/natural_system.h"

#include "base/status.h"

#include <math.h>
#include <string.h>

enum { MAX_NEWTON = 6, FEW_NEWTON = 2, HALVINGS = 5 };

/* GROW: factor on rho after a failed proximal step. RISE: growth of |f| that the line search accepts. */
static const double GROW = 4.0, RISE = 2.0;
static const double RHO_LEAST = 1e-12, RHO_MIN = 1e-6, RHO_MAX = 1e6;
static const double STALLED = 0.9, TIGHTEN = 0.3, INNER_MIN = 1e-3; /* adapt `inner` */
static const double SLOW = 0.5;     /* fall of |f| from centre to centre that counts as progress */
static const double SUSPECT = 1e-5; /* rho below which growing impulses may grow without bound */

typedef struct Params {
    double rho, shrink, inner;
} Params;

static const TalusParam params[] = {
    TALUS_REAL(Params, rho, 0.3, 1e-8, 1e6, "proximal weight at first, over the diagonal"),
    TALUS_REAL(Params, shrink, 0.1, 1e-3, 1.0, "factor on rho after a proximal step"),
    TALUS_REAL(Params, inner, 0.7, 1e-6, 0.99,
               "share of the residual at which a proximal step ends"),
};

/* U: (N + E) x + q without the proximal term; F: f with it; V: u of REPORTED; OFFSET: q. */
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
    int n;
    double rho, inner;
    double merit, first; /* |f| now and at the centre */
    int steps;           /* Newton steps since the centre was set */
    bool careful;        /* line search: steps that raise |f| are halved */
} Run;

/* ---- preparation ---- */

/* A resumed call has the same problem, whose last result the driver rejected; its setup is reused. */
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

static void multiply(Run *run, const double *x, double *u)
{
    talus_block_matrix_apply(&run->w->system.matrix, x, run->w->vector[OFFSET], u);
    run->s->info->products++;
}

/* Returns block i with d (1 + rho), the diagonal of the proximal problem, as its scale; writes u + rho D (x - c). */
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

/* Computes f at X from U, and |f|. */
static void evaluate(Run *run)
{
    Work *w = run->w;
    double sum = 0.0;
    for (int i = 0; i < w->system.matrix.blocks; i++) {
        double u[3], *f = w->vector[F] + i * w->system.matrix.size;
        TalusNaturalBlock b = proximal_block(run, i, u);
        talus_natural_map(&b, w->vector[X] + i * b.rows, u, f);
        double size = talus_natural_size(&b, f);
        sum += size * size;
    }
    run->merit = sqrt(sum);
}

/* Computes L and M of the Jacobian of f at X: L is df/du; M is df/dx plus rho D df/du, as u has the term rho D x. */
static void linearise(Run *run)
{
    Work *w = run->w;
    const int square = w->system.matrix.size * w->system.matrix.size;
    for (int i = 0; i < w->system.matrix.blocks; i++) {
        double u[3], weight = run->rho * w->system.block[i].scale;
        TalusNaturalSlope slope;
        TalusNaturalBlock b = proximal_block(run, i, u);
        talus_natural_slope(&b, w->vector[X] + i * b.rows, u, &slope);
        for (int k = 0; k < square; k++) {
            w->system.left[i * square + k] = slope.velocity[k];
            w->system.own[i * square + k] = slope.impulse[k] + weight * slope.velocity[k];
        }
    }
}

/* Projects X to REPORTED and measures its residual. */
static void measure(Run *run, double *sum, double *largest)
{
    Work *w = run->w;
    double *reported = w->vector[REPORTED];
    memcpy(reported, w->vector[X], (size_t)run->n * sizeof *reported);
    run->s->backend->block.project(run->s->op, NULL, reported);
    multiply(run, reported, w->vector[V]);
    talus_natural_system_measure(&w->system, reported, w->vector[V], sum, largest);
    talus_best_offer(&w->best, run->s, reported, *sum);
}

/* ---- steps ---- */

/* Takes X as the centre. U must be current. */
static void set_centre(Run *run)
{
    Work *w = run->w;
    memcpy(w->vector[CENTRE], w->vector[X], (size_t)run->n * sizeof(double));
    evaluate(run);
}

/* Starts a proximal step with the current rho, on which f depends through its scales. */
static void start_step(Run *run)
{
    evaluate(run);
    run->first = run->merit;
    run->steps = 0;
}

static void advance(Run *run, double a)
{
    Work *w = run->w;
    for (int i = 0; i < run->n; i++)
        w->vector[X][i] -= a * w->vector[STEP][i];
    multiply(run, w->vector[X], w->vector[U]);
    evaluate(run);
}

/* Takes a Newton step; with a line search it is halved, at most HALVINGS times, until |f| rises by at most the factor
 * RISE. */
static void newton_step(Run *run)
{
    Work *w = run->w;
    double before = run->merit, a = 1.0;
    linearise(run);
    talus_fronts_factor(&w->system.fronts, &w->system.matrix, w->system.left, w->system.own);
    memcpy(w->vector[STEP], w->vector[F], (size_t)run->n * sizeof(double));
    talus_fronts_solve(&w->system.fronts, w->vector[STEP]);
    run->s->info->products++;
    run->s->info->factorisations++;
    run->steps++;
    advance(run, a);
    for (int k = 0; k < HALVINGS && run->careful && !(run->merit <= RISE * before); k++) {
        a *= 0.5;
        advance(run, -a);
    }
}

/* Adapts rho, `inner` and the line search after a proximal step. done: the step succeeded; was, is: |f| at the old and
 * the new centre. rho falls below RHO_MIN only if its weight limits progress: Newton's steps are easy, and |f| has not
 * halved from centre to centre. */
static void adapt(Run *run, bool done, double was, double is)
{
    double least = is > SLOW * was ? RHO_LEAST : fmin(RHO_MIN, run->rho);
    run->inner = is > STALLED * was ? fmin(fmax(TIGHTEN * run->inner, INNER_MIN), run->inner)
                                    : run->p->inner;
    if (!done) {
        run->rho = fmin(run->rho * GROW, RHO_MAX);
        run->careful = !run->careful;
    } else if (run->steps <= FEW_NEWTON) {
        run->rho = fmax(run->rho * run->p->shrink, least);
    }
    if (run->rho <= SUSPECT)
        talus_solve_request_infeasibility_check(run->s);
}

/* Ends the proximal step if |f| has fallen enough (success), or after MAX_NEWTON steps or if |f| is not finite
 * (failure), and starts the next from x as centre; x returns to the old centre if |f| has risen. */
static void end_proximal(Run *run)
{
    Work *w = run->w;
    bool done = run->merit <= run->inner * run->first;
    if (!done && run->steps < MAX_NEWTON && isfinite(run->merit))
        return;
    if (!(run->merit <= run->first)) {
        memcpy(w->vector[X], w->vector[CENTRE], (size_t)run->n * sizeof(double));
        multiply(run, w->vector[X], w->vector[U]);
    }
    double was = run->first;
    set_centre(run);
    adapt(run, done, was, run->merit);
    start_step(run);
}

/* ---- the solve ---- */

static void iterate(Run *run)
{
    Work *w = run->w;
    multiply(run, w->vector[X], w->vector[U]);
    set_centre(run);
    start_step(run);
    for (;;) {
        double sum, largest;
        measure(run, &sum, &largest);
        if (!talus_solve_next(run->s, 0, w->vector[REPORTED], NULL, sum, largest))
            return;
        newton_step(run);
        end_proximal(run);
    }
}

/* Leaves the last projected iterate in gamma, or the best one if the solve did not converge. */
static TalusStatus solve_prox(TalusSolve *s)
{
    Work *w = s->work;
    Run run = {.s = s, .p = s->params, .w = w, .n = s->op->rows * s->op->blocks};
    TALUS_TRY(prepare(&run, s->resumed && w->rho > 0.0));
    memcpy(w->vector[X], s->gamma, (size_t)run.n * sizeof *s->gamma);
    iterate(&run);
    w->rho = run.rho;
    memcpy(s->gamma, w->vector[REPORTED], (size_t)run.n * sizeof *s->gamma);
    talus_best_restore(&w->best, s, s->gamma);
    return TALUS_OK;
}

static void clear(void *work)
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
    .clear = clear,
    .on_host = "the factorisation",
};
