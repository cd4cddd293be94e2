/* io/run/gathering.c - bodies of all ranks come to one of them as a snapshot: all of them, or those with some numbers. */
#include "base/memory.h"
#include "comm/stream.h"
#include "io/frames/frames.h"
#include "io/run/snapshot.h"
#include "world/contacts.h"
#include "world/ids.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct TalusGathering {
    const TalusWorld *world;
    int32_t *slot; /* [count], of the living bodies of this rank, by ascending ids */
    int64_t count;
    double *force; /* by slot, of free bodies */
    int *touching;
    double length;    /* s: of the last step */
    int64_t contacts; /* of all ranks */
    /* On rank 0 [held_count], the impulses of all contacts with bodies that are not free, in the order of one rank's list. */
    TalusHeldImpulse *held;
    int64_t held_count;
};

/* ---- opening ---- */

/* Lists the bodies of this rank and sums their forces. */
static TalusStatus find_own(TalusGathering *g)
{
    const TalusBodies *b = &g->world->bodies;
    const size_t slots = (size_t)b->counts.slots + 1;
    TalusForceSummary summary = {0};
    int32_t *row;
    TALUS_TRY(TALUS_ALLOC(g->slot, slots, "snapshot"));
    TALUS_TRY(TALUS_ALLOC(g->force, slots, "snapshot"));
    TALUS_TRY(TALUS_ALLOC(g->touching, slots, "snapshot"));
    TALUS_TRY(TALUS_ALLOC(row, slots, "snapshot"));
    TalusStatus status = talus_ids_order(b, g->slot, row);
    talus_release(row);
    g->count = b->counts.living;
    TALUS_THEN(status, talus_world_sum_own_forces(g->world, g->force, g->touching, &summary));
    g->length = summary.length;
    g->contacts = summary.contacts;
    return status;
}

TalusStatus talus_gathering_open(const TalusWorld *world, TalusGathering **out)
{
    TalusComm *comm = world->ranks.comm;
    *out = NULL;
    TALUS_TRY(talus_comm_agree(comm, TALUS_ALLOC(*out, 1, "snapshot")));
    TalusGathering *g = *out;
    g->world = world;
    TalusStatus status = talus_comm_agree(comm, find_own(g));
    TALUS_THEN(status, talus_comm_add_counts(comm, &g->contacts, 1));
    TALUS_THEN(status, talus_ranks_bring_held(world, &g->held, &g->held_count));
    return talus_comm_agree(comm, status);
}

void talus_gathering_close(TalusGathering *g)
{
    if (!g)
        return;
    TALUS_RELEASE(g->slot, g->force, g->touching, g->held);
    talus_release(g);
}

/* ---- bodies of this rank ---- */

static uint64_t number_at(const TalusGathering *g, int64_t k)
{
    return g->world->bodies.id[g->slot[k]];
}

