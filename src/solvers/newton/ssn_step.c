/* solvers/newton/ssn_step.c - maps on bounds, their Newton directions, steps along them, and sweeps (ssn_step.h). */
#include "solvers/newton/ssn_step.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

const char *const talus_ssn_metrics[] = {"none", "diagonal", NULL};
const char *const talus_ssn_maps[] = {"minmax", "normal", NULL};
const char *const talus_ssn_bounds[] = {"frozen", "moving", NULL};

enum { MAX_ROWS = 3 }; /* largest number of rows of a block */

/* ---- the maps, block by block ---- */

/* Returns the term of the regularisation in g of row i at x: r diag(N + E) (x - centre). */
static double regularisation_term(const TalusSsn *w, int i, double x)
{
    return w->regularise * w->vector[TALUS_SSN_DIAGONALS][i] * (x - w->vector[TALUS_SSN_CENTRE][i]);
}

/* Number of rows of all blocks. */
static size_t count_rows(const TalusSsn *w)
{
    return (size_t)w->rows * (size_t)w->blocks;
}

static bool uses_normal_map(const TalusSsn *w)
{
    return w->p->map == TALUS_SSN_NORMAL;
}

/* Bound of the tangential components of block b: mu times its normal component x if the bound moves, else the constant
 * one. */
static double find_tangential_bound(const TalusSsn *w, int b, double x)
{
    return w->moving && w->friction[b] > 0.0 ? w->friction[b] * fmax(x, 0.0)
                                             : w->tangential_bound[b];
}

/* Computes F of a block at x with gradient g, and the bound that decides each row: -1 lower, 1 upper, 0 none. */
static void evaluate_minmax_block(const TalusSsn *w, int b, const double *x, const double *g,
                                  int8_t *side, double *f)
{
    double bound = find_tangential_bound(w, b, x[0]);
    for (int k = 0; k < w->rows; k++) {
        double c = w->vector[TALUS_SSN_WEIGHT][b * w->rows + k];
        double below = c * (k ? x[k] + bound : x[k]);
        side[k] = below < g[k] ? -1 : 0;
        f[k] = side[k] ? below : g[k];
        if (k && c * (x[k] - bound) > f[k]) {
            f[k] = c * (x[k] - bound);
            side[k] = 1;
        }
    }
}

/* Computes x, which is y clamped to the bounds of block b, and side: -1 if the lower bound decides, 1 the upper, 0
 * neither. */
static void clamp_block(const TalusSsn *w, int b, const double *y, int8_t *side, double *x)
{
    side[0] = y[0] > 0.0 ? 0 : -1;
    x[0] = side[0] ? 0.0 : y[0];
    double bound = find_tangential_bound(w, b, x[0]);
    for (int k = 1; k < w->rows; k++) {
        side[k] = y[k] < -bound ? -1 : y[k] > bound ? 1 : 0;
        x[k] = side[k] ? side[k] * bound : y[k];
    }
}

/* Computes the map G (map=normal) of a block at y, x and the gradient g. */
static void evaluate_normal_block(const TalusSsn *w, int b, const double *x, const double *y,
                                  const double *g, double *f)
{
    for (int k = 0; k < w->rows; k++)
        f[k] = g[k] + w->vector[TALUS_SSN_WEIGHT][b * w->rows + k] * (y[k] - x[k]);
}

/* Computes F and the sides of all rows at x (map=minmax) or at x and Y (map=normal), and w->changed. */
static void evaluate_map(TalusSsn *w, const double *x)
{
    int8_t side[MAX_ROWS] = {0};
    w->changed = 0;
    for (int b = 0; b < w->blocks; b++) {
        int at = b * w->rows;
        double clamped[MAX_ROWS], g[MAX_ROWS] = {0}, *f = w->vector[TALUS_SSN_F] + at;
        for (int k = 0; k < w->rows; k++)
            g[k] = w->vector[TALUS_SSN_G][at + k] + regularisation_term(w, at + k, x[at + k]);
        if (uses_normal_map(w)) {
            clamp_block(w, b, w->vector[TALUS_SSN_Y] + at, side, clamped);
            evaluate_normal_block(w, b, x + at, w->vector[TALUS_SSN_Y] + at, g, f);
        } else {
            evaluate_minmax_block(w, b, x + at, g, side, f);
        }
        for (int k = 0; k < w->rows; k++) {
            w->changed += w->side[at + k] != side[k];
            w->side[at + k] = side[k];
        }
    }
}

/* ---- directions ---- */

