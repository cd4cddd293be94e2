/* linalg/ldl.c - L D U factorisation of a sparse matrix (ldl.h): order, elimination tree, numbers, solution. */
#include "linalg/ldl.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void talus_ldl_clear(TalusLdl *ldl)
{
    TALUS_RELEASE(ldl->order, ldl->position, ldl->parent, ldl->start, ldl->row, ldl->lower,
                  ldl->pivot, ldl->work, ldl->fill, ldl->x, ldl->y, ldl->near, ldl->near_start);
    if (ldl->upper != ldl->lower)
        talus_release(ldl->upper);
    *ldl = (TalusLdl){0};
}

/* ---- memory ---- */

/* Reserves the arrays of size n, which share one capacity and are allocated together. */
static TalusStatus reserve_rows(TalusLdl *ldl, size_t n)
{
    if (n + 1 <= ldl->row_capacity)
        return TALUS_OK;
    talus_ldl_clear(ldl);
    TALUS_TRY(TALUS_ALLOC(ldl->order, n, "elimination order"));
    TALUS_TRY(TALUS_ALLOC(ldl->position, n, "elimination order"));
    TALUS_TRY(TALUS_ALLOC(ldl->parent, n, "elimination tree"));
    TALUS_TRY(TALUS_ALLOC(ldl->start, n + 1, "factor"));
    TALUS_TRY(TALUS_ALLOC(ldl->pivot, n, "pivots"));
    TALUS_TRY(TALUS_ALLOC(ldl->work, n, "factor"));
    TALUS_TRY(TALUS_ALLOC(ldl->fill, n, "factor"));
    TALUS_TRY(TALUS_ALLOC(ldl->x, n, "factor"));
    TALUS_TRY(TALUS_ALLOC(ldl->y, n, "factor"));
    TALUS_TRY(TALUS_ALLOC(ldl->near_start, n + 1, "pattern"));
    ldl->row_capacity = n + 1;
    return TALUS_OK;
}

/* Limit of the entries of L below the diagonal if TalusPivots gives none; U has as many above it. */
static const double MAX_ENTRIES = 5e8;

/* Reserves L, and U if A is not symmetric; fails if L exceeds the limit. */
static TalusStatus reserve_factor(TalusLdl *ldl, double max_entries)
{
    size_t need = (size_t)ldl->start[ldl->n];
    if ((double)need > (max_entries > 0.0 ? max_entries : MAX_ENTRIES))
        return talus_fail(
            TALUS_ERR_UNSUPPORTED,
            "factor: %d rows would fill in to %.3g entries, more than the %.3g allowed", ldl->n,
            (double)need, max_entries > 0.0 ? max_entries : MAX_ENTRIES);
    if (ldl->upper == ldl->lower)
        ldl->upper = NULL; /* upper was an alias of lower */
    TALUS_TRY(TALUS_GROW(ldl->row, need, 0, "factor"));
    TALUS_TRY(TALUS_GROW(ldl->lower, need, 0, "factor"));
    if (ldl->symmetric) {
        talus_release(ldl->upper);
        ldl->upper = ldl->lower;
        return TALUS_OK;
    }
    return TALUS_GROW(ldl->upper, need, 0, "factor");
}

/* ---- pattern of A + A' without the diagonal ---- */

/* Appends to `near` the columns of row i of `a` that are not marked with i, and marks them. */
static void append_row_pattern(const TalusSparse *a, int i, int32_t *mark, int32_t *near,
                               int64_t *count)
{
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++)
        if (mark[a->column[k]] != i) {
            mark[a->column[k]] = i;
            near[(*count)++] = a->column[k];
        }
}

/* Fills near_start and near; t: A' or NULL. */
static TalusStatus list_neighbours(TalusLdl *ldl, const TalusSparse *a, const TalusSparse *t)
{
    size_t entries = (size_t)a->start[a->rows] * (t ? 2 : 1);
    TALUS_TRY(TALUS_GROW(ldl->near, entries, 0, "pattern"));
    int64_t count = 0;
    for (int i = 0; i < ldl->n; i++)
        ldl->work[i] = -1;
    for (int i = 0; i < ldl->n; i++) {
        ldl->near_start[i] = count;
        ldl->work[i] = i;
        append_row_pattern(a, i, ldl->work, ldl->near, &count);
        if (t)
            append_row_pattern(t, i, ldl->work, ldl->near, &count);
    }
    ldl->near_start[ldl->n] = count;
    return TALUS_OK;
}

