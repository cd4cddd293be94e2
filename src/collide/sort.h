/* collide/sort.h - parallel counting sort of pairs of numbers, O(count + range).
 *
 * Two stable passes: the first sorts into buckets of neighbouring keys, where histograms tell each chunk of the input
 * where in a bucket to write; the second sorts each bucket by itself, small enough for the cache. There are no atomics,
 * and the result does not depend on the number of threads. */
#ifndef TALUS_COLLIDE_SORT_H
#define TALUS_COLLIDE_SORT_H

#include "base/pool.h"

typedef struct TalusPair {
    uint32_t a, b; /* a is the first sort key, b the second */
} TalusPair;

/* Scratch memory, reused from call to call; initially zero. */
typedef struct TalusSorter {
    uint32_t *histogram; /* [chunk][bucket] */
} TalusSorter;

/* Releases the scratch memory and zeroes the sorter. */
void talus_sorter_clear(TalusSorter *sorter);

/* Sorts pairs[count] by the key a; every a is below `range`. `scratch`, with capacity for count pairs, is
 * overwritten. On return the pairs
 * with key k are pairs[start[k]] to pairs[start[k + 1] - 1], in their former order; start has range + 1 elements. */
TalusStatus talus_sort_pairs_by_a(TalusSorter *sorter, TalusPool *pool, TalusPair *pairs,
                                  TalusPair *scratch, int64_t count, uint32_t range,
                                  uint32_t *start);

/* Sorts the pairs of each key by b; `start` as talus_sort_pairs_by_a has set it. */
void talus_sort_pairs_by_b(TalusPool *pool, TalusPair *pairs, const uint32_t *start,
                           uint32_t range);

#endif
