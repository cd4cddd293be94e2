/* solvers/newton/continuation.c - path of smoothed problems, followed by arc length, for exact Coulomb friction.
 *
 * The natural map, smoothed over the width w (smooth_map.h), has one root for large w; its roots for all w form paths,
 * and the one that begins there cannot end at any w > 0, since roots are bounded: it leads to a solution of the problem
 * itself at w = 0. Exact Coulomb friction may have several solutions. Then the path has folds, where w must rise again,
 * and a method that only lowers w, or only damps its steps, stalls. So the path is followed in the unknowns (x, l), w =
 * w0 exp(-l), by its length (Keller 1977; Allgower & Georg 1990):
 *
 *     predict   z = (x, l) + h t, with t the unit tangent
 *     correct   f(z) = 0 and t'(z - predicted) = 0 by Newton's method, one factorisation and two solutions each
 *     turn      the new tangent is (-J^-1 df/dl, 1), up to length and sign: along the path, l rises where det J has the
 *               sign that it had at the start, and falls where it has the other one.
 *
 * Lengths are relative: |x|^2 is the sum of (d x)^2 over that of the iterate. A step is repeated with a shorter h if
 * the correction does not contract or the tangent turns by more than TURN. Once w is small, Newton's method on the map
 * itself is tried from time to time; it ends the solve, mostly in five steps. Where the path gets lost in rounding, as
 * on hyperstatic bodies, prox goes on from there. With ccp and without friction the path has no folds.
 *
 * The start does not depend on the warm start, unless that meets the tolerance. An iteration is one factorisation.
 * Memory and time are those of a direct method. Measurements are in docs/reference/solvers/direct.md. */
#include "solvers/driver/best.h"
#include "solvers/newton/natural_system.h"
#include "solvers/newton/smooth_map.h"

#include "base/status.h"

#include <math.h>
#include <string.h>

/* Most Newton steps: at the first width; of a correction; on the map itself. QUICK, SLOW: numbers of corrections up to
 * which h grows, and from which on it shrinks. */
enum { MAX_START = 100, HALVINGS = 12, MAX_CORRECT = 6, QUICK = 2, SLOW = 4, MAX_FINISH = 8 };

/* |f| of a corrected point: at most ACCURACY w and CLOSE h^2 w, unless below ROUNDING times the residual of zero impulses.
 * Where a sliding speed passes by 0 the path bends sharply, as the shift does: steps get short, and points beside the
 * path by a step's length would lose it. TURN: least cosine between successive tangents, in steps of SHARP or more. */
static const double ACCURACY = 1e-5, CLOSE = 1e-2, ROUNDING = 1e-13, TURN = 0.5, SHARP = 1e-5;
static const double GROW = 1.7, SHRINK = 0.7, RETRY = 0.4; /* factors on h */
static const double LENGTH = 0.5, LENGTH_MAX = 1.0, LENGTH_MIN = 1e-8;
static const double LEAST =
    1e-8; /* width over the residual of zero impulses at which the path ends */
static const double CONTRACTS = 0.5; /* |f| over that before: slower Newton steps are given up */
/* Below LATE times the residual of zero impulses the path ends if w does not fall by FALL within PATIENCE iterations
 * and one per block. */
enum { PATIENCE = 200 };
static const double LATE = 1e-2;
/* Newton on the map itself: w falls by FALL between two trials; WEIGHT: proximal weight, as N may be rank deficient. */
static const double FALL = 0.6, WEIGHT = 1e-8;

enum { POLISH }; /* of the parts */
static const TalusPart parts[] = {[POLISH] = {"prox:rho=1e-6", false}, {NULL, false}};

typedef struct Params {
    double width, finish;
} Params;

static const TalusParam params[] = {
    TALUS_REAL(Params, width, 10.0, 1e-3, 1e6, "first width over the residual of zero impulses"),
    TALUS_REAL(Params, finish, 0.03, 0.0, 1e6,
               "width over that residual, below which Newton on the map itself is tried"),
};

/* X: point of the path. TRIAL: point to be corrected, its U: (N + E) x + q, F: f, RATE: df/dl. NEWTON: J^-1 F; SLIDE:
 * J^-1 RATE. TANGENT: impulses of t. V: u of REPORTED; OFFSET: q. */
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
    double **vector; /* of the work space */
    int n;
    double zero;               /* residual of zero impulses, m/s */
    double level, trial_level; /* l of X and of TRIAL */
    double tangent;            /* l of t */
    double length;             /* h */
    double size;               /* sum of (d x)^2 over X, by which lengths are relative */
    double tried;              /* width at the last trial of the map itself */
    int since;                 /* iterations at that trial */
    int sign;                  /* of det J at the start */
    bool over;                 /* the solve has ended */
} Run;

/* ---- the map ---- */

static double width_at(const Run *run, double level)
{
    return run->p->width * run->zero * exp(-level);
}

static void multiply(Run *run, const double *x, double *u)
{
    talus_block_matrix_apply(&run->w->system.matrix, x, run->vector[OFFSET], u);
    run->s->info->products++;
}

