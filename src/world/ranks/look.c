/* world/ranks/look.c - what a caller sees of a world on several ranks: the bodies and contacts of all, on every rank. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "base/memory.h"
#include "world/contacts.h"
#include "world/ids.h"

#include <stdlib.h>
#include <string.h>

/* ---- bodies ---- */

/* Sets *out to the records of this rank's bodies, in an array that the caller releases. */
static TalusStatus pack_bodies(const TalusWorld *world, TalusBodyRecord **out)
{
    const TalusBodies *b = &world->bodies;
    int count = 0;
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)b->counts.living + 1, "bodies"));
    for (int i = 0; i < b->counts.slots; i++)
        if (b->shape[i] >= 0)
            talus_body_pack(world, i, &(*out)[count++]);
    return TALUS_OK;
}

static int compare_records(const void *a, const void *b)
{
    const uint64_t x = (*(const TalusBodyRecord *const *)a)->id;
    const uint64_t y = (*(const TalusBodyRecord *const *)b)->id;
    return (x > y) - (x < y);
}

/* Writes the bodies of all messages to *out, by ascending numbers. */
static TalusStatus unpack_bodies(const TalusInbox *inbox, TalusBodies *out)
{
    const TalusBodyRecord **record;
    size_t count = 0, all = 0;
    for (int m = 0; m < inbox->count; m++)
        all += inbox->message[m].bytes / sizeof **record;
    TALUS_TRY(talus_bodies_reserve(out, all + 1));
    TALUS_TRY(TALUS_ALLOC(record, all + 1, "bodies"));
    for (int m = 0; m < inbox->count; m++)
        for (size_t k = 0; k < inbox->message[m].bytes / sizeof **record; k++)
            record[count++] = (const TalusBodyRecord *)inbox->message[m].data + k;
    if (all > 0)
        qsort(record, all, sizeof *record, compare_records);
    for (size_t k = 0; k < all; k++)
        talus_body_store(out, record[k], (int)k);
    out->counts.slots = out->counts.living = (int)all;
    talus_release(record);
    return TALUS_OK;
}

TalusStatus talus_ranks_gather_bodies(const TalusWorld *world, TalusBodies *out)
{
    TalusComm *comm = world->ranks.comm;
    TalusBodyRecord *mine = NULL;
    TalusInbox inbox = {0};
    const size_t bytes = (size_t)world->bodies.counts.living * sizeof *mine;
    TalusStatus status = talus_world_download_bodies(world);
    TALUS_THEN(status, pack_bodies(world, &mine));
    status = talus_comm_agree(comm, status);
    TALUS_THEN(status, talus_comm_gather(comm, mine, bytes, &inbox));
    if (status == TALUS_OK)
        status = talus_comm_agree(comm, unpack_bodies(&inbox, out));
    talus_release(mine);
    talus_inbox_clear(&inbox);
    return status;
}

/* ---- contacts ---- */

/* Returns the number of the living body that a slot of the contact list names; 0: it has been removed. */
static uint64_t listed_body(const TalusWorld *world, uint32_t slot)
{
    const TalusBodies *b = &world->bodies;
    const TalusListSlots *list = &world->ranks.list;
    if ((int)slot < list->own)
        return (int)slot < b->counts.slots && talus_slot_was_detected(b, slot) ? b->id[slot] : 0;
    const uint64_t id = list->id[(int)slot - list->own];
    return id <= b->counts.detected ? id : 0;
}

/* Sets *out to the contacts of the engine's list whose first bodies this rank owns, in an array that the caller
 * releases. */
static TalusStatus pack_listed(const TalusWorld *world, TalusSharedContact **out, int *count)
{
    const TalusContactList *list = talus_world_contacts(world);
    const int fixed_end = list->sphere_sphere + list->sphere_fixed;
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)list->count + 1, "contacts"));
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        const uint64_t b = listed_body(world, c->b);
        if ((int)c->a >= world->ranks.list.own || listed_body(world, c->a) == 0 || b == 0)
            continue;
        TalusSharedContact *shared = &(*out)[(*count)++];
        memset(shared, 0, sizeof *shared); /* padding, too: it is sent */
        shared->state = talus_contact_state(world, list, i, b);
        shared->impulse = talus_normal_impulse(list, i);
        shared->run = i < list->sphere_sphere ? 0 : i < fixed_end ? 1 : 2;
        shared->at = i;
    }
    return TALUS_OK;
}

/* The same of the contacts that have come with bodies and are not in the list yet. */
static TalusStatus pack_waiting(TalusWorld *world, TalusSharedContact **out, int *count)
{
    const TalusRanks *ranks = &world->ranks;
    const TalusBodies *b = &world->bodies;
    talus_ranks_sort_contacts(&world->ranks);
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)ranks->contacts + 1, "contacts"));
    for (int64_t i = 0; i < ranks->contacts; i++) {
        const TalusContactRecord *c = &ranks->contact[i];
        const int a = talus_slot_of(world, (TalusBodyId){c->a});
        if (a < 0)
            continue;
        const TalusVec3 arm = c->run == 2 ? c->arms.a : talus_scale(b->radius[a], c->normal);
        TalusSharedContact *shared = &(*out)[(*count)++];
        memset(shared, 0, sizeof *shared); /* padding, too: it is sent */
        shared->state = (TalusContactState){
            .a = {c->a},
            .b = {c->b},
            .point = talus_madd(talus_add(b->position[a], arm), 0.5 * c->gap, c->normal),
            .normal = c->normal,
            .impulse = c->impulse,
            .gap = c->gap};
        shared->impulse = talus_dot(c->impulse, c->normal);
        shared->run = c->run;
        shared->at = (int32_t)i;
    }
    return TALUS_OK;
}

