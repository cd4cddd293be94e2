/* Ranks as threads of one process (comm/threads.c): reductions, messages, and ranks that fail. */
#include "comm/comm.h"

#include "support/test.h"

#include <math.h>
#include <string.h>

enum { RANKS = 5, ROUNDS = 200 };

/* ---- reductions ---- */

/* A number of rank `rank` whose plain sums depend on the order. */
static double term(int rank, int round)
{
    return ldexp(1.0 + rank, 30 * (rank % 3) - round % 7) * (rank % 2 ? -1.0 : 1.0);
}

static TalusStatus reduce_rounds(TalusComm *comm, void *context)
{
    const int ranks = talus_comm_size(comm), rank = talus_comm_rank(comm);
    double *found = context; /* [ranks]: sum over the rounds */
    for (int k = 0; k < ROUNDS; k++) {
        TalusSum sum = {0}, expected = {0};
        double mine = term(rank, k), most = mine, largest = -INFINITY;
        int64_t counts[2] = {rank, k};
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
        CHECK_INT(counts[0], ranks * (ranks - 1) / 2);
        CHECK_INT(counts[1], ranks * k);
        found[rank] += talus_sum_value(&sum);
    }
    return TALUS_OK;
}

TEST(threads_have_the_same_exact_sums_maxima_and_counts)
{
    static const int sizes[] = {1, 2, 3, RANKS, 16};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double found[16] = {0.0};
        CHECK_OK(talus_ranks_run(sizes[s], reduce_rounds, found));
        for (int r = 1; r < sizes[s]; r++)
            CHECK(found[r] == found[0]);
    }
}

static TalusStatus find_nan(TalusComm *comm, void *context)
{
    double value = talus_comm_rank(comm) == 1 ? (double)NAN : 1.0;
    (void)context;
    talus_comm_find_maxima(comm, &value, 1);
    CHECK(isnan(value));
    CHECK(talus_comm_share(comm, 2.0 + talus_comm_rank(comm)) == 2.0);
    CHECK(talus_comm_any(comm, talus_comm_rank(comm) == 2));
    CHECK(!talus_comm_any(comm, false));
    return TALUS_OK;
}

TEST(threads_see_a_nan_of_one_and_what_rank_0_has)
{
    CHECK_OK(talus_ranks_run(RANKS, find_nan, NULL));
}

/* ---- messages ---- */

/* Every rank sends to the ranks above it as many numbers as its own number says, and to those below one byte more. */
static TalusStatus send_around(TalusComm *comm, void *context)
{
    const int ranks = talus_comm_size(comm), rank = talus_comm_rank(comm);
    unsigned char out[RANKS][RANKS + 1], in[RANKS][RANKS + 1];
    TalusMessage send[RANKS], receive[RANKS];
    (void)context;
    for (int k = 0; k < ROUNDS; k++) {
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
    CHECK_OK(talus_ranks_run(RANKS, send_around, NULL));
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
    for (int k = 0; k < ROUNDS; k++) {
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
    CHECK_OK(talus_ranks_run(RANKS, route_around, NULL));
    CHECK_OK(talus_ranks_run(1, route_around, NULL));
}

/* ---- ranks that fail ---- */

static TalusStatus fail_on_one(TalusComm *comm, void *context)
{
    (void)context;
    for (int k = 0; k < ROUNDS; k++) {
        int64_t count = 1;
        if (k == 20 && talus_comm_rank(comm) == 2)
            return talus_fail(TALUS_ERR_NUMERIC, "rank 2 has had enough");
        TALUS_TRY(talus_comm_add_counts(comm, &count, 1));
    }
    return TALUS_OK;
}

TEST(threads_end_when_one_fails_with_its_error)
{
    for (int k = 0; k < 50; k++) {
        CHECK_INT(talus_ranks_run(RANKS, fail_on_one, NULL), TALUS_ERR_NUMERIC);
        CHECK(strcmp(talus_error(), "rank 2 has had enough") == 0);
    }
}

static TalusStatus agree(TalusComm *comm, void *context)
{
    TalusStatus own =
        talus_comm_rank(comm) == 1 ? talus_fail(TALUS_ERR_MEMORY, "none left") : TALUS_OK;
    (void)context;
    CHECK_OK(talus_comm_agree(comm, TALUS_OK));
    TalusStatus all = talus_comm_agree(comm, own);
    CHECK_INT(all, talus_comm_rank(comm) == 1 ? TALUS_ERR_MEMORY : TALUS_ERR_CANCELLED);
    return talus_comm_rank(comm) == 1 ? all : TALUS_OK;
}

TEST(threads_agree_that_one_has_failed)
{
    CHECK_INT(talus_ranks_run(3, agree, NULL), TALUS_ERR_MEMORY);
}

static TalusStatus exchange_wrong_bytes(TalusComm *comm, void *context)
{
    const int other = 1 - talus_comm_rank(comm);
    char out[8] = "", in[8];
    TalusMessage send = {out, 4, other}, receive = {in, talus_comm_rank(comm) ? 4 : 5, other};
    (void)context;
    TalusStatus status = talus_comm_exchange(comm, &send, 1, &receive, 1);
    CHECK((status == TALUS_OK) == (talus_comm_rank(comm) == 1)); /* whose message is as expected */
    double most = 1.0;
    talus_comm_find_maxima(comm, &most, 1);
    CHECK(isnan(most)); /* so that no iteration goes on */
    return TALUS_OK;
}

TEST(threads_break_on_messages_of_different_lengths)
{
    CHECK_OK(talus_ranks_run(2, exchange_wrong_bytes, NULL));
}

TEST(wrong_numbers_of_ranks_are_rejected)
{
    CHECK_INT(talus_ranks_run(0, agree, NULL), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_ranks_run(100000, agree, NULL), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_comm_size(NULL), 1);
    CHECK_INT(talus_comm_rank(NULL), 0);
}

int main(void)
{
    RUN(threads_have_the_same_exact_sums_maxima_and_counts);
    RUN(threads_see_a_nan_of_one_and_what_rank_0_has);
    RUN(threads_receive_what_the_others_send);
    RUN(threads_gather_what_all_have);
    RUN(messages_come_from_ranks_that_were_not_known_before);
    RUN(threads_end_when_one_fails_with_its_error);
    RUN(threads_agree_that_one_has_failed);
    RUN(threads_break_on_messages_of_different_lengths);
    RUN(wrong_numbers_of_ranks_are_rejected);
    return talus_test_result();
}
