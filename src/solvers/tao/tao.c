/* solvers/tao/tao.c - the dual quadratic program by PETSc's TAO, as petra-2009 did with BLMVM and TRON.
 *
 *     min 1/2 x'P x + kappa'x,   low <= x <= high
 * x are the multipliers of polygonal cones, x >= 0 (problem/qp.h, Eq. 13), or the impulses themselves if they are in
 * boxes. BLMVM needs only gradients, each a product (N + E) G x by the backend's own loops: no matrix is formed. The
 * others work on parts of P, which is assembled.
 *
 * TAO's rules have absolute constants, in step lengths and trust regions, so it is given
 *     z = (x - x0) / unit,   1/2 z'(stiffness P)z + speed g(x0)'z,   unit = stiffness / speed,
 * with powers of two that bring the largest diagonal of P and the largest entry of the projected gradient at x0 to
 * about 1: a change of units by powers of two does not change what TAO sees. x0 is where the solve starts. Line
 * searches compare objectives, so they stall when a step changes the objective by less than its rounding: at gradients
 * of about the square root of rounding. x0 then moves to the current x and TAO restarts: measured from there objectives
 * are near zero, and resolve a step to full precision.
 *
 * No upper bound is infinite in z: it is at most FAR_AWAY. bqpip takes infinite bounds for 1e20 and starts between
 * bounds, many iterations away (2^10 is too near, for heavy bodies on light ones). If there is no solution, the others
 * would go in one step to where nothing can be computed. */
#include "solvers/tao/tao.h"

#include "backend/sets.h"
#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

static const double FAR_AWAY = 0x1p24; /* upper bound in z */
static const double INNER = 0.1;       /* share of the residual at which conjugate gradients end */

typedef struct Run {
    TalusSolve *s;
    const TalusTaoKind *kind;
    const TalusTaoParams *p;
    TalusTaoWork *w;
    double rms, max; /* residual of the last iterate */
    double least;    /* minimum rms in this round */
    int since;       /* iterations since that minimum */
    double size;     /* |gamma| when the infeasibility monitor was last asked */
    double value;    /* objective at POINT, relative to that at x0 */
    bool finite;     /* all objectives so far are finite */
    bool done;       /* the solve must end */
} Run;

/* ---- unknowns ---- */

/* Sets the bounds of impulses in boxes; those of immovable contacts are fixed at zero. */
static void set_boxes(const TalusOperator *op, double *low, double *high)
{
    for (int i = 0; i < op->blocks; i++) {
        TalusSet set = talus_set_of_block(op, i, op->prisms, NULL);
        double *l = low + i * op->rows, *h = high + i * op->rows;
        double side = set.mu * set.estimate;
        l[0] = 0.0;
        h[0] = op->diagonal[i][0] > 0.0 ? INFINITY : 0.0;
        for (int k = 1; k < op->rows; k++) {
            h[k] = op->diagonal[i][1] > 0.0 ? side : 0.0;
            l[k] = -h[k];
        }
    }
}

/* True if some block is a prism and no other has friction: the impulses are then in boxes. Contacts without friction
 * are compatible with both forms. */
static bool are_boxes(const TalusOperator *op)
{
    bool some = false;
    for (int i = 0; i < op->blocks && op->rows == 3; i++) {
        bool prism = op->model && talus_model_is_prism(&op->model[i], op->prisms);
        if (!prism && op->mu[i] > 0.0)
            return false;
        some = some || prism;
    }
    return some;
}

static TalusStatus reserve(TalusSolve *s, TalusTaoWork *w)
{
    size_t n = (size_t)w->n;
    TALUS_TRY(TALUS_GROW(w->memory, TALUS_TAO_VECTORS * n, 0, "vectors"));
    for (int k = 0; k < TALUS_TAO_VECTORS; k++)
        w->vector[k] = w->memory + (size_t)k * n;
    return TALUS_VECTORS(s, &w->impulses, "impulses", &w->gamma, &w->velocity);
}

static double power_near_one_over(double x)
{
    int exponent = 0;
    if (!(x > 0.0) || !isfinite(x))
        return 1.0;
    frexp(x, &exponent);
    return ldexp(1.0, -exponent);
}

static double largest_scale(const TalusOperator *op)
{
    double max = 0.0;
    for (int i = 0; i < op->blocks; i++)
        max = fmax(max, talus_block_scale(op, i));
    return max;
}

