/* comm/mpi.c - ranks as processes, which mpirun has started; MPI itself is behind the module talus_mpi.so.
 *
 * Reductions go by recursive doubling: in round k the ranks exchange what groups of 2^k neighbouring ranks have, and
 * combine it in the order of the ranks, so that all ranks get the same bits, and those that threads give. The rest
 * beyond a power of two is combined in pairs before, and gets the result after.
 *
 * In a route the ranks first add how many messages each of them gets, then wait for as many. */
#include "comm/mpi.h"

#include "base/memory.h"
#include "base/module.h"
#include "comm/comm.h"
#include "comm/mpi_module.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the module ---- */

/* These variables are set by mpirun and mpiexec (Open MPI, MPICH, Intel MPI), and by srun with its plugins pmi2 and pmix.
 * Slurm's own say nothing: a batch script has them, too. */
bool talus_mpi_is_launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK",
                                        "PMIX_RANK"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (getenv(names[k]))
            return true;
    return false;
}

#ifdef TALUS_HAVE_MPI

#include <dlfcn.h>

static const char file[] = "talus_mpi.so";

static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static const TalusMpiModule *loaded;                      /* NULL: not loaded yet */
static char failure[TALUS_MODULE_TEXT]; /* why a module that exists does not load; else empty */

const char *talus_mpi_package(void)
{
    return TALUS_MPI_PACKAGE;
}

/* Returns a text that says what is missing, or NULL; writes the path of the module if it is not loaded yet. The mutex
 * must be held. */
static const char *find_missing(char path[TALUS_MODULE_PATH])
{
    if (loaded)
        return NULL;
    if (failure[0])
        return failure;
    return talus_module_find(file, path) ? NULL : talus_module_absent(file);
}

const char *talus_mpi_missing(void)
{
    char path[TALUS_MODULE_PATH];
    pthread_mutex_lock(&state);
    const char *missing = find_missing(path);
    pthread_mutex_unlock(&state);
    return missing;
}

/* Loads the module. RTLD_GLOBAL, because the components that Open MPI loads itself expect its symbols to be seen by
 * all. On failure returns NULL and writes the reason to `failure`. */
static const TalusMpiModule *load_module(const char *path)
{
    TalusMpiEntry *entry;
    *(void **)&entry = talus_module_load(path, RTLD_NOW | RTLD_GLOBAL, TALUS_MPI_SYMBOL, failure);
    if (!entry)
        return NULL;
    const TalusMpiModule *module = entry();
    if (module->version == TALUS_MPI_VERSION)
        return module;
    snprintf(failure, sizeof failure, "%s is of interface %d, this build has %d: build it anew",
             path, module->version, TALUS_MPI_VERSION);
    return NULL;
}

/* Sets *out to the module, or to NULL if there is none, and returns what is missing, or NULL. */
static const char *get_module(const TalusMpiModule **out)
{
    char path[TALUS_MODULE_PATH];
    pthread_mutex_lock(&state);
    const char *missing = find_missing(path);
    if (!missing && !loaded) {
        loaded = load_module(path);
        missing = loaded ? NULL : failure;
    }
    *out = loaded;
    pthread_mutex_unlock(&state);
    return missing;
}

#else

const char *talus_mpi_package(void)
{
    return "";
}

const char *talus_mpi_missing(void)
{
    return "install libopenmpi-dev and openmpi-bin, then configure without TALUS_CORE_ONLY and build";
}

static const char *get_module(const TalusMpiModule **out)
{
    *out = NULL;
    return talus_mpi_missing();
}

#endif

/* ---- the calls ---- */

/* This process as a rank; there is one, since a process is one rank. */
typedef struct Process {
    TalusComm comm; /* first, so that the communicator is the process */
    const TalusMpiModule *module;
    unsigned char *work; /* numbers of another rank in a reduction */
    int64_t *gets;       /* [size]: messages that each rank gets in a route */
} Process;

static Process *get_process(TalusComm *comm)
{
    return (Process *)comm;
}

static bool transfer(const TalusMpiModule *module, const TalusMessage *send, int sends,
                     const TalusMessage *receive, int receives)
{
    module->begin_transfer(send, sends, receive, receives);
    return module->finish_transfer();
}

static bool send_to(const TalusMpiModule *module, int rank, void *data, size_t bytes)
{
    const TalusMessage message = {data, bytes, rank};
    return transfer(module, &message, 1, NULL, 0);
}

