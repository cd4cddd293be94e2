/* world/source/sizes.c - curves of sizes from their definitions; sizes by inversion of the curve.
 *
 * A distribution by mass becomes one by number. A body of size r has a mass in proportion to r^3, so a share dM of the
 * mass is a number dN of bodies in proportion to dM / r^3. In a class from a to b with the mass share m, where equal
 * widths have equal masses,
 *
 *     N(r) = m/(b - a) int_a^r s^-3 ds = m/(2 (b - a)) (a^-2 - r^-2),    N(b) = m (a + b) / (2 a^2 b^2),
 *
 * up to one factor for all classes. The share t = N(r)/N(b) of the class then ends at r = a / sqrt(1 - t (1 - a^2/b^2)).
 *
 * Normal, log-normal and Weibull distributions have CLASSES classes whose edges are in a geometric sequence. The share of
 * each is the integral of the density by Gauss's rule of four points, so that the curve is exact, to rounding, at all
 * edges; between them it is a chord: with classes of h, it differs by at most h^2/8 times the density's slope, less than
 * 1e-5 where the range is some ten deviations. */
#include "world/source/sizes.h"

#include "base/elementary.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"

#include <math.h>

enum { CLASSES = 1024, SIZES_COOKIE = 0x7a105125 };

/* Deviations beyond which a normal distribution has a thousandth on either side; beyond which it has a billionth. */
#define THOUSANDTH 3.0902323061678135
#define BILLIONTH 5.9978070150076869
/* Largest ratio of the largest size to the smallest. */
#define MOST_RATIO 1e6

TalusSizeDef talus_size_def_default(void)
{
    TalusSizeDef def = {.cookie = SIZES_COOKIE};
    return def;
}

/* ---- distributions ---- */

/* Returns the density at size r, up to a constant factor. */
static double density_at(const TalusSizeDef *d, double r)
{
    double x;
    switch (d->kind) {
    case TALUS_SIZES_NORMAL: x = (r - d->mean) / d->deviation; return talus_exp(-0.5 * x * x);
    case TALUS_SIZES_LOGNORMAL:
        x = talus_ln(r / d->median) / d->deviation;
        return talus_exp(-0.5 * x * x) / r;
    default: /* WEIBULL, with x = (r / scale)^exponent: density x exp(-x) / r */
        x = d->exponent * talus_ln(r / d->scale);
        return talus_exp(x - talus_exp(x)) / r;
    }
}

/* Returns the integral of the density from a to b, by Gauss's rule of four points. */
static double integrate_class(const TalusSizeDef *d, double a, double b)
{
    static const double at[] = {0.33998104358485626, 0.86113631159405258};
    static const double weight[] = {0.65214515486254614, 0.34785484513745386};
    double middle = 0.5 * (a + b), half = 0.5 * (b - a), sum = 0.0;
    for (int k = 0; k < 2; k++)
        sum += weight[k] *
               (density_at(d, middle - half * at[k]) + density_at(d, middle + half * at[k]));
    return half * sum;
}

/* Sets *low and *high to sizes with the share `tail` below and above, which is that of a normal distribution beyond
 * `deviations`. */
static void find_tails(const TalusSizeDef *d, double tail, double deviations, double *low,
                       double *high)
{
    switch (d->kind) {
    case TALUS_SIZES_NORMAL:
        *low = d->mean - deviations * d->deviation;
        *high = d->mean + deviations * d->deviation;
        break;
    case TALUS_SIZES_LOGNORMAL:
        *low = d->median * talus_exp(-deviations * d->deviation);
        *high = d->median * talus_exp(deviations * d->deviation);
        break;
    default: /* 1 - exp(-(r / scale)^exponent) = tail or 1 - tail */
        *low = d->scale * talus_exp(talus_ln(-talus_ln(1.0 - tail)) / d->exponent);
        *high = d->scale * talus_exp(talus_ln(-talus_ln(tail)) / d->exponent);
    }
}

/* Sets *lo and *hi to the smallest and largest size. Of given bounds far outside, a billionth beyond suffices, so that
 * classes are not spent on empty space; but below, a Weibull distribution by mass may have most of its bodies. */
static TalusStatus find_bounds(const TalusSizeDef *d, double *lo, double *hi)
{
    double far_low, far_high;
    find_tails(d, 1e-3, THOUSANDTH, lo, hi);
    find_tails(d, 1e-9, BILLIONTH, &far_low, &far_high);
    if (d->min > 0.0)
        *lo = d->kind == TALUS_SIZES_WEIBULL || far_low < d->min ? d->min : far_low;
    if (d->max > 0.0)
        *hi = far_high > d->max ? d->max : far_high;
    if (!(*lo > 0.0))
        return talus_fail_key("min", TALUS_ERR_ARGUMENT,
                              "the smallest thousandth ends at %g: give the smallest size, above 0",
                              *lo);
    if (!(*lo < *hi))
        return talus_reject("no size of the distribution lies from min, %g, to max, %g", *lo, *hi);
    return TALUS_OK;
}

