/* solvers/pivot/lemke_basis.c - bases of a linear complementarity problem: exchanges and factors (lemke_basis.h). */
#include "solvers/pivot/lemke_basis.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

enum { REFINEMENTS = 3 };

/* A difference below this, relative to its terms, is rounding of 0 and set to 0. Otherwise ties in the ratio test would
 * be missed. */
static const double CANCELLED = 1e-14;

/* The basis counts as singular if a pivot of the kernel, the p x p part factorised in `lu`, is below this; entries are
 * about 1. */
static const double SINGULAR = 1e-13;

TalusStatus talus_basis_begin(TalusBasis *b, const TalusLcp *lcp, const double *cover)
{
    size_t n = (size_t)lcp->n;
    b->lcp = lcp;
    b->cover = cover;
    b->p = 0;
    TALUS_TRY(TALUS_GROW(b->basic, n, 0, "basis"));
    TALUS_TRY(TALUS_GROW(b->place, 2 * n + 1, 0, "basis"));
    TALUS_TRY(TALUS_GROW(b->slot, n, 0, "basis"));
    TALUS_TRY(TALUS_GROW(b->owner, n, 0, "basis"));
    TALUS_TRY(TALUS_GROW(b->x, n, 0, "basis"));
    TALUS_TRY(TALUS_GROW(b->part, 2 * n, 0, "basis"));
    TALUS_TRY(TALUS_GROW(b->residual, n, 0, "basis"));
    for (int i = 0; i < lcp->n; i++) {
        b->basic[i] = b->place[i] = i;
        b->slot[i] = -1;
        b->place[lcp->n + i] = -1;
        b->x[i] = lcp->q[i];
    }
    b->place[2 * lcp->n] = -1;
    return TALUS_OK;
}

void talus_basis_clear(TalusBasis *b)
{
    TALUS_RELEASE(b->basic, b->place, b->slot, b->owner, b->inverse, b->x, b->lu, b->unit, b->order,
                  b->position, b->part, b->residual);
    *b = (TalusBasis){0};
}

static double *column_of(const TalusBasis *b, int slot)
{
    return b->inverse + (size_t)slot * (size_t)b->lcp->n;
}

/* y -= factor x. */
static void subtract(int n, double factor, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] -= factor * x[i];
}

/* ---- columns ---- */

/* y -= value B^-1 e_row. */
static void subtract_unit(const TalusBasis *b, int row, double value, double *y)
{
    if (value == 0.0)
        return;
    if (b->slot[row] < 0)
        y[b->place[row]] -= value;
    else
        subtract(b->lcp->n, value, column_of(b, b->slot[row]), y);
}

void talus_basis_column(const TalusBasis *b, int variable, double *y)
{
    const TalusLcp *lcp = b->lcp;
    const int n = lcp->n, j = variable - n;
    memset(y, 0, (size_t)n * sizeof *y);
    if (variable < n)
        subtract_unit(b, variable, -1.0, y);
    else if (variable == 2 * n)
        for (int i = 0; i < n; i++)
            subtract_unit(b, i, b->cover[i], y);
    else
        for (int32_t k = lcp->start[j]; k < lcp->start[j + 1]; k++)
            subtract_unit(b, lcp->row[k], lcp->value[k], y);
}

double talus_basis_inverse(const TalusBasis *b, int position, int j)
{
    if (b->slot[j] >= 0)
        return column_of(b, b->slot[j])[position];
    return b->place[j] == position ? 1.0 : 0.0;
}

/* ---- exchanges ---- */

/* Removes w's column of the inverse, as w becomes basic; the last column takes its slot. */
static void drop_slot(TalusBasis *b, int w)
{
    int slot = b->slot[w], last = --b->p;
    b->slot[w] = -1;
    if (slot == last)
        return;
    memcpy(column_of(b, slot), column_of(b, last), (size_t)b->lcp->n * sizeof *b->inverse);
    b->owner[slot] = b->owner[last];
    b->slot[b->owner[slot]] = slot;
}

