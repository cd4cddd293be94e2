/* world/ranks/whole.c - a whole world becomes parts, as after loading, and parts become a whole world on rank 0, as for
 * saving and for pictures. */
#include "world/ranks/ranks.h"
#include "world/save/save.h"
#include "world/state.h"

#include "base/memory.h"

/* ---- from a whole to parts ---- */

/* Blocks are dealt in turn, until talus_ranks_balance deals them by space. */
static int owner_in_turn(uint64_t block, int ranks)
{
    return (int)(block % (uint64_t)ranks);
}

/* Refuses a world with what several ranks cannot do yet. */
static TalusStatus check_parts(const TalusWorld *world)
{
    const TalusSources *s = &world->sources;
    const struct {
        const char *what;
        int count;
    } list[] = {{"joints", world->joints.count},
                {"drives", world->drives},
                {"exclusions", world->filters.count},
                {"probes", world->probes},
                {"sinks", s->sinks},
                {"emitters", s->emitters},
                {"delayed bodies", s->pendings},
                {"sleeping bodies", world->def.sleep_speed > 0.0}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].count > 0)
            TALUS_TRY(talus_ranks_refuse(world, list[i].what));
    return TALUS_OK;
}

TalusStatus talus_world_divide(TalusWorld *world, TalusComm *comm)
{
    TalusRanks *ranks = &world->ranks;
    if (talus_world_is_dealt(world))
        return talus_reject("world: it is divided among ranks already");
    world->def.comm = comm;
    TALUS_TRY(talus_ranks_init(world));
    if (!ranks->comm)
        return TALUS_OK;
    TALUS_TRY(check_parts(world));
    ranks->list.own = world->bodies.counts.slots;
    const int64_t all = world->bodies.counts.living;
    /* every rank has all bodies, and sends itself its own */
    TALUS_TRY(talus_ranks_keep_own(world, owner_in_turn));
    ranks->elsewhere = all - world->bodies.counts.living;
    if (world->bodies.counts.created > 0)
        (void)talus_ranks_owner_of_new(world, world->bodies.counts.created);
    return TALUS_OK;
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
    whole->overlap = part->overlap;
    return talus_ranks_put_contacts(whole);
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
    status = talus_comm_agree(comm, status);
    if (status != TALUS_OK) {
        talus_world_destroy(*out);
        *out = NULL;
    }
    return status;
}
