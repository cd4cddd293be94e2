/* linalg/fronts.c - numerical multifrontal factorisation and solution; the tree is made in fronts_order.c.
 *
 * A front is a dense matrix, by rows, over the blocks in its list: the sum of the pivots' rows and columns of the
 * matrix and of the contributions of its children in the tree. Pivots are eliminated in panels of PANEL rows and
 * columns. The square in which a panel's rows and columns meet is inverted, so that all other work is products of dense
 * matrices. The rows and columns beyond the pivots are then the front's contribution to its parent. */
#include "linalg/fronts.h"

#include "base/memory.h"
#include "base/status.h"
#include "linalg/product.h"

#include <math.h>
#include <string.h>

/* Maximum number of pivots eliminated together. */
enum { PANEL = 24 };

/* Limit of the entries of factor, largest front and stack together. */
static const double MAX_ENTRIES = 5e8;

/* A pivot of at most this fraction of the largest entry of its panel's square counts as zero. */
static const double VANISHED = 1e-14;

/* ---- one dense front ---- */

/* c = a b; c is `rows` x `columns`, a has `inner` columns. */
static void set_product(int rows, int columns, int inner, Matrix a, Matrix b, Matrix c)
{
    multiply_matrices(true, rows, columns, inner, a, b, c);
}

/* Returns the largest magnitude of an entry of the n x n matrix a. */
static double largest_entry(int n, Matrix a)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            largest = fmax(largest, fabs(*submatrix(a, i, j).at));
    return largest;
}

/* Exchanges rows i and j of a, of n columns. */
static void exchange_rows(int n, Matrix a, int i, int j)
{
    for (int c = 0; c < n; c++) {
        double swap = *submatrix(a, i, c).at;
        *submatrix(a, i, c).at = *submatrix(a, j, c).at;
        *submatrix(a, j, c).at = swap;
    }
}

/* Exchanges columns i and j of a, of n rows. */
static void exchange_columns(int n, Matrix a, int i, int j)
{
    for (int r = 0; r < n; r++) {
        double swap = *submatrix(a, r, i).at;
        *submatrix(a, r, i).at = *submatrix(a, r, j).at;
        *submatrix(a, r, j).at = swap;
    }
}

/* Inverts a, n <= PANEL, in place by Gauss-Jordan elimination with row exchanges. Pivots that count as zero (VANISHED)
 * are replaced by +-tiny, with their sign; returns the number of replaced pivots. Multiplies *sign by the sign of the
 * determinant. */
static int invert_square(int n, Matrix a, int *sign)
{
    int chosen[PANEL], replaced = 0;
    double tiny = VANISHED * largest_entry(n, a);
    tiny = tiny > 0.0 ? tiny : VANISHED;
    for (int k = 0; k < n; k++) {
        double *pivot = submatrix(a, k, 0).at;
        chosen[k] = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(*submatrix(a, i, k).at) > fabs(*submatrix(a, chosen[k], k).at))
                chosen[k] = i;
        if (chosen[k] != k)
            exchange_rows(n, a, k, chosen[k]);
        *sign *= (chosen[k] != k) == (pivot[k] < 0.0) ? 1 : -1;
        if (!(fabs(pivot[k]) > tiny)) {
            pivot[k] = pivot[k] < 0.0 ? -tiny : tiny;
            replaced++;
        }
        double inverse = 1.0 / pivot[k];
        pivot[k] = 1.0;
        for (int j = 0; j < n; j++)
            pivot[j] *= inverse;
        for (int i = 0; i < n; i++) {
            double *row = submatrix(a, i, 0).at, s = row[k];
            if (i == k)
                continue;
            row[k] = 0.0;
            for (int j = 0; j < n; j++)
                row[j] -= s * pivot[j];
        }
    }
    for (int k = n - 1; k >= 0; k--)
        if (chosen[k] != k)
            exchange_columns(n, a, k, chosen[k]);
    return replaced;
}

/* Eliminates the pivots of a front panel by panel. With A11 the panel's square, A11 becomes A11^-1, A21 becomes A21
 * A11^-1, then the new A21 times A12 is subtracted from A22. Returns the number of replaced pivots; *sign as for
 * invert_square. */
