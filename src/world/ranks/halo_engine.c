/* world/ranks/halo_engine.c - the halo of a rank whose engine has memory of its own: a GPU's.
 *
 * While the halo serves, a step moves the states of its bodies alone: from the engine to page-locked memory, to other ranks,
 * and to the engine. The engine says whether it serves. For a new halo the bodies near other ranks' come to the host, which
 * searches among these (halo.c), and the halo's bodies go to the engine. The other bodies stay there, and so do the
 * contacts, which get the slots of the new halo there. All bodies go to the engine after changes of the host. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "base/memory.h"

#include <math.h>

TalusStatus talus_halo_prepare(TalusWorld *world, bool *changed)
{
    const TalusMirror *m = &world->mirror;
    *changed = m->bodies_dirty || m->forces_dirty || m->filters_dirty;
    TALUS_TRY(talus_mirror_upload_own(world));
    return talus_mirror_upload_driven(world); /* whose targets halos have, too */
}

TalusStatus talus_halo_test(TalusWorld *world, const TalusDetectOptions *options, bool solved,
                            bool serves[TALUS_REACH_TESTS])
{
    TalusReachTest test[TALUS_REACH_TESTS];
    talus_ranks_reach_tests(world, options, test);
    for (int k = 0; k < TALUS_REACH_TESTS; k++)
        serves[k] = false;
    if (!talus_ranks_halo_is_known(world))
        return TALUS_OK;
    return world->engine.ops->test_reaches(world->engine.self, test, world->def.gravity, solved,
                                           serves);
}

/* ---- to the host ---- */

TalusStatus talus_halo_fetch(TalusWorld *world, const int32_t *slot, int count, bool solved)
{
    TALUS_TRY(talus_mirror_download_states(world, slot, count));
    return solved ? world->engine.ops->get_motions(world->engine.self, slot, count) : TALUS_OK;
}

/* Number of bodies in lists for, or from, all ranks. */
static int count_slots(const TalusWorld *world, const TalusSlotList *list)
{
    int count = 0;
    for (int r = 0; r < talus_comm_size(world->ranks.comm); r++)
        count += list[r].count;
    return count;
}

/* Sets *out to the slots of all lists, one behind the other, in an array that the caller releases. */
static TalusStatus join_lists(const TalusWorld *world, const TalusSlotList *list, int32_t **out,
                              int *count)
{
    int at = 0;
    *count = count_slots(world, list);
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)*count + 1, "halo"));
    for (int r = 0; r < talus_comm_size(world->ranks.comm); r++)
        for (int k = 0; k < list[r].count; k++)
            (*out)[at++] = list[r].slot[k];
    return TALUS_OK;
}

TalusStatus talus_halo_fetch_sent(TalusWorld *world, bool solved)
{
    int32_t *slot = NULL;
    int count;
    TalusStatus status = join_lists(world, world->ranks.to, &slot, &count);
    TALUS_THEN(status, talus_halo_fetch(world, slot, count, solved));
    talus_release(slot);
    return status;
}

/* ---- which bodies are near other ranks' ---- */

/* Returns a grid over a box, the same on all ranks. */
static TalusNearGrid make_grid(const TalusPeriod *period, const TalusReachBox *box)
{
    TalusNearGrid grid;
    for (int axis = 0; axis < 3; axis++) {
        const double from = talus_along(box->lo, axis), width = talus_along(box->hi, axis) - from;
        const bool one = period->on[axis] || !(width > 0.0) || isinf(width);
        grid.from[axis] = from;
        grid.scale[axis] = one ? 0.0 : TALUS_NEAR_CELLS / width;
    }
    return grid;
}

TalusStatus talus_halo_share_cells(TalusWorld *world, const TalusReachBox *bounds,
                                   TalusNearGrid *grid, uint32_t *others)
{
    TalusRanks *ranks = &world->ranks;
    uint32_t *mine = NULL;
    *grid = make_grid(&world->def.period, bounds);
    TalusStatus status = TALUS_ALLOC(mine, TALUS_NEAR_WORDS, "halo");
    TALUS_THEN(status, world->engine.ops->mark_cells(world->engine.self, grid, mine));
    status = talus_comm_agree(ranks->comm, status);
    TALUS_THEN(status, talus_comm_gather(ranks->comm, mine, TALUS_NEAR_WORDS * sizeof *mine,
                                         &ranks->inbox));
    talus_release(mine);
    TALUS_TRY(status);
    for (int m = 0; m < ranks->inbox.count; m++) {
        const uint32_t *bit = ranks->inbox.message[m].data;
        for (int k = 0;
             ranks->inbox.message[m].rank != talus_comm_rank(ranks->comm) && k < TALUS_NEAR_WORDS;
             k++)
            others[k] |= bit[k];
    }
    return TALUS_OK;
}

/* ---- from engine to engine ---- */

