/* solvers/ssn.c - a generalised Newton method for boxes, preclik-2009 section 3.3.
 *
 * With bounds l <= x <= u on every row the problem is the root of (Eq. 18)
 *     F(x) = max(c (x - u), min(c (x - l), g)),   g = (N + E) x + q,
 * c being the row's diagonal entry (metric=diagonal), so that F is in m/s, or 1 (metric=none, the paper).
 * An element of its generalised Jacobian (Eq. 19, 20) has the row c e_i where a bound decides and the
 * row of N + E elsewhere. Rows at bounds go there at once; for the free ones remains the Schur complement
 *     (N + E)_FF d_F = -g_F - (N + E)_FA d_A.
 * More free rows than degrees of freedom make it singular, and with a wrong active set and biases it is
 * not even consistent, against what the paper says: `regularise` times its own is added to each
 * diagonal entry. Then a step along d, halved until 1/2 F'F falls enough or `step_min` is reached: the
 * paper's means against local minima, subject to tuning as it says.
 *
 * Coulomb's law on the square takes the paper's way out: in each iteration the bounds are set by the
 * present normal impulses and taken for constant.
 *
 * Iterates are outside the set until the end, where they are projected. One factorisation per iteration
 * on one thread of the host, of a symmetric matrix: of one from a file that is not, as Coulomb's law allows,
 * it takes one triangle, and steps are Newton's only as far as the other is the same. */
#include "problem/ldl.h"
#include "solvers/solver.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct Params {
    int metric;
    double regularise, step_min;
} Params;

enum { METRIC_NONE, METRIC_DIAGONAL };

static const char *const metrics[] = {"none", "diagonal", NULL};

static const TalusParam params[] = {
    {"metric", TALUS_PARAM_CHOICE, offsetof(Params, metric), METRIC_DIAGONAL, 0, 0, metrics,
     "what makes bounds and velocities comparable; the paper's method has none"},
    {"regularise", TALUS_PARAM_REAL, offsetof(Params, regularise), 1e-5, 1e-14, 1.0, NULL,
     "added to each diagonal entry of the free rows, relative to it"},
    {"step_min", TALUS_PARAM_REAL, offsetof(Params, step_min), 1e-4, 1e-12, 1.0, NULL,
     "no step is shorter than this share of Newton's"},
};

enum { G, D, ND, LOWER, UPPER, WEIGHT, PACKED, VECTORS };

typedef struct Work {
    TalusSparse matrix, face; /* N + E; its free rows and columns, in arrays as large */
    TalusLdl factor;
    int32_t *place, *row; /* of each row among the free ones, or -1; and back */
    double *memory, *vector[VECTORS];
    size_t place_room, row_room, memory_room;
} Work;

/* ---- F ---- */

/* |t| <= mu times the estimate of the normal impulse, in both directions. */
static void set_bounds(const TalusOperator *op, Work *w)
{
    for (int i = 0; i < op->blocks; i++) {
        double *lower = w->vector[LOWER] + (size_t)i * (size_t)op->rows;
        double *upper = w->vector[UPPER] + (size_t)i * (size_t)op->rows;
        double most = op->rows > 1 ? op->mu[i] * op->estimate[i] : 0.0;
        lower[0] = 0.0;
        upper[0] = INFINITY;
        for (int k = 1; k < op->rows; k++) {
            lower[k] = -most;
            upper[k] = most;
        }
    }
}

/* The bound that decides row i at x with gradient g: -1 lower, 1 upper, 0 none. *f is F's entry. */
static int side_of(const Work *w, size_t i, double x, double g, double *f)
{
    double c = w->vector[WEIGHT][i];
    double below = c * (x - w->vector[LOWER][i]), above = c * (x - w->vector[UPPER][i]);
    int side = below < g ? -1 : 0;
    *f = side ? below : g;
    if (above > *f) {
        *f = above;
        side = 1;
    }
    return side;
}

