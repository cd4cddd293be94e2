/* solvers/tao/tao.c - the dual quadratic program by PETSc's TAO, as petra-2009 did with BLMVM and TRON.
 *
 *     min 1/2 x'P x + kappa'x,   low <= x <= high
 * The unknowns x are the multipliers of polygonal cones, x >= 0 (problem/qp.h, Eq. 13), or the impulses themselves if
 * these are in boxes. BLMVM needs only gradients, each one product (N + E) G x by the backend: P is not formed. TRON,
 * GPCG and BQPIP work on parts of P, which is assembled for them.
 *
 * TAO's rules for step lengths and trust regions have absolute constants, so TAO is given the scaled problem
 *     z = (x - x0) / unit,   1/2 z'(stiffness P)z + speed g(x0)'z,   unit = stiffness / speed,
 * with powers of two that bring the largest diagonal of P and the largest entry of the projected gradient at x0 to
 * about 1: a change of units by powers of two does not change what TAO sees. x0, the origin, is where the solve starts.
 * TAO's line searches compare objectives, so they stall when a step changes the objective by less than its rounding: at
 * gradients of about the square root of rounding. Then a new round begins: x0 moves to the current x and TAO restarts.
 * Objectives relative to the new x0 are near zero and show the effect of a step to full precision.
 *
 * Upper bounds in z are at most FAR_AWAY, never infinite. bqpip takes infinite bounds for 1e20 and starts midway
 * between the bounds, many iterations from the solution. A bound of 2^10 would be too small for heavy bodies on light
 * ones. On problems without a solution the other methods would go to infinite bounds in one step. */
#include "solvers/tao/tao.h"

#include "backend/sets.h"
#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

static const double FAR_AWAY = 0x1p24; /* largest upper bound in z */
static const double INNER = 0.1; /* conjugate gradients end at this share of their first residual */

typedef struct Run {
    TalusSolve *s;
    const TalusTaoKind *kind;
    const TalusTaoParams *p;
    TalusTaoWork *w;
    double rms, max;     /* natural residual at the last measurement */
    double least_rms;    /* minimum of rms in this round */
    int since_least;     /* iterations since that minimum */
    double checked_norm; /* |gamma| when the infeasibility monitor was last asked to check */
    double value;        /* objective at POINT, relative to that at x0 */
    bool finite;         /* all objectives so far are finite */
    bool done;           /* the solve must end */
} Run;

/* ---- unknowns ---- */

/* Sets the bounds of impulses in boxes; impulses between bodies that cannot move have both bounds 0. */
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

/* True if some block is a prism and all other blocks are without friction: then the impulses are in boxes. */
static bool has_boxes(const TalusOperator *op)
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

/* Reserves the vectors of the w->n unknowns and of the impulses. */
static TalusStatus reserve_vectors(TalusSolve *s, TalusTaoWork *w)
{
    size_t n = (size_t)w->n;
    TALUS_TRY(TALUS_GROW(w->memory, TALUS_TAO_VECTORS * n, 0, "vectors"));
    for (int k = 0; k < TALUS_TAO_VECTORS; k++)
        w->vector[k] = w->memory + (size_t)k * n;
    return TALUS_RESERVE_VECTORS(s, &w->impulses, "impulses", &w->gamma, &w->velocity);
}

/* Returns a power of two near 1/x; 1 if x is not positive and finite. */
static double power_near_one_over(double x)
{
    int exponent = 0;
    if (!(x > 0.0) || !isfinite(x))
        return 1.0;
    frexp(x, &exponent);
    return ldexp(1.0, -exponent);
}

/* Largest scale d_i of a block. */
static double largest_scale(const TalusOperator *op)
{
    double max = 0.0;
    for (int i = 0; i < op->blocks; i++)
        max = fmax(max, talus_block_scale(op, i));
    return max;
}

/* Replaces the matrix by one that has all diagonal entries, missing ones as zeros: bqpip adds to every diagonal
 * entry. */
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

