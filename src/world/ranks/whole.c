/* world/ranks/whole.c - a whole world becomes parts, as after loading, and parts become a whole world on rank 0, as for
 * saving and for pictures. */
#include "world/ranks/ranks.h"
#include "world/save/save.h"
#include "world/state.h"

#include "base/memory.h"

/* ---- from a whole to parts ---- */

TalusStatus talus_world_divide(TalusWorld *world, TalusComm *comm)
{
    TalusRanks *ranks = &world->ranks;
    if (talus_world_is_dealt(world))
        return talus_reject("world: it is divided among ranks already");
    talus_sleep_name_islands(world);
    world->def.comm = comm;
    TALUS_TRY(talus_ranks_init(world));
    if (!ranks->comm)
        return TALUS_OK;
    TALUS_TRY(talus_ranks_divide_references(world));
    ranks->list.own = world->bodies.counts.slots;
    return talus_ranks_deal_in_turn(world, true);
}

/* ---- from parts to a whole ---- */

/* Makes a world like this one without bodies, on one rank. */
static TalusStatus copy_without_bodies(TalusWorld *world, TalusWorld **out)
{
    void *bytes = NULL;
    size_t size = 0;
    TalusStatus status = talus_world_save_without_bodies(world, &bytes, &size);
    TALUS_THEN(status, talus_world_load(bytes, size, 1, world->def.backend, out));
    talus_free(bytes);
    return status;
}

/* Takes the bodies and contacts that all ranks have sent. */
static TalusStatus fill_whole(TalusWorld *whole, const TalusWorld *part)
{
    whole->bodies.counts.created = part->bodies.counts.created;
    whole->bodies.counts.detected = part->bodies.counts.detected;
    TALUS_TRY(talus_ranks_take_all(whole, &part->ranks.inbox));
    whole->ranks.elsewhere = 0;
    talus_sleep_place_islands(whole);
    whole->overlap = part->overlap;
    TALUS_TRY(talus_ranks_put_contacts(whole));
    return talus_ranks_copy_references(part, whole);
}

TalusStatus talus_world_gather(TalusWorld *world, TalusWorld **out)
{
    *out = NULL;
    TalusComm *comm = world->ranks.comm;
    if (!talus_world_is_dealt(world))
        return talus_reject("world: it is whole");
    TALUS_TRY(talus_ranks_send_all(world));
    TalusStatus status = TALUS_OK;
    if (talus_comm_rank(comm) == 0) {
        status = copy_without_bodies(world, out);
        TALUS_THEN(status, fill_whole(*out, world));
    }
    talus_ranks_release_messages(&world->ranks);
    status = talus_comm_agree(comm, status);
    if (status != TALUS_OK) {
        talus_world_destroy(*out);
        *out = NULL;
    }
    return status;
}
