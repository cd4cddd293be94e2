/* backend/cuda/iterate/iterate_parts.h - numbers in 32 bits: a float, `high`, and an integer `low` of at most 127 in size.
 *
 * The number is high + low u, with u = 1/256 of the unit in the last place of `high`. A double is stored with an error of
 * at most 2^-32 of it, 2^-31 where `low` would be 128. The number, rounded to float, is `high`. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_ITERATE_PARTS_H
#define TALUS_BACKEND_CUDA_ITERATE_ITERATE_PARTS_H

#include "backend/cuda/device/device.h"

/* Returns u of a float; any number below 1e-45 for 0 and denormal ones. */
static __device__ inline double low_unit(float high)
{
    uint32_t bits;
    memcpy(&bits, &high, sizeof bits);
    const uint64_t exponent = (bits >> 23 & 255) + (1023 - 127 - 23 - 8);
    const uint64_t shifted = exponent << 52;
    double unit;
    memcpy(&unit, &shifted, sizeof unit);
    return unit;
}

/* Returns `low` of a number that is `high` when rounded to float. */
static __device__ inline signed char low_part(double x, float high)
{
    double parts = rint((x - (double)high) / low_unit(high));
    return (signed char)(parts > 127.0 ? 127.0 : parts >= -127.0 ? parts : -127.0);
}

/* Returns the number with these parts. */
static __device__ inline double join_parts(float high, signed char low)
{
    return (double)high + (double)low * low_unit(high);
}

#endif
