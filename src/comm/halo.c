/* comm/halo.c - lists of the bodies that ranks exchange, and the exchange. */
#include "comm/halo.h"

#include "base/memory.h"
#include "base/runs.h"

#include <assert.h>
#include <string.h>

/* ---- who needs what ---- */

/* A body of the halo. */
typedef struct Received {
    int32_t owner, body;
} Received;

static int compare_received(const void *a, const void *b)
{
    const Received *x = a, *y = b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    return (x->body > y->body) - (x->body < y->body);
}

/* Marks the bodies that this rank owns; returns the number of others. */
static int mark_owned(TalusHalo *h, const TalusHaloBodies *b)
{
    int others = 0;
    for (int i = 0; i < b->count; i++) {
        h->owned[i] = b->owner[i] == h->comm->rank;
        others += !h->owned[i];
    }
    return others;
}

/* Lists the `count` bodies of other ranks by owner, most of which come in this order; sets *owners to the number of owners. */
static TalusStatus sort_received(const TalusHalo *h, const TalusHaloBodies *b, Received *body,
                                 int count, int *owners)
{
    int at = 0;
    for (int i = 0; i < b->count; i++)
        if (!h->owned[i])
            body[at++] = (Received){b->owner[i], i};
    TALUS_TRY(talus_sort_runs(body, (size_t)count, sizeof *body, compare_received));
    *owners = 0;
    for (int k = 0; k < count; k++)
        *owners += k == 0 || body[k].owner != body[k - 1].owner;
    return TALUS_OK;
}

static TalusStatus reserve_neighbours(TalusHalo *h, size_t neighbours)
{
    TALUS_TRY(TALUS_ALLOC(h->send, neighbours + 1, "neighbours"));
    TALUS_TRY(TALUS_ALLOC(h->receive, neighbours + 1, "neighbours"));
    TALUS_TRY(TALUS_ALLOC(h->send_start, neighbours + 1, "neighbours"));
    return TALUS_ALLOC(h->receive_start, neighbours + 1, "neighbours");
}

/* Adds a neighbour, from which the bodies from `start` on come. */
static void add_neighbour(TalusHalo *h, int rank, int start)
{
    h->receive[h->neighbours].rank = h->send[h->neighbours].rank = rank;
    h->receive_start[h->neighbours++] = start;
}

/* Makes all other ranks neighbours. */
static void add_all_ranks(TalusHalo *h, const Received *body, int count)
{
    for (int r = 0, k = 0; r < h->comm->size; r++) {
        if (r != h->comm->rank)
            add_neighbour(h, r, k);
        while (k < count && body[k].owner == r)
            k++;
    }
}

/* Fills receive_start, receive_body and the ranks of the neighbours, in ascending order, from the `count` bodies of other
 * ranks; nothing is as long as the number of ranks, unless bodies are everywhere. */
static TalusStatus list_received(TalusHalo *h, const TalusHaloBodies *b, int count)
{
    Received *body;
    int owners = 0;
    TALUS_TRY(TALUS_ALLOC(h->receive_body, (size_t)count + 1, "bodies of the halo"));
    TALUS_TRY(TALUS_ALLOC(body, (size_t)count + 1, "bodies of the halo"));
    TalusStatus status = sort_received(h, b, body, count, &owners);
    TALUS_THEN(status, reserve_neighbours(h, (size_t)(b->everywhere ? h->comm->size : owners)));
    if (status == TALUS_OK && b->everywhere)
        add_all_ranks(h, body, count);
    for (int k = 0; status == TALUS_OK && k < count; k++) {
        if (!b->everywhere && (k == 0 || body[k].owner != body[k - 1].owner))
            add_neighbour(h, body[k].owner, k);
        h->receive_body[k] = body[k].body;
    }
    if (status == TALUS_OK)
        h->receive_start[h->neighbours] = count;
    talus_release(body);
    return status;
}

/* Tells every neighbour how many bodies are needed from it, and fills send_start. */
static TalusStatus exchange_counts(TalusHalo *h)
{
    int64_t *wanted;
    TALUS_TRY(TALUS_ALLOC(wanted, 2 * (size_t)h->neighbours + 1, "neighbours"));
    int64_t *asked = wanted + h->neighbours;
    for (int k = 0; k < h->neighbours; k++) {
        wanted[k] = h->receive_start[k + 1] - h->receive_start[k];
        h->send[k] = (TalusMessage){&wanted[k], sizeof *wanted, h->send[k].rank};
        h->receive[k] = (TalusMessage){&asked[k], sizeof *asked, h->receive[k].rank};
    }
    TalusStatus status =
        talus_comm_exchange(h->comm, h->send, h->neighbours, h->receive, h->neighbours);
    h->send_start[0] = 0;
    for (int k = 0; k < h->neighbours; k++)
        h->send_start[k + 1] = h->send_start[k] + (int32_t)asked[k];
    talus_release(wanted);
    return status;
}