static int eliminate_front(Matrix a, int order, int pivots, double *work, int *sign)
{
    int replaced = 0;
    for (int begin = 0; begin < pivots; begin += PANEL) {
        int width = begin + PANEL < pivots ? PANEL : pivots - begin, end = begin + width;
        Matrix square = submatrix(a, begin, begin), below = submatrix(a, end, begin),
               product = {work, PANEL};
        replaced += invert_square(width, square, sign);
        set_product(order - end, width, width, below, square, product);
        for (int i = 0; i < order - end; i++)
            memcpy(submatrix(below, i, 0).at, submatrix(product, i, 0).at,
                   (size_t)width * sizeof *work);
        subtract_product(order - end, order - end, width, below, submatrix(a, begin, end),
                         submatrix(a, end, end));
    }
    return replaced;
}

/* ---- analysis ---- */

/* Returns the number of blocks of front f, pivots included. */
static int front_blocks(const TalusFrontTree *t, int f)
{
    return (int)(t->list_start[f + 1] - t->list_start[f]);
}

/* Returns the number of scalar rows of front k's contribution: the rows beyond its pivots. */
static size_t contribution_rows(const TalusFronts *f, int k)
{
    return (size_t)(front_blocks(&f->tree, k) - f->tree.pivots[k]) * (size_t)f->size;
}

/* Computes the order of the largest front and the maximum number of entries on the stack; sets f->children and
 * f->factor_start. */
static void count_sizes(TalusFronts *f, size_t *front, size_t *stack)
{
    const TalusFrontTree *t = &f->tree;
    size_t held = 0;
    int depth = 0;
    *front = *stack = 0;
    for (int k = 0; k < t->count; k++)
        if (t->parent[k] >= 0)
            f->children[t->parent[k]]++;
    for (int k = 0; k < t->count; k++) {
        size_t pivots = (size_t)t->pivots[k] * (size_t)f->size, rest = contribution_rows(f, k);
        size_t order = pivots + rest;
        *front = order > *front ? order : *front;
        f->factor_start[k + 1] = f->factor_start[k] + (int64_t)(pivots * (order + rest));
        for (int c = 0; c < f->children[k]; c++) {
            size_t child = contribution_rows(f, f->waiting[--depth]);
            held -= child * child;
        }
        f->waiting[depth++] = k;
        held += rest * rest;
        *stack = held > *stack ? held : *stack;
    }
}

/* Builds the tree and allocates all arrays; on failure the caller clears. */
static TalusStatus reserve_and_build(TalusFronts *f, const TalusBlockMatrix *a)
{
    size_t front, stack;
    TALUS_TRY(talus_front_tree_create(a, NULL, &f->tree));
    size_t count = (size_t)f->tree.count, n = (size_t)a->blocks;
    TALUS_TRY(TALUS_ALLOC(f->factor_start, count + 1, "factor"));
    TALUS_TRY(TALUS_ALLOC(f->children, count, "fronts"));
    TALUS_TRY(TALUS_ALLOC(f->waiting, count, "fronts"));
    TALUS_TRY(TALUS_ALLOC(f->local, n, "fronts"));
    count_sizes(f, &front, &stack);
    double size = (double)f->factor_start[count] + (double)(front * front) + (double)stack;
    if (size > MAX_ENTRIES)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "factor: %zu blocks would fill in to %.1f GB, more than the %.1f allowed",
                          n, 8e-9 * size, 8e-9 * MAX_ENTRIES);
    TALUS_TRY(TALUS_ALLOC(f->factor, (size_t)f->factor_start[count], "factor"));
    TALUS_TRY(TALUS_ALLOC(f->front, front * front, "front"));
    TALUS_TRY(TALUS_ALLOC(f->stack, stack, "fronts"));
    TALUS_TRY(TALUS_ALLOC(f->panel, front * PANEL, "front"));
    return TALUS_ALLOC(f->x, front, "front");
}

TalusStatus talus_fronts_analyse(TalusFronts *f, const TalusBlockMatrix *a)
{
    talus_fronts_clear(f);
    f->blocks = a->blocks;
    f->size = a->size;
    TalusStatus status = reserve_and_build(f, a);
    if (status != TALUS_OK)
        talus_fronts_clear(f);
    return status;
}

