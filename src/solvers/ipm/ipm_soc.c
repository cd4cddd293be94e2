/* solvers/ipm/ipm_soc.c - primal-dual interior-point method for circular cones.
 *
 * With s = (N + E) gamma + q the conditions are gamma in K, s in K*, gamma's = 0 block by block. In the coordinates of
 * ipm_soc_cone.h, points (x, z) strictly inside both cones follow the central path x o z = nu e, nu -> 0, by Newton's
 * method in Nesterov and Todd's scaling with Mehrotra's predictor and corrector (1992). The predictor, a step without
 * centring, gives the reachable length, from which the centring and the second-order term of the actual step follow. An
 * iteration takes two solutions with one factorisation (ipm_soc_system.h). The change of z follows from that of gamma
 * by a product with N + E. The error of a linear solution is then a departure from the path, which the next step
 * corrects, and not from s = (N + E) gamma + q. The start does not depend on the given gamma: gamma = (a, 0, 0) and s =
 * (1, 0, 0) for all blocks in scaled units, a point of the path except for s = (N + E) gamma + q. If impulses are far
 * larger than a, as for heavy bodies on light ones, the method ends before z agrees with (N + E) gamma + q; it then
 * restarts with an a GROWTH times as large.
 *
 * Of two impulses, the one with the smaller residual is reported and returned: gamma, which is inside the cones, or the
 * projection P(gamma - s/d), in which open contacts are open and sliding ones slide.
 *
 * If `polish` is on, Newton's method on the natural map continues from the best point: prox, with a small proximal
 * weight from the start. This happens at HANDOVER, or where the method ends by itself: the residual has not fallen for
 * some iterations, steps are short, or rounding leaves no point inside.
 *
 * Half lines (mu = 0, or one row) are rays; blocks without a moving body have no unknowns. Powers of two scale N and q
 * to the order of 1, so a change of units by powers of two does not change the digits. */
#include "solvers/driver/best.h"
#include "solvers/ipm/ipm_soc_system.h"
#include "solvers/newton/natural_map.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* PATIENCE: iterations without progress that end the method. SHORT: short steps in a row that end it. */
enum { PATIENCE = 6, SHORT = 3 };

/* Largest number of blocks for which the form of the linear systems may change from `bodies` to `contacts`. */
enum { MAX_CONTACTS = 3000 };

/* REACH: share of the step to the boundary. TINY_STEP: steps below this are short. */
static const double REACH = 0.99, TINY_STEP = 0.05;
/* A squared distance from K up to OUTSIDE times the squared size of gamma is rounding. */
static const double OUTSIDE = 1e-30;
/* A linear system is solved if the norm of its residual is at most ENOUGH sqrt(nu x cones); the step is `inexact` if
 * the norm exceeds INEXACT times that. */
static const double ENOUGH = 1e-6, INEXACT = 1e3;
/* An iteration progresses if the residual, or the largest |RHO|, is below this times its minimum so far. */
static const double FALLING = 0.9;
/* Size a of the starting impulses: factor from one start to the next, and maximum. APART: largest difference of z and
 * (N + E) gamma + q, relative to q, above which another start is tried. */
static const double GROWTH = 1e4, LARGEST_START = 1e12, APART = 1e-2;
/* Residual, relative to that of zero impulses, below which Newton's method takes over. */
static const double HANDOVER = 1e-8;

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    int linear, form;
    bool polish;
} Params;

static const char *const forms[] = {"auto", "bodies", "contacts", NULL}; /* TalusSocFormChoice */

static const TalusParam params[] = {
    TALUS_CHOICE(Params, linear, TALUS_SOC_LINEAR_AUTO, talus_soc_linears,
                 "factorisation; auto: cholmod for contacts where the build has it, else ldl"),
    TALUS_CHOICE(Params, form, TALUS_SOC_FORM_AUTO, forms,
                 "unknowns of the linear systems; auto: bodies where there are any"),
    TALUS_FLAG(Params, polish, 1.0,
               "Newton steps on the natural map after the last interior-point step"),
};

/* X, Z: the point. GAMMA, U: its scaled impulses and (N + E) gamma + q. RHO: U, in the coordinates of z, minus z. DX,
 * DZ: W dx, W^-1 dz. RIGHT: right-hand side of the linear system. IMAGE: (N + E) times the change of gamma. REPORTED,
 * OTHER: impulses in the problem's units, the better of two and the worse; V: gradient at one of them. OFFSET: q.
 * START: first gamma. */
