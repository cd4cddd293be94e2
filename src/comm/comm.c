/* comm/comm.c - reductions, and what is the same for all communicators. */
#include "comm/comm.h"

#include "base/memory.h"
#include "base/profile.h"
#include "base/timer.h"

#include <assert.h>
#include <math.h>
#include <string.h>

int talus_comm_rank(const TalusComm *comm)
{
    return comm ? comm->rank : 0;
}

int talus_comm_size(const TalusComm *comm)
{
    return comm ? comm->size : 1;
}

/* ---- reductions ---- */

size_t talus_reduction_bytes(TalusReduction kind)
{
    static const size_t bytes[TALUS_REDUCTIONS] = {sizeof(TalusSum), sizeof(double),
                                                   sizeof(int64_t), sizeof(TalusBinnedSum)};
    return bytes[kind];
}

static void add_sums(TalusSum *into, const TalusSum *from, int count)
{
    for (int k = 0; k < count; k++)
        talus_sum_merge(&into[k], &from[k]);
}

static void find_maxima(double *into, const double *from, int count)
{
    for (int k = 0; k < count; k++)
        if (!(from[k] <= into[k] || isnan(into[k])))
            into[k] = from[k];
}

static void add_counts(int64_t *into, const int64_t *from, int count)
{
    for (int k = 0; k < count; k++)
        into[k] += from[k];
}

static void add_binned_sums(TalusBinnedSum *into, const TalusBinnedSum *from, int count)
{
    for (int k = 0; k < count; k++)
        talus_binned_sum_merge(&into[k], &from[k]);
}

void talus_reduction_combine(TalusReduction kind, void *into, const void *from, int count)
{
    if (kind == TALUS_REDUCE_SUM)
        add_sums(into, from, count);
    else if (kind == TALUS_REDUCE_MAX)
        find_maxima(into, from, count);
    else if (kind == TALUS_REDUCE_BINS)
        add_binned_sums(into, from, count);
    else
        add_counts(into, from, count);
}

/* ---- calls ---- */

static bool is_alone(const TalusComm *comm)
{
    return !comm || comm->size == 1;
}

/* The error of a rank whose communicator has broken. */
static TalusStatus fail_broken(void)
{
    return talus_fail(TALUS_ERR_CANCELLED, "another rank has failed or ended");
}

/* The operations, with their use booked. */

/* Returns the seconds since `start`, which the profile has, too, with those of waiting for other ranks. */
static double book(const char *name, double start)
{
    talus_profile_add_since(name, start);
    return talus_now() - start;
}

static bool reduce(TalusComm *comm, TalusReduction kind, void *values, int count)
{
    const double start = talus_now();
    const bool done = comm->ops->reduce(comm, kind, values, count);
    comm->use.reduce_seconds += book("sums over ranks", start);
    return done;
}

static bool broadcast(TalusComm *comm, int root, void *data, size_t bytes)
{
    const double start = talus_now();
    const bool done = comm->ops->broadcast(comm, root, data, bytes);
    comm->use.broadcast_seconds += book("messages between ranks", start);
    return done;
}

/* Books messages that were sent from `start` on. */
static void book_messages(TalusComm *comm, const TalusMessage *send, int sends, double start)
{
    comm->use.message_seconds += book("messages between ranks", start);
    comm->use.messages += sends;
    for (int k = 0; k < sends; k++)
        comm->use.bytes += (int64_t)send[k].bytes;
}

void talus_comm_add_sums(TalusComm *comm, TalusSum *sums, int count)
{
    if (is_alone(comm) || reduce(comm, TALUS_REDUCE_SUM, sums, count))
        return;
    for (int k = 0; k < count; k++)
        sums[k] = (TalusSum){.special = (double)NAN};
}

void talus_comm_add_binned_sums(TalusComm *comm, TalusBinnedSum *sums, int count)
{
    if (is_alone(comm) || reduce(comm, TALUS_REDUCE_BINS, sums, count))
        return;
    for (int k = 0; k < count; k++)
        sums[k] = (TalusBinnedSum){.top = TALUS_BIN_NAN};
}

void talus_comm_find_maxima(TalusComm *comm, double *values, int count)
{
    if (is_alone(comm) || reduce(comm, TALUS_REDUCE_MAX, values, count))
        return;
    for (int k = 0; k < count; k++)
        values[k] = (double)NAN;
}

void talus_comm_find_minima(TalusComm *comm, double *values, int count)
{
    for (int k = 0; k < count; k++)
        values[k] = -values[k];
    talus_comm_find_maxima(comm, values, count);
    for (int k = 0; k < count; k++)
        values[k] = -values[k];
}

TalusStatus talus_comm_add_counts(TalusComm *comm, int64_t *values, int count)
{
    if (is_alone(comm) || reduce(comm, TALUS_REDUCE_COUNT, values, count))
        return TALUS_OK;
    return fail_broken();
}

