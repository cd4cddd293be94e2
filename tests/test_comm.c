/* Ranks as threads of one process (comm/threads.c), or as processes of mpirun (comm/mpi.c): reductions, messages, and ranks
 * that fail. */
#include "comm/comm.h"

#include "base/memory.h"

#include "support/ranks.h"
#include "support/test.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 5, ROUNDS = 200 };

/* Fewer under mpirun: more processes than processors wait long for each other. */
static int rounds = ROUNDS;

/* ---- reductions ---- */

/* A number of rank `rank` whose plain sums depend on the order. */
static double term(int rank, int round)
{
    return ldexp(1.0 + rank, 30 * (rank % 3) - round % 7) * (rank % 2 ? -1.0 : 1.0);
}

static TalusStatus reduce_rounds(TalusComm *comm, void *context)
{
    const int ranks = talus_comm_size(comm), rank = talus_comm_rank(comm);
    double found = 0.0; /* sum over the rounds */
    (void)context;
    for (int k = 0; k < rounds; k++) {
        TalusSum sum = {0}, expected = {0};
        double mine = term(rank, k), most = mine, largest = -INFINITY;
        int64_t counts[2] = {INT32_MAX + (int64_t)rank, k};
        talus_sum_add(&sum, &mine, 1);
        for (int r = 0; r < ranks; r++) {
            double other = term(r, k);
            talus_sum_add(&expected, &other, 1);
            largest = fmax(largest, other);
        }
        talus_comm_add_sums(comm, &sum, 1);
        talus_comm_find_maxima(comm, &most, 1);
        TALUS_TRY(talus_comm_add_counts(comm, counts, 2));
        CHECK(talus_sum_value(&sum) == talus_sum_value(&expected));
        CHECK(most == largest);
        CHECK_INT(counts[0], (int64_t)INT32_MAX * ranks + ranks * (ranks - 1) / 2);
        CHECK_INT(counts[1], ranks * k);
        found += talus_sum_value(&sum);
    }
    CHECK(talus_comm_share(comm, found) == found);
    return TALUS_OK;
}

TEST(threads_have_the_same_exact_sums_maxima_and_counts)
{
    static const int sizes[] = {1, 2, 3, RANKS, 16};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        CHECK_OK(run_ranks(sizes[s], reduce_rounds, NULL));
        if (talus_mpi_is_launched())
            break; /* their number is given */
    }
}

/* A zero of either sign is the largest: the first of the ranks counts, on all of them. Many numbers at once. */
static TalusStatus find_zeros(TalusComm *comm, void *context)
{
    enum { MANY = 3000 };
    static _Thread_local double values[MANY];
    const int rank = talus_comm_rank(comm);
    (void)context;
    for (int k = 0; k < MANY; k++)
        values[k] = (rank + k) % 3 ? 0.0 : -0.0;
    talus_comm_find_maxima(comm, values, MANY);
    for (int k = 0; k < MANY; k++)
        CHECK(!signbit(values[k]) == !!(k % 3));
    return TALUS_OK;
}

TEST(threads_agree_on_the_sign_of_zero)
{
    CHECK_OK(run_ranks(RANKS, find_zeros, NULL));
}

static TalusStatus find_nan(TalusComm *comm, void *context)
{
    double value = talus_comm_rank(comm) == 1 ? (double)NAN : 1.0;
    (void)context;
    talus_comm_find_maxima(comm, &value, 1);
    CHECK(isnan(value) || talus_comm_size(comm) == 1);
    CHECK(talus_comm_share(comm, 2.0 + talus_comm_rank(comm)) == 2.0);
    CHECK(talus_comm_any(comm, talus_comm_rank(comm) == talus_comm_size(comm) - 1));
    CHECK(!talus_comm_any(comm, false));
    return TALUS_OK;
}

TEST(threads_see_a_nan_of_one_and_what_rank_0_has)
{
    CHECK_OK(run_ranks(RANKS, find_nan, NULL));
}

/* ---- messages ---- */