enum { X, Z, GAMMA, U, RHO, RIGHT, DX, DZ, IMAGE, REPORTED, OTHER, V, OFFSET, START, VECTORS };

typedef struct Work {
    TalusSocSystem system;
    TalusSocBlock *block;
    TalusVectors vectors;
    double *vector[VECTORS];
    TalusBest best;
    bool polishing; /* the last call ended in the polish; a resumed call continues the polish */
} Work;

typedef struct Run {
    TalusSolve *s;
    const Params *p;
    Work *w;
    int n, rows, cones;   /* cones: blocks with unknowns */
    double unit, impulse; /* scaled problem: N times unit, gamma over impulse */
    double nu;            /* mean of x'z over cones */
    bool inexact;         /* a linear system of this step missed its accuracy by far */
    double reported_sum, reported_largest; /* residual of REPORTED: sum of squares, maximum */
    double zero_sum, start_sum; /* sums of squares of the residual of zero impulses and of START */
    double least_sum, least_apart; /* minima since this start: reported_sum; largest |RHO| */
    int idle, short_steps; /* iterations since the last that progressed; short steps in a row */
} Run;

enum { POLISH }; /* index in `parts` */
static const TalusPart parts[] = {[POLISH] = {TALUS_SOC_POLISH, false}, {NULL, false}};

/* ---- preparation ---- */

/* Returns the largest |x_k|. */
static double largest_magnitude(const double *x, int n)
{
    double largest = 0.0;
    for (int k = 0; k < n; k++)
        largest = fmax(largest, fabs(x[k]));
    return largest;
}

/* Reserves blocks, vectors and the best iterate. */
static TalusStatus reserve_memory(TalusSolve *s, Work *w)
{
    TALUS_TRY(TALUS_GROW(w->block, (size_t)s->op->blocks, 0, "cones"));
    TALUS_TRY(talus_vectors_reserve(s, &w->vectors, VECTORS, w->vector, "vectors"));
    return talus_best_begin(&w->best, s);
}

static TalusStatus prepare_system(Run *run, int form)
{
    return talus_soc_system_choose(&run->w->system, run->s, run->p->linear, form, run->unit);
}

/* Sets X and Z so that gamma = (size, 0, 0) and s = (1, 0, 0) in every block, in units of the scaled problem. */
static void set_start(Run *run, double size)
{
    double **v = run->w->vector;
    memset(v[X], 0, (size_t)run->n * sizeof *v[X]);
    memset(v[Z], 0, (size_t)run->n * sizeof *v[Z]);
    for (int i = 0; i < run->s->op->blocks; i++) {
        const TalusSocBlock *k = &run->w->block[i];
        double mu = k->kind == TALUS_SOC_CONE ? k->mu : 1.0;
        if (k->kind == TALUS_SOC_NOTHING)
            continue;
        v[X][run->rows * i] = size * mu;
        v[Z][run->rows * i] = 1.0 / mu;
    }
}

/* Reserves memory, discards the best iterate, fills blocks and OFFSET, and sets the units of the scaled problem. */
static TalusStatus prepare_run(Run *run)
{
    TalusSolve *s = run->s;
    TALUS_TRY(reserve_memory(s, run->w));
    run->cones = talus_soc_fill_blocks(s->op, run->w->block);
    s->backend->op.product(s->op, NULL, false, true, run->w->vector[OFFSET]);
    talus_soc_find_units(s->op, largest_magnitude(run->w->vector[OFFSET], run->n), &run->unit,
                         &run->impulse);
    return TALUS_OK;
}

/* ---- measuring ---- */