/* True if every row has a diagonal entry. */
static bool has_diagonal(const TalusSparse *a)
{
    for (int k = 0; k < a->rows; k++)
        if (talus_sparse_diagonal(a, k) < 0)
            return false;
    return true;
}

/* True if the two bounds of unknown k are equal, as for tangential impulses whose first estimate is 0. TAO assumes that
 * every unknown can leave its bound, so a fixed unknown gets the row and column of the identity, and gradient 0. */
static bool is_fixed(const TalusTaoWork *w, int k)
{
    return w->vector[TALUS_TAO_LOW][k] == w->vector[TALUS_TAO_HIGH][k];
}

/* Assembles P times stiffness, with the identity in rows and columns of fixed unknowns. */
static TalusStatus assemble_matrix(TalusSolve *s, TalusTaoWork *w)
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

/* Sets the bounds of the unknowns x: those of boxes, or x >= 0 for multipliers. */
static void set_bounds(const TalusOperator *op, TalusTaoWork *w)
{
    for (int k = 0; k < w->n; k++) {
        w->vector[TALUS_TAO_LOW][k] = 0.0;
        w->vector[TALUS_TAO_HIGH][k] = INFINITY;
    }
    if (!w->cones)
        set_boxes(op, w->vector[TALUS_TAO_LOW], w->vector[TALUS_TAO_HIGH]);
}

/* Sets up unknowns, bounds and matrix, and forgets the best iterate. A later call in the same stage, as by outer loops,
 * has the same problem except for offsets and bounds; it keeps the unknowns and, for cones, the matrix. */
static TalusStatus set_up_problem(Run *run)
{
    TalusSolve *s = run->s;
    TalusTaoWork *w = run->w;
    const TalusOperator *op = s->op;
    bool prepared = w->ready && s->called;
    w->ready = false;
    if (!prepared) {
        w->cones = !has_boxes(op);
        if (w->cones)
            TALUS_TRY(talus_qp_fill(&w->qp, s->problem));
        w->n = w->cones ? w->qp.multipliers : op->rows * op->blocks;
        w->stiffness = power_near_one_over(largest_scale(op));
        TALUS_TRY(reserve_vectors(s, w));
    }
    set_bounds(op, w);
    if (run->kind->method != TALUS_TAO_BLMVM && !(prepared && w->cones))
        TALUS_TRY(assemble_matrix(s, w));
    w->ready = true;
    return talus_best_begin(&w->best, s);
}

/* ---- the objective ---- */

/* Computes impulses, velocities and scaled gradient at X; counts one product. */
static void evaluate_at_x(Run *run)
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

/* Sets POINT = z and X = x0 + unit z, clamped to the bounds of x, and evaluates there. Rounding may take x out of its
 * bounds, and so may z of an interior point method. */
static void move_to_z(Run *run, const double *z)
{
    TalusTaoWork *w = run->w;
    const double *low = w->vector[TALUS_TAO_LOW], *high = w->vector[TALUS_TAO_HIGH];
    for (int k = 0; k < w->n; k++) {
        double x = w->vector[TALUS_TAO_ORIGIN][k] + w->unit * z[k];
        w->vector[TALUS_TAO_X][k] = fmin(fmax(x, low[k]), high[k]);
    }
    memcpy(w->vector[TALUS_TAO_POINT], z, (size_t)w->n * sizeof *z);
    evaluate_at_x(run);
}

/* Callback `evaluate` of TalusTaoProblem: moves to z, writes the gradient and returns the objective relative to x0.
 * Notes whether the objective is finite. */
static double evaluate_objective(void *user, const double *z, double *gradient)
{
    Run *run = user;
    TalusTaoWork *w = run->w;
    const double *g = w->vector[TALUS_TAO_GRADIENT], *slope = w->vector[TALUS_TAO_SLOPE];
    double sum = 0.0;
    move_to_z(run, z);
    memcpy(gradient, g, (size_t)w->n * sizeof *g);
    for (int k = 0; k < w->n; k++)
        sum += z[k] * (g[k] + slope[k]);
    run->value = 0.5 * sum;
    run->finite = run->finite && isfinite(sum);
    return run->value;
}