/* Returns how many bodies of this rank have numbers below `number`. */
static int64_t count_below(const TalusGathering *g, uint64_t number)
{
    int64_t low = 0, high = g->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (number_at(g, middle) < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

TalusStatus talus_gathering_find(const TalusGathering *g, uint64_t least, uint64_t *number)
{
    const int64_t k = count_below(g, least);
    double first = k < g->count ? (double)number_at(g, k) : INFINITY; /* numbers are below 2^53 */
    talus_comm_find_minima(g->world->ranks.comm, &first, 1);
    *number = first < INFINITY ? (uint64_t)first : 0;
    return talus_comm_agree(g->world->ranks.comm, TALUS_OK);
}

bool talus_gathering_moves(const TalusGathering *g)
{
    bool moves = false;
    for (int64_t k = 0; k < g->count && !moves; k++)
        moves = talus_slot_is_dynamic(&g->world->bodies, g->slot[k]);
    return talus_comm_any(g->world->ranks.comm, moves);
}

int64_t talus_gathering_contacts(const TalusGathering *g)
{
    return g->contacts;
}

TalusStatus talus_gathering_take_own(const TalusGathering *g, TalusSnapshot *s)
{
    TALUS_TRY(talus_snapshot_resize(s, 0, (int)g->count, 0));
    for (int64_t k = 0; k < g->count; k++) {
        const TalusSentBody body = talus_snapshot_get_body(&g->world->bodies, g->slot[k]);
        s->id[k].number = number_at(g, k);
        talus_snapshot_store_body(s, (int)k, &body);
    }
    return TALUS_OK;
}

/* ---- what a rank sends ---- */

/* The bodies of a rank that are asked for. */
typedef struct Sending {
    const TalusGathering *gathering;
    int64_t first; /* in its `slot` */
} Sending;

static void fill_numbers(const void *context, int64_t first, int64_t count, void *out)
{
    const Sending *sending = context;
    uint64_t *number = out;
    for (int64_t k = 0; k < count; k++)
        number[k] = number_at(sending->gathering, sending->first + first + k);
}

static void fill_bodies(const void *context, int64_t first, int64_t count, void *out)
{
    const Sending *sending = context;
    const TalusGathering *g = sending->gathering;
    const TalusBodies *b = &g->world->bodies;
    TalusSentBody *body = out;
    for (int64_t k = 0; k < count; k++) {
        const int i = g->slot[sending->first + first + k];
        body[k] = talus_snapshot_get_body(b, i);
        body[k].held = b->mobility[i] != TALUS_MOBILITY_FREE;
        if (body[k].held)
            continue;
        body[k].force = g->force[i];
        body[k].touching = g->touching[i];
    }
}

/* ---- what the root receives ---- */

/* A body's number, and its place among the bodies as they come. */
typedef struct Arrival {
    uint64_t number;
    int32_t at;
} Arrival;

static int compare_arrivals(const void *a, const void *b)
{
    const uint64_t x = ((const Arrival *)a)->number, y = ((const Arrival *)b)->number;
    return (x > y) - (x < y);
}

typedef struct Receiving {
    TalusSnapshot *snapshot;
    double length;    /* s: of the last step */
    Arrival *arrival; /* [bodies] */
    int32_t *row;     /* [bodies]: of the bodies as they come */
    bool *held;       /* [bodies], by row: the body is not free */
    int64_t come;
} Receiving;

/* Makes room for the bodies. */
static TalusStatus open_receiving(Receiving *r, unsigned fields, int64_t bodies)
{
    if (bodies > INT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "snapshot: %lld bodies; it holds at most %d",
                          (long long)bodies, INT32_MAX);
    TALUS_TRY(talus_snapshot_resize(r->snapshot, fields, (int)bodies, 0));
    TALUS_TRY(TALUS_ALLOC(r->arrival, (size_t)bodies + 1, "snapshot"));
    TALUS_TRY(TALUS_ALLOC(r->held, (size_t)bodies + 1, "snapshot"));
    return TALUS_ALLOC(r->row, (size_t)bodies + 1, "snapshot");
}

static TalusStatus put_numbers(void *context, const void *bytes, size_t size)
{
    Receiving *r = context;
    const uint64_t *number = bytes;
    for (size_t k = 0; k < size / sizeof *number; k++, r->come++)
        r->arrival[r->come] = (Arrival){number[k], (int32_t)r->come};
    return TALUS_OK;
}

/* Sets the ids, ascending, and the rows of the bodies that are to come. */
static void sort_arrivals(Receiving *r)
{
    bool ordered = true;
    for (int64_t k = 1; k < r->come && ordered; k++)
        ordered = r->arrival[k - 1].number < r->arrival[k].number;
    if (!ordered)
        qsort(r->arrival, (size_t)r->come, sizeof *r->arrival, compare_arrivals);
    for (int64_t k = 0; k < r->come; k++) {
        r->snapshot->id[k].number = r->arrival[k].number;
        r->row[r->arrival[k].at] = (int32_t)k;
    }
    r->come = 0;
}

static TalusStatus put_bodies(void *context, const void *bytes, size_t size)
{
    Receiving *r = context;
    const TalusSentBody *body = bytes;
    for (size_t k = 0; k < size / sizeof *body; k++) {
        const int32_t row = r->row[r->come++];
        talus_snapshot_store_body(r->snapshot, row, &body[k]);
        r->held[row] = body[k].held;
    }
    return TALUS_OK;
}

/* Adds a contact's normal impulse to the force of one of its bodies, unless the body is not here or its owner has done so. */
static void add_held(const Receiving *r, uint64_t number, double impulse)
{
    TalusSnapshot *s = r->snapshot;
    const int row = talus_snapshot_find(s, number);
    if (row < 0 || !r->held[row])
        return;
    s->force[row] += impulse / r->length;
    s->touching[row]++;
}

/* Adds the impulses of contacts with bodies that are not free, in the order in which they come. */
static TalusStatus put_held(void *context, const void *bytes, size_t size)
{
    const Receiving *r = context;
    const TalusHeldImpulse *held = bytes;
    for (size_t k = 0; k < size / sizeof *held; k++) {
        add_held(r, held[k].a, held[k].impulse);
        add_held(r, held[k].b, held[k].impulse);
    }
    return TALUS_OK;
}

/* ---- both ---- */

/* What is asked for. */
typedef struct Order {
    const TalusGathering *gathering;
    unsigned fields;
    uint64_t first, end; /* numbers of bodies */
    int root;
} Order;

/* Allocates *out, the impulses that rank 0 has for bodies of the order, and sets span->count. */
static TalusStatus select_held(const Order *order, TalusHeldImpulse **out, TalusSpan *span)
{
    const TalusGathering *g = order->gathering;
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)g->held_count + 1, "snapshot"));
    for (int64_t k = 0; k < g->held_count; k++) {
        const TalusHeldImpulse *h = &g->held[k];
        if ((h->a >= order->first && h->a < order->end) ||
            (h->b >= order->first && h->b < order->end))
            (*out)[span->count++] = *h;
    }
    return TALUS_OK;
}

