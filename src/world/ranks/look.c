/* world/ranks/look.c - what a caller sees of a world on several ranks: the bodies and contacts of all, on every rank. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "base/memory.h"
#include "comm/stream.h"
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
    const TalusStatus status = talus_body_sort_records(record, all);
    for (size_t k = 0; k < all && status == TALUS_OK; k++)
        talus_body_store(out, record[k], (int)k);
    out->counts.slots = out->counts.living = (int)all;
    talus_release(record);
    return status;
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

/* Sets *out to the contacts of the engine's list whose first bodies this rank owns, in an array that the caller
 * releases. */
static TalusStatus pack_listed(const TalusWorld *world, TalusSharedContact **out, int64_t *count)
{
    const TalusContactList *list = talus_world_contacts(world);
    const int fixed_end = list->sphere_sphere + list->sphere_fixed;
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)list->count + 1, "contacts"));
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        const uint64_t b = talus_ranks_listed_body(world, c->b);
        if ((int)c->a >= world->ranks.list.own || talus_ranks_listed_body(world, c->a) == 0 ||
            b == 0)
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
static TalusStatus pack_waiting(TalusWorld *world, TalusSharedContact **out, int64_t *count)
{
    const TalusRanks *ranks = &world->ranks;
    const TalusBodies *b = &world->bodies;
    TALUS_TRY(talus_ranks_sort_contacts(&world->ranks));
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)ranks->contacts + 1, "contacts"));
    for (int64_t i = 0; i < ranks->contacts; i++) {
        const TalusContactRecord *c = &ranks->contact[i];
        const int a = talus_slot_of(world, (TalusBodyId){c->a});
        if (a < 0)
            continue;
        const TalusVec3 arm = c->run == 2 ? c->arms.a : talus_scale(b->radius[a], c->normal);
        const TalusVec3 point = talus_madd(talus_add(b->position[a], arm), 0.5 * c->gap, c->normal);
        TalusSharedContact *shared = &(*out)[(*count)++];
        memset(shared, 0, sizeof *shared); /* padding, too: it is sent */
        shared->state = (TalusContactState){
            .a = {c->a},
            .b = {c->b},
            .point = point,
            .normal = c->normal,
            .impulse = c->impulse,
            .gap = c->gap,
            .branch_a = talus_branch(&world->def.period, b->position[a], point)};
        shared->impulse = talus_dot(c->impulse, c->normal);
        shared->run = c->run;
        shared->at = (int32_t)i;
    }
    return TALUS_OK;
}

static TalusStatus pack_contacts(const TalusWorld *world, TalusSharedContact **out, int64_t *count)
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
static TalusStatus merge_contacts(const TalusInbox *inbox, TalusSharedContact **out, int64_t *count)
{
    size_t all = 0;
    for (int m = 0; m < inbox->count; m++)
        all += inbox->message[m].bytes / sizeof **out;
    TALUS_TRY(TALUS_ALLOC(*out, all + 1, "contacts"));
    *count = (int64_t)all;
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
                                        int64_t *count)
{
    TalusComm *comm = world->ranks.comm;
    TalusSharedContact *mine = NULL;
    TalusInbox inbox = {0};
    int64_t own = 0;
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

/* ---- for rank 0 alone ---- */

/* Items of one size, of this rank or, on rank 0, of all. */
typedef struct Items {
    void *item;
    size_t element, count;
} Items;

static void fill_items(const void *context, int64_t first, int64_t count, void *out)
{
    const Items *items = context;
    memcpy(out, (const char *)items->item + (size_t)first * items->element,
           (size_t)count * items->element);
}

static TalusStatus put_items(void *context, const void *bytes, size_t size)
{
    Items *items = context;
    memcpy((char *)items->item + items->count * items->element, bytes, size);
    items->count += size / items->element;
    return TALUS_OK;
}

/* Rank 0: makes room for the items of all ranks. */
static TalusStatus open_items(Items *items, int64_t all)
{
    if (all > INT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "%lld contacts; at most %d can be looked at",
                          (long long)all, INT32_MAX);
    return talus_alloc(&items->item, (size_t)all + 1, items->element, "contacts");
}

/* Sets *out to the items of all ranks, on rank 0. */
static TalusStatus bring_items(TalusComm *comm, const Items *mine, Items *out)
{
    TalusSpan span = {.count = (int64_t)mine->count};
    const TalusByteSink sink = {put_items, out};
    *out = (Items){.element = mine->element};
    TALUS_TRY(talus_comm_find_spans(comm, &span, 1));
    TALUS_TRY(
        talus_comm_agree(comm, talus_comm_rank(comm) == 0 ? open_items(out, span.all) : TALUS_OK));
    return talus_comm_stream(comm, span, mine->element, fill_items, mine, &sink);
}

TalusStatus talus_ranks_bring_contacts(const TalusWorld *world, TalusSharedContact **out,
                                       int64_t *count)
{
    TalusComm *comm = world->ranks.comm;
    TalusSharedContact *mine = NULL;
    Items all = {0};
    int64_t own = 0;
    TalusStatus status = talus_ranks_download(world);
    TALUS_THEN(status, pack_contacts(world, &mine, &own));
    status = talus_comm_agree(comm, status);
    const Items items = {mine, sizeof *mine, (size_t)own};
    TALUS_THEN(status, bring_items(comm, &items, &all));
    if (status == TALUS_OK && all.count > 0)
        qsort(all.item, all.count, sizeof *mine, compare_contacts);
    talus_release(mine);
    *out = all.item;
    *count = (int64_t)all.count;
    return status;
}

/* ---- impulses on bodies that are not free ---- */

/* True if the body in the slot is not free. */
static bool is_held(const TalusWorld *world, int slot)
{
    return world->bodies.mobility[slot] != TALUS_MOBILITY_FREE;
}

/* True if the body in a slot of the contact list is not free, or not known here any more. */
static bool is_listed_held(const TalusWorld *world, uint32_t slot)
{
    const int own = world->ranks.list.own, slots = world->bodies.counts.slots + world->ranks.halo;
    const bool there =
        (int)slot < own ||
        ((int)slot < slots && world->bodies.id[slot] == world->ranks.list.id[(int)slot - own]);
    return !there || is_held(world, (int)slot);
}

/* Lists those of the engine's list. The copies of the halo have the mobility that bodies had at the detection; a body that has
 * fallen asleep since then has its contacts in the list of its owner, too. */
static int list_held(const TalusWorld *world, TalusHeldImpulse *out)
{
    const TalusContactList *list = talus_world_contacts(world);
    const int fixed_end = list->sphere_sphere + list->sphere_fixed;
    int count = 0;
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        const TalusHeldImpulse held = {.a = talus_ranks_listed_body(world, c->a),
                                       .b = talus_ranks_listed_body(world, c->b),
                                       .feature = c->feature,
                                       .run = i < list->sphere_sphere ? 0
                                              : i < fixed_end         ? 1
                                                                      : 2,
                                       .impulse = talus_normal_impulse(list, i)};
        if (held.impulse > 0.0 && held.a != 0 && held.b != 0 &&
            (is_listed_held(world, c->a) || is_listed_held(world, c->b)))
            out[count++] = held;
    }
    return count;
}