/* Every rank sends to the ranks above it as many numbers as its own number says, and to those below one byte more. */
static TalusStatus send_around(TalusComm *comm, void *context)
{
    const int ranks = talus_comm_size(comm), rank = talus_comm_rank(comm);
    unsigned char out[RANKS][RANKS + 1], in[RANKS][RANKS + 1];
    TalusMessage send[RANKS], receive[RANKS];
    (void)context;
    for (int k = 0; k < rounds; k++) {
        int count = 0;
        for (int r = 0; r < ranks; r++) {
            if (r == rank)
                continue;
            memset(out[r], 10 * rank + r + k, sizeof out[r]);
            send[count] = (TalusMessage){out[r], (size_t)(rank + (r < rank)), r};
            receive[count++] = (TalusMessage){in[r], (size_t)(r + (rank < r)), r};
        }
        TALUS_TRY(talus_comm_exchange(comm, send, count, receive, count));
        for (int m = 0; m < count; m++)
            for (size_t b = 0; b < receive[m].bytes; b++)
                CHECK_INT(in[receive[m].rank][b], (unsigned char)(10 * receive[m].rank + rank + k));
    }
    return TALUS_OK;
}

TEST(threads_receive_what_the_others_send)
{
    CHECK_OK(run_ranks(RANKS, send_around, NULL));
}

/* ---- exchanges in two halves ---- */

/* As send_around, in two halves: with looks at the messages between them or none. What was sent is overwritten as soon as
 * the second half has returned, and a reduction follows at times. */
static TalusStatus send_in_halves(TalusComm *comm, void *context)
{
    enum { LENGTH = 3000 };
    const int ranks = talus_comm_size(comm), rank = talus_comm_rank(comm);
    static _Thread_local unsigned char out[LENGTH], in[RANKS][LENGTH];
    TalusMessage send[RANKS], receive[RANKS];
    (void)context;
    for (int k = 0; k < rounds; k++) {
        int count = 0;
        memset(out, 10 * rank + k, sizeof out);
        for (int r = 0; r < ranks; r++) {
            if (r == rank)
                continue;
            send[count] = (TalusMessage){out, LENGTH, r};
            receive[count++] = (TalusMessage){in[r], LENGTH, r};
        }
        talus_comm_begin_exchange(comm, send, count, receive, count);
        for (int look = 0; look < (k + rank) % 3; look++)
            talus_comm_advance_exchange(comm);
        TALUS_TRY(talus_comm_finish_exchange(comm));
        memset(out, 255, sizeof out);
        for (int m = 0; m < count; m++)
            for (int b = 0; b < LENGTH; b += LENGTH - 1)
                CHECK_INT(in[receive[m].rank][b], (unsigned char)(10 * receive[m].rank + k));
        if (k % 4 == 0)
            CHECK(!talus_comm_any(comm, false));
    }
    return TALUS_OK;
}

TEST(threads_exchange_in_two_halves)
{
    CHECK_OK(run_ranks(RANKS, send_in_halves, NULL));
    CHECK_OK(talus_ranks_run(1, send_in_halves, NULL));
}

static void pause_for(double seconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
}

/* Work between the halves is booked as hidden, until what comes is known to be here. */
static TalusStatus work_between_halves(TalusComm *comm, void *context)
{
    const int ranks = talus_comm_size(comm), rank = talus_comm_rank(comm);
    const TalusCommUse *use = &comm->use;
    char out = (char)rank, in = -1;
    const TalusMessage send = {&out, 1, (rank + 1) % ranks};
    const TalusMessage receive = {&in, 1, (rank + ranks - 1) % ranks};
    (void)context;
    talus_comm_begin_exchange(comm, &send, 1, &receive, 1);
    pause_for(0.01);
    TALUS_TRY(talus_comm_finish_exchange(comm));
    const double hidden = use->hidden_seconds;
    CHECK(hidden >= 0.01);
    talus_comm_begin_exchange(comm, &send, 1, &receive, 1);
    while (!talus_comm_advance_exchange(comm))
        ;
    const double arrived = use->hidden_seconds, waiting = use->message_seconds;
    pause_for(0.01);
    TALUS_TRY(talus_comm_finish_exchange(comm));
    CHECK(use->hidden_seconds == arrived && arrived >= hidden && use->message_seconds > waiting);
    CHECK_INT(use->messages, 2);
    CHECK_INT(use->bytes, 2);
    CHECK_INT(in, receive.rank);
    return TALUS_OK;
}

