/* plugins/mpi.c - the module talus_mpi.so: messages between processes that mpirun has started, by MPI.
 *
 * Waiting is polling, so that a rank that waits also learns that another has failed. In a run the ranks count their
 * calls. A rank leaves the run after its last call, or in the middle of one that cannot be completed; it then sends
 * every other rank a mark, the number of calls that it has completed. Who waits in a call beyond that number leaves the
 * run, too. A rank that leaves discards what still arrives and waits for the marks of all: after that no message is under
 * way, nobody reads memory of a call that has failed, and another run may begin. All messages of a call have a tag of its
 * own.
 *
 * A message is received when it has been found and its length is known to be right: Open MPI 4.1.4 writes beyond the
 * memory that is given to it if a large message is longer. Messages over 2 GiB, which MPI's counts do not reach, are sent
 * as one element of a type that large.
 *
 * Errors of MPI itself end all processes with a sentence of MPI, and so does the end of a process in the middle of a
 * run. A process that is killed ends the others by mpirun. */
#include "comm/mpi_module.h"

#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Tags: of marks, and of the first of TAGS numbers that the calls have in turn; MPI grants at least 32767. */
enum { MARK_TAG = 1, CALL_TAG = 2, TAGS = 16384 };
/* Polls before a waiting process gives its processor to others at every further one, unless there are more processes
 * than processors; and polls from one look for marks to the next. */
enum { SPINS = 2000, LOOK = 16 };
/* Bytes of a part of a large message. */
enum { PART = 1 << 20 };

/* A message that has been found, not yet received. */
typedef struct Found {
    MPI_Message handle;
    int rank; /* of its sender */
    size_t bytes;
} Found;

static struct {
    MPI_Comm comm;
    int rank, size, spins;
    pid_t opened_by; /* the process that has started MPI */
    bool ours;       /* MPI was started here, so that it ends here */
    bool running;
    int *outcomes;          /* [2 * size]: how each rank's function ended */
    MPI_Request *own_marks; /* [size]: the marks sent by this rank */

    const TalusMessage *receive; /* of the present transfer */
    int awaited;                 /* messages of the transfer that have not been found yet */
    int from;                    /* their rank, MPI_ANY_SOURCE for several */
    bool right;                  /* those that have come were as expected */
    /* [size]: 1 + index of the message that is expected of a rank in the transfer; 0: none, or it has come */
    int *expected;

    int64_t call;         /* number of the present call in the run, from 1 */
    MPI_Request *request; /* what the call sends and receives */
    int requests, request_room;
    int finished; /* number of the first requests that are known to be complete */
    Found *found;
    int founds, found_room;

    bool waiting; /* the thread `waiter` is in a call of this module, and in MPI */
    pthread_t waiter;

    bool left; /* this rank has left the run */
    int64_t own_mark;
    int marks;         /* that have come */
    int64_t last_call; /* number of calls that all ranks complete, as far as is known */
} run = {.comm = MPI_COMM_NULL};

/* ---- start and end of MPI ---- */

static bool is_ended(void)
{
    int ended;
    MPI_Finalized(&ended);
    return ended;
}

static bool is_started(void)
{
    int started;
    MPI_Initialized(&started);
    return started;
}

/* Waits until all ranks exit. False: some rank begins another run, in which it would wait for this one. */
static bool have_all_come_to_the_end(void)
{
    MPI_Request request;
    int done = 0, any = 0;
    if (!run.ours || run.comm == MPI_COMM_NULL)
        return true;
    MPI_Ibarrier(run.comm, &request);
    while (!done && !any) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, run.comm, &any, MPI_STATUS_IGNORE);
        sched_yield();
    }
    return !any;
}

/* Called when the process exits. In the middle of a run the other ranks would wait for this one for ever. Where MPI itself
 * ends the process, since another has been aborted, there is nothing left to do. */
static void finish_mpi(void)
{
    const bool by_mpi = run.waiting && pthread_equal(run.waiter, pthread_self());
    if (getpid() != run.opened_by || by_mpi || is_ended()) /* a forked child runs this, too */
        return;
    if (run.running || !have_all_come_to_the_end())
        MPI_Abort(run.comm, 1);
    else if (run.ours)
        MPI_Finalize();
}

static bool start_mpi(char text[TALUS_MPI_TEXT])
{
    int level;
    if (is_ended()) {
        snprintf(text, TALUS_MPI_TEXT, "it has been ended in this process already");
        return false;
    }
    run.ours = !is_started();
    if (run.ours)
        MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    else
        MPI_Query_thread(&level);
    run.opened_by = getpid();
    if (level >= MPI_THREAD_SERIALIZED)
        return true;
    snprintf(text, TALUS_MPI_TEXT,
             run.ours ? "it does not grant MPI_THREAD_SERIALIZED"
                      : "the program has started it without MPI_THREAD_SERIALIZED");
    return false;
}

