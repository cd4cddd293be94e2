/* world/ids.c - id numbers of bodies, and the slot of an id.
 *
 * Numbers are assigned in order of creation and never twice. Until the world first reuses a slot, the body with number
 * n has slot n - 1. Bodies with other slots are in the list `displaced`, in ascending order, because numbers only grow.
 * Entries of removed bodies stay until the list is full. */
#include "world/ids.h"
#include "world/state.h"

#include <inttypes.h>
#include <stdlib.h>

/* True if the slot has the living body with this number. */
static bool slot_has_body(const TalusBodies *b, int64_t slot, uint64_t number)
{
    return slot < b->counts.slots && b->shape[slot] >= 0 && b->id[slot] == number;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = ((const TalusDisplaced *)a)->number, y = ((const TalusDisplaced *)b)->number;
    return (x > y) - (x < y);
}

/* Returns the slot of the living body with this number; -1: none. */
static int find_slot(const TalusBodies *b, uint64_t number)
{
    const TalusDisplaced key = {.number = number}, *at = NULL;
    if (number - 1 < (uint64_t)b->counts.slots && slot_has_body(b, (int64_t)number - 1, number))
        return (int)(number - 1);
    if (b->displaced_count > 0)
        at = bsearch(&key, b->displaced, (size_t)b->displaced_count, sizeof key, compare_numbers);
    return at && slot_has_body(b, at->slot, number) ? at->slot : -1;
}

int talus_slot_of(const TalusWorld *world, TalusBodyId id)
{
    return find_slot(&world->bodies, id.number);
}

TalusStatus talus_slot_find(const TalusWorld *world, TalusBodyId id, int *slot)
{
    *slot = find_slot(&world->bodies, id.number);
    if (*slot >= 0)
        return TALUS_OK;
    return talus_reject("body %" PRIu64 ": there is no such body now", id.number);
}

/* Drops the entries of removed bodies from `displaced`. */
static void drop_removed(TalusBodies *b)
{
    int left = 0;
    for (int i = 0; i < b->displaced_count; i++)
        if (slot_has_body(b, b->displaced[i].slot, b->displaced[i].number))
            b->displaced[left++] = b->displaced[i];
    b->displaced_count = left;
}

/* If `displaced` lacks memory for `count` more entries, drops the entries of removed bodies and reserves twice the
 * number of entries then needed, so that this is rare. While no slot has been reused and all bodies are here (in_place), new bodies need no
 * entry. */
TalusStatus talus_ids_reserve(TalusBodies *b, int count, bool consecutive)
{
    const TalusBodyCounts *n = &b->counts;
    bool in_place = consecutive && n->living == n->slots && n->created == (uint64_t)n->slots;
    size_t more = in_place ? 0 : (size_t)count;
    if ((size_t)b->displaced_count + more <= TALUS_CAPACITY(b->displaced))
        return TALUS_OK;
    drop_removed(b);
    size_t used = (size_t)b->displaced_count;
    return TALUS_GROW(b->displaced, 2 * (used + more), used, "bodies");
}

/* Appends the slot's body to `displaced`, which has the capacity, if its number is not slot + 1. */
static void list_if_displaced(TalusBodies *b, int slot)
{
    if (b->id[slot] != (uint64_t)slot + 1)
        b->displaced[b->displaced_count++] = (TalusDisplaced){b->id[slot], slot};
}

void talus_slot_assign_id(TalusBodies *b, int slot)
{
    b->id[slot] = ++b->counts.created;
    list_if_displaced(b, slot);
}

TalusStatus talus_ids_order(const TalusBodies *b, int32_t *slot, int32_t *row)
{
    TalusDisplaced *living;
    int count = 0;
    TALUS_TRY(TALUS_ALLOC(living, (size_t)b->counts.slots + 1, "order of ids"));
    for (int i = 0; i < b->counts.slots; i++) {
        row[i] = -1;
        if (b->shape[i] >= 0)
            living[count++] = (TalusDisplaced){.number = b->id[i], .slot = i};
    }
    if (count > 0)
        qsort(living, (size_t)count, sizeof *living, compare_numbers);
    for (int k = 0; k < count; k++) {
        row[living[k].slot] = k;
        if (slot)
            slot[k] = living[k].slot;
    }
    talus_release(living);
    return TALUS_OK;
}

void talus_ids_rollback(TalusBodies *b)
{
    while (b->displaced_count > 0 &&
           b->displaced[b->displaced_count - 1].number > b->counts.created)
        b->displaced_count--;
}

TalusStatus talus_ids_index_loaded(TalusBodies *b)
{
    size_t count = 0;
    for (int i = 0; i < b->counts.slots; i++)
        count += b->shape[i] >= 0 && b->id[i] != (uint64_t)i + 1;
    TALUS_TRY(TALUS_GROW(b->displaced, count, 0, "bodies"));
    b->displaced_count = 0;
    for (int i = 0; i < b->counts.slots; i++)
        if (b->shape[i] >= 0)
            list_if_displaced(b, i);
    if (count > 1)
        qsort(b->displaced, count, sizeof *b->displaced, compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (find_slot(b, b->displaced[i].number) != b->displaced[i].slot)
            return talus_reject("two bodies have the id %" PRIu64, b->displaced[i].number);
    return TALUS_OK;
}
