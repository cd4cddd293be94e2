/* solvers/pivot/lemke_basis.c - bases of a linear complementarity problem: exchanges and factors (lemke_basis.h). */
#include "solvers/pivot/lemke_basis.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

enum { REFINEMENTS = 3 }; /* number of solutions with the factors: one and two refinements */

/* A difference below this share of its terms is rounding and is set to 0: else ties in the ratio test would be
 * missed. */
static const double CANCELLED = 1e-14;

/* The basis counts as singular if a pivot of the kernel is below this; entries are about 1. */
static const double SINGULAR = 1e-13;

TalusStatus talus_basis_begin(TalusBasis *b, const TalusLcp *lcp, const double *cover)
{
    size_t n = (size_t)lcp->n;
    b->lcp = lcp;
    b->cover = cover;
    b->p = 0;
    TALUS_TRY(TALUS_GROW(b->basic, n, 0, "basis"));
    TALUS_TRY(TALUS_GROW(b->position_of, 2 * n + 1, 0, "basis"));
    TALUS_TRY(TALUS_GROW(b->stored_column, n, 0, "basis"));
    TALUS_TRY(TALUS_GROW(b->owner, n, 0, "basis"));
    TALUS_TRY(TALUS_GROW(b->x, n, 0, "basis"));
    TALUS_TRY(TALUS_GROW(b->part, 2 * n, 0, "basis"));
    TALUS_TRY(TALUS_GROW(b->residual, n, 0, "basis"));
    for (int i = 0; i < lcp->n; i++) {
        b->basic[i] = b->position_of[i] = i;
        b->stored_column[i] = -1;
        b->position_of[lcp->n + i] = -1;
        b->x[i] = lcp->q[i];
    }
    b->position_of[2 * lcp->n] = -1;
    return TALUS_OK;
}

TalusStatus talus_basis_set(TalusBasis *b, const bool *has_z)
{
    const int n = b->lcp->n;
    b->p = 0;
    for (int i = 0; i < n; i++) {
        b->basic[i] = has_z[i] ? n + i : i;
        b->position_of[i] = has_z[i] ? -1 : i;
        b->position_of[n + i] = has_z[i] ? i : -1;
        b->stored_column[i] = has_z[i] ? b->p : -1;
        if (has_z[i])
            b->owner[b->p++] = i;
    }
    b->position_of[2 * n] = -1;
    return TALUS_GROW(b->inverse, (size_t)n * (size_t)b->p, 0, "inverse of the basis");
}

void talus_basis_clear(TalusBasis *b)
{
    TALUS_RELEASE(b->basic, b->position_of, b->stored_column, b->owner, b->inverse, b->x, b->lu,
                  b->kernel_inverse, b->order, b->kernel_position, b->part, b->residual);
    *b = (TalusBasis){0};
}

/* Column `index` of `inverse`. */
static double *inverse_column(const TalusBasis *b, int index)
{
    return b->inverse + (size_t)index * (size_t)b->lcp->n;
}

/* y -= factor x. */
static void subtract_scaled(int n, double factor, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] -= factor * x[i];
}

/* ---- columns ---- */

/* y -= value B^-1 e_row. */
static void subtract_inverse_column(const TalusBasis *b, int row, double value, double *y)
{
    if (value == 0.0)
        return;
    if (b->stored_column[row] < 0)
        y[b->position_of[row]] -= value;
    else
        subtract_scaled(b->lcp->n, value, inverse_column(b, b->stored_column[row]), y);
}

void talus_basis_compute_column(const TalusBasis *b, int variable, double *y)
{
    const TalusLcp *lcp = b->lcp;
    const int n = lcp->n, j = variable - n;
    memset(y, 0, (size_t)n * sizeof *y);
    if (variable < n)
        subtract_inverse_column(b, variable, -1.0, y);
    else if (variable == 2 * n)
        for (int i = 0; i < n; i++)
            subtract_inverse_column(b, i, b->cover[i], y);
    else
        for (int32_t k = lcp->start[j]; k < lcp->start[j + 1]; k++)
            subtract_inverse_column(b, lcp->row[k], lcp->value[k], y);
}

