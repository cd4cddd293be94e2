/* solvers/newton/continuation.c - path of smoothed problems, followed by arc length, for exact Coulomb friction.
 *
 * The natural map, smoothed over the width w (smooth_map.h), has one root for large w. Its roots for all w form paths.
 * The path that begins at large w cannot end at any w > 0, since roots are bounded: it leads to a solution of the
 * problem itself at w = 0. Exact Coulomb friction may have several solutions. Then the path has folds, where w must
 * rise again, and a method that only lowers w, or only damps its steps, stalls. So the path is followed by its arc
 * length in the unknowns (x, l), where l, the level, gives the width w = w0 exp(-l) (Keller 1977; Allgower & Georg
 * 1990):
 *
 *     predict   z = (x, l) + h t, with t the unit tangent
 *     correct   f(z) = 0 and t'(z - predicted) = 0 by Newton's method, one factorisation and two solutions each
 *     turn      the new tangent is (-J^-1 df/dl, 1), up to length and sign: along the path, l rises where det J has the
 *               sign that it had at the start, and falls where it has the other one.
 *
 * Lengths along the path are relative: |x|^2 is the sum over blocks of (d x)^2, divided by the same sum at the current
 * point of the path. A step is repeated with a shorter h if the correction does not contract or the tangent turns by
 * more than TURN. Once w is small, Newton's method on the map without smoothing is tried from time to time; it ends the
 * solve, mostly in five steps. Where the path gets lost in rounding, as on hyperstatic bodies, the solver prox
 * continues from the best iterate. With ccp and without friction the path has no folds.
 *
 * The path starts from the same point whatever the warm start is, unless the warm start meets the tolerance. An
 * iteration is one factorisation or, for the first one, a measurement. Memory and time are those of a direct method.
 * Measurements are in docs/reference/solvers/direct.md. */
#include "solvers/driver/best.h"
#include "solvers/newton/natural_system.h"
#include "solvers/newton/smooth_map.h"

#include "base/status.h"

#include <math.h>
#include <string.h>

/* Largest numbers of Newton steps: MAX_START at the first width, each halved at most HALVINGS times; MAX_CORRECT of a
 * correction; MAX_FINISH on the map without smoothing. h grows after at most QUICK steps of a correction and shrinks
 * after SLOW or more. */
enum { MAX_START = 100, HALVINGS = 12, MAX_CORRECT = 6, QUICK = 2, SLOW = 4, MAX_FINISH = 8 };

/* A point is on the path if |f| is at most ACCURACY w and at most CLOSE h^2 w, or at most ROUNDING times the residual
 * of zero impulses. CLOSE is needed where a sliding speed passes close to 0: the path bends sharply there, steps get
 * short, and a point as far from the path as the step is long would lose it. TURN: least cosine of the angle between
 * successive tangents, for steps of length SHARP or more. */
static const double ACCURACY = 1e-5, CLOSE = 1e-2, ROUNDING = 1e-13, TURN = 0.5, SHARP = 1e-5;
/* Factors on h: after a quick, a slow and a failed correction. */
static const double GROW = 1.7, SHRINK = 0.7, RETRY = 0.4;
/* h at the start, its maximum and its minimum. */
static const double LENGTH = 0.5, LENGTH_MAX = 1.0, LENGTH_MIN = 1e-8;
/* The path ends at a width of LEAST times the residual of zero impulses. */
static const double LEAST = 1e-8;
/* Newton's method is given up once a step leaves more than this share of |f|. */
static const double CONTRACTS = 0.5;
/* At widths below LATE times the residual of zero impulses the path ends if w has not fallen by the factor FALL within
 * PATIENCE + (number of blocks) iterations. */
enum { PATIENCE = 200 };
static const double LATE = 1e-2;
/* Newton's method on the map without smoothing is tried each time w has fallen by the factor FALL. WEIGHT: proximal
 * weight in its Jacobian, since N may be rank deficient. */
static const double FALL = 0.6, WEIGHT = 1e-8;

enum { POLISH }; /* index in `parts` */
static const TalusPart parts[] = {[POLISH] = {"prox:rho=1e-6", false}, {NULL, false}};

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    double width, finish;
} Params;