/* Measures the residual of impulses in K: sum of squares and maximum over blocks. V becomes their gradient. */
static void measure_residual(Run *run, const double *gamma, double *sum, double *largest)
{
    Work *w = run->w;
    *sum = *largest = 0.0;
    run->s->backend->op.product(run->s->op, gamma, true, true, w->vector[V]);
    run->s->info->products++;
    for (int i = 0; i < run->s->op->blocks; i++) {
        const TalusSocBlock *k = &w->block[i];
        double f[3], square = 0.0;
        TalusNaturalBlock b = {.rows = run->rows,
                               .mu = run->rows == 1 ? 0.0 : k->mu,
                               .scale = k->scale > 0.0 ? k->scale : 1.0};
        talus_natural_map(&b, gamma + i * run->rows, w->vector[V] + i * run->rows, f);
        for (int r = 0; r < run->rows; r++)
            square += f[r] * f[r];
        double size = b.scale * sqrt(square);
        *sum += size * size;
        update_max(largest, size);
    }
}

/* Computes GAMMA, U, RHO and nu of the current point. */
static void evaluate_point(Run *run)
{
    double **v = run->w->vector, sum = 0.0;
    double unit = run->unit, speed = unit / run->impulse; /* speed: scale of q */
    for (int i = 0; i < run->s->op->blocks; i++) {
        int at = i * run->rows;
        talus_soc_to_impulse(&run->w->block[i], run->rows, v[X] + at, v[GAMMA] + at);
        for (int r = 0; r < talus_soc_rows(&run->w->block[i]); r++)
            sum += v[X][at + r] * v[Z][at + r];
    }
    run->nu = sum / run->cones;
    run->s->backend->op.product(run->s->op, v[GAMMA], true, false, v[U]);
    run->s->info->products++;
    for (int k = 0; k < run->n; k++)
        v[U][k] = unit * v[U][k] + speed * v[OFFSET][k];
    for (int i = 0; i < run->s->op->blocks; i++) {
        int at = i * run->rows;
        talus_soc_from_velocity(&run->w->block[i], run->rows, v[U] + at, v[RHO] + at);
        for (int r = 0; r < run->rows; r++)
            v[RHO][at + r] -= v[Z][at + r];
    }
}

/* Sets REPORTED, with its residual, to the better of gamma and P(gamma - s/d), s from Z, and offers it as best
 * iterate. */
static void choose_reported(Run *run)
{
    Work *w = run->w;
    double **v = w->vector, sum, largest;
    double speed = run->impulse / run->unit;
    for (int k = 0; k < run->n; k++)
        v[REPORTED][k] = run->impulse * v[GAMMA][k];
    memcpy(v[OTHER], v[REPORTED], (size_t)run->n * sizeof *v[OTHER]);
    for (int i = 0; i < run->s->op->blocks; i++)
        for (int r = 0; r < talus_soc_rows(&w->block[i]); r++) {
            const TalusSocBlock *k = &w->block[i];
            double z = v[Z][i * run->rows + r];
            double s = r == 0 && k->kind == TALUS_SOC_CONE ? k->mu * z : z;
            v[OTHER][i * run->rows + r] -= speed * s / k->scale;
        }
    run->s->backend->block.project(run->s->op, NULL, v[REPORTED]);
    run->s->backend->block.project(run->s->op, NULL, v[OTHER]);
    measure_residual(run, v[REPORTED], &run->reported_sum, &run->reported_largest);
    measure_residual(run, v[OTHER], &sum, &largest);
    if (sum < run->reported_sum) {
        talus_vector_swap(&v[OTHER], &v[REPORTED]);
        run->reported_sum = sum;
        run->reported_largest = largest;
    }
    talus_best_offer(&w->best, run->s, v[REPORTED], run->reported_sum);
}

/* ---- steps ---- */

/* Sets RIGHT = y - W^-1 rho, along W's axes. If `corrected`, l o y = sigma nu e - l o l - dx o dz; for the predictor y
 * = -l. */
static void set_right_side(Run *run, bool corrected, double sigma)
{
    double **v = run->w->vector;
    for (int i = 0; i < run->s->op->blocks; i++) {
        const TalusSocBlock *k = &run->w->block[i];
        const int at = i * run->rows, rows = talus_soc_rows(k);
        double p[3] = {0}, rho[3] = {0}, *right = v[RIGHT] + at;
        if (corrected) {
            double square[3];
            talus_soc_jordan_product(k, v[DX] + at, v[DZ] + at, p);
            talus_soc_jordan_product(k, k->lambda, k->lambda, square);
            for (int r = 0; r < rows; r++)
                p[r] = (r == 0 ? sigma * run->nu : 0.0) - square[r] - p[r];
            talus_soc_divide_by_lambda(k, p, p);
        }
        talus_soc_apply_inverse_scaling(k, v[RHO] + at, rho);
        for (int r = 0; r < run->rows; r++)
            right[r] = r < rows ? (corrected ? p[r] : -k->lambda[r]) - rho[r] : 0.0;
        talus_soc_to_axes(k, right, right);
    }
}