/* Adds a column of the inverse for w, which leaves the basis: until now the column was 1 at `position`, else 0. */
static void add_slot(TalusBasis *b, int w, int position, const double *y)
{
    double *column = column_of(b, b->p), over = 1.0 / y[position];
    for (int i = 0; i < b->lcp->n; i++)
        column[i] = -y[i] * over;
    column[position] = over;
    b->slot[w] = b->p;
    b->owner[b->p++] = w;
}

TalusStatus talus_basis_exchange(TalusBasis *b, int enters, int position, const double *y)
{
    const int n = b->lcp->n, leaves = b->basic[position];
    size_t size = (size_t)n * (size_t)b->p;
    TALUS_TRY(TALUS_GROW(b->inverse, size + (size_t)n, size, "inverse of the basis"));
    if (enters < n)
        drop_slot(b, enters);
    for (int k = 0; k < b->p; k++) {
        double *column = column_of(b, k), factor = column[position] / y[position];
        if (factor != 0.0)
            subtract(n, factor, y, column);
        column[position] = factor;
    }
    if (leaves < n)
        add_slot(b, leaves, position, y);
    double step = b->x[position] / y[position];
    for (int i = 0; i < n; i++) {
        double change = step * y[i], left = b->x[i] - change;
        b->x[i] = fabs(left) <= CANCELLED * fabs(change) ? 0.0 : left;
    }
    b->x[position] = step;
    b->place[leaves] = -1;
    b->place[enters] = position;
    b->basic[position] = enters;
    return TALUS_OK;
}

/* ---- from the data ---- */

/* r -= B x. */
static void subtract_product(const TalusBasis *b, const double *x, double *r)
{
    const TalusLcp *lcp = b->lcp;
    for (int i = 0; i < lcp->n; i++) {
        int variable = b->basic[i], j = variable - lcp->n;
        if (variable < lcp->n)
            r[variable] -= x[i];
        else if (variable == 2 * lcp->n)
            subtract(lcp->n, -x[i], b->cover, r);
        else
            for (int32_t k = lcp->start[j]; k < lcp->start[j + 1]; k++)
                r[lcp->row[k]] += lcp->value[k] * x[i];
    }
}

double talus_basis_residual_max(const TalusBasis *b)
{
    double worst = 0.0;
    memcpy(b->residual, b->lcp->q, (size_t)b->lcp->n * sizeof *b->residual);
    subtract_product(b, b->x, b->residual);
    for (int i = 0; i < b->lcp->n; i++)
        worst = fmax(worst, fabs(b->residual[i]));
    return worst;
}

/* Fills lu with the kernel, by rows (lemke_basis.h). */
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
                if (b->slot[lcp->row[k]] >= 0)
                    b->lu[(size_t)b->slot[lcp->row[k]] * p + column] = -lcp->value[k];
        b->position[column++] = i;
    }
}

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

/* Factorises the kernel in `lu` with row exchanges. False if a pivot is below SINGULAR. */
static bool eliminate(TalusBasis *b)
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
                subtract(p - k - 1, factor, top + k + 1, row + k + 1);
        }
    }
    return true;
}

/* x = kernel^-1 f, f by slots, x in the order of `position`. */
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

/* x += B^-1 f by the factors: first basic z and z_0, then each basic w from its own row. f becomes the remainder. */
static void add_solution(TalusBasis *b, double *f, double *x)
{
    const TalusLcp *lcp = b->lcp;
    double *right = b->part, *z = b->part + lcp->n;
    for (int k = 0; k < b->p; k++)
        right[k] = f[b->owner[k]];
    solve_kernel(b, right, z);
    for (int c = 0; c < b->p; c++) {
        int variable = b->basic[b->position[c]], j = variable - lcp->n;
        x[b->position[c]] += z[c];
        if (variable == 2 * lcp->n)
            subtract(lcp->n, -z[c], b->cover, f);
        else
            for (int32_t k = lcp->start[j]; k < lcp->start[j + 1]; k++)
                f[lcp->row[k]] += lcp->value[k] * z[c];
    }
    for (int i = 0; i < lcp->n; i++)
        if (b->basic[i] < lcp->n)
            x[i] += f[b->basic[i]];
}

