/* talus/comm.h - ranks that work on one world together, each with a part of its bodies.
 *
 * A rank is a thread of this process (talus_ranks_run), or one of the processes that mpirun has started
 * (talus_ranks_run_mpi). Every rank makes the same calls with the same arguments in the same order; what the world
 * computes does not depend on the number of ranks. */
#ifndef TALUS_COMM_H
#define TALUS_COMM_H

#include <talus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one rank uses to exchange with the others; used by one thread at a time. */
typedef struct TalusComm TalusComm;

/* Return the number of this rank, from 0, and the number of ranks. NULL stands for the only rank, 0 of 1. */
TALUS_API int talus_comm_rank(const TalusComm *comm);
TALUS_API int talus_comm_size(const TalusComm *comm);

/* What a rank does; `comm` is valid until the function returns. */
typedef TalusStatus TalusRankFn(TalusComm *comm, void *context);

/* Runs fn as `ranks` threads of this process, rank 0 in the calling thread, and returns when all have returned. If a rank
 * fails, the exchanges of the others end with a failure, too; the first failure is returned with its error. */
TALUS_API TalusStatus talus_ranks_run(int ranks, TalusRankFn *fn, void *context);

/* True if mpirun, mpiexec or srun has started this process as a rank of MPI, by the environment. */
TALUS_API bool talus_mpi_is_launched(void);

/* Runs fn as one rank of those that mpirun has started, which all must call this; returns when fn has returned on all. If
 * a rank fails, the exchanges of the others end with a failure, too, as soon as all ranks have come to an exchange or to
 * their end; the first failure is returned, with its error, on every rank. MPI is started in the first call and ended
 * when the process exits; a program that starts MPI itself grants MPI_THREAD_SERIALIZED. A process that exits within fn,
 * or is killed, ends all others. Without mpirun, fn runs as the only rank. Fails with TALUS_ERR_UNSUPPORTED if this build
 * has no MPI and mpirun has started the process. */
TALUS_API TalusStatus talus_ranks_run_mpi(TalusRankFn *fn, void *context);

#ifdef __cplusplus
}
#endif

#endif
