/* Distributions of sizes: curves against libm, drawn sizes against their curves, by number and by mass. */
#include "world/source/sizes.h"

#include "base/hash.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 100000 };
static double drawn[MANY];

static TalusSizeDef make(TalusSizeKind kind)
{
    TalusSizeDef def = talus_size_def_default();
    def.kind = kind;
    return def;
}

static TalusSizeDef normal(double mean, double deviation)
{
    TalusSizeDef def = make(TALUS_SIZES_NORMAL);
    def.mean = mean;
    def.deviation = deviation;
    return def;
}

static TalusSizeDef lognormal(double median, double deviation)
{
    TalusSizeDef def = make(TALUS_SIZES_LOGNORMAL);
    def.median = median;
    def.deviation = deviation;
    return def;
}

static TalusSizeDef weibull(double scale, double exponent)
{
    TalusSizeDef def = make(TALUS_SIZES_WEIBULL);
    def.scale = scale;
    def.exponent = exponent;
    return def;
}

static const double grading[] = {0.001, 0, 0.002, 0.1, 0.004, 0.35, 0.006, 0.8, 0.01, 1};
enum { SIEVES = 5 };

static TalusSizeDef sieve(bool by_mass)
{
    TalusSizeDef def = make(TALUS_SIZES_SIEVE);
    def.by_mass = by_mass;
    def.sieve = grading;
    def.sieve_count = SIEVES;
    return def;
}

/* ---- curves ---- */

/* Share below r by libm, before the cut. */
static double exact_share(const TalusSizeDef *d, double r)
{
    switch (d->kind) {
    case TALUS_SIZES_NORMAL: return 0.5 * erfc((d->mean - r) / (d->deviation * sqrt(2.0)));
    case TALUS_SIZES_LOGNORMAL: return 0.5 * erfc(-log(r / d->median) / (d->deviation * sqrt(2.0)));
    default: return -expm1(-pow(r / d->scale, d->exponent));
    }
}

/* Compares shares at all edges with those of the exact distribution between min and max. */
static void check_curve(TalusSizeDef def)
{
    TalusSizeCurve c;
    double error = 0.0, falls = 0.0;
    REQUIRE_OK(talus_size_curve_make(&def, &c));
    double first = exact_share(&def, c.edge[0]), all = exact_share(&def, c.edge[c.classes]) - first;
    for (int i = 0; i <= c.classes; i++)
        error = fmax(error, fabs(c.below[i] - (exact_share(&def, c.edge[i]) - first) / all));
    for (int i = 0; i < c.classes; i++)
        falls = fmax(falls, c.below[i] - c.below[i + 1]);
    CHECK(error < 1e-12);
    CHECK(falls == 0.0);
    talus_size_curve_clear(&c);
}

TEST(curves_are_exact_at_their_edges)
{
    check_curve(normal(1.0, 0.1));
    check_curve(normal(0.003, 0.0009));
    check_curve(lognormal(0.5, 0.6));
    check_curve(weibull(2.0, 3.5));
    check_curve(weibull(0.01, 0.8));
    TalusSizeDef cut = normal(1.0, 0.4);
    cut.min = 0.2;
    cut.max = 5.0;
    check_curve(cut);
    cut = weibull(1.0, 2.0);
    cut.min = 0.001;
    check_curve(cut);
}

TEST(a_thousandth_is_cut_off_on_either_side)
{
    TalusSizeDef defs[] = {normal(1.0, 0.2), lognormal(2.0, 0.3), weibull(1.0, 2.0)};
    for (int i = 0; i < 3; i++) {
        TalusSizeRange range;
        REQUIRE_OK(talus_sizes_range(&defs[i], &range));
        CHECK_NEAR(exact_share(&defs[i], range.min), 0.001, 1e-12);
        CHECK_NEAR(exact_share(&defs[i], range.max), 0.999, 1e-12);
    }
}

/* Of a log-normal distribution by mass the numbers are log-normal, too, about the median exp(-3 deviation^2) times that by
 * mass (Hatch and Choate 1929). */
TEST(lognormal_by_mass_is_lognormal_by_number)
{
    TalusSizeDef by_mass = lognormal(1.0, 0.4), by_number = lognormal(exp(-3.0 * 0.16), 0.4);
    TalusSizeCurve m, n;
    double error = 0.0;
    by_mass.by_mass = true;
    by_mass.min = by_number.min = 0.2;
    by_mass.max = by_number.max = 2.0;
    REQUIRE_OK(talus_size_curve_make(&by_mass, &m));
    REQUIRE_OK(talus_size_curve_make(&by_number, &n));
    for (int i = 0; i < 1000; i++) {
        double a = talus_size_curve_quantile(&m, i / 1000.0);
        error = fmax(error, fabs(talus_size_curve_quantile(&n, i / 1000.0) / a - 1.0));
    }
    CHECK(error < 2e-5);
    talus_size_curve_clear(&m);
    talus_size_curve_clear(&n);
}

