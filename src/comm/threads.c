/* comm/threads.c - ranks as threads of one process, a team. The ranks read what the others post, between two meetings of
 * the whole team.
 *
 * A member that waits for the others polls for a while and then sleeps, as the workers of a pool do (base/pool.c). If a
 * member ends, the others cannot meet any more: the team is broken. */
#include "comm/comm.h"

#include "base/memory.h"
#include "base/processors.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* Number of polls before a waiting member sleeps, unless there are more ranks than processors; and the largest team. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SPINS = 200, MAX_RANKS = 1024 };
#else
enum { SPINS = 5000, MAX_RANKS = 1024 };
#endif

typedef struct Team Team;

/* One rank. What it posts is read by the others between two meetings. */
typedef struct Member {
    TalusComm comm; /* first, so that a communicator is its member */
    Team *team;
    pthread_t thread;
    TalusStatus status;
    TalusError error; /* of `status` */
    /* posted */
    const TalusMessage *message; /* to send */
    int messages;
    void *data;
    /* of an exchange under way */
    const TalusMessage *receive;
    int receives;
    unsigned meeting;  /* the one that this member has come to, by the state before it */
    bool taken, right; /* what comes has been copied; it was as expected */
    /* memory for a reduction */
    unsigned char *work;
} Member;

struct Team {
    int size, spins;
    Member *member; /* [size] */
    TalusRankFn *fn;
    void *context;
    atomic_int arrived; /* members that wait at the present meeting */
    /* Twice the number of meetings so far, plus 1 if the team is broken: in one word, so that a meeting takes place for all
     * members or for none. */
    atomic_uint state;
    atomic_int sleepers;     /* members that sleep on `wake` */
    atomic_int first_failed; /* rank of the first member that failed; -1: none */
    pthread_mutex_t mutex;
    pthread_cond_t wake;
};

static Member *get_member(TalusComm *comm)
{
    return (Member *)comm;
}

/* ---- meetings ---- */

static void wake_sleepers(Team *team)
{
    if (atomic_load(&team->sleepers) == 0)
        return;
    pthread_mutex_lock(&team->mutex);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->mutex);
}

/* Completes the meeting after state `seen`, unless the team has been broken since. */
static void complete_meeting(Team *team, unsigned seen)
{
    atomic_store(&team->arrived, 0);
    atomic_compare_exchange_strong(&team->state, &seen, seen + 2);
    wake_sleepers(team);
}

/* Comes to the next meeting, without waiting for the others; returns the state that the meeting changes. */
static unsigned come(Team *team)
{
    const unsigned seen = atomic_load(&team->state);
    if (!(seen & 1) && atomic_fetch_add(&team->arrived, 1) + 1 == team->size)
        complete_meeting(team, seen);
    return seen;
}

/* True if the meeting after state `seen`, which this member has come to, has taken place or never will. */
static bool is_over(Team *team, unsigned seen)
{
    return seen & 1 || atomic_load(&team->state) != seen;
}

/* Waits until all members have come to the meeting after state `seen`. False: the team is broken. */
static bool wait_for_others(Team *team, unsigned seen)
{
    if (seen & 1)
        return false;
    for (int i = 0; i < team->spins && atomic_load(&team->state) == seen; i++)
        ;
    if (atomic_load(&team->state) == seen) {
        pthread_mutex_lock(&team->mutex);
        atomic_fetch_add(&team->sleepers, 1);
        while (atomic_load(&team->state) == seen)
            pthread_cond_wait(&team->wake, &team->mutex);
        atomic_fetch_sub(&team->sleepers, 1);
        pthread_mutex_unlock(&team->mutex);
    }
    return atomic_load(&team->state) != seen + 1;
}

/* Comes and waits. */
static bool meet(Team *team)
{
    return wait_for_others(team, come(team));
}

static void break_team(Team *team)
{
    atomic_fetch_or(&team->state, 1u);
    wake_sleepers(team);
}

