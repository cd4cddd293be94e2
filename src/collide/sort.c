/* collide/sort.c - parallel counting sort of pairs (sort.h). */
#include "collide/sort.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* A bucket has 2^KEY_BITS keys, whose counters fit into the first-level cache; or more keys, so that there are at most
 * MAX_BUCKETS buckets. */
enum {
    KEY_BITS = 12,
    MAX_BUCKETS = 1024,
    MIN_GRAIN = 8192,   /* minimum number of pairs of a chunk */
    MAX_CHUNKS = 64,    /* maximum number of chunks of pairs */
    WITHIN_GRAIN = 4096 /* keys of a chunk whose pairs are sorted by b */
};

/* Arguments of talus_sort_pairs_by_a for the chunks; range: number of keys. */
typedef struct SortJob {
    TalusPair *pairs, *scratch;
    uint32_t *start;
    uint32_t *histogram; /* [chunk][bucket]: number of pairs, later index in scratch[] */
    uint32_t range;
    int shift;               /* bucket = key >> shift */
    int64_t buckets, chunks; /* numbers of buckets, and of chunks of pairs */
} SortJob;

/* Counts the pairs of a chunk by bucket. */
static void count_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const SortJob *job = context;
    uint32_t *histogram = job->histogram + chunk * job->buckets;
    memset(histogram, 0, (size_t)job->buckets * sizeof *histogram);
    for (int64_t i = begin; i < end; i++)
        histogram[job->pairs[i].a >> job->shift]++;
}

/* Replaces the number of pairs of each chunk in each bucket by the index in scratch[] of the first of these pairs. */
static void sum_histograms(const SortJob *job)
{
    uint32_t sum = 0;
    for (int64_t b = 0; b < job->buckets; b++) {
        for (int64_t c = 0; c < job->chunks; c++) {
            uint32_t *cell = &job->histogram[c * job->buckets + b];
            uint32_t count = *cell;
            *cell = sum;
            sum += count;
        }
    }
}

/* Copies the pairs of a chunk to their buckets in scratch[]. */
static void scatter_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const SortJob *job = context;
    uint32_t *place = job->histogram + chunk * job->buckets;
    for (int64_t i = begin; i < end; i++)
        job->scratch[place[job->pairs[i].a >> job->shift]++] = job->pairs[i];
}

/* Index in scratch[] where a bucket ends: scatter_chunk has advanced the index of the last chunk to it; 0 for bucket
 * -1. */
static uint32_t bucket_end(const SortJob *job, int64_t bucket)
{
    return bucket < 0 ? 0 : job->histogram[(job->chunks - 1) * job->buckets + bucket];
}

/* Sorts a bucket from scratch[] back into pairs[] by counting, and sets start[] of its keys. */
static void sort_bucket(const SortJob *job, int64_t bucket)
{
    uint32_t first = bucket_end(job, bucket - 1), last = bucket_end(job, bucket);
    uint64_t low = (uint64_t)bucket << job->shift, high = (uint64_t)(bucket + 1) << job->shift;
    uint32_t *start = job->start;
    if (high > job->range)
        high = job->range;
    memset(start + low, 0, (high - low) * sizeof *start);
    for (uint32_t i = first; i < last; i++)
        start[job->scratch[i].a]++;
    uint32_t sum = first;
    for (uint64_t k = low; k < high; k++)
        start[k] = sum += start[k];
    for (uint32_t i = last;
         i-- > first;) /* backwards: ends turn into starts, and the order is kept */
        job->pairs[--start[job->scratch[i].a]] = job->scratch[i];
}

/* Sorts buckets begin .. end - 1. */
static void sort_buckets(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    for (int64_t bucket = begin; bucket < end; bucket++)
        sort_bucket(context, bucket);
}

TalusStatus talus_sort_pairs_by_a(TalusSorter *sorter, TalusPool *pool, TalusPair *pairs,
                                  TalusPair *scratch, int64_t count, uint32_t range,
                                  uint32_t *start)
{
    int shift = KEY_BITS;
    while (((int64_t)range - 1) >> shift >= MAX_BUCKETS)
        shift++;
    int64_t grain = talus_chunks(count, MAX_CHUNKS);
    if (grain < MIN_GRAIN)
        grain = MIN_GRAIN;
    SortJob job = {pairs, scratch, start, NULL, range, shift, 1, talus_chunks(count, grain)};
    job.buckets = range ? (((int64_t)range - 1) >> shift) + 1 : 0;
    start[range] = (uint32_t)count;
    if (count == 0) {
        memset(start, 0, (size_t)range * sizeof *start);
        return TALUS_OK;
    }
    TALUS_TRY(
        TALUS_GROW(sorter->histogram, (size_t)(job.buckets * job.chunks), 0, "sort histogram"));
    job.histogram = sorter->histogram;
    talus_parallel(pool, count, grain, count_chunk, &job);
    sum_histograms(&job);
    talus_parallel(pool, count, grain, scatter_chunk, &job);
    talus_parallel(pool, job.buckets, 1, sort_buckets, &job);
    return TALUS_OK;
}

void talus_sorter_clear(TalusSorter *sorter)
{
    talus_release(sorter->histogram);
    memset(sorter, 0, sizeof *sorter);
}

/* Sorts pairs of one key by b. A Shell sort: for the few partners of most bodies it is an insertion sort (gap 1); for
 * the thousands of partners of a body as large as the bed it is still fast. */
static void sort_by_b(TalusPair *pairs, int64_t count)
{
    int64_t gap = 1;
    while (gap < count / 9)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (int64_t i = gap; i < count; i++) {
            TalusPair moved = pairs[i];
            int64_t j = i;
            for (; j >= gap && pairs[j - gap].b > moved.b; j -= gap)
                pairs[j] = pairs[j - gap];
            pairs[j] = moved;
        }
    }
}

/* Sorts the pairs of each of the keys begin .. end - 1 by b. */
static void sort_keys_by_b(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    const SortJob *job = context;
    for (int64_t k = begin; k < end; k++)
        sort_by_b(job->pairs + job->start[k], (int64_t)job->start[k + 1] - job->start[k]);
}

void talus_sort_pairs_by_b(TalusPool *pool, TalusPair *pairs, const uint32_t *start, uint32_t range)
{
    SortJob job = {.pairs = pairs, .start = (uint32_t *)start};
    talus_parallel(pool, range, WITHIN_GRAIN, sort_keys_by_b, &job);
}