/* F'F at x + t d. */
static double merit(const Work *w, const double *x, double t)
{
    const double *g = w->vector[G], *d = w->vector[D], *nd = w->vector[ND];
    double sum = 0.0, f;
    for (size_t i = 0; i < (size_t)w->matrix.rows; i++) {
        side_of(w, i, x[i] + t * d[i], g[i] + t * nd[i], &f);
        sum += f * f;
    }
    return sum;
}

/* ---- Newton's direction ---- */

/* d of the rows at bounds; lists the others, whose d is 0 so far. */
static int split_rows(Work *w, const double *x)
{
    int free_rows = 0;
    for (size_t i = 0; i < (size_t)w->matrix.rows; i++) {
        double f;
        int side = side_of(w, i, x[i], w->vector[G][i], &f);
        w->place[i] = side ? -1 : free_rows;
        if (!side)
            w->row[free_rows++] = (int32_t)i;
        w->vector[D][i] = side ? w->vector[side < 0 ? LOWER : UPPER][i] - x[i] : 0.0;
    }
    return free_rows;
}

/* Returns the largest diagonal entry. */
static double copy_face(Work *w, int free_rows, double regularise)
{
    const TalusSparse *a = &w->matrix;
    TalusSparse *f = &w->face;
    double largest = 0.0;
    int32_t at = 0;
    f->rows = f->columns = free_rows;
    for (int i = 0; i < free_rows; i++) {
        for (int32_t k = a->start[w->row[i]]; k < a->start[w->row[i] + 1]; k++) {
            if (w->place[a->column[k]] < 0)
                continue;
            bool diagonal = a->column[k] == w->row[i];
            if (diagonal)
                largest = fmax(largest, a->value[k]);
            f->column[at] = w->place[a->column[k]];
            f->value[at++] = diagonal ? a->value[k] * (1.0 + regularise) : a->value[k];
        }
        f->start[i + 1] = at;
    }
    return largest;
}

/* nd = (N + E) d. */
static void multiply(Work *w)
{
    memset(w->vector[ND], 0, (size_t)w->matrix.rows * sizeof(double));
    talus_sparse_add(&w->matrix, 1.0, w->vector[D], w->vector[ND]);
}

/* d and nd at x. A pivot that rounding has made vanish beside the regularisation stands for a row that
 * the others determine: it is made so large that the row stays. */
static TalusStatus find_direction(Work *w, const double *x, double regularise)
{
    int free_rows = split_rows(w, x);
    multiply(w);
    double largest = copy_face(w, free_rows, regularise);
    TalusPivots pivots = {.relative = 0.1 * regularise, .replacement = 1e16 * largest};
    TALUS_TRY(talus_ldl_analyse(&w->factor, &w->face, NULL));
    TALUS_TRY(talus_ldl_factor(&w->factor, &w->face, NULL, &pivots));
    double *packed = w->vector[PACKED];
    for (int i = 0; i < free_rows; i++)
        packed[i] = -w->vector[G][w->row[i]] - w->vector[ND][w->row[i]];
    talus_ldl_solve(&w->factor, packed);
    for (int i = 0; i < free_rows; i++)
        w->vector[D][w->row[i]] = packed[i];
    multiply(w);
    return TALUS_OK;
}

/* Where F'F stays as it is along d, bounds contradict each other: whole steps, so that impulses grow and
 * the driver's watch finds its proof. */
static double step_length(const Work *w, const double *x, double least)
{
    static const double SLOPE =
        1e-4; /* of Armijo's rule; the derivative of F'F along d is -2 F'F */
    static const double FLAT = 1e-8;
    double now = merit(w, x, 0.0), t = 1.0;
    if (fabs(merit(w, x, t) - now) <= FLAT * now)
        return t;
    while (t > least && !(merit(w, x, t) <= (1.0 - 2.0 * SLOPE * t) * now))
        t *= 0.5;
    return fmax(t, least);
}

/* ---- the solve ---- */

static void clear_matrices(Work *w)
{
    talus_sparse_clear(&w->matrix);
    talus_sparse_clear(&w->face);
    talus_ldl_clear(&w->factor);
}