static void fill_held(const void *context, int64_t first, int64_t count, void *out)
{
    const TalusHeldImpulse *held = context;
    memcpy(out, held + first, (size_t)count * sizeof *held);
}

/* Brings the impulses from rank 0. */
static TalusStatus bring_held(const Order *order, Receiving *r)
{
    TalusComm *comm = order->gathering->world->ranks.comm;
    const TalusByteSink sink = {put_held, r};
    TalusHeldImpulse *held = NULL;
    TalusSpan span = {0};
    TalusStatus status = talus_comm_agree(comm, select_held(order, &held, &span));
    TALUS_THEN(status, talus_comm_find_spans(comm, &span, 1));
    TALUS_THEN(status,
               talus_comm_stream_to(comm, order->root, span, sizeof *held, fill_held, held, &sink));
    talus_release(held);
    return status;
}

/* Brings the bodies in two rounds: which there are, and their state; then the forces that no owner has. */
static TalusStatus bring_bodies(const Order *order, const Sending *sending, TalusSpan span,
                                Receiving *r)
{
    TalusComm *comm = order->gathering->world->ranks.comm;
    const bool root = talus_comm_rank(comm) == order->root;
    const TalusByteSink numbers = {put_numbers, r}, bodies = {put_bodies, r};
    TalusStatus status =
        talus_comm_agree(comm, root ? open_receiving(r, order->fields, span.all) : TALUS_OK);
    TALUS_THEN(status, talus_comm_stream_to(comm, order->root, span, sizeof(uint64_t), fill_numbers,
                                            sending, &numbers));
    if (status == TALUS_OK && root)
        sort_arrivals(r);
    TALUS_THEN(status, talus_comm_stream_to(comm, order->root, span, sizeof(TalusSentBody),
                                            fill_bodies, sending, &bodies));
    if (order->fields & TALUS_SNAPSHOT_FORCE)
        TALUS_THEN(status, bring_held(order, r));
    return status;
}

TalusStatus talus_gathering_take(const TalusGathering *g, unsigned fields, uint64_t first,
                                 uint64_t end, int root, TalusSnapshot *s)
{
    TalusComm *comm = g->world->ranks.comm;
    if (!g->world->def.dissipation)
        fields &= ~(unsigned)TALUS_SNAPSHOT_DISSIPATED;
    const Order order = {g, fields, first, end, root};
    const Sending sending = {g, count_below(g, first)};
    TalusSpan span = {.count = count_below(g, end) - sending.first};
    Receiving r = {.snapshot = s, .length = g->length};
    TalusStatus status = talus_comm_find_spans(comm, &span, 1);
    TALUS_THEN(status, bring_bodies(&order, &sending, span, &r));
    TALUS_RELEASE(r.arrival, r.row, r.held);
    if (talus_comm_rank(comm) == root && status == TALUS_OK) {
        s->contact_total = g->contacts;
        s->length = g->length;
        s->time = talus_world_time(g->world);
        s->step = talus_world_steps(g->world);
    }
    return talus_comm_agree(comm, status);
}
