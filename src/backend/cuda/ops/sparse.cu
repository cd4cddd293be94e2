/* backend/cuda/ops/sparse.cu - products with an explicit matrix.
 *
 * A block of threads has as many rows as threads; their entries are consecutive in memory. The block multiplies PIECE
 * entries at a time with x, by coalesced reads, into shared memory; then each thread adds those of its own row, in
 * order. Per entry 12 B and one number of x, 2 flop. */
#include "backend/cuda/ops/operator.h"

#ifdef TALUS_EMULATED
enum { MATRIX_THREADS = 8, PIECE = 50 };
#else
enum { MATRIX_THREADS = 128, PIECE = 1024 };
#endif

/* out = N x, plus offset if that is not NULL. */
static __global__ void matrix_product(int rows, const int32_t *row_start, const int32_t *column,
                                      const double *values, const double *x, const double *offset,
                                      double *out)
{
    __shared__ double piece[PIECE];
    int first = (int)blockIdx.x * MATRIX_THREADS, row = first + (int)threadIdx.x;
    int last = first + MATRIX_THREADS < rows ? first + MATRIX_THREADS : rows;
    int32_t mine = row < rows ? row_start[row] : 0, mine_end = row < rows ? row_start[row + 1] : 0;
    double sum = 0.0;
    for (int32_t begin = row_start[first], end; begin < row_start[last]; begin = end) {
        end = row_start[last] - begin > PIECE ? begin + PIECE : row_start[last];
        for (int32_t k = begin + (int)threadIdx.x; k < end; k += MATRIX_THREADS)
            piece[k - begin] = values[k] * x[column[k]];
        __syncthreads();
        for (; mine < mine_end && mine < end; mine++)
            sum += piece[mine - begin];
        __syncthreads();
    }
    if (row < rows)
        out[row] = offset ? sum + offset[row] : sum;
}

void cu_matrix_product(const TalusOperator *op, const double *x, bool offset, double *out)
{
    int rows = op->rows * op->blocks;
    launch_block(cu_context_of(op), matrix_product, blocks_for(rows, MATRIX_THREADS),
                 MATRIX_THREADS, rows, op->row_start, op->column, op->values, x,
                 offset ? op->offset : nullptr, out);
}
