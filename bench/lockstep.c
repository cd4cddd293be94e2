/* bench/lockstep.c - what it costs that ranks wait for each other after each iteration, on this machine.
 *
 *     talus_bench_lockstep [RANKS [MIB [ROUNDS]]]                  ranks are threads
 *     mpirun -n RANKS talus_bench_lockstep [RANKS [MIB [ROUNDS]]]  ranks are processes
 *
 * Each rank goes ROUNDS (300) times over MIB (25) of its own memory, with as much work for each number, about as an
 * iteration over 160,000 contacts does: first by itself, then with the sum of one number of all ranks after each round.
 * Nothing else is exchanged. Prints ms a round: of computing, of the fastest rank, the mean and the slowest; of the rank
 * that was slowest in each round, which no exchange can beat if ranks wait for each other once a round; and what a round
 * took. The ratio of the last to the mean of ranks by themselves is what equal shares cost here, before any message. */
#include "comm/comm.h"

#include "base/timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPERATIONS = 10 };

typedef struct Bench {
    size_t numbers; /* of a rank */
    int rounds;
} Bench;

static void compute(double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double v = x[i];
        for (int k = 0; k < OPERATIONS; k++)
            v = v * 0.999 + 1e-3;
        x[i] = v;
    }
}

/* Makes all rounds and writes the seconds of computing in each; returns the seconds of all. */
static double make_rounds(TalusComm *comm, const Bench *b, double *x, bool together,
                          double *seconds)
{
    const double start = talus_now();
    for (int r = 0; r < b->rounds; r++) {
        const double begin = talus_now();
        compute(x, b->numbers);
        seconds[r] = talus_now() - begin;
        if (together)
            (void)talus_comm_any(comm, false);
    }
    return talus_now() - start;
}

/* Prints a row; all ranks call it. The seconds are lost. */
static void report(TalusComm *comm, const Bench *b, const char *name, double *seconds, double all)
{
    const double ms = 1e3 / b->rounds;
    double own = 0.0, slowest = 0.0;
    TalusSum sum = {0};
    for (int r = 0; r < b->rounds; r++)
        own += seconds[r];
    double most[3] = {own, -own, all};
    talus_sum_add(&sum, &own, 1);
    talus_comm_add_sums(comm, &sum, 1);
    talus_comm_find_maxima(comm, most, 3);
    talus_comm_find_maxima(comm, seconds, b->rounds);
    for (int r = 0; r < b->rounds; r++)
        slowest += seconds[r];
    if (talus_comm_rank(comm) == 0)
        printf("%-15s %9.3f %9.3f %9.3f %14.3f %9.3f\n", name, -ms * most[1],
               ms * talus_sum_value(&sum) / talus_comm_size(comm), ms * most[0], ms * slowest,
               ms * most[2]);
}

static TalusStatus run_bench(TalusComm *comm, void *context)
{
    const Bench *b = context;
    double *x = calloc(b->numbers, sizeof *x),
           *seconds = calloc((size_t)b->rounds, sizeof *seconds);
    TalusStatus status = talus_comm_agree(comm, x && seconds ? TALUS_OK : TALUS_ERR_MEMORY);
    if (status == TALUS_OK && talus_comm_rank(comm) == 0)
        printf("%d ranks, %s\n%-15s %9s %9s %9s %14s %9s\n", talus_comm_size(comm),
               talus_mpi_is_launched() ? "processes" : "threads", "ms a round", "fastest", "mean",
               "slowest", "slowest now", "round");
    for (int together = 0; status == TALUS_OK && together < 2; together++) {
        compute(x, b->numbers);
        (void)talus_comm_any(comm, false);
        const double all = make_rounds(comm, b, x, together, seconds);
        report(comm, b, together ? "in step" : "by themselves", seconds, all);
    }
    free(x);
    free(seconds);
    return status;
}

int main(int argc, char **argv)
{
    const int ranks = argc > 1 ? atoi(argv[1]) : 2, mib = argc > 2 ? atoi(argv[2]) : 25;
    Bench b = {(size_t)mib * ((1 << 20) / sizeof(double)), argc > 3 ? atoi(argv[3]) : 300};
    if (ranks < 1 || mib < 1 || b.rounds < 1) {
        fprintf(stderr, "talus_bench_lockstep: ranks, MiB and rounds must be at least 1\n");
        return 2;
    }
    TalusStatus status = talus_mpi_is_launched() ? talus_ranks_run_mpi(run_bench, &b)
                                                 : talus_ranks_run(ranks, run_bench, &b);
    if (status != TALUS_OK)
        fprintf(stderr, "talus_bench_lockstep: %s\n", talus_error());
    return status == TALUS_OK ? 0 : 1;
}
