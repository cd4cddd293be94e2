/* world/ranks/near.c - bodies by their ids: those of all ranks, and the copies that this rank has. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "base/memory.h"
#include "base/runs.h"
#include "world/ids.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- any body, for calls that name it ---- */

TalusStatus talus_ranks_get_body(const TalusWorld *world, TalusBodyId id, TalusBodyRecord *out)
{
    TalusComm *comm = world->ranks.comm;
    const int slot = talus_slot_of(world, id);
    double owner = slot >= 0 ? talus_comm_rank(comm) : -1.0;
    if (slot >= 0)
        talus_body_pack(world, slot, out);
    talus_comm_find_maxima(comm, &owner, 1);
    if (owner >= 0.0)
        return talus_comm_broadcast(comm, (int)owner, out, sizeof *out);
    return talus_reject("body %" PRIu64 ": there is no such body now", id.number);
}

/* ---- copies ---- */

static int compare_near(const void *a, const void *b)
{
    const uint64_t x = ((const TalusNearBody *)a)->id, y = ((const TalusNearBody *)b)->id;
    return (x > y) - (x < y);
}

/* True if the copies in these slots are those that are known. */
static bool is_indexed(const TalusWorld *world, int begin, int count)
{
    const TalusRanks *ranks = &world->ranks;
    if (ranks->nears != count || ranks->near_begin != begin)
        return false;
    for (int k = 0; k < count; k++)
        if (world->bodies.id[ranks->near[k].slot] != ranks->near[k].id)
            return false;
    return true;
}

TalusStatus talus_ranks_index_copies(TalusWorld *world, int begin, int count)
{
    TalusRanks *ranks = &world->ranks;
    if (is_indexed(world, begin, count))
        return TALUS_OK;
    ranks->nears = 0;
    ranks->near_begin = begin;
    TALUS_TRY(TALUS_GROW(ranks->near, (size_t)count + 1, 0, "halo"));
    for (int k = 0; k < count; k++)
        ranks->near[k] = (TalusNearBody){world->bodies.id[begin + k], begin + k};
    TALUS_TRY(talus_sort_runs(ranks->near, (size_t)count, sizeof *ranks->near, compare_near));
    ranks->nears = count;
    return TALUS_OK;
}

int talus_ranks_slot_of_copy(const TalusWorld *world, uint64_t id)
{
    const TalusRanks *ranks = &world->ranks;
    const TalusNearBody key = {.id = id}, *at = NULL;
    if (ranks->nears > 0)
        at = bsearch(&key, ranks->near, (size_t)ranks->nears, sizeof key, compare_near);
    return at ? at->slot : -1;
}

int talus_ranks_slot_near(const TalusWorld *world, TalusBodyId id)
{
    const int slot = talus_slot_of(world, id);
    return slot < 0 ? talus_ranks_slot_of_copy(world, id.number) : slot;
}

/* ---- slots of the contact list ---- */

uint64_t talus_ranks_listed_body(const TalusWorld *world, uint32_t slot)
{
    const TalusBodies *b = &world->bodies;
    const TalusListSlots *list = &world->ranks.list;
    if ((int)slot < list->own || !talus_world_is_dealt(world))
        return (int)slot < b->counts.slots && talus_slot_was_detected(b, slot) ? b->id[slot] : 0;
    const uint64_t id = list->id[(int)slot - list->own];
    return id <= b->counts.detected ? id : 0;
}
