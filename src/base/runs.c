/* base/runs.c - sorting of ascending runs (runs.h): neighbouring runs are merged until one is left. Items move once, at the
 * end; until then their order is a list of their numbers. */
#include "base/runs.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdint.h>
#include <string.h>

typedef struct Sort {
    const unsigned char *item;
    size_t count, size;
    int (*compare)(const void *, const void *);
    size_t *order, *merged; /* [count]: numbers of items; each run of `order` ascends */
    size_t *start;          /* [runs + 1]: in `order` */
    size_t runs;
} Sort;

static bool is_less(const Sort *s, size_t a, size_t b)
{
    return s->compare(s->item + a * s->size, s->item + b * s->size) < 0;
}

static size_t count_runs(const Sort *s)
{
    size_t runs = 1;
    for (size_t k = 1; k < s->count; k++)
        runs += is_less(s, k, k - 1);
    return runs;
}

/* Writes where the runs of the unsorted items start. */
static void find_runs(Sort *s)
{
    s->runs = 0;
    for (size_t k = 0; k < s->count; k++) {
        s->order[k] = k;
        if (k == 0 || is_less(s, k, k - 1))
            s->start[s->runs++] = k;
    }
    s->start[s->runs] = s->count;
}

/* Merges the runs from `begin` to `middle` and from there to `end`. */
static void merge(Sort *s, size_t begin, size_t middle, size_t end)
{
    size_t i = begin, j = middle;
    for (size_t k = begin; k < end; k++) {
        const bool second = i == middle || (j < end && is_less(s, s->order[j], s->order[i]));
        s->merged[k] = s->order[second ? j++ : i++];
    }
}

/* Merges each run of even number with the next one. */
static void merge_neighbours(Sort *s)
{
    size_t runs = 0;
    for (size_t r = 0; r < s->runs; r += 2) {
        const size_t end = r + 1 < s->runs ? s->start[r + 2] : s->start[r + 1];
        merge(s, s->start[r], s->start[r + 1], end);
        s->start[runs++] = s->start[r];
    }
    s->start[runs] = s->count;
    s->runs = runs;
    size_t *order = s->order;
    s->order = s->merged;
    s->merged = order;
}

/* Moves the items to their places by way of a copy. */
static TalusStatus move_items(const Sort *s, unsigned char *item)
{
    unsigned char *copy;
    TALUS_TRY(TALUS_ALLOC(copy, s->count * s->size, "sorting"));
    memcpy(copy, item, s->count * s->size);
    for (size_t k = 0; k < s->count; k++)
        memcpy(item + k * s->size, copy + s->order[k] * s->size, s->size);
    talus_release(copy);
    return TALUS_OK;
}

static TalusStatus sort(Sort *s, size_t runs, unsigned char *item)
{
    TALUS_TRY(TALUS_ALLOC(s->order, s->count, "sorting"));
    TALUS_TRY(TALUS_ALLOC(s->merged, s->count, "sorting"));
    TALUS_TRY(TALUS_ALLOC(s->start, runs + 1, "sorting"));
    find_runs(s);
    while (s->runs > 1)
        merge_neighbours(s);
    return move_items(s, item);
}

TalusStatus talus_sort_runs(void *items, size_t count, size_t size,
                            int (*compare)(const void *, const void *))
{
    Sort s = {.item = items, .count = count, .size = size, .compare = compare};
    const size_t runs = count > 0 ? count_runs(&s) : 1;
    if (runs == 1)
        return TALUS_OK;
    TalusStatus status = sort(&s, runs, items);
    TALUS_RELEASE(s.order, s.merged, s.start);
    return status;
}