static const TalusParam params[] = {
    TALUS_REAL(Params, width, 10.0, 1e-3, 1e6, "first width over the residual of zero impulses"),
    TALUS_REAL(Params, finish, 0.03, 0.0, 1e6,
               "width over that residual, below which Newton on the map itself is tried"),
};

/* X: impulses of the current point of the path. TRIAL: impulses of the point to be corrected; at TRIAL: U = (N + E) x +
 * q, F = f, RATE = df/dl. NEWTON = J^-1 F; SLIDE = J^-1 RATE. TANGENT: the part of the tangent t that belongs to
 * impulses. REPORTED: TRIAL projected onto the sets; V: u of REPORTED. OFFSET: q. */
enum { X, TRIAL, U, F, RATE, NEWTON, SLIDE, TANGENT, REPORTED, V, OFFSET, VECTORS };

typedef struct Work {
    TalusNaturalSystem system;
    TalusVectors vectors;
    double *vector[VECTORS];
    TalusBest best;
    bool polishing; /* the last call has handed over to prox */
} Work;

typedef struct Run {
    TalusSolve *s;
    const Params *p;
    Work *w;
    double **vector;           /* w->vector */
    int n;                     /* number of rows */
    double zero_residual;      /* residual of zero impulses, m/s */
    double level, trial_level; /* l of X and of TRIAL */
    double tangent_level;      /* the component of the tangent t that belongs to l */
    double length;             /* h: length of the next step along the path */
    double x_norm2;            /* sum of (d x)^2 at X, by which lengths are divided */
    double tried_width;        /* width at the last trial of Newton without smoothing */
    int tried_iteration;       /* iterations at the end of that trial */
    int sign;                  /* sign of det J at the first point */
    bool over;                 /* the driver has ended the solve */
} Run;

/* ---- the map ---- */

/* Width w = w0 exp(-level), m/s. */
static double width_at(const Run *run, double level)
{
    return run->p->width * run->zero_residual * exp(-level);
}

/* u = (N + E) x + q; counts one product. */
static void compute_velocity(Run *run, const double *x, double *u)
{
    talus_block_matrix_apply(&run->w->system.matrix, x, run->vector[OFFSET], u);
    run->s->info->products++;
}

/* Computes U, f, df/dl and the Jacobian at TRIAL for this width; width 0: of the map without smoothing, which has no
 * df/dl and whose Jacobian gets the proximal weight WEIGHT. Returns the root mean square of |f|, m/s. */
static double evaluate_map(Run *run, double width)
{
    TalusNaturalSystem *system = &run->w->system;
    const int rows = system->matrix.size, square = rows * rows;
    const double weight = width > 0.0 ? 0.0 : WEIGHT;
    double sum = 0.0;
    compute_velocity(run, run->vector[TRIAL], run->vector[U]);
    for (int i = 0; i < system->matrix.blocks; i++) {
        const TalusNaturalBlock *b = &system->block[i];
        const double *x = run->vector[TRIAL] + i * rows, *u = run->vector[U] + i * rows;
        double *f = run->vector[F] + i * rows, *rate = run->vector[RATE] + i * rows;
        TalusNaturalJacobian slope;
        if (width > 0.0) {
            talus_smooth_map(b, width, x, u, f, &slope, rate);
        } else {
            talus_natural_map(b, x, u, f);
            talus_natural_jacobian(b, x, u, &slope);
        }
        for (int k = 0; k < square; k++) {
            system->left[i * square + k] = slope.by_velocity[k];
            system->own[i * square + k] =
                slope.by_impulse[k] + weight * b->scale * slope.by_velocity[k];
        }
        double size = talus_natural_residual(b, f);
        sum += size * size;
    }
    return sqrt(sum / system->matrix.blocks);
}

/* Factorises the Jacobian and solves for NEWTON and, if `smooth`, for SLIDE. Counts the factorisation, and each
 * solution as a product. */
static void factor_and_solve(Run *run, bool smooth)
{
    TalusNaturalSystem *system = &run->w->system;
    size_t bytes = (size_t)run->n * sizeof(double);
    talus_fronts_factor(&system->fronts, &system->matrix, system->left, system->own);
    run->s->info->factorisations++;
    memcpy(run->vector[NEWTON], run->vector[F], bytes);
    talus_fronts_solve(&system->fronts, run->vector[NEWTON]);
    run->s->info->products++;
    if (!smooth)
        return;
    memcpy(run->vector[SLIDE], run->vector[RATE], bytes);
    talus_fronts_solve(&system->fronts, run->vector[SLIDE]);
    run->s->info->products++;
}

