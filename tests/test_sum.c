/* base/sum.h: a sum is a function of the set of its terms, whatever their order and grouping, and it is accurate. */

#include "random_numbers.h"
#include "support/test.h"

#include "base/rng.h"
#include "base/sum.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 Wide;

enum { TERMS = 5000 };

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Returns the sum; checks that the shorter way for few terms gives the same. */
static double sum_of(const double *x, int n)
{
    TalusSum s = {0};
    talus_sum_add(&s, x, n);
    double sum = talus_sum_value(&s), again = talus_sum_of(x, n);
    CHECK(same_bits(sum, again) || (isnan(sum) && isnan(again)));
    return sum;
}

static void shuffle(double *x, int n, TalusRng *rng)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)talus_rng_below(rng, (uint64_t)i + 1);
        double swap = x[i];
        x[i] = x[j];
        x[j] = swap;
    }
}

/* Sums the terms in random groups, merged in random pairs. */
static double sum_in_groups(const double *x, int n, TalusRng *rng)
{
    enum { PARTS = 13 };
    TalusSum part[PARTS];
    memset(part, 0, sizeof part);
    for (int i = 0; i < n;) {
        int length = 1 + (int)talus_rng_below(rng, 400);
        length = length < n - i ? length : n - i;
        talus_sum_add(&part[talus_rng_below(rng, PARTS)], x + i, length);
        i += length;
    }
    for (int left = PARTS; left > 1; left--) {
        int into = (int)talus_rng_below(rng, (uint64_t)left - 1);
        talus_sum_merge(&part[into], &part[left - 1]);
    }
    return talus_sum_value(&part[0]);
}

/* Checks that the sum has the same bits in any order and grouping. */
static bool order_free(double *x, int n, uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    double first = sum_of(x, n);
    bool same = true;
    for (int k = 0; k < 20; k++) {
        shuffle(x, n, &rng);
        same =
            same && same_bits(sum_of(x, n), first) && same_bits(sum_in_groups(x, n, &rng), first);
    }
    return CHECK(same);
}

TEST(order_and_grouping_do_not_matter)
{
    static double x[TERMS];
    const int range[][2] = {{0, 1},        {-3, 3},     {-60, 0},      {-400, 400},
                            {-1022, 1020}, {930, 1000}, {-1022, -950}, {-1074, -1000}};
    for (size_t r = 0; r < sizeof range / sizeof *range; r++)
        for (int n = 2; n <= TERMS; n = n * 3 + 1) {
            fill(x, n, range[r][0], range[r][1], r + 1);
            order_free(x, n, (uint64_t)n);
        }
}

/* A plain sum shows what the test can find. */
TEST(plain_sums_do_depend_on_order)
{
    static double x[TERMS];
    double forward = 0.0, backward = 0.0;
    fill(x, TERMS, -3, 3, 1);
    for (int i = 0; i < TERMS; i++) {
        forward += x[i];
        backward += x[TERMS - 1 - i];
    }
    CHECK(!same_bits(forward, backward));
}

TEST(terms_that_cancel)
{
    double x[] = {1e300, 1.0, -1e300, 0x1p-1074, 3.0, -4.0};
    double y[] = {1e16, 1.0, -1e16};
    order_free(x, 6, 1);
    CHECK(same_bits(sum_of(x, 6), 0x1p-1074));
    CHECK_NEAR(sum_of(y, 3), 1.0, 0.0);
}

/* Each sum is the exact one, rounded: the reference adds integers of 128 bits. */
TEST(exact_and_rounded_once)
{
    static double x[TERMS];
    for (uint64_t seed = 1; seed <= 400; seed++) {
        int n = 1 + (int)(seed * 37 % 300);
        Wide sum = 0;
        fill(x, n, -20, 30, seed);
        for (int i = 0; i < n; i++) {
            x[i] = ldexp(floor(ldexp(x[i], 40)), -40);
            sum += (Wide)ldexp(x[i], 40);
        }
        CHECK(same_bits(sum_of(x, n), ldexp((double)sum, -40)));
    }
}

/* Ties go to the even neighbour, and what is far below decides them. */
TEST(ties)
{
    const double up = 1.0 + 0x1p-52, x[] = {1.0, 0x1p-53, 0x1p-300},
                 y[] = {1.0, 0x1p-53, -0x1p-300};
    const double even[] = {1.0, 0x1p-54, 0x1p-54}, odd[] = {up, 0x1p-54, 0x1p-54};
    CHECK(same_bits(sum_of(x, 3), up));
    CHECK(same_bits(sum_of(y, 3), 1.0));
    CHECK(same_bits(sum_of(even, 3), 1.0));
    CHECK(same_bits(sum_of(odd, 3), 1.0 + 0x1p-51));
    CHECK(same_bits(sum_of(x, 2), 1.0 + 0x1p-53));
}

/* Sums of one and two terms are those of plain addition, and a power of two does not show. */
TEST(as_plain_addition)
{
    double x[7];
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        fill(x, 7, -40, 40, seed);
        double one = sum_of(x, 1), two = sum_of(x, 2), all = sum_of(x, 7);
        CHECK(same_bits(one, x[0]) && same_bits(two, x[0] + x[1]));
        for (int i = 0; i < 7; i++)
            x[i] = ldexp(x[i], (int)(seed % 600) - 300);
        CHECK(same_bits(sum_of(x, 7), ldexp(all, (int)(seed % 600) - 300)));
    }
}