/* Inserts missing diagonal entries as zeros: bqpip adds to every diagonal entry. */
static TalusStatus complete_diagonal(TalusSparse *a)
{
    size_t entries = (size_t)talus_sparse_entries(a), n = (size_t)a->rows, at = 0;
    TalusSparse out;
    TALUS_TRY(talus_sparse_alloc(&out, a->rows, a->columns, entries + n, "matrix of the dual"));
    for (int k = 0; k < a->rows; k++) {
        bool seen = false;
        for (int32_t e = a->start[k]; e < a->start[k + 1]; e++) {
            if (!seen && a->column[e] > k) {
                out.column[at] = k;
                out.value[at++] = 0.0;
            }
            seen = seen || a->column[e] >= k;
            out.column[at] = a->column[e];
            out.value[at++] = a->value[e];
        }
        if (!seen) {
            out.column[at] = k;
            out.value[at++] = 0.0;
        }
        out.start[k + 1] = (int32_t)at;
    }
    talus_sparse_clear(a);
    *a = out;
    return TALUS_OK;
}

static bool has_diagonal(const TalusSparse *a)
{
    for (int k = 0; k < a->rows; k++)
        if (talus_sparse_diagonal(a, k) < 0)
            return false;
    return true;
}

/* True if the bounds coincide, as those of tangential impulses do during a first estimate. TAO assumes that such an
 * unknown may leave its bound, so its row and column become those of the identity, and its gradient 0. */
static bool is_fixed(const TalusTaoWork *w, int k)
{
    return w->vector[TALUS_TAO_LOW][k] == w->vector[TALUS_TAO_HIGH][k];
}

/* Assembles P times stiffness, with the identity in rows and columns of fixed unknowns. */
static TalusStatus make_matrix(TalusSolve *s, TalusTaoWork *w)
{
    talus_sparse_clear(&w->matrix);
    if (w->cones)
        TALUS_TRY(talus_qp_dual_matrix(&w->qp, s->problem, false, &w->matrix));
    else
        TALUS_TRY(talus_problem_assemble(s->problem, &w->matrix));
    if (!has_diagonal(&w->matrix))
        TALUS_TRY(complete_diagonal(&w->matrix));
    for (int k = 0; k < w->n; k++)
        for (int32_t e = w->matrix.start[k]; e < w->matrix.start[k + 1]; e++) {
            int32_t l = w->matrix.column[e];
            double *value = &w->matrix.value[e];
            bool fixed = is_fixed(w, k) || is_fixed(w, l);
            *value = !fixed ? *value * w->stiffness : k == l ? 1.0 : 0.0;
        }
    return TALUS_OK;
}

static void set_bounds(const TalusOperator *op, TalusTaoWork *w)
{
    for (int k = 0; k < w->n; k++) {
        w->vector[TALUS_TAO_LOW][k] = 0.0;
        w->vector[TALUS_TAO_HIGH][k] = INFINITY;
    }
    if (!w->cones)
        set_boxes(op, w->vector[TALUS_TAO_LOW], w->vector[TALUS_TAO_HIGH]);
}

/* Sets up unknowns, bounds and matrix. A later call in the same solve, as by outer loops, finds the same problem except
 * for offsets and bounds; it keeps the unknowns and, for cones, the matrix. */
static TalusStatus prepare(Run *run)
{
    TalusSolve *s = run->s;
    TalusTaoWork *w = run->w;
    const TalusOperator *op = s->op;
    bool resumed = w->ready && s->info->iterations > 0;
    w->ready = false;
    if (!resumed) {
        w->cones = !are_boxes(op);
        if (w->cones)
            TALUS_TRY(talus_qp_fill(&w->qp, s->problem));
        w->n = w->cones ? w->qp.multipliers : op->rows * op->blocks;
        w->stiffness = power_near_one_over(largest_scale(op));
        TALUS_TRY(reserve(s, w));
    }
    set_bounds(op, w);
    if (run->kind->method != TALUS_TAO_BLMVM && !(resumed && w->cones))
        TALUS_TRY(make_matrix(s, w));
    w->ready = true;
    return talus_best_begin(&w->best, s);
}

/* ---- the objective ---- */