bool talus_comm_any(TalusComm *comm, bool mine)
{
    int64_t number = mine;
    return is_alone(comm) ? mine : talus_comm_add_counts(comm, &number, 1) != TALUS_OK || number;
}

double talus_comm_share(TalusComm *comm, double value)
{
    if (is_alone(comm) || broadcast(comm, 0, &value, sizeof value))
        return value;
    return (double)NAN;
}

TalusStatus talus_comm_broadcast(TalusComm *comm, int root, void *data, size_t bytes)
{
    return is_alone(comm) || broadcast(comm, root, data, bytes) ? TALUS_OK : fail_broken();
}

TalusStatus talus_comm_exchange(TalusComm *comm, const TalusMessage *send, int sends,
                                const TalusMessage *receive, int receives)
{
    if (is_alone(comm))
        return TALUS_OK;
    const double start = talus_now();
    comm->ops->begin_exchange(comm, send, sends, receive, receives);
    const bool done = comm->ops->finish_exchange(comm);
    book_messages(comm, send, sends, start);
    return done ? TALUS_OK : fail_broken();
}

void talus_comm_begin_exchange(TalusComm *comm, const TalusMessage *send, int sends,
                               const TalusMessage *receive, int receives)
{
    if (is_alone(comm))
        return;
    assert(!comm->under_way);
    const double start = talus_now();
    comm->ops->begin_exchange(comm, send, sends, receive, receives);
    book_messages(comm, send, sends, start);
    comm->under_way = true;
    comm->arrived = false;
    comm->since = talus_now();
}

/* Books the work since the last call for the exchange under way, if messages still were; returns the present time. */
static double book_work(TalusComm *comm)
{
    const double now = talus_now();
    assert(comm->under_way);
    if (!comm->arrived)
        comm->use.hidden_seconds += now - comm->since;
    return now;
}

bool talus_comm_advance_exchange(TalusComm *comm)
{
    if (is_alone(comm) || comm->arrived)
        return true;
    const double start = book_work(comm);
    comm->arrived = comm->ops->advance_exchange(comm);
    comm->since = talus_now();
    comm->use.message_seconds += comm->since - start;
    return comm->arrived;
}

TalusStatus talus_comm_finish_exchange(TalusComm *comm)
{
    if (is_alone(comm))
        return TALUS_OK;
    const double start = book_work(comm);
    const bool done = comm->ops->finish_exchange(comm);
    comm->use.message_seconds += book("messages between ranks", start);
    comm->under_way = false;
    return done ? TALUS_OK : fail_broken();
}

TalusStatus talus_inbox_reserve(TalusInbox *inbox, int count, size_t bytes)
{
    inbox->count = 0;
    TALUS_TRY(TALUS_GROW(inbox->message, (size_t)count + 1, 0, "messages"));
    TALUS_TRY(TALUS_GROW(inbox->data, bytes + 1, 0, "messages"));
    inbox->count = count;
    return TALUS_OK;
}

void talus_inbox_clear(TalusInbox *inbox)
{
    TALUS_RELEASE(inbox->message, inbox->data);
    *inbox = (TalusInbox){0};
}

/* route for one rank: copies the message to itself, if there is one. */
static TalusStatus route_to_self(const TalusMessage *send, int sends, TalusInbox *inbox)
{
    TALUS_TRY(talus_inbox_reserve(inbox, sends, sends > 0 ? talus_message_room(send->bytes) : 0));
    if (sends == 0)
        return TALUS_OK;
    *inbox->message = (TalusMessage){inbox->data, send->bytes, 0};
    if (send->bytes > 0)
        memcpy(inbox->data, send->data, send->bytes);
    return TALUS_OK;
}

TalusStatus talus_comm_route(TalusComm *comm, const TalusMessage *send, int sends,
                             TalusInbox *inbox)
{
    if (is_alone(comm))
        return route_to_self(send, sends, inbox);
    const double start = talus_now();
    const bool done = comm->ops->route(comm, send, sends, inbox);
    book_messages(comm, send, sends, start);
    return done ? TALUS_OK : fail_broken();
}

TalusStatus talus_comm_gather(TalusComm *comm, const void *data, size_t bytes, TalusInbox *inbox)
{
    const int size = talus_comm_size(comm);
    TalusMessage *send;
    TalusStatus status = talus_comm_agree(comm, TALUS_ALLOC(send, (size_t)size, "messages"));
    for (int r = 0; status == TALUS_OK && r < size; r++)
        send[r] = (TalusMessage){(void *)data, bytes, r};
    TALUS_THEN(status, talus_comm_route(comm, send, size, inbox));
    talus_release(send);
    return status;
}

TalusStatus talus_comm_agree(TalusComm *comm, TalusStatus status)
{
    int64_t failed = status != TALUS_OK;
    if (is_alone(comm))
        return status;
    TalusStatus carried = talus_comm_add_counts(comm, &failed, 1);
    if (status != TALUS_OK || carried != TALUS_OK)
        return status != TALUS_OK ? status : carried;
    return failed ? fail_broken() : TALUS_OK;
}