TEST(threads_book_work_between_the_halves)
{
    NEEDS_RANKS();
    CHECK_OK(run_ranks(RANKS, work_between_halves, NULL));
}

/* True if rank `from` sends to rank `to` in round k: to itself, to few, to nobody. */
static bool sends_to(int from, int to, int k)
{
    return (from + 2 * to + k) % 3 == 0 || (from == to && k % 2);
}

/* Messages whose senders and sizes the receivers do not know. */
static TalusStatus route_around(TalusComm *comm, void *context)
{
    const int ranks = talus_comm_size(comm), rank = talus_comm_rank(comm);
    int64_t out[RANKS][RANKS + ROUNDS];
    TalusMessage send[RANKS];
    TalusInbox inbox = {0};
    (void)context;
    for (int k = 0; k < rounds; k++) {
        int sends = 0, expected = 0;
        for (int r = 0; r < ranks; r++) {
            for (int j = 0; j < RANKS + ROUNDS; j++)
                out[r][j] = 1000 * rank + r + k;
            if (sends_to(rank, r, k))
                send[sends++] = (TalusMessage){out[r], (size_t)(rank + k) * sizeof **out, r};
            expected += sends_to(r, rank, k);
        }
        TALUS_TRY(talus_comm_route(comm, send, sends, &inbox));
        CHECK_INT(inbox.count, expected);
        for (int m = 0, from = -1; m < inbox.count; m++) {
            const TalusMessage *message = &inbox.message[m];
            CHECK(message->rank > from && sends_to(message->rank, rank, k));
            from = message->rank;
            CHECK_INT(message->bytes, (size_t)(from + k) * sizeof **out);
            for (int j = 0; j < from + k; j++)
                CHECK_INT(((int64_t *)message->data)[j], 1000 * from + rank + k);
        }
    }
    talus_inbox_clear(&inbox);
    return TALUS_OK;
}

/* Every rank sends as many numbers as its own number says to all. */
static TalusStatus gather_numbers(TalusComm *comm, void *context)
{
    const int rank = talus_comm_rank(comm);
    int64_t mine[RANKS];
    TalusInbox inbox = {0};
    (void)context;
    for (int j = 0; j < RANKS; j++)
        mine[j] = 10 * rank + j;
    TALUS_TRY(talus_comm_gather(comm, mine, (size_t)rank * sizeof *mine, &inbox));
    CHECK_INT(inbox.count, talus_comm_size(comm));
    for (int r = 0; r < inbox.count; r++) {
        CHECK_INT(inbox.message[r].rank, r);
        CHECK_INT(inbox.message[r].bytes, (size_t)r * sizeof *mine);
        for (int j = 0; j < r; j++)
            CHECK_INT(((int64_t *)inbox.message[r].data)[j], 10 * r + j);
    }
    talus_inbox_clear(&inbox);
    return TALUS_OK;
}

TEST(threads_gather_what_all_have)
{
    CHECK_OK(talus_ranks_run(1, gather_numbers, NULL));
    CHECK_OK(talus_ranks_run(RANKS, gather_numbers, NULL));
}

TEST(messages_come_from_ranks_that_were_not_known_before)
{
    CHECK_OK(run_ranks(RANKS, route_around, NULL));
    CHECK_OK(talus_ranks_run(1, route_around, NULL));
}

/* ---- ranks that fail ---- */

static TalusStatus fail_on_one(TalusComm *comm, void *context)
{
    (void)context;
    for (int k = 0; k < rounds; k++) {
        int64_t count = 1;
        if (k == 20 && talus_comm_rank(comm) == talus_comm_size(comm) / 2)
            return talus_fail(TALUS_ERR_NUMERIC, "a rank has had enough");
        TALUS_TRY(talus_comm_add_counts(comm, &count, 1));
    }
    return TALUS_OK;
}

TEST(threads_end_when_one_fails_with_its_error)
{
    for (int k = 0; k < rounds / 4; k++) {
        CHECK_INT(run_ranks(RANKS, fail_on_one, NULL), TALUS_ERR_NUMERIC);
        CHECK(strcmp(talus_error(), "a rank has had enough") == 0);
    }
}

