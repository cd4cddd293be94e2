/* comm/questions.h - what ranks ask each other about things that one of them has, by key. */
#ifndef TALUS_COMM_QUESTIONS_H
#define TALUS_COMM_QUESTIONS_H

#include "comm/comm.h"

/* Who has what, and what is told of it. */
typedef struct TalusAnswerer {
    /* Returns the rank that has the thing of this key; larger keys have no lower ranks. NULL: there is one rank. */
    int (*find_rank)(const void *context, uint64_t key);
    /* Writes the answer, of `bytes` bytes, on that rank. */
    void (*answer)(const void *context, uint64_t key, void *out);
    const void *context;
    size_t bytes;
} TalusAnswerer;

/* The questions of a rank and their answers; starts as zeros. */
typedef struct TalusQuestions {
    uint64_t *key; /* [count], ascending, each once */
    int64_t count;
    size_t bytes;          /* of an answer */
    unsigned char *answer; /* [count * bytes] */
    TalusMessage *message;
    int messages;
    TalusInbox inbox;
} TalusQuestions;

/* Asks for `count` keys, an array from talus_alloc that the questions take over and sort; a key of 0 asks nothing. All ranks
 * of the communicator, which may be NULL, call this together. To be closed also after a failure. */
TalusStatus talus_questions_ask(TalusQuestions *questions, TalusComm *comm, const TalusAnswerer *of,
                                uint64_t *key, int64_t count);
/* Returns the answer for a key that was asked for; NULL: it was not. */
const void *talus_questions_get(const TalusQuestions *questions, uint64_t key);
void talus_questions_close(TalusQuestions *questions);

#endif