/* ---- checks ---- */

/* Fails unless a member of the def is above 0 and finite. */
static TalusStatus check_positive(const char *key, double value)
{
    if (value > 0.0 && isfinite(value))
        return TALUS_OK;
    return talus_fail_key(key, TALUS_ERR_ARGUMENT, "expected a number above 0, found %g", value);
}

static TalusStatus check_sieve(const TalusSizeDef *d)
{
    const double *s = d->sieve;
    if (!s || d->sieve_count < 2)
        return talus_fail_key("sieve", TALUS_ERR_ARGUMENT, "expected two sieves or more, found %d",
                              d->sieve_count);
    TALUS_TRY(check_positive("sieve", s[0]));
    for (int i = 1; i < d->sieve_count; i++) {
        if (!(s[2 * i] > s[2 * i - 2]) || !isfinite(s[2 * i]))
            return talus_fail_key("sieve", TALUS_ERR_ARGUMENT,
                                  "sizes must ascend, but sieve %d has %g after %g", i, s[2 * i],
                                  s[2 * i - 2]);
        if (!(s[2 * i + 1] >= s[2 * i - 1]))
            return talus_fail_key("sieve", TALUS_ERR_ARGUMENT,
                                  "the share of what is smaller cannot fall, but sieve %d has %g "
                                  "after %g",
                                  i, s[2 * i + 1], s[2 * i - 1]);
    }
    const double first = s[1], last = s[2 * d->sieve_count - 1];
    if (first == 0.0 && fabs(last - 1.0) <= 1e-9)
        return TALUS_OK;
    return talus_fail_key("sieve", TALUS_ERR_ARGUMENT,
                          "shares go from %g to %g; expected from 0 at the smallest sieve to 1 at "
                          "the largest (percents are 100 times as much)",
                          first, last);
}

static TalusStatus check_def(const TalusSizeDef *d)
{
    if (!d || d->cookie != SIZES_COOKIE)
        return talus_reject("sizes: the def was not made by talus_size_def_default()");
    if (d->min > 0.0 && d->max > 0.0 && d->max < d->min)
        return talus_fail_key("max", TALUS_ERR_ARGUMENT, "%g is below 'min', %g", d->max, d->min);
    switch (d->kind) {
    case TALUS_SIZES_UNIFORM:
        TALUS_TRY(check_positive("min", d->min));
        return check_positive("max", d->max);
    case TALUS_SIZES_NORMAL:
        TALUS_TRY(check_positive("mean", d->mean));
        return check_positive("deviation", d->deviation);
    case TALUS_SIZES_LOGNORMAL:
        TALUS_TRY(check_positive("median", d->median));
        return check_positive("deviation", d->deviation);
    case TALUS_SIZES_WEIBULL:
        TALUS_TRY(check_positive("scale", d->scale));
        return check_positive("exponent", d->exponent);
    case TALUS_SIZES_SIEVE: return check_sieve(d);
    default: return talus_reject("sizes: no kind %d", (int)d->kind);
    }
}

/* ---- curves ---- */

/* Sets the edges between first and last, which are set, to a geometric sequence. */
static void fill_edges(double *edge, int first, int last)
{
    int middle = (first + last) / 2;
    if (middle == first)
        return;
    edge[middle] = sqrt(edge[first]) * sqrt(edge[last]); /* last - first is a power of 2 */
    fill_edges(edge, first, middle);
    fill_edges(edge, middle, last);
}

/* Sets edges, and below[i + 1] to the share of class i, up to a common factor, as the def counts it: by number or by
 * mass. */
static void fill_classes(const TalusSizeDef *d, double lo, double hi, TalusSizeCurve *c)
{
    c->edge[0] = lo;
    c->edge[c->classes] = hi;
    if (d->kind == TALUS_SIZES_UNIFORM) {
        c->below[1] = 1.0;
    } else if (d->kind == TALUS_SIZES_SIEVE) {
        for (int i = 0; i <= c->classes; i++)
            c->edge[i] = d->sieve[2 * i];
        for (int i = 0; i < c->classes; i++)
            c->below[i + 1] = d->sieve[2 * i + 3] - d->sieve[2 * i + 1];
    } else {
        fill_edges(c->edge, 0, c->classes);
        for (int i = 0; i < c->classes; i++)
            c->below[i + 1] = integrate_class(d, c->edge[i], c->edge[i + 1]);
    }
}

/* Turns the shares of classes into shares by number, and sums them up. False if they are all 0. */
static bool sum_shares(TalusSizeCurve *c)
{
    const double unit = c->edge[c->classes]; /* keeps powers of tiny sizes in range */
    double sum = 0.0;
    for (int i = 0; i < c->classes; i++) {
        double a = c->edge[i] / unit, b = c->edge[i + 1] / unit;
        if (c->by_mass)
            c->below[i + 1] *= (a + b) / (2.0 * a * a * b * b);
        sum += c->below[i + 1];
        c->below[i + 1] = sum;
    }
    for (int i = 1; i <= c->classes; i++)
        c->below[i] = i < c->classes ? c->below[i] / sum : 1.0;
    c->below[0] = 0.0;
    return sum > 0.0;
}

