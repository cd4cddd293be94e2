/* solvers/newton/ssn_step.c - maps on bounds, their Newton directions, steps along them, and sweeps (ssn_step.h). */
#include "solvers/newton/ssn_step.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

const char *const talus_ssn_metrics[] = {"none", "diagonal", NULL};
const char *const talus_ssn_maps[] = {"minmax", "normal", NULL};
const char *const talus_ssn_bounds[] = {"frozen", "moving", NULL};

enum { MAX_ROWS = 3 };

/* ---- the maps, block by block ---- */

/* Returns the regularisation's term of g in row i at x: r diag(N + E) (x - centre). */
static double pull(const TalusSsn *w, int i, double x)
{
    return w->regularise * w->vector[TALUS_SSN_DIAGONALS][i] * (x - w->vector[TALUS_SSN_CENTRE][i]);
}

static size_t size_of(const TalusSsn *w)
{
    return (size_t)w->rows * (size_t)w->blocks;
}

static bool is_normal(const TalusSsn *w)
{
    return w->p->map == TALUS_SSN_NORMAL;
}

/* Bound of the tangential components of block b: at the normal component x if bounds move, else the constant one. */
static double reach_of(const TalusSsn *w, int b, double x)
{
    return w->moving && w->slope[b] > 0.0 ? w->slope[b] * fmax(x, 0.0) : w->reach[b];
}

/* Computes F of a block at x with gradient g, and the bound that decides each row: -1 lower, 1 upper, 0 none. */
static void minmax_block(const TalusSsn *w, int b, const double *x, const double *g, int8_t *side,
                         double *f)
{
    double reach = reach_of(w, b, x[0]);
    for (int k = 0; k < w->rows; k++) {
        double c = w->vector[TALUS_SSN_WEIGHT][b * w->rows + k];
        double below = c * (k ? x[k] + reach : x[k]);
        side[k] = below < g[k] ? -1 : 0;
        f[k] = side[k] ? below : g[k];
        if (k && c * (x[k] - reach) > f[k]) {
            f[k] = c * (x[k] - reach);
            side[k] = 1;
        }
    }
}

/* Computes x, y clamped to the bounds, and side: -1 if the lower bound decides, 1 the upper, 0 neither. */
static void clamp_block(const TalusSsn *w, int b, const double *y, int8_t *side, double *x)
{
    side[0] = y[0] > 0.0 ? 0 : -1;
    x[0] = side[0] ? 0.0 : y[0];
    double reach = reach_of(w, b, x[0]);
    for (int k = 1; k < w->rows; k++) {
        side[k] = y[k] < -reach ? -1 : y[k] > reach ? 1 : 0;
        x[k] = side[k] ? side[k] * reach : y[k];
    }
}

static void normal_block(const TalusSsn *w, int b, const double *x, const double *y,
                         const double *g, double *f)
{
    for (int k = 0; k < w->rows; k++)
        f[k] = g[k] + w->vector[TALUS_SSN_WEIGHT][b * w->rows + k] * (y[k] - x[k]);
}

/* Computes F and the sides at x (map=minmax) or y (map=normal), and the number of rows that changed sides. */
static void evaluate(TalusSsn *w, const double *x)
{
    int8_t side[MAX_ROWS] = {0};
    w->changed = 0;
    for (int b = 0; b < w->blocks; b++) {
        int at = b * w->rows;
        double clamped[MAX_ROWS], g[MAX_ROWS] = {0}, *f = w->vector[TALUS_SSN_F] + at;
        for (int k = 0; k < w->rows; k++)
            g[k] = w->vector[TALUS_SSN_G][at + k] + pull(w, at + k, x[at + k]);
        if (is_normal(w)) {
            clamp_block(w, b, w->vector[TALUS_SSN_Y] + at, side, clamped);
            normal_block(w, b, x + at, w->vector[TALUS_SSN_Y] + at, g, f);
        } else {
            minmax_block(w, b, x + at, g, side, f);
        }
        for (int k = 0; k < w->rows; k++) {
            w->changed += w->side[at + k] != side[k];
            w->side[at + k] = side[k];
        }
    }
}

/* ---- directions ---- */

static void multiply(TalusSsn *w)
{
    memset(w->vector[TALUS_SSN_ND], 0, size_of(w) * sizeof(double));
    talus_sparse_add(&w->matrix, 1.0, w->vector[TALUS_SSN_D], w->vector[TALUS_SSN_ND]);
}

/* Sets D: the way to the bound for rows at bounds (map=normal: 0), 0 for the free rows. Lists the free rows in place
 * and row. Returns their number. */
