/* The sum by which coloured sweeps stop (backend/cpu/sweep_sum.c): the same in any order, scaled exactly, accurate. */

#include "support/test.h"

#include "backend/cpu/sweep.h"
#include "base/memory.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

enum { TERMS = 3001 };

/* Returns the sum of terms; the largest is what loops would have left in `partial`. */
static double sum_of(const double *x, int n)
{
    const TalusOperator op = {0};
    TalusSweep sweep = {.op = &op};
    double largest = 0.0, sum = NAN;
    if (CHECK_OK(talus_sweep_reserve_terms(&sweep, n))) {
        memcpy(sweep.term, x, (size_t)n * sizeof *x);
        for (int i = 0; i < n; i++) {
            sweep.partial[0] = x[i];
            double found = talus_sweep_largest(&sweep, 1);
            largest = found > largest ? found : largest;
        }
        sum = talus_sweep_sum(&sweep, n, largest);
    }
    TALUS_RELEASE(sweep.term, sweep.partial);
    return sum;
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void fill(double *x, int n, uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    for (int i = 0; i < n; i++)
        x[i] = ldexp(talus_rng_uniform(&rng), -(int)talus_rng_below(&rng, 60));
}

TEST(order_does_not_matter)
{
    static double x[TERMS];
    TalusRng rng = talus_rng_from_seed(1);
    fill(x, TERMS, 2);
    double expected = sum_of(x, TERMS);
    for (int k = 0; k < 20; k++) {
        for (int i = TERMS - 1; i > 0; i--) {
            int j = (int)talus_rng_below(&rng, (uint64_t)i + 1);
            double swap = x[i];
            x[i] = x[j];
            x[j] = swap;
        }
        CHECK(same_bits(sum_of(x, TERMS), expected));
    }
}

TEST(accurate_and_scaled_exactly)
{
    static double x[TERMS], y[TERMS];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        double sum = 0.0, largest = 0.0;
        int power = 40 * (int)seed - 400;
        fill(x, TERMS, seed);
        for (int i = 0; i < TERMS; i++) {
            sum += x[i];
            largest = fmax(largest, x[i]);
            y[i] = ldexp(x[i], power);
        }
        CHECK_NEAR(sum_of(x, TERMS), sum, TERMS * largest * 0x1p-43);
        CHECK(same_bits(sum_of(y, TERMS), ldexp(sum_of(x, TERMS), power)));
    }
}

TEST(corners)
{
    double nan[] = {1.0, NAN, 0.5}, all_nan[] = {NAN, NAN}, infinite[] = {INFINITY, 1.0};
    double zero[] = {0.0, 0.0}, tiny[] = {0x1p-1074, 0.0, 0x1p-1073}, one[] = {0x1.8p-700};
    CHECK(isnan(sum_of(nan, 3)));
    CHECK(isnan(sum_of(all_nan, 2)));
    CHECK(sum_of(infinite, 2) == INFINITY);
    CHECK(same_bits(sum_of(zero, 2), 0.0));
    CHECK(same_bits(sum_of(zero, 0), 0.0));
    CHECK(same_bits(sum_of(tiny, 3), 0x1.8p-1073));
    CHECK(same_bits(sum_of(one, 1), 0x1.8p-700));
}

int main(void)
{
    RUN(order_does_not_matter);
    RUN(accurate_and_scaled_exactly);
    RUN(corners);
    return talus_test_result();
}
