/* linalg/sparse.h - sparse matrices: allocation, conversion, products, submatrices. */
#ifndef TALUS_LINALG_SPARSE_H
#define TALUS_LINALG_SPARSE_H

#include <talus/base.h>
#include <talus/sparse.h>

/* Entries in any order; duplicates are summed in the order given. */
typedef struct TalusTriplets {
    int rows, columns;           /* of the matrix */
    size_t count;                /* number of entries */
    const int32_t *row, *column; /* [count]: indices from 0 */
    const double *value;         /* [count] */
} TalusTriplets;

/* Allocates a matrix with `entries` entries, at most INT32_MAX (else TALUS_ERR_UNSUPPORTED); start, column and value
 * are all zero. `what` names the matrix in messages. The old content of *out is not released; after a failure *out has
 * no arrays. The same holds for the functions below that make a matrix. */
TalusStatus talus_sparse_alloc(TalusSparse *out, int rows, int columns, size_t entries,
                               const char *what);
/* Frees the arrays of a and sets it to zeros. */
void talus_sparse_clear(TalusSparse *a);
/* Returns the number of entries. */
int32_t talus_sparse_entries(const TalusSparse *a);
/* Returns the index of the diagonal entry of a row; -1: none. */
int32_t talus_sparse_diagonal(const TalusSparse *a, int row);

/* Makes the matrix of the triplets, columns of each row rising. */
TalusStatus talus_sparse_from_triplets(const TalusTriplets *t, TalusSparse *out, const char *what);
/* Sets `out` to A', with the columns of each row sorted; columns of `a` may be in any order. */
TalusStatus talus_sparse_transpose(const TalusSparse *a, TalusSparse *out);

/* y += s A x. */
void talus_sparse_add_product(const TalusSparse *a, double s, const double *x, double *y);
/* y += s A' x. */
void talus_sparse_add_transposed_product(const TalusSparse *a, double s, const double *x,
                                         double *y);

/* Writes to `out` the submatrix of `a` of the `count` rows and columns listed in `row`, with diagonal entries
 * multiplied by 1 + regularise. position[row[i]] must be i, and -1 elsewhere; the arrays of `out` must be as large as
 * those of `a`, with start[0] = 0. Columns rise in `out` if they do in `a` and `row` rises. Returns the largest
 * diagonal entry before this factor; 0 if none is positive. */
double talus_sparse_extract(const TalusSparse *a, const int32_t *position, const int32_t *row,
                            int count, double regularise, TalusSparse *out);

/* True if `a` and `t` have bitwise the same pattern and values; with t = A' a test of symmetry. */
bool talus_sparse_equal(const TalusSparse *a, const TalusSparse *t);

#endif
