/* world/ranks/deal.c - which rank owns which bodies.
 *
 * New blocks of numbers are dealt in turn. Before a step, blocks are dealt along Hilbert's curve through the centres of
 * their bodies, so that ranks have about equally many bodies and contacts, if many bodies are new or some rank has much
 * more than its share. A body that changes ranks takes the impulses of its contacts along. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "backend/host.h"
#include "base/memory.h"
#include "comm/halo.h"
#include "world/ids.h"
#include "world/ranks/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bodies are dealt anew if the largest share of bodies and contacts exceeds the mean by this factor, which is looked at
 * every LOOK_STEPS steps, or if this share of the bodies is new. */
static const double IMBALANCE = 1.2, NEW_SHARE = 0.1;
enum { LOOK_STEPS = 32, MAX_CURVE_BITS = 7 };

/* Bodies of one block of numbers, all of this rank. */
typedef struct Block {
    TalusVec3 sum; /* of positions */
    int64_t weight;
    int bodies;
    int owner; /* to be */
} Block;

/* What is sent to one rank: bodies, then contacts, whose records follow. */
typedef struct Parcel {
    int64_t bodies, contacts;
} Parcel;

typedef struct Deal {
    TalusWorld *world;
    TalusRanks *ranks;
    int slots, rank, size;
    int32_t *block_of; /* [slots]: index in block; -1: dead */
    Block *block;
    int blocks;
    uint64_t *number; /* [blocks]: of the block */
    TalusVec3 lo, hi; /* bounds of all centres of blocks */
    int bits;         /* of the curve, for each axis */
    TalusMessage *message;
    int messages;
} Deal;

/* ---- blocks ---- */

/* A block's number and a body of it. */
typedef struct Member {
    uint64_t number;
    int32_t slot;
} Member;

static int compare_members(const void *a, const void *b)
{
    const uint64_t x = ((const Member *)a)->number, y = ((const Member *)b)->number;
    return (x > y) - (x < y);
}

/* Finds the blocks of this rank's bodies. */
static TalusStatus find_blocks(Deal *d)
{
    const TalusBodies *b = &d->world->bodies;
    Member *member;
    int living = 0;
    TALUS_TRY(TALUS_ALLOC(member, (size_t)d->slots + 1, "blocks of bodies"));
    for (int i = 0; i < d->slots; i++)
        if (b->shape[i] >= 0)
            member[living++] = (Member){talus_number_block(b->id[i]), i};
        else
            d->block_of[i] = -1;
    if (living > 0)
        qsort(member, (size_t)living, sizeof *member, compare_members);
    for (int k = 0; k < living; k++) {
        if (k == 0 || member[k].number != member[k - 1].number)
            d->number[d->blocks++] = member[k].number;
        Block *block = &d->block[d->blocks - 1];
        d->block_of[member[k].slot] = d->blocks - 1;
        block->sum = talus_add(block->sum, b->position[member[k].slot]);
        block->weight++;
        block->bodies++;
    }
    talus_release(member);
    return TALUS_OK;
}

/* Adds the contacts of the last step to the weights of the blocks of their first bodies. */
static void weigh_contacts(Deal *d)
{
    const TalusContactList *list = talus_world_contacts(d->world);
    const TalusListSlots *known = &d->ranks->list;
    for (int i = 0; i < list->count && !d->ranks->moved; i++) {
        const int a = (int)list->contact[i].a;
        if (a < known->own && a < d->slots && d->block_of[a] >= 0)
            d->block[d->block_of[a]].weight++;
    }
}

static TalusVec3 centre_of(const Block *block)
{
    return talus_scale(1.0 / block->bodies, block->sum);
}

