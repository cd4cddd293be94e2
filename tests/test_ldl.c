/* The sparse factorisation: against dense elimination, with and without symmetry, and with a rule
 * for pivots that vanish. */
#include "support/dense.h"
#include "support/test.h"

#include "base/rng.h"
#include "linalg/ldl.h"
#include "linalg/sparse.h"

#include <math.h>
#include <string.h>

enum { MOST = 60 };

static TalusRng rng;

static double uniform(void)
{
    return 2.0 * talus_rng_uniform(&rng) - 1.0;
}

/* ---- dense copies ---- */

static TalusSparse to_sparse(int rows, int columns, double a[MOST][MOST])
{
    int32_t row[MOST * MOST], column[MOST * MOST];
    double value[MOST * MOST];
    size_t count = 0;
    for (int j = columns - 1; j >= 0; j--) /* the order must not matter */
        for (int i = 0; i < rows; i++)
            if (a[i][j] != 0.0) {
                row[count] = i;
                column[count] = j;
                value[count++] = a[i][j];
            }
    TalusSparse out;
    CHECK_OK(talus_sparse_from_triplets(&(TalusTriplets){rows, columns, count, row, column, value},
                                        &out, "test"));
    return out;
}

/* Diagonally dominant, few entries; a skew part is added unless symmetric. */
static void fill(int n, bool symmetric, double a[MOST][MOST])
{
    memset(a, 0, sizeof(double[MOST][MOST]));
    for (int i = 0; i < n; i++)
        a[i][i] = 0.5;
    for (int k = 0; k < 2 * n; k++) {
        int i = (int)talus_rng_below(&rng, (uint64_t)n),
            j = (int)talus_rng_below(&rng, (uint64_t)n);
        double x = uniform(), skew = symmetric ? 0.0 : uniform();
        if (i == j)
            continue;
        a[i][j] += x + skew;
        a[j][i] += x - skew;
        a[i][i] += fabs(x) + (symmetric ? 0.0 : 1e-3);
        a[j][j] += fabs(x);
    }
}

static void check_solve(int n, bool symmetric)
{
    static TalusLdl ldl; /* one object for all: memory is kept and grows */
    double a[MOST][MOST], copy[MOST][MOST], x[MOST], y[MOST];
    fill(n, symmetric, a);
    TalusSparse sparse = to_sparse(n, n, a), transposed;
    REQUIRE_OK(talus_sparse_transpose(&sparse, &transposed));
    CHECK(talus_sparse_equal(&sparse, &transposed) == symmetric || n < 4);
    const TalusSparse *t = symmetric ? NULL : &transposed;
    REQUIRE_OK(talus_ldl_analyse(&ldl, &sparse, t));
    REQUIRE_OK(talus_ldl_factor(&ldl, &sparse, t, &(TalusPivots){0}));
    for (int again = 0; again < 2; again++) { /* the second solve finds clean work space */
        for (int i = 0; i < n; i++)
            x[i] = y[i] = uniform();
        talus_ldl_solve(&ldl, x);
        memcpy(copy, a, sizeof copy);
        solve_dense(n, &copy[0][0], MOST, y);
        for (int i = 0; i < n; i++)
            CHECK_NEAR(x[i], y[i], 1e-12);
    }
    talus_sparse_clear(&sparse);
    talus_sparse_clear(&transposed);
    if (n == 0)
        talus_ldl_clear(&ldl);
}

TEST(solves)
{
    rng = talus_rng_from_seed(1);
    for (int n = 1; n <= MOST; n += 7) {
        check_solve(n, true);
        check_solve(n, false);
    }
    check_solve(3, true);
    check_solve(0, true);
}

/* ---- the form ---- */