/* Solves the linear system with RIGHT: sets DX, DZ and IMAGE. Sets run->inexact if the solution is inaccurate. */
static TalusStatus compute_direction(Run *run)
{
    Work *w = run->w;
    double **v = w->vector, left;
    double enough = ENOUGH * sqrt(run->nu * run->cones);
    TALUS_TRY(talus_soc_system_solve(&w->system, run->s, v[RIGHT], enough, v[DX], v[IMAGE], &left));
    run->inexact |= left > INEXACT * enough;
    for (int i = 0; i < run->s->op->blocks; i++) {
        const int at = i * run->rows;
        double dz[3];
        talus_soc_from_axes(&w->block[i], v[DX] + at, v[DX] + at);
        talus_soc_from_velocity(&w->block[i], run->rows, v[IMAGE] + at, dz);
        for (int r = 0; r < run->rows; r++)
            dz[r] += v[RHO][at + r];
        memset(v[DZ] + at, 0, (size_t)run->rows * sizeof *v[DZ]);
        talus_soc_apply_inverse_scaling(&w->block[i], dz, v[DZ] + at);
    }
    return TALUS_OK;
}

/* Returns the largest step along DX and DZ that stays within both cones; may be infinite. */
static double longest_step(const Run *run)
{
    double **v = run->w->vector, a = INFINITY;
    for (int i = 0; i < run->s->op->blocks; i++) {
        const TalusSocBlock *k = &run->w->block[i];
        a = fmin(a, talus_soc_longest_step(k, v[DX] + i * run->rows));
        a = fmin(a, talus_soc_longest_step(k, v[DZ] + i * run->rows));
    }
    return a;
}

/* Returns nu after a step of length a along DX and DZ. */
static double nu_after(const Run *run, double a)
{
    double **v = run->w->vector, sum = 0.0;
    for (int i = 0; i < run->s->op->blocks; i++) {
        const TalusSocBlock *k = &run->w->block[i];
        for (int r = 0; r < talus_soc_rows(k); r++) {
            int at = i * run->rows + r;
            sum += (k->lambda[r] + a * v[DX][at]) * (k->lambda[r] + a * v[DZ][at]);
        }
    }
    return sum / run->cones;
}

/* Writes the points X + a dx and Z + a dz to `x` and `z`. False if one of them is not strictly inside. */
static bool write_moved_point(const Run *run, double a, double *x, double *z)
{
    double **v = run->w->vector;
    bool inside = true;
    for (int i = 0; i < run->s->op->blocks; i++) {
        const TalusSocBlock *k = &run->w->block[i];
        const int at = i * run->rows;
        double dx[3] = {0}, dz[3] = {0};
        talus_soc_apply_inverse_scaling(k, v[DX] + at, dx);
        talus_soc_from_velocity(k, run->rows, v[IMAGE] + at, dz);
        for (int r = 0; r < run->rows; r++) {
            x[at + r] = v[X][at + r] + a * dx[r];
            z[at + r] = v[Z][at + r] + a * (dz[r] + (r < talus_soc_rows(k) ? v[RHO][at + r] : 0.0));
        }
        inside &= talus_soc_is_inside(k, x + at) && talus_soc_is_inside(k, z + at);
    }
    return inside;
}

/* Moves to the new point, halving the step until it is inside both cones; TALUS_ERR_NUMERIC if 20 halvings do not
 * suffice. RIGHT and GAMMA, no longer needed, are its work memory. */
static TalusStatus move_point(Run *run)
{
    double **v = run->w->vector, a = fmin(1.0, REACH * longest_step(run));
    int halvings = 0;
    while (!write_moved_point(run, a, v[RIGHT], v[GAMMA]))
        if (++halvings > 20)
            return talus_fail(TALUS_ERR_NUMERIC, "no step inside the cones");
        else
            a *= 0.5;
    memcpy(v[X], v[RIGHT], (size_t)run->n * sizeof *v[X]);
    memcpy(v[Z], v[GAMMA], (size_t)run->n * sizeof *v[Z]);
    run->short_steps = a < TINY_STEP ? run->short_steps + 1 : 0;
    return TALUS_OK;
}