/* Returns the index of the body at this place in the order of numbers. */
static int32_t body_at(const TalusHaloBodies *b, int place)
{
    return b->order ? (int32_t)b->order[place] : place;
}

/* Returns the number at this place in the order of numbers. */
static uint64_t number_at(const TalusHaloBodies *b, int place)
{
    return b->number[body_at(b, place)];
}

/* Returns the index of the body with this number, -1: there is none. *place: where the last one was found, as most
 * bodies that a neighbour asks for follow each other closely; from there the steps double. */
static int32_t find_body(const TalusHaloBodies *b, uint64_t number, int *place)
{
    int low = *place < b->count && number_at(b, *place) <= number ? *place : 0, high = low,
        step = 1;
    while (high < b->count && number_at(b, high) < number) {
        low = high + 1;
        high = b->count - low < step ? b->count : low + step;
        step *= 2;
    }
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (number_at(b, middle) < number)
            low = middle + 1;
        else
            high = middle;
    }
    *place = low;
    return low < b->count && number_at(b, low) == number ? body_at(b, low) : -1;
}

/* Sends the numbers of the bodies that are needed, and fills send_body from those that are asked for. */
static TalusStatus exchange_numbers(TalusHalo *h, const TalusHaloBodies *b)
{
    const size_t receives = (size_t)h->receive_start[h->neighbours];
    const size_t sends = (size_t)h->send_start[h->neighbours];
    uint64_t *wanted;
    TALUS_TRY(TALUS_ALLOC(wanted, receives + sends + 1, "bodies of the halo"));
    uint64_t *asked = wanted + receives;
    for (size_t i = 0; i < receives; i++)
        wanted[i] = b->number[h->receive_body[i]];
    for (int k = 0; k < h->neighbours; k++) {
        h->send[k].data = wanted + h->receive_start[k];
        h->send[k].bytes = (size_t)(h->receive_start[k + 1] - h->receive_start[k]) * sizeof *wanted;
        h->receive[k].data = asked + h->send_start[k];
        h->receive[k].bytes = (size_t)(h->send_start[k + 1] - h->send_start[k]) * sizeof *asked;
    }
    TalusStatus status =
        talus_comm_exchange(h->comm, h->send, h->neighbours, h->receive, h->neighbours);
    int place = 0;
    for (size_t i = 0; status == TALUS_OK && i < sends; i++) {
        h->send_body[i] = find_body(b, asked[i], &place);
        if (h->send_body[i] < 0 || !h->owned[h->send_body[i]])
            status = talus_fail(TALUS_ERR_ARGUMENT,
                                "halo: rank %d is asked for body %llu, which it does not own",
                                h->comm->rank, (unsigned long long)asked[i]);
    }
    talus_release(wanted);
    return status;
}

/* ---- creation ---- */

static TalusStatus fill_lists(TalusHalo *h, const TalusHaloBodies *b, size_t record)
{
    h->bodies = b->count;
    TalusStatus status = TALUS_ALLOC(h->owned, (size_t)b->count + 1, "owned bodies");
    TALUS_THEN(status, list_received(h, b, mark_owned(h, b)));
    TALUS_TRY(talus_comm_agree(h->comm, status));
    TALUS_TRY(exchange_counts(h));
    const size_t sends = (size_t)h->send_start[h->neighbours];
    status = TALUS_ALLOC(h->send_body, sends + 1, "bodies of the halo");
    TALUS_THEN(status, TALUS_ALLOC(h->out, sends * record + 1, "messages"));
    TALUS_THEN(status, TALUS_ALLOC(h->in, (size_t)h->receive_start[h->neighbours] * record + 1,
                                   "messages"));
    TALUS_TRY(talus_comm_agree(h->comm, status));
    return talus_comm_agree(h->comm, exchange_numbers(h, b));
}

TalusStatus talus_halo_create(TalusComm *comm, const TalusHaloBodies *bodies, size_t record,
                              TalusHalo **out)
{
    *out = NULL;
    TalusHalo *h;
    TalusStatus status = talus_comm_agree(comm, TALUS_ALLOC(h, 1, "halo"));
    if (status == TALUS_OK) {
        h->comm = comm;
        status = fill_lists(h, bodies, record);
    }
    if (status != TALUS_OK) {
        talus_halo_destroy(h);
        return status;
    }
    *out = h;
    return TALUS_OK;
}

