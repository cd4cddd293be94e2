/* world/ranks/deal.c - which rank owns which bodies.
 *
 * New blocks of numbers are dealt in turn. Before a step, blocks are dealt along Hilbert's curve through the centres of
 * their bodies, so that ranks have about equally much to compute, if many bodies are new or some rank has computed for much
 * longer than others. A block weighs as much as its bodies and contacts, times the seconds for each that its rank has
 * measured: cores differ, and so do contacts. Results do not depend on who owns what, and so not on these seconds. A body
 * that changes ranks takes the impulses of its contacts along.
 *
 * A rank goes over its own blocks, bodies and contacts a fixed number of times. Only the ends of the pieces of the curve are
 * as many as there are ranks. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "backend/host.h"
#include "base/memory.h"
#include "base/timer.h"
#include "collide/errors.h"
#include "comm/line.h"
#include "world/ids.h"
#include "world/ranks/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bodies are dealt anew if this share of them is new, or if uneven shares have cost more than dealing: if since the last
 * deal the rank that computes longest has lost as many seconds, against the mean of all, as that deal has taken, with the
 * halo after it. So dealing takes no longer than what is lost, however long it lasts what slows a rank. Shares are those of
 * the last steps, some 1 / (1 - REMEMBERED) of them. With fewer than FEWEST_STEPS, and unless a rank computes for IMBALANCE
 * times the mean, the difference is taken for chance. */
static const double NEW_SHARE = 0.1, IMBALANCE = 1.05, REMEMBERED = 0.9375, FEWEST_STEPS = 3.5;
enum { CURVE_BITS = 21 };

/* Weights are multiplied by seconds for a body or contact, over their mean of all ranks, within these bounds; memory follows
 * bodies and contacts. FINE: weights for the mean are that large, so that they can be whole numbers. */
static const double CHEAPEST = 0.67, DEAREST = 1.5;
enum { FINE = 256 };

