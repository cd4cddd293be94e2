/* base/order.h - numbers in order: sorted, and found again by halves. */
#ifndef TALUS_BASE_ORDER_H
#define TALUS_BASE_ORDER_H

#include <stdint.h>

/* For qsort: doubles, the smallest first. */
static inline int talus_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where `value` is among the ascending list[low .. high - 1], which has it. */
static inline int32_t talus_place_of(const int32_t *list, int32_t low, int32_t high, int32_t value)
{
    high--;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (list[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
