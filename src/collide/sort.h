/* collide/sort.h - parallel counting sort of pairs of numbers, O(count + range).
 *
 * Two stable passes: first into buckets of neighbouring keys, where histograms give each chunk of the input the
 * location of its share of each bucket; then each bucket by itself, small enough for the cache. There are no atomics,
 * and the result does not depend on the number of threads. */
#ifndef TALUS_COLLIDE_SORT_H
#define TALUS_COLLIDE_SORT_H

#include "base/pool.h"

typedef struct TalusPair {
    uint32_t a, b; /* a is the key */
} TalusPair;

/* Scratch memory, reused from call to call; initially zero. */
typedef struct TalusSorter {
    uint32_t *histogram; /* [chunk][bucket] */
} TalusSorter;

void talus_sorter_clear(TalusSorter *sorter);

/* Sorts pairs[count] by a; every a is below `range`. `scratch` has capacity for count pairs. On return the pairs with
 * key k are pairs[start[k]] to pairs[start[k + 1] - 1], in their former order; start has range + 1 elements. */
TalusStatus talus_sort_pairs(TalusSorter *sorter, TalusPool *pool, TalusPair *pairs,
                             TalusPair *scratch, int64_t count, uint32_t range, uint32_t *start);

/* Sorts the pairs of each key by b; `start` as talus_sort_pairs has set it. */
void talus_sort_within(TalusPool *pool, TalusPair *pairs, const uint32_t *start, uint32_t range);

#endif
