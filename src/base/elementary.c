/* base/elementary.c - exponential and logarithm by reduction to a small argument and sums of powers. */
#include "base/elementary.h"

#include <math.h>

/* ln 2 = LN2_HIGH + LN2_LOW; a product of LN2_HIGH, which has 33 bits, with a whole number below 2^20 is exact. */
#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW 1.90821492927058770002e-10

double talus_exp(double x)
{
    if (!(x > -708.0))
        return x < 0.0 ? 0.0 : x; /* NaN stays */
    if (x > 709.0)
        return INFINITY;
    double n = floor(x / (LN2_HIGH + LN2_LOW) + 0.5);
    double r = (x - n * LN2_HIGH) - n * LN2_LOW, sum = 1.0;
    for (int k = 14; k >= 1; k--) /* |r| <= 0.35: the first omitted term is below 1e-19 */
        sum = 1.0 + r / (double)k * sum;
    return ldexp(sum, (int)n);
}

/* x = m 2^n with m from sqrt(1/2) to sqrt(2); ln m = 2 artanh s = 2 (s + s^3/3 + s^5/5 + ...), s = (m - 1)/(m + 1),
 * |s| <= 0.172. */
double talus_ln(double x)
{
    int n;
    double m = frexp(x, &n);
    if (m < 0.70710678118654752440) {
        m *= 2.0;
        n--;
    }
    double s = (m - 1.0) / (m + 1.0), y = s * s, sum = 0.0;
    for (int k = 23; k >= 3; k -= 2) /* the first omitted term is below 1e-20 */
        sum = y * (1.0 / (double)k + sum);
    return (double)n * LN2_HIGH + (2.0 * s * (1.0 + sum) + (double)n * LN2_LOW);
}