/* Computes DX, DZ and IMAGE of the actual step. */
static TalusStatus predict_and_correct(Run *run)
{
    run->inexact = false;
    TALUS_TRY(talus_soc_system_scale(&run->w->system, run->s, run->w->block, run->w->vector[X],
                                     run->w->vector[Z]));
    set_right_side(run, false, 0.0);
    TALUS_TRY(compute_direction(run));
    double a = fmin(1.0, longest_step(run)), share = nu_after(run, a) / run->nu;
    double sigma = fmin(fmax(share * share * share, 0.0), 1.0);
    set_right_side(run, true, sigma);
    return compute_direction(run);
}

/* True after an inexact step, if the form was chosen automatically and form contacts may help. With heavy bodies on
 * light ones, elimination without pivoting loses digits in form bodies but not in form contacts, which is denser. */
static bool may_change_form(const Run *run)
{
    return run->inexact && run->w->system.form == TALUS_SOC_BODIES &&
           run->p->form == TALUS_SOC_FORM_AUTO && run->s->op->blocks <= MAX_CONTACTS;
}

/* Takes one step; if the linear systems were inexact, first changes their form where that may help. */
static TalusStatus run_iteration(Run *run)
{
    TALUS_TRY(predict_and_correct(run));
    if (may_change_form(run)) {
        TALUS_TRY(prepare_system(run, TALUS_SOC_FORM_CONTACTS));
        TALUS_TRY(predict_and_correct(run));
    }
    return move_point(run);
}

/* ---- the solve ---- */

/* True to go on: in one of the last PATIENCE iterations the residual, or the largest |RHO|, fell below FALLING times
 * its minimum so far; fewer than SHORT steps in a row were short; and, with `polish`, HANDOVER is not reached. Updates
 * the minima and the count of iterations without progress. */
static bool run_progresses(Run *run)
{
    if (run->p->polish && run->reported_sum <= HANDOVER * HANDOVER * run->zero_sum)
        return false;
    double apart = largest_magnitude(run->w->vector[RHO], run->n);
    bool falls = run->reported_sum < FALLING * FALLING * run->least_sum ||
                 apart < FALLING * run->least_apart;
    if (falls)
        run->idle = 0;
    run->least_sum = fmin(run->least_sum, run->reported_sum);
    run->least_apart = fmin(run->least_apart, apart);
    return ++run->idle < PATIENCE && run->short_steps < SHORT;
}

/* Runs the method from set_start(run, size). *ended: true if the driver ended the solve, false if the method stopped by
 * itself. */
static TalusStatus run_from(Run *run, double size, bool *ended)
{
    TalusSolve *s = run->s;
    set_start(run, size);
    run->least_sum = run->least_apart = INFINITY;
    run->idle = run->short_steps = 0;
    *ended = false;
    evaluate_point(run);
    for (;;) {
        TalusStatus status = run_iteration(run);
        if (status == TALUS_ERR_NUMERIC) /* rounding exceeds any further gain */
            return TALUS_OK;
        TALUS_TRY(status);
        evaluate_point(run);
        choose_reported(run);
        talus_solve_request_infeasibility_check(s);
        *ended = !talus_solve_next(s, 0, run->w->vector[REPORTED], NULL, run->reported_sum,
                                   run->reported_largest);
        if (*ended || !run_progresses(run))
            return TALUS_OK;
    }
}

/* Measures zero impulses, then runs the method from starts of growing size until z agrees with (N + E) gamma + q.
 * *ended as in run_from. */
static TalusStatus run_interior(Run *run, bool *ended)
{
    memset(run->w->vector[REPORTED], 0, (size_t)run->n * sizeof(double));
    measure_residual(run, run->w->vector[REPORTED], &run->zero_sum, &run->reported_largest);
    bool far = true;
    *ended = false;
    for (double size = 1.0; far && !*ended && size <= LARGEST_START; size *= GROWTH) {
        TALUS_TRY(run_from(run, size, ended));
        far = run->least_apart > APART;
    }
    return TALUS_OK;
}

