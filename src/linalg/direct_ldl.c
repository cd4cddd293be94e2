/* linalg/direct_ldl.c - the direct solver `ldl`: A = L D L' by fronts, without row exchanges.
 *
 * Quasi-definite matrices have such a factorisation in any order (Vanderbei 1995), and the sign of each pivot is that
 * of its diagonal entry. A front is a dense symmetric matrix, of which only the lower part, by rows, is used: the sum
 * of entries of A and of the contributions of its children in the tree of fronts. Its pivots are eliminated PANEL at a
 * time; the rest is its contribution to the parent (Duff & Reid 1983). The factor holds the pivot columns of each
 * front, by rows. */
#include "base/memory.h"
#include "base/status.h"
#include "linalg/direct_make.h"
#include "linalg/direct_tree.h"
#include "linalg/product.h"

#include <math.h>
#include <string.h>

/* Pivots eliminated together; rows updated together. */
enum { PANEL = 24, STRIP = 32 };

/* A pivot not above this fraction of its row's diagonal entry counts as zero. */
static const double VANISHED = 0x1p-52;

/* Sizes of the arrays of a factorisation, from the analysis. */
typedef struct Sizes {
    size_t largest_front; /* number of rows of the largest front */
    size_t stack;         /* maximum number of entries on the stack */
    int64_t fill;         /* entries of L with the diagonal */
} Sizes;

/* State of a solver: tree, lists of entries, numbers. */
typedef struct Ldl {
    int rows;
    Sizes sizes;
    TalusFrontTree tree;
    int8_t *sign;          /* [rows]: signs of the pivots */
    int32_t *entry_start;  /* [count + 1]: start of a front in `entry` and `target` */
    int32_t *entry;        /* indices of entries of A, by front */
    int32_t *target;       /* index in the front's matrix to which each of these entries is added */
    int64_t *factor_start; /* [count + 1]: start of a front in `factor` */
    double *factor;        /* pivot columns of each front, by rows: L, with 1 / D on the diagonal */
    /* front: the current front. stack: contributions that wait for their parents, lower parts by rows. */
    double *front, *stack;
    double *panel;     /* D L' of the current panel, in the columns below it */
    double *x;         /* solution in the pivots of a front */
    int32_t *waiting;  /* [count]: fronts with contributions on the stack; work of the analysis */
    int32_t *children; /* [count]: number of children */
    int32_t *local;    /* [rows]: index in the current front, if the row is in it */
    size_t bytes;      /* of the five arrays of numbers; 0: not allocated */
} Ldl;

/* Returns the number of rows of front k, its order as a matrix. */
static int front_rows(const Ldl *f, int k)
{
    return (int)(f->tree.list_start[k + 1] - f->tree.list_start[k]);
}

static void clear_ldl(Ldl *f)
{
    TALUS_RELEASE(f->sign, f->entry_start, f->entry, f->target, f->factor_start, f->factor,
                  f->front, f->stack, f->panel, f->x, f->waiting, f->children, f->local);
    talus_front_tree_clear(&f->tree);
    *f = (Ldl){0};
}

static TalusStatus create_ldl(void **out)
{
    Ldl *f;
    TALUS_TRY(TALUS_ALLOC(f, 1, "direct solver"));
    *out = f;
    return TALUS_OK;
}

static void destroy_ldl(void *state)
{
    clear_ldl(state);
    talus_release(state);
}

/* ---- analysis ---- */

/* Writes into f->local the index of each row of front k within the front. */
static void index_front_rows(Ldl *f, int k)
{
    const int32_t *list = f->tree.list + f->tree.list_start[k];
    for (int i = 0; i < front_rows(f, k); i++)
        f->local[list[i]] = i;
}

/* Returns the front that an entry (i, j) of A is added to: the front that eliminates the first of rows i and j. */
static int front_of_entry(const Ldl *f, int i, int j)
{
    int one = f->tree.front_of[i], other = f->tree.front_of[j];
    return one < other ? one : other;
}

