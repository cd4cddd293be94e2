/* world/joint/joint_ranks.c - joints of a world on several ranks.
 *
 * All ranks have all joints and the same warm starts and sums, and copies of all jointed bodies of other ranks. Each
 * makes the blocks of joints, eliminates them in every product and projects bodies onto them, from the same numbers as
 * the others, so that a machine may be spread over ranks. Within a step the copies are in the halo; for calls between
 * steps they are fetched anew. */
#include "world/ids.h"
#include "world/joint/joint.h"
#include "world/state.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- this rank's bodies ---- */

void talus_joints_mark_own(const TalusWorld *world, uint8_t *jointed)
{
    for (int i = 0; i < world->joints.count; i++) {
        const TalusJointDef *def = &world->joints.joint[i].def;
        for (int k = 0; k < TALUS_JOINT_BODIES; k++) {
            const int slot = talus_slot_of(world, talus_joint_body(def, k));
            if (slot >= 0)
                jointed[slot] = 1;
        }
    }
}

static int compare_slots(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Lists the slots, each once, of the bodies of joints that this rank owns; only != NULL: of this joint. */
static TalusStatus list_own(TalusWorld *world, const TalusJointDef *only)
{
    TalusJointExchange *x = &world->joints.exchange;
    const TalusJoints *joints = &world->joints;
    const int count = only ? 1 : joints->count;
    int listed = 0;
    TALUS_TRY(TALUS_GROW(x->own, TALUS_JOINT_BODIES * ((size_t)count + 1), 0, "jointed bodies"));
    for (int i = 0; i < count; i++) {
        const TalusJointDef *def = only ? only : &joints->joint[i].def;
        for (int k = 0; k < TALUS_JOINT_BODIES; k++) {
            const int slot = talus_slot_of(world, talus_joint_body(def, k));
            if (slot >= 0)
                x->own[listed++] = slot;
        }
    }
    if (listed > 0)
        qsort(x->own, (size_t)listed, sizeof *x->own, compare_slots);
    x->own_bodies = 0;
    for (int k = 0; k < listed; k++)
        if (k == 0 || x->own[k] != x->own[k - 1])
            x->own[x->own_bodies++] = x->own[k];
    return TALUS_OK;
}

/* Writes the records of the listed bodies to TalusRanks.out, and one message with them to each other rank. */
static TalusStatus pack_own(TalusWorld *world, const TalusJointDef *only, TalusMessage *message)
{
    TalusJointExchange *x = &world->joints.exchange;
    TalusRanks *ranks = &world->ranks;
    TalusBodyRecord record;
    TALUS_TRY(list_own(world, only));
    const size_t bytes = (size_t)x->own_bodies * sizeof record;
    TALUS_TRY(TALUS_GROW(ranks->out, bytes + 1, 0, "messages"));
    for (int k = 0; k < x->own_bodies; k++) {
        talus_body_pack(world, x->own[k], &record);
        memcpy(ranks->out + (size_t)k * sizeof record, &record, sizeof record);
    }
    for (int r = 0, at = 0; r < talus_comm_size(ranks->comm); r++)
        if (r != talus_comm_rank(ranks->comm))
            message[at++] = (TalusMessage){ranks->out, bytes, r};
    return TALUS_OK;
}

/* Brings the jointed bodies of all other ranks, or those of one joint alone, to the inbox. */
static TalusStatus gather_bodies(TalusWorld *world, const TalusJointDef *only)
{
    TalusRanks *ranks = &world->ranks;
    const int others = talus_comm_size(ranks->comm) - 1;
    TalusMessage *message;
    TalusStatus status = TALUS_ALLOC(message, (size_t)others, "messages");
    TALUS_THEN(status, pack_own(world, only, message));
    status = talus_comm_agree(ranks->comm, status);
    TALUS_THEN(status, talus_comm_route(ranks->comm, message, others, &ranks->inbox));
    talus_release(message);
    return status;
}

static int count_records(const TalusMessage *message)
{
    return (int)(message->bytes / sizeof(TalusBodyRecord));
}

/* ---- between steps ---- */

/* Writes the bodies of the inbox behind the halo, which stays as it is, and lists them by ids. */
static TalusStatus place_copies(TalusWorld *world)
{
    const TalusInbox *inbox = &world->ranks.inbox;
    const int begin = world->bodies.counts.slots + world->ranks.halo;
    int count = 0;
    for (int m = 0; m < inbox->count; m++)
        count += count_records(&inbox->message[m]);
    TALUS_TRY(talus_bodies_reserve_keeping(&world->bodies, (size_t)(begin + count), (size_t)begin));
    for (int m = 0, slot = begin; m < inbox->count; m++) {
        const TalusBodyRecord *record = inbox->message[m].data;
        for (int k = 0; k < count_records(&inbox->message[m]); k++)
            TALUS_TRY(talus_body_unpack(world, &record[k], slot++));
    }
    return talus_ranks_index_copies(world, begin, count);
}

TalusStatus talus_joints_fetch_bodies(TalusWorld *world, const TalusJointDef *only)
{
    if (!talus_world_is_dealt(world) || (world->joints.count == 0 && !only))
        return TALUS_OK;
    TALUS_TRY(talus_comm_agree(world->ranks.comm, talus_world_download_bodies(world)));
    TALUS_TRY(gather_bodies(world, only));
    return talus_comm_agree(world->ranks.comm, place_copies(world));
}

/* ---- within a step ---- */

TalusStatus talus_joints_renew_copies(TalusWorld *world)
{
    const TalusInbox *inbox = &world->ranks.inbox;
    TalusBodies *b = &world->bodies;
    if (!talus_world_is_dealt(world))
        return TALUS_OK;
    TALUS_TRY(gather_bodies(world, NULL));
    for (int m = 0; m < inbox->count; m++) {
        const TalusBodyRecord *record = inbox->message[m].data;
        for (int k = 0; k < count_records(&inbox->message[m]); k++) {
            const int32_t slot = talus_ranks_slot_near(world, (TalusBodyId){record[k].id});
            const TalusMotion motion = {record[k].position, record[k].velocity, record[k].spin,
                                        record[k].orientation};
            if (slot >= 0)
                talus_bodies_scatter(b, &slot, 1, &motion);
        }
    }
    return TALUS_OK;
}
