/* world/ranks/ranks.c - what a world on several ranks can do, and its memory. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "base/memory.h"

bool talus_world_is_dealt(const TalusWorld *world)
{
    return world->ranks.comm != NULL;
}

int64_t talus_world_living(const TalusWorld *world)
{
    return world->bodies.counts.living + world->ranks.elsewhere;
}

TalusStatus talus_ranks_refuse(const TalusWorld *world, const char *what)
{
    if (!talus_world_is_dealt(world))
        return TALUS_OK;
    return talus_fail(TALUS_ERR_UNSUPPORTED,
                      "a world on %d ranks has no %s yet; one on one rank has",
                      talus_comm_size(world->ranks.comm), what);
}

TalusStatus talus_ranks_init(TalusWorld *world)
{
    TalusRanks *ranks = &world->ranks;
    const size_t size = (size_t)talus_comm_size(world->def.comm);
    if (size == 1)
        return TALUS_OK;
    ranks->comm = world->def.comm;
    TALUS_TRY(TALUS_ALLOC(ranks->to, size, "ranks"));
    return TALUS_ALLOC(ranks->from, size, "ranks");
}

void talus_ranks_clear(TalusRanks *ranks)
{
    for (int r = 0; r < talus_comm_size(ranks->comm) && ranks->to && ranks->from; r++)
        TALUS_RELEASE(ranks->to[r].slot, ranks->from[r].slot);
    talus_inbox_clear(&ranks->inbox);
    if (ranks->frames)
        ranks->free_frames(ranks->frames);
    TALUS_RELEASE(ranks->to, ranks->from, ranks->owner, ranks->reach, ranks->list.id,
                  ranks->list_before.id, ranks->contact, ranks->out, ranks->near, ranks->exclusion);
}

void talus_ranks_release_messages(TalusRanks *ranks)
{
    talus_inbox_clear(&ranks->inbox);
    TALUS_RELEASE(ranks->out);
    ranks->out = NULL;
}

int talus_ranks_owner_of_new(TalusWorld *world, uint64_t number)
{
    TalusRanks *ranks = &world->ranks;
    const uint64_t block = talus_number_block(number);
    if (block != ranks->newest.block || number == 1) {
        ranks->newest.block = block;
        ranks->newest.owner = talus_owner_in_turn(block, talus_comm_size(ranks->comm));
    }
    return ranks->newest.owner;
}