/* Sets f, df/dl and the Jacobian at TRIAL; width 0: those of the map itself. Returns the rms of |f|, m/s. */
static double evaluate(Run *run, double width)
{
    TalusNaturalSystem *system = &run->w->system;
    const int rows = system->matrix.size, square = rows * rows;
    const double weight = width > 0.0 ? 0.0 : WEIGHT;
    double sum = 0.0;
    multiply(run, run->vector[TRIAL], run->vector[U]);
    for (int i = 0; i < system->matrix.blocks; i++) {
        const TalusNaturalBlock *b = &system->block[i];
        const double *x = run->vector[TRIAL] + i * rows, *u = run->vector[U] + i * rows;
        double *f = run->vector[F] + i * rows, *rate = run->vector[RATE] + i * rows;
        TalusNaturalSlope slope;
        if (width > 0.0) {
            talus_smooth_map(b, width, x, u, f, &slope, rate);
        } else {
            talus_natural_map(b, x, u, f);
            talus_natural_slope(b, x, u, &slope);
        }
        for (int k = 0; k < square; k++) {
            system->left[i * square + k] = slope.velocity[k];
            system->own[i * square + k] = slope.impulse[k] + weight * b->scale * slope.velocity[k];
        }
        double size = talus_natural_size(b, f);
        sum += size * size;
    }
    return sqrt(sum / system->matrix.blocks);
}

/* Factorises the Jacobian and solves for NEWTON and, with a width, for SLIDE. */
static void solve_system(Run *run, bool smooth)
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

/* Ends an iteration: measures TRIAL, projected, by the problem's residual. Sets run->over if the solve must end. */
static void report(Run *run)
{
    double sum, largest, *reported = run->vector[REPORTED];
    memcpy(reported, run->vector[TRIAL], (size_t)run->n * sizeof *reported);
    run->s->backend->block.project(run->s->op, NULL, reported);
    multiply(run, reported, run->vector[V]);
    talus_natural_system_measure(&run->w->system, reported, run->vector[V], &sum, &largest);
    talus_best_offer(&run->w->best, run->s, reported, sum);
    run->over = !talus_solve_next(run->s, 0, reported, NULL, sum, largest);
}

/* ---- the first point ---- */

static void copy(Run *run, int from, int to)
{
    memcpy(run->vector[to], run->vector[from], (size_t)run->n * sizeof(double));
}

/* TRIAL = X - a NEWTON */
static void step_from_x(Run *run, double a)
{
    for (int k = 0; k < run->n; k++)
        run->vector[TRIAL][k] = run->vector[X][k] - a * run->vector[NEWTON][k];
}

/* Sets X to the root at the first width, from impulses along the normals, by Newton's method with halved steps. */
static void find_first(Run *run)
{
    const TalusNaturalSystem *system = &run->w->system;
    const double width = width_at(run, 0.0);
    memset(run->vector[TRIAL], 0, (size_t)run->n * sizeof(double));
    for (int i = 0; i < system->matrix.blocks; i++)
        run->vector[TRIAL][i * system->matrix.size] = width / system->block[i].scale;
    double merit = evaluate(run, width);
    for (int k = 0; k < MAX_START && !run->over; k++) {
        bool found = merit <= ACCURACY * width;
        copy(run, TRIAL, X);
        solve_system(run, true); /* at the root: for the first tangent */
        run->sign = system->fronts.sign;
        if (found)
            return;
        double before = merit, a = 1.0;
        step_from_x(run, a);
        merit = evaluate(run, width);
        for (int h = 0; h < HALVINGS && !(merit < before); h++) {
            a *= 0.5;
            step_from_x(run, a);
            merit = evaluate(run, width);
        }
        report(run);
    }
}

/* ---- along the path ---- */

/* Inner product of impulses, relative to those of X. */
static double inner(const Run *run, const double *a, const double *b)
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
    return sum / run->size;
}

static void set_size(Run *run)
{
    run->size = 1.0;
    double size = inner(run, run->vector[X], run->vector[X]);
    run->size = size > 0.0 ? size : 1.0;
}

/* Returns the level of the unit tangent at the point of the last factorisation, whose impulses are minus that times
 * SLIDE; *cosine: of the angle to the tangent t. */
static double find_tangent(const Run *run, double *cosine)
{
    const double *slide = run->vector[SLIDE];
    double level = 1.0 / sqrt(1.0 + inner(run, slide, slide));
    level = run->w->system.fronts.sign == run->sign ? level : -level;
    *cosine = level * (run->tangent - inner(run, slide, run->vector[TANGENT]));
    return level;
}

static void set_tangent(Run *run, double level)
{
    run->tangent = level;
    for (int k = 0; k < run->n; k++)
        run->vector[TANGENT][k] = -level * run->vector[SLIDE][k];
}

/* TRIAL = X + h t */
static void predict(Run *run)
{
    run->trial_level = run->level + run->length * run->tangent;
    for (int k = 0; k < run->n; k++)
        run->vector[TRIAL][k] = run->vector[X][k] + run->length * run->vector[TANGENT][k];
}