void talus_halo_destroy(TalusHalo *h)
{
    assert(!talus_halo_is_under_way(h));
    if (h)
        TALUS_RELEASE(h->owned, h->send, h->receive, h->send_start, h->send_body, h->receive_start,
                      h->receive_body, h->out, h->in, h);
}

/* ---- exchange ---- */

/* Sets the addresses and lengths of the messages for records of `bytes` each. */
static void lay_out_messages(TalusHalo *h, size_t bytes, unsigned char *out, unsigned char *in)
{
    for (int k = 0; k < h->neighbours; k++) {
        h->send[k].data = out + (size_t)h->send_start[k] * bytes;
        h->send[k].bytes = (size_t)(h->send_start[k + 1] - h->send_start[k]) * bytes;
        h->receive[k].data = in + (size_t)h->receive_start[k] * bytes;
        h->receive[k].bytes = (size_t)(h->receive_start[k + 1] - h->receive_start[k]) * bytes;
    }
}

/* Makes what was to come to `in` NaN unless it has. */
static void check_messages(const TalusHalo *h, size_t bytes, unsigned char *in, TalusStatus status)
{
    if (status != TALUS_OK) /* all bits 1: NaN, of either width */
        memset(in, 0xff, (size_t)h->receive_start[h->neighbours] * bytes);
}

void talus_halo_exchange_between(TalusHalo *h, size_t bytes, unsigned char *out, unsigned char *in)
{
    lay_out_messages(h, bytes, out, in);
    check_messages(h, bytes, in,
                   talus_comm_exchange(h->comm, h->send, h->neighbours, h->receive, h->neighbours));
}

void talus_halo_exchange_messages(TalusHalo *h, size_t bytes)
{
    talus_halo_exchange_between(h, bytes, h->out, h->in);
}

/* Copies the records of the bodies that are sent to the messages. */
static void pack_records(TalusHalo *h, const unsigned char *record, size_t bytes)
{
    for (int i = 0; i < h->send_start[h->neighbours]; i++)
        memcpy(h->out + (size_t)i * bytes, record + (size_t)h->send_body[i] * bytes, bytes);
}

/* Copies what has come to the records of the halo's bodies. */
static void unpack_records(const TalusHalo *h, unsigned char *record, size_t bytes)
{
    for (int i = 0; i < h->receive_start[h->neighbours]; i++)
        memcpy(record + (size_t)h->receive_body[i] * bytes, h->in + (size_t)i * bytes, bytes);
}

void talus_halo_exchange(TalusHalo *h, void *records, size_t bytes)
{
    if (!h || h->comm->size == 1)
        return;
    pack_records(h, records, bytes);
    talus_halo_exchange_messages(h, bytes);
    unpack_records(h, records, bytes);
}

void talus_halo_begin_exchange(TalusHalo *h, void *records, size_t bytes)
{
    if (!h || h->comm->size == 1)
        return;
    assert(!h->records);
    pack_records(h, records, bytes);
    lay_out_messages(h, bytes, h->out, h->in);
    talus_comm_begin_exchange(h->comm, h->send, h->neighbours, h->receive, h->neighbours);
    h->records = records;
    h->bytes = bytes;
}

bool talus_halo_advance_exchange(TalusHalo *h)
{
    return !talus_halo_is_under_way(h) || talus_comm_advance_exchange(h->comm);
}

void talus_halo_finish_exchange(TalusHalo *h)
{
    if (!talus_halo_is_under_way(h))
        return;
    check_messages(h, h->bytes, h->in, talus_comm_finish_exchange(h->comm));
    unpack_records(h, h->records, h->bytes);
    h->records = NULL;
}

/* ---- shares ---- */

void talus_cut_by_weight(int64_t items, const int64_t *weight, int64_t each, int parts,
                         int64_t *first)
{
    int64_t total = each * items, before = 0, at = 0;
    for (int64_t i = 0; i < items; i++)
        total += weight[i];
    first[0] = 0;
    for (int p = 1; p < parts; p++) {
        /* the item that contains the end of share p goes to the side on which more of it lies */
        while (at < items &&
               (before + (each + weight[at]) / 2) < total / parts * p + total % parts * p / parts) {
            before += each + weight[at];
            at++;
        }
        first[p] = at;
    }
    first[parts] = items;
}