static TalusStatus pack_contacts(const TalusWorld *world, TalusSharedContact **out, int *count)
{
    *count = 0;
    if (world->ranks.moved) /* sorting what waits changes nothing that is seen */
        return pack_waiting((TalusWorld *)world, out, count);
    return pack_listed(world, out, count);
}

/* All contacts of one first body come from one rank. */
static int compare_contacts(const void *a, const void *b)
{
    const TalusSharedContact *x = a, *y = b;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    if (x->state.a.number != y->state.a.number)
        return x->state.a.number < y->state.a.number ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Sets *out to the contacts of all messages, in order. */
static TalusStatus merge_contacts(const TalusInbox *inbox, TalusSharedContact **out, int *count)
{
    size_t all = 0;
    for (int m = 0; m < inbox->count; m++)
        all += inbox->message[m].bytes / sizeof **out;
    TALUS_TRY(TALUS_ALLOC(*out, all + 1, "contacts"));
    *count = (int)all;
    all = 0;
    for (int m = 0; m < inbox->count; m++) {
        if (inbox->message[m].bytes > 0)
            memcpy(*out + all, inbox->message[m].data, inbox->message[m].bytes);
        all += inbox->message[m].bytes / sizeof **out;
    }
    if (all > 0)
        qsort(*out, all, sizeof **out, compare_contacts);
    return TALUS_OK;
}

TalusStatus talus_ranks_gather_contacts(const TalusWorld *world, TalusSharedContact **out,
                                        int *count)
{
    TalusComm *comm = world->ranks.comm;
    TalusSharedContact *mine = NULL;
    TalusInbox inbox = {0};
    int own = 0;
    *out = NULL;
    *count = 0;
    TalusStatus status = talus_ranks_download(world);
    TALUS_THEN(status, pack_contacts(world, &mine, &own));
    status = talus_comm_agree(comm, status);
    TALUS_THEN(status, talus_comm_gather(comm, mine, (size_t)own * sizeof *mine, &inbox));
    if (status == TALUS_OK)
        status = talus_comm_agree(comm, merge_contacts(&inbox, out, count));
    talus_release(mine);
    talus_inbox_clear(&inbox);
    return status;
}

/* ---- bodies that overlap ---- */

/* Gives *copy arrays of its own, with the same bodies, and memory for a halo. */
static TalusStatus copy_bodies(TalusWorld *copy)
{
    const TalusBodies from = copy->bodies;
    const TalusRanks from_ranks = copy->ranks;
    const size_t slots = (size_t)from.counts.slots, size = (size_t)talus_comm_size(copy->def.comm);
    /* the world's own list of ids */
    copy->bodies =
        (TalusBodies){.displaced = from.displaced, .displaced_count = from.displaced_count};
    copy->forces = (TalusForces){0};
    copy->sleep = (TalusSleep){0};
    copy->filters.excluded = NULL;
    copy->ranks = (TalusRanks){.comm = from_ranks.comm,
                               .exclusion = from_ranks.exclusion,
                               .exclusions = from_ranks.exclusions};
    TALUS_TRY(TALUS_ALLOC(copy->ranks.to, size, "ranks"));
    TALUS_TRY(TALUS_ALLOC(copy->ranks.from, size, "ranks"));
    TALUS_TRY(talus_bodies_reserve(&copy->bodies, slots + 1));
    for (int f = 0; f < TALUS_BODY_FIELDS; f++)
        memcpy(talus_body_array(&copy->bodies, f), talus_body_array(&from, f),
               slots * talus_body_fields[f].element);
    copy->bodies.counts = from.counts;
    return TALUS_OK;
}

TalusStatus talus_ranks_copy_with_halo(const TalusWorld *world, TalusWorld **out)
{
    const TalusDetectOptions options = {0};
    TalusComm *comm = world->ranks.comm;
    *out = NULL;
    TALUS_TRY(talus_comm_agree(comm, TALUS_ALLOC(*out, 1, "overlaps")));
    **out = *world;
    TalusStatus status = talus_comm_agree(comm, copy_bodies(*out));
    TALUS_THEN(status, talus_ranks_gather_halo(*out, &options));
    if (status != TALUS_OK) {
        talus_ranks_drop_copy(*out);
        *out = NULL;
    }
    return status;
}

void talus_ranks_drop_copy(TalusWorld *copy)
{
    copy->bodies.displaced = NULL; /* the world's own */
    talus_bodies_clear(&copy->bodies);
    talus_forces_clear(copy);
    talus_sleep_clear(copy);
    talus_release(copy->filters.excluded);
    copy->ranks.exclusion = NULL; /* the world's own */
    talus_ranks_clear(&copy->ranks);
    talus_release(copy);
}