static bool receive_from(const TalusMpiModule *module, int rank, void *data, size_t bytes)
{
    const TalusMessage message = {data, bytes, rank};
    return transfer(module, NULL, 0, &message, 1);
}

/* Combines the values here with those received in `work`, which are of rank `other` and its group. */
static void combine(Process *own, TalusReduction kind, void *values, int count, int other)
{
    if (other > own->comm.rank) {
        talus_reduction_combine(kind, values, own->work, count);
        return;
    }
    talus_reduction_combine(kind, own->work, values, count);
    memcpy(values, own->work, (size_t)count * talus_reduction_bytes(kind));
}

/* The rounds of 2^k ranks each, a power of two altogether. Rank r is number r - `paired`, or r / 2 if it has combined its
 * values with those of rank r + 1. */
static bool reduce_by_doubling(Process *own, TalusReduction kind, void *values, int count,
                               int paired, int groups)
{
    const size_t bytes = (size_t)count * talus_reduction_bytes(kind);
    const int rank = own->comm.rank, number = rank < 2 * paired ? rank / 2 : rank - paired;
    for (int distance = 1; distance < groups; distance *= 2) {
        const int there = number ^ distance, other = there < paired ? 2 * there : there + paired;
        const TalusMessage send = {values, bytes, other}, receive = {own->work, bytes, other};
        if (!transfer(own->module, &send, 1, &receive, 1))
            return false;
        combine(own, kind, values, count, other);
    }
    return true;
}

/* Without the start of a call. */
static bool reduce(Process *own, TalusReduction kind, void *values, int count)
{
    const size_t bytes = (size_t)count * talus_reduction_bytes(kind);
    const TalusMpiModule *module = own->module;
    const int rank = own->comm.rank;
    int groups = 1;
    while (2 * groups <= own->comm.size)
        groups *= 2;
    const int paired = own->comm.size - groups;
    const bool in_pair = rank < 2 * paired;
    if (in_pair && rank % 2)
        return send_to(module, rank - 1, values, bytes) &&
               receive_from(module, rank - 1, values, bytes);
    if (in_pair) {
        if (!receive_from(module, rank + 1, own->work, bytes))
            return false;
        combine(own, kind, values, count, rank + 1);
    }
    return reduce_by_doubling(own, kind, values, count, paired, groups) &&
           (!in_pair || send_to(module, rank + 1, values, bytes));
}

/* Memory for a reduction of `count` numbers. If there is none, leaves the run. */
static bool reserve_work(Process *own, TalusReduction kind, int count)
{
    const size_t bytes = (size_t)count * talus_reduction_bytes(kind);
    if (TALUS_GROW(own->work, bytes, 0, "reduction") == TALUS_OK)
        return true;
    own->module->leave();
    return false;
}

static bool mpi_reduce(TalusComm *comm, TalusReduction kind, void *values, int count)
{
    Process *own = get_process(comm);
    own->module->begin_call();
    return reserve_work(own, kind, count) && reduce(own, kind, values, count);
}

/* By a binomial tree: a rank that is `d` after the root gets the bytes from the rank that is d less its lowest bit after
 * it, and passes them to those that are a lower bit further. */
static bool mpi_broadcast(TalusComm *comm, int root, void *data, size_t bytes)
{
    const TalusMpiModule *module = get_process(comm)->module;
    const int size = comm->size, after = (comm->rank - root + size) % size;
    int bit = 1;
    module->begin_call();
    while (bit < size && !(after & bit))
        bit *= 2;
    if (after && !receive_from(module, (after - bit + root) % size, data, bytes))
        return false;
    for (bit /= 2; bit > 0; bit /= 2)
        if (after + bit < size && !send_to(module, (after + bit + root) % size, data, bytes))
            return false;
    return true;
}

static void mpi_begin_exchange(TalusComm *comm, const TalusMessage *send, int sends,
                               const TalusMessage *receive, int receives)
{
    const TalusMpiModule *module = get_process(comm)->module;
    module->begin_call();
    module->begin_transfer(send, sends, receive, receives);
}

static bool mpi_advance_exchange(TalusComm *comm)
{
    return get_process(comm)->module->advance_transfer();
}

static bool mpi_finish_exchange(TalusComm *comm)
{
    return get_process(comm)->module->finish_transfer();
}

