/* world/ids.c - which slot a body has. */
#include "world/ids.h"
#include "world/state.h"

int talus_slot_of(const TalusWorld *world, TalusBodyId id)
{
    const TalusBodies *bodies = &world->bodies;
    bool there = id.index < (uint32_t)bodies->counts.slots && bodies->shape[id.index] >= 0 &&
                 bodies->generation[id.index] == id.generation;
    return there ? (int)id.index : -1;
}

TalusStatus talus_no_such_body(TalusBodyId id)
{
    return talus_fail(TALUS_ERR_ARGUMENT, "body %u, generation %u: there is no such body now",
                      id.index, id.generation);
}