/* x = B^-1 q by the factors, refined. */
static void solve_values(TalusBasis *b)
{
    const size_t bytes = (size_t)b->lcp->n * sizeof *b->x;
    memset(b->x, 0, bytes);
    for (int k = 0; k < REFINEMENTS; k++) {
        memcpy(b->residual, b->lcp->q, bytes);
        subtract_product(b, b->x, b->residual);
        add_solution(b, b->residual, b->x);
    }
}

/* Inverts the kernel into `unit`, by rows: rows in the order of `position`, columns by slots. */
static void invert_kernel(TalusBasis *b)
{
    const size_t p = (size_t)b->p;
    memset(b->unit, 0, p * p * sizeof *b->unit);
    for (size_t i = 0; i < p; i++) {
        double *row = b->unit + i * p;
        row[b->order[i]] = 1.0;
        for (size_t k = 0; k < i; k++)
            if (b->lu[i * p + k] != 0.0)
                subtract(b->p, b->lu[i * p + k], b->unit + k * p, row);
    }
    for (size_t i = p; i-- > 0;) {
        double *row = b->unit + i * p, over = 1.0 / b->lu[i * p + i];
        for (size_t k = i + 1; k < p; k++)
            if (b->lu[i * p + k] != 0.0)
                subtract(b->p, b->lu[i * p + k], b->unit + k * p, row);
        for (size_t k = 0; k < p; k++)
            row[k] *= over;
    }
}

/* Fills one column of the inverse from that of the kernel; basic w follow from their rows. */
static void fill_column(TalusBasis *b, int slot)
{
    const TalusLcp *lcp = b->lcp;
    double *column = column_of(b, slot);
    memset(column, 0, (size_t)lcp->n * sizeof *column);
    for (int c = 0; c < b->p; c++) {
        double value = b->unit[(size_t)c * (size_t)b->p + (size_t)slot];
        int variable = b->basic[b->position[c]], j = variable - lcp->n;
        if (value == 0.0)
            continue;
        column[b->position[c]] = value;
        if (variable == 2 * lcp->n) {
            for (int i = 0; i < lcp->n; i++)
                if (b->slot[i] < 0)
                    column[b->place[i]] += b->cover[i] * value;
        } else {
            for (int32_t k = lcp->start[j]; k < lcp->start[j + 1]; k++)
                if (b->slot[lcp->row[k]] < 0)
                    column[b->place[lcp->row[k]]] += lcp->value[k] * value;
        }
    }
}

/* Sets to 0 the basic variables x = B^-1 q that are only rounding of their terms. */
static void clean_values(TalusBasis *b)
{
    const int n = b->lcp->n;
    double *terms = b->part;
    for (int i = 0; i < n; i++)
        terms[i] = b->basic[i] < n ? fabs(b->lcp->q[b->basic[i]]) : 0.0;
    for (int k = 0; k < b->p; k++) {
        const double *column = column_of(b, k), q = fabs(b->lcp->q[b->owner[k]]);
        for (int i = 0; i < n; i++)
            terms[i] += q * fabs(column[i]);
    }
    for (int i = 0; i < n; i++)
        b->x[i] = fabs(b->x[i]) <= CANCELLED * terms[i] ? 0.0 : b->x[i];
}

TalusStatus talus_basis_factor(TalusBasis *b)
{
    size_t p = (size_t)b->p;
    TALUS_TRY(TALUS_GROW(b->lu, p * p, 0, "factors of the basis"));
    TALUS_TRY(TALUS_GROW(b->unit, p * p, 0, "factors of the basis"));
    TALUS_TRY(TALUS_GROW(b->order, p, 0, "factors of the basis"));
    TALUS_TRY(TALUS_GROW(b->position, p, 0, "factors of the basis"));
    fill_kernel(b);
    if (!eliminate(b))
        return talus_fail(TALUS_ERR_NUMERIC, "lemke: a basis of %d unknowns is singular", b->p);
    solve_values(b);
    invert_kernel(b);
    for (int k = 0; k < b->p; k++)
        fill_column(b, k);
    clean_values(b);
    return TALUS_OK;
}
