/* world/id_order.c - the order of slots by ids (id_order.h): a radix sort of those behind the first slots whose ids ascend,
 * and a merge; done again only when some id has changed. */
#include "world/id_order.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* Returns the number of slots from the first one on whose ids ascend. */
static int count_ascending(const uint64_t *id, int slots)
{
    int count = slots > 0;
    while (count < slots && id[count] > id[count - 1])
        count++;
    return count;
}

/* True if the stored order was made from these ids. */
static bool is_current(const TalusIdOrder *o, const uint64_t *id, int slots)
{
    return o->stored && o->slots == slots && memcmp(o->id, id, (size_t)slots * sizeof *id) == 0;
}

/* Sorts slots by one digit of their ids; equal digits stay in order. */
static void sort_by_digit(const uint64_t *id, int shift, int slots, const uint32_t *from,
                          uint32_t *to)
{
    uint32_t start[DIGITS + 1] = {0};
    for (int k = 0; k < slots; k++)
        start[(id[from[k]] >> shift) % DIGITS + 1]++;
    for (int d = 0; d < DIGITS; d++)
        start[d + 1] += start[d];
    for (int k = 0; k < slots; k++)
        to[start[(id[from[k]] >> shift) % DIGITS]++] = from[k];
}

/* Sorts the slots from `first` on by id, into sorted[slots - first]; spare: as long. */
static void sort_rest(const uint64_t *id, int first, int slots, uint32_t *sorted, uint32_t *spare)
{
    const int count = slots - first;
    uint64_t bits = 0;
    for (int k = 0; k < count; k++) {
        sorted[k] = (uint32_t)(first + k);
        bits |= id[first + k];
    }
    for (int shift = 0; shift < 64 && bits >> shift; shift += DIGIT_BITS) {
        sort_by_digit(id, shift, count, sorted, spare);
        memcpy(sorted, spare, (size_t)count * sizeof *spare);
    }
}

/* Merges the slots before `first`, whose ids ascend, with the others, in the order of sorted[slots - first], into
 * at_rank. */
static void merge_slots(const uint64_t *id, int first, int slots, const uint32_t *sorted,
                        uint32_t *at_rank)
{
    int i = 0, j = 0, count = slots - first;
    for (int k = 0; k < slots; k++) {
        const bool rest = i == first || (j < count && id[sorted[j]] < id[i]);
        at_rank[k] = rest ? sorted[j++] : (uint32_t)i++;
    }
}

/* Sorts all slots by id: fills at_rank, with rank as scratch, then rank. On several ranks own bodies mostly ascend; those of
 * the halo follow. */
static void sort_by_id(TalusIdOrder *o, const uint64_t *id, int slots)
{
    const int first = count_ascending(id, slots);
    sort_rest(id, first, slots, o->rank, o->at_rank);
    merge_slots(id, first, slots, o->rank, o->at_rank);
    for (int k = 0; k < slots; k++)
        o->rank[o->at_rank[k]] = (uint32_t)k;
}

TalusStatus talus_id_order_update(TalusIdOrder *o, const uint64_t *id, int slots)
{
    const size_t count = (size_t)slots;
    if (is_current(o, id, slots))
        return TALUS_OK;
    o->stored = false;
    if (count_ascending(id, slots) == slots)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(o->rank, count, 0, "order of bodies"));
    TALUS_TRY(TALUS_GROW(o->at_rank, count, 0, "order of bodies"));
    TALUS_TRY(TALUS_GROW(o->id, count, 0, "order of bodies"));
    memcpy(o->id, id, count * sizeof *id);
    sort_by_id(o, id, slots);
    o->slots = slots;
    o->stored = true;
    return TALUS_OK;
}

void talus_id_order_clear(TalusIdOrder *o)
{
    TALUS_RELEASE(o->rank, o->at_rank, o->id);
    *o = (TalusIdOrder){0};
}