/* ---- reverse Cuthill-McKee ---- */

/* Returns the degree of row i: its number of neighbours in the pattern of A + A'. */
static int64_t count_neighbours(const TalusLdl *ldl, int i)
{
    return ldl->near_start[i + 1] - ldl->near_start[i];
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Appends the neighbours of row i with a mark below `stamp` to the queue, by rising degree, and marks them. Returns the
 * new end of the queue. keys: work space for the sort, degree << 32 | row. */
static int append_neighbours(const TalusLdl *ldl, int i, int32_t *mark, int32_t stamp,
                             int32_t *queue, int count, uint64_t *keys)
{
    int found = 0;
    for (int64_t k = ldl->near_start[i]; k < ldl->near_start[i + 1]; k++) {
        int j = ldl->near[k];
        if (mark[j] >= stamp)
            continue;
        mark[j] = stamp;
        keys[found++] = (uint64_t)count_neighbours(ldl, j) << 32 | (uint32_t)j;
    }
    if (found > 1)
        qsort(keys, (size_t)found, sizeof *keys, compare_keys);
    for (int k = 0; k < found; k++)
        queue[count + k] = (int32_t)(uint32_t)keys[k];
    return count + found;
}

/* Breadth-first search from `root`, which is level 0. Lists the rows reached in `queue` and returns their number; the
 * last level, number *depth, begins at queue[*last]. */
static int search_levels(const TalusLdl *ldl, int root, int32_t stamp, int32_t *queue,
                         uint64_t *keys, int *last, int *depth)
{
    int count = 1, level_end = 1;
    queue[0] = root;
    ldl->work[root] = stamp;
    *last = 0;
    *depth = 0;
    for (int k = 0; k < count; k++) {
        if (k == level_end) {
            *last = k;
            level_end = count;
            ++*depth;
        }
        count = append_neighbours(ldl, queue[k], ldl->work, stamp, queue, count, keys);
    }
    return count;
}

/* Returns a row far from `root`: repeats the search from the row of lowest degree in the last level while the depth
 * increases. */
static int find_far_row(const TalusLdl *ldl, int root, int32_t *stamp, int32_t *queue,
                        uint64_t *keys)
{
    int last, depth, next_depth;
    int count = search_levels(ldl, root, ++*stamp, queue, keys, &last, &depth);
    for (;;) {
        int best = queue[last];
        for (int k = last + 1; k < count; k++)
            if (count_neighbours(ldl, queue[k]) < count_neighbours(ldl, best))
                best = queue[k];
        count = search_levels(ldl, best, ++*stamp, queue, keys, &last, &next_depth);
        if (next_depth <= depth)
            return best;
        depth = next_depth;
    }
}

enum { ORDERED = INT32_MAX }; /* mark of a row that is in the order; above all stamps */

/* Sets `order` and `position`: reverse Cuthill-McKee, component by component. */
static TalusStatus find_order(TalusLdl *ldl)
{
    uint64_t *keys;
    int done = 0;
    int32_t stamp = 0;
    TALUS_TRY(TALUS_ALLOC(keys, (size_t)ldl->n, "elimination order"));
    memset(ldl->work, 0, (size_t)ldl->n * sizeof *ldl->work);
    for (int i = 0; i < ldl->n; i++) {
        if (ldl->work[i] == ORDERED)
            continue;
        int32_t *queue = ldl->order + done;
        int root = count_neighbours(ldl, i) ? find_far_row(ldl, i, &stamp, queue, keys) : i, last,
            depth;
        int count = search_levels(ldl, root, ++stamp, queue, keys, &last, &depth);
        for (int k = 0; k < count; k++)
            ldl->work[queue[k]] = ORDERED;
        done += count;
    }
    talus_release(keys);
    for (int k = 0; k < ldl->n / 2; k++) {
        int32_t swap = ldl->order[k];
        ldl->order[k] = ldl->order[ldl->n - 1 - k];
        ldl->order[ldl->n - 1 - k] = swap;
    }
    for (int k = 0; k < ldl->n; k++)
        ldl->position[ldl->order[k]] = k;
    return TALUS_OK;
}

/* ---- elimination tree and the size of each column of L ---- */

/* Sets `parent`, and `start` by the number of entries of each column of L below the diagonal. */
static void build_elimination_tree(TalusLdl *ldl)
{
    int64_t *count = ldl->start + 1;
    memset(ldl->start, 0, ((size_t)ldl->n + 1) * sizeof *ldl->start);
    for (int k = 0; k < ldl->n; k++) {
        int row = ldl->order[k];
        ldl->parent[k] = -1;
        ldl->work[k] = k;
        for (int64_t e = ldl->near_start[row]; e < ldl->near_start[row + 1]; e++)
            for (int i = ldl->position[ldl->near[e]]; i < k && ldl->work[i] != k;
                 i = ldl->parent[i]) {
                if (ldl->parent[i] < 0)
                    ldl->parent[i] = k;
                count[i]++;
                ldl->work[i] = k;
            }
    }
    for (int k = 0; k < ldl->n; k++)
        ldl->start[k + 1] += ldl->start[k];
}

TalusStatus talus_ldl_analyse(TalusLdl *ldl, const TalusSparse *a, const TalusSparse *transposed)
{
    TALUS_TRY(reserve_rows(ldl, (size_t)a->rows));
    ldl->n = a->rows;
    ldl->symmetric = !transposed;
    TALUS_TRY(list_neighbours(ldl, a, transposed));
    TALUS_TRY(find_order(ldl));
    build_elimination_tree(ldl);
    return TALUS_OK;
}

int64_t talus_ldl_fill(const TalusLdl *ldl)
{
    return ldl->start[ldl->n];
}

/* ---- numbers ---- */

/* Writes the entries of a row of `a`, in columns eliminated before the row, into x by position. Returns the diagonal
 * entry. */
static double scatter_row(const TalusLdl *ldl, const TalusSparse *a, int row, double *x)
{
    double diagonal = 0.0;
    int k = ldl->position[row];
    for (int32_t e = a->start[row]; e < a->start[row + 1]; e++) {
        int i = ldl->position[a->column[e]];
        if (i < k)
            x[i] = a->value[e];
        else if (i == k)
            diagonal = a->value[e];
    }
    return diagonal;
}

/* Lists the columns of row k of L left of k, in a valid order of elimination, at the end of `out`, [n]. These columns
 * form paths in the elimination tree, from the neighbours of k towards k. Returns the index in `out` of the first. */
static int find_row_pattern(TalusLdl *ldl, int k, int32_t *mark, int32_t *out)
{
    int top = ldl->n, row = ldl->order[k];
    mark[k] = k;
    for (int64_t e = ldl->near_start[row]; e < ldl->near_start[row + 1]; e++) {
        int length = 0;
        for (int i = ldl->position[ldl->near[e]]; i < k && mark[i] != k; i = ldl->parent[i]) {
            out[length++] = i;
            mark[i] = k;
        }
        while (length > 0)
            out[--top] = out[--length];
    }
    return top;
}

/* Computes row k of L from row k of A left of the diagonal (in x). If A is not symmetric, also computes column k of U
 * from column k of A above the diagonal (in y), on the same pattern. x and y become 0. Returns the number by which
 * pivot k is less than the diagonal entry of A. */
static double compute_row(TalusLdl *ldl, int k, const int32_t *pattern, int count)
{
    double loss = 0.0;
    double *x = ldl->x, *y = ldl->symmetric ? ldl->x : ldl->y;
    for (int p = 0; p < count; p++) {
        int i = pattern[p];
        int64_t end = ldl->start[i] + ldl->fill[i]++;
        double xi = x[i], yi = y[i];
        x[i] = y[i] = 0.0;
        for (int64_t e = ldl->start[i]; e < end; e++)
            x[ldl->row[e]] -= ldl->upper[e] * xi;
        for (int64_t e = ldl->start[i]; !ldl->symmetric && e < end; e++)
            y[ldl->row[e]] -= ldl->lower[e] * yi;
        ldl->row[end] = k;
        ldl->lower[end] = xi / ldl->pivot[i];
        if (!ldl->symmetric)
            ldl->upper[end] = yi / ldl->pivot[i];
        loss += ldl->lower[end] * yi;
    }
    return loss;
}

static bool is_bad_pivot(double pivot, double diagonal, const TalusPivots *rule)
{
    if (!isfinite(pivot))
        return true;
    return rule->zeros_only ? pivot == 0.0 : !(pivot > rule->relative * fabs(diagonal));
}

/* Stores pivot k. A pivot that is bad by the rule (TalusPivots) is replaced, or the call fails. */
static TalusStatus accept_pivot(TalusLdl *ldl, int k, double diagonal, double pivot,
                                const TalusPivots *rule)
{
    if (is_bad_pivot(pivot, diagonal, rule)) {
        if (!(rule->replacement > 0.0)) {
            ldl->failed = ldl->order[k];
            return talus_fail(TALUS_ERR_NUMERIC,
                              "row %d: pivot %g of diagonal entry %g: expected a positive one",
                              ldl->failed, pivot, diagonal);
        }
        pivot = rule->replacement;
        ldl->replaced++;
    }
    ldl->pivot[k] = pivot;
    return TALUS_OK;
}

/* Computes L, D and U row by row. t: A' or NULL; pattern: work space, [n]. */
static TalusStatus factor_rows(TalusLdl *ldl, const TalusSparse *a, const TalusSparse *t,
                               const TalusPivots *pivots, int32_t *pattern)
{
    for (int k = 0; k < ldl->n; k++) {
        int row = ldl->order[k];
        int top = find_row_pattern(ldl, k, ldl->work, pattern);
        double diagonal = scatter_row(ldl, a, row, ldl->x);
        if (t)
            scatter_row(ldl, t, row, ldl->y);
        double loss = compute_row(ldl, k, pattern + top, ldl->n - top);
        TALUS_TRY(accept_pivot(ldl, k, diagonal, diagonal - loss, pivots));
    }
    return TALUS_OK;
}

TalusStatus talus_ldl_factor(TalusLdl *ldl, const TalusSparse *a, const TalusSparse *transposed,
                             const TalusPivots *pivots)
{
    int32_t *pattern;
    size_t n = (size_t)ldl->n;
    TALUS_TRY(reserve_factor(ldl, pivots->max_entries));
    TALUS_TRY(TALUS_ALLOC(pattern, n, "factor"));
    memset(ldl->fill, 0, n * sizeof *ldl->fill);
    for (int k = 0; k < ldl->n; k++)
        ldl->work[k] = -1;
    ldl->replaced = 0;
    ldl->failed = -1;
    TalusStatus status = factor_rows(ldl, a, transposed, pivots, pattern);
    talus_release(pattern);
    return status;
}

void talus_ldl_solve(TalusLdl *ldl, double *x)
{
    double *y = ldl->x;
    for (int k = 0; k < ldl->n; k++)
        y[k] = x[ldl->order[k]];
    for (int k = 0; k < ldl->n; k++)
        for (int64_t e = ldl->start[k]; e < ldl->start[k + 1]; e++)
            y[ldl->row[e]] -= ldl->lower[e] * y[k];
    for (int k = ldl->n - 1; k >= 0; k--) {
        double sum = y[k] / ldl->pivot[k];
        for (int64_t e = ldl->start[k]; e < ldl->start[k + 1]; e++)
            sum -= ldl->upper[e] * y[ldl->row[e]];
        y[k] = sum;
    }
    for (int k = 0; k < ldl->n; k++)
        x[ldl->order[k]] = y[k];
    memset(y, 0, (size_t)ldl->n * sizeof *y);
}