static void check_form(bool symmetric)
{
    enum { N = 40, B = 9, C = 14 };
    double a[MOST][MOST], copy[MOST][MOST], b[MOST][MOST] = {{0}}, c[MOST][MOST] = {{0}};
    TalusLdl ldl = {0};
    fill(N, symmetric, a);
    for (int k = 0; k < N; k++) {
        b[(int)talus_rng_below(&rng, B)][(int)talus_rng_below(&rng, N)] = uniform();
        c[(int)talus_rng_below(&rng, C)][(int)talus_rng_below(&rng, N)] = uniform();
    }
    TalusSparse sparse = to_sparse(N, N, a), transposed, out, square;
    TalusSparse bt = to_sparse(B, N, b), ct = to_sparse(C, N, c);
    REQUIRE_OK(talus_sparse_transpose(&sparse, &transposed));
    const TalusSparse *t = symmetric ? NULL : &transposed;
    REQUIRE_OK(talus_ldl_analyse(&ldl, &sparse, t));
    REQUIRE_OK(talus_ldl_factor(&ldl, &sparse, t, &(TalusPivots){0}));
    REQUIRE_OK(talus_ldl_condense(&ldl, &bt, &ct, &out));
    double dense[B][C] = {{0}};
    for (int i = 0; i < B; i++)
        for (int32_t k = out.start[i]; k < out.start[i + 1]; k++) {
            CHECK(k == out.start[i] || out.column[k] > out.column[k - 1]);
            dense[i][out.column[k]] = out.value[k];
        }
    for (int j = 0; j < C; j++) {
        double x[MOST] = {0};
        memcpy(x, c[j], N * sizeof *x);
        memcpy(copy, a, sizeof copy);
        solve_dense(N, &copy[0][0], MOST, x);
        for (int i = 0; i < B; i++) {
            double sum = 0.0;
            for (int k = 0; k < N; k++)
                sum += b[i][k] * x[k];
            CHECK_NEAR(dense[i][j], sum, 1e-12);
        }
    }
    REQUIRE_OK(talus_ldl_condense(&ldl, &bt, &bt, &square));
    TalusSparse square_t;
    REQUIRE_OK(talus_sparse_transpose(&square, &square_t));
    CHECK(talus_sparse_equal(&square, &square_t) == symmetric);
    TalusSparse *const all[] = {&sparse, &transposed, &out, &square, &square_t, &bt, &ct};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        talus_sparse_clear(all[k]);
    talus_ldl_clear(&ldl);
}

TEST(forms)
{
    rng = talus_rng_from_seed(2);
    check_form(true);
    check_form(false);
}

/* ---- pivots ---- */

/* Two chains of springs that hang on nothing: one zero pivot each. */
TEST(vanishing_pivots_are_replaced)
{
    enum { N = 20 };
    double a[MOST][MOST] = {{0}};
    TalusLdl ldl = {0};
    for (int i = 0; i + 1 < N; i++) {
        if (i == 9)
            continue;
        a[i][i] += 1.0;
        a[i + 1][i + 1] += 1.0;
        a[i][i + 1] = a[i + 1][i] = -1.0;
    }
    TalusSparse sparse = to_sparse(N, N, a);
    REQUIRE_OK(talus_ldl_analyse(&ldl, &sparse, NULL));
    CHECK_INT(talus_ldl_fill(&ldl), N - 2);
    CHECK_INT(talus_ldl_factor(&ldl, &sparse, NULL, &(TalusPivots){.relative = 1e-12}),
              TALUS_ERR_NUMERIC);
    CHECK(ldl.failed >= 0 && ldl.failed < N);
    REQUIRE_OK(talus_ldl_factor(&ldl, &sparse, NULL,
                                &(TalusPivots){.relative = 1e-12, .replacement = 0.25}));
    CHECK_INT(ldl.replaced, 2);
    CHECK_INT(ldl.failed, -1);
    /* What the rule factored is A with 0.25 added where a pivot vanished: a residual that is a
     * constant on each chain is left, and solving twice must give the same. */
    double x[N], y[N], sums[2] = {0.0, 0.0};
    for (int i = 0; i < N; i++)
        x[i] = y[i] = uniform();
    talus_ldl_solve(&ldl, x);
    talus_sparse_add_product(&sparse, -1.0, x, y);
    for (int i = 0; i < N; i++)
        sums[i >= 10] += y[i] != 0.0 && fabs(y[i]) > 1e-12;
    CHECK(sums[0] == 1.0 && sums[1] == 1.0);
    talus_sparse_clear(&sparse);
    talus_ldl_clear(&ldl);
}

TEST(indefinite_matrices_are_refused)
{
    double a[MOST][MOST] = {{2.0, 0.0, 3.0}, {0.0, 1.0, 0.0}, {3.0, 0.0, 2.0}};
    TalusLdl ldl = {0};
    TalusSparse sparse = to_sparse(3, 3, a);
    REQUIRE_OK(talus_ldl_analyse(&ldl, &sparse, NULL));
    CHECK_INT(talus_ldl_factor(&ldl, &sparse, NULL, &(TalusPivots){0}), TALUS_ERR_NUMERIC);
    CHECK(ldl.failed == 0 || ldl.failed == 2);
    sparse.value[0] = sparse.value[talus_sparse_entries(&sparse) - 1] = 4.0;
    CHECK_OK(talus_ldl_factor(&ldl, &sparse, NULL, &(TalusPivots){0}));
    talus_sparse_clear(&sparse);
    talus_ldl_clear(&ldl);
}