/* ---- callbacks of TAO during a run ---- */

/* Measures the natural residual of the last evaluated point and offers its impulses as the best iterate. */
static void measure_residual(Run *run)
{
    TalusSolve *s = run->s;
    TalusTaoWork *w = run->w;
    TalusForwardSums sums;
    s->backend->block.forward_backward(s->op, NULL, w->gamma, w->velocity, 1.0, NULL, NULL, &sums);
    run->rms = sqrt(sums.residual2 / s->op->blocks);
    run->max = sums.residual_max;
    talus_best_offer(&w->best, s, w->gamma, sums.residual2);
}

/* Reports the starting point, without counting an iteration, to the driver, and takes the infeasibility monitor's first
 * snapshot. True if the solve must go on: the point does not meet the tolerance (which stop=paper ignores), and the
 * observer does not end the solve. In a resumed call the start counts as an iteration. */
static bool report_start(Run *run)
{
    TalusSolve *s = run->s;
    double reached = s->options->norm == TALUS_NORM_MAX ? run->max : run->rms;
    talus_solve_note_start(s, run->rms);
    if (s->resumed) /* the driver rejected the last result */
        talus_solve_count(s, 0);
    talus_solve_request_infeasibility_check(s);
    if (!talus_solve_observe(s, run->w->gamma, NULL, run->rms))
        return false;
    bool done = run->p->stop == TALUS_TAO_STOP_OURS &&
                reached <= s->options->tolerance * s->tolerance_factor;
    return (!done && isfinite(run->rms)) || talus_solve_continue(s, run->rms, run->max);
}

/* Asks for an infeasibility check when |gamma| has doubled since the last check, as iterates of a problem without a
 * solution may grow by any factor in a step. Skips iterates whose residual is over 1.5 times that of the start: they do
 * not lie along a direction that proves infeasibility. */
static void check_growth(Run *run)
{
    TalusSolve *s = run->s;
    double size = sqrt(s->backend->vector.dot(s->op, run->w->gamma, run->w->gamma));
    if (size > 2.0 * run->checked_norm && run->rms <= 1.5 * s->info->start_residual) {
        run->checked_norm = size;
        talus_solve_request_infeasibility_check(s);
    }
}

/* Counts an iteration and reports it to the driver. True if the solve must go on. With stop=paper the solve ends by the
 * norm of the projected gradient, `norm` / speed in m/s, and the outcome stays budget: the driver measures convergence
 * afterwards. */
static bool report_iteration(Run *run, double norm)
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

/* Updates the minimum residual of the round. True if the last `patience` iterations of the method brought no new
 * minimum; never true with patience 0. gpcg, tron and bqpip do not notice by themselves that they have reached
 * rounding. */
static bool has_stalled(Run *run)
{
    run->since_least = run->rms < run->least_rms ? 0 : run->since_least + 1;
    run->least_rms = fmin(run->least_rms, run->rms);
    return run->kind->patience > 0 && run->since_least >= run->kind->patience;
}

/* Callback `iterated` of TalusTaoProblem: evaluates and measures iterate z and reports it. False ends this run of
 * TAO. */
static bool on_iteration(void *user, int number, const double *z, double norm)
{
    Run *run = user;
    TalusTaoWork *w = run->w;
    size_t bytes = (size_t)w->n * sizeof *z;
    if (memcmp(z, w->vector[TALUS_TAO_POINT], bytes) != 0)
        move_to_z(run, z);
    memcpy(w->vector[TALUS_TAO_LAST], z, bytes);
    if (number == 0)
        return true; /* the starting point has been measured and reported */
    measure_residual(run);
    run->done = !report_iteration(run, norm);
    return !run->done && !has_stalled(run);
}

/* Callback `multiplied` of TalusTaoProblem: counts a product. False if the budget is used up. */
static bool on_product(void *user)
{
    Run *run = user;
    run->s->info->products++;
    return talus_solve_within_budget(run->s);
}

/* ---- rounds ---- */

/* Returns the largest |entry| of the projected scaled gradient at X. */
static double projected_gradient_max(const TalusTaoWork *w)
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

