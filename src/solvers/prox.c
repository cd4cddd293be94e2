/* solvers/prox.c - proximal point method with a semismooth Newton method inside, for exact Coulomb
 * friction and for the relaxation.
 *
 * A proximal step takes the centre c to a solution x of the same problem with velocities
 *     u(x) = (N + E) x + q + rho D (x - c),
 * D the blocks' scales: N + E + rho D is regular however rank deficient N is (hyperstatic bodies), and
 * x = c solves the problem itself. Each is taken up by Newton's method on the natural map f of all blocks
 * (natural_map.h), whose Jacobian is diag(L) (N + E) + diag(M): one sparse factorisation per Newton
 * step in an order found once per solve (problem/fronts.h).
 *
 * The rules. |f| is measured as the residual is, in m/s. A Newton step is halved until |f| is no more
 * than twice what it was: near kinks, where blocks change between open, sliding and sticking, a full
 * step that raises |f| for once does better than short ones that lower it. Once |f| is below `inner`
 * times its value at the centre, x becomes the centre and rho falls by `shrink`, so that in the end the
 * method is Newton's on the problem itself; mostly one Newton step does. Where steps stay short or no end
 * is seen, rho grows by GROW instead. Measured over ../shared/problems under exact Coulomb, `inner` 0.7
 * took a third to a half of the Newton steps of 0.1; rho at first from 0.01 to 1 made little difference,
 * but below 1e-3 the first steps fail on a tower of blocks.
 *
 * The impulses shown and returned are those of the iterate projected onto the cones. An iteration is
 * one Newton step; its factorisation and solution count as one product, as does every (N + E) x.
 * Without friction it is an active-set method. Memory and time are those of a direct method: fine for
 * hundreds to thousands of contacts, not for deep beds. Infeasible problems: with falling rho the
 * iterates grow tenfold from step to step, along a direction that the watch takes for its proof. */
#include "solvers/best.h"
#include "solvers/natural_map.h"

#include "base/memory.h"
#include "base/status.h"
#include "problem/fronts.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { HALVINGS = 12, SHORT_STEPS = 2, MOST_NEWTON = 25, FEW_NEWTON = 8 };

static const double RISE = 2.0;       /* of |f| in a Newton step */
static const double SHORT = 1.0 / 16; /* a step below this is short */
static const double GROW = 4.0;
static const double RHO_MIN = 1e-6, RHO_MAX = 1e6;

typedef struct Params {
    double rho, shrink, inner;
} Params;

static const TalusParam params[] = {
    {"rho", TALUS_PARAM_REAL, offsetof(Params, rho), 0.1, 1e-6, 1e6, NULL,
     "proximal weight at first, over the diagonal"},
    {"shrink", TALUS_PARAM_REAL, offsetof(Params, shrink), 0.1, 1e-3, 1.0, NULL,
     "factor on rho after a proximal step"},
    {"inner", TALUS_PARAM_REAL, offsetof(Params, inner), 0.7, 1e-6, 0.99, NULL,
     "share of the residual at which a proximal step ends"},
};

enum { X, CENTRE, TRIAL, SHOWN, U, F, STEP, OFFSET, VECTORS };

typedef struct Work {
    TalusBlockMatrix matrix; /* N + E */
    TalusFronts fronts;
    double *left, *own; /* the Jacobian's L and M */
    double *memory, *vector[VECTORS];
    TalusNaturalBlock *block;
    size_t left_room, own_room, memory_room, block_room;
    TalusBest best;
    double rho; /* where the last call left it */
} Work;

typedef struct Run {
    TalusSolve *s;
    const Params *p;
    Work *w;
    int n;
    double rho;
    double merit, first; /* |f| now and at the centre */
    int steps, short_steps;
} Run;

/* ---- preparation ---- */

static TalusStatus prepare_matrix(TalusSolve *s, Work *w)
{
    TalusSparse n;
    talus_block_matrix_clear(&w->matrix);
    talus_fronts_clear(&w->fronts);
    TALUS_TRY(talus_problem_assemble(s->problem, &n));
    TalusStatus status = talus_block_matrix_create(&n, s->op->rows, &w->matrix);
    talus_sparse_clear(&n);
    TALUS_TRY(status);
    return talus_fronts_analyse(&w->fronts, &w->matrix);
}