/* Computes impulses, velocities and scaled gradient of X. */
static void evaluate_x(Run *run)
{
    TalusTaoWork *w = run->w;
    const double *x = w->vector[TALUS_TAO_X];
    double *g = w->vector[TALUS_TAO_GRADIENT];
    if (w->cones)
        talus_qp_impulses(&w->qp, x, w->gamma);
    else
        memcpy(w->gamma, x, (size_t)w->n * sizeof *x);
    run->s->backend->op.gradient(run->s->op, NULL, w->gamma, true, w->velocity);
    run->s->info->products++;
    if (w->cones)
        talus_qp_slacks(&w->qp, w->velocity, g);
    else
        memcpy(g, w->velocity, (size_t)w->n * sizeof *g);
    for (int k = 0; k < w->n; k++)
        g[k] = is_fixed(w, k) ? 0.0 : g[k] * w->speed;
}

/* Sets X from z, clipped for the rounding of x0 + unit z and for interior points outside the bounds. */
static void move_to(Run *run, const double *z)
{
    TalusTaoWork *w = run->w;
    const double *low = w->vector[TALUS_TAO_LOW], *high = w->vector[TALUS_TAO_HIGH];
    for (int k = 0; k < w->n; k++) {
        double x = w->vector[TALUS_TAO_ORIGIN][k] + w->unit * z[k];
        w->vector[TALUS_TAO_X][k] = fmin(fmax(x, low[k]), high[k]);
    }
    memcpy(w->vector[TALUS_TAO_POINT], z, (size_t)w->n * sizeof *z);
    evaluate_x(run);
}

static double evaluate(void *user, const double *z, double *gradient)
{
    Run *run = user;
    TalusTaoWork *w = run->w;
    const double *g = w->vector[TALUS_TAO_GRADIENT], *slope = w->vector[TALUS_TAO_SLOPE];
    double sum = 0.0;
    move_to(run, z);
    memcpy(gradient, g, (size_t)w->n * sizeof *g);
    for (int k = 0; k < w->n; k++)
        sum += z[k] * (g[k] + slope[k]);
    run->value = 0.5 * sum;
    run->finite = run->finite && isfinite(sum);
    return run->value;
}

/* ---- what TAO asks on the way ---- */

/* Measures the residual of the last evaluated point. */
static void measure(Run *run)
{
    TalusSolve *s = run->s;
    TalusTaoWork *w = run->w;
    TalusForwardSums sums;
    s->backend->block.forward_backward(s->op, NULL, w->gamma, w->velocity, 1.0, NULL, NULL, &sums);
    run->rms = sqrt(sums.residual2 / s->op->blocks);
    run->max = sums.residual_max;
    talus_best_offer(&w->best, s, w->gamma, sums.residual2);
}

/* True if the solve must go on from the starting point, which is no iteration: it is not yet a solution, and the
 * observer does not end the solve. */
static bool begins(Run *run)
{
    TalusSolve *s = run->s;
    double reached = s->options->norm == TALUS_NORM_MAX ? run->max : run->rms;
    talus_solve_note_start(s, run->rms);
    if (s->resumed) /* the last claim was wrong */
        talus_solve_count(s, 0);
    talus_solve_suspect(s); /* takes a first snapshot for the infeasibility monitor */
    if (!talus_solve_observe(s, run->w->gamma, NULL, run->rms))
        return false;
    bool done = run->p->stop == TALUS_TAO_STOP_OURS &&
                reached <= s->options->tolerance * s->tolerance_factor;
    return (!done && isfinite(run->rms)) || talus_solve_continue(s, run->rms, run->max);
}

/* Asks for an infeasibility check when the impulses have doubled: without a solution, iterates may grow by any factor
 * in a step. Only iterates hardly worse than the start lie along a direction that proves infeasibility. */
static void check_growth(Run *run)
{
    TalusSolve *s = run->s;
    double size = sqrt(s->backend->vector.dot(s->op, run->w->gamma, run->w->gamma));
    if (size > 2.0 * run->size && run->rms <= 1.5 * s->info->start_residual) {
        run->size = size;
        talus_solve_suspect(s);
    }
}

/* Counts and reports an iteration. True if the solve must go on. stop=paper: it ends by the norm of the projected
 * gradient in m/s, and claims no convergence: the driver measures. */
