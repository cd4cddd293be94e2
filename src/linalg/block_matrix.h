/* linalg/block_matrix.h - a sparse matrix of small dense blocks, with a symmetric pattern. */
#ifndef TALUS_LINALG_BLOCK_MATRIX_H
#define TALUS_LINALG_BLOCK_MATRIX_H

#include <talus/base.h>
#include <talus/sparse.h>

typedef struct TalusBlockMatrix {
    int blocks, size; /* block rows; scalar rows of each */
    int32_t *start,
        *column;     /* compressed block rows, columns rising; every diagonal block is present */
    int32_t *mirror; /* index of the entry (j, i), for the entry (i, j) */
    double *value;   /* size x size per entry, by rows */
} TalusBlockMatrix;

/* Creates the matrix A of `a` in blocks of `size` rows, a divisor of a->rows. Blocks are stored where A or A' has an
 * entry and on the diagonal; they are zero where A has none. */
TalusStatus talus_block_matrix_create(const TalusSparse *a, int size, TalusBlockMatrix *out);
void talus_block_matrix_clear(TalusBlockMatrix *a);

/* y = A x + q */
void talus_block_matrix_apply(const TalusBlockMatrix *a, const double *x, const double *q,
                              double *y);

#endif