/* Enters the message of this rank to itself, if there is one, among the `count` others; returns their new number. */
static int enter_own_message(const TalusMessage *own, int rank, TalusMessage *message, int count)
{
    int at = count;
    if (!own)
        return count;
    for (; at > 0 && message[at - 1].rank > rank; at--)
        message[at] = message[at - 1];
    message[at] = (TalusMessage){NULL, own->bytes, rank};
    return count + 1;
}

/* Finds the messages of other ranks, of which there are `count`, makes room for all in the inbox and receives them. */
static bool fill_inbox(Process *own, const TalusMessage *send, int sends,
                       const TalusMessage *to_self, int count, TalusInbox *inbox)
{
    const TalusMpiModule *module = own->module;
    const int all = count + (to_self != NULL);
    size_t bytes = 0;
    if (!module->find(send, sends, count, inbox->message))
        return false;
    enter_own_message(to_self, own->comm.rank, inbox->message, count);
    for (int k = 0; k < all; k++)
        bytes += talus_message_room(inbox->message[k].bytes);
    if (talus_inbox_reserve(inbox, all, bytes) !=
        TALUS_OK) { /* keeps the list, as it is no longer */
        module->leave();
        return false;
    }
    unsigned char *at = inbox->data;
    for (int k = 0; k < all; k++) {
        inbox->message[k].data = at;
        at += talus_message_room(inbox->message[k].bytes);
        if (inbox->message[k].rank == own->comm.rank && inbox->message[k].bytes > 0)
            memcpy(inbox->message[k].data, to_self->data, to_self->bytes);
    }
    return module->take(inbox->message, all);
}

static bool mpi_route(TalusComm *comm, const TalusMessage *send, int sends, TalusInbox *inbox)
{
    Process *own = get_process(comm);
    const TalusMessage *to_self = NULL;
    own->module->begin_call();
    if (!reserve_work(own, TALUS_REDUCE_COUNT, comm->size))
        return false;
    memset(own->gets, 0, (size_t)comm->size * sizeof *own->gets);
    for (int k = 0; k < sends; k++) {
        if (send[k].rank == comm->rank)
            to_self = &send[k];
        else
            own->gets[send[k].rank]++;
    }
    if (!reduce(own, TALUS_REDUCE_COUNT, own->gets, comm->size))
        return false;
    const int count = (int)own->gets[comm->rank];
    if (talus_inbox_reserve(inbox, count + 1, 0) != TALUS_OK) {
        own->module->leave();
        return false;
    }
    return fill_inbox(own, send, sends, to_self, count, inbox);
}

static const TalusCommOps mpi_ops = {
    .name = "mpi",
    .reduce = mpi_reduce,
    .broadcast = mpi_broadcast,
    .begin_exchange = mpi_begin_exchange,
    .advance_exchange = mpi_advance_exchange,
    .finish_exchange = mpi_finish_exchange,
    .route = mpi_route,
};

/* ---- start and end ---- */

static atomic_bool running;

/* Runs the function as one of the ranks of the module. */
static TalusStatus run_process(const TalusMpiModule *module, TalusRankFn *fn, void *context)
{
    Process own = {.comm = {.ops = &mpi_ops}, .module = module};
    char text[TALUS_MPI_TEXT] = "";
    if (!module->open(&own.comm.rank, &own.comm.size, text))
        return talus_fail(TALUS_ERR_UNSUPPORTED, "MPI: %s", text);
    module->begin_run();
    TalusStatus status = TALUS_ALLOC(own.gets, (size_t)own.comm.size, "ranks");
    TALUS_THEN(status, fn(&own.comm, context));
    TalusError error = *talus_error_record();
    int code = (int)status;
    module->end_run(&code, &error, sizeof error);
    status = (TalusStatus)code;
    if (status != TALUS_OK)
        talus_error_restore(&error);
    TALUS_RELEASE(own.work, own.gets);
    return status;
}

TalusStatus talus_ranks_run_mpi(TalusRankFn *fn, void *context)
{
    const TalusMpiModule *module;
    const char *missing = get_module(&module);
    const bool launched = talus_mpi_is_launched();
    if (launched && missing)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "mpirun has started this process, but MPI is not in this build: %s",
                          missing);
    if (!launched && (missing || !module->is_started()))
        return talus_ranks_run(1, fn, context);
    if (atomic_exchange(&running, true))
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "the ranks of MPI run already: a process is one rank");
    TalusStatus status = run_process(module, fn, context);
    atomic_store(&running, false);
    return status;
}