static bool goes_on(Run *run, double norm)
{
    TalusSolve *s = run->s;
    talus_solve_count(s, 0);
    check_growth(run);
    bool on = talus_solve_observe(s, run->w->gamma, NULL, run->rms) &&
              talus_solve_continue(s, run->rms, run->max);
    if (run->p->stop != TALUS_TAO_STOP_PAPER)
        return on;
    if (!on && s->info->outcome == TALUS_OUTCOME_CONVERGED) {
        s->info->outcome = TALUS_OUTCOME_BUDGET;
        on = talus_solve_within_budget(s);
    }
    return on && norm / run->w->speed > run->kind->paper;
}

/* True if the residual has had no new minimum for the kind's `patience` iterations (0: never true): gpcg, tron and
 * bqpip do not notice by themselves that they have reached rounding. */
static bool stalls(Run *run)
{
    run->since = run->rms < run->least ? 0 : run->since + 1;
    run->least = fmin(run->least, run->rms);
    return run->kind->patience > 0 && run->since >= run->kind->patience;
}

static bool iterated(void *user, int number, const double *z, double norm)
{
    Run *run = user;
    TalusTaoWork *w = run->w;
    size_t bytes = (size_t)w->n * sizeof *z;
    if (memcmp(z, w->vector[TALUS_TAO_POINT], bytes) != 0)
        move_to(run, z);
    memcpy(w->vector[TALUS_TAO_LAST], z, bytes);
    if (number == 0)
        return true; /* measured before */
    measure(run);
    run->done = !goes_on(run, norm);
    return !run->done && !stalls(run);
}

static bool multiplied(void *user)
{
    Run *run = user;
    run->s->info->products++;
    return talus_solve_within_budget(run->s);
}

/* ---- rounds ---- */

/* Returns the largest entry of the projected gradient at X, times speed. */
static double projected_gradient(const TalusTaoWork *w)
{
    const double *x = w->vector[TALUS_TAO_X], *g = w->vector[TALUS_TAO_GRADIENT];
    double max = 0.0;
    for (int k = 0; k < w->n; k++) {
        bool held = (g[k] > 0.0 && x[k] <= w->vector[TALUS_TAO_LOW][k]) ||
                    (g[k] < 0.0 && x[k] >= w->vector[TALUS_TAO_HIGH][k]);
        max = held ? max : fmax(max, fabs(g[k]));
    }
    return max;
}

/* Sets x0 = X, whose gradient is known, and the scaled problem. False if the gradient is zero: x is a solution. */
static bool set_origin(Run *run)
{
    TalusTaoWork *w = run->w;
    double **v = w->vector;
    double max = projected_gradient(w) / w->speed, speed = power_near_one_over(max);
    double change = speed / w->speed;
    w->speed = speed;
    w->unit = w->stiffness / w->speed;
    for (int k = 0; k < w->n; k++) {
        v[TALUS_TAO_ORIGIN][k] = v[TALUS_TAO_X][k];
        v[TALUS_TAO_SLOPE][k] = v[TALUS_TAO_GRADIENT][k] *= change;
        v[TALUS_TAO_POINT][k] = v[TALUS_TAO_LAST][k] = v[TALUS_TAO_Z][k] = 0.0;
        v[TALUS_TAO_Z_LOW][k] = (v[TALUS_TAO_LOW][k] - v[TALUS_TAO_X][k]) / w->unit;
        v[TALUS_TAO_Z_HIGH][k] =
            fmin((v[TALUS_TAO_HIGH][k] - v[TALUS_TAO_X][k]) / w->unit, FAR_AWAY);
    }
    return max > 0.0;
}

static TalusStatus fail(const Run *run, const TalusTaoResult *result)
{
    bool memory = result->end == TALUS_TAO_MEMORY;
    run->w->ready = false; /* the matrix may be in any state */
    return talus_solver_fail(run->s->type->name, memory ? TALUS_ERR_MEMORY : TALUS_ERR_NUMERIC,
                             "PETSc: %s", result->text);
}

/* Runs TAO once from z = 0, with our callbacks, and counts its peak memory. */
static void run_module(Run *run, const TalusTaoModule *module, TalusTaoResult *result)
{
    TalusTaoWork *w = run->w;
    TalusTaoProblem problem = {
        .method = run->kind->method,
        .n = w->n,
        .start = w->matrix.start,
        .column = w->matrix.column,
        .value = w->matrix.value,
        .lower = w->vector[TALUS_TAO_Z_LOW],
        .upper = w->vector[TALUS_TAO_Z_HIGH],
        .x = w->vector[TALUS_TAO_Z],
        .precondition =
            run->kind->preconditions ? run->kind->preconditions[run->p->precondition] : NULL,
        .inner_steps = run->p->steps,
        .inner_accuracy = INNER,
        .user = run,
        .evaluate = evaluate,
        .iterated = iterated,
        .multiplied = multiplied,
    };
    module->solve(&problem, result);
    talus_memory_count_external(0, result->bytes); /* released again, but part of the peak */
    talus_memory_count_external(result->bytes, 0);
}