/* Ends an iteration: projects TRIAL to REPORTED, measures the problem's residual there, offers REPORTED as the best
 * iterate and reports it to the driver. Sets run->over if the solve must end. */
static void report_trial(Run *run)
{
    double sum, largest, *reported = run->vector[REPORTED];
    memcpy(reported, run->vector[TRIAL], (size_t)run->n * sizeof *reported);
    run->s->backend->block.project(run->s->op, NULL, reported);
    compute_velocity(run, reported, run->vector[V]);
    talus_natural_system_measure(&run->w->system, reported, run->vector[V], &sum, &largest);
    talus_best_offer(&run->w->best, run->s, reported, sum);
    run->over = !talus_solve_next(run->s, 0, reported, NULL, sum, largest);
}

/* ---- the first point ---- */

/* Copies one vector of run->vector to another; from, to: their indices. */
static void copy_vector(Run *run, int from, int to)
{
    memcpy(run->vector[to], run->vector[from], (size_t)run->n * sizeof(double));
}

/* TRIAL = X - a NEWTON */
static void set_trial(Run *run, double a)
{
    for (int k = 0; k < run->n; k++)
        run->vector[TRIAL][k] = run->vector[X][k] - a * run->vector[NEWTON][k];
}

/* Sets X to the root at the first width by Newton's method with halved steps, which starts from impulses along the
 * normals; to the last iterate if the solve ends or MAX_START steps do not suffice. Sets run->sign and leaves SLIDE for
 * the first tangent. */
static void find_first_point(Run *run)
{
    const TalusNaturalSystem *system = &run->w->system;
    const double width = width_at(run, 0.0);
    memset(run->vector[TRIAL], 0, (size_t)run->n * sizeof(double));
    for (int i = 0; i < system->matrix.blocks; i++)
        run->vector[TRIAL][i * system->matrix.size] = width / system->block[i].scale;
    double merit = evaluate_map(run, width);
    for (int k = 0; k < MAX_START && !run->over; k++) {
        bool found = merit <= ACCURACY * width;
        copy_vector(run, TRIAL, X);
        factor_and_solve(run, true); /* at the root: SLIDE for the first tangent */
        run->sign = system->fronts.sign;
        if (found)
            return;
        double before = merit, a = 1.0;
        set_trial(run, a);
        merit = evaluate_map(run, width);
        for (int h = 0; h < HALVINGS && !(merit < before); h++) {
            a *= 0.5;
            set_trial(run, a);
            merit = evaluate_map(run, width);
        }
        report_trial(run);
    }
}

/* ---- along the path ---- */

/* Sum over blocks of d^2 a'b, divided by x_norm2: the inner product in which lengths along the path are measured. */
static double inner_product(const Run *run, const double *a, const double *b)
{
    const TalusNaturalSystem *system = &run->w->system;
    const int rows = system->matrix.size;
    double sum = 0.0;
    for (int i = 0; i < system->matrix.blocks; i++) {
        double part = 0.0;
        for (int k = i * rows; k < (i + 1) * rows; k++)
            part += a[k] * b[k];
        sum += system->block[i].scale * system->block[i].scale * part;
    }
    return sum / run->x_norm2;
}

/* Sets x_norm2 from X; 1 if X is zero. */
static void set_x_norm2(Run *run)
{
    run->x_norm2 = 1.0;
    double size = inner_product(run, run->vector[X], run->vector[X]);
    run->x_norm2 = size > 0.0 ? size : 1.0;
}

/* Returns the level component of the unit tangent at the point of the last factorisation; its impulses are -SLIDE times
 * that component (set_tangent). *cosine: cosine of the angle between this tangent and the current one, t. */
static double find_tangent_level(const Run *run, double *cosine)
{
    const double *slide = run->vector[SLIDE];
    double level = 1.0 / sqrt(1.0 + inner_product(run, slide, slide));
    level = run->w->system.fronts.sign == run->sign ? level : -level;
    *cosine = level * (run->tangent_level - inner_product(run, slide, run->vector[TANGENT]));
    return level;
}