static TalusStatus make_curve(const TalusSizeDef *d, TalusSizeCurve *c)
{
    double lo = d->min, hi = d->max;
    TALUS_TRY(check_def(d));
    if (d->kind == TALUS_SIZES_SIEVE) {
        lo = d->sieve[0];
        hi = d->sieve[2 * d->sieve_count - 2];
    } else if (d->kind != TALUS_SIZES_UNIFORM) {
        TALUS_TRY(find_bounds(d, &lo, &hi));
    }
    if (hi / lo > MOST_RATIO && (d->by_mass || d->kind != TALUS_SIZES_UNIFORM))
        return talus_reject("sizes from %g to %g; expected the largest to be at most %g times the "
                            "smallest",
                            lo, hi, MOST_RATIO);
    c->by_mass = d->by_mass;
    c->classes = d->kind == TALUS_SIZES_UNIFORM ? 1
                 : d->kind == TALUS_SIZES_SIEVE ? d->sieve_count - 1
                                                : CLASSES;
    TALUS_TRY(TALUS_ALLOC(c->edge, 2 * (size_t)c->classes + 2, "curve of sizes"));
    c->below = c->edge + c->classes + 1;
    fill_classes(d, lo, hi, c);
    if (!sum_shares(c))
        return talus_reject("no size of the distribution lies from min, %g, to max, %g", lo, hi);
    return TALUS_OK;
}

TalusStatus talus_size_curve_make(const TalusSizeDef *def, TalusSizeCurve *curve)
{
    *curve = (TalusSizeCurve){0};
    TalusStatus status = make_curve(def, curve);
    if (status != TALUS_OK)
        talus_size_curve_clear(curve);
    return status;
}

void talus_size_curve_clear(TalusSizeCurve *curve)
{
    talus_release(curve->edge);
    *curve = (TalusSizeCurve){0};
}

/* Returns the last class whose lower edge has at most the share u below; u < 1, so the class is not empty. */
static int find_class(const TalusSizeCurve *c, double u)
{
    int first = 0, end = c->classes;
    while (end - first > 1) {
        int middle = first + (end - first) / 2;
        if (c->below[middle] <= u)
            first = middle;
        else
            end = middle;
    }
    return first;
}

double talus_size_curve_quantile(const TalusSizeCurve *c, double u)
{
    int i = find_class(c, u);
    double a = c->edge[i], b = c->edge[i + 1], q = a / b, size;
    double t = (u - c->below[i]) / (c->below[i + 1] - c->below[i]);
    size = c->by_mass ? a / sqrt(1.0 - t * (1.0 - q * q)) : a + (b - a) * t;
    return size < b ? size : b;
}

TalusSizeRange talus_size_curve_range(const TalusSizeCurve *c)
{
    TalusSizeRange range = {.min = c->edge[0], .max = c->edge[c->classes]};
    for (int i = 0; i < c->classes; i++) {
        double a = c->edge[i], b = c->edge[i + 1], share = c->below[i + 1] - c->below[i];
        /* means within a class: by number of r and r^3; by mass int s^-2 ds and int ds, over int s^-3 ds */
        range.mean += share * (c->by_mass ? 2.0 * a * b / (a + b) : 0.5 * (a + b));
        range.mean_cube +=
            share * (c->by_mass ? 2.0 * a * a * b * b / (a + b) : 0.25 * (a * a + b * b) * (a + b));
    }
    return range;
}

void talus_size_curve_draw(const TalusSizeCurve *curve, uint64_t seed, int64_t first, int64_t count,
                           double *out)
{
    TalusRng rng = talus_rng_from_seed(seed);
    talus_rng_skip(&rng, (uint64_t)first);
    for (int64_t i = 0; i < count; i++)
        out[i] = talus_size_curve_quantile(curve, talus_rng_uniform(&rng));
}

TalusStatus talus_sizes_range(const TalusSizeDef *def, TalusSizeRange *range)
{
    TalusSizeCurve curve;
    TALUS_TRY(talus_size_curve_make(def, &curve));
    *range = talus_size_curve_range(&curve);
    talus_size_curve_clear(&curve);
    return TALUS_OK;
}

TalusStatus talus_sizes_draw(const TalusSizeDef *def, uint64_t seed, int64_t first, int64_t count,
                             double *out)
{
    TalusSizeCurve curve;
    if (first < 0 || count < 0)
        return talus_reject("sizes: %lld from number %lld on; expected 0 or more", (long long)count,
                            (long long)first);
    TALUS_TRY(talus_size_curve_make(def, &curve));
    talus_size_curve_draw(&curve, seed, first, count, out);
    talus_size_curve_clear(&curve);
    return TALUS_OK;
}