TEST(uniform_sizes_keep_their_formula)
{
    TalusSizeDef def = make(TALUS_SIZES_UNIFORM);
    TalusSizeCurve c;
    def.min = 0.02;
    def.max = 0.05;
    REQUIRE_OK(talus_size_curve_make(&def, &c));
    for (int i = 0; i < 1000; i++) {
        double u = i * 0.000999;
        CHECK(talus_size_curve_quantile(&c, u) == 0.02 + (0.05 - 0.02) * u);
    }
    talus_size_curve_clear(&c);
    def.max = 0.02;
    def.by_mass = true;
    REQUIRE_OK(talus_sizes_draw(&def, 1, 0, 100, drawn));
    for (int i = 0; i < 100; i++)
        CHECK(drawn[i] == 0.02);
}

/* ---- drawn sizes ---- */

/* Share of the bodies, weighed by size^power, that are smaller than r; *band: four standard deviations of it. */
static double share_below(double r, double power, double *band)
{
    double all = 0.0, below = 0.0, square = 0.0;
    for (int i = 0; i < MANY; i++) {
        all += pow(drawn[i], power);
        below += drawn[i] < r ? pow(drawn[i], power) : 0.0;
    }
    for (int i = 0; i < MANY; i++) {
        double d = pow(drawn[i], power) * ((drawn[i] < r) - below / all);
        square += d * d;
    }
    *band = 4.0 * sqrt(square) / all;
    return below / all;
}

/* Draws bodies by the table of sieves; returns the largest distance of their curve, weighed by size^power, from the table, in
 * bands. */
static double worst_sieve(bool by_mass, double power)
{
    const TalusSizeDef def = sieve(by_mass);
    double worst = 0.0;
    CHECK_OK(talus_sizes_draw(&def, 7, 0, MANY, drawn));
    for (int i = 1; i < SIEVES - 1; i++) {
        double band, found = share_below(grading[2 * i], power, &band);
        worst = fmax(worst, fabs(found - grading[2 * i + 1]) / band);
    }
    return worst;
}

TEST(sieves_recover_the_curve_they_were_given)
{
    CHECK(worst_sieve(true, 3.0) < 1.0);
    CHECK(worst_sieve(false, 0.0) < 1.0);
    CHECK(worst_sieve(true, 2.5) > 5.0); /* another power of size is another curve */
    CHECK(worst_sieve(false, 3.0) > 5.0);
    CHECK(worst_sieve(true, 0.0) > 5.0);
}

/* Half way between two sieves the curve is half way between their shares. */
TEST(between_sieves_shares_grow_in_proportion_to_size)
{
    double band, found;
    worst_sieve(true, 3.0);
    found = share_below(0.005, 3.0, &band);
    CHECK(fabs(found - 0.575) < band);
    CHECK(band < 0.04);
}

TEST(rosin_rammler_is_weibull_by_mass)
{
    TalusSizeDef def = weibull(0.01, 2.5);
    def.by_mass = true;
    REQUIRE_OK(talus_sizes_draw(&def, 3, 0, MANY, drawn));
    TalusSizeRange range;
    REQUIRE_OK(talus_sizes_range(&def, &range));
    for (double r = 0.002; r < 0.02; r += 0.002) {
        double band, found = share_below(r, 3.0, &band);
        CHECK(fabs(found - (exact_share(&def, r) - 0.001) / 0.998) < band);
    }
}

/* The means that the curve promises are those of the sample, within five standard deviations. */
static void check_means(TalusSizeDef def)
{
    TalusSizeRange range;
    double sum[3] = {0}, square[3] = {0};
    REQUIRE_OK(talus_sizes_range(&def, &range));
    REQUIRE_OK(talus_sizes_draw(&def, 11, 0, MANY, drawn));
    for (int i = 0; i < MANY; i++) {
        const double value[] = {drawn[i], pow(drawn[i], 3.0)};
        CHECK(drawn[i] >= range.min && drawn[i] <= range.max);
        for (int k = 0; k < 2; k++) {
            sum[k] += value[k] / MANY;
            square[k] += value[k] * value[k] / MANY;
        }
    }
    const double promised[] = {range.mean, range.mean_cube};
    for (int k = 0; k < 2; k++)
        CHECK(fabs(sum[k] - promised[k]) < 5.0 * sqrt((square[k] - sum[k] * sum[k]) / MANY));
}

