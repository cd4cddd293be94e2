/* world/ranks/curve.h - Hilbert's curve through a box of cells: cells with near numbers are near each other. */
#ifndef TALUS_WORLD_RANKS_CURVE_H
#define TALUS_WORLD_RANKS_CURVE_H

#include <math.h>
#include <stdint.h>
#include <talus/math.h>

/* Returns the number along the curve, from 0 to 8^bits - 1, of the cell with these coordinates, each below 2^bits. The
 * coordinates are turned and reflected from the coarsest bit to the finest, as the curve is in each octant (Skilling,
 * Programming the Hilbert curve, AIP Conf. Proc. 707, 2004). */
static inline uint64_t talus_hilbert_number(uint32_t x, uint32_t y, uint32_t z, int bits)
{
    uint32_t c[3] = {x, y, z}, turn = 0;
    uint64_t number = 0;
    for (uint32_t bit = UINT32_C(1) << (bits - 1); bit > 1; bit >>= 1)
        for (int axis = 0; axis < 3; axis++) {
            const uint32_t finer = bit - 1, swap = (c[0] ^ c[axis]) & finer;
            if (c[axis] & bit) {
                c[0] ^= finer;
            } else {
                c[0] ^= swap;
                c[axis] ^= swap;
            }
        }
    c[1] ^= c[0];
    c[2] ^= c[1];
    for (uint32_t bit = UINT32_C(1) << (bits - 1); bit > 1; bit >>= 1)
        turn ^= c[2] & bit ? bit - 1 : 0;
    for (int bit = bits - 1; bit >= 0; bit--)
        for (int axis = 0; axis < 3; axis++)
            number = number << 1 | ((c[axis] ^ turn) >> bit & 1);
    return number;
}

/* Returns the number along the curve of the cell that contains x, of 2^bits cells along each edge of the box from lo to hi;
 * what lies outside counts as on the surface. */
static inline uint64_t talus_curve_number(TalusVec3 x, TalusVec3 lo, TalusVec3 hi, int bits)
{
    const double cells = (double)(UINT32_C(1) << bits);
    uint32_t c[3];
    for (int axis = 0; axis < 3; axis++) {
        const double from = talus_along(lo, axis), width = talus_along(hi, axis) - from;
        const double at = cells * ((talus_along(x, axis) - from) / width);
        c[axis] = at > 0.0 ? (uint32_t)fmin(at, cells - 1.0) : 0; /* 0 also for NaN */
    }
    return talus_hilbert_number(c[0], c[1], c[2], bits);
}

#endif