/* ---- the calls ---- */

static bool threads_reduce(TalusComm *comm, TalusReduction kind, void *values, int count)
{
    Member *own = get_member(comm);
    Team *team = own->team;
    const size_t bytes = (size_t)count * talus_reduction_bytes(kind);
    if (TALUS_GROW(own->work, bytes, 0, "reduction") != TALUS_OK) {
        break_team(team);
        return false;
    }
    own->data = values;
    if (!meet(team))
        return false;
    memcpy(own->work, team->member[0].data, bytes);
    for (int r = 1; r < team->size; r++)
        talus_reduction_combine(kind, own->work, team->member[r].data, count);
    if (!meet(team))
        return false;
    memcpy(values, own->work, bytes);
    return true;
}

static bool threads_broadcast(TalusComm *comm, int root, void *data, size_t bytes)
{
    Member *own = get_member(comm);
    own->data = data;
    if (!meet(own->team))
        return false;
    if (comm->rank != root)
        memcpy(data, own->team->member[root].data, bytes);
    return meet(own->team);
}

/* Returns the message that the member has posted for `rank`; NULL: none. */
static const TalusMessage *find_message(const Member *from, int rank)
{
    for (int k = 0; k < from->messages; k++)
        if (from->message[k].rank == rank)
            return &from->message[k];
    return NULL;
}

/* Copies what the other rank sends here. False: it sends nothing, or another number of bytes. */
static bool take_message(const Team *team, int rank, const TalusMessage *receive)
{
    const TalusMessage *sent = find_message(&team->member[receive->rank], rank);
    if (!sent || sent->bytes != receive->bytes)
        return false;
    if (receive->bytes > 0)
        memcpy(receive->data, sent->data, receive->bytes);
    return true;
}

/* Posts what is sent: others may take it when all have come. */
static void threads_begin_exchange(TalusComm *comm, const TalusMessage *send, int sends,
                                   const TalusMessage *receive, int receives)
{
    Member *own = get_member(comm);
    own->message = send;
    own->messages = sends;
    own->receive = receive;
    own->receives = receives;
    own->taken = false;
    own->meeting = come(own->team);
}

/* Copies what the others have posted, and comes to the second meeting, after which nobody reads what this rank has. */
static void take_messages(Member *own)
{
    own->right = true;
    for (int k = 0; k < own->receives; k++)
        own->right = take_message(own->team, own->comm.rank, &own->receive[k]) && own->right;
    own->taken = true;
    own->meeting = come(own->team);
}

/* Takes the messages as soon as all have posted theirs: others then need not wait for this rank in their second half. */
static bool threads_advance_exchange(TalusComm *comm)
{
    Member *own = get_member(comm);
    if (!own->taken && is_over(own->team, own->meeting)) {
        if (!wait_for_others(own->team, own->meeting))
            return true; /* broken */
        take_messages(own);
    }
    return own->taken && is_over(own->team, own->meeting);
}

static bool threads_finish_exchange(TalusComm *comm)
{
    Member *own = get_member(comm);
    if (!own->taken) {
        if (!wait_for_others(own->team, own->meeting))
            return false;
        take_messages(own);
    }
    const bool met = wait_for_others(own->team, own->meeting);
    if (!own->right) /* only now, since others may have read what this rank has posted */
        break_team(own->team);
    return met && own->right;
}

/* Copies all messages that are posted for `rank`. */
static TalusStatus collect_messages(const Team *team, int rank, TalusInbox *inbox)
{
    int count = 0;
    size_t bytes = 0;
    for (int r = 0; r < team->size; r++) {
        const TalusMessage *message = find_message(&team->member[r], rank);
        count += message != NULL;
        bytes += message ? talus_message_room(message->bytes) : 0;
    }
    TALUS_TRY(talus_inbox_reserve(inbox, count, bytes));
    unsigned char *at = inbox->data;
    TalusMessage *to = inbox->message;
    for (int r = 0; r < team->size; r++) {
        const TalusMessage *message = find_message(&team->member[r], rank);
        if (!message)
            continue;
        *to++ = (TalusMessage){at, message->bytes, r};
        if (message->bytes > 0)
            memcpy(at, message->data, message->bytes);
        at += talus_message_room(message->bytes);
    }
    return TALUS_OK;
}