static TalusStatus agree(TalusComm *comm, void *context)
{
    const bool last = talus_comm_rank(comm) == talus_comm_size(comm) - 1;
    TalusStatus own = last ? talus_fail(TALUS_ERR_MEMORY, "none left") : TALUS_OK;
    (void)context;
    CHECK_OK(talus_comm_agree(comm, TALUS_OK));
    TalusStatus all = talus_comm_agree(comm, own);
    CHECK_INT(all, last ? TALUS_ERR_MEMORY : TALUS_ERR_CANCELLED);
    return last ? all : TALUS_OK;
}

TEST(threads_agree_that_one_has_failed)
{
    CHECK_INT(run_ranks(3, agree, NULL), TALUS_ERR_MEMORY);
}

/* Rank 0 expects a byte more, or a large message where a small one comes, or the other way round; its neighbour gets what
 * it expects, and other ranks nothing. */
static TalusStatus exchange_wrong_bytes(TalusComm *comm, void *context)
{
    enum { LARGE = 4 << 20 };
    const size_t *lengths = context; /* sent by 1, expected by 0; 1: in halves */
    const int rank = talus_comm_rank(comm), other = 1 - rank;
    char *out = malloc(LARGE), *in = calloc(LARGE, 1);
    memset(out, 1, LARGE);
    TalusMessage send = {out, rank ? lengths[0] : 4, other};
    TalusMessage receive = {in, rank ? 4 : lengths[1], other};
    TalusStatus status = TALUS_OK;
    if (lengths[2]) { /* in halves, with looks between them */
        talus_comm_begin_exchange(comm, &send, rank < 2, &receive, rank < 2);
        while (!talus_comm_advance_exchange(comm))
            ;
        status = talus_comm_finish_exchange(comm);
    } else {
        status = talus_comm_exchange(comm, &send, rank < 2, &receive, rank < 2);
    }
    CHECK((status == TALUS_OK) == (rank > 0)); /* whose message is as expected */
    for (size_t k = receive.bytes; k < LARGE; k++)
        if (!CHECK_INT(in[k], 0))
            break;
    double most = 1.0;
    talus_comm_find_maxima(comm, &most, 1);
    CHECK(isnan(most)); /* so that no iteration goes on */
    CHECK_INT(talus_comm_exchange(comm, &send, rank < 2, &receive, rank < 2), TALUS_ERR_CANCELLED);
    free(out);
    free(in);
    return TALUS_OK;
}

TEST(threads_break_on_messages_of_different_lengths)
{
    NEEDS_RANKS();
    static const size_t lengths[][3] = {{4, 5, 0},       {5, 4, 1},       {4, 4 << 20, 0},
                                        {4 << 20, 4, 0}, {4 << 20, 4, 1}, {4 << 20, 0, 0}};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        CHECK_OK(run_ranks(2, exchange_wrong_bytes, (void *)lengths[k]));
}

/* Rank 0 ends when the others are to receive large messages from each other and from rank 0. */
static TalusStatus end_in_an_exchange(TalusComm *comm, void *context)
{
    enum { LARGE = 1 << 20 };
    const int ranks = talus_comm_size(comm), rank = talus_comm_rank(comm);
    const bool fails = context != NULL;
    char *out = calloc(LARGE, 1), *in = calloc((size_t)ranks, LARGE);
    TalusMessage send[16], receive[16];
    TalusInbox inbox = {0};
    int count = 0;
    TalusStatus status = TALUS_OK;
    for (int r = 0; r < ranks; r++)
        if (r != rank) {
            send[count] = (TalusMessage){out, LARGE, r};
            receive[count++] = (TalusMessage){in + (size_t)r * LARGE, LARGE, r};
        }
    for (int k = 0; k < 6 && status == TALUS_OK; k++) {
        if (rank == 0 && k == 4) {
            status = fails ? talus_fail(TALUS_ERR_IO, "rank 0 fails") : TALUS_OK;
            break;
        }
        status = k % 2 ? talus_comm_route(comm, send, count, &inbox)
                       : talus_comm_exchange(comm, send, count, receive, count);
        if (rank > 0)
            CHECK_INT(status, k < 4 ? TALUS_OK : TALUS_ERR_CANCELLED);
    }
    talus_inbox_clear(&inbox);
    free(out);
    free(in);
    return status;
}

