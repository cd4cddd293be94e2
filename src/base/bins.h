/* base/bins.h - sums of doubles that do not depend on the order or grouping of their terms, at some 20 instructions per
 * term; for host and device.
 *
 * The binned sums of Ahrens, Demmel and Nguyen (Algorithms for efficient reproducible floating point summation, ACM
 * Trans. Math. Softw. 46, 2020), with integers in the bins. The bins divide the exponents of all doubles into ranges of
 * 26; bin b counts units of 2^(26 b - 1074). A term is split into digits of at most 2^25 units, by rounding to the unit
 * of one bin after the other, from the bin that its exponent decides down; the digits depend on the term alone. A sum
 * has four bins: that of its largest term, the top, and three below. Parts of terms in lower bins are dropped. Which
 * parts those are follows from the largest term, so that the sum is a function of the set of its terms. The value is
 * the number in the four bins, rounded to the nearest double.
 *
 * The value of n terms differs from their exact sum by at most n 2^-78 times the largest term, and half a unit in the
 * last place. One term has itself as sum; integers below 2^53 are added exactly. Zeros of either sign, or no terms,
 * have the sum +0. A term of size 2^979 or more (some 5e294), or one that is not finite, makes the sum NaN.
 *
 * Unlike base/sum.h, which keeps all bits, this is cheap enough for the term of every contact. */
#ifndef TALUS_BASE_BINS_H
#define TALUS_BASE_BINS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <talus/math.h>

enum {
    TALUS_BINS = 80,
    TALUS_BIN_BITS = 26,
    TALUS_BIN_DIGITS = 4, /* bins of a sum */
    TALUS_BIN_TERMS = 63, /* largest number of terms of a TalusShortSum */
    TALUS_BIN_NAN = 76    /* `top` of a sum that is NaN */
};

/* A sum of at most TALUS_BIN_TERMS terms, in few registers; all zeros is the sum of no terms. */
typedef struct TalusShortSum {
    int32_t digit[TALUS_BIN_DIGITS]; /* digit[k]: units of bin top + 3 - k */
    int32_t top;                     /* the highest bin is top + 3 */
} TalusShortSum;

/* A sum of any number of terms, below 2^37; all zeros is the sum of no terms. Bins other than top to top + 3 have
 * incomplete numbers, without meaning. */
typedef struct TalusBinnedSum {
    int64_t bin[TALUS_BINS];
    int32_t top; /* as in TalusShortSum */
} TalusBinnedSum;

/* Return a + b and a - b, rounded; on a device never contracted with the product that one of them may come from. */
TALUS_INLINE double talus_bins_plus(double a, double b)
{
#ifdef __CUDA_ARCH__
    return __dadd_rn(a, b);
#else
    return a + b;
#endif
}

TALUS_INLINE double talus_bins_minus(double a, double b)
{
#ifdef __CUDA_ARCH__
    return __dsub_rn(a, b);
#else
    return a - b;
#endif
}

/* Returns 1.5 * 2^52 units of a bin: a term of at most 2^25 units, added to it, is rounded to whole units, whose number
 * is then in the lowest 32 bits. */
TALUS_INLINE double talus_bin_rounder(int bin)
{
    uint64_t bits = ((uint64_t)(TALUS_BIN_BITS * bin + 1) << 52) | (uint64_t)1 << 51;
    double rounder;
    memcpy(&rounder, &bits, sizeof rounder);
    return rounder;
}

/* Moves the digits to those of a sum with a higher or equal top; drops those that fall out. */
TALUS_INLINE void talus_short_sum_raise(TalusShortSum *s, int top)
{
    for (int k = 0; k < TALUS_BIN_DIGITS; k++)
        if (k < top - s->top) { /* one bin at a time: no digit has an index that is not constant */
            s->digit[3] = s->digit[2];
            s->digit[2] = s->digit[1];
            s->digit[1] = s->digit[0];
            s->digit[0] = 0;
        }
    s->top = top;
}