static bool threads_route(TalusComm *comm, const TalusMessage *send, int sends, TalusInbox *inbox)
{
    Member *own = get_member(comm);
    Team *team = own->team;
    own->message = send;
    own->messages = sends;
    if (!meet(team))
        return false;
    const bool complete = collect_messages(team, comm->rank, inbox) == TALUS_OK;
    const bool met = meet(team); /* first, since others may read what this rank has posted */
    if (!complete)
        break_team(team);
    return met && complete;
}

static const TalusCommOps threads_ops = {
    .name = "threads",
    .shares_memory = true,
    .reduce = threads_reduce,
    .broadcast = threads_broadcast,
    .begin_exchange = threads_begin_exchange,
    .advance_exchange = threads_advance_exchange,
    .finish_exchange = threads_finish_exchange,
    .route = threads_route,
};

/* ---- start and end ---- */

/* What a rank does from its first call to its end. */
static void *member_main(void *argument)
{
    Member *own = argument;
    Team *team = own->team;
    int none = -1;
    own->status = team->fn(&own->comm, team->context);
    if (own->status != TALUS_OK) {
        own->error = *talus_error_record();
        atomic_compare_exchange_strong(&team->first_failed, &none, own->comm.rank);
    }
    break_team(team); /* who still waits, waits in vain; at the regular end nobody does */
    return NULL;
}

/* Starts all ranks but 0. After a failure those that run end by themselves, as the team is broken. */
static TalusStatus start_members(Team *team, int *started)
{
    for (*started = 1; *started < team->size; ++*started) {
        Member *m = &team->member[*started];
        if (pthread_create(&m->thread, NULL, member_main, m) != 0) {
            break_team(team);
            return talus_fail_key("ranks", TALUS_ERR_MEMORY, "only %d of %d could be started",
                                  *started, team->size);
        }
    }
    return TALUS_OK;
}

static TalusStatus run_team(Team *team)
{
    int started;
    TalusStatus status = start_members(team, &started);
    if (status == TALUS_OK)
        member_main(&team->member[0]);
    for (int r = 1; r < started; r++)
        pthread_join(team->member[r].thread, NULL);
    const int failed = atomic_load(&team->first_failed);
    if (status == TALUS_OK && failed >= 0) {
        status = team->member[failed].status;
        talus_error_restore(&team->member[failed].error);
    }
    return status;
}

TalusStatus talus_ranks_run(int ranks, TalusRankFn *fn, void *context)
{
    Team team = {.size = ranks, .fn = fn, .context = context};
    if (ranks < 1 || ranks > MAX_RANKS)
        return talus_fail_key("ranks", TALUS_ERR_ARGUMENT, "%d is not between 1 and %d", ranks,
                              MAX_RANKS);
    TALUS_TRY(TALUS_ALLOC(team.member, (size_t)ranks, "ranks"));
    team.spins = ranks <= talus_count_processors() ? SPINS : 0;
    atomic_init(&team.first_failed, -1);
    pthread_mutex_init(&team.mutex, NULL);
    pthread_cond_init(&team.wake, NULL);
    for (int r = 0; r < ranks; r++)
        team.member[r] =
            (Member){.comm = {.ops = &threads_ops, .rank = r, .size = ranks}, .team = &team};
    TalusStatus status = run_team(&team);
    for (int r = 0; r < ranks; r++)
        talus_release(team.member[r].work);
    pthread_cond_destroy(&team.wake);
    pthread_mutex_destroy(&team.mutex);
    talus_release(team.member);
    return status;
}