TEST(threads_end_in_an_exchange_of_large_messages)
{
    NEEDS_RANKS();
    CHECK_INT(run_ranks(RANKS, end_in_an_exchange, "fails"), TALUS_ERR_IO);
    CHECK(strcmp(talus_error(), "rank 0 fails") == 0);
    CHECK_INT(run_ranks(RANKS, end_in_an_exchange, NULL), TALUS_ERR_CANCELLED);
}

/* Rank 0 fails before an exchange that the others have begun, or (context) between its own halves. */
static TalusStatus end_between_halves(TalusComm *comm, void *context)
{
    enum { LARGE = 1 << 20 };
    const int ranks = talus_comm_size(comm), rank = talus_comm_rank(comm);
    const bool begins = context != NULL || rank > 0;
    char *out = calloc(LARGE, 1), *in = calloc(LARGE, 1);
    const TalusMessage send = {out, LARGE, (rank + 1) % ranks};
    const TalusMessage receive = {in, LARGE, (rank + ranks - 1) % ranks};
    TalusStatus status = TALUS_OK;
    for (int k = 0; k < 4 && status == TALUS_OK; k++) { /* the third time rank 0 fails */
        if (k == 2 && !begins)
            break;
        talus_comm_begin_exchange(comm, &send, 1, &receive, 1);
        talus_comm_advance_exchange(comm);
        status = talus_comm_finish_exchange(comm);
        if (rank == 0 && k == 2)
            break;
        if (k < 2 || (context && k == 2))
            CHECK_OK(status);
        else if (rank == 1 || !talus_mpi_is_launched()) /* other processes may have all they need */
            CHECK_INT(status, TALUS_ERR_CANCELLED);
    }
    free(out);
    free(in);
    return rank == 0 ? talus_fail(TALUS_ERR_IO, "rank 0 fails") : status;
}

TEST(threads_end_between_the_halves_of_an_exchange)
{
    NEEDS_RANKS();
    for (int k = 0; k < rounds / 10; k++) {
        CHECK_INT(run_ranks(3, end_between_halves, k % 2 ? "after" : NULL), TALUS_ERR_IO);
        CHECK(strcmp(talus_error(), "rank 0 fails") == 0);
    }
}

/* Both halves of an exchange on a communicator that has been broken. */
static TalusStatus exchange_when_broken(TalusComm *comm, void *context)
{
    const int ranks = talus_comm_size(comm), rank = talus_comm_rank(comm);
    char out = 0, in = 0;
    const TalusMessage send = {&out, 1, (rank + 1) % ranks};
    const TalusMessage receive = {&in, 1, (rank + ranks - 1) % ranks};
    (void)context;
    if (rank == 0)
        return talus_fail(TALUS_ERR_IO, "rank 0 fails");
    CHECK_INT(talus_comm_agree(comm, TALUS_OK), TALUS_ERR_CANCELLED);
    talus_comm_begin_exchange(comm, &send, 1, &receive, 1);
    CHECK(talus_comm_advance_exchange(comm)); /* nothing to wait for */
    CHECK_INT(talus_comm_finish_exchange(comm), TALUS_ERR_CANCELLED);
    return TALUS_ERR_CANCELLED;
}

TEST(threads_exchange_nothing_when_broken)
{
    NEEDS_RANKS();
    CHECK_INT(run_ranks(3, exchange_when_broken, NULL), TALUS_ERR_IO);
}

/* Memory fails in an exchange of one rank. */
static TalusStatus run_out_of_memory(TalusComm *comm, void *context)
{
    const int rank = talus_comm_rank(comm), to = (rank + 1) % talus_comm_size(comm);
    const TalusMessage send = {(void *)&rank, sizeof rank, to};
    TalusInbox inbox = {0};
    (void)context;
    if (rank == 0)
        talus_fail_allocation_in(1);
    TalusStatus status = talus_comm_route(comm, &send, 1, &inbox);
    talus_inbox_clear(&inbox);
    CHECK_INT(status, TALUS_ERR_CANCELLED);
    CHECK_INT(talus_comm_agree(comm, TALUS_OK), TALUS_ERR_CANCELLED);
    return status;
}