/* Lists the entries of A by front, each with the index in the front's matrix to which it is added. */
static TalusStatus assign_entries(Ldl *f, const TalusSparse *a)
{
    size_t count = (size_t)f->tree.count, entries = (size_t)a->start[a->rows];
    TALUS_TRY(TALUS_ALLOC(f->entry_start, count + 1, "fronts"));
    TALUS_TRY(TALUS_ALLOC(f->entry, entries, "fronts"));
    TALUS_TRY(TALUS_ALLOC(f->target, entries, "fronts"));
    int32_t *fill = f->waiting;
    for (int i = 0; i < a->rows; i++)
        for (int32_t e = a->start[i]; e < a->start[i + 1]; e++)
            f->entry_start[front_of_entry(f, i, a->column[e]) + 1]++;
    for (size_t k = 0; k < count; k++)
        f->entry_start[k + 1] += f->entry_start[k];
    memcpy(fill, f->entry_start, count * sizeof *fill);
    for (int i = 0; i < a->rows; i++)
        for (int32_t e = a->start[i]; e < a->start[i + 1]; e++) {
            int32_t at = fill[front_of_entry(f, i, a->column[e])]++;
            f->entry[at] = e;
            f->target[at] = i;
        }
    for (int k = 0; k < f->tree.count; k++) {
        index_front_rows(f, k);
        for (int32_t at = f->entry_start[k]; at < f->entry_start[k + 1]; at++) {
            int one = f->local[f->target[at]], other = f->local[a->column[f->entry[at]]];
            int row = one > other ? one : other, column = one > other ? other : one;
            f->target[at] = row * front_rows(f, k) + column;
        }
    }
    return TALUS_OK;
}

/* Number of entries of the lower part of an n x n matrix. */
static size_t triangle_entries(size_t n)
{
    return n * (n + 1) / 2;
}

/* Returns the sizes of the factorisation, by a pass over the fronts in the order of factor_ldl; also sets f->children
 * and f->factor_start. */
static Sizes count_sizes(Ldl *f)
{
    const TalusFrontTree *t = &f->tree;
    Sizes sizes = {0};
    size_t held = 0;
    int depth = 0;
    for (int k = 0; k < t->count; k++)
        if (t->parent[k] >= 0)
            f->children[t->parent[k]]++;
    for (int k = 0; k < t->count; k++) {
        size_t order = (size_t)front_rows(f, k), pivots = (size_t)t->pivots[k];
        sizes.largest_front = order > sizes.largest_front ? order : sizes.largest_front;
        f->factor_start[k + 1] = f->factor_start[k] + (int64_t)(pivots * order);
        sizes.fill += (int64_t)(triangle_entries(order) - triangle_entries(order - pivots));
        for (int c = 0; c < f->children[k]; c++) {
            int child = f->waiting[--depth];
            held -= triangle_entries((size_t)(front_rows(f, child) - t->pivots[child]));
        }
        f->waiting[depth++] = k;
        held += triangle_entries(order - pivots);
        sizes.stack = held > sizes.stack ? held : sizes.stack;
    }
    return sizes;
}

/* Releases the arrays of numbers; the analysis stays. */
static void release_numbers(Ldl *f)
{
    TALUS_RELEASE(f->factor, f->front, f->stack, f->panel, f->x);
    f->factor = f->front = f->stack = f->panel = f->x = NULL;
    f->bytes = 0;
}

/* Fails if factor, largest front and stack have more than TALUS_DIRECT_MAX_ENTRIES entries in all. The limit also keeps
 * `target` within 32 bits. */
