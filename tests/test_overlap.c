/* Overlaps of contacts under load: the histogram of their 99th percentile, and worlds on the cpu. */
#include "overlap_cases.h"

#include "engine/overlap.h"

TEST(bins_are_sixteenths_of_an_octave)
{
    int last = -1;
    for (double x = 0x1p-30; x < 4.0; x *= 1.0 + 0x1p-6) {
        int bin = talus_overlap_bin(x);
        double end = talus_overlap_bin_end(bin);
        CHECK(bin == last || bin == last + 1);
        CHECK(x < end && end <= x * 17.0 / 16.0);
        CHECK_INT(talus_overlap_bin(end), bin < TALUS_OVERLAP_BINS - 1 ? bin + 1 : bin);
        last = bin;
    }
    CHECK_INT(last, TALUS_OVERLAP_BINS - 1);
    CHECK_INT(talus_overlap_bin(0.0), 0);
    CHECK_INT(talus_overlap_bin(1e-300), 0);
    CHECK_INT(talus_overlap_bin(1e300), TALUS_OVERLAP_BINS - 1);
    CHECK_INT(talus_overlap_bin(INFINITY), TALUS_OVERLAP_BINS - 1);
}

/* Overlaps over six decades: the percentile is that of the sorted list, up to a bin. */
TEST(percentile_is_within_a_bin)
{
    enum { MANY = 5000 };
    static double x[MANY];
    TalusRng rng = talus_rng_from_seed(3);
    for (int n = 1; n <= MANY; n = n < 300 ? n + 1 : 3 * n) {
        int64_t count[TALUS_OVERLAP_BINS] = {0};
        double sum = 0.0;
        for (int i = 0; i < n; i++) {
            x[i] = pow(10.0, -6.0 * talus_rng_uniform(&rng));
            count[talus_overlap_bin(x[i])]++;
            sum += x[i];
        }
        qsort(x, (size_t)n, sizeof *x, by_size);
        TalusEngineOverlap o = talus_overlap_summary(count, sum, x[n - 1]);
        double exact = x[n - 1 - n / 100];
        CHECK(o.p99 >= exact && o.p99 <= exact * 17.0 / 16.0);
        CHECK(o.p99 <= o.max && (n >= 100 || o.p99 == o.max));
        CHECK(o.loaded == n && o.mean == sum / n && o.max == x[n - 1]);
    }
}

TEST(percentile_of_extremes)
{
    int64_t count[TALUS_OVERLAP_BINS] = {0};
    CHECK(talus_overlap_p99(count, 0.0) == 0.0);
    count[TALUS_OVERLAP_BINS - 1] = 1000; /* all beyond the bins */
    CHECK(talus_overlap_p99(count, 1e9) == 1e9);
    count[0] = 99000; /* exactly one in a hundred is deep */
    CHECK(talus_overlap_p99(count, 1e9) == talus_overlap_bin_end(0));
    count[0]--;
    CHECK(talus_overlap_p99(count, 1e9) == 1e9);
    count[TALUS_OVERLAP_BINS - 1] = 0;
    CHECK(talus_overlap_p99(count, 0.0) == 0.0);
}

/* More contacts than 32 bits count, as several ranks may have. */
TEST(many_overlaps_are_counted)
{
    int64_t count[TALUS_OVERLAP_BINS] = {0};
    count[0] = INT64_C(5940000000);
    count[TALUS_OVERLAP_BINS - 1] = INT64_C(60000000);
    const TalusEngineOverlap o = talus_overlap_summary(count, 1.5e9, 8.0);
    CHECK_INT(o.loaded, INT64_C(6000000000));
    CHECK(o.mean == 0.25 && o.p99 == talus_overlap_bin_end(0) && o.max == 8.0);
}

int main(void)
{
    RUN(bins_are_sixteenths_of_an_octave);
    RUN(percentile_is_within_a_bin);
    RUN(percentile_of_extremes);
    RUN(many_overlaps_are_counted);
    run_overlap_cases();
    return talus_test_result();
}