/* Runs prox from gamma. The factor of prox has both triangles and may be refused as too large; gamma then stays. */
static TalusStatus run_polish(Run *run, bool resumed)
{
    TalusStatus status = talus_solve_hand_over(run->s, POLISH, resumed);
    run->w->polishing = status == TALUS_OK;
    return status == TALUS_ERR_UNSUPPORTED ? TALUS_OK : status;
}

/* Projects the given gamma onto K, unless its distance from K counts as rounding (OUTSIDE). */
static void project_start(TalusSolve *s)
{
    TalusSizes sizes;
    s->backend->op.measure_sizes(s->op, NULL, s->gamma, &sizes);
    if (!(sizes.outside <= OUTSIDE * sizes.size))
        s->backend->block.project(s->op, NULL, s->gamma);
}

/* Projects s->gamma onto K, in place, stores it as START and REPORTED and measures it; its residual is the starting
 * residual of the solve. True if it is already good enough; the measurement then counts as an iteration. */
static bool start_is_enough(Run *run)
{
    TalusSolve *s = run->s;
    const TalusSolveOptions *o = s->options;
    double largest;
    project_start(s);
    memcpy(run->w->vector[REPORTED], s->gamma, (size_t)run->n * sizeof *s->gamma);
    memcpy(run->w->vector[START], s->gamma, (size_t)run->n * sizeof *s->gamma);
    measure_residual(run, s->gamma, &run->start_sum, &largest);
    double rms = sqrt(run->start_sum / s->op->blocks);
    talus_solve_note_start(s, rms);
    return (o->norm == TALUS_NORM_MAX ? largest : rms) <= o->tolerance * s->tolerance_factor &&
           !talus_solve_next(s, 0, s->gamma, NULL, run->start_sum, largest);
}

/* Sets gamma to START if the solve has not converged and START has the smaller residual. This comparison comes after
 * the polish, which must continue from the interior points, since these identify the open contacts. */
static void restore_start_if_better(Run *run)
{
    TalusSolve *s = run->s;
    double sum, largest;
    if (s->info->outcome == TALUS_OUTCOME_CONVERGED)
        return;
    measure_residual(run, s->gamma, &sum, &largest);
    if (!(sum <= run->start_sum))
        memcpy(s->gamma, run->w->vector[START], (size_t)run->n * sizeof *s->gamma);
}

/* `solve` of TalusSolverType: solves the problem from s->gamma, in place. */
static TalusStatus solve_ipm_soc(TalusSolve *s)
{
    Run run = {.s = s, .p = s->params, .w = s->work, .n = s->op->rows * s->op->blocks};
    run.rows = s->op->rows;
    Work *w = run.w;
    bool ended = true, resumed = s->resumed && w->polishing;
    if (resumed)
        return run_polish(&run, true);
    w->polishing = false;
    TALUS_TRY(prepare_run(&run));
    if (start_is_enough(&run))
        return TALUS_OK;
    if (run.cones > 0) {
        TALUS_TRY(prepare_system(&run, run.p->form));
        TALUS_TRY(run_interior(&run, &ended));
    }
    memcpy(s->gamma, w->vector[REPORTED], (size_t)run.n * sizeof *s->gamma);
    if (!ended)
        s->info->outcome = TALUS_OUTCOME_BUDGET; /* lets talus_best_restore choose the best */
    talus_best_restore(&w->best, s, s->gamma);
    if (!ended && run.p->polish)
        TALUS_TRY(run_polish(&run, false));
    restore_start_if_better(&run);
    return TALUS_OK;
}

/* `clear` of TalusSolverType. */
static void clear_work(void *work)
{
    Work *w = work;
    talus_soc_system_clear(&w->system);
    talus_release(w->block);
}

const TalusSolverType talus_solver_ipm_soc = {
    .name = "ipm-soc",
    .summary =
        "interior point on circular cones, Nesterov-Todd scaling, Newton polish: high accuracy",
    .reference = "Nesterov & Todd 1998; Mehrotra 1992; Vandenberghe 2010",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES(CCP, DISC),
    TALUS_PARAMS(params, Params),
    .work_size = sizeof(Work),
    .parts = parts,
    .solve = solve_ipm_soc,
    .clear = clear_work,
    .on_host = "the factorisation",
};
