/* base/bins.h: a sum is a function of the set of its terms, whatever their order and grouping, and it is accurate. */

#include "random_numbers.h"
#include "support/test.h"

#include "base/bins.h"
#include "base/rng.h"
#include "base/sum.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TERMS = 3000, PARTS = 13 };

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Adds x[0] to x[n - 1] in short sums of at most `most` terms. */
static void add(TalusBinnedSum *s, const double *x, int n, int most)
{
    for (int i = 0; i < n;) {
        TalusShortSum few = {{0}, 0};
        for (int k = 0; k < most && i < n; k++, i++)
            talus_short_sum_add(&few, x[i]);
        talus_binned_sum_add(s, &few);
    }
}

static double sum_of(const double *x, int n)
{
    TalusBinnedSum s = {{0}, 0};
    add(&s, x, n, TALUS_BIN_TERMS);
    return talus_binned_sum_value(&s);
}

/* Deals the terms out to parts at random and sums each part in short sums of random length; merges the parts. */
static double sum_in_parts(const double *x, int n, TalusRng *rng)
{
    static double part[PARTS][TERMS];
    int count[PARTS] = {0};
    TalusBinnedSum merged = {{0}, 0};
    for (int i = n - 1; i >= 0; i--) {
        int p = (int)talus_rng_below(rng, PARTS);
        part[p][count[p]++] = x[i];
    }
    for (int p = 0; p < PARTS; p++) {
        TalusBinnedSum s = {{0}, 0};
        add(&s, part[p], count[p], 1 + (int)talus_rng_below(rng, TALUS_BIN_TERMS));
        talus_binned_sum_merge(&merged, &s);
    }
    return talus_binned_sum_value(&merged);
}

static double largest(const double *x, int n)
{
    double max = 0.0;
    for (int i = 0; i < n; i++)
        max = fmax(max, fabs(x[i]));
    return max;
}

TEST(sums_do_not_depend_on_order_or_grouping)
{
    const int range[][2] = {{0, 1}, {-3, 9}, {-60, 60}, {-1074, -900}, {-1074, 978}, {900, 978}};
    static double x[TERMS];
    TalusRng rng = talus_rng_from_seed(1);
    for (int r = 0; r < 6; r++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            fill(x, TERMS, range[r][0], range[r][1], seed);
            double sum = sum_of(x, TERMS);
            for (int k = 0; k < 5; k++)
                CHECK(same_bits(sum_in_parts(x, TERMS, &rng), sum));
        }
}

TEST(sums_are_accurate)
{
    const int range[][2] = {{0, 1}, {-3, 9}, {-60, 60}, {-1074, -900}, {-500, 500}};
    static double x[TERMS];
    for (int r = 0; r < 5; r++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            fill(x, TERMS, range[r][0], range[r][1], seed);
            double exact = talus_sum_of(x, TERMS), sum = sum_of(x, TERMS);
            double bound = TERMS * 0x1p-78 * largest(x, TERMS) + 0x1p-52 * fabs(exact);
            CHECK(fabs(sum - exact) <= bound);
            if (range[r][1] - range[r][0] <= 12) /* no bit is dropped: rounded once */
                CHECK(same_bits(sum, exact));
        }
}

TEST(few_terms_are_exact)
{
    static double x[TERMS];
    fill(x, TERMS, -1074, 979, 3);
    for (int i = 0; i < TERMS; i++)
        CHECK(same_bits(sum_of(&x[i], 1), x[i]));
    fill(x, TERMS, 0, 25, 4);
    for (int i = 0; i + 1 < TERMS; i++)
        CHECK(same_bits(sum_of(&x[i], 2), x[i] + x[i + 1]));
}

/* Extreme digits: terms whose digits are all as large as digits get. */
TEST(digits_do_not_overflow)
{
    static double x[TERMS];
    for (int t = -1000; t < 900; t += 13) {
        for (int i = 0; i < TERMS; i++)
            x[i] = ldexp(2.0 - DBL_EPSILON, t);
        CHECK(same_bits(sum_of(x, TERMS), talus_sum_of(x, TERMS)));
        for (int i = 0; i < TERMS; i++)
            x[i] = -ldexp(1.0 + 0x1p-26 + 0x1p-52, t);
        CHECK(same_bits(sum_of(x, TERMS), talus_sum_of(x, TERMS)));
    }
}

/* Multiplied by a power of two, terms of like size have the sum multiplied by that power. */
TEST(sums_scale)
{
    static double x[TERMS], y[TERMS];
    for (int shift = -300; shift <= 300; shift += 7) {
        fill(x, TERMS, -12, 12, 9);
        for (int i = 0; i < TERMS; i++)
            y[i] = ldexp(x[i], shift);
        CHECK(same_bits(sum_of(y, TERMS), ldexp(sum_of(x, TERMS), shift)));
    }
}

TEST(sums_that_cancel)
{
    static double x[TERMS];
    fill(x, TERMS / 2, -20, 20, 5);
    for (int i = 0; i < TERMS / 2; i++)
        x[TERMS / 2 + i] = -x[i];
    CHECK(same_bits(sum_of(x, TERMS), 0.0));
    x[17] += 0x1p-30;
    CHECK(same_bits(sum_of(x, TERMS), talus_sum_of(x, TERMS)));
}

TEST(zeros_and_numbers_that_are_not_finite)
{
    double zeros[2] = {-0.0, -0.0}, x[3] = {1.0, INFINITY, 2.0};
    CHECK(same_bits(sum_of(NULL, 0), 0.0));
    CHECK(same_bits(sum_of(zeros, 2), 0.0));
    for (int k = 0; k < 4; k++) {
        const double bad[] = {INFINITY, -INFINITY, NAN, 0x1p979};
        x[1] = bad[k];
        CHECK(isnan(sum_of(x, 3)));
        CHECK(isnan(sum_of(x + 1, 2)));
    }
    x[1] = 0x1p978;
    CHECK(same_bits(sum_of(x, 3), 0x1p978));
}

int main(void)
{
    RUN(sums_do_not_depend_on_order_or_grouping);
    RUN(sums_are_accurate);
    RUN(few_terms_are_exact);
    RUN(digits_do_not_overflow);
    RUN(sums_scale);
    RUN(sums_that_cancel);
    RUN(zeros_and_numbers_that_are_not_finite);
    return talus_test_result();
}
