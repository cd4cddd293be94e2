/* linalg/ldl_form.c - B' A^-1 C of sparse B and C.
 *
 * With A = L D U, B' A^-1 C is (U'^-1 B)' D^-1 (L^-1 C), for which forward substitution suffices. A column of the
 * right-hand side fills in only along paths of the elimination tree, so for a mass matrix of many small blocks the cost
 * is that of the blocks. The two factors are scaled by D^-1/2 and each entry is summed in order of elimination, so that
 * entries (i, j) and (j, i) are the same sum if A is symmetric. */
#include "linalg/ldl.h"

#include "base/memory.h"
#include "base/status.h"
#include "linalg/sparse.h"

#include <math.h>
#include <stdlib.h>

static int compare_positions(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Lists in `out` the positions of the nonzero entries of the solution for right-hand side j, rising; returns their
 * number. */
static int list_solution_rows(TalusLdl *ldl, const TalusSparse *rhs, int j, int32_t *out)
{
    int count = 0;
    for (int32_t e = rhs->start[j]; e < rhs->start[j + 1]; e++)
        for (int i = ldl->position[rhs->column[e]]; i >= 0 && ldl->work[i] != j;
             i = ldl->parent[i]) {
            out[count++] = i;
            ldl->work[i] = j;
        }
    if (count > 1)
        qsort(out, (size_t)count, sizeof *out, compare_positions);
    return count;
}

/* Writes to value[p] the entry at position places[p] of D^-1/2 F^-1 times right-hand side j. F, in `factor`, is L for C
 * and U' for B. */
static void substitute_forward(TalusLdl *ldl, const TalusSparse *rhs, int j, const double *factor,
                               const int32_t *places, int count, double *value)
{
    double *x = ldl->x;
    for (int32_t e = rhs->start[j]; e < rhs->start[j + 1]; e++)
        x[ldl->position[rhs->column[e]]] = rhs->value[e];
    for (int p = 0; p < count; p++) {
        int i = places[p];
        double xi = x[i];
        x[i] = 0.0;
        for (int64_t e = ldl->start[i]; e < ldl->start[i + 1]; e++)
            x[ldl->row[e]] -= factor[e] * xi;
        value[p] = xi / sqrt(ldl->pivot[i]);
    }
}

typedef struct Half { /* D^-1/2 F^-1 B or C, transposed: a sparse matrix that grows by rows */
    TalusSparse m;
} Half;

/* Appends row j, computed by substitute_forward, to `half`. */
static TalusStatus add_half_row(TalusLdl *ldl, const TalusSparse *rhs, int j, const double *factor,
                                int32_t *places, Half *half)
{
    size_t used = (size_t)half->m.start[j];
    int count = list_solution_rows(ldl, rhs, j, places);
    if (used + (size_t)count > INT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "the condensed matrix would not fit into memory");
    TALUS_TRY(TALUS_GROW(half->m.column, used + (size_t)count, used, "condensed matrix"));
    TALUS_TRY(TALUS_GROW(half->m.value, used + (size_t)count, used, "condensed matrix"));
    for (int p = 0; p < count; p++)
        half->m.column[used + (size_t)p] = places[p];
    substitute_forward(ldl, rhs, j, factor, places, count, half->m.value + used);
    half->m.start[j + 1] = (int32_t)used + count;
    return TALUS_OK;
}

/* Makes `out`, whose row j is D^-1/2 F^-1 applied to row j of rhs, F as in substitute_forward; columns are
 * positions. */
static TalusStatus solve_half(TalusLdl *ldl, const TalusSparse *rhs, const double *factor,
                              TalusSparse *out)
{
    Half half = {.m = {.rows = rhs->rows, .columns = ldl->n}};
    int32_t *places;
    TALUS_TRY(TALUS_ALLOC(places, (size_t)ldl->n, "condensed matrix"));
    for (int i = 0; i < ldl->n; i++)
        ldl->work[i] = -1;
    TalusStatus status = TALUS_ALLOC(half.m.start, (size_t)rhs->rows + 1, "condensed matrix");
    for (int j = 0; status == TALUS_OK && j < rhs->rows; j++)
        status = add_half_row(ldl, rhs, j, factor, places, &half);
    talus_release(places);
    if (status != TALUS_OK)
        talus_sparse_clear(&half.m);
    *out = half.m;
    return status;
}

/* Computes row i of left times right_t: lists the columns of its entries, not sorted, in `columns`, and writes the
 * entries to `sum`, by column. Returns the number of entries. */
static int32_t product_row(const TalusSparse *left, const TalusSparse *right_t, int i, double *sum,
                           int32_t *mark, int32_t *columns)
{
    int32_t count = 0;
    for (int32_t e = left->start[i]; e < left->start[i + 1]; e++) {
        int k = left->column[e];
        double s = left->value[e];
        for (int32_t f = right_t->start[k]; f < right_t->start[k + 1]; f++) {
            int j = right_t->column[f];
            if (mark[j] != i) {
                mark[j] = i;
                columns[count++] = j;
                sum[j] = 0.0;
            }
            sum[j] += s * right_t->value[f];
        }
    }
    return count;
}

/* Work space of multiply_rows, [columns] each, and its result. */
typedef struct Product {
    double *sum;
    int32_t *mark, *columns;
    Half out;
} Product;

/* Computes p->out = left right_t row by row, columns not sorted; allocates the arrays of p. */
static TalusStatus multiply_rows(const TalusSparse *left, const TalusSparse *right_t, Product *p)
{
    size_t n = (size_t)right_t->columns, used = 0;
    TALUS_TRY(TALUS_ALLOC(p->sum, n, "condensed matrix"));
    TALUS_TRY(TALUS_ALLOC(p->mark, n, "condensed matrix"));
    TALUS_TRY(TALUS_ALLOC(p->columns, n, "condensed matrix"));
    TALUS_TRY(TALUS_ALLOC(p->out.m.start, (size_t)left->rows + 1, "condensed matrix"));
    for (size_t j = 0; j < n; j++)
        p->mark[j] = -1;
    for (int i = 0; i < left->rows; i++) {
        size_t count = (size_t)product_row(left, right_t, i, p->sum, p->mark, p->columns);
        if (used + count > INT32_MAX)
            return talus_fail(TALUS_ERR_UNSUPPORTED,
                              "the condensed matrix would have more than %d entries", INT32_MAX);
        TALUS_TRY(TALUS_GROW(p->out.m.column, used + count, used, "condensed matrix"));
        TALUS_TRY(TALUS_GROW(p->out.m.value, used + count, used, "condensed matrix"));
        for (size_t c = 0; c < count; c++) {
            p->out.m.column[used + c] = p->columns[c];
            p->out.m.value[used + c] = p->sum[p->columns[c]];
        }
        used += count;
        p->out.m.start[i + 1] = (int32_t)used;
    }
    return TALUS_OK;
}

/* out = left right'; the rows are sorted by two transpositions. */
static TalusStatus multiply_halves(const TalusSparse *left, const TalusSparse *right,
                                   TalusSparse *out)
{
    TalusSparse right_t, turned = {0};
    Product p = {.out.m = {.rows = left->rows, .columns = right->rows}};
    TALUS_TRY(talus_sparse_transpose(right, &right_t));
    TalusStatus status = multiply_rows(left, &right_t, &p);
    TALUS_THEN(status, talus_sparse_transpose(&p.out.m, &turned));
    TALUS_THEN(status, talus_sparse_transpose(&turned, out));
    talus_sparse_clear(&turned);
    talus_sparse_clear(&p.out.m);
    talus_sparse_clear(&right_t);
    TALUS_RELEASE(p.sum, p.mark, p.columns);
    return status;
}

TalusStatus talus_ldl_condense(TalusLdl *ldl, const TalusSparse *bt, const TalusSparse *ct,
                               TalusSparse *out)
{
    TalusSparse left, right = {0};
    bool same = ldl->symmetric && bt == ct;
    *out = (TalusSparse){0};
    TALUS_TRY(solve_half(ldl, bt, ldl->upper, &left));
    TalusStatus status = same ? TALUS_OK : solve_half(ldl, ct, ldl->lower, &right);
    TALUS_THEN(status, multiply_halves(&left, same ? &left : &right, out));
    talus_sparse_clear(&left);
    talus_sparse_clear(&right);
    return status;
}