static TalusStatus check_sizes(const Ldl *f)
{
    double order = (double)f->sizes.largest_front, factor = (double)f->factor_start[f->tree.count];
    double size = factor + order * order + (double)f->sizes.stack;
    if (size <= TALUS_DIRECT_MAX_ENTRIES)
        return TALUS_OK;
    return talus_fail(TALUS_ERR_UNSUPPORTED,
                      "ldl: a factor of %d rows needs %.3g entries with its fronts, more than the "
                      "%.3g allowed",
                      f->rows, size, TALUS_DIRECT_MAX_ENTRIES);
}

/* Allocates the arrays of numbers, in the first factorisation of a pattern or after one that lacked memory. */
static TalusStatus reserve_numbers(Ldl *f)
{
    size_t factor = (size_t)f->factor_start[f->tree.count], order = f->sizes.largest_front;
    size_t front = order * order, panel = order * PANEL;
    release_numbers(f);
    TALUS_TRY(TALUS_ALLOC(f->factor, factor, "factor"));
    TALUS_TRY(TALUS_ALLOC(f->front, front, "front"));
    TALUS_TRY(TALUS_ALLOC(f->stack, f->sizes.stack, "fronts"));
    TALUS_TRY(TALUS_ALLOC(f->panel, panel, "front"));
    TALUS_TRY(TALUS_ALLOC(f->x, order, "front"));
    f->bytes = sizeof(double) * (factor + front + f->sizes.stack + panel + order);
    return TALUS_OK;
}

/* `analyse` of TalusDirectMethod: builds the tree of fronts, sizes and lists of entries; allocates no numbers. */
static TalusStatus analyse_ldl(void *state, const TalusSparse *lower, const int8_t *sign,
                               int64_t *fill)
{
    Ldl *f = state;
    clear_ldl(f);
    f->rows = lower->rows;
    TALUS_TRY(talus_row_tree_create(lower, &f->tree));
    size_t count = (size_t)f->tree.count, n = (size_t)lower->rows;
    TALUS_TRY(TALUS_ALLOC(f->sign, n, "signs of pivots"));
    TALUS_TRY(TALUS_ALLOC(f->factor_start, count + 1, "factor"));
    TALUS_TRY(TALUS_ALLOC(f->children, count, "fronts"));
    TALUS_TRY(TALUS_ALLOC(f->waiting, count, "fronts"));
    TALUS_TRY(TALUS_ALLOC(f->local, n, "fronts"));
    memcpy(f->sign, sign, n * sizeof *sign);
    f->sizes = count_sizes(f);
    *fill = f->sizes.fill;
    TALUS_TRY(check_sizes(f));
    return assign_entries(f, lower);
}

/* ---- elimination of one dense front: lower part, by rows ---- */

/* Returns the diagonal entry, the last of its row of the lower triangle; 0 if absent. */
static double diagonal_entry(const TalusSparse *a, int row)
{
    int32_t last = a->start[row + 1] - 1;
    return last >= a->start[row] && a->column[last] == row ? a->value[last] : 0.0;
}

/* Fails unless the pivot of this row of A has the sign given at the analysis and is not zero up to rounding. */
static TalusStatus check_pivot(const Ldl *f, const TalusSparse *a, int row, double pivot)
{
    double diagonal = diagonal_entry(a, row);
    if (f->sign[row] * pivot > VANISHED * fabs(diagonal) && isfinite(pivot))
        return TALUS_OK;
    return talus_fail(TALUS_ERR_NUMERIC,
                      "direct solver: row %d has pivot %g of diagonal entry %g: expected a %s one",
                      row, pivot, diagonal, f->sign[row] > 0 ? "positive" : "negative");
}

/* Factorises in place m, the square of a panel, of `width` rows: L below the diagonal, D on it. row: the panel's rows
 * of A. */
