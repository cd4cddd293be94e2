/* Random numbers of either sign and many exponents, for tests of sums. */
#ifndef TALUS_TEST_RANDOM_NUMBERS_H
#define TALUS_TEST_RANDOM_NUMBERS_H

#include "base/rng.h"

#include <math.h>

/* Returns a number of either sign with an exponent in [low, high). */
static inline double random_number(TalusRng *rng, int low, int high)
{
    double fraction = 1.0 + talus_rng_uniform(rng); /* drawn first, whatever the compiler */
    double size = ldexp(fraction, low + (int)talus_rng_below(rng, (uint64_t)(high - low)));
    return talus_rng_below(rng, 2) ? size : -size;
}

/* Fills x[n] with such numbers. */
static inline void fill(double *x, int n, int low, int high, uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    for (int i = 0; i < n; i++)
        x[i] = random_number(&rng, low, high);
}

#endif