void talus_fronts_clear(TalusFronts *f)
{
    TALUS_RELEASE(f->factor_start, f->factor, f->panel, f->front, f->stack, f->children, f->waiting,
                  f->x, f->local);
    talus_front_tree_clear(&f->tree);
    *f = (TalusFronts){0};
}

/* ---- factorisation ---- */

/* Adds block (i, j) of the matrix to the front: L_i A_ij (left, value), plus M_i (own) if i = j. Here and below `s` is
 * the number of rows of a block, a compile-time constant if it is 3; `order` is the number of rows of the front. */
KERNEL void add_entry(const int s, const TalusFronts *f, int order, const double *left,
                      const double *value, const double *own, int i, int j)
{
    Matrix to = submatrix((Matrix){f->front, order}, f->local[i] * s, f->local[j] * s);
    const double *l = left + (size_t)(i * s * s);
    for (int r = 0; r < s; r++)
        for (int c = 0; c < s; c++) {
            double sum = i == j ? own[i * s * s + r * s + c] : 0.0;
            for (int k = 0; k < s; k++)
                sum += l[r * s + k] * value[k * s + c];
            *submatrix(to, r, c).at += sum;
        }
}

/* Adds the rows and columns of front k's pivots of the matrix L A + M to the front, except blocks that earlier fronts
 * eliminate. */
KERNEL void add_pivot_rows(const int s, const TalusFronts *f, int k, int order,
                           const TalusBlockMatrix *a, const double *left, const double *own)
{
    const TalusFrontTree *t = &f->tree;
    for (int p = 0; p < t->pivots[k]; p++) {
        int i = t->list[t->list_start[k] + p];
        for (int32_t e = a->start[i]; e < a->start[i + 1]; e++) {
            int j = a->column[e];
            if (t->front_of[j] < k)
                continue;
            add_entry(s, f, order, left, a->value + (size_t)e * (size_t)(s * s), own, i, j);
            if (t->front_of[j] > k)
                add_entry(s, f, order, left, a->value + (size_t)a->mirror[e] * (size_t)(s * s), own,
                          j, i);
        }
    }
}

/* Adds the contribution of child front c, at `from` by rows, to the current front. */
KERNEL void add_child(const int s, const TalusFronts *f, int c, int order, const double *from)
{
    const TalusFrontTree *t = &f->tree;
    const int32_t *list = t->list + t->list_start[c] + t->pivots[c];
    const int blocks = front_blocks(t, c) - t->pivots[c];
    for (int i = 0; i < blocks; i++)
        for (int r = 0; r < s; r++) {
            double *row = f->front + (size_t)(f->local[list[i]] * s + r) * (size_t)order;
            for (int j = 0; j < blocks; j++, from += s) {
                double *to = row + (size_t)(f->local[list[j]] * s);
                for (int q = 0; q < s; q++)
                    to[q] += from[q];
            }
        }
}

/* Copies the pivot rows and the columns below them to the factor, the contribution to the parent to `left`. */
static void store_front(const TalusFronts *f, int k, double *left)
{
    double *to = f->factor + f->factor_start[k];
    size_t order = (size_t)front_blocks(&f->tree, k) * (size_t)f->size,
           rest = contribution_rows(f, k);
    size_t pivots = order - rest;
    memcpy(to, f->front, pivots * order * sizeof *to);
    to += pivots * order;
    for (size_t i = 0; i < rest; i++) {
        const double *row = f->front + (pivots + i) * order;
        memcpy(to + i * pivots, row, pivots * sizeof *to);
        memcpy(left + i * rest, row + pivots, rest * sizeof *to);
    }
}

/* talus_fronts_factor for blocks of size s. */
KERNEL void factor_fronts(const int s, TalusFronts *f, const TalusBlockMatrix *a,
                          const double *left, const double *own)
{
    const TalusFrontTree *t = &f->tree;
    double *top = f->stack;
    int depth = 0;
    f->replaced = 0;
    f->sign = 1;
    for (int k = 0; k < t->count; k++) {
        int blocks = front_blocks(t, k), order = blocks * s;
        memset(f->front, 0, (size_t)order * (size_t)order * sizeof *f->front);
        for (int i = 0; i < blocks; i++)
            f->local[t->list[t->list_start[k] + i]] = i;
        add_pivot_rows(s, f, k, order, a, left, own);
        for (int c = 0; c < f->children[k]; c++) {
            int child = f->waiting[--depth];
            top -= contribution_rows(f, child) * contribution_rows(f, child);
            add_child(s, f, child, order, top);
        }
        f->replaced +=
            eliminate_front((Matrix){f->front, order}, order, t->pivots[k] * s, f->panel, &f->sign);
        store_front(f, k, top);
        f->waiting[depth++] = k;
        top += contribution_rows(f, k) * contribution_rows(f, k);
    }
}

