/* engine/overlap.h - overlaps of loaded contacts, over size: mean, 99th percentile, maximum; for host and device.
 *
 * A contact is loaded if its normal impulse in the problem is above 0. Its overlap is the overlap at the start of the
 * step, 0 where the bodies are apart. The 99th percentile comes from a histogram, whose counts are integers: their sums
 * do not depend on the order, so the percentile does not depend on threads. The bin of an overlap follows from the bits
 * of the double: exponent and upper four bits of the fraction, 16 bins per octave from 2^-30 to 4. The percentile is
 * the upper end of a bin, at most 1/16 above the exact one if that is from 2^-30 to 4; above 4 it is the maximum. */
#ifndef TALUS_ENGINE_OVERLAP_H
#define TALUS_ENGINE_OVERLAP_H

#include "engine/engine.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    TALUS_OVERLAP_BINS = 512,
    TALUS_OVERLAP_FIRST = (1023 - 30) * 16, /* upper 16 bits of 2^-30 */
};

/* Returns the index of an overlap's bin. Overlaps below the first bin count in it, overlaps above the last bin in the
 * last. `overlap` must be at least 0. */
TALUS_INLINE int talus_overlap_bin(double overlap)
{
    uint64_t bits;
    memcpy(&bits, &overlap, sizeof bits);
    int bin = (int)(bits >> 48) - TALUS_OVERLAP_FIRST;
    return bin < 0 ? 0 : bin < TALUS_OVERLAP_BINS ? bin : TALUS_OVERLAP_BINS - 1;
}

/* Returns the overlap at which a bin ends. */
static inline double talus_overlap_bin_end(int bin)
{
    uint64_t bits = (uint64_t)(TALUS_OVERLAP_FIRST + bin + 1) << 48;
    double end;
    memcpy(&end, &bits, sizeof end);
    return end;
}

/* Returns the 99th percentile of the counted overlaps: the end of the lowest bin above which at most one in a hundred
 * of them lies, but not more than `max`, the largest overlap. */
static inline double talus_overlap_p99(const int64_t count[TALUS_OVERLAP_BINS], double max)
{
    int64_t total = 0, above = 0;
    for (int k = 0; k < TALUS_OVERLAP_BINS; k++)
        total += count[k];
    int bin = TALUS_OVERLAP_BINS - 1;
    while (bin > 0 && above + count[bin] <= total / 100)
        above += count[bin--];
    return bin < TALUS_OVERLAP_BINS - 1 ? talus_min(talus_overlap_bin_end(bin), max) : max;
}

/* Returns number, mean, 99th percentile and maximum of the counted overlaps, given their sum and their maximum. */
static inline TalusEngineOverlap talus_overlap_summary(const int64_t count[TALUS_OVERLAP_BINS],
                                                       double sum, double max)
{
    TalusEngineOverlap o = {0, 0.0, talus_overlap_p99(count, max), max};
    for (int k = 0; k < TALUS_OVERLAP_BINS; k++)
        o.loaded += count[k];
    o.mean = o.loaded > 0 ? sum / (double)o.loaded : 0.0;
    return o;
}

#endif