static TalusStatus reserve(TalusSolve *s, Work *w)
{
    size_t rows = (size_t)s->op->rows, blocks = (size_t)s->op->blocks, n = rows * blocks;
    TALUS_TRY(TALUS_RESERVE(w->left, w->left_room, rows * n, 0, "Jacobian"));
    TALUS_TRY(TALUS_RESERVE(w->own, w->own_room, rows * n, 0, "Jacobian"));
    TALUS_TRY(TALUS_RESERVE(w->block, w->block_room, blocks, 0, "blocks"));
    TALUS_TRY(TALUS_RESERVE(w->memory, w->memory_room, VECTORS * n, 0, "vectors"));
    for (int k = 0; k < VECTORS; k++)
        w->vector[k] = w->memory + (size_t)k * n;
    return TALUS_OK;
}

static void set_blocks(const TalusOperator *op, TalusNaturalBlock *block)
{
    for (int i = 0; i < op->blocks; i++) {
        double scale = talus_block_scale(op, i);
        block[i] = (TalusNaturalBlock){
            .rows = op->rows,
            .exact = op->model && op->model[i].law == TALUS_LAW_COULOMB,
            .mu = op->rows == 1 ? 0.0 : op->mu[i],
            .scale = scale > 0.0 ? scale : 1.0, /* bodies that cannot move: any will do */
        };
    }
}

/* A call with another strictness goes on with the same problem: the driver found the last one wanting. */
static TalusStatus prepare(Run *run)
{
    TalusSolve *s = run->s;
    Work *w = run->w;
    bool resumed = s->strictness < 1.0 && w->rho > 0.0;
    run->rho = resumed ? w->rho : run->p->rho;
    TALUS_TRY(talus_best_begin(&w->best, s));
    if (resumed)
        return TALUS_OK;
    w->rho = 0.0;
    TALUS_TRY(reserve(s, w));
    set_blocks(s->op, w->block);
    s->backend->product(s->op, NULL, false, true, w->vector[OFFSET]);
    return prepare_matrix(s, w);
}

/* ---- the map ---- */

typedef struct Sums {
    double square, largest;
} Sums;

static void add_block(const TalusNaturalBlock *b, const double *f, Sums *sums)
{
    double square = 0.0;
    for (int k = 0; k < b->rows; k++)
        square += f[k] * f[k];
    square *= b->scale * b->scale;
    sums->square += square;
    if (!(square <= sums->largest * sums->largest))
        sums->largest = sqrt(square);
}

/* f at x with weight rho on x - c, into F; u into U. */
static Sums evaluate(Run *run, const double *x, double rho)
{
    Work *w = run->w;
    const double *c = w->vector[CENTRE];
    double *u = w->vector[U], *f = w->vector[F];
    Sums sums = {0};
    talus_block_matrix_apply(&w->matrix, x, w->vector[OFFSET], u);
    run->s->info->products++;
    for (int i = 0; i < w->matrix.blocks; i++) {
        const TalusNaturalBlock *b = &w->block[i];
        const int at = i * b->rows;
        for (int k = at; rho > 0.0 && k < at + b->rows; k++)
            u[k] += rho * b->scale * (x[k] - c[k]);
        talus_natural_map(b, x + at, u + at, f + at);
        add_block(b, f + at, &sums);
    }
    return sums;
}

/* L and M of the Jacobian at X, for which U is at hand: with u = ... + rho D (x - c), the derivative with
 * respect to x has rho D times that with respect to u on its diagonal. */
static void linearise(Run *run)
{
    Work *w = run->w;
    for (int i = 0; i < w->matrix.blocks; i++) {
        const TalusNaturalBlock *b = &w->block[i];
        const int at = i * b->rows, square = b->rows * b->rows;
        TalusNaturalSlope slope;
        talus_natural_slope(b, w->vector[X] + at, w->vector[U] + at, w->vector[F] + at, &slope);
        for (int k = 0; k < square; k++) {
            w->left[i * square + k] = slope.velocity[k];
            w->own[i * square + k] = slope.impulse[k] + run->rho * b->scale * slope.velocity[k];
        }
    }
}

/* The residual of the impulses that X projects to, which SHOWN becomes. */
static Sums measure(Run *run)
{
    Work *w = run->w;
    double *shown = w->vector[SHOWN];
    memcpy(shown, w->vector[X], (size_t)run->n * sizeof *shown);
    run->s->backend->project(run->s->op, NULL, shown);
    Sums sums = evaluate(run, shown, 0.0);
    talus_best_offer(&w->best, run->s, shown, sums.square);
    return sums;
}