void talus_fronts_factor(TalusFronts *f, const TalusBlockMatrix *a, const double *left,
                         const double *own)
{
    if (f->size == 3)
        factor_fronts(3, f, a, left, own);
    else
        factor_fronts(f->size, f, a, left, own);
}

/* ---- solution ---- */

/* Copies the entries of x that belong to front k to f->x. */
static void gather_x(const TalusFronts *f, int k, const double *x)
{
    const TalusFrontTree *t = &f->tree;
    const int s = f->size;
    for (int i = 0; i < front_blocks(t, k); i++)
        memcpy(f->x + (size_t)(i * s), x + (size_t)(t->list[t->list_start[k] + i] * s),
               (size_t)s * sizeof *x);
}

/* Copies f->x, for the first `blocks` blocks of front k, back to x. */
static void scatter_x(const TalusFronts *f, int k, int blocks, double *x)
{
    const TalusFrontTree *t = &f->tree;
    const int s = f->size;
    for (int i = 0; i < blocks; i++)
        memcpy(x + (size_t)(t->list[t->list_start[k] + i] * s), f->x + (size_t)(i * s),
               (size_t)s * sizeof *x);
}

/* Forward substitution on f->x, panel by panel: subtracts A21 A11^-1 times the panel's part from the rows below it. */
static void substitute_forward(const TalusFronts *f, int k)
{
    const double *rows = f->factor + f->factor_start[k];
    int order = front_blocks(&f->tree, k) * f->size, pivots = f->tree.pivots[k] * f->size;
    const double *below = rows + (size_t)pivots * (size_t)order;
    for (int begin = 0; begin < pivots; begin += PANEL) {
        int end = begin + PANEL < pivots ? begin + PANEL : pivots;
        for (int i = end; i < order; i++) {
            const double *row = i < pivots ? rows + (size_t)i * (size_t)order
                                           : below + (size_t)(i - pivots) * (size_t)pivots;
            double sum = 0.0;
            for (int j = begin; j < end; j++)
                sum += row[j] * f->x[j];
            f->x[i] -= sum;
        }
    }
}

/* Back substitution on f->x, from the last panel: x1 = A11^-1 (x1 - A12 x2). */
static void substitute_back(const TalusFronts *f, int k)
{
    const double *rows = f->factor + f->factor_start[k];
    int order = front_blocks(&f->tree, k) * f->size, pivots = f->tree.pivots[k] * f->size;
    for (int begin = (pivots - 1) / PANEL * PANEL; begin >= 0; begin -= PANEL) {
        int end = begin + PANEL < pivots ? begin + PANEL : pivots;
        double y[PANEL];
        for (int i = begin; i < end; i++) {
            const double *row = rows + (size_t)i * (size_t)order;
            double sum = f->x[i];
            for (int j = end; j < order; j++)
                sum -= row[j] * f->x[j];
            y[i - begin] = sum;
        }
        for (int i = begin; i < end; i++) {
            const double *row = rows + (size_t)i * (size_t)order;
            double sum = 0.0;
            for (int j = begin; j < end; j++)
                sum += row[j] * y[j - begin];
            f->x[i] = sum;
        }
    }
}

void talus_fronts_solve(TalusFronts *f, double *x)
{
    const TalusFrontTree *t = &f->tree;
    for (int k = 0; k < t->count; k++) {
        gather_x(f, k, x);
        substitute_forward(f, k);
        scatter_x(f, k, front_blocks(t, k), x);
    }
    for (int k = t->count - 1; k >= 0; k--) {
        gather_x(f, k, x);
        substitute_back(f, k);
        scatter_x(f, k, t->pivots[k], x);
    }
}
