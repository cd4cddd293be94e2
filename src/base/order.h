/* base/order.h - a comparison function for sorting doubles, and a binary search in integers. */
#ifndef TALUS_BASE_ORDER_H
#define TALUS_BASE_ORDER_H

#include <stdint.h>

/* Comparison for qsort: doubles, none of them NaN, in ascending order. */
static inline int talus_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the index of `value` in the ascending list[low .. high - 1], which contains it. */
static inline int32_t talus_sorted_index(const int32_t *list, int32_t low, int32_t high,
                                         int32_t value)
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
