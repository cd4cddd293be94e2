/* world/ranks/ask.c - calls that name a body: its owner acts, and all ranks get the same answer. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "world/ids.h"

#include <inttypes.h>

TalusStatus talus_ranks_find_body(const TalusWorld *world, TalusBodyId id, int *slot)
{
    int64_t owners;
    if (!talus_world_is_dealt(world))
        return talus_slot_find(world, id, slot);
    *slot = talus_slot_of(world, id);
    owners = *slot >= 0;
    TALUS_TRY(talus_comm_add_counts(world->ranks.comm, &owners, 1));
    if (owners > 0)
        return TALUS_OK;
    return talus_reject("body %" PRIu64 ": there is no such body now", id.number);
}

bool talus_ranks_body_is_dynamic(const TalusWorld *world, int slot)
{
    return talus_comm_any(world->ranks.comm,
                          slot >= 0 && talus_slot_is_dynamic(&world->bodies, slot));
}

void talus_ranks_take_from_owner(const TalusWorld *world, int slot, double *value)
{
    if (slot < 0)
        *value = -INFINITY; /* any other number is larger */
    talus_comm_find_maxima(world->ranks.comm, value, 1);
}

void talus_ranks_forget_body(TalusWorld *world, TalusBodyId id)
{
    TalusRanks *ranks = &world->ranks;
    TalusListSlots *list = &ranks->list;
    int64_t kept = 0;
    if (!talus_world_is_dealt(world))
        return;
    for (int i = 0; i < world->joints.count; i++) {
        TalusJoint *joint = &world->joints.joint[i];
        joint->removed |= talus_joint_has_body(&joint->def, id);
    }
    for (int k = 0; k < list->halo; k++)
        if (list->id[k] == id.number)
            list->id[k] = 0; /* no body */
    for (int64_t k = 0; k < ranks->contacts; k++)
        if (ranks->contact[k].a != id.number && ranks->contact[k].b != id.number)
            ranks->contact[kept++] = ranks->contact[k];
    ranks->contacts = kept;
}