static TalusStatus factor_square(const Ldl *f, const TalusSparse *a, const int32_t *row, int width,
                                 Matrix m)
{
    for (int k = 0; k < width; k++) {
        double *to = submatrix(m, k, 0).at, scaled[PANEL];
        for (int j = 0; j < k; j++) { /* to[j] is L_kj D_j for now */
            for (int i = 0; i < j; i++)
                to[j] -= to[i] * *submatrix(m, j, i).at;
        }
        for (int j = 0; j < k; j++) {
            scaled[j] = to[j] / *submatrix(m, j, j).at;
            to[k] -= scaled[j] * to[j];
        }
        memcpy(to, scaled, (size_t)k * sizeof *to);
        TALUS_TRY(check_pivot(f, a, row[k], to[k]));
    }
    return TALUS_OK;
}

/* With `square`, L11 and D1 of the panel, and `below`, A21: sets w = L11^-1 A21' = D1 L21', and replaces A21 by L21. */
static void factor_below(int rows, int width, Matrix square, Matrix below, Matrix w)
{
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < width; k++)
            *submatrix(w, k, i).at = *submatrix(below, i, k).at;
    for (int k = 1; k < width; k++)
        subtract_product(1, rows, k, submatrix(square, k, 0), w, submatrix(w, k, 0));
    for (int k = 0; k < width; k++) {
        double inverse = 1.0 / *submatrix(square, k, k).at;
        for (int i = 0; i < rows; i++)
            *submatrix(below, i, k).at = *submatrix(w, k, i).at * inverse;
    }
}

/* Subtracts L21 w from `rest`, A22, in strips of STRIP rows, each up to the diagonal entry of its last row; entries
 * above the diagonal are computed but not used. */
static void update_rest(int rows, int width, Matrix below, Matrix w, Matrix rest)
{
    for (int i = 0; i < rows; i += STRIP) {
        int strip = rows - i < STRIP ? rows - i : STRIP;
        subtract_product(strip, i + strip, width, submatrix(below, i, 0), w, submatrix(rest, i, 0));
    }
}

/* Eliminates the pivots of front k in f->front, panel by panel; the rest is then its contribution. */
static TalusStatus eliminate_front(const Ldl *f, const TalusSparse *a, int k)
{
    int order = front_rows(f, k), pivots = f->tree.pivots[k];
    const int32_t *list = f->tree.list + f->tree.list_start[k];
    Matrix m = {f->front, order};
    for (int begin = 0; begin < pivots; begin += PANEL) {
        int width = pivots - begin < PANEL ? pivots - begin : PANEL, end = begin + width;
        Matrix square = submatrix(m, begin, begin), below = submatrix(m, end, begin);
        Matrix w = {f->panel, order - end};
        TALUS_TRY(factor_square(f, a, list + begin, width, square));
        factor_below(order - end, width, square, below, w);
        update_rest(order - end, width, below, w, submatrix(m, end, end));
    }
    return TALUS_OK;
}

/* ---- factorisation ---- */

/* Adds a child's contribution, at `from`, to the current front of this order. */
static void add_child(const Ldl *f, int child, int order, const double *from)
{
    int pivots = f->tree.pivots[child], rest = front_rows(f, child) - pivots;
    const int32_t *list = f->tree.list + f->tree.list_start[child] + pivots;
    for (int i = 0; i < rest; i++) {
        double *to = f->front + (size_t)f->local[list[i]] * (size_t)order;
        for (int j = 0; j <= i; j++)
            to[f->local[list[j]]] += *from++;
    }
}

/* Copies the pivot columns of front k, with 1 / D on the diagonal, to the factor, and the contribution to `left`. */
static void store_front(const Ldl *f, int k, double *left)
{
    size_t order = (size_t)front_rows(f, k), pivots = (size_t)f->tree.pivots[k];
    double *to = f->factor + f->factor_start[k];
    for (size_t i = 0; i < order; i++)
        memcpy(to + i * pivots, f->front + i * order, pivots * sizeof *to);
    for (size_t i = 0; i < pivots; i++)
        to[i * pivots + i] = 1.0 / to[i * pivots + i];
    for (size_t i = pivots; i < order; i++) {
        size_t width = i - pivots + 1;
        memcpy(left, f->front + i * order + pivots, width * sizeof *left);
        left += width;
    }
}