/* ---- proximal steps ---- */

static void begin_step(Run *run)
{
    Work *w = run->w;
    memcpy(w->vector[CENTRE], w->vector[X], (size_t)run->n * sizeof *w->memory);
    run->first = run->merit = sqrt(evaluate(run, w->vector[X], 0.0).square);
    run->steps = run->short_steps = 0;
}

/* Ends the proximal step if it is done or in vain; x goes back to the centre where nothing was gained. */
static void end_step(Run *run, bool stuck)
{
    Work *w = run->w;
    bool done = run->merit <= run->p->inner * run->first;
    bool vain = stuck || run->short_steps >= SHORT_STEPS || run->steps >= MOST_NEWTON;
    if (!done && !vain)
        return;
    if (done && run->steps <= FEW_NEWTON)
        run->rho = fmax(run->rho * run->p->shrink, RHO_MIN);
    else if (!done)
        run->rho = fmin(run->rho * GROW, RHO_MAX);
    if (!(run->merit <= run->first))
        memcpy(w->vector[X], w->vector[CENTRE], (size_t)run->n * sizeof *w->memory);
    begin_step(run);
    talus_solve_suspect(run->s);
}

/* x - a step with the first a of 1, 1/2, ... that is good enough; false if none is. */
static bool search(Run *run)
{
    Work *w = run->w;
    double *trial = w->vector[TRIAL], *x = w->vector[X], a = 1.0;
    for (int k = 0; k < HALVINGS; k++, a *= 0.5) {
        for (int i = 0; i < run->n; i++)
            trial[i] = x[i] - a * w->vector[STEP][i];
        double merit = sqrt(evaluate(run, trial, run->rho).square);
        if (merit <= RISE * run->merit) {
            run->merit = merit;
            run->short_steps = a < SHORT ? run->short_steps + 1 : 0;
            w->vector[TRIAL] = x;
            w->vector[X] = trial;
            return true;
        }
    }
    return false;
}

static bool newton_step(Run *run)
{
    Work *w = run->w;
    evaluate(run, w->vector[X], run->rho);
    linearise(run);
    talus_fronts_factor(&w->fronts, &w->matrix, w->left, w->own);
    memcpy(w->vector[STEP], w->vector[F], (size_t)run->n * sizeof *w->memory);
    talus_fronts_solve(&w->fronts, w->vector[STEP]);
    run->s->info->products++;
    run->steps++;
    return search(run);
}

/* ---- the solve ---- */

static void iterate(Run *run)
{
    TalusSolve *s = run->s;
    Work *w = run->w;
    begin_step(run);
    for (;;) {
        Sums sums = measure(run);
        if (!talus_solve_next(s, 0, w->vector[SHOWN], NULL, sums.square, sums.largest))
            return;
        bool moved = newton_step(run);
        end_step(run, !moved);
    }
}

static TalusStatus solve_prox(TalusSolve *s)
{
    Run run = {.s = s, .p = s->params, .w = s->work, .n = s->op->rows * s->op->blocks};
    Work *w = run.w;
    TALUS_TRY(prepare(&run));
    memcpy(w->vector[X], s->gamma, (size_t)run.n * sizeof *s->gamma);
    iterate(&run);
    w->rho = run.rho;
    memcpy(s->gamma, w->vector[SHOWN], (size_t)run.n * sizeof *s->gamma);
    talus_best_take(&w->best, s, s->gamma);
    return TALUS_OK;
}

static void clear(void *work, const TalusBackend *backend)
{
    Work *w = work;
    talus_block_matrix_clear(&w->matrix);
    talus_fronts_clear(&w->fronts);
    talus_release(w->left);
    talus_release(w->own);
    talus_release(w->memory);
    talus_release(w->block);
    talus_best_clear(&w->best, backend);
}

static const char *on_host(const void *parameters)
{
    (void)parameters;
    return "the factorisation";
}

const TalusSolverType talus_solver_prox = {
    .name = "prox",
    .summary =
        "proximal point with Newton steps and a direct solver: exact Coulomb to the last digit",
    .reference = "Acary, Bremond & Huber 2018; the rules for rho and steps: docs/solvers.md",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES(CCP, DISC) | TALUS_TAKES(COULOMB, DISC),
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .param_size = sizeof(Params),
    .work_size = sizeof(Work),
    .solve = solve_prox,
    .clear = clear,
    .on_host = on_host,
};