/* Number of processes on this machine that take part. */
static int count_neighbours(void)
{
    MPI_Comm here;
    int count;
    MPI_Comm_split_type(run.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &count);
    MPI_Comm_free(&here);
    return count;
}

/* Makes the communicator of all runs, and memory that depends on the number of ranks. */
static bool prepare_runs(char text[TALUS_MPI_TEXT])
{
    MPI_Comm_dup(MPI_COMM_WORLD, &run.comm);
    MPI_Comm_set_errhandler(run.comm, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_rank(run.comm, &run.rank);
    MPI_Comm_size(run.comm, &run.size);
    run.spins = count_neighbours() <= sysconf(_SC_NPROCESSORS_ONLN) ? SPINS : 0;
    run.outcomes = calloc(2 * (size_t)run.size, sizeof *run.outcomes);
    run.own_marks = calloc((size_t)run.size, sizeof *run.own_marks);
    run.expected = calloc((size_t)run.size, sizeof *run.expected);
    if (run.outcomes && run.own_marks && run.expected)
        return true;
    snprintf(text, TALUS_MPI_TEXT, "no memory for %d ranks", run.size);
    return false;
}

/* `open` of the module. After a failure later calls fail, too. */
static bool open_mpi(int *rank, int *size, char text[TALUS_MPI_TEXT])
{
    static bool tried, works;
    if (!tried) {
        tried = true;
        works = start_mpi(text);
        if (works || run.ours)
            atexit(finish_mpi);
        works = works && prepare_runs(text);
    } else if (!works || is_ended()) {
        snprintf(text, TALUS_MPI_TEXT,
                 works ? "it has been ended in this process already" : "it did not start before");
        return false;
    }
    *rank = run.rank;
    *size = run.size;
    return works;
}

/* ---- messages ---- */

/* The type of a message that is too long for a count of bytes; the caller frees it. */
static MPI_Datatype make_large_type(size_t bytes)
{
    MPI_Datatype part, type;
    const int lengths[2] = {(int)(bytes / PART), (int)(bytes % PART)};
    const MPI_Aint places[2] = {0, (MPI_Aint)(bytes - bytes % PART)};
    MPI_Type_contiguous(PART, MPI_BYTE, &part);
    MPI_Type_create_struct(2, lengths, places, (const MPI_Datatype[]){part, MPI_BYTE}, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&part);
    return type;
}

static int get_tag(void)
{
    return CALL_TAG + (int)(run.call % TAGS);
}

/* Begins to send a message, or to receive one that has been found. */
static void begin(const TalusMessage *message, MPI_Message *found)
{
    MPI_Request *request = &run.request[run.requests++];
    const bool large = message->bytes > INT_MAX;
    MPI_Datatype type = large ? make_large_type(message->bytes) : MPI_BYTE;
    const int count = large ? 1 : (int)message->bytes;
    if (found)
        MPI_Imrecv(message->data, count, type, found, request);
    else
        MPI_Isend(message->data, count, type, message->rank, get_tag(), run.comm, request);
    if (large)
        MPI_Type_free(&type);
}

/* Looks for a message, which is then received or discarded. False: there is none. */
static bool look_for(int rank, int tag, Found *found, int *its_tag)
{
    MPI_Status status;
    MPI_Count bytes;
    int any;
    MPI_Improbe(rank, tag, run.comm, &any, &found->handle, &status);
    if (!any)
        return false;
    MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    found->rank = status.MPI_SOURCE;
    found->bytes = (size_t)bytes;
    *its_tag = status.MPI_TAG;
    return true;
}

/* Receives and forgets a message, so that its sender need not wait. */
static void discard(Found *found)
{
    const bool large = found->bytes > INT_MAX;
    MPI_Datatype type = large ? make_large_type(found->bytes) : MPI_BYTE;
    void *memory = malloc(found->bytes + 1);
    if (!memory)
        MPI_Abort(run.comm, 1);
    MPI_Mrecv(memory, large ? 1 : (int)found->bytes, type, &found->handle, MPI_STATUS_IGNORE);
    if (large)
        MPI_Type_free(&type);
    free(memory);
}

/* True if `count` requests are complete. `from`: those before it are. */
static bool try_to_finish(MPI_Request *request, int count, int *from)
{
    for (int done; *from < count; ++*from) {
        MPI_Test(&request[*from], &done, MPI_STATUS_IGNORE);
        if (!done)
            return false;
    }
    return true;
}

/* Memory for the requests and the messages to find of a call. */
static bool reserve(int requests, int founds)
{
    if (requests > run.request_room) {
        MPI_Request *request = realloc(run.request, (size_t)requests * sizeof *request);
        run.request = request ? request : run.request;
        run.request_room = request ? requests : run.request_room;
    }
    if (founds > run.found_room) {
        Found *found = realloc(run.found, (size_t)founds * sizeof *found);
        run.found = found ? found : run.found;
        run.found_room = found ? founds : run.found_room;
    }
    return requests <= run.request_room && founds <= run.found_room;
}

/* ---- marks, and the end of a run ---- */

static void receive_mark(Found *found)
{
    int64_t mark;
    MPI_Mrecv(&mark, 1, MPI_INT64_T, &found->handle, MPI_STATUS_IGNORE);
    run.last_call = mark < run.last_call ? mark : run.last_call;
    run.marks++;
}

static void look_for_marks(void)
{
    Found found;
    int tag;
    while (look_for(MPI_ANY_SOURCE, MARK_TAG, &found, &tag))
        receive_mark(&found);
}

/* Notes marks, and discards other messages, for which nobody waits. */
static void empty_queue(void)
{
    Found found;
    int tag;
    while (look_for(MPI_ANY_SOURCE, MPI_ANY_TAG, &found, &tag))
        if (tag == MARK_TAG)
            receive_mark(&found);
        else
            discard(&found);
}

static void send_marks(int64_t completed)
{
    run.own_mark = completed;
    for (int r = 0; r < run.size; r++) {
        run.own_marks[r] = MPI_REQUEST_NULL;
        if (r != run.rank)
            MPI_Isend(&run.own_mark, 1, MPI_INT64_T, r, MARK_TAG, run.comm, &run.own_marks[r]);
    }
}

/* Leaves the run after `completed` calls, and returns when all ranks have left it. */
static void leave_after(int64_t completed)
{
    int sent = 0;
    run.left = true;
    send_marks(completed);
    for (int k = 0; k < run.founds; k++)
        discard(&run.found[k]);
    while (!try_to_finish(run.request, run.requests, &run.finished) ||
           !try_to_finish(run.own_marks, run.size, &sent) || run.marks < run.size - 1) {
        empty_queue();
        sched_yield();
    }
    empty_queue(); /* what came before the last mark */
    run.requests = run.finished = run.founds = 0;
}

static void leave(void)
{
    leave_after(run.call - 1);
}

static void begin_run(void)
{
    run.running = true;
    run.left = false;
    run.call = run.marks = run.requests = run.finished = run.founds = 0;
    run.last_call = INT64_MAX;
    for (int r = 0; r < run.size; r++)
        run.expected[r] = 0;
}

/* Returns the rank whose failure counts; -1: none has failed. */
static int find_failed(void)
{
    int failed = -1;
    for (int r = run.size - 1; r >= 0; r--) {
        const bool alone = run.outcomes[2 * r + 1]; /* it had not been told that another has left */
        if (run.outcomes[2 * r] && (alone || failed < 0 || !run.outcomes[2 * failed + 1]))
            failed = r;
    }
    return failed;
}

/* MPI's own waiting does not always give the processor to others. */
static void wait_for(MPI_Request *request)
{
    for (int done = 0; !done; sched_yield())
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

static void do_end_run(int *status, void *error, size_t bytes)
{
    const int mine[2] = {*status, !run.left};
    MPI_Request request;
    if (!run.left)
        leave_after(run.call);
    MPI_Iallgather(mine, 2, MPI_INT, run.outcomes, 2, MPI_INT, run.comm, &request);
    wait_for(&request);
    const int failed = find_failed();
    if (failed >= 0) {
        *status = run.outcomes[2 * failed];
        MPI_Ibcast(error, (int)bytes, MPI_BYTE, failed, run.comm, &request);
        wait_for(&request);
    }
    run.running = false;
}

/* ---- calls ---- */

static void begin_call(void)
{
    run.call++;
}

/* To be called after poll `count` without success. False: some rank will not complete this call, and the run is left. */
static bool go_on(int64_t count)
{
    if (count % LOOK == LOOK - 1)
        look_for_marks();
    if (run.last_call < run.call) {
        leave();
        return false;
    }
    if (count >= run.spins)
        sched_yield();
    return true;
}

/* Waits for all requests of the call. */
static bool await(void)
{
    for (int64_t polls = 0; !try_to_finish(run.request, run.requests, &run.finished); polls++)
        if (!go_on(polls))
            return false;
    run.requests = run.finished = 0;
    return true;
}

/* Begins to receive what has been found, if that is as expected. */
static bool accept(Found *found)
{
    const int expected = run.expected[found->rank] - 1;
    run.expected[found->rank] = 0;
    run.awaited -= expected >= 0;
    if (expected >= 0 && run.receive[expected].bytes == found->bytes) {
        begin(&run.receive[expected], &found->handle);
        return true;
    }
    discard(found);
    return false;
}

/* Accepts a message of the transfer; false if none has come. */
static bool accept_next(void)
{
    Found found;
    int tag;
    if (!look_for(run.from, get_tag(), &found, &tag))
        return false;
    run.right = accept(&found) && run.right;
    return true;
}

/* Accepts the messages as they come. After one that was not as expected, waits for the others all the same, so that all
 * ranks complete this call; false if the run has been left. */
static bool receive_all(void)
{
    for (int64_t polls = 0; run.awaited > 0;)
        if (!accept_next() && !go_on(polls++))
            return false;
    return true;
}

static void do_begin_transfer(const TalusMessage *send, int sends, const TalusMessage *receive,
                              int receives)
{
    if (run.left)
        return;
    if (!reserve(sends + receives, 0)) {
        leave();
        return;
    }
    run.right = true;
    run.receive = receive;
    run.awaited = receives;
    run.from = receives == 1 ? receive->rank : MPI_ANY_SOURCE;
    for (int k = 0; k < receives; k++)
        run.expected[receive[k].rank] = k + 1;
    for (int k = 0; k < sends; k++)
        begin(&send[k], NULL);
}

static bool do_advance_transfer(void)
{
    look_for_marks();
    if (run.left || run.last_call < run.call)
        return true;
    while (run.awaited > 0)
        if (!accept_next())
            return false;
    return try_to_finish(run.request, run.requests, &run.finished);
}

static bool do_finish_transfer(void)
{
    if (run.left || !receive_all() || !await())
        return false;
    if (!run.right)
        leave_after(run.call);
    return run.right;
}

/* Enters the last message found among those before it, by rank. */
static void sort_found(void)
{
    const Found last = run.found[run.founds - 1];
    int at = run.founds - 1;
    for (; at > 0 && run.found[at - 1].rank > last.rank; at--)
        run.found[at] = run.found[at - 1];
    run.found[at] = last;
}

static bool do_find(const TalusMessage *send, int sends, int count, TalusMessage *found)
{
    int tag;
    if (run.left)
        return false;
    if (!reserve(sends + count, count)) {
        leave();
        return false;
    }
    for (int k = 0; k < sends; k++)
        if (send[k].rank != run.rank)
            begin(&send[k], NULL);
    for (int64_t polls = 0; run.founds < count;) {
        if (look_for(MPI_ANY_SOURCE, get_tag(), &run.found[run.founds], &tag)) {
            run.founds++;
            sort_found();
        } else if (!go_on(polls++)) {
            return false;
        }
    }
    for (int k = 0; k < count; k++)
        found[k] = (TalusMessage){NULL, run.found[k].bytes, run.found[k].rank};
    return true;
}

static bool do_take(const TalusMessage *into, int count)
{
    Found *found = run.found;
    for (int k = 0; k < count; k++)
        if (into[k].rank != run.rank)
            begin(&into[k], &found++->handle);
    run.founds = 0;
    return await();
}

/* ---- the module's functions: as those above, with a note that MPI is entered ---- */

static void enter(void)
{
    run.waiter = pthread_self();
    run.waiting = true;
}

static bool finish(bool result)
{
    run.waiting = false;
    return result;
}

static void begin_transfer(const TalusMessage *send, int sends, const TalusMessage *receive,
                           int receives)
{
    enter();
    do_begin_transfer(send, sends, receive, receives);
    finish(true);
}

static bool advance_transfer(void)
{
    enter();
    return finish(do_advance_transfer());
}

static bool finish_transfer(void)
{
    enter();
    return finish(do_finish_transfer());
}

static bool find(const TalusMessage *send, int sends, int count, TalusMessage *found)
{
    enter();
    return finish(do_find(send, sends, count, found));
}

static bool take(const TalusMessage *into, int count)
{
    enter();
    return finish(do_take(into, count));
}

static void end_run(int *status, void *error, size_t bytes)
{
    enter();
    do_end_run(status, error, bytes);
    finish(true);
}

static const TalusMpiModule module = {
    .version = TALUS_MPI_VERSION,
    .is_started = is_started,
    .open = open_mpi,
    .begin_run = begin_run,
    .begin_call = begin_call,
    .begin_transfer = begin_transfer,
    .advance_transfer = advance_transfer,
    .finish_transfer = finish_transfer,
    .find = find,
    .take = take,
    .leave = leave,
    .end_run = end_run,
};

__attribute__((visibility("default"))) const TalusMpiModule *talus_mpi_module(void);

const TalusMpiModule *talus_mpi_module(void)
{
    return &module;
}