/* Lists those that wait for a list, and all whose second bodies are not known here. */
static int list_waiting_held(const TalusWorld *world, TalusHeldImpulse *out)
{
    const TalusRanks *ranks = &world->ranks;
    int count = 0;
    for (int64_t k = 0; k < ranks->contacts; k++) {
        const TalusContactRecord *c = &ranks->contact[k];
        const int a = talus_slot_of(world, (TalusBodyId){c->a});
        const int b = talus_slot_of(world, (TalusBodyId){c->b});
        const TalusHeldImpulse held = {c->a, c->b, c->feature, c->run,
                                       talus_dot(c->impulse, c->normal)};
        if (held.impulse > 0.0 && ((a >= 0 && is_held(world, a)) || b < 0 || is_held(world, b)))
            out[count++] = held;
    }
    return count;
}

static TalusStatus pack_held(const TalusWorld *world, Items *out)
{
    const bool waiting = world->ranks.moved;
    const size_t most =
        waiting ? (size_t)world->ranks.contacts : (size_t)talus_world_contacts(world)->count;
    *out = (Items){.element = sizeof(TalusHeldImpulse)};
    TALUS_TRY(talus_alloc(&out->item, most + 1, out->element, "contacts"));
    out->count =
        (size_t)(waiting ? list_waiting_held(world, out->item) : list_held(world, out->item));
    return TALUS_OK;
}

static int compare_held(const void *a, const void *b)
{
    const TalusHeldImpulse *x = a, *y = b;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return (x->feature > y->feature) - (x->feature < y->feature);
}

/* Sorts the impulses, and leaves out those that two ranks have sent. */
static void sort_held(Items *items)
{
    TalusHeldImpulse *held = items->item;
    size_t kept = 0;
    if (items->count > 0)
        qsort(held, items->count, sizeof *held, compare_held);
    for (size_t k = 0; k < items->count; k++)
        if (kept == 0 || compare_held(&held[k], &held[kept - 1]) != 0)
            held[kept++] = held[k];
    items->count = kept;
}

TalusStatus talus_ranks_bring_held(const TalusWorld *world, TalusHeldImpulse **out, int64_t *count)
{
    TalusComm *comm = world->ranks.comm;
    Items mine = {0}, all = {0};
    TalusStatus status = talus_ranks_download(world);
    TALUS_THEN(status, pack_held(world, &mine));
    status = talus_comm_agree(comm, status);
    TALUS_THEN(status, bring_items(comm, &mine, &all));
    if (status == TALUS_OK)
        sort_held(&all);
    talus_release(mine.item);
    *out = all.item;
    *count = (int64_t)all.count;
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
