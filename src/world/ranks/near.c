/* world/ranks/near.c - bodies by their ids: those of all ranks, and the copies that this rank has. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "base/memory.h"
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

/* Sets the impulses to 0 that have come with bodies and are of contacts of this body. */
static void drop_waiting(TalusRanks *ranks, TalusBodyId id)
{
    for (int64_t k = 0; k < ranks->contacts; k++)
        if (ranks->contact[k].a == id.number || ranks->contact[k].b == id.number)
            ranks->contact[k].impulse = talus_vec3(0.0, 0.0, 0.0);
}

void talus_ranks_drop_impulses(TalusWorld *world, TalusBodyId id)
{
    TalusRanks *ranks = &world->ranks;
    const TalusListSlots *list = &ranks->list;
    const int slot = talus_slot_of(world, id);
    if (slot >= 0 && (!ranks->comm || slot < list->own))
        talus_world_drop_impulses(world, slot);
    for (int k = 0; k < list->halo; k++)
        if (list->id[k] == id.number)
            talus_world_drop_impulses(world, list->own + k);
    drop_waiting(ranks, id);
}

/* ---- copies ---- */

static int compare_near(const void *a, const void *b)
{
    const uint64_t x = ((const TalusNearBody *)a)->id, y = ((const TalusNearBody *)b)->id;
    return (x > y) - (x < y);
}

TalusStatus talus_ranks_index_halo(TalusWorld *world)
{
    TalusRanks *ranks = &world->ranks;
    const int own = world->bodies.counts.slots;
    TALUS_TRY(TALUS_GROW(ranks->near, (size_t)ranks->halo + 1, 0, "halo"));
    for (int k = 0; k < ranks->halo; k++)
        ranks->near[k] = (TalusNearBody){world->bodies.id[own + k], own + k};
    if (ranks->halo > 0)
        qsort(ranks->near, (size_t)ranks->halo, sizeof *ranks->near, compare_near);
    return TALUS_OK;
}

int talus_ranks_slot_near(const TalusWorld *world, TalusBodyId id)
{
    const TalusRanks *ranks = &world->ranks;
    const TalusNearBody key = {.id = id.number}, *at = NULL;
    const int slot = talus_slot_of(world, id);
    if (slot < 0 && ranks->halo > 0)
        at = bsearch(&key, ranks->near, (size_t)ranks->halo, sizeof key, compare_near);
    return at ? at->slot : slot;
}