/* ND = (N + E) D */
static void multiply_direction(TalusSsn *w)
{
    memset(w->vector[TALUS_SSN_ND], 0, count_rows(w) * sizeof(double));
    talus_sparse_add_product(&w->matrix, 1.0, w->vector[TALUS_SSN_D], w->vector[TALUS_SSN_ND]);
}

/* Sets D of rows that a bound decides to the distance to the bound (map=normal: 0), and D of free rows to 0. Numbers
 * the free rows in free_index and free_row. Returns their number. */
static int split_free_rows(TalusSsn *w, const double *x)
{
    int free_rows = 0;
    for (int b = 0; b < w->blocks; b++)
        for (int k = 0; k < w->rows; k++) {
            int i = b * w->rows + k, side = w->side[i];
            w->free_index[i] = side ? -1 : free_rows;
            if (!side)
                w->free_row[free_rows++] = i;
            double bound = k ? side * find_tangential_bound(w, b, x[b * w->rows]) : 0.0;
            w->vector[TALUS_SSN_D][i] = side && !uses_normal_map(w) ? bound - x[i] : 0.0;
        }
    return free_rows;
}

/* Factorises the regularised matrix of the free rows. In exact arithmetic its pivots are at least r times their
 * diagonal entries. A pivot below a tenth of that is rounding, in a row that depends linearly on others; it is replaced
 * by a number so large that the row does not move. */
static TalusStatus factor_free_matrix(TalusSsn *w, int free_rows)
{
    double largest = talus_sparse_extract(&w->matrix, w->free_index, w->free_row, free_rows,
                                          w->regularise, &w->free_matrix);
    TalusPivots pivots = {.relative = 0.1 * w->regularise, .replacement = 1e16 * largest};
    TALUS_TRY(talus_ldl_analyse(&w->factor, &w->free_matrix, NULL));
    return talus_ldl_factor(&w->factor, &w->free_matrix, NULL, &pivots);
}

/* Computes the Newton direction D for constant bounds; `reuse`: with the last factor. */
static TalusStatus solve_constant_bounds(TalusSsn *w, const double *x, bool reuse)
{
    int free_rows = split_free_rows(w, x);
    multiply_direction(w);
    if (!reuse)
        TALUS_TRY(factor_free_matrix(w, free_rows));
    double *packed = w->vector[TALUS_SSN_PACKED];
    for (int i = 0; i < free_rows; i++)
        packed[i] =
            -w->vector[TALUS_SSN_F][w->free_row[i]] - w->vector[TALUS_SSN_ND][w->free_row[i]];
    talus_ldl_solve(&w->factor, packed);
    for (int i = 0; i < free_rows; i++)
        w->vector[TALUS_SSN_D][w->free_row[i]] = packed[i];
    return TALUS_OK;
}

/* Writes pi, by rows: the derivative of a block's x with respect to y (map=normal), or of the target of its rows with
 * respect to x (map=minmax). A free row is a row of the identity. A row that a moving bound decides has +-mu in the
 * normal column, or 0 if the contact is open. `normal`: normal impulse of the block. */
static void differentiate_bounds(const TalusSsn *w, int b, double normal, double *pi)
{
    const int8_t *side = w->side + b * w->rows;
    bool open = uses_normal_map(w) ? side[0] != 0 : !(normal > 0.0);
    memset(pi, 0, (size_t)(w->rows * w->rows) * sizeof *pi);
    for (int k = 0; k < w->rows; k++)
        if (!side[k])
            pi[k * w->rows + k] = 1.0;
        else if (k && !open)
            pi[k * w->rows] = side[k] * w->friction[b];
}

/* Computes L and M of block b, rows divided by c, and the right-hand side, in D. With map=minmax, L has the free rows
 * and M the others. With map=normal, where dx = Pi dy and N includes the regularisation, the equation G + N dx + C (dy
 * - dx) = 0 becomes
 *     (I - Pi + Pi C^-1 N) dx = -Pi C^-1 G. */
static void linearise_block(TalusSsn *w, int b, double normal)
{
    const int rows = w->rows, at = b * rows;
    const double *c = w->vector[TALUS_SSN_WEIGHT] + at, *f = w->vector[TALUS_SSN_F] + at;
    const double *diagonal = w->vector[TALUS_SSN_DIAGONALS] + at;
    double pi[MAX_ROWS * MAX_ROWS];
    differentiate_bounds(w, b, normal, pi);
    for (int k = 0; k < rows; k++) {
        double *left = w->left + (at + k) * rows, *own = w->own + (at + k) * rows, right = 0.0;
        bool whole = uses_normal_map(w) || !w->side[at + k]; /* the row contains N */
        for (int j = 0; j < rows; j++) {
            double p = pi[k * rows + j], one = j == k ? 1.0 : 0.0;
            left[j] = whole ? p / c[j] : 0.0;
            own[j] = one - p + (whole ? w->regularise * p * diagonal[j] / c[j] : 0.0);
            right -= p * f[j] / c[j];
        }
        w->vector[TALUS_SSN_D][at + k] = uses_normal_map(w) ? right : -f[k] / c[k];
    }
}

