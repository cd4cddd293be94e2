/* solvers/multigrid/amg_galerkin.c - the coarse matrix P'AP, as two products of sparse matrices. */
#include "solvers/multigrid/amg.h"

#include "base/memory.h"
#include "base/status.h"

/* Returns the number of entries of A B and adds the number of multiplications to *cost. mark[column] must be 0 for
 * every column of B, and is overwritten. */
static size_t count_product_entries(const TalusSparse *a, const TalusSparse *b, int32_t *mark,
                                    double *cost)
{
    size_t entries = 0;
    for (int i = 0; i < a->rows; i++)
        for (int32_t k = a->start[i]; k < a->start[i + 1]; k++)
            for (int32_t m = b->start[a->column[k]]; m < b->start[a->column[k] + 1]; m++) {
                *cost += 1.0;
                if (mark[b->column[m]] != i + 1) {
                    mark[b->column[m]] = i + 1;
                    entries++;
                }
            }
    return entries;
}

/* Fills starts, columns and values of `out` = A B, whose values must be 0. mark[column]: index of the last entry of
 * that column in `out`; the entry is of the current row if the index is at least the row's start. */
static void fill_product(const TalusSparse *a, const TalusSparse *b, int32_t *mark,
                         TalusSparse *out)
{
    int32_t end = 0;
    for (int j = 0; j < b->columns; j++)
        mark[j] = -1;
    for (int i = 0; i < a->rows; i++) {
        for (int32_t k = a->start[i]; k < a->start[i + 1]; k++)
            for (int32_t m = b->start[a->column[k]]; m < b->start[a->column[k] + 1]; m++) {
                int32_t *at = &mark[b->column[m]];
                if (*at < out->start[i]) {
                    *at = end;
                    out->column[end++] = b->column[m];
                }
                out->value[*at] += a->value[k] * b->value[m];
            }
        out->start[i + 1] = end;
    }
}

/* out = A B, columns in any order; whatever *out held is not released. Adds the number of multiplications to *cost. */
static TalusStatus multiply_sparse(const TalusSparse *a, const TalusSparse *b, TalusSparse *out,
                                   double *cost)
{
    int32_t *mark;
    *out = (TalusSparse){0};
    TALUS_TRY(TALUS_ALLOC(mark, (size_t)b->columns, "coarse matrix"));
    size_t entries = count_product_entries(a, b, mark, cost);
    TalusStatus status = talus_sparse_alloc(out, a->rows, b->columns, entries, "coarse matrix");
    if (status == TALUS_OK)
        fill_product(a, b, mark, out);
    talus_release(mark);
    return status;
}

/* The product P'(A P) has its columns in any order. Its transpose, which is the same matrix as A is symmetric, has them
 * in rising order. */
TalusStatus talus_amg_coarse_matrix(const TalusSparse *a, const TalusSparse *p, TalusSparse *out,
                                    double *cost)
{
    TalusSparse ap = {0}, pt = {0}, product = {0};
    *out = (TalusSparse){0};
    TalusStatus status = multiply_sparse(a, p, &ap, cost);
    TALUS_THEN(status, talus_sparse_transpose(p, &pt));
    TALUS_THEN(status, multiply_sparse(&pt, &ap, &product, cost));
    TALUS_THEN(status, talus_sparse_transpose(&product, out));
    talus_sparse_clear(&ap);
    talus_sparse_clear(&pt);
    talus_sparse_clear(&product);
    return status;
}
