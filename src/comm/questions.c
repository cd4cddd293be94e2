/* comm/questions.c - what ranks ask each other about things that one of them has, by key. */
#include "comm/questions.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the keys and leaves out repeated ones and 0. */
static int64_t sort_keys(uint64_t *key, int64_t count)
{
    int64_t kept = 0;
    if (count > 0)
        qsort(key, (size_t)count, sizeof *key, compare_keys);
    for (int64_t k = 0; k < count; k++)
        if (key[k] != 0 && (kept == 0 || key[k] != key[kept - 1]))
            key[kept++] = key[k];
    return kept;
}

/* Makes a message for each rank that is asked. */
static TalusStatus address_questions(TalusQuestions *q, const TalusComm *comm,
                                     const TalusAnswerer *of)
{
    TALUS_TRY(TALUS_ALLOC(q->message, (size_t)talus_comm_size(comm), "messages"));
    for (int64_t k = 0; k < q->count; k++) {
        const int rank = of->find_rank(of->context, q->key[k]);
        if (q->messages == 0 || q->message[q->messages - 1].rank != rank)
            q->message[q->messages++] = (TalusMessage){.data = &q->key[k], .rank = rank};
        q->message[q->messages - 1].bytes += sizeof *q->key;
    }
    return TALUS_OK;
}

/* Writes the answers to the questions of the inbox to *out, which the caller releases, and addresses them to those who have
 * asked. */
static TalusStatus answer_questions(TalusQuestions *q, const TalusAnswerer *of, unsigned char **out)
{
    size_t asked = 0;
    for (int m = 0; m < q->inbox.count; m++)
        asked += q->inbox.message[m].bytes / sizeof *q->key;
    TALUS_TRY(TALUS_ALLOC(*out, asked * of->bytes + 1, "answers"));
    unsigned char *at = *out;
    for (int m = 0; m < q->inbox.count; m++) {
        const TalusMessage *from = &q->inbox.message[m];
        const size_t count = from->bytes / sizeof *q->key;
        q->message[m] = (TalusMessage){at, count * of->bytes, from->rank};
        for (size_t k = 0; k < count; k++, at += of->bytes)
            of->answer(of->context, ((const uint64_t *)from->data)[k], at);
    }
    q->messages = q->inbox.count;
    return TALUS_OK;
}

/* Brings the answers, by ascending keys, since ranks ascend with them. */
static TalusStatus ask_ranks(TalusQuestions *q, TalusComm *comm, const TalusAnswerer *of)
{
    unsigned char *out = NULL;
    TALUS_TRY(talus_comm_route(comm, q->message, q->messages, &q->inbox));
    TalusStatus status = talus_comm_agree(comm, answer_questions(q, of, &out));
    TALUS_THEN(status, talus_comm_route(comm, q->message, q->messages, &q->inbox));
    unsigned char *at = q->answer;
    for (int m = 0; status == TALUS_OK && m < q->inbox.count; m++) {
        memcpy(at, q->inbox.message[m].data, q->inbox.message[m].bytes);
        at += q->inbox.message[m].bytes;
    }
    talus_release(out);
    talus_inbox_clear(&q->inbox);
    return status;
}

TalusStatus talus_questions_ask(TalusQuestions *q, TalusComm *comm, const TalusAnswerer *of,
                                uint64_t *key, int64_t count)
{
    q->key = key;
    q->count = sort_keys(key, count);
    q->bytes = of->bytes;
    TalusStatus status =
        TALUS_ALLOC(q->answer, (size_t)q->count * of->bytes + 1, "answers of ranks");
    if (of->find_rank) {
        TALUS_THEN(status, address_questions(q, comm, of));
        TALUS_TRY(talus_comm_agree(comm, status));
        return ask_ranks(q, comm, of);
    }
    for (int64_t k = 0; status == TALUS_OK && k < q->count; k++)
        of->answer(of->context, key[k], q->answer + (size_t)k * of->bytes);
    return status;
}

const void *talus_questions_get(const TalusQuestions *q, uint64_t key)
{
    const uint64_t *at =
        q->count > 0 ? bsearch(&key, q->key, (size_t)q->count, sizeof key, compare_keys) : NULL;
    return at ? q->answer + (size_t)(at - q->key) * q->bytes : NULL;
}

void talus_questions_close(TalusQuestions *q)
{
    TALUS_RELEASE(q->key, q->answer, q->message);
    talus_inbox_clear(&q->inbox);
    *q = (TalusQuestions){0};
}