/* Computes the Newton direction D for moving bounds; `reuse`: with the last factor. */
static void solve_moving_bounds(TalusSsn *w, const double *x, bool reuse)
{
    for (int b = 0; b < w->blocks; b++)
        linearise_block(w, b, x[b * w->rows]);
    if (!reuse)
        talus_fronts_factor(&w->fronts, &w->by_blocks, w->left, w->own);
    talus_fronts_solve(&w->fronts, w->vector[TALUS_SSN_D]);
}

/* Computes the Newton direction from F at gamma: D, ND and, for map=normal, DY. `reuse`: with the last factor, else a
 * new one, which is counted. */
static TalusStatus find_direction(TalusSsn *w, TalusSolve *s, bool reuse)
{
    if (w->moving)
        solve_moving_bounds(w, s->gamma, reuse);
    else
        TALUS_TRY(solve_constant_bounds(w, s->gamma, reuse));
    s->info->factorisations += !reuse;
    multiply_direction(w);
    for (size_t i = 0; uses_normal_map(w) && i < count_rows(w); i++) {
        double d = w->vector[TALUS_SSN_D][i];
        double rest = w->vector[TALUS_SSN_F][i] + w->vector[TALUS_SSN_ND][i] +
                      w->regularise * w->vector[TALUS_SSN_DIAGONALS][i] * d;
        w->vector[TALUS_SSN_DY][i] = w->side[i] ? d - rest / w->vector[TALUS_SSN_WEIGHT][i] : d;
    }
    return TALUS_OK;
}

/* ---- steps ---- */

static double sum_squares(const double *f, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++)
        sum += f[k] * f[k];
    return sum;
}

/* Returns F'F (map=minmax) at x + t d; ND must be (N + E) d. */
static double minmax_merit_at(const TalusSsn *w, const double *x, double t)
{
    double sum = 0.0, to[MAX_ROWS], g[MAX_ROWS], f[MAX_ROWS];
    int8_t side[MAX_ROWS];
    for (int b = 0; b < w->blocks; b++) {
        for (int k = 0; k < w->rows; k++) {
            int i = b * w->rows + k;
            to[k] = x[i] + t * w->vector[TALUS_SSN_D][i];
            g[k] = w->vector[TALUS_SSN_G][i] + t * w->vector[TALUS_SSN_ND][i] +
                   regularisation_term(w, i, to[k]);
        }
        evaluate_minmax_block(w, b, to, g, side, f);
        sum += sum_squares(f, w->rows);
    }
    return sum;
}

/* Writes Y + t DY of block b to y. */
static void get_moved_y(const TalusSsn *w, int b, double t, double *y)
{
    for (int k = 0; k < w->rows; k++) {
        int i = b * w->rows + k;
        y[k] = w->vector[TALUS_SSN_Y][i] + t * w->vector[TALUS_SSN_DY][i];
    }
}

/* Returns G'G (map=normal) at y + t dy. x is there y clamped, which is not linear in t, so every t takes a product.
 * Overwrites D with the change of x, and ND with (N + E) D. */
static double normal_merit_at(TalusSsn *w, const double *x, double t)
{
    double sum = 0.0, y[MAX_ROWS] = {0}, to[MAX_ROWS], g[MAX_ROWS], f[MAX_ROWS];
    int8_t side[MAX_ROWS];
    for (int b = 0; b < w->blocks; b++) {
        get_moved_y(w, b, t, y);
        clamp_block(w, b, y, side, to);
        for (int k = 0; k < w->rows; k++)
            w->vector[TALUS_SSN_D][b * w->rows + k] = to[k] - x[b * w->rows + k];
    }
    multiply_direction(w);
    for (int b = 0; b < w->blocks; b++) {
        get_moved_y(w, b, t, y);
        clamp_block(w, b, y, side, to);
        for (int k = 0; k < w->rows; k++) {
            int i = b * w->rows + k;
            g[k] = w->vector[TALUS_SSN_G][i] + w->vector[TALUS_SSN_ND][i] +
                   regularisation_term(w, i, to[k]);
        }
        evaluate_normal_block(w, b, to, y, g, f);
        sum += sum_squares(f, w->rows);
    }
    return sum;
}

