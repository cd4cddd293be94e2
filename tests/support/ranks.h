/* support/ranks.h - tests of ranks, which run as threads; and, started by mpirun (tests/comm_mpi.sh), as its processes. */
#ifndef TALUS_TESTS_SUPPORT_RANKS_H
#define TALUS_TESTS_SUPPORT_RANKS_H

#include <talus/comm.h>

/* Runs the function on `ranks` threads; under mpirun on the ranks that there are. */
static inline TalusStatus run_ranks(int ranks, TalusRankFn *fn, void *context)
{
    return talus_mpi_is_launched() ? talus_ranks_run_mpi(fn, context)
                                   : talus_ranks_run(ranks, fn, context);
}

static inline TalusStatus note_if_alone(TalusComm *comm, void *alone)
{
    *(bool *)alone = talus_comm_size(comm) == 1;
    return TALUS_OK;
}

/* True if mpirun has started one rank alone, which has nobody to exchange with. */
static inline bool is_only_rank(void)
{
    bool alone = false;
    return talus_mpi_is_launched() && talus_ranks_run_mpi(note_if_alone, &alone) == TALUS_OK &&
           alone;
}

#define NEEDS_RANKS()   \
    if (is_only_rank()) \
    SKIP("one rank alone")

static inline TalusStatus note_if_first(TalusComm *comm, void *first)
{
    *(bool *)first = talus_comm_rank(comm) == 0;
    return TALUS_OK;
}

/* True in the process of rank 0, which has the results. All processes call it. */
static inline bool is_first_process(void)
{
    bool first = true;
    return !talus_mpi_is_launched() ||
           (talus_ranks_run_mpi(note_if_first, &first) == TALUS_OK && first);
}

#endif