double talus_basis_inverse_entry(const TalusBasis *b, int position, int j)
{
    if (b->stored_column[j] >= 0)
        return inverse_column(b, b->stored_column[j])[position];
    return b->position_of[j] == position ? 1.0 : 0.0;
}

/* ---- exchanges ---- */

/* Removes the column of w from `inverse`, as w becomes basic; the last column takes its place. */
static void drop_inverse_column(TalusBasis *b, int w)
{
    int index = b->stored_column[w], last = --b->p;
    b->stored_column[w] = -1;
    if (index == last)
        return;
    memcpy(inverse_column(b, index), inverse_column(b, last),
           (size_t)b->lcp->n * sizeof *b->inverse);
    b->owner[index] = b->owner[last];
    b->stored_column[b->owner[index]] = index;
}

/* Appends the column of w to `inverse`, as w leaves the basis at `position`: the unit column of w after the exchange
 * with the variable whose column is y. */
static void add_inverse_column(TalusBasis *b, int w, int position, const double *y)
{
    double *column = inverse_column(b, b->p), over = 1.0 / y[position];
    for (int i = 0; i < b->lcp->n; i++)
        column[i] = -y[i] * over;
    column[position] = over;
    b->stored_column[w] = b->p;
    b->owner[b->p++] = w;
}

TalusStatus talus_basis_exchange(TalusBasis *b, int enters, int position, const double *y)
{
    const int n = b->lcp->n, leaves = b->basic[position];
    size_t size = (size_t)n * (size_t)b->p;
    TALUS_TRY(TALUS_GROW(b->inverse, size + (size_t)n, size, "inverse of the basis"));
    if (enters < n)
        drop_inverse_column(b, enters);
    for (int k = 0; k < b->p; k++) {
        double *column = inverse_column(b, k), factor = column[position] / y[position];
        if (factor != 0.0)
            subtract_scaled(n, factor, y, column);
        column[position] = factor;
    }
    if (leaves < n)
        add_inverse_column(b, leaves, position, y);
    double step = b->x[position] / y[position];
    for (int i = 0; i < n; i++) {
        double change = step * y[i], left = b->x[i] - change;
        b->x[i] = fabs(left) <= CANCELLED * fabs(change) ? 0.0 : left;
    }
    b->x[position] = step;
    b->position_of[leaves] = -1;
    b->position_of[enters] = position;
    b->basic[position] = enters;
    return TALUS_OK;
}

/* ---- recomputation from the data ---- */

/* r -= B x. */
static void subtract_product(const TalusBasis *b, const double *x, double *r)
{
    const TalusLcp *lcp = b->lcp;
    for (int i = 0; i < lcp->n; i++) {
        int variable = b->basic[i], j = variable - lcp->n;
        if (variable < lcp->n)
            r[variable] -= x[i];
        else if (variable == 2 * lcp->n)
            subtract_scaled(lcp->n, -x[i], b->cover, r);
        else
            for (int32_t k = lcp->start[j]; k < lcp->start[j + 1]; k++)
                r[lcp->row[k]] += lcp->value[k] * x[i];
    }
}

void talus_basis_compute_residual(const TalusBasis *b, const double *x, double *r)
{
    memcpy(r, b->lcp->q, (size_t)b->lcp->n * sizeof *r);
    subtract_product(b, x, r);
}

double talus_basis_residual_max(const TalusBasis *b)
{
    double worst = 0.0;
    talus_basis_compute_residual(b, b->x, b->residual);
    for (int i = 0; i < b->lcp->n; i++)
        worst = fmax(worst, fabs(b->residual[i]));
    return worst;
}

/* Fills b->lu with the kernel, by rows, and b->kernel_position with the positions of its columns. */
static void fill_kernel(TalusBasis *b)
{
    const TalusLcp *lcp = b->lcp;
    const size_t p = (size_t)b->p;
    size_t column = 0;
    memset(b->lu, 0, p * p * sizeof *b->lu);
    for (int i = 0; i < lcp->n; i++) {
        int variable = b->basic[i], j = variable - lcp->n;
        if (variable < lcp->n)
            continue;
        if (variable == 2 * lcp->n)
            for (size_t k = 0; k < p; k++)
                b->lu[k * p + column] = -b->cover[b->owner[k]];
        else
            for (int32_t k = lcp->start[j]; k < lcp->start[j + 1]; k++)
                if (b->stored_column[lcp->row[k]] >= 0)
                    b->lu[(size_t)b->stored_column[lcp->row[k]] * p + column] = -lcp->value[k];
        b->kernel_position[column++] = i;
    }
}