/* Bodies of one block of numbers, all of this rank. */
typedef struct Block {
    TalusVec3 sum; /* of positions */
    int64_t weight;
    int bodies;
    int owner;      /* to be */
    int32_t target; /* index of the owner in Deal.target */
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
    TalusVec3 lo, hi; /* of a cube around all centres of blocks */
    int32_t *target;  /* [targets]: ranks that are to own bodies of this rank, ascending */
    int targets;
    TalusMessage *message; /* [targets] */
    int messages;
    bool by_first; /* contacts go with their first bodies alone */
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

/* Lists this rank's bodies by blocks; returns their number. */
static int list_members(Deal *d, Member *member)
{
    const TalusBodies *b = &d->world->bodies;
    int living = 0;
    for (int i = 0; i < d->slots; i++)
        if (b->shape[i] >= 0)
            member[living++] = (Member){talus_number_block(b->id[i]), i};
        else
            d->block_of[i] = -1;
    if (living > 0)
        qsort(member, (size_t)living, sizeof *member, compare_members);
    return living;
}

/* Makes the blocks of the listed bodies; there are far fewer than bodies. */
static TalusStatus make_blocks(Deal *d, const Member *member, int living)
{
    size_t blocks = 1;
    for (int k = 1; k < living; k++)
        blocks += member[k].number != member[k - 1].number;
    TALUS_TRY(TALUS_ALLOC(d->block, blocks, "blocks of bodies"));
    TALUS_TRY(TALUS_ALLOC(d->number, blocks, "blocks of bodies"));
    for (int k = 0; k < living; k++) {
        if (k == 0 || member[k].number != member[k - 1].number)
            d->number[d->blocks++] = member[k].number;
        Block *block = &d->block[d->blocks - 1];
        d->block_of[member[k].slot] = d->blocks - 1;
        block->sum = talus_add(block->sum, d->world->bodies.position[member[k].slot]);
        block->weight++;
        block->bodies++;
    }
    return TALUS_OK;
}

/* Finds the blocks of this rank's bodies. */
static TalusStatus find_blocks(Deal *d)
{
    Member *member;
    TALUS_TRY(TALUS_ALLOC(member, (size_t)d->slots + 1, "blocks of bodies"));
    TalusStatus status = make_blocks(d, member, list_members(d, member));
    talus_release(member);
    return status;
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

/* Returns how many times the mean of all ranks a body or contact of this rank has taken; 1 without measurement. */
static double find_cost(const Deal *d)
{
    const double seconds = d->ranks->work.seconds;
    int64_t weight = 0, all;
    for (int k = 0; k < d->blocks; k++)
        weight += d->block[k].weight;
    all = weight;
    TalusSum sum = {0};
    talus_sum_add(&sum, &seconds, 1);
    talus_comm_add_sums(d->ranks->comm, &sum, 1);
    if (talus_comm_add_counts(d->ranks->comm, &all, 1) != TALUS_OK || weight == 0)
        return 1.0;
    const double mean = talus_sum_value(&sum) / (double)all;
    const double cost = mean > 0.0 ? seconds / (double)weight / mean : 1.0;
    return fmin(fmax(cost, CHEAPEST), DEAREST);
}

/* Multiplies the weights of this rank's blocks by what they have cost. */
static void weigh_seconds(Deal *d)
{
    const double factor = FINE * find_cost(d);
    for (int k = 0; k < d->blocks; k++)
        d->block[k].weight = (int64_t)(factor * (double)d->block[k].weight);
}

static TalusVec3 centre_of(const Block *block)
{
    return talus_scale(1.0 / block->bodies, block->sum);
}

/* Finds a cube around the centres of all ranks' blocks: in a box with unequal edges pieces of the curve would be flat, and
 * their halos larger. */
static void find_cube(Deal *d)
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
    const double edge = fmax(fmax(bound[0] + bound[3], bound[1] + bound[4]), bound[2] + bound[5]);
    d->hi = talus_add(d->lo, talus_vec3(edge, edge, edge));
}

static uint64_t place_on_curve(const Deal *d, const Block *block)
{
    return talus_curve_number(centre_of(block), d->lo, d->hi, CURVE_BITS);
}

static int compare_places(const void *a, const void *b)
{
    const uint64_t x = ((const TalusLineItem *)a)->place, y = ((const TalusLineItem *)b)->place;
    return (x > y) - (x < y);
}

/* Cuts the curve into one piece for each rank, and finds the owners of this rank's blocks. */
static TalusStatus cut_curve(Deal *d)
{
    TalusLineItem *item;
    uint64_t *first = NULL;
    TalusStatus status = TALUS_ALLOC(item, (size_t)d->blocks + 1, "curve");
    TALUS_THEN(status, TALUS_ALLOC(first, (size_t)d->size, "curve"));
    status = talus_comm_agree(d->ranks->comm, status);
    if (status == TALUS_OK) {
        for (int k = 0; k < d->blocks; k++)
            item[k] = (TalusLineItem){place_on_curve(d, &d->block[k]), d->block[k].weight};
        if (d->blocks > 0)
            qsort(item, (size_t)d->blocks, sizeof *item, compare_places);
        status = talus_line_cut(d->ranks->comm, item, d->blocks, d->size, first);
    }
    for (int k = 0; status == TALUS_OK && k < d->blocks; k++)
        d->block[k].owner = talus_line_find_piece(first, d->size, place_on_curve(d, &d->block[k]));
    TALUS_RELEASE(item, first);
    return status;
}

/* Tells all ranks who owns the newest block, to which further bodies may come. */
static void share_newest_owner(Deal *d)
{
    double owner = -1.0;
    for (int k = 0; k < d->blocks; k++)
        if (d->number[k] == d->ranks->newest.block)
            owner = d->block[k].owner;
    talus_comm_find_maxima(d->ranks->comm, &owner, 1);
    if (owner >= 0.0)
        d->ranks->newest.owner = (int)owner;
}

/* ---- targets ---- */

static int compare_targets(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Lists the ranks that are to own bodies of this rank; most ranks are to own none. */
static TalusStatus find_targets(Deal *d)
{
    TALUS_TRY(TALUS_ALLOC(d->target, (size_t)d->blocks + 1, "ranks"));
    for (int k = 0; k < d->blocks; k++)
        d->target[k] = d->block[k].owner;
    if (d->blocks > 0)
        qsort(d->target, (size_t)d->blocks, sizeof *d->target, compare_targets);
    for (int k = 0; k < d->blocks; k++)
        if (k == 0 || d->target[k] != d->target[k - 1])
            d->target[d->targets++] = d->target[k];
    for (int k = 0; k < d->blocks; k++) {
        const int32_t owner = d->block[k].owner;
        const int32_t *at =
            bsearch(&owner, d->target, (size_t)d->targets, sizeof *d->target, compare_targets);
        d->block[k].target = (int32_t)(at - d->target);
    }
    return TALUS_ALLOC(d->message, (size_t)d->targets + 1, "messages");
}

/* Things by target: those of target t are item[start[t]] to item[start[t + 1] - 1], ascending. */
typedef struct Sorted {
    int32_t *start, *item;
} Sorted;

/* Writes the targets that item k goes to, none, one or two, and returns their number. */
typedef int TargetsFn(const Deal *d, int k, int32_t target[2]);

/* Sorts items 0 to `items` - 1 by target, in two passes. */
static TalusStatus sort_by_target(const Deal *d, int items, TargetsFn *find, Sorted *out)
{
    int32_t target[2];
    TALUS_TRY(TALUS_ALLOC(out->start, (size_t)d->targets + 2, "parcels"));
    for (int k = 0; k < items; k++)
        for (int n = find(d, k, target) - 1; n >= 0; n--)
            out->start[target[n] + 2]++;
    for (int t = 0; t < d->targets; t++)
        out->start[t + 2] += out->start[t + 1];
    TALUS_TRY(TALUS_ALLOC(out->item, (size_t)out->start[d->targets + 1] + 1, "parcels"));
    for (int k = 0; k < items; k++)
        for (int n = find(d, k, target) - 1; n >= 0; n--)
            out->item[out->start[target[n] + 1]++] = k;
    return TALUS_OK;
}

/* ---- parcels ---- */

/* What this rank's bodies, and contacts, go to. */
typedef struct Parcels {
    Sorted bodies, contacts;
} Parcels;

/* Appends to the messages, which have the capacity. */
static void append(Deal *d, size_t *used, const void *data, size_t bytes)
{
    memcpy(d->ranks->out + *used, data, bytes);
    *used += bytes;
}

/* Returns the target of an own free body; -1: it is not free. */
static int32_t target_of(const Deal *d, int slot)
{
    return talus_slot_is_free(&d->world->bodies, slot) ? d->block[d->block_of[slot]].target : -1;
}

/* Returns the target of the body in this slot of the contact list; -1: another rank's body decides, or it is not free. */
static int32_t target_of_listed(const Deal *d, uint32_t slot)
{
    const bool own = (int)slot < d->ranks->list.own && d->block_of[slot] >= 0;
    return own ? target_of(d, (int)slot) : -1;
}

/* Writes those of two targets that there are. */
static int join_targets(int32_t a, int32_t b, int32_t target[2])
{
    int count = 0;
    if (a >= 0)
        target[count++] = a;
    if (b >= 0 && b != a)
        target[count++] = b;
    return count;
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

static int find_body_targets(const Deal *d, int slot, int32_t target[2])
{
    return d->block_of[slot] < 0 ? 0 : join_targets(d->block[d->block_of[slot]].target, -1, target);
}

/* Targets of a contact of the engine's list. A contact of two ranks' bodies is sent by both. */
static int find_listed_targets(const Deal *d, int i, int32_t target[2])
{
    const TalusContact *c = &talus_world_contacts(d->world)->contact[i];
    if (!is_listed(d, c->a) || !is_listed(d, c->b))
        return 0;
    return join_targets(target_of_listed(d, c->a), d->by_first ? -1 : target_of_listed(d, c->b),
                        target);
}

static int32_t target_of_id(const Deal *d, uint64_t id)
{
    const int slot = talus_slot_of(d->world, (TalusBodyId){id});
    return slot >= 0 ? target_of(d, slot) : -1;
}

/* Targets of a contact that has come with bodies and is not in the list yet. */
static int find_waiting_targets(const Deal *d, int k, int32_t target[2])
{
    const TalusContactRecord *record = &d->ranks->contact[k];
    return join_targets(target_of_id(d, record->a), d->by_first ? -1 : target_of_id(d, record->b),
                        target);
}

static TalusStatus sort_parcels(Deal *d, Parcels *p)
{
    TALUS_TRY(find_targets(d));
    TALUS_TRY(sort_by_target(d, d->slots, find_body_targets, &p->bodies));
    if (d->ranks->moved)
        return sort_by_target(d, (int)d->ranks->contacts, find_waiting_targets, &p->contacts);
    return sort_by_target(d, talus_world_contacts(d->world)->count, find_listed_targets,
                          &p->contacts);
}

static void release_parcels(Parcels *p)
{
    TALUS_RELEASE(p->bodies.start, p->bodies.item, p->contacts.start, p->contacts.item);
}

/* Appends contact i of the list, or of those that wait for one. */
static void append_contact(Deal *d, int i, size_t *used)
{
    TalusContactRecord record;
    if (d->ranks->moved)
        record = d->ranks->contact[i];
    else
        pack_contact(d, talus_world_contacts(d->world), i, &record);
    append(d, used, &record, sizeof record);
}

/* Returns what a target gets. */
static Parcel parcel_of(const Parcels *p, int target)
{
    const int32_t *body = p->bodies.start + target, *contact = p->contacts.start + target;
    return (Parcel){body[1] - body[0], contact[1] - contact[0]};
}

/* Appends what a target gets. */
static void append_parcel(Deal *d, const Parcels *p, int target, size_t *used)
{
    const int32_t *body = p->bodies.start + target, *contact = p->contacts.start + target;
    const Parcel parcel = parcel_of(p, target);
    const size_t start = *used;
    append(d, used, &parcel, sizeof parcel);
    for (int k = body[0]; k < body[1]; k++) {
        TalusBodyRecord record;
        talus_body_pack(d->world, p->bodies.item[k], &record);
        append(d, used, &record, sizeof record);
    }
    for (int k = contact[0]; k < contact[1]; k++)
        append_contact(d, p->contacts.item[k], used);
    d->message[d->messages++] = (TalusMessage){NULL, *used - start, d->target[target]};
}

/* True if the target gets a message. only >= 0: nobody but that rank does. */
static bool is_sent(const Deal *d, int target, int only)
{
    return only < 0 || d->target[target] == only;
}

/* Packs all messages, in memory of their length: these may be all bodies. */
static TalusStatus pack_parcels(Deal *d, int only)
{
    Parcels parcels = {0};
    size_t bytes = 1, used = 0;
    TalusStatus status = sort_parcels(d, &parcels);
    for (int t = 0; t < d->targets && status == TALUS_OK; t++) {
        const Parcel parcel = parcel_of(&parcels, t);
        if (is_sent(d, t, only))
            bytes += sizeof parcel + (size_t)parcel.bodies * sizeof(TalusBodyRecord) +
                     (size_t)parcel.contacts * sizeof(TalusContactRecord);
    }
    TALUS_THEN(status, TALUS_GROW(d->ranks->out, bytes, 0, "messages"));
    for (int t = 0; t < d->targets && status == TALUS_OK; t++)
        if (is_sent(d, t, only))
            append_parcel(d, &parcels, t, &used);
    release_parcels(&parcels);
    return status;
}

/* Sends all bodies to their owners, this rank's to itself, and with them their contacts. only >= 0: nothing to others than
 * that rank. */
static TalusStatus send_parcels(Deal *d, int only)
{
    TALUS_TRY(talus_comm_agree(d->ranks->comm, pack_parcels(d, only)));
    unsigned char *at = d->ranks->out;
    for (int k = 0; k < d->messages; k++) {
        d->message[k].data = at;
        at += d->message[k].bytes;
    }
    TalusStatus status =
        talus_comm_route(d->ranks->comm, d->message, d->messages, &d->ranks->inbox);
    talus_release(d->ranks->out); /* as long as all bodies, which the inbox has now */
    d->ranks->out = NULL;
    return status;
}

/* ---- arrival ---- */

/* Makes the world's bodies those of the sorted records. */
static TalusStatus replace_bodies(TalusWorld *world, const TalusBodyRecord *const *record,
                                  size_t records)
{
    TalusBodies *b = &world->bodies;
    const int64_t all = talus_world_living(world);
    const int count = (int)records; /* or the next call fails */
    TALUS_TRY(talus_bodies_reserve(b, records + 1));
    b->counts.slots = b->counts.living = b->counts.first_free = count;
    b->counts.general = 0;
    world->forces.count = 0;
    world->sleep.slots = world->sleep.asleep = 0;
    TALUS_TRY(talus_sleep_reserve(world));
    for (int i = 0; i < count; i++) {
        TALUS_TRY(talus_body_unpack(world, record[i], i));
        world->sleep.asleep += talus_slot_is_asleep(b, i);
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
    TALUS_TRY(talus_check_contact_count((double)sum.contacts, INT32_MAX));
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
    TalusStatus status = talus_body_sort_records(record, (size_t)at);
    TALUS_THEN(status, replace_bodies(world, record, (size_t)at));
    talus_release(record);
    ranks->halo = 0;
    ranks->moved = true;
    world->mirror.bodies_dirty = world->mirror.forces_dirty =
        true; /* also if no force is left here */
    talus_mirror_forget_dropped(world);
    return status;
}

/* ---- when ---- */

static TalusStatus open_deal(Deal *d)
{
    TALUS_TRY(TALUS_ALLOC(d->block_of, (size_t)d->slots + 1, "blocks of bodies"));
    return find_blocks(d);
}

static void close_deal(Deal *d)
{
    TALUS_RELEASE(d->block_of, d->block, d->number, d->target, d->message);
}

static Deal make_deal(TalusWorld *world)
{
    return (Deal){.world = world,
                  .ranks = &world->ranks,
                  .slots = world->bodies.counts.slots,
                  .rank = talus_comm_rank(world->ranks.comm),
                  .size = talus_comm_size(world->ranks.comm)};
}

/* Deals all bodies anew. */
static TalusStatus deal_bodies(TalusWorld *world)
{
    TalusRanks *ranks = &world->ranks;
    Deal d = make_deal(world);
    TALUS_TRY(talus_comm_agree(ranks->comm, talus_ranks_download(world)));
    TalusStatus status = talus_comm_agree(ranks->comm, open_deal(&d));
    if (status == TALUS_OK) {
        weigh_contacts(&d);
        weigh_seconds(&d);
        find_cube(&d);
        status = cut_curve(&d);
    }
    if (status == TALUS_OK) {
        share_newest_owner(&d);
        status = send_parcels(&d, -1);
    }
    close_deal(&d);
    TALUS_TRY(status);
    ranks->dealt = world->bodies.counts.created;
    status = talus_comm_agree(ranks->comm, talus_ranks_take_all(world, &ranks->inbox));
    talus_ranks_release_messages(ranks);
    return status;
}

TalusStatus talus_ranks_send_all(TalusWorld *world)
{
    Deal d = make_deal(world);
    TALUS_TRY(talus_comm_agree(d.ranks->comm, talus_ranks_download(world)));
    TalusStatus status = talus_comm_agree(d.ranks->comm, open_deal(&d));
    TALUS_THEN(status, send_parcels(&d, 0)); /* the owner of all blocks is 0 */
    close_deal(&d);
    return status;
}

/* Cuts the blocks, by ascending numbers, into one piece for each rank, and finds the owners. */
static TalusStatus cut_numbers(Deal *d, uint64_t *first)
{
    TalusLineItem *item;
    TalusStatus status = talus_comm_agree(
        d->ranks->comm, TALUS_ALLOC(item, (size_t)d->blocks + 1, "blocks of bodies"));
    for (int k = 0; status == TALUS_OK && k < d->blocks; k++)
        item[k] = (TalusLineItem){d->number[k], d->block[k].weight};
    TALUS_THEN(status, talus_line_cut(d->ranks->comm, item, d->blocks, d->size, first));
    for (int k = 0; status == TALUS_OK && k < d->blocks; k++)
        d->block[k].owner = talus_line_find_piece(first, d->size, d->number[k]);
    talus_release(item);
    return status;
}

TalusStatus talus_ranks_send_in_order(TalusWorld *world, uint64_t *first)
{
    Deal d = make_deal(world);
    d.by_first = true;
    TalusStatus status = talus_comm_agree(d.ranks->comm, open_deal(&d));
    if (status == TALUS_OK) {
        weigh_contacts(&d);
        status = cut_numbers(&d, first);
    }
    TALUS_THEN(status, send_parcels(&d, -1));
    close_deal(&d);
    talus_release(d.ranks->out);
    d.ranks->out = NULL;
    return status;
}

TalusStatus talus_ranks_deal_in_turn(TalusWorld *world, bool whole)
{
    Deal d = make_deal(world);
    const uint64_t created = world->bodies.counts.created;
    TALUS_TRY(talus_comm_agree(d.ranks->comm, talus_ranks_download(world)));
    TalusStatus status = talus_comm_agree(d.ranks->comm, open_deal(&d));
    for (int k = 0; status == TALUS_OK && k < d.blocks; k++)
        d.block[k].owner = talus_owner_in_turn(d.number[k], d.size);
    TALUS_THEN(status, send_parcels(&d, whole ? d.rank : -1));
    close_deal(&d);
    TALUS_TRY(status);
    status = talus_comm_agree(d.ranks->comm, talus_ranks_take_all(world, &d.ranks->inbox));
    talus_ranks_release_messages(d.ranks);
    if (status == TALUS_OK && created > 0)
        (void)talus_ranks_owner_of_new(world, created);
    return status;
}

/* True if many bodies are new since they were last dealt. */
static bool many_are_new(const TalusWorld *world)
{
    const uint64_t created = world->bodies.counts.created;
    return (double)(created - world->ranks.dealt) > NEW_SHARE * (double)talus_world_living(world);
}

/* Returns the number of contacts of this rank. */
static int count_contacts(const TalusWorld *world)
{
    TalusEngineCounts counts;
    world->engine.ops->get_counts(world->engine.self, &counts);
    return counts.contacts;
}

/* Adds what the last step has cost because of uneven shares; true if that has come to more than a deal. */
static bool shares_are_uneven(TalusRanks *ranks)
{
    TalusRankWork *work = &ranks->work;
    double most[2] = {work->seconds, work->dealing};
    TalusSum sum = {0};
    if (work->steps < FEWEST_STEPS)
        return false;
    talus_sum_add(&sum, &work->seconds, 1);
    talus_comm_add_sums(ranks->comm, &sum, 1);
    talus_comm_find_maxima(ranks->comm, most, 2);
    const double mean = talus_sum_value(&sum) / talus_comm_size(ranks->comm);
    if (most[0] > IMBALANCE * mean)
        work->lost += (most[0] - mean) / work->steps;
    return work->lost > most[1];
}

TalusStatus talus_ranks_balance(TalusWorld *world)
{
    if (!talus_world_is_dealt(world) || !(many_are_new(world) || shares_are_uneven(&world->ranks)))
        return TALUS_OK;
    const double start = talus_now();
    TALUS_TRY(deal_bodies(world));
    world->ranks.work = (TalusRankWork){.dealing = talus_now() - start};
    return TALUS_OK;
}

/* Returns the time, less what this rank has spent in its communicator. */
static double computing_clock(const TalusComm *comm)
{
    const TalusCommUse *use = &comm->use;
    return talus_now() - (use->reduce_seconds + use->broadcast_seconds + use->message_seconds);
}

void talus_ranks_begin_work(TalusWorld *world)
{
    if (talus_world_is_dealt(world))
        world->ranks.work.begun = computing_clock(world->ranks.comm);
}

void talus_ranks_end_work(TalusWorld *world)
{
    TalusRankWork *work = &world->ranks.work;
    if (!talus_world_is_dealt(world))
        return;
    work->seconds = REMEMBERED * work->seconds + computing_clock(world->ranks.comm) - work->begun;
    work->steps = REMEMBERED * work->steps + 1.0;
}

void talus_ranks_count(const TalusWorld *world, int64_t *bodies, int64_t *contacts)
{
    *bodies = world->bodies.counts.living;
    *contacts = count_contacts(world);
}