static int split_rows(TalusSsn *w, const double *x)
{
    int free_rows = 0;
    for (int b = 0; b < w->blocks; b++)
        for (int k = 0; k < w->rows; k++) {
            int i = b * w->rows + k, side = w->side[i];
            w->place[i] = side ? -1 : free_rows;
            if (!side)
                w->row[free_rows++] = i;
            double bound = k ? side * reach_of(w, b, x[b * w->rows]) : 0.0;
            w->vector[TALUS_SSN_D][i] = side && !is_normal(w) ? bound - x[i] : 0.0;
        }
    return free_rows;
}

/* Factorises the regularised matrix of the free rows, whose pivots are at least r times their diagonal entries in exact
 * arithmetic. A pivot below a tenth of that is rounding and belongs to a row that the others determine: its replacement
 * is so large that the row does not move. */
static TalusStatus factor_face(TalusSsn *w, int free_rows)
{
    double largest =
        talus_sparse_face(&w->matrix, w->place, w->row, free_rows, w->regularise, &w->face);
    TalusPivots pivots = {.relative = 0.1 * w->regularise, .replacement = 1e16 * largest};
    TALUS_TRY(talus_ldl_analyse(&w->factor, &w->face, NULL));
    return talus_ldl_factor(&w->factor, &w->face, NULL, &pivots);
}

/* Computes the Newton direction D for constant bounds; `again`: with the last factor. */
static TalusStatus solve_face(TalusSsn *w, const double *x, bool again)
{
    int free_rows = split_rows(w, x);
    multiply(w);
    if (!again)
        TALUS_TRY(factor_face(w, free_rows));
    double *packed = w->vector[TALUS_SSN_PACKED];
    for (int i = 0; i < free_rows; i++)
        packed[i] = -w->vector[TALUS_SSN_F][w->row[i]] - w->vector[TALUS_SSN_ND][w->row[i]];
    talus_ldl_solve(&w->factor, packed);
    for (int i = 0; i < free_rows; i++)
        w->vector[TALUS_SSN_D][w->row[i]] = packed[i];
    return TALUS_OK;
}

/* Derivative of a block's x with respect to y (normal), or of the target of its rows at bounds (minmax): a unit row if
 * free, +-mu in the normal column if a moving bound decides, 0 if that bound is of an open contact. */
static void bound_slopes(const TalusSsn *w, int b, double normal, double *pi)
{
    const int8_t *side = w->side + b * w->rows;
    bool open = is_normal(w) ? side[0] != 0 : !(normal > 0.0);
    memset(pi, 0, (size_t)(w->rows * w->rows) * sizeof *pi);
    for (int k = 0; k < w->rows; k++)
        if (!side[k])
            pi[k * w->rows + k] = 1.0;
        else if (k && !open)
            pi[k * w->rows] = side[k] * w->slope[b];
}

/* L and M of one block, rows divided by c, and the right-hand side. minmax: L has the free rows, M the others. normal:
 * with dx = Pi dy the equation G + N dx + C (dy - dx) = 0 is
 *     (I - Pi + Pi C^-1 N) dx = -Pi C^-1 G. */
static void linearise_block(TalusSsn *w, int b, double normal)
{
    const int rows = w->rows, at = b * rows;
    const double *c = w->vector[TALUS_SSN_WEIGHT] + at, *f = w->vector[TALUS_SSN_F] + at;
    const double *diagonal = w->vector[TALUS_SSN_DIAGONALS] + at;
    double pi[MAX_ROWS * MAX_ROWS];
    bound_slopes(w, b, normal, pi);
    for (int k = 0; k < rows; k++) {
        double *left = w->left + (at + k) * rows, *own = w->own + (at + k) * rows, right = 0.0;
        bool whole = is_normal(w) || !w->side[at + k]; /* N has a part in this row */
        for (int j = 0; j < rows; j++) {
            double p = pi[k * rows + j], one = j == k ? 1.0 : 0.0;
            left[j] = whole ? p / c[j] : 0.0;
            own[j] = one - p + (whole ? w->regularise * p * diagonal[j] / c[j] : 0.0);
            right -= p * f[j] / c[j];
        }
        w->vector[TALUS_SSN_D][at + k] = is_normal(w) ? right : -f[k] / c[k];
    }
}

/* Computes the Newton direction D for moving bounds; `again`: with the last factor. */
static void solve_blocks(TalusSsn *w, const double *x, bool again)
{
    for (int b = 0; b < w->blocks; b++)
        linearise_block(w, b, x[b * w->rows]);
    if (!again)
        talus_fronts_factor(&w->fronts, &w->by_blocks, w->left, w->own);
    talus_fronts_solve(&w->fronts, w->vector[TALUS_SSN_D]);
}