/* Returns the squared norm of the map at share t of the Newton step. map=normal overwrites D and ND (normal_merit_at)
 * and takes a product, which is counted. */
static double merit_at(TalusSsn *w, TalusSolve *s, double t)
{
    s->info->products += uses_normal_map(w);
    return uses_normal_map(w) ? normal_merit_at(w, s->gamma, t) : minmax_merit_at(w, s->gamma, t);
}

/* Returns the share of the Newton step by Armijo's rule: halved from 1 until the squared norm of the map has fallen
 * enough, not below step_min. If the norm at the full step is the same as before, the bounds contradict each other: the
 * share is 1, so that impulses grow and the infeasibility monitor finds a certificate. D and ND as in merit_at. */
static double find_step_length(TalusSsn *w, TalusSolve *s)
{
    /* SLOPE: least fall that Armijo's rule asks for, over that by the derivative of F'F along d, which is -2 F'F. FLAT:
     * relative change of F'F that counts as none. */
    static const double SLOPE = 1e-4, FLAT = 1e-8;
    double now = sum_squares(w->vector[TALUS_SSN_F], (int)count_rows(w)), t = 1.0,
           then = merit_at(w, s, t);
    if (fabs(then - now) <= FLAT * now)
        return t;
    while (t > w->p->step_min && !(then <= (1.0 - 2.0 * SLOPE * t) * now)) {
        t *= 0.5;
        then = merit_at(w, s, t);
    }
    return fmax(t, w->p->step_min);
}

/* Sets gamma to Y clamped to the bounds. */
static void set_gamma_from_y(TalusSsn *w, double *gamma)
{
    int8_t side[MAX_ROWS];
    for (int b = 0; b < w->blocks; b++) {
        int at = b * w->rows;
        clamp_block(w, b, w->vector[TALUS_SSN_Y] + at, side, gamma + at);
    }
}

int talus_ssn_update_sides(TalusSsn *w, const TalusSolve *s)
{
    evaluate_map(w, s->gamma);
    return w->changed;
}

int talus_ssn_set_centre(TalusSsn *w, const TalusSolve *s)
{
    memcpy(w->vector[TALUS_SSN_CENTRE], s->gamma, count_rows(w) * sizeof(double));
    return talus_ssn_update_sides(w, s);
}

TalusStatus talus_ssn_step(TalusSsn *w, TalusSolve *s, TalusSsnMove *move)
{
    TALUS_TRY(find_direction(w, s, move->reuse));
    if (move->search)
        move->length = find_step_length(w, s);
    double t = move->length;
    if (uses_normal_map(w)) {
        s->backend->vector.axpby(s->op, t, w->vector[TALUS_SSN_DY], 1.0, w->vector[TALUS_SSN_Y]);
        set_gamma_from_y(w, s->gamma);
    } else {
        s->backend->vector.axpby(s->op, t, w->vector[TALUS_SSN_D], 1.0, s->gamma);
    }
    return TALUS_OK;
}

/* ---- bounds, iterate and measurement ---- */

/* Sets the problem's estimates of Coulomb blocks to their normal impulses in gamma, and the tangential bounds of all
 * blocks. */
static void set_estimates_and_bounds(TalusSsn *w, TalusSolve *s)
{
    const TalusOperator *op = s->op;
    for (int b = 0; w->rows > 1 && b < w->blocks; b++) {
        if (w->friction[b] > 0.0)
            op->estimate[b] = fmax(s->gamma[b * w->rows], 0.0);
        w->tangential_bound[b] = op->mu[b] * op->estimate[b];
    }
}

/* Components strictly between their bounds get y = x. Components at a bound get y = x - g / c, which is beyond the
 * bound if the gradient presses against the bound, else inside. */
void talus_ssn_set_iterate(TalusSsn *w, TalusSolve *s)
{
    if (!uses_normal_map(w))
        return;
    set_estimates_and_bounds(w, s);
    s->backend->op.gradient(s->op, NULL, s->gamma, true, w->vector[TALUS_SSN_G]);
    s->info->products++;
    for (int b = 0; b < w->blocks; b++) {
        int at = b * w->rows;
        double bound = find_tangential_bound(w, b, s->gamma[at]);
        for (int k = 0; k < w->rows; k++) {
            double x = s->gamma[at + k], g = w->vector[TALUS_SSN_G][at + k];
            bool inside = k ? fabs(x) < bound : x > 0.0;
            w->vector[TALUS_SSN_Y][at + k] =
                inside ? x : x - g / w->vector[TALUS_SSN_WEIGHT][at + k];
        }
    }
    set_gamma_from_y(w, s->gamma);
}