/* Finds the bounds of the centres of all ranks' blocks. */
static void find_bounds(Deal *d)
{
    double bound[6];
    for (int k = 0; k < 6; k++)
        bound[k] = -INFINITY;
    for (int k = 0; k < d->blocks; k++) {
        const TalusVec3 x = centre_of(&d->block[k]);
        for (int axis = 0; axis < 3; axis++) {
            bound[axis] = fmax(bound[axis], -talus_along(x, axis));
            bound[3 + axis] = fmax(bound[3 + axis], talus_along(x, axis));
        }
    }
    talus_comm_find_maxima(d->ranks->comm, bound, 6);
    d->lo = talus_vec3(-bound[0], -bound[1], -bound[2]);
    d->hi = talus_vec3(bound[3], bound[4], bound[5]);
}

/* Returns the number along the curve of the cell with the block's centre. */
static int64_t place_on_curve(const Deal *d, const Block *block)
{
    const double cells = (double)(1 << d->bits);
    const TalusVec3 x = centre_of(block);
    uint32_t c[3];
    for (int axis = 0; axis < 3; axis++) {
        const double lo = talus_along(d->lo, axis), width = talus_along(d->hi, axis) - lo;
        const double at = cells * ((talus_along(x, axis) - lo) / width);
        c[axis] = at > 0.0 ? (uint32_t)fmin(at, cells - 1.0) : 0; /* 0 also for NaN */
    }
    return (int64_t)talus_hilbert_number(c[0], c[1], c[2], d->bits);
}

/* Cuts the curve into one piece for each rank, and finds the owners of this rank's blocks. */
static TalusStatus cut_curve(Deal *d)
{
    const int64_t cells = INT64_C(1) << (3 * d->bits);
    int64_t *weight, *first = NULL;
    TalusStatus status = TALUS_ALLOC(weight, (size_t)cells, "curve");
    TALUS_THEN(status, TALUS_ALLOC(first, (size_t)d->size + 1, "curve"));
    status = talus_comm_agree(d->ranks->comm, status);
    for (int k = 0; status == TALUS_OK && k < d->blocks; k++)
        weight[place_on_curve(d, &d->block[k])] += d->block[k].weight;
    for (int64_t at = 0; status == TALUS_OK && at < cells; at += INT32_MAX) {
        const int64_t left = cells - at;
        status = talus_comm_add_counts(d->ranks->comm, weight + at,
                                       (int)(left < INT32_MAX ? left : INT32_MAX));
    }
    if (status == TALUS_OK) {
        talus_cut_by_weight(cells, weight, 0, d->size, first);
        for (int k = 0; k < d->blocks; k++) {
            const int64_t at = place_on_curve(d, &d->block[k]);
            int owner = 0;
            while (owner + 1 < d->size && first[owner + 1] <= at)
                owner++;
            d->block[k].owner = owner;
        }
    }
    TALUS_RELEASE(weight, first);
    return status;
}

/* Tells all ranks who owns the newest block, to which further bodies may come. */
static void share_newest_owner(Deal *d)
{
    double owner = -1.0;
    for (int k = 0; k < d->blocks; k++)
        if (d->number[k] == d->ranks->newest_block)
            owner = d->block[k].owner;
    talus_comm_find_maxima(d->ranks->comm, &owner, 1);
    if (owner >= 0.0)
        d->ranks->newest_owner = (int)owner;
}

/* ---- parcels ---- */

static TalusStatus append(Deal *d, size_t *used, const void *data, size_t bytes)
{
    TALUS_TRY(TALUS_GROW(d->ranks->out, *used + bytes, *used, "messages"));
    memcpy(d->ranks->out + *used, data, bytes);
    *used += bytes;
    return TALUS_OK;
}

/* Returns the rank that is to own the body in this slot of the contact list; -1: another rank's body decides, or it is
 * not free. */
static int next_owner(const Deal *d, uint32_t slot)
{
    const bool own = (int)slot < d->ranks->list.own && d->block_of[slot] >= 0;
    return own && talus_slot_is_free(&d->world->bodies, (int)slot)
               ? d->block[d->block_of[slot]].owner
               : -1;
}

/* True if the slot of the contact list still has the body that it had at the detection. */
static bool is_listed(const Deal *d, uint32_t slot)
{
    return (int)slot >= d->ranks->list.own || talus_slot_was_detected(&d->world->bodies, slot);
}

