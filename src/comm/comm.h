/* comm/comm.h - the contract of communicators: what ranks exchange, whatever carries the messages. Ranks work on one
 * problem together, each on a part of its own; they are threads of one process (threads.c) or processes of mpirun (mpi.c).
 * A communicator belongs to one rank and is used by one thread at a time.
 *
 * All ranks make the same calls in the same order. A call returns when this rank has what it asked for. Reductions do
 * not depend on the order in which ranks are combined: sums are exact (base/sum.h), and so are maxima and counts.
 *
 * A rank that fails breaks the communicator: the calls of all ranks then return false, from then on, with unspecified
 * results. Functions without status give NaN in that case, which ends any iteration; talus_comm_agree then has the error.
 * Between threads that is at once. Between processes the first such call returns when all ranks have come to it or to their
 * end, so that none still reads what another has given up; a call that every rank has completed stays completed. A process
 * that dies ends all of them. */
#ifndef TALUS_COMM_COMM_H
#define TALUS_COMM_COMM_H

#include "base/bins.h"
#include "base/status.h"
#include "base/sum.h"

#include <talus/comm.h>

/* One message: the bytes for or from another rank. */
typedef struct TalusMessage {
    void *data;
    size_t bytes;
    int rank;
} TalusMessage;

/* Messages that have come from ranks that were not known before; starts as zeros. */
typedef struct TalusInbox {
    TalusMessage *message; /* [count], by ascending rank of the sender */
    int count;
    unsigned char
        *data; /* memory of the messages; each begins at a multiple of TALUS_MESSAGE_ALIGN bytes */
} TalusInbox;

enum { TALUS_MESSAGE_ALIGN = 16 };

/* Returns the bytes that a message of `bytes` takes in an inbox. */
static inline size_t talus_message_room(size_t bytes)
{
    return (bytes + TALUS_MESSAGE_ALIGN - 1) / TALUS_MESSAGE_ALIGN * TALUS_MESSAGE_ALIGN;
}

/* How the numbers of all ranks become one. */
typedef enum TalusReduction {
    TALUS_REDUCE_SUM,   /* TalusSum: the exact sum */
    TALUS_REDUCE_MAX,   /* double: the largest; NaN if one is */
    TALUS_REDUCE_COUNT, /* int64_t: the sum */
    TALUS_REDUCE_BINS,  /* TalusBinnedSum: the sum */
    TALUS_REDUCTIONS
} TalusReduction;

/* Bytes of one number of a reduction. */
size_t talus_reduction_bytes(TalusReduction kind);
/* into[k] = into[k] and from[k] combined, for k < count. */
void talus_reduction_combine(TalusReduction kind, void *into, const void *from, int count);

typedef struct TalusCommOps {
    const char *name;
    bool shares_memory; /* ranks are in one address space: what one points to, all may read */
    /* Replaces each of `count` numbers by that of all ranks. */
    bool (*reduce)(TalusComm *comm, TalusReduction kind, void *values, int count);
    /* Copies the bytes of rank `root` to all ranks. */
    bool (*broadcast)(TalusComm *comm, int root, void *data, size_t bytes);
    /* Begins to send and to receive messages: at most one to and one from each other rank. What a rank sends, the other
     * receives in the same call, with the same number of bytes. Another number breaks the communicator. So does a message
     * that is not sent, between threads; between processes it is waited for. */
    void (*begin_exchange)(TalusComm *comm, const TalusMessage *send, int sends,
                           const TalusMessage *receive, int receives);
    /* Lets the messages get on, without waiting. True if the second half would not wait for those that come. */
    bool (*advance_exchange)(TalusComm *comm);
    /* Waits until all has come, and until what is sent is needed no more; false if either half has failed. */
    bool (*finish_exchange)(TalusComm *comm);
    /* Sends messages, at most one to each rank, this one included; receivers know neither senders nor sizes. The inbox
     * gets what others send to this rank; its former content is lost. */
    bool (*route)(TalusComm *comm, const TalusMessage *send, int sends, TalusInbox *inbox);
} TalusCommOps;

/* What this rank has spent in calls, and what it has sent. Waiting for other ranks counts. */
typedef struct TalusCommUse {
    double reduce_seconds, broadcast_seconds, message_seconds;
    double hidden_seconds;   /* of work while messages were under way; in none of those above */
    int64_t messages, bytes; /* sent */
} TalusCommUse;

struct TalusComm {
    const TalusCommOps *ops;
    int rank, size;
    TalusCommUse use;
    bool under_way, arrived; /* between the halves of an exchange; what comes is here */
    double since;            /* end of the last call for this exchange */
};

/* comm NULL, or of one rank: nothing changes. */

/* Replaces `count` sums, or maxima, or counts, by those over all ranks. */
void talus_comm_add_sums(TalusComm *comm, TalusSum *sums, int count);
void talus_comm_add_binned_sums(TalusComm *comm, TalusBinnedSum *sums, int count);
void talus_comm_find_maxima(TalusComm *comm, double *values, int count);
TalusStatus talus_comm_add_counts(TalusComm *comm, int64_t *values, int count);
/* True if `mine` is true on any rank. */
bool talus_comm_any(TalusComm *comm, bool mine);
/* Replaces `count` numbers by the smallest of all ranks. */
void talus_comm_find_minima(TalusComm *comm, double *values, int count);
/* The value of rank 0, such as a time, on which all ranks must decide alike. */
double talus_comm_share(TalusComm *comm, double value);
/* Copies the bytes of rank `root` to all ranks. */
TalusStatus talus_comm_broadcast(TalusComm *comm, int root, void *data, size_t bytes);
TalusStatus talus_comm_exchange(TalusComm *comm, const TalusMessage *send, int sends,
                                const TalusMessage *receive, int receives);
/* The same in two halves, for work that does without what comes; its time is booked as hidden_seconds. Between them the
 * communicator is used for nothing else, both lists stay, and what is sent does not change. A rank that fails between them
 * calls the second all the same, before it gives up that memory, which others may read. A failure of the first half is
 * returned by the second. */
void talus_comm_begin_exchange(TalusComm *comm, const TalusMessage *send, int sends,
                               const TalusMessage *receive, int receives);
TalusStatus talus_comm_finish_exchange(TalusComm *comm);
/* Lets messages get on between the halves: those of processes may stand still while none of them makes a call. True if what
 * comes is here. */
bool talus_comm_advance_exchange(TalusComm *comm);
/* Like the operation; one rank alone may send to itself. */
TalusStatus talus_comm_route(TalusComm *comm, const TalusMessage *send, int sends,
                             TalusInbox *inbox);
/* The inbox gets a message from every rank, this one included: its `bytes` bytes of data, of any number. */
TalusStatus talus_comm_gather(TalusComm *comm, const void *data, size_t bytes, TalusInbox *inbox);
/* Reserves memory for `count` messages that take `bytes` bytes (talus_message_room) and sets inbox->count; for communicators. */
TalusStatus talus_inbox_reserve(TalusInbox *inbox, int count, size_t bytes);
void talus_inbox_clear(TalusInbox *inbox);
/* Returns this rank's status; if that is OK but not on every rank, TALUS_ERR_CANCELLED. */
TalusStatus talus_comm_agree(TalusComm *comm, TalusStatus status);

#endif