TEST(means)
{
    TalusSizeDef uniform = make(TALUS_SIZES_UNIFORM), mass = uniform, heavy = lognormal(1.0, 0.3);
    uniform.min = mass.min = 1.0;
    uniform.max = mass.max = 3.0;
    mass.by_mass = heavy.by_mass = true;
    check_means(uniform);
    check_means(mass);
    check_means(heavy);
    check_means(sieve(true));
    check_means(sieve(false));
    check_means(normal(2.0, 0.3));
    check_means(weibull(1.0, 1.5));
    CHECK_NEAR(uniform.min, 1.0, 0.0);
}

TEST(pieces_have_the_bits_of_the_whole)
{
    TalusSizeDef def = sieve(true);
    double piece[100];
    REQUIRE_OK(talus_sizes_draw(&def, 5, 0, 1000, drawn));
    REQUIRE_OK(talus_sizes_draw(&def, 5, 733, 100, piece));
    CHECK(memcmp(piece, drawn + 733, sizeof piece) == 0);
    REQUIRE_OK(talus_sizes_draw(&def, 6, 733, 100, piece));
    CHECK(memcmp(piece, drawn + 733, sizeof piece) != 0);
}

/* One committed hash of sizes of all kinds: the same bits on every platform. */
TEST(bits)
{
    TalusSizeDef mass = weibull(0.01, 2.5), defs[] = {normal(1.0, 0.25), lognormal(3.0, 0.7),
                                                      weibull(1.0, 1.1), sieve(true), mass};
    uint64_t hash = TALUS_HASH_SEED;
    defs[4].by_mass = true;
    for (int i = 0; i < 5; i++) {
        REQUIRE_OK(talus_sizes_draw(&defs[i], 42, 0, MANY, drawn));
        hash = talus_hash(hash, drawn, sizeof drawn);
    }
    CHECK_INT((int64_t)hash, -5032729411489048772);
}

/* ---- refusals ---- */

/* Checks that the def is refused, with this key (NULL: none) and these words. */
static void refuse(TalusSizeDef def, const char *key, const char *words)
{
    TalusSizeRange range;
    CHECK_INT(talus_sizes_range(&def, &range), TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), words) != NULL);
    if (key)
        CHECK_STR(talus_error_record()->key, key);
}

TEST(refusals)
{
    static const double falls[] = {1, 0, 2, 0.6, 3, 0.4, 4, 1}, back[] = {1, 0, 3, 0.4, 2, 1};
    static const double percent[] = {1, 0, 2, 40, 3, 100};
    TalusSizeDef def = {0};
    refuse(def, NULL, "talus_size_def_default");
    refuse(make(TALUS_SIZES_UNIFORM), "min", "expected a number above 0");
    refuse(normal(-1.0, 0.2), "mean", "expected a number above 0, found -1");
    refuse(normal(1.0, 0.5), "min", "the smallest thousandth ends at -0.545");
    refuse(lognormal(1.0, NAN), "deviation", "expected a number above 0");
    refuse(weibull(1.0, 0.0), "exponent", "expected a number above 0");
    def = normal(1.0, 0.1);
    def.min = 2.0;
    refuse(def, NULL, "no size of the distribution lies from min, 2");
    def.max = 1.5;
    refuse(def, "max", "1.5 is below 'min', 2");
    def = sieve(true);
    def.sieve_count = 1;
    refuse(def, "sieve", "two sieves or more");
    def.sieve_count = 4;
    def.sieve = falls;
    refuse(def, "sieve", "cannot fall, but sieve 2 has 0.4 after 0.6");
    def.sieve_count = 3;
    def.sieve = back;
    refuse(def, "sieve", "must ascend, but sieve 2 has 2 after 3");
    def.sieve = percent;
    refuse(def, "sieve", "percents are 100 times as much");
    def = weibull(1.0, 0.5);
    def.min = 1e-9;
    refuse(def, NULL, "at most 1e+06 times the smallest");
    def = sieve(true);
    CHECK_INT(talus_sizes_draw(&def, 1, -1, 1, drawn), TALUS_ERR_ARGUMENT);
}

int main(void)
{
    RUN(curves_are_exact_at_their_edges);
    RUN(a_thousandth_is_cut_off_on_either_side);
    RUN(lognormal_by_mass_is_lognormal_by_number);
    RUN(uniform_sizes_keep_their_formula);
    RUN(sieves_recover_the_curve_they_were_given);
    RUN(between_sieves_shares_grow_in_proportion_to_size);
    RUN(rosin_rammler_is_weibull_by_mass);
    RUN(means);
    RUN(pieces_have_the_bits_of_the_whole);
    RUN(bits);
    RUN(refusals);
    return talus_test_result();
}