void talus_ssn_measure(TalusSsn *w, TalusSolve *s, TalusForwardSums *at)
{
    set_estimates_and_bounds(w, s);
    if (uses_normal_map(w))
        set_gamma_from_y(w, s->gamma);
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
        double bound = w->friction[b] > 0.0 ? w->friction[b] * x[i - k] : w->tangential_bound[b];
        double old = x[i], next = old - omega * g / w->vector[TALUS_SSN_DIAGONALS][i];
        double lower = k ? -bound : 0.0;
        int side = next <= lower ? -1 : k && next >= bound ? 1 : 0;
        x[i] = side ? side < 0 ? lower : bound : next;
        w->changed += side != w->side[i];
        w->side[i] = (int8_t)side;
        sum += c * (x[i] - old) * c * (x[i] - old);
    }
    return sum;
}

/* ---- preparation ---- */

/* Sets DIAGONALS and WEIGHT from the matrix. */
static void set_diagonals_and_weights(TalusSsn *w)
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

/* Sets the friction of all blocks; resets bounds and sides to 0. */
static void reset_blocks(TalusSsn *w, const TalusOperator *op)
{
    memset(w->tangential_bound, 0, (size_t)w->blocks * sizeof *w->tangential_bound);
    memset(w->side, 0, count_rows(w) * sizeof *w->side);
    for (int b = 0; b < w->blocks; b++) {
        bool coulomb = op->rows > 1 && op->model && op->model[b].law == TALUS_LAW_COULOMB;
        w->friction[b] = coulomb ? op->mu[b] : 0.0;
    }
}

/* Reserves the vectors and arrays that do not depend on the matrix. */
static TalusStatus reserve_memory(TalusSsn *w, TalusSolve *s)
{
    double *vector[TALUS_SSN_VECTORS + 2];
    TALUS_TRY(TALUS_GROW(w->free_index, count_rows(w), 0, "free rows"));
    TALUS_TRY(TALUS_GROW(w->free_row, count_rows(w), 0, "free rows"));
    TALUS_TRY(TALUS_GROW(w->side, count_rows(w), 0, "sides of bounds"));
    TALUS_TRY(
        talus_vectors_reserve(s, &w->memory, TALUS_SSN_VECTORS + 2, vector, "vectors of Newton"));
    memcpy(w->vector, vector, sizeof w->vector);
    w->friction = vector[TALUS_SSN_VECTORS];
    w->tangential_bound = vector[TALUS_SSN_VECTORS + 1];
    return TALUS_OK;
}

/* Copies the matrix into blocks, finds its elimination order and reserves L and M. */
static TalusStatus prepare_fronts(TalusSsn *w)
{
    size_t entries = count_rows(w) * (size_t)w->rows;
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
    TALUS_TRY(reserve_memory(w, s));
    reset_blocks(w, s->op);
    TALUS_TRY(talus_problem_assemble(s->problem, &w->matrix));
    set_diagonals_and_weights(w);
    s->backend->op.product(s->op, NULL, false, true, w->vector[TALUS_SSN_Q]);
    if (w->moving)
        TALUS_TRY(prepare_fronts(w));
    else
        TALUS_TRY(talus_sparse_alloc(&w->free_matrix, w->matrix.rows, w->matrix.rows,
                                     (size_t)talus_sparse_entries(&w->matrix),
                                     "matrix of the free rows"));
    TALUS_TRY(w->coulomb ? talus_problem_set_prisms(s->problem, true) : TALUS_OK);
    set_estimates_and_bounds(w, s);
    return TALUS_OK;
}

TalusStatus talus_ssn_end(TalusSsn *w, TalusSolve *s)
{
    talus_sparse_clear(&w->matrix);
    talus_sparse_clear(&w->free_matrix);
    talus_ldl_clear(&w->factor);
    talus_block_matrix_clear(&w->by_blocks);
    talus_fronts_clear(&w->fronts);
    return w->coulomb ? talus_problem_set_prisms(s->problem, false) : TALUS_OK;
}

void talus_ssn_clear(void *work)
{
    TalusSsn *w = work;
    TALUS_RELEASE(w->left, w->own, w->free_index, w->free_row, w->side);
}
