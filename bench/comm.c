/* bench/comm.c - how long ranks wait for each other.
 *
 *     talus_bench_comm [RANKS [MIB]]                  ranks are threads
 *     mpirun -n RANKS talus_bench_comm [RANKS [MIB]]  ranks are processes
 *
 * Least and median of SAMPLES blocks of calls, microseconds a call: reductions of exact sums and of counts, the value of rank 0,
 * exchanges and routes of messages of several lengths with the next rank and the one before. With MIB one message of that
 * size from rank 0 to rank 1, whose bytes are compared; more than 2048 is beyond what a count of MPI reaches. */
#include "comm/comm.h"
#include "base/timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 101, CALLS = 100, LONGEST = 1 << 20, SUMS = 8 };

/* What a rank uses again in every call. */
typedef struct Bench {
    TalusComm *comm;
    TalusSum sums[SUMS];
    int64_t counts[SUMS];
    int count;    /* of numbers */
    size_t bytes; /* of a message */
    unsigned char *out, *in;
    TalusInbox inbox;
} Bench;

typedef TalusStatus CallFn(Bench *b);

static TalusStatus add_sums(Bench *b)
{
    talus_comm_add_sums(b->comm, b->sums, b->count);
    return TALUS_OK;
}

static TalusStatus add_counts(Bench *b)
{
    return talus_comm_add_counts(b->comm, b->counts, b->count);
}

static TalusStatus share(Bench *b)
{
    return talus_comm_share(b->comm, 1.0) == 1.0 ? TALUS_OK : TALUS_ERR_NUMERIC;
}

/* The messages to the next rank and the one before; one, if these are the same. */
static int list_neighbours(const Bench *b, unsigned char *data, TalusMessage *message)
{
    const int ranks = talus_comm_size(b->comm), rank = talus_comm_rank(b->comm);
    message[0] = (TalusMessage){data, b->bytes, (rank + 1) % ranks};
    message[1] = (TalusMessage){data + b->bytes, b->bytes, (rank + ranks - 1) % ranks};
    return ranks > 2 ? 2 : ranks - 1;
}

static TalusStatus exchange(Bench *b)
{
    TalusMessage send[2], receive[2];
    const int count = list_neighbours(b, b->out, send);
    list_neighbours(b, b->in, receive);
    return talus_comm_exchange(b->comm, send, count, receive, count);
}

static TalusStatus route(Bench *b)
{
    TalusMessage send[2];
    const int count = list_neighbours(b, b->out, send);
    return talus_comm_route(b->comm, send, count, &b->inbox);
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Times a call, all ranks beginning each block together, and prints a line. */
static TalusStatus measure(Bench *b, const char *name, CallFn *call)
{
    const int calls = b->bytes > 100000 ? CALLS / 10 : CALLS;
    double seconds[SAMPLES];
    for (int s = 0; s < SAMPLES; s++) {
        TALUS_TRY(talus_comm_agree(b->comm, TALUS_OK));
        const double begin = talus_now();
        for (int k = 0; k < calls; k++)
            TALUS_TRY(call(b));
        seconds[s] = (talus_now() - begin) / calls;
    }
    qsort(seconds, SAMPLES, sizeof *seconds, compare_numbers);
    if (talus_comm_rank(b->comm) == 0)
        printf("%-28s %10.2f %10.2f us\n", name, 1e6 * seconds[0], 1e6 * seconds[SAMPLES / 2]);
    memset(b->sums, 0, sizeof b->sums);
    memset(b->counts, 0, sizeof b->counts);
    return TALUS_OK;
}

static TalusStatus measure_all(Bench *b)
{
    static const size_t lengths[] = {64, 1024, 16384, LONGEST};
    char name[64];
    for (b->count = 1; b->count <= SUMS; b->count *= SUMS) {
        snprintf(name, sizeof name, "reduce %d sums", b->count);
        TALUS_TRY(measure(b, name, add_sums));
        snprintf(name, sizeof name, "reduce %d counts", b->count);
        TALUS_TRY(measure(b, name, add_counts));
    }
    TALUS_TRY(measure(b, "value of rank 0", share));
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        b->bytes = lengths[k];
        snprintf(name, sizeof name, "exchange %zu bytes", b->bytes);
        TALUS_TRY(measure(b, name, exchange));
        snprintf(name, sizeof name, "route %zu bytes", b->bytes);
        TALUS_TRY(measure(b, name, route));
    }
    return TALUS_OK;
}

/* Fills memory with numbers, or counts those that differ. */
static size_t check_bytes(unsigned char *data, size_t bytes, bool fill)
{
    size_t wrong = 0;
    for (size_t k = 0; k < bytes; k++) {
        const unsigned char expected = (unsigned char)(k * 2654435761u >> 13);
        wrong += !fill && data[k] != expected;
        data[k] = expected;
    }
    return wrong;
}

/* One message from rank 0 to rank 1: by an exchange, and by a route. */
static TalusStatus send_large(Bench *b, size_t bytes)
{
    const int rank = talus_comm_rank(b->comm);
    unsigned char *data = rank < 2 ? calloc(bytes, 1) : NULL;
    TalusMessage message = {data, bytes, 1 - rank};
    if (rank < 2 && !data)
        return talus_fail(TALUS_ERR_MEMORY, "no memory for %zu bytes", bytes);
    if (rank == 0)
        check_bytes(data, bytes, true);
    TALUS_TRY(talus_comm_agree(b->comm, TALUS_OK));
    double begin = talus_now();
    TALUS_TRY(talus_comm_exchange(b->comm, &message, rank == 0, &message, rank == 1));
    if (rank == 1)
        printf("exchange of %.0f MiB: %.2f s, %zu bytes wrong\n", (double)bytes / (1 << 20),
               talus_now() - begin, check_bytes(data, bytes, false));
    fflush(stdout);
    if (rank == 1)
        free(data);
    TALUS_TRY(talus_comm_agree(b->comm, TALUS_OK));
    begin = talus_now();
    TALUS_TRY(talus_comm_route(b->comm, &message, rank == 0, &b->inbox));
    if (rank == 1)
        printf("route of %.0f MiB: %.2f s, %zu bytes wrong\n", (double)bytes / (1 << 20),
               talus_now() - begin,
               check_bytes(b->inbox.message->data, b->inbox.message->bytes, false));
    if (rank == 0)
        free(data);
    return TALUS_OK;
}

static TalusStatus run_bench(TalusComm *comm, void *context)
{
    const double *mib = context;
    Bench b = {.comm = comm, .out = calloc(2, LONGEST), .in = calloc(2, LONGEST)};
    if (talus_comm_rank(comm) == 0)
        printf("%d ranks, %s\n", talus_comm_size(comm),
               talus_mpi_is_launched() ? "processes" : "threads");
    TalusStatus status = b.out && b.in ? measure_all(&b) : TALUS_ERR_MEMORY;
    if (status == TALUS_OK && *mib > 0.0)
        status = send_large(&b, (size_t)(*mib * (1 << 20)));
    talus_inbox_clear(&b.inbox);
    free(b.out);
    free(b.in);
    return status;
}

int main(int argc, char **argv)
{
    const int ranks = argc > 1 ? atoi(argv[1]) : 2;
    double mib = argc > 2 ? atof(argv[2]) : 0.0;
    TalusStatus status = talus_mpi_is_launched() ? talus_ranks_run_mpi(run_bench, &mib)
                                                 : talus_ranks_run(ranks, run_bench, &mib);
    if (status != TALUS_OK)
        fprintf(stderr, "talus_bench_comm: %s\n", talus_error());
    return status == TALUS_OK ? 0 : 1;
}
