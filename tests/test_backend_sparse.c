/* Products with an explicit matrix (backend/cpu/sparse.c): full 3 x 3 blocks have a loop of their own,
 * any other pattern goes row by row; both are the sum over the entries. */

#include "support/test.h"

#include "backend/cpu/sweep.h"
#include "base/rng.h"
#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 40, NEIGHBOURS = 5, SIZE = 3 * BLOCKS, ENTRIES = SIZE * 3 * NEIGHBOURS };

typedef struct Matrix {
    int32_t start[SIZE + 1], column[ENTRIES];
    double values[ENTRIES], offset[SIZE], mu[BLOCKS];
    int rows;
} Matrix;

/* Block i is coupled to itself and to the next few, around a ring: columns in triples, not sorted. */
static Matrix full_blocks(void)
{
    static Matrix m;
    TalusRng rng = talus_rng_from_seed(5);
    int32_t k = 0;
    memset(&m, 0, sizeof m);
    m.rows = 3;
    for (int row = 0; row < SIZE; row++) {
        m.start[row] = k;
        for (int j = 0; j < (row / 3 % 4 ? NEIGHBOURS : 1); j++)
            for (int c = 0; c < 3; c++, k++) {
                m.column[k] = 3 * ((row / 3 + j) % BLOCKS) + c;
                m.values[k] = talus_rng_uniform(&rng) + (m.column[k] == row ? 5.0 : 0.0);
            }
    }
    m.start[SIZE] = k;
    for (int i = 0; i < BLOCKS; i++)
        m.mu[i] = 0.3;
    return m;
}

static void drop_entry(Matrix *m, int row, int entry)
{
    int32_t k = m->start[row] + entry, rest = m->start[SIZE] - k - 1;
    memmove(m->column + k, m->column + k + 1, (size_t)rest * sizeof *m->column);
    memmove(m->values + k, m->values + k + 1, (size_t)rest * sizeof *m->values);
    for (int r = row + 1; r <= SIZE; r++)
        m->start[r]--;
}

static void check_product(const Matrix *m, bool full)
{
    TalusProblemDef def = {.block_count = SIZE / m->rows,
                           .rows = m->rows,
                           .row_start = m->start,
                           .column = m->column,
                           .values = m->values,
                           .offset = m->offset,
                           .mu = m->mu};
    TalusProblem *problem;
    double x[SIZE], out[SIZE];
    TalusRng rng = talus_rng_from_seed(6);
    for (int i = 0; i < SIZE; i++)
        x[i] = talus_rng_uniform(&rng) - 0.5;
    REQUIRE_OK(talus_problem_create(&def, NULL, &problem));
    CHECK_INT(talus_cpu_has_full_blocks(talus_problem_operator(problem)), full);
    talus_problem_apply(problem, x, out);
    for (int row = 0; row < SIZE; row++) {
        double sum = 0.0;
        for (int32_t k = m->start[row]; k < m->start[row + 1]; k++)
            sum += m->values[k] * x[m->column[k]];
        if (!CHECK_NEAR(out[row], sum, 1e-13))
            printf("    row %d\n", row);
    }
    talus_problem_destroy(problem);
}

TEST(full_blocks_are_the_sum_over_entries)
{
    Matrix m = full_blocks();
    check_product(&m, true);
}

TEST(an_entry_missing)
{
    for (int entry = 0; entry < 3; entry++) {
        Matrix m = full_blocks();
        drop_entry(&m, 3 * 7 + entry, 3 * NEIGHBOURS - 1 - entry);
        check_product(&m, false);
    }
}

/* Three entries out of each row of a block, from `entry[row]` on, `stride` apart. */
static void check_thinned(const int entry[3], int stride)
{
    Matrix m = full_blocks();
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 3; k++)
            drop_entry(&m, 3 * 9 + row, entry[row] + k * (stride - 1));
    check_product(&m, false);
}

TEST(rows_of_a_length_with_other_columns)
{
    check_thinned((const int[]){3, 6, 3}, 1);
    check_thinned((const int[]){3, 3, 6}, 1);
    check_thinned((const int[]){3, 3, 3}, 2);
}

TEST(one_row_per_block)
{
    Matrix m = full_blocks();
    m.rows = 1;
    check_product(&m, false);
}

/* Blocks of one colour are swept at once, so none may read another's impulses: entry (i, j) keeps them
 * apart, whether or not there is (j, i). */
TEST(coupled_blocks_have_different_colours)
{
    Matrix m = full_blocks();
    TalusProblemDef def = {.block_count = BLOCKS,
                           .rows = 3,
                           .row_start = m.start,
                           .column = m.column,
                           .values = m.values,
                           .offset = m.offset,
                           .mu = m.mu};
    TalusSweepOptions options = {.order = TALUS_ORDER_COLOURED, .omega = 1.0, .rho = 1.0};
    TalusProblem *problem;
    TalusSweep *sweep = NULL;
    REQUIRE_OK(talus_problem_create(&def, NULL, &problem));
    REQUIRE_OK(talus_backend_cpu.sweep.prepare(talus_problem_operator(problem), &options,
                                               talus_problem_gamma(problem), &sweep));
    for (int row = 0; row < SIZE; row++)
        for (int32_t k = m.start[row]; k < m.start[row + 1]; k++) {
            int i = row / 3, j = m.column[k] / 3;
            CHECK(i == j || sweep->colouring.class_of[i] != sweep->colouring.class_of[j]);
        }
    talus_backend_cpu.sweep.destroy(sweep);
    talus_problem_destroy(problem);
}

int main(void)
{
    RUN(full_blocks_are_the_sum_over_entries);
    RUN(an_entry_missing);
    RUN(rows_of_a_length_with_other_columns);
    RUN(one_row_per_block);
    RUN(coupled_blocks_have_different_colours);
    return talus_test_result();
}