/* Sets x0 = X, where GRADIENT must be known, and from it speed, unit, bounds and starting point of the scaled problem.
 * False if the projected gradient is 0: x is a solution. */
static bool set_origin(Run *run)
{
    TalusTaoWork *w = run->w;
    double **v = w->vector;
    double max = projected_gradient_max(w) / w->speed, speed = power_near_one_over(max);
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

/* Returns the error of a run of TAO that failed, with PETSc's text. The next call sets up everything again. */
static TalusStatus fail_with_text(const Run *run, const TalusTaoResult *result)
{
    bool memory = result->end == TALUS_TAO_MEMORY;
    run->w->ready = false; /* the matrix may be in any state */
    return talus_solver_fail(run->s->type->name, memory ? TALUS_ERR_MEMORY : TALUS_ERR_NUMERIC,
                             "PETSc: %s", result->text);
}

/* Runs TAO once from z = 0, with our callbacks, and counts its peak memory. */
static void run_tao(Run *run, const TalusTaoModule *module, TalusTaoResult *result)
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
        .evaluate = evaluate_objective,
        .iterated = on_iteration,
        .multiplied = on_product,
    };
    module->solve(&problem, result);
    talus_memory_count_external(0, result->bytes); /* released again, but part of the peak */
    talus_memory_count_external(result->bytes, 0);
}

/* Ends a round, after a run of TAO that did not end the solve: moves to the last iterate and measures it. `iterations`:
 * the count before the run. If an objective was not finite, the outcome is diverged. If TAO failed after some
 * iterations, a factorisation or line search is at the limit of its precision, and the solve goes on. If TAO failed in
 * its first line search but at a lower objective, as on an unbounded problem, the solve goes on from that point. Any
 * other failure is an error. A round without an iteration is counted and reported as one. */
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
        return fail_with_text(run, result);
    if (failed && run->kind->method != TALUS_TAO_BLMVM)
        TALUS_TRY(assemble_matrix(s, run->w)); /* bqpip may have left a changed diagonal */
    if (!down)
        move_to_z(run, run->w->vector[TALUS_TAO_LAST]);
    measure_residual(run);
    run->done = !progress && !report_iteration(run, projected_gradient_max(run->w));
    return TALUS_OK;
}

/* Runs TAO in rounds, each from the last x as x0, until the solve must end. */
static TalusStatus solve_rounds(Run *run, const TalusTaoModule *module)
{
    run->w->speed = 1.0;
    evaluate_at_x(run);
    measure_residual(run);
    run->done = !report_start(run);
    while (!run->done) {
        TalusTaoResult result = {.end = TALUS_TAO_GAVE_UP};
        int iterations = run->s->info->iterations;
        run->least_rms = run->rms;
        run->since_least = 0;
        run->value = 0.0;
        if (set_origin(run)) {
            run_tao(run, module, &result);
        } else {
            run->s->info->outcome = TALUS_OUTCOME_BUDGET;
            run->done = true;
        }
        if (!run->done)
            TALUS_TRY(end_round(run, &result, iterations));
    }
    return TALUS_OK;
}

/* Projects gamma onto the set, in place, and sets the starting point X from it. */
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
    TALUS_TRY(set_up_problem(&run));
    set_start(&run);
    TALUS_TRY(talus_tao_lock(&module));
    TalusStatus status = solve_rounds(&run, module);
    talus_tao_unlock();
    TALUS_TRY(status);
    memcpy(s->gamma, w->gamma, (size_t)s->op->rows * (size_t)s->op->blocks * sizeof *s->gamma);
    if (run.p->stop ==
        TALUS_TAO_STOP_OURS) /* stop=paper returns the iterate that met the paper's rule */
        talus_best_restore(&w->best, s, s->gamma);
    s->backend->block.project(s->op, NULL, s->gamma); /* removes rounding */
    return TALUS_OK;
}

void talus_tao_clear(void *work)
{
    TalusTaoWork *w = work;
    talus_qp_clear(&w->qp);
    talus_sparse_clear(&w->matrix);
    talus_release(w->memory);
}
