/* linalg/product.h - products of dense matrices by rows, in tiles, for the fronts of sparse factors. */
#ifndef TALUS_LINALG_PRODUCT_H
#define TALUS_LINALG_PRODUCT_H

#include "base/lane.h"

#include <stdbool.h>
#include <stddef.h>

/* Size of a tile of the result: rows, and vectors of LANES columns. */
enum { TILE_ROWS = 4, TILE_LANES = 4 };

/* A matrix by rows: entry (i, j) is at[i * stride + j]. */
typedef struct Matrix {
    double *at;
    int stride;
} Matrix;

/* Returns the submatrix that begins at this row and column; entries are shared. */
static Matrix submatrix(Matrix m, int row, int column)
{
    return (Matrix){m.at + (size_t)row * (size_t)m.stride + (size_t)column, m.stride};
}

/* c -= a b, or with `overwrite` c = a b, for a tile of `rows` rows and `lanes` vectors of columns of c. `rows`, `lanes`
 * and `overwrite` are compile-time constants. */
KERNEL void multiply_tile(const int rows, const int lanes, const bool overwrite, int inner,
                          Matrix a, Matrix b, Matrix c)
{
    Lane sum[TILE_ROWS][TILE_LANES];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < lanes; j++)
            sum[i][j] = lane(0.0);
    for (int k = 0; k < inner; k++) {
        Lane y[TILE_LANES];
        for (int j = 0; j < lanes; j++)
            y[j] = lane_load(submatrix(b, k, LANES * j).at);
        for (int i = 0; i < rows; i++) {
            Lane x = lane(*submatrix(a, i, k).at);
            for (int j = 0; j < lanes; j++)
                sum[i][j] += x * y[j];
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < lanes; j++) {
            double *to = submatrix(c, i, LANES * j).at;
            lane_store(to, overwrite ? sum[i][j] : lane_load(to) - sum[i][j]);
        }
}

/* c -= a b, or with `overwrite` c = a b, for one column of c. */
KERNEL void multiply_column(const bool overwrite, int rows, int inner, Matrix a, Matrix b, Matrix c)
{
    for (int i = 0; i < rows; i++) {
        double sum = 0.0, *to = submatrix(c, i, 0).at;
        for (int k = 0; k < inner; k++)
            sum += *submatrix(a, i, k).at * *submatrix(b, k, 0).at;
        *to = overwrite ? sum : *to - sum;
    }
}

/* c -= a b, or with `overwrite` c = a b, for `lanes` vectors of columns of c, tile by tile. */
KERNEL void multiply_strip(const int lanes, const bool overwrite, int rows, int inner, Matrix a,
                           Matrix b, Matrix c)
{
    int i = 0;
    for (; i + TILE_ROWS <= rows; i += TILE_ROWS)
        multiply_tile(TILE_ROWS, lanes, overwrite, inner, submatrix(a, i, 0), b,
                      submatrix(c, i, 0));
    for (; i < rows; i++)
        multiply_tile(1, lanes, overwrite, inner, submatrix(a, i, 0), b, submatrix(c, i, 0));
}

/* c -= a b, or with `overwrite` c = a b; c is `rows` x `columns`, a has `inner` columns. */
KERNEL void multiply_matrices(const bool overwrite, int rows, int columns, int inner, Matrix a,
                              Matrix b, Matrix c)
{
    int j = 0;
    for (; j + LANES * TILE_LANES <= columns; j += LANES * TILE_LANES)
        multiply_strip(TILE_LANES, overwrite, rows, inner, a, submatrix(b, 0, j),
                       submatrix(c, 0, j));
    for (; j + LANES <= columns; j += LANES)
        multiply_strip(1, overwrite, rows, inner, a, submatrix(b, 0, j), submatrix(c, 0, j));
    for (; j < columns; j++)
        multiply_column(overwrite, rows, inner, a, submatrix(b, 0, j), submatrix(c, 0, j));
}

/* c -= a b; c is `rows` x `columns`, a has `inner` columns. */
static inline void subtract_product(int rows, int columns, int inner, Matrix a, Matrix b, Matrix c)
{
    multiply_matrices(false, rows, columns, inner, a, b, c);
}

#endif