/* Returns the number of the body in this slot of the contact list. */
static uint64_t listed_id(const Deal *d, uint32_t slot)
{
    const TalusListSlots *list = &d->ranks->list;
    return (int)slot < list->own ? d->world->bodies.id[slot] : list->id[(int)slot - list->own];
}

/* Writes contact i of the list. */
static void pack_contact(const Deal *d, const TalusContactList *list, int i,
                         TalusContactRecord *out)
{
    const TalusContact *c = &list->contact[i];
    const int fixed_end = list->sphere_sphere + list->sphere_fixed;
    memset(out, 0, sizeof *out); /* padding, too: it is sent */
    out->a = listed_id(d, c->a);
    out->b = listed_id(d, c->b);
    out->feature = c->feature;
    out->run = i < list->sphere_sphere ? 0 : i < fixed_end ? 1 : 2;
    out->normal = c->normal;
    out->impulse = list->impulse[i];
    out->gap = c->gap;
    if (out->run == 2)
        out->arms = list->arms[c->general];
}

/* Appends the contacts of the engine's list whose bodies `to` is to own. Those of two ranks' bodies come from both. */
static TalusStatus append_listed(Deal *d, int to, size_t *used, int64_t *count)
{
    const TalusContactList *list = talus_world_contacts(d->world);
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        TalusContactRecord record;
        if ((next_owner(d, c->a) != to && next_owner(d, c->b) != to) || !is_listed(d, c->a) ||
            !is_listed(d, c->b))
            continue;
        pack_contact(d, list, i, &record);
        TALUS_TRY(append(d, used, &record, sizeof record));
        ++*count;
    }
    return TALUS_OK;
}

/* Returns the rank that is to own the body with this number; -1 as next_owner. */
static int next_owner_of_id(const Deal *d, uint64_t id)
{
    const int slot = talus_slot_of(d->world, (TalusBodyId){id});
    return slot >= 0 && talus_slot_is_free(&d->world->bodies, slot)
               ? d->block[d->block_of[slot]].owner
               : -1;
}

/* As append_listed, of the contacts that have come with bodies and are not in the list yet. */
static TalusStatus append_waiting(Deal *d, int to, size_t *used, int64_t *count)
{
    for (int64_t k = 0; k < d->ranks->contacts; k++) {
        const TalusContactRecord *record = &d->ranks->contact[k];
        if (next_owner_of_id(d, record->a) != to && next_owner_of_id(d, record->b) != to)
            continue;
        TALUS_TRY(append(d, used, record, sizeof *record));
        ++*count;
    }
    return TALUS_OK;
}

/* Appends the bodies that `to` is to own. */
static TalusStatus append_bodies(Deal *d, int to, size_t *used, int64_t *count)
{
    for (int i = 0; i < d->slots; i++) {
        if (d->block_of[i] < 0 || d->block[d->block_of[i]].owner != to)
            continue;
        TalusBodyRecord record;
        talus_body_pack(d->world, i, &record);
        TALUS_TRY(append(d, used, &record, sizeof record));
        ++*count;
    }
    return TALUS_OK;
}

static TalusStatus append_parcel(Deal *d, int to, size_t *used)
{
    const size_t start = *used;
    Parcel parcel = {0};
    TALUS_TRY(append(d, used, &parcel, sizeof parcel));
    TALUS_TRY(append_bodies(d, to, used, &parcel.bodies));
    if (d->ranks->moved)
        TALUS_TRY(append_waiting(d, to, used, &parcel.contacts));
    else
        TALUS_TRY(append_listed(d, to, used, &parcel.contacts));
    if (parcel.bodies + parcel.contacts == 0) {
        *used = start;
        return TALUS_OK;
    }
    memcpy(d->ranks->out + start, &parcel, sizeof parcel);
    d->message[d->messages++] = (TalusMessage){NULL, *used - start, to};
    return TALUS_OK;
}