/* Sets the tangent t from its level component and SLIDE. */
static void set_tangent(Run *run, double level)
{
    run->tangent_level = level;
    for (int k = 0; k < run->n; k++)
        run->vector[TANGENT][k] = -level * run->vector[SLIDE][k];
}

/* Sets TRIAL and its level to the point at X + h t. */
static void predict_trial(Run *run)
{
    run->trial_level = run->level + run->length * run->tangent_level;
    for (int k = 0; k < run->n; k++)
        run->vector[TRIAL][k] = run->vector[X][k] + run->length * run->vector[TANGENT][k];
}

/* Takes one Newton step of TRIAL for f = 0, orthogonal to the tangent t: impulses change by -NEWTON - c SLIDE and the
 * level changes by c, with c such that the inner product of this change and t is 0. */
static void correct_once(Run *run)
{
    const double *newton = run->vector[NEWTON], *slide = run->vector[SLIDE],
                 *t = run->vector[TANGENT];
    double c = inner_product(run, t, newton) / (run->tangent_level - inner_product(run, t, slide));
    for (int k = 0; k < run->n; k++)
        run->vector[TRIAL][k] -= newton[k] + c * slide[k];
    run->trial_level += c;
}

/* True if a point with |f| = `merit` counts as on the path, for a step of the current length. */
static bool is_on_path(const Run *run, double merit, double width)
{
    double h = run->length, share = fmin(ACCURACY, CLOSE * h * h);
    return merit <= fmax(share * width, ROUNDING * run->zero_residual);
}

/* Moves TRIAL onto the path by Newton steps. Returns their number; 0 if |f| does not fall fast enough or the solve
 * ends. */
static int correct_trial(Run *run)
{
    double before = INFINITY;
    for (int k = 0;; k++) {
        double width = width_at(run, run->trial_level), merit = evaluate_map(run, width);
        if (k > 0 && is_on_path(run, merit, width))
            return k;
        if (k == MAX_CORRECT || run->over || !(merit <= (k > 1 ? CONTRACTS : 10.0) * before))
            return 0;
        before = merit;
        factor_and_solve(run, true);
        correct_once(run);
        report_trial(run);
    }
}

/* Advances X along the path by one step, sets the new tangent and adapts h. False if even the shortest step fails, or
 * the solve has ended. */
static bool advance_point(Run *run)
{
    while (!run->over && run->length > LENGTH_MIN) {
        double cosine = 0.0, level = 0.0;
        predict_trial(run);
        int steps = correct_trial(run);
        if (steps > 0)
            level = find_tangent_level(run, &cosine);
        if (steps > 0 && (cosine >= TURN || run->length < SHARP)) {
            copy_vector(run, TRIAL, X);
            run->level = run->trial_level;
            set_tangent(run, level);
            double factor = steps <= QUICK ? GROW : steps >= SLOW ? SHRINK : 1.0;
            run->length = fmin(factor * run->length, LENGTH_MAX);
            return true;
        }
        run->length *= RETRY;
    }
    return false;
}

/* ---- the end ---- */

/* Runs at most MAX_FINISH steps of Newton's method on the map without smoothing from X, in TRIAL, while |f| falls (it
 * may rise tenfold in each of the first steps); the driver ends the solve if it converges. */
static void try_unsmoothed_newton(Run *run)
{
    double before = INFINITY;
    copy_vector(run, X, TRIAL);
    for (int k = 0; k < MAX_FINISH && !run->over; k++) {
        double merit = evaluate_map(run, 0.0);
        if (!(merit <= (k > 2 ? CONTRACTS : 10.0) * before))
            return;
        before = merit;
        factor_and_solve(run, false);
        for (int j = 0; j < run->n; j++)
            run->vector[TRIAL][j] -= run->vector[NEWTON][j];
        report_trial(run);
    }
}

/* True if w is so small, or has not fallen for so long, that rounding must hide the path. */
static bool is_path_lost(const Run *run)
{
    return width_at(run, run->level) <= LEAST * run->zero_residual ||
           (run->tried_width < LATE * run->zero_residual &&
            run->s->info->iterations - run->tried_iteration > PATIENCE + run->s->op->blocks);
}

