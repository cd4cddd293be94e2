/* world/ranks/drop.c - drops the impulses of a body's contacts on all ranks. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "world/ids.h"

/* Sets the impulses to 0 of contacts of this body that have come with bodies. */
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