/* `factor` of TalusDirectMethod: assembles and eliminates front after front, children first. */
static TalusStatus factor_ldl(void *state, const TalusSparse *lower)
{
    Ldl *f = state;
    const TalusFrontTree *t = &f->tree;
    if (f->bytes == 0)
        TALUS_TRY(reserve_numbers(f));
    double *top = f->stack;
    int depth = 0;
    for (int k = 0; k < t->count; k++) {
        int order = front_rows(f, k);
        index_front_rows(f, k);
        for (int i = 0; i < order; i++)
            memset(f->front + (size_t)i * (size_t)order, 0, ((size_t)i + 1) * sizeof *top);
        for (int32_t e = f->entry_start[k]; e < f->entry_start[k + 1]; e++)
            f->front[f->target[e]] += lower->value[f->entry[e]];
        for (int c = 0; c < f->children[k]; c++) {
            int child = f->waiting[--depth];
            top -= triangle_entries((size_t)(front_rows(f, child) - t->pivots[child]));
            add_child(f, child, order, top);
        }
        TALUS_TRY(eliminate_front(f, lower, k));
        store_front(f, k, top);
        top += triangle_entries((size_t)(order - t->pivots[k]));
        f->waiting[depth++] = k;
    }
    return TALUS_OK;
}

/* ---- solution ---- */

/* Forward substitution L y = x with the pivots of front k, in place. */
static void substitute_forward(const Ldl *f, int k, double *x)
{
    const double *row = f->factor + f->factor_start[k];
    const int32_t *list = f->tree.list + f->tree.list_start[k];
    int order = front_rows(f, k), pivots = f->tree.pivots[k];
    for (int i = 0; i < order; i++, row += pivots) {
        double sum = 0.0;
        for (int j = 0; j < (i < pivots ? i : pivots); j++)
            sum += row[j] * f->x[j];
        if (i < pivots)
            f->x[i] = x[list[i]] - sum;
        else
            x[list[i]] -= sum;
    }
    for (int i = 0; i < pivots; i++)
        x[list[i]] = f->x[i];
}

/* Back substitution D L'x = y with the pivots of front k, in place. */
static void substitute_back(const Ldl *f, int k, double *x)
{
    const int32_t *list = f->tree.list + f->tree.list_start[k];
    int order = front_rows(f, k), pivots = f->tree.pivots[k];
    const double *rows = f->factor + f->factor_start[k];
    for (int i = 0; i < pivots; i++)
        f->x[i] = x[list[i]] * rows[(size_t)i * (size_t)pivots + (size_t)i];
    for (int i = order - 1; i >= 0; i--) {
        const double *row = rows + (size_t)i * (size_t)pivots;
        double xi = i < pivots ? f->x[i] : x[list[i]];
        for (int j = 0; j < (i < pivots ? i : pivots); j++)
            f->x[j] -= row[j] * xi;
    }
    for (int i = 0; i < pivots; i++)
        x[list[i]] = f->x[i];
}

static TalusStatus solve_ldl(void *state, double *x)
{
    const Ldl *f = state;
    for (int k = 0; k < f->tree.count; k++)
        substitute_forward(f, k, x);
    for (int k = f->tree.count - 1; k >= 0; k--)
        substitute_back(f, k, x);
    return TALUS_OK;
}

static size_t bytes_of_ldl(const void *state)
{
    return ((const Ldl *)state)->bytes;
}

const TalusDirectMethod talus_direct_ldl = {.name = "ldl",
                                            .create = create_ldl,
                                            .destroy = destroy_ldl,
                                            .analyse = analyse_ldl,
                                            .factor = factor_ldl,
                                            .solve = solve_ldl,
                                            .bytes = bytes_of_ldl};