/* Follows the path from its first point until the solve ends or the path is lost. */
static void follow_path(Run *run)
{
    double cosine;
    find_first_point(run);
    set_x_norm2(run);
    memset(run->vector[TANGENT], 0, (size_t)run->n * sizeof(double));
    set_tangent(run, find_tangent_level(run, &cosine));
    run->tried_width = run->p->finish * run->zero_residual / FALL;
    while (!is_path_lost(run) && advance_point(run)) {
        double width = width_at(run, run->level);
        set_x_norm2(run);
        if (width <= FALL * run->tried_width) {
            run->tried_width = width;
            try_unsmoothed_newton(run);
            run->tried_iteration = run->s->info->iterations;
        }
    }
}

/* ---- the solve ---- */

/* Reserves memory, sets OFFSET and, unless the call is resumed, sets up the natural map. */
static TalusStatus prepare(Run *run)
{
    TalusSolve *s = run->s;
    Work *w = run->w;
    TALUS_TRY(talus_best_begin(&w->best, s));
    TALUS_TRY(talus_vectors_reserve(s, &w->vectors, VECTORS, w->vector, "vectors"));
    s->backend->op.product(s->op, NULL, false, true, w->vector[OFFSET]);
    if (!s->resumed)
        TALUS_TRY(talus_natural_system_prepare(&w->system, s));
    return TALUS_OK;
}

/* Sets zero_residual, copies gamma to X and TRIAL and reports it as the first iterate. */
static void measure_start(Run *run)
{
    double sum, largest;
    memset(run->vector[X], 0, (size_t)run->n * sizeof(double));
    talus_natural_system_measure(&run->w->system, run->vector[X], run->vector[OFFSET], &sum,
                                 &largest);
    run->zero_residual = sqrt(sum / run->w->system.matrix.blocks);
    memcpy(run->vector[X], run->s->gamma, (size_t)run->n * sizeof(double));
    copy_vector(run, X, TRIAL);
    report_trial(run);
}

/* Runs prox from gamma; `resumed`: the call before ended in prox, which reuses its setup. */
static TalusStatus continue_with_prox(TalusSolve *s, bool resumed)
{
    Work *w = s->work;
    w->polishing = true;
    return talus_solve_hand_over(s, POLISH, resumed);
}

/* Writes the last projected iterate to gamma, or the best one if the outcome is budget or infeasible. If the driver has
 * not ended the solve, prox continues from there. A resumed call runs prox alone if the last call ended in it, else
 * Newton's method without smoothing instead of the path. */
static TalusStatus solve_continuation(TalusSolve *s)
{
    Work *w = s->work;
    Run run = {.s = s,
               .p = s->params,
               .w = w,
               .vector = w->vector,
               .n = s->op->rows * s->op->blocks,
               .length = LENGTH};
    if (s->resumed && w->polishing)
        return continue_with_prox(s, true);
    w->polishing = false;
    TALUS_TRY(prepare(&run));
    measure_start(&run);
    if (!run.over && s->resumed)
        try_unsmoothed_newton(&run);
    else if (!run.over && run.zero_residual > 0.0)
        follow_path(&run);
    if (!run.over)
        s->info->outcome = TALUS_OUTCOME_BUDGET;
    memcpy(s->gamma, run.vector[REPORTED], (size_t)run.n * sizeof *s->gamma);
    talus_best_restore(&w->best, s, s->gamma);
    return run.over ? TALUS_OK : continue_with_prox(s, false);
}

/* `clear` of TalusSolverType. */
static void clear_work(void *work)
{
    Work *w = work;
    talus_natural_system_clear(&w->system);
}

const TalusSolverType talus_solver_continuation = {
    .name = "continuation",
    .summary = "smoothed problems followed by arc length: exact Coulomb where others stall",
    .reference = "Keller 1977; Allgower & Georg 1990; docs/reference/solvers/direct.md",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES(CCP, DISC) | TALUS_TAKES(COULOMB, DISC),
    TALUS_PARAMS(params, Params),
    .parts = parts,
    .work_size = sizeof(Work),
    .solve = solve_continuation,
    .clear = clear_work,
    .on_host = "the factorisation",
};