/* Adds a term. Its sign and exponent are in the upper half of its bits. */
TALUS_INLINE void talus_short_sum_add(TalusShortSum *s, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t size = (uint32_t)(bits >> 32) & 0x7fffffff;
    if (size >= (uint32_t)(TALUS_BIN_BITS * (s->top + 2)) << 20) {
        int top = (int)(size >> 20) / TALUS_BIN_BITS - 1;
        talus_short_sum_raise(s, top < TALUS_BIN_NAN ? top : TALUS_BIN_NAN);
    }
    for (int k = 0; k < TALUS_BIN_DIGITS; k++) {
        double rounder = talus_bin_rounder(s->top + 3 - k);
        double rounded = talus_bins_plus(x, rounder);
        memcpy(&bits, &rounded, sizeof bits);
        s->digit[k] = (int32_t)((uint32_t)s->digit[k] + (uint32_t)bits);
        x = talus_bins_minus(x, talus_bins_minus(rounded, rounder));
    }
}

/* Adds the terms of a short sum. */
TALUS_INLINE void talus_binned_sum_add(TalusBinnedSum *s, const TalusShortSum *terms)
{
    for (int k = 0; k < TALUS_BIN_DIGITS; k++)
        s->bin[terms->top + 3 - k] += terms->digit[k];
    s->top = terms->top > s->top ? terms->top : s->top;
}

/* Adds the terms of another sum. */
TALUS_INLINE void talus_binned_sum_merge(TalusBinnedSum *s, const TalusBinnedSum *other)
{
    for (int b = 0; b < TALUS_BINS; b++)
        s->bin[b] += other->bin[b];
    s->top = other->top > s->top ? other->top : s->top;
}

/* Carries excess to higher bins: b[1] to b[3] are then in [0, 2^26), and b[0] has the sign. */
TALUS_INLINE void talus_bins_carry(int64_t b[TALUS_BIN_DIGITS])
{
    const int64_t base = (int64_t)1 << TALUS_BIN_BITS;
    for (int k = TALUS_BIN_DIGITS - 1; k > 0; k--) {
        int64_t rest = b[k] & (base - 1);
        b[k - 1] += (b[k] - rest) / base;
        b[k] = rest;
    }
}

/* Returns the number in the bins top + 3 down to top, which hold b[0] to b[3], rounded to the nearest double. Its
 * highest bits are collected in `high` and `low`, in units of 2^e; the lowest bit is also set if any lower one is. */
TALUS_INLINE double talus_bins_value(int top, const int64_t bins[TALUS_BIN_DIGITS])
{
    int64_t b[TALUS_BIN_DIGITS] = {bins[0], bins[1], bins[2], bins[3]};
    if (top == TALUS_BIN_NAN)
        return (double)NAN;
    talus_bins_carry(b);
    bool negative = b[0] < 0;
    if (negative) {
        for (int k = 0; k < TALUS_BIN_DIGITS; k++)
            b[k] = -bins[k];
        talus_bins_carry(b);
    }
    uint64_t high = (uint64_t)b[0] >> 12, low = (uint64_t)b[0] << 52;
    low |= (uint64_t)b[1] << TALUS_BIN_BITS | (uint64_t)b[2];
    int e = TALUS_BIN_BITS * (top + 1) - 1074, length;
    if (high || low >> 54) {
        low |= b[3] != 0;
    } else {
        high = low >> (64 - TALUS_BIN_BITS);
        low = low << TALUS_BIN_BITS | (uint64_t)b[3];
        e -= TALUS_BIN_BITS;
    }
    if (high) {
        frexp((double)high, &length); /* the number of bits of `high`, or one more */
        bool more = (low & (((uint64_t)1 << length) - 1)) != 0;
        low = high << (64 - length) | low >> length | more;
        e += length;
    }
    double size = ldexp((double)low, e);
    return negative ? -size : size;
}

/* Returns the sum. */
TALUS_INLINE double talus_binned_sum_value(const TalusBinnedSum *s)
{
    const int64_t b[TALUS_BIN_DIGITS] = {s->bin[s->top + 3], s->bin[s->top + 2], s->bin[s->top + 1],
                                         s->bin[s->top]};
    return talus_bins_value(s->top, b);
}

#endif