static void set_weights(Work *w, int metric)
{
    const TalusSparse *a = &w->matrix;
    for (int i = 0; i < a->rows; i++) {
        w->vector[WEIGHT][i] = 1.0;
        for (int32_t k = a->start[i]; metric == METRIC_DIAGONAL && k < a->start[i + 1]; k++)
            if (a->column[k] == i)
                w->vector[WEIGHT][i] = a->value[k];
    }
}

static TalusStatus prepare(TalusSolve *s, Work *w)
{
    const Params *p = s->params;
    size_t n = (size_t)s->op->rows * (size_t)s->op->blocks;
    TALUS_TRY(TALUS_RESERVE(w->place, w->place_room, n, 0, "free rows"));
    TALUS_TRY(TALUS_RESERVE(w->row, w->row_room, n, 0, "free rows"));
    TALUS_TRY(TALUS_RESERVE(w->memory, w->memory_room, n * VECTORS, 0, "vectors of Newton"));
    for (int i = 0; i < VECTORS; i++)
        w->vector[i] = w->memory + (size_t)i * n;
    TALUS_TRY(talus_problem_assemble(s->problem, &w->matrix));
    set_weights(w, p->metric);
    return talus_sparse_alloc(&w->face, (int)n, (int)n, (size_t)talus_sparse_entries(&w->matrix),
                              "matrix of the free rows");
}

/* Bounds, gradient and residual of gamma; false: the solve is to end. */
static bool measured(TalusSolve *s, Work *w, int products)
{
    TalusForward at;
    for (int i = 0; s->op->moving && i < s->op->blocks; i++)
        if (s->op->model[i].law != TALUS_LAW_FIXED)
            s->op->estimate[i] = fmax(s->gamma[(size_t)i * (size_t)s->op->rows], 0.0);
    s->backend->gradient(s->op, NULL, s->gamma, true, w->vector[G]);
    s->backend->forward_backward(s->op, NULL, s->gamma, w->vector[G], 1.0, NULL, NULL, &at);
    set_bounds(s->op, w);
    return talus_solve_next(s, products, s->gamma, NULL, at.residual2, at.residual_max);
}

static TalusStatus iterate(TalusSolve *s, Work *w)
{
    const Params *p = s->params;
    for (int products = 0; measured(s, w, products + 1); products = 1) {
        TALUS_TRY(find_direction(w, s->gamma, p->regularise));
        double t = step_length(w, s->gamma, p->step_min);
        s->backend->axpby(s->op, t, w->vector[D], 1.0, s->gamma);
    }
    s->backend->project(s->op, NULL, s->gamma);
    return TALUS_OK;
}

static TalusStatus solve_ssn(TalusSolve *s)
{
    Work *w = s->work;
    bool coulomb = s->op->kinds & TALUS_KINDS_OF(TALUS_LAW_COULOMB);
    TalusStatus status = prepare(s, w);
    if (status == TALUS_OK && coulomb)
        status = talus_problem_set_moving(s->problem, true);
    if (status == TALUS_OK)
        status = iterate(s, w);
    if (coulomb && talus_problem_set_moving(s->problem, false) != TALUS_OK && status == TALUS_OK)
        status = TALUS_ERR_MEMORY;
    clear_matrices(w);
    return status;
}

static void clear(void *work, const TalusBackend *backend)
{
    Work *w = work;
    (void)backend;
    talus_release(w->place);
    talus_release(w->row);
    talus_release(w->memory);
}

static const char *on_host(const void *parameters)
{
    (void)parameters;
    return "the factorisation of the free rows";
}

const TalusSolverType talus_solver_ssn = {
    .name = "ssn",
    .summary = "semismooth Newton on boxes: few steps once the active set is known, each dear",
    .reference = "preclik-2009 section 3.3",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES_BOX | TALUS_TAKES(COULOMB, SQUARE),
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .param_size = sizeof(Params),
    .state_size = 0,
    .work_size = sizeof(Work),
    .solve = solve_ssn,
    .clear = clear,
    .on_host = on_host,
};