/* Computes D and ND, and for map=normal DY, from F at gamma; `again`: with the last factor. */
static TalusStatus find_direction(TalusSsn *w, TalusSolve *s, bool again)
{
    if (w->moving)
        solve_blocks(w, s->gamma, again);
    else
        TALUS_TRY(solve_face(w, s->gamma, again));
    s->info->factorisations += !again;
    multiply(w);
    for (size_t i = 0; is_normal(w) && i < size_of(w); i++) {
        double d = w->vector[TALUS_SSN_D][i];
        double rest = w->vector[TALUS_SSN_F][i] + w->vector[TALUS_SSN_ND][i] +
                      w->regularise * w->vector[TALUS_SSN_DIAGONALS][i] * d;
        w->vector[TALUS_SSN_DY][i] = w->side[i] ? d - rest / w->vector[TALUS_SSN_WEIGHT][i] : d;
    }
    return TALUS_OK;
}

/* ---- steps ---- */

static double squares(const double *f, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++)
        sum += f[k] * f[k];
    return sum;
}

/* Returns F'F at x + t d, from the known (N + E) d. */
static double minmax_merit(const TalusSsn *w, const double *x, double t)
{
    double sum = 0.0, to[MAX_ROWS], g[MAX_ROWS], f[MAX_ROWS];
    int8_t side[MAX_ROWS];
    for (int b = 0; b < w->blocks; b++) {
        for (int k = 0; k < w->rows; k++) {
            int i = b * w->rows + k;
            to[k] = x[i] + t * w->vector[TALUS_SSN_D][i];
            g[k] = w->vector[TALUS_SSN_G][i] + t * w->vector[TALUS_SSN_ND][i] + pull(w, i, to[k]);
        }
        minmax_block(w, b, to, g, side, f);
        sum += squares(f, w->rows);
    }
    return sum;
}

/* y + t dy of one block. */
static void along(const TalusSsn *w, int b, double t, double *y)
{
    for (int k = 0; k < w->rows; k++) {
        int i = b * w->rows + k;
        y[k] = w->vector[TALUS_SSN_Y][i] + t * w->vector[TALUS_SSN_DY][i];
    }
}

/* Returns G'G (map=normal) at y + t dy. There x is y clamped, not linear in t, so every t takes a product: of the
 * change of x, which is left in D, as the product is in ND. */
static double normal_merit(TalusSsn *w, const double *x, double t)
{
    double sum = 0.0, y[MAX_ROWS] = {0}, to[MAX_ROWS], g[MAX_ROWS], f[MAX_ROWS];
    int8_t side[MAX_ROWS];
    for (int b = 0; b < w->blocks; b++) {
        along(w, b, t, y);
        clamp_block(w, b, y, side, to);
        for (int k = 0; k < w->rows; k++)
            w->vector[TALUS_SSN_D][b * w->rows + k] = to[k] - x[b * w->rows + k];
    }
    multiply(w);
    for (int b = 0; b < w->blocks; b++) {
        along(w, b, t, y);
        clamp_block(w, b, y, side, to);
        for (int k = 0; k < w->rows; k++) {
            int i = b * w->rows + k;
            g[k] = w->vector[TALUS_SSN_G][i] + w->vector[TALUS_SSN_ND][i] + pull(w, i, to[k]);
        }
        normal_block(w, b, to, y, g, f);
        sum += squares(f, w->rows);
    }
    return sum;
}

static double merit(TalusSsn *w, TalusSolve *s, double t)
{
    s->info->products += is_normal(w);
    return is_normal(w) ? normal_merit(w, s->gamma, t) : minmax_merit(w, s->gamma, t);
}

/* Armijo's rule by halving, not below step_min; returns the share of the step. If the merit is the same at the full
 * step, bounds contradict each other: the full step is taken, so that impulses grow and the infeasibility monitor finds
 * its proof. */
static double step_length(TalusSsn *w, TalusSolve *s)
{
    static const double SLOPE =
        1e-4; /* of Armijo's rule; the derivative of F'F along d is -2 F'F */
    static const double FLAT = 1e-8;
    double now = squares(w->vector[TALUS_SSN_F], (int)size_of(w)), t = 1.0, then = merit(w, s, t);
    if (fabs(then - now) <= FLAT * now)
        return t;
    while (t > w->p->step_min && !(then <= (1.0 - 2.0 * SLOPE * t) * now)) {
        t *= 0.5;
        then = merit(w, s, t);
    }
    return fmax(t, w->p->step_min);
}