/* Sends all bodies to their owners, this rank's to itself, and with them their contacts. */
static TalusStatus send_parcels(Deal *d)
{
    TalusStatus status = TALUS_OK;
    size_t used = 0;
    for (int r = 0; r < d->size && status == TALUS_OK; r++)
        status = append_parcel(d, r, &used);
    TALUS_TRY(talus_comm_agree(d->ranks->comm, status));
    unsigned char *at = d->ranks->out;
    for (int k = 0; k < d->messages; k++) {
        d->message[k].data = at;
        at += d->message[k].bytes;
    }
    return talus_comm_route(d->ranks->comm, d->message, d->messages, &d->ranks->inbox);
}

/* ---- arrival ---- */

static int compare_records(const void *a, const void *b)
{
    const uint64_t x = (*(const TalusBodyRecord *const *)a)->id;
    const uint64_t y = (*(const TalusBodyRecord *const *)b)->id;
    return (x > y) - (x < y);
}

/* Makes the world's bodies those of the sorted records. */
static TalusStatus replace_bodies(TalusWorld *world, const TalusBodyRecord *const *record,
                                  int count)
{
    TalusBodies *b = &world->bodies;
    const int64_t all = talus_world_living(world);
    TALUS_TRY(talus_bodies_reserve(b, (size_t)count + 1));
    b->counts.slots = b->counts.living = b->counts.first_free = count;
    b->counts.general = 0;
    world->forces.count = 0;
    for (int i = 0; i < count; i++) {
        TALUS_TRY(talus_body_unpack(world, record[i], i));
        b->counts.general += talus_slot_is_dynamic(b, i) && !talus_slot_is_sphere(world, i);
    }
    world->ranks.elsewhere = all - count;
    return talus_ids_index_loaded(b);
}

/* Adds up what is in the parcels of an inbox. */
static Parcel count_parcels(const TalusInbox *inbox)
{
    Parcel sum = {0};
    for (int m = 0; m < inbox->count; m++) {
        const Parcel *parcel = inbox->message[m].data;
        sum.bodies += parcel->bodies;
        sum.contacts += parcel->contacts;
    }
    return sum;
}

TalusStatus talus_ranks_take_all(TalusWorld *world, const TalusInbox *inbox)
{
    TalusRanks *ranks = &world->ranks;
    const Parcel sum = count_parcels(inbox);
    const TalusBodyRecord **record;
    int64_t at = 0;
    ranks->contacts = 0;
    TALUS_TRY(TALUS_GROW(ranks->contact, (size_t)sum.contacts + 1, 0, "contacts"));
    TALUS_TRY(TALUS_ALLOC(record, (size_t)sum.bodies + 1, "bodies"));
    for (int m = 0; m < inbox->count; m++) {
        const Parcel *parcel = inbox->message[m].data;
        const TalusBodyRecord *first = (const TalusBodyRecord *)(parcel + 1);
        for (int64_t k = 0; k < parcel->bodies; k++)
            record[at++] = &first[k];
        if (parcel->contacts > 0)
            memcpy(ranks->contact + ranks->contacts, first + parcel->bodies,
                   (size_t)parcel->contacts * sizeof *ranks->contact);
        ranks->contacts += parcel->contacts;
    }
    if (at > 0)
        qsort(record, (size_t)at, sizeof *record, compare_records);
    TalusStatus status = replace_bodies(world, record, (int)at);
    talus_release(record);
    ranks->halo = 0;
    ranks->moved = true;
    return status;
}

/* ---- when ---- */

static TalusStatus open_deal(Deal *d)
{
    const size_t slots = (size_t)d->slots + 1;
    TALUS_TRY(TALUS_ALLOC(d->block_of, slots, "blocks of bodies"));
    TALUS_TRY(TALUS_ALLOC(d->block, slots, "blocks of bodies"));
    TALUS_TRY(TALUS_ALLOC(d->number, slots, "blocks of bodies"));
    TALUS_TRY(TALUS_ALLOC(d->message, (size_t)d->size, "messages"));
    return find_blocks(d);
}

