/* base/rng.h - a random generator whose state is one 64-bit number: a counter, hashed for every number drawn. */
#ifndef TALUS_BASE_RNG_H
#define TALUS_BASE_RNG_H

#include "base/hash.h"

/* State of a generator. */
typedef struct TalusRng {
    uint64_t state;
} TalusRng;

/* Returns a generator; equal seeds give equal sequences. */
static inline TalusRng talus_rng_from_seed(uint64_t seed)
{
    TalusRng r = {talus_hash_mix(seed ^ UINT64_C(0x6a09e667f3bcc909))};
    return r;
}

/* Returns 64 random bits. */
static inline uint64_t talus_rng_next(TalusRng *rng)
{
    rng->state += TALUS_HASH_SEED;
    return talus_hash_mix(rng->state);
}

/* Passes over the next `numbers` numbers. */
static inline void talus_rng_skip(TalusRng *rng, uint64_t numbers)
{
    rng->state += numbers * TALUS_HASH_SEED;
}

/* Returns a number uniform in [0, 1), with 53 random bits. */
static inline double talus_rng_uniform(TalusRng *rng)
{
    return (double)(talus_rng_next(rng) >> 11) * 0x1p-53;
}

/* Returns an integer uniform in 0..n-1, n > 0; draws one number if n <= 2^32 - 1, else two. Probabilities deviate by less than n / 2^32 of themselves, for n >= 2^32
 * by less than n / 2^64. */
static inline uint64_t talus_rng_below(TalusRng *rng, uint64_t n)
{
    uint64_t x = talus_rng_next(rng) >> 32;
    return n <= UINT32_MAX ? (x * n) >> 32 : talus_rng_next(rng) % n;
}

#endif