/* Swaps two rows of b->lu and of b->order. */
static void swap_rows(TalusBasis *b, int i, int j)
{
    double *x = b->lu + (size_t)i * (size_t)b->p, *y = b->lu + (size_t)j * (size_t)b->p;
    for (int k = 0; i != j && k < b->p; k++) {
        double t = x[k];
        x[k] = y[k];
        y[k] = t;
    }
    int32_t t = b->order[i];
    b->order[i] = b->order[j];
    b->order[j] = t;
}

/* Factorises the kernel in b->lu in place, with row exchanges in b->order. False if a pivot is below SINGULAR. */
static bool factor_kernel(TalusBasis *b)
{
    const int p = b->p;
    const size_t stride = (size_t)p;
    for (int k = 0; k < p; k++)
        b->order[k] = k;
    for (int k = 0; k < p; k++) {
        int best = k;
        for (int i = k + 1; i < p; i++)
            if (fabs(b->lu[(size_t)i * stride + (size_t)k]) >
                fabs(b->lu[(size_t)best * stride + (size_t)k]))
                best = i;
        swap_rows(b, k, best);
        const double *top = b->lu + (size_t)k * stride;
        if (!(fabs(top[k]) > SINGULAR))
            return false;
        for (int i = k + 1; i < p; i++) {
            double *row = b->lu + (size_t)i * stride, factor = row[k] / top[k];
            row[k] = factor;
            if (factor != 0.0)
                subtract_scaled(p - k - 1, factor, top + k + 1, row + k + 1);
        }
    }
    return true;
}

/* x = kernel^-1 f, f in the order of the columns of `inverse`, x in the order of b->kernel_position. */
static void solve_kernel(const TalusBasis *b, const double *f, double *x)
{
    const int p = b->p;
    for (int i = 0; i < p; i++) {
        const double *row = b->lu + (size_t)i * (size_t)p;
        double sum = f[b->order[i]];
        for (int k = 0; k < i; k++)
            sum -= row[k] * x[k];
        x[i] = sum;
    }
    for (int i = p - 1; i >= 0; i--) {
        const double *row = b->lu + (size_t)i * (size_t)p;
        double sum = x[i];
        for (int k = i + 1; k < p; k++)
            sum -= row[k] * x[k];
        x[i] = sum / row[i];
    }
}

/* x += B^-1 f by the factors: first the basic z and z_0, then each basic w from its own row. Subtracts the columns of z
 * and z_0 from f. */
static void add_solution(TalusBasis *b, double *f, double *x)
{
    const TalusLcp *lcp = b->lcp;
    double *right = b->part, *z = b->part + lcp->n;
    for (int k = 0; k < b->p; k++)
        right[k] = f[b->owner[k]];
    solve_kernel(b, right, z);
    for (int c = 0; c < b->p; c++) {
        int variable = b->basic[b->kernel_position[c]], j = variable - lcp->n;
        x[b->kernel_position[c]] += z[c];
        if (variable == 2 * lcp->n)
            subtract_scaled(lcp->n, -z[c], b->cover, f);
        else
            for (int32_t k = lcp->start[j]; k < lcp->start[j + 1]; k++)
                f[lcp->row[k]] += lcp->value[k] * z[c];
    }
    for (int i = 0; i < lcp->n; i++)
        if (b->basic[i] < lcp->n)
            x[i] += f[b->basic[i]];
}

/* Computes the values x = B^-1 q of the basic variables by the factors, with iterative refinement. */
static void compute_values(TalusBasis *b)
{
    const size_t bytes = (size_t)b->lcp->n * sizeof *b->x;
    memset(b->x, 0, bytes);
    for (int k = 0; k < REFINEMENTS; k++) {
        talus_basis_compute_residual(b, b->x, b->residual);
        add_solution(b, b->residual, b->x);
    }
}