/* gamma = y clamped to the bounds. */
static void take_clamped(TalusSsn *w, double *gamma)
{
    int8_t side[MAX_ROWS];
    for (int b = 0; b < w->blocks; b++) {
        int at = b * w->rows;
        clamp_block(w, b, w->vector[TALUS_SSN_Y] + at, side, gamma + at);
    }
}

int talus_ssn_update_sides(TalusSsn *w, const TalusSolve *s)
{
    evaluate(w, s->gamma);
    return w->changed;
}

int talus_ssn_anchor(TalusSsn *w, const TalusSolve *s)
{
    memcpy(w->vector[TALUS_SSN_CENTRE], s->gamma, size_of(w) * sizeof(double));
    return talus_ssn_update_sides(w, s);
}

TalusStatus talus_ssn_step(TalusSsn *w, TalusSolve *s, TalusSsnMove *move)
{
    TALUS_TRY(find_direction(w, s, move->again));
    if (move->search)
        move->length = step_length(w, s);
    double t = move->length;
    if (is_normal(w)) {
        s->backend->vector.axpby(s->op, t, w->vector[TALUS_SSN_DY], 1.0, w->vector[TALUS_SSN_Y]);
        take_clamped(w, s->gamma);
    } else {
        s->backend->vector.axpby(s->op, t, w->vector[TALUS_SSN_D], 1.0, s->gamma);
    }
    return TALUS_OK;
}

/* ---- gamma from outside ---- */

/* Sets the estimates of Coulomb blocks to their normal impulses, and `reach` of all blocks. */
static void set_bounds(TalusSsn *w, TalusSolve *s)
{
    const TalusOperator *op = s->op;
    for (int b = 0; w->rows > 1 && b < w->blocks; b++) {
        if (w->slope[b] > 0.0)
            op->estimate[b] = fmax(s->gamma[b * w->rows], 0.0);
        w->reach[b] = op->mu[b] * op->estimate[b];
    }
}

/* Components inside their bounds get y = x, those at a bound y = x - g / c: beyond the bound if the gradient presses
 * against it, else inside. */
void talus_ssn_set_iterate(TalusSsn *w, TalusSolve *s)
{
    if (!is_normal(w))
        return;
    set_bounds(w, s);
    s->backend->op.gradient(s->op, NULL, s->gamma, true, w->vector[TALUS_SSN_G]);
    s->info->products++;
    for (int b = 0; b < w->blocks; b++) {
        int at = b * w->rows;
        double reach = reach_of(w, b, s->gamma[at]);
        for (int k = 0; k < w->rows; k++) {
            double x = s->gamma[at + k], g = w->vector[TALUS_SSN_G][at + k];
            bool inside = k ? fabs(x) < reach : x > 0.0;
            w->vector[TALUS_SSN_Y][at + k] =
                inside ? x : x - g / w->vector[TALUS_SSN_WEIGHT][at + k];
        }
    }
    take_clamped(w, s->gamma);
}

void talus_ssn_measure(TalusSsn *w, TalusSolve *s, TalusForwardSums *at)
{
    set_bounds(w, s);
    if (is_normal(w))
        take_clamped(w, s->gamma);
    s->backend->op.gradient(s->op, NULL, s->gamma, true, w->vector[TALUS_SSN_G]);
    s->backend->block.forward_backward(s->op, NULL, s->gamma, w->vector[TALUS_SSN_G], 1.0, NULL,
                                       NULL, at);
}

double talus_ssn_sweep(TalusSsn *w, TalusSolve *s, double omega)
{
    const TalusSparse *a = &w->matrix;
    double *x = s->gamma, sum = 0.0;
    w->changed = 0;
    for (int i = 0; i < a->rows; i++) {
        int b = i / w->rows, k = i % w->rows;
        double g = w->vector[TALUS_SSN_Q][i], c = w->vector[TALUS_SSN_WEIGHT][i];
        for (int32_t e = a->start[i]; e < a->start[i + 1]; e++)
            g += a->value[e] * x[a->column[e]];
        double reach = w->slope[b] > 0.0 ? w->slope[b] * x[i - k] : w->reach[b];
        double old = x[i], next = old - omega * g / w->vector[TALUS_SSN_DIAGONALS][i];
        double lower = k ? -reach : 0.0;
        int side = next <= lower ? -1 : k && next >= reach ? 1 : 0;
        x[i] = side ? side < 0 ? lower : reach : next;
        w->changed += side != w->side[i];
        w->side[i] = (int8_t)side;
        sum += c * (x[i] - old) * c * (x[i] - old);
    }
    return sum;
}

