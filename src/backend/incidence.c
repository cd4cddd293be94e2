/* backend/incidence.c - the contacts of each body (incidence.h), by a counting sort.
 *
 * With several threads, entries reach their body's list in any order; each list is then sorted. */
#include "backend/incidence.h"

#include "base/lane.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

/* CONTACT_GRAIN, LIST_GRAIN: contacts and lists per chunk. Lists up to SHORT are sorted by insertion. */
enum { CONTACT_GRAIN = 4096, LIST_GRAIN = 2048, SHORT = 64 };

/* Arguments of the loops. */
typedef struct Listing {
    const TalusOperator *op;
    TalusIncidenceFn *entry_of;
    const void *context; /* of entry_of */
    int32_t *start, *entry;
    bool shared; /* several threads count and fill at the same time */
} Listing;

/* Adds 1 to a number; returns its value before. */
static int32_t increment(int32_t *number, bool shared)
{
    return shared ? __atomic_fetch_add(number, 1, __ATOMIC_RELAXED) : (*number)++;
}

/* Counts the entries of body b in start[b + 2]. entry_of is a constant after inlining. */
KERNEL void count_range(const Listing *l, TalusIncidenceFn *entry_of, int64_t begin, int64_t end)
{
    for (int i = (int)begin; i < end; i++)
        for (int side = 0; side < 2; side++)
            if (entry_of(l->context, l->op, i, side) >= 0)
                increment(&l->start[l->op->pair[i][side] + 2], l->shared);
}

/* Writes the entries. start[b + 1] is the place of the next entry of body b, so that at the end it is the start of body
 * b + 1. entry_of is a constant after inlining. */
KERNEL void write_range(const Listing *l, TalusIncidenceFn *entry_of, int64_t begin, int64_t end)
{
    for (int i = (int)begin; i < end; i++)
        for (int side = 0; side < 2; side++) {
            int32_t entry = entry_of(l->context, l->op, i, side);
            if (entry >= 0)
                l->entry[increment(&l->start[l->op->pair[i][side] + 1], l->shared)] = entry;
        }
}

/* count_range for contacts [begin, end), with the common function as a constant. */
static void count_entries(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Listing *l = context;
    (void)chunk;
    if (l->entry_of)
        count_range(l, l->entry_of, begin, end);
    else
        count_range(l, talus_wrench_entry, begin, end);
}

/* write_range for contacts [begin, end), likewise. */
static void write_entries(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Listing *l = context;
    (void)chunk;
    if (l->entry_of)
        write_range(l, l->entry_of, begin, end);
    else
        write_range(l, talus_wrench_entry, begin, end);
}

static int compare_entries(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void sort_list(int32_t *entry, int count)
{
    if (count > SHORT) {
        qsort(entry, (size_t)count, sizeof *entry, compare_entries);
        return;
    }
    for (int k = 1; k < count; k++) {
        int32_t moved = entry[k];
        int to = k;
        for (; to > 0 && entry[to - 1] > moved; to--)
            entry[to] = entry[to - 1];
        entry[to] = moved;
    }
}

/* Sorts the lists of bodies [begin, end). */
static void sort_lists(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Listing *l = context;
    (void)chunk;
    for (int64_t b = begin; b < end; b++)
        sort_list(l->entry + l->start[b], l->start[b + 1] - l->start[b]);
}

void talus_list_incidences(const TalusOperator *op, TalusIncidenceFn *entry_of, const void *context,
                           int32_t *start, int32_t *entry)
{
    Listing l = {op, entry_of, context, start, entry, talus_pool_threads(op->pool) > 1};
    memset(start, 0, ((size_t)op->bodies + 2) * sizeof *start);
    talus_parallel(op->pool, op->blocks, CONTACT_GRAIN, count_entries, &l);
    for (int b = 0; b < op->bodies; b++)
        start[b + 2] += start[b + 1];
    talus_parallel(op->pool, op->blocks, CONTACT_GRAIN, write_entries, &l);
    if (l.shared)
        talus_parallel(op->pool, op->bodies, LIST_GRAIN, sort_lists, &l);
}
