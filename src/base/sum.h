/* base/sum.h - exact sums of doubles, rounded once; for host and device.
 *
 * A sum is a long fixed-point number with digits of 52 bits; the lowest digit counts units of 2^-1074, of which all
 * doubles are multiples (the small superaccumulator of Neal, Fast exact summation, arXiv:1505.05571). The 53 bits of a
 * term are added, without rounding, to the two digits that they overlap; the value is the exact sum rounded to the
 * nearest double, ties to even. So a sum does not depend on the order or grouping of its terms. Terms multiplied by a
 * power of two give the sum multiplied by that power. The sum of one or two terms is what plain addition gives.
 *
 * If some terms are not finite, the value is the plain sum of these terms, an infinity or NaN. A sum of zeros of
 * either sign, or of no terms, is +0. At most 2^60 terms. A term costs about 2 ns and a value 30 ns, so that these
 * sums are used to add the sums of groups of contacts, not the terms of single contacts. */
#ifndef TALUS_BASE_SUM_H
#define TALUS_BASE_SUM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <talus/math.h>

/* TALUS_SUM_CARRY: number of terms between carries; each adds less than 2^53 to a digit of 64 bits. */
enum { TALUS_SUM_BITS = 52, TALUS_SUM_DIGITS = 43, TALUS_SUM_CARRY = 500 };

/* An exact sum; all zeros is the sum of no terms. */
typedef struct TalusSum {
    /* digit[k] in units of 2^(52 k - 1074); after a carry in [0, 2^52), but for the highest, which has the sign */
    int64_t digit[TALUS_SUM_DIGITS];
    int32_t low, high; /* digits other than low .. high - 1 are 0 */
    int32_t pending;   /* terms since the last carry */
    double special;    /* sum of the terms that are not finite */
} TalusSum;

/* Extends the range low .. high - 1 of digits that may differ from 0 to include the given one. */
TALUS_INLINE void talus_sum_widen_range(TalusSum *s, int low, int high)
{
    bool empty = s->high == 0;
    s->low = empty || low < s->low ? low : s->low;
    s->high = high > s->high ? high : s->high;
}

/* Carries excess from digit to digit, so that every digit but the highest is in [0, 2^52). */
TALUS_INLINE void talus_sum_carry(TalusSum *s)
{
    const int64_t base = (int64_t)1 << TALUS_SUM_BITS;
    for (int k = s->low; k < s->high && k + 1 < TALUS_SUM_DIGITS; k++) {
        int64_t d = s->digit[k], rest = d & (base - 1), carry = (d - rest) / base;
        if (k + 1 == s->high && -base < d && d < base)
            break; /* the highest digit keeps the sign */
        s->digit[k] = rest;
        s->digit[k + 1] += carry;
        talus_sum_widen_range(s, s->low, carry ? k + 2 : k + 1);
    }
    s->pending = 0;
}

/* Adds the terms x[0] to x[n - 1], n <= TALUS_SUM_CARRY, without carrying. A finite term other than 0 is +-`size`
 * 2^(place - 1074), with `size` an integer of at most 53 bits. */
TALUS_INLINE void talus_sum_add_piece(TalusSum *s, const double *x, int n)
{
    const uint64_t one = (uint64_t)1 << TALUS_SUM_BITS;
    int low = TALUS_SUM_DIGITS, high = 0;
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        int exponent = (int)(bits >> 52 & 0x7ff), place = exponent ? exponent - 1 : 0;
        uint64_t size = (bits & (one - 1)) | (exponent ? one : 0);
        int k = place / TALUS_SUM_BITS, shift = place % TALUS_SUM_BITS;
        int64_t minus = -(int64_t)(bits >> 63); /* all bits: (a ^ minus) - minus is -a */
        if (exponent == 0x7ff) {
            s->special += x[i];
        } else if (size) {
            s->digit[k] += ((int64_t)(size << shift & (one - 1)) ^ minus) - minus;
            s->digit[k + 1] += ((int64_t)(size >> (TALUS_SUM_BITS - shift)) ^ minus) - minus;
            low = k < low ? k : low;
            high = k + 2 > high ? k + 2 : high;
        }
    }
    if (high > 0)
        talus_sum_widen_range(s, low, high);
}

/* Adds x[0] to x[n - 1]. */
TALUS_INLINE void talus_sum_add(TalusSum *s, const double *x, int64_t n)
{
    while (n > 0) {
        int room = TALUS_SUM_CARRY - s->pending, length = n < room ? (int)n : room;
        talus_sum_add_piece(s, x, length);
        s->pending += length;
        if (s->pending == TALUS_SUM_CARRY)
            talus_sum_carry(s);
        x += length;
        n -= length;
    }
}

/* Adds the terms of another sum. */
TALUS_INLINE void talus_sum_merge(TalusSum *s, const TalusSum *other)
{
    TalusSum carried = *other;
    talus_sum_carry(&carried);
    talus_sum_carry(s);
    for (int k = carried.low; k < carried.high; k++)
        s->digit[k] += carried.digit[k];
    if (carried.high > 0)
        talus_sum_widen_range(s, carried.low, carried.high);
    s->pending = 1;
    s->special += other->special;
}

/* Returns a sum that has been carried and is not negative, rounded to the nearest double. The highest 64 bits of the
 * sum are collected in `bits`, of which 53 are kept; `more` is nonzero if some lower bit is 1. */
TALUS_INLINE double talus_sum_round(const TalusSum *s)
{
    int k = s->high - 1, length;
    while (k >= s->low && s->digit[k] == 0)
        k--;
    if (k < s->low || s->high == 0)
        return 0.0;
    frexp((double)s->digit[k], &length); /* the digit has this many bits */
    uint64_t bits = (uint64_t)s->digit[k] << (64 - length), more = 0;
    int e = TALUS_SUM_BITS * k - 1074 + length - 64, room = 64 - length;
    for (int j = k - 1; j >= s->low; j--) {
        uint64_t digit = (uint64_t)s->digit[j];
        int over =
            TALUS_SUM_BITS - room; /* bits of this digit that do not fit; all, if room is 0 */
        bits |= over > 0 ? digit >> over : digit << -over;
        more |= over > 0 ? digit & (((uint64_t)1 << over) - 1) : 0;
        room = over > 0 ? 0 : -over;
    }
    uint64_t kept = bits >> 11, rest = bits & 0x7ff;
    kept += rest > 0x400 || (rest == 0x400 && (more || kept & 1));
    return ldexp((double)kept, e + 11);
}

/* Returns the sum, rounded to the nearest double. */
TALUS_INLINE double talus_sum_value(const TalusSum *s)
{
    TalusSum t = *s;
    if (s->special != 0.0)
        return s->special == s->special ? s->special : (double)NAN;
    talus_sum_carry(&t);
    bool negative = t.high > 0 && t.digit[t.high - 1] < 0;
    if (negative) {
        for (int k = t.low; k < t.high; k++)
            t.digit[k] = -t.digit[k];
        talus_sum_carry(&t);
    }
    return negative ? -talus_sum_round(&t) : talus_sum_round(&t);
}

/* Returns the sum of x[0] to x[n - 1]. */
TALUS_INLINE double talus_sum_of(const double *x, int64_t n)
{
    TalusSum s;
    memset(&s, 0, sizeof s); /* as C++, too */
    if (n == 1)
        return x[0] + 0.0;
    if (n == 2)
        return x[0] + x[1] + 0.0; /* never -0 */
    talus_sum_add(&s, x, n);
    return talus_sum_value(&s);
}

#endif