/* ---- preparation ---- */

static void set_weights(TalusSsn *w)
{
    const TalusSparse *a = &w->matrix;
    for (int i = 0; i < a->rows; i++) {
        double d = 0.0;
        for (int32_t k = a->start[i]; k < a->start[i + 1]; k++)
            d = a->column[k] == i ? a->value[k] : d;
        d = d > 0.0 ? d : 1.0; /* bodies that cannot move: any value > 0 will do */
        w->vector[TALUS_SSN_DIAGONALS][i] = d;
        w->vector[TALUS_SSN_WEIGHT][i] = w->p->metric == TALUS_SSN_DIAGONAL ? d : 1.0;
    }
}

static void set_slopes(TalusSsn *w, const TalusOperator *op)
{
    memset(w->reach, 0, (size_t)w->blocks * sizeof *w->reach);
    memset(w->side, 0, size_of(w) * sizeof *w->side);
    for (int b = 0; b < w->blocks; b++) {
        bool coulomb = op->rows > 1 && op->model && op->model[b].law == TALUS_LAW_COULOMB;
        w->slope[b] = coulomb ? op->mu[b] : 0.0;
    }
}

static TalusStatus reserve(TalusSsn *w, TalusSolve *s)
{
    double *vector[TALUS_SSN_VECTORS + 2];
    TALUS_TRY(TALUS_GROW(w->place, size_of(w), 0, "free rows"));
    TALUS_TRY(TALUS_GROW(w->row, size_of(w), 0, "free rows"));
    TALUS_TRY(TALUS_GROW(w->side, size_of(w), 0, "sides of bounds"));
    TALUS_TRY(
        talus_vectors_reserve(s, &w->memory, TALUS_SSN_VECTORS + 2, vector, "vectors of Newton"));
    memcpy(w->vector, vector, sizeof w->vector);
    w->slope = vector[TALUS_SSN_VECTORS];
    w->reach = vector[TALUS_SSN_VECTORS + 1];
    return TALUS_OK;
}

static TalusStatus prepare_fronts(TalusSsn *w)
{
    size_t entries = size_of(w) * (size_t)w->rows;
    TALUS_TRY(TALUS_GROW(w->left, entries, 0, "Jacobian"));
    TALUS_TRY(TALUS_GROW(w->own, entries, 0, "Jacobian"));
    TALUS_TRY(talus_block_matrix_create(&w->matrix, w->rows, &w->by_blocks));
    return talus_fronts_analyse(&w->fronts, &w->by_blocks);
}

TalusStatus talus_ssn_begin(TalusSsn *w, TalusSolve *s, const TalusSsnParams *params)
{
    w->p = params;
    w->regularise = params->regularise;
    w->rows = s->op->rows;
    w->blocks = s->op->blocks;
    w->coulomb = s->op->kinds & TALUS_KINDS_OF(TALUS_LAW_COULOMB);
    w->moving = w->coulomb && params->bounds == TALUS_SSN_MOVING;
    TALUS_TRY(reserve(w, s));
    set_slopes(w, s->op);
    TALUS_TRY(talus_problem_assemble(s->problem, &w->matrix));
    set_weights(w);
    s->backend->op.product(s->op, NULL, false, true, w->vector[TALUS_SSN_Q]);
    if (w->moving)
        TALUS_TRY(prepare_fronts(w));
    else
        TALUS_TRY(talus_sparse_alloc(&w->face, w->matrix.rows, w->matrix.rows,
                                     (size_t)talus_sparse_entries(&w->matrix),
                                     "matrix of the free rows"));
    TALUS_TRY(w->coulomb ? talus_problem_set_prisms(s->problem, true) : TALUS_OK);
    set_bounds(w, s);
    return TALUS_OK;
}

TalusStatus talus_ssn_end(TalusSsn *w, TalusSolve *s)
{
    talus_sparse_clear(&w->matrix);
    talus_sparse_clear(&w->face);
    talus_ldl_clear(&w->factor);
    talus_block_matrix_clear(&w->by_blocks);
    talus_fronts_clear(&w->fronts);
    return w->coulomb ? talus_problem_set_prisms(s->problem, false) : TALUS_OK;
}

void talus_ssn_clear(void *work)
{
    TalusSsn *w = work;
    TALUS_RELEASE(w->left, w->own, w->place, w->row, w->side);
}