static void close_deal(Deal *d)
{
    TALUS_RELEASE(d->block_of, d->block, d->number, d->message);
}

static Deal make_deal(TalusWorld *world)
{
    return (Deal){.world = world,
                  .ranks = &world->ranks,
                  .slots = world->bodies.counts.slots,
                  .rank = talus_comm_rank(world->ranks.comm),
                  .size = talus_comm_size(world->ranks.comm),
                  .bits = 1};
}

/* Deals all bodies anew. */
static TalusStatus deal_bodies(TalusWorld *world)
{
    TalusRanks *ranks = &world->ranks;
    Deal d = make_deal(world);
    /* hundreds of cells for each rank */
    while (d.bits < MAX_CURVE_BITS && INT64_C(1) << (3 * d.bits) < 512 * (int64_t)d.size)
        d.bits++;
    TalusStatus status = talus_comm_agree(ranks->comm, open_deal(&d));
    if (status == TALUS_OK) {
        weigh_contacts(&d);
        find_bounds(&d);
        status = cut_curve(&d);
    }
    if (status == TALUS_OK) {
        share_newest_owner(&d);
        status = send_parcels(&d);
    }
    close_deal(&d);
    TALUS_TRY(status);
    ranks->dealt = world->bodies.counts.created;
    return talus_comm_agree(ranks->comm, talus_ranks_take_all(world, &ranks->inbox));
}

TalusStatus talus_ranks_send_all(TalusWorld *world)
{
    Deal d = make_deal(world);
    TalusStatus status = talus_comm_agree(d.ranks->comm, open_deal(&d));
    TALUS_THEN(status, send_parcels(&d)); /* the owner of all blocks is 0 */
    close_deal(&d);
    return status;
}

TalusStatus talus_ranks_keep_own(TalusWorld *world, TalusOwnerFn *owner)
{
    Deal d = make_deal(world);
    size_t used = 0;
    TalusStatus status = open_deal(&d);
    for (int k = 0; status == TALUS_OK && k < d.blocks; k++)
        d.block[k].owner = owner(d.number[k], d.size);
    TALUS_THEN(status, append_parcel(&d, d.rank, &used));
    status = talus_comm_agree(d.ranks->comm, status);
    if (status == TALUS_OK && d.messages > 0)
        d.message->data = d.ranks->out;
    TALUS_THEN(status, talus_comm_route(d.ranks->comm, d.message, d.messages, &d.ranks->inbox));
    close_deal(&d);
    TALUS_TRY(status);
    return talus_comm_agree(d.ranks->comm, talus_ranks_take_all(world, &d.ranks->inbox));
}

/* True if many bodies are new since they were last dealt. */
static bool many_are_new(const TalusWorld *world)
{
    const uint64_t created = world->bodies.counts.created;
    return (double)(created - world->ranks.dealt) > NEW_SHARE * (double)talus_world_living(world);
}

/* Sets *uneven: some rank has much more than its share of bodies and contacts. */
static TalusStatus look_at_shares(const TalusWorld *world, bool *uneven)
{
    TalusComm *comm = world->ranks.comm;
    int64_t all = (int64_t)world->bodies.counts.living + talus_world_contacts(world)->count;
    double most = (double)all;
    TALUS_TRY(talus_comm_add_counts(comm, &all, 1));
    talus_comm_find_maxima(comm, &most, 1);
    *uneven = most > IMBALANCE * (double)all / talus_comm_size(comm);
    return TALUS_OK;
}

TalusStatus talus_ranks_balance(TalusWorld *world)
{
    bool due = false;
    if (!talus_world_is_dealt(world))
        return TALUS_OK;
    if (many_are_new(world))
        due = true;
    else if (world->steps % LOOK_STEPS == 0)
        TALUS_TRY(look_at_shares(world, &due));
    return due ? deal_bodies(world) : TALUS_OK;
}