/* The reference is a sum with the errors of its additions (Neumaier). */
TEST(accurate)
{
    static double x[TERMS];
    for (uint64_t seed = 1; seed <= 200; seed++) {
        int low = (int)(seed % 60) - 30, n = 1 + (int)(seed * 37 % TERMS);
        double sum = 0.0, rest = 0.0, largest = 0.0;
        fill(x, n, low, low + 1 + (int)(seed % 7), seed);
        for (int i = 0; i < n; i++) {
            double next = sum + x[i];
            rest += fabs(sum) >= fabs(x[i]) ? (sum - next) + x[i] : (x[i] - next) + sum;
            sum = next;
            largest = fmax(largest, fabs(x[i]));
        }
        double expected = sum + rest, bound = n * largest * 0x1p-80 + fabs(expected) * 0x1p-52;
        CHECK_NEAR(sum_of(x, n), expected, bound);
    }
}

TEST(integers_are_exact)
{
    static double x[TERMS];
    double expected = 0.0;
    TalusRng rng = talus_rng_from_seed(5);
    for (int i = 0; i < TERMS; i++) {
        x[i] = (double)(int32_t)talus_rng_next(&rng);
        expected += x[i]; /* below 2^53 */
    }
    CHECK(same_bits(sum_of(x, TERMS), expected));
}

TEST(zeros_and_no_terms)
{
    const double zeros[] = {-0.0, -0.0, 0.0}, around[] = {-0.0, 2.5, 0.0, -2.5};
    TalusSum empty = {0}, s = {0};
    CHECK(same_bits(sum_of(NULL, 0), 0.0));
    CHECK(same_bits(sum_of(zeros, 3), 0.0));
    CHECK(same_bits(sum_of(zeros, 1), 0.0));
    CHECK(same_bits(sum_of(around, 4), 0.0));
    talus_sum_merge(&s, &empty);
    CHECK(same_bits(talus_sum_value(&s), 0.0));
    talus_sum_add(&s, around + 1, 1);
    talus_sum_merge(&s, &empty);
    talus_sum_merge(&empty, &s);
    CHECK(same_bits(talus_sum_value(&s), 2.5) && same_bits(talus_sum_value(&empty), 2.5));
}

TEST(terms_that_are_not_finite)
{
    double plus[] = {1.0, INFINITY, -1e308}, minus[] = {-INFINITY, 1e308, -INFINITY};
    double both[] = {INFINITY, 1.0, -INFINITY}, nan[] = {1.0, NAN, INFINITY, -0.0, -INFINITY};
    order_free(plus, 3, 1);
    order_free(minus, 3, 2);
    order_free(both, 3, 3);
    order_free(nan, 5, 4);
    CHECK(sum_of(plus, 3) == INFINITY && sum_of(minus, 3) == -INFINITY);
    CHECK(isnan(sum_of(both, 3)) && isnan(sum_of(nan, 5)));
}

/* NaN among many terms, at each place of a vector of four and in the remainder. */
TEST(nan_is_never_lost)
{
    double x[23];
    for (int at = 0; at < 23; at++) {
        fill(x, 23, -2, 2, 9);
        x[at] = at % 2 ? NAN : -NAN;
        CHECK(isnan(sum_of(x, 23)));
    }
}

TEST(the_ends_of_the_range)
{
    double large[] = {DBL_MAX, DBL_MAX, -DBL_MAX, 1e308, 3.0, -DBL_MAX},
           tiny[] = {0x1p-1074, 0x1p-1074, -0x1p-1022};
    double over[] = {DBL_MAX, DBL_MAX};
    order_free(large, 6, 1);
    CHECK_NEAR(sum_of(large, 6), 1e308, 0.0);
    CHECK(sum_of(over, 2) == INFINITY);
    order_free(tiny, 3, 2);
    CHECK(same_bits(sum_of(tiny, 2), 0x1p-1073));
    CHECK(same_bits(sum_of(tiny, 3), 0x1p-1073 - 0x1p-1022));
}

/* Of every exponent. */
TEST(one_term)
{
    TalusRng rng = talus_rng_from_seed(11);
    for (int e = -1074; e < 1023; e++) {
        double x = random_number(&rng, e, e + 1);
        CHECK(same_bits(sum_of(&x, 1), x));
    }
}

/* Digits carry: many large terms of one sign, and sums doubled again and again. */
TEST(many_terms)
{
    enum { N = 1024 };
    static double x[N];
    TalusSum s = {0}, doubled = {0};
    for (int i = 0; i < N; i++)
        x[i] = -(0x1p52 - 1.0);
    for (int k = 0; k < 1 << 14; k++)
        talus_sum_add(&s, x, N);
    CHECK(same_bits(talus_sum_value(&s), -(0x1p76 - 0x1p24)));
    for (int k = 0; k < 20; k++) {
        doubled = s;
        talus_sum_merge(&s, &doubled);
    }
    CHECK(same_bits(talus_sum_value(&s), -(0x1p96 - 0x1p44)));
}

int main(void)
{
    RUN(order_and_grouping_do_not_matter);
    RUN(plain_sums_do_depend_on_order);
    RUN(terms_that_cancel);
    RUN(exact_and_rounded_once);
    RUN(ties);
    RUN(as_plain_addition);
    RUN(accurate);
    RUN(integers_are_exact);
    RUN(zeros_and_no_terms);
    RUN(terms_that_are_not_finite);
    RUN(nan_is_never_lost);
    RUN(the_ends_of_the_range);
    RUN(one_term);
    RUN(many_terms);
    return talus_test_result();
}