/* Computes b->kernel_inverse from the factors: rows in the order of b->kernel_position, columns in the order of the
 * columns of `inverse`. */
static void invert_kernel(TalusBasis *b)
{
    const size_t p = (size_t)b->p;
    memset(b->kernel_inverse, 0, p * p * sizeof *b->kernel_inverse);
    for (size_t i = 0; i < p; i++) {
        double *row = b->kernel_inverse + i * p;
        row[b->order[i]] = 1.0;
        for (size_t k = 0; k < i; k++)
            if (b->lu[i * p + k] != 0.0)
                subtract_scaled(b->p, b->lu[i * p + k], b->kernel_inverse + k * p, row);
    }
    for (size_t i = p; i-- > 0;) {
        double *row = b->kernel_inverse + i * p, over = 1.0 / b->lu[i * p + i];
        for (size_t k = i + 1; k < p; k++)
            if (b->lu[i * p + k] != 0.0)
                subtract_scaled(b->p, b->lu[i * p + k], b->kernel_inverse + k * p, row);
        for (size_t k = 0; k < p; k++)
            row[k] *= over;
    }
}

/* Fills column `index` of `inverse`: entries of basic z and z_0 from the inverse of the kernel, those of basic w from
 * their rows of B. */
static void fill_inverse_column(TalusBasis *b, int index)
{
    const TalusLcp *lcp = b->lcp;
    double *column = inverse_column(b, index);
    memset(column, 0, (size_t)lcp->n * sizeof *column);
    for (int c = 0; c < b->p; c++) {
        double value = b->kernel_inverse[(size_t)c * (size_t)b->p + (size_t)index];
        int variable = b->basic[b->kernel_position[c]], j = variable - lcp->n;
        if (value == 0.0)
            continue;
        column[b->kernel_position[c]] = value;
        if (variable == 2 * lcp->n) {
            for (int i = 0; i < lcp->n; i++)
                if (b->stored_column[i] < 0)
                    column[b->position_of[i]] += b->cover[i] * value;
        } else {
            for (int32_t k = lcp->start[j]; k < lcp->start[j + 1]; k++)
                if (b->stored_column[lcp->row[k]] < 0)
                    column[b->position_of[lcp->row[k]]] += lcp->value[k] * value;
        }
    }
}

/* Sets to 0 those values x = B^-1 q that are below CANCELLED times the sum of their terms: only rounding. */
static void clear_rounding(TalusBasis *b)
{
    const int n = b->lcp->n;
    double *terms = b->part;
    for (int i = 0; i < n; i++)
        terms[i] = b->basic[i] < n ? fabs(b->lcp->q[b->basic[i]]) : 0.0;
    for (int k = 0; k < b->p; k++) {
        const double *column = inverse_column(b, k), q = fabs(b->lcp->q[b->owner[k]]);
        for (int i = 0; i < n; i++)
            terms[i] += q * fabs(column[i]);
    }
    for (int i = 0; i < n; i++)
        b->x[i] = fabs(b->x[i]) <= CANCELLED * terms[i] ? 0.0 : b->x[i];
}

TalusStatus talus_basis_solve(TalusBasis *b)
{
    size_t p = (size_t)b->p;
    TALUS_TRY(TALUS_GROW(b->lu, p * p, 0, "factors of the basis"));
    TALUS_TRY(TALUS_GROW(b->order, p, 0, "factors of the basis"));
    TALUS_TRY(TALUS_GROW(b->kernel_position, p, 0, "factors of the basis"));
    fill_kernel(b);
    if (!factor_kernel(b))
        return talus_fail(TALUS_ERR_NUMERIC, "lemke: a basis of %d unknowns is singular", b->p);
    compute_values(b);
    return TALUS_OK;
}

TalusStatus talus_basis_factor(TalusBasis *b)
{
    size_t p = (size_t)b->p;
    TALUS_TRY(TALUS_GROW(b->kernel_inverse, p * p, 0, "factors of the basis"));
    TALUS_TRY(talus_basis_solve(b));
    invert_kernel(b);
    for (int k = 0; k < b->p; k++)
        fill_inverse_column(b, k);
    clear_rounding(b);
    return TALUS_OK;
}