TEST(ranks_of_mpi_end_when_memory_fails)
{
    if (!talus_mpi_is_launched())
        SKIP("the memory of threads is one");
    NEEDS_RANKS();
    CHECK_INT(run_ranks(RANKS, run_out_of_memory, NULL), TALUS_ERR_CANCELLED);
    talus_fail_allocation_in(0);
}

TEST(wrong_numbers_of_ranks_are_rejected)
{
    CHECK_INT(talus_ranks_run(0, agree, NULL), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_ranks_run(100000, agree, NULL), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_comm_size(NULL), 1);
    CHECK_INT(talus_comm_rank(NULL), 0);
}

/* ---- without mpirun; and processes that die ---- */

static TalusStatus count_ranks(TalusComm *comm, void *context)
{
    *(int *)context = talus_comm_size(comm);
    return talus_comm_agree(comm, TALUS_OK);
}

TEST(a_process_alone_is_the_only_rank)
{
    int size = 0;
    if (talus_mpi_is_launched())
        SKIP("started by mpirun");
    CHECK_OK(talus_ranks_run_mpi(count_ranks, &size));
    CHECK_INT(size, 1);
}

static TalusStatus run_again(TalusComm *comm, void *context)
{
    int size;
    CHECK_INT(talus_ranks_run_mpi(count_ranks, &size), TALUS_ERR_ARGUMENT);
    return count_ranks(comm, context);
}

TEST(ranks_of_mpi_do_not_run_within_each_other)
{
    int size = 0;
    if (!talus_mpi_is_launched())
        SKIP("not started by mpirun");
    CHECK_OK(talus_ranks_run_mpi(run_again, &size));
    CHECK(size > 0);
}

/* The last rank dies while the others wait for it: by a signal, or by leaving with the given status. */
static TalusStatus die(TalusComm *comm, void *context)
{
    const char *how = context;
    TALUS_TRY(talus_comm_agree(comm, TALUS_OK));
    if (talus_comm_rank(comm) == talus_comm_size(comm) - 1) {
        if (strcmp(how, "kill") == 0)
            kill(getpid(), SIGKILL);
        exit(atoi(how));
    }
    return talus_comm_agree(comm, TALUS_OK);
}

int main(void)
{
    if (getenv("TALUS_LEAVE")) /* likewise: rank 0 exits, when the others run again */
        return talus_ranks_run_mpi(count_ranks, &rounds) == TALUS_OK && !is_first_process()
                   ? (int)talus_ranks_run_mpi(count_ranks, &rounds)
                   : 0;
    if (getenv("TALUS_DIE")) /* by tests/comm_mpi.sh, which sees what becomes of the others */
        return talus_ranks_run_mpi(die, getenv("TALUS_DIE")) == TALUS_OK ? 0 : 1;
    rounds = talus_mpi_is_launched() ? 30 : ROUNDS;
    RUN(threads_have_the_same_exact_sums_maxima_and_counts);
    RUN(threads_agree_on_the_sign_of_zero);
    RUN(threads_see_a_nan_of_one_and_what_rank_0_has);
    RUN(threads_receive_what_the_others_send);
    RUN(threads_exchange_in_two_halves);
    RUN(threads_book_work_between_the_halves);
    RUN(threads_gather_what_all_have);
    RUN(messages_come_from_ranks_that_were_not_known_before);
    RUN(threads_end_when_one_fails_with_its_error);
    RUN(threads_agree_that_one_has_failed);
    RUN(threads_break_on_messages_of_different_lengths);
    RUN(threads_end_in_an_exchange_of_large_messages);
    RUN(threads_end_between_the_halves_of_an_exchange);
    RUN(threads_exchange_nothing_when_broken);
    RUN(ranks_of_mpi_end_when_memory_fails);
    RUN(a_process_alone_is_the_only_rank);
    RUN(ranks_of_mpi_do_not_run_within_each_other);
    RUN(wrong_numbers_of_ranks_are_rejected);
    return talus_test_result();
}