/* Ends a run of TAO after which the solve may go on. If numbers are not finite, the problem diverges. A failure after
 * some iterations is a factorisation or line search at the limit of its precision. A line search that fails while
 * descending, as it must on an unbounded problem, has reached a better point. A round without an iteration counts as
 * one. */
static TalusStatus end_round(Run *run, const TalusTaoResult *result, int iterations)
{
    TalusSolve *s = run->s;
    bool progress = s->info->iterations > iterations, failed = result->end == TALUS_TAO_FAILED;
    bool down = !progress && run->value < 0.0;
    if (!run->finite) {
        s->info->outcome = TALUS_OUTCOME_DIVERGED;
        run->done = true;
        return TALUS_OK;
    }
    if (result->end == TALUS_TAO_MEMORY || (failed && !progress && !down))
        return fail(run, result);
    if (failed && run->kind->method != TALUS_TAO_BLMVM)
        TALUS_TRY(make_matrix(s, run->w)); /* bqpip may have left its own diagonal */
    if (!down)
        move_to(run, run->w->vector[TALUS_TAO_LAST]);
    measure(run);
    run->done = !progress && !goes_on(run, projected_gradient(run->w));
    return TALUS_OK;
}

/* Runs TAO in rounds, each from the last x as x0, until the solve must end. */
static TalusStatus solve_rounds(Run *run, const TalusTaoModule *module)
{
    run->w->speed = 1.0;
    evaluate_x(run);
    measure(run);
    run->done = !begins(run);
    while (!run->done) {
        TalusTaoResult result = {.end = TALUS_TAO_GAVE_UP};
        int iterations = run->s->info->iterations;
        run->least = run->rms;
        run->since = 0;
        run->value = 0.0;
        if (set_origin(run)) {
            run_module(run, module, &result);
        } else {
            run->s->info->outcome = TALUS_OUTCOME_BUDGET;
            run->done = true;
        }
        if (!run->done)
            TALUS_TRY(end_round(run, &result, iterations));
    }
    return TALUS_OK;
}

/* Sets the starting point: the current impulses, projected onto the set. */
static void set_start(Run *run)
{
    TalusSolve *s = run->s;
    TalusTaoWork *w = run->w;
    double *x = w->vector[TALUS_TAO_X];
    s->backend->block.project(s->op, NULL, s->gamma);
    if (w->cones)
        talus_qp_multipliers(&w->qp, s->gamma, x);
    else
        memcpy(x, s->gamma, (size_t)w->n * sizeof *x);
    for (int k = 0; k < w->n; k++)
        x[k] = fmin(fmax(x[k], w->vector[TALUS_TAO_LOW][k]), w->vector[TALUS_TAO_HIGH][k]);
}

TalusStatus talus_tao_solve(TalusSolve *s)
{
    Run run = {.s = s, .kind = s->type->variant, .p = s->params, .w = s->work, .finite = true};
    TalusTaoWork *w = run.w;
    const TalusTaoModule *module;
    TALUS_TRY(prepare(&run));
    set_start(&run);
    TALUS_TRY(talus_tao_acquire(&module));
    TalusStatus status = solve_rounds(&run, module);
    talus_tao_release();
    TALUS_TRY(status);
    memcpy(s->gamma, w->gamma, (size_t)s->op->rows * (size_t)s->op->blocks * sizeof *s->gamma);
    if (run.p->stop == TALUS_TAO_STOP_OURS) /* else the iterate that met the rule */
        talus_best_take(&w->best, s, s->gamma);
    s->backend->block.project(s->op, NULL, s->gamma); /* rounding */
    return TALUS_OK;
}

void talus_tao_clear(void *work)
{
    TalusTaoWork *w = work;
    talus_qp_clear(&w->qp);
    talus_sparse_clear(&w->matrix);
    talus_release(w->memory);
}
