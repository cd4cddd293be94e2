/* linalg/block_matrix.h - a sparse matrix of small dense blocks, with a symmetric pattern. */
#ifndef TALUS_LINALG_BLOCK_MATRIX_H
#define TALUS_LINALG_BLOCK_MATRIX_H

#include <talus/base.h>
#include <talus/sparse.h>

/* A square matrix of blocks. */
typedef struct TalusBlockMatrix {
    int blocks, size; /* number of block rows; scalar rows of each block */
    /* Compressed block rows, columns rising; every diagonal block is present. An entry is a block. */
    int32_t *start, *column;
    int32_t *mirror; /* for each entry (i, j), the index of the entry (j, i) */
    double *value;   /* size x size numbers per entry, by rows */
} TalusBlockMatrix;

/* Creates the matrix A of `a` in blocks of `size` rows, a divisor of a->rows. Blocks are stored where A or A' has an
 * entry, and on the diagonal; a block in which A has no entry is zero. After a failure *out is all zeros. */
TalusStatus talus_block_matrix_create(const TalusSparse *a, int size, TalusBlockMatrix *out);
/* Frees the arrays of a and sets it to zeros. */
void talus_block_matrix_clear(TalusBlockMatrix *a);

/* y = A x + q; y must not be x. */
void talus_block_matrix_apply(const TalusBlockMatrix *a, const double *x, const double *q,
                              double *y);

#endif