/* Writes a message to, or from, each rank of `list`, whose records follow each other from `data` on; returns the number. */
static int list_messages(const TalusWorld *world, const TalusSlotList *list, void *data,
                         size_t record, TalusMessage *out)
{
    unsigned char *at = data;
    int count = 0;
    for (int r = 0; r < talus_comm_size(world->ranks.comm); r++) {
        const size_t bytes = (size_t)list[r].count * record;
        if (bytes > 0)
            out[count++] = (TalusMessage){at, bytes, r};
        at += bytes;
    }
    return count;
}

/* Copies the states that have come to the host's copies of the bodies: joints are computed there. */
static void scatter_copies(TalusWorld *world, const TalusMotion *motion)
{
    const TalusSlotList *from = world->ranks.from;
    for (int r = 0; r < talus_comm_size(world->ranks.comm); r++) {
        talus_bodies_scatter(&world->bodies, from[r].slot, from[r].count, motion);
        motion += from[r].count;
    }
}

/* What is done once the states have come. Calls between steps may have listed other copies than those of the halo. */
static TalusStatus take_states(TalusWorld *world, const TalusHaloRecords *records, bool solved)
{
    const TalusRanks *ranks = &world->ranks;
    const int own = world->bodies.counts.slots;
    if (world->joints.count > 0 && !solved)
        scatter_copies(world, records->in);
    if (ranks->nears != ranks->halo || ranks->near_begin != own)
        TALUS_TRY(talus_ranks_index_copies(world, own, ranks->halo));
    return world->engine.ops->unpack_halo(world->engine.self, solved);
}

TalusStatus talus_halo_exchange_states(TalusWorld *world, bool solved)
{
    const TalusRanks *ranks = &world->ranks;
    const size_t size = (size_t)talus_comm_size(ranks->comm);
    const TalusBodyArrays arrays = talus_mirror_body_arrays(world);
    TalusHaloRecords records = {0};
    TalusMessage *message = NULL;
    world->engine.ops->refer_to(world->engine.self, &arrays);
    TalusStatus status = TALUS_ALLOC(message, 2 * size, "messages");
    TALUS_THEN(status, world->engine.ops->pack_halo(world->engine.self, solved, &records));
    status = talus_comm_agree(ranks->comm, status);
    if (status == TALUS_OK) {
        const int sends = list_messages(world, ranks->to, records.out, records.bytes, message);
        const int receives =
            list_messages(world, ranks->from, records.in, records.bytes, message + size);
        status = talus_comm_exchange(ranks->comm, message, sends, message + size, receives);
    }
    talus_release(message);
    TALUS_TRY(status);
    return talus_comm_agree(ranks->comm, take_states(world, &records, solved));
}

/* ---- to the engine ---- */

/* Tells the engine which bodies are sent, and which come. */
static TalusStatus put_lists(TalusWorld *world)
{
    int32_t *send = NULL, *receive = NULL;
    TalusHaloLists lists = {0};
    TalusStatus status = join_lists(world, world->ranks.to, &send, &lists.sends);
    TALUS_THEN(status, join_lists(world, world->ranks.from, &receive, &lists.receives));
    lists.send = send;
    lists.receive = receive;
    TALUS_THEN(status, world->engine.ops->put_halo_lists(world->engine.self, &lists));
    TALUS_RELEASE(send, receive);
    return status;
}

/* Gives the engine the solved motions that have come with the records of the inbox, in the order of the lists. */
static TalusStatus put_solved(TalusWorld *world)
{
    const TalusInbox *inbox = &world->ranks.inbox;
    TalusHaloRecords records;
    TALUS_TRY(world->engine.ops->pack_halo(world->engine.self, true, &records));
    TalusSolvedMotion *motion = records.in;
    for (int m = 0; m < inbox->count; m++) {
        const TalusBodyRecord *record = inbox->message[m].data;
        for (size_t k = 0; k < inbox->message[m].bytes / sizeof *record; k++)
            *motion++ = (TalusSolvedMotion){record[k].solved_velocity, record[k].solved_spin};
    }
    return world->engine.ops->unpack_halo(world->engine.self, true);
}

TalusStatus talus_halo_upload(TalusWorld *world, bool solved)
{
    TALUS_TRY(talus_mirror_upload_halo(world));
    TALUS_TRY(put_lists(world));
    return solved ? put_solved(world) : TALUS_OK;
}

/* ---- contacts ---- */

TalusStatus talus_halo_move_contacts(TalusWorld *world)
{
    const TalusRanks *ranks = &world->ranks;
    const TalusListSlots *list = &ranks->list;
    const int own = world->bodies.counts.slots;
    const int kept = list->own < own ? list->own : own, gone = list->own - kept;
    TalusSlotChange change = {.kept = kept, .count = gone + list->halo, .slots = own + ranks->halo};
    int32_t *slot;
    TALUS_TRY(TALUS_ALLOC(slot, (size_t)change.count + 1, "halo"));
    for (int k = 0; k < gone; k++)
        slot[k] = -1; /* a rollback has removed the body */
    for (int k = 0; k < list->halo; k++)
        slot[gone + k] = talus_ranks_slot_of_copy(world, list->id[k]);
    change.slot = slot;
    TalusStatus status = talus_mirror_move_contacts(world, &change);
    talus_release(slot);
    return status;
}
