/* backend/cpu/sparse.c - products with an explicit matrix.
 *
 * In a contact problem with friction the entries of N usually come in full 3 x 3 blocks: the three rows of a block have
 * the same columns, in triples. Then only one column index in nine has to be read, and both lanes are used. If some
 * rows have another pattern, all products go row by row. */
#include "backend/cpu/cpu.h"
#include "base/lane.h"

/* True if the three rows at start[0..3] have the same columns, in triples of neighbours. */
static bool has_full_row(const TalusOperator *op, const int32_t *start)
{
    const int32_t *column = op->column + start[0];
    int n = start[1] - start[0];
    if (n % 3 || start[2] - start[1] != n || start[3] - start[2] != n)
        return false;
    for (int k = 0; k < n; k++)
        if (column[k] != column[k - k % 3] + k % 3 || column[k] != column[k + n] ||
            column[k] != column[k + 2 * n])
            return false;
    return true;
}

bool talus_cpu_has_full_blocks(const TalusOperator *op)
{
    for (int i = 0; i < op->blocks; i++)
        if (op->rows != 3 || !has_full_row(op, op->row_start + 3 * i))
            return false;
    return true;
}

/* out[3] = product of x with three rows of n entries each, at values, values + n and values + 2 n. A row sums its
 * first, second and third columns of all triples apart and adds the three sums. */
static void full_product(const int32_t *column, const double *values, int n, const double *x,
                         double *out)
{
    const double *row[3] = {values, values + n, values + 2 * n};
    Lane pairs[3] = {lane(0.0), lane(0.0), lane(0.0)};
    double third[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < n; k += 3) {
        const double *y = x + column[k];
        for (int r = 0; r < 3; r++) {
            pairs[r] += lane_load(row[r] + k) * lane_load(y);
            third[r] += row[r][k + 2] * y[2];
        }
    }
    for (int r = 0; r < 3; r++)
        out[r] = pairs[r][0] + pairs[r][1] + third[r];
}

/* Returns row `row` of N times x. */
static double row_product(const TalusOperator *op, const double *x, int row)
{
    double sum = 0.0;
    for (int32_t k = op->row_start[row]; k < op->row_start[row + 1]; k++)
        sum += op->values[k] * x[op->column[k]];
    return sum;
}

void talus_cpu_sparse_product(const TalusOperator *op, const double *x, int begin, int end,
                              double *out)
{
    if (!op->scratch->full_blocks) {
        for (int row = begin * op->rows; row < end * op->rows; row++)
            *out++ = row_product(op, x, row);
        return;
    }
    for (int i = begin; i < end; i++, out += 3) {
        const int32_t *start = op->row_start + 3 * i;
        full_product(op->column + start[0], op->values + start[0], start[1] - start[0], x, out);
    }
}