/* Takes one Newton step for f = 0 across the path: the change of impulses, -NEWTON - c SLIDE with c that of the level,
 * and c itself are orthogonal to t. */
static void correct_once(Run *run)
{
    const double *newton = run->vector[NEWTON], *slide = run->vector[SLIDE],
                 *t = run->vector[TANGENT];
    double c = inner(run, t, newton) / (run->tangent - inner(run, t, slide));
    for (int k = 0; k < run->n; k++)
        run->vector[TRIAL][k] -= newton[k] + c * slide[k];
    run->trial_level += c;
}

/* True if |f| = `merit` is that of a point of the path, for a step of the present length. */
static bool is_on_path(const Run *run, double merit, double width)
{
    double h = run->length, share = fmin(ACCURACY, CLOSE * h * h);
    return merit <= fmax(share * width, ROUNDING * run->zero);
}

/* Corrects TRIAL. Returns the number of Newton steps, 0 if they do not contract or the solve ends. */
static int correct(Run *run)
{
    double before = INFINITY;
    for (int k = 0;; k++) {
        double width = width_at(run, run->trial_level), merit = evaluate(run, width);
        if (k > 0 && is_on_path(run, merit, width))
            return k;
        if (k == MAX_CORRECT || run->over || !(merit <= (k > 1 ? CONTRACTS : 10.0) * before))
            return 0;
        before = merit;
        solve_system(run, true);
        correct_once(run);
        report(run);
    }
}

/* Advances X along the path by one step; false if even the shortest one fails, or the solve has ended. */
static bool advance(Run *run)
{
    while (!run->over && run->length > LENGTH_MIN) {
        double cosine = 0.0, level = 0.0;
        predict(run);
        int steps = correct(run);
        if (steps > 0)
            level = find_tangent(run, &cosine);
        if (steps > 0 && (cosine >= TURN || run->length < SHARP)) {
            copy(run, TRIAL, X);
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

/* Newton's method on the map itself, from X, while |f| falls. */
static void finish(Run *run)
{
    double before = INFINITY;
    copy(run, X, TRIAL);
    for (int k = 0; k < MAX_FINISH && !run->over; k++) {
        double merit = evaluate(run, 0.0);
        if (!(merit <= (k > 2 ? CONTRACTS : 10.0) * before))
            return;
        before = merit;
        solve_system(run, false);
        for (int j = 0; j < run->n; j++)
            run->vector[TRIAL][j] -= run->vector[NEWTON][j];
        report(run);
    }
}

/* True where w is so small that rounding hides the path. */
static bool is_lost(const Run *run)
{
    return width_at(run, run->level) <= LEAST * run->zero ||
           (run->tried < LATE * run->zero &&
            run->s->info->iterations - run->since > PATIENCE + run->s->op->blocks);
}

static void follow(Run *run)
{
    double cosine;
    find_first(run);
    set_size(run);
    memset(run->vector[TANGENT], 0, (size_t)run->n * sizeof(double));
    set_tangent(run, find_tangent(run, &cosine));
    run->tried = run->p->finish * run->zero / FALL;
    while (!is_lost(run) && advance(run)) {
        double width = width_at(run, run->level);
        set_size(run);
        if (width <= FALL * run->tried) {
            run->tried = width;
            finish(run);
            run->since = run->s->info->iterations;
        }
    }
}

/* ---- the solve ---- */

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

/* Measures zero impulses and those given; the latter are in X afterwards. */
static void measure_start(Run *run)
{
    double sum, largest;
    memset(run->vector[X], 0, (size_t)run->n * sizeof(double));
    talus_natural_system_measure(&run->w->system, run->vector[X], run->vector[OFFSET], &sum,
                                 &largest);
    run->zero = sqrt(sum / run->w->system.matrix.blocks);
    memcpy(run->vector[X], run->s->gamma, (size_t)run->n * sizeof(double));
    copy(run, X, TRIAL);
    report(run);
}

/* Runs prox from gamma. A resumed call goes on with it, where the call before has ended by it. */
static TalusStatus polish(TalusSolve *s, bool resumed)
{
    Work *w = s->work;
    w->polishing = true;
    return talus_solve_hand_over(s, POLISH, resumed);
}

/* Leaves the last projected iterate in gamma, or the best one if the path ended without a solution; prox goes on from
 * that. */
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
        return polish(s, true);
    w->polishing = false;
    TALUS_TRY(prepare(&run));
    measure_start(&run);
    if (!run.over && s->resumed)
        finish(&run);
    else if (!run.over && run.zero > 0.0)
        follow(&run);
    if (!run.over)
        s->info->outcome = TALUS_OUTCOME_BUDGET;
    memcpy(s->gamma, run.vector[REPORTED], (size_t)run.n * sizeof *s->gamma);
    talus_best_restore(&w->best, s, s->gamma);
    return run.over ? TALUS_OK : polish(s, false);
}

static void clear(void *work)
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
    .clear = clear,
    .on_host = "the factorisation",
};
