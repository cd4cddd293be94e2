/* talus/comm.h - ranks that work on one world together, each with a part of its bodies.
 *
 * A rank is a thread of this process (talus_ranks_run). Every rank makes the same calls with the same arguments in the same
 * order; what the world computes does not depend on the number of ranks. */
#ifndef TALUS_COMM_H
#define TALUS_COMM_H

#include <talus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one rank uses to exchange with the others; used by one thread at a time. */
typedef struct TalusComm TalusComm;

/* Return the number of this rank, from 0, and the number of ranks. NULL stands for the only rank, 0 of 1. */
int talus_comm_rank(const TalusComm *comm);
int talus_comm_size(const TalusComm *comm);

/* What a rank does; `comm` is valid until the function returns. */
typedef TalusStatus TalusRankFn(TalusComm *comm, void *context);

/* Runs fn as `ranks` threads of this process, rank 0 in the calling thread, and returns when all have returned. If a rank
 * fails, the exchanges of the others end with a failure, too; the first failure is returned with its error. */
TalusStatus talus_ranks_run(int ranks, TalusRankFn *fn, void *context);

#ifdef __cplusplus
}
#endif

#endif