/* An LU that ignores rank: only a pivot of exactly 0 is replaced. */
TEST(pivots_of_any_sign_are_kept_on_request)
{
    const TalusPivots zeros = {.replacement = 0.25, .zeros_only = true};
    double a[MOST][MOST] = {{2.0, 0.0, 3.0}, {0.0, 1.0, 0.0}, {3.0, 0.0, 2.0}};
    TalusLdl ldl = {0};
    TalusSparse sparse = to_sparse(3, 3, a);
    REQUIRE_OK(talus_ldl_analyse(&ldl, &sparse, &sparse));
    REQUIRE_OK(talus_ldl_factor(&ldl, &sparse, &sparse, &zeros));
    CHECK_INT(ldl.replaced, 0);
    CHECK(fmin(ldl.pivot[0], fmin(ldl.pivot[1], ldl.pivot[2])) == -2.5);
    double x[3] = {8.0, 5.0, 7.0}; /* A (1, 5, 2) */
    talus_ldl_solve(&ldl, x);
    CHECK_NEAR(x[0], 1.0, 1e-14);
    CHECK_NEAR(x[1], 5.0, 1e-14);
    CHECK_NEAR(x[2], 2.0, 1e-14);
    for (int i = 0; i < talus_sparse_entries(&sparse); i++)
        sparse.value[i] = 1.0; /* the block of rows 0 and 2 becomes singular */
    REQUIRE_OK(talus_ldl_factor(&ldl, &sparse, &sparse, &zeros));
    CHECK_INT(ldl.replaced, 1);
    CHECK_INT(talus_ldl_factor(&ldl, &sparse, &sparse, &(TalusPivots){.zeros_only = true}),
              TALUS_ERR_NUMERIC);
    talus_sparse_clear(&sparse);
    talus_ldl_clear(&ldl);
}

/* Known from the analysis, before memory is asked for. */
TEST(a_factor_that_fills_in_is_refused)
{
    double a[MOST][MOST] = {{4.0, 1.0, 1.0}, {1.0, 4.0, 1.0}, {1.0, 1.0, 4.0}};
    TalusLdl ldl = {0};
    TalusSparse sparse = to_sparse(3, 3, a);
    REQUIRE_OK(talus_ldl_analyse(&ldl, &sparse, NULL));
    CHECK_INT(talus_ldl_factor(&ldl, &sparse, NULL, &(TalusPivots){.max_entries = 2.0}),
              TALUS_ERR_UNSUPPORTED);
    CHECK(ldl.lower == NULL);
    CHECK_OK(talus_ldl_factor(&ldl, &sparse, NULL, &(TalusPivots){.max_entries = 3.0}));
    talus_sparse_clear(&sparse);
    talus_ldl_clear(&ldl);
}

/* ---- triplets ---- */

TEST(duplicates_are_summed)
{
    const int32_t row[] = {1, 0, 1, 1}, column[] = {2, 0, 0, 2};
    const double value[] = {1.0, 2.0, 3.0, 0.5};
    TalusSparse a;
    REQUIRE_OK(talus_sparse_from_triplets(&(TalusTriplets){2, 3, 4, row, column, value}, &a, "a"));
    CHECK_INT(talus_sparse_entries(&a), 3);
    CHECK(a.start[1] == 1 && a.column[0] == 0 && a.column[1] == 0 && a.column[2] == 2);
    CHECK(a.value[0] == 2.0 && a.value[1] == 3.0 && a.value[2] == 1.5);
    double x[3] = {1.0, 1.0, 2.0}, y[2] = {0.0, 0.0}, z[3] = {0.0, 0.0, 0.0};
    talus_sparse_add_product(&a, 1.0, x, y);
    CHECK(y[0] == 2.0 && y[1] == 6.0);
    talus_sparse_add_transposed_product(&a, 2.0, y, z);
    CHECK(z[0] == 44.0 && z[1] == 0.0 && z[2] == 18.0);
    talus_sparse_clear(&a);
}

int main(void)
{
    RUN(solves);
    RUN(forms);
    RUN(vanishing_pivots_are_replaced);
    RUN(indefinite_matrices_are_refused);
    RUN(pivots_of_any_sign_are_kept_on_request);
    RUN(a_factor_that_fills_in_is_refused);
    RUN(duplicates_are_summed);
    return talus_test_result();
}
