/* world/id_order.c - the order of slots by ids (id_order.h): a radix sort, done again only when some id has changed. */
#include "world/id_order.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* True if ids ascend with slots. */
static bool ids_ascend(const uint64_t *id, int slots)
{
    for (int i = 1; i < slots; i++)
        if (id[i] <= id[i - 1])
            return false;
    return true;
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

/* Sorts all slots by id: fills at_rank, with rank as scratch, then rank. */
static void sort_by_id(TalusIdOrder *o, const uint64_t *id, int slots)
{
    uint64_t bits = 0;
    for (int i = 0; i < slots; i++) {
        o->at_rank[i] = (uint32_t)i;
        bits |= id[i];
    }
    for (int shift = 0; shift < 64 && bits >> shift; shift += DIGIT_BITS) {
        sort_by_digit(id, shift, slots, o->at_rank, o->rank);
        memcpy(o->at_rank, o->rank, (size_t)slots * sizeof *o->rank);
    }
    for (int k = 0; k < slots; k++)
        o->rank[o->at_rank[k]] = (uint32_t)k;
}

TalusStatus talus_id_order_update(TalusIdOrder *o, const uint64_t *id, int slots)
{
    const size_t count = (size_t)slots;
    if (is_current(o, id, slots))
        return TALUS_OK;
    o->stored = false;
    if (ids_ascend(id, slots))
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
