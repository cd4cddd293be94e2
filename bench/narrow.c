/* bench/narrow.c - the narrow phase on a million pairs of each two convex shapes.
 *
 *     talus_bench_narrow [PAIRS [EVERY]]
 *
 * Pairs, proofs and trials are those of tests/narrow_oracle.h: bodies turned at random or square to each other, apart
 * by up to a third of their size, a hair apart, touching, a hair deep, deep. Every distance of bodies that are apart is
 * proven; of bodies that overlap every EVERY-th is compared with the best of all directions that can decide (two
 * polyhedra) or of a few hundred tried (others). All errors are relative to the smaller body's size:
 *     over, under   what the proof of the distance, or of the depth, leaves open
 *     touch         the lowest gap of the touches against the distance; none within reach counts as a gap of reach
 *     libccd        its depth of overlapping bodies against ours, every EVERY-th; positive: it finds a shorter way
 *                   out. Its own error is that of its EPA (tolerance 1e-9 here): `deeper` counts where it is the
 *                   worse by more than 1e-6, `refuses` where it says of bodies that overlap by more than 1e-6 that
 *                   they do not, or of bodies that are apart that they do. */
#include "narrow_ccd.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEFAULT_PAIRS = 1000000, DEFAULT_EVERY = 50, TIMED = 4096 };

/* Of the process, so that neighbours on the machine do not count. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Row {
    OracleErrors worst;
    int apart, deep, touching, checked;
    double ccd_shorter;
    int ccd_deeper, ccd_refuses, wrong;
    double nanoseconds;
} Row;

static void ask_ccd(const OraclePair *p, double distance, Row *row)
{
    double depth;
    bool meets = ccd_depth(p, &depth);
    if (meets != (distance < 0.0)) {
        row->ccd_refuses += fabs(distance) > 1e-6 * p->size;
        return;
    }
    if (!meets)
        return;
    double shorter = (-distance - depth) / p->size;
    row->ccd_shorter = fmax(row->ccd_shorter, shorter);
    row->ccd_deeper += shorter < -1e-6;
}

/* Time of a pair in the mixture of poses, with no more than a call around it. */
static double time_pairs(int i, int j)
{
    static OraclePair pair[TIMED];
    TalusRng rng = talus_rng_from_seed(9);
    for (int k = 0; k < TIMED; k++)
        pair[k] = oracle_pair(i, j, &rng);
    double start = cpu_seconds();
    for (int k = 0; k < TIMED; k++) {
        OracleTouches t;
        t.count = t.lowest = 0;
        talus_narrow(&pair[k].a, &pair[k].b, 0.1 * pair[k].size, oracle_take, &t);
    }
    return 1e9 * (cpu_seconds() - start) / TIMED;
}

static Row run_row(int i, int j, int pairs, int every)
{
    Row row;
    memset(&row, 0, sizeof row);
    TalusRng rng = talus_rng_from_seed((uint64_t)(1000 * i + j)), trial = talus_rng_from_seed(17);
    for (int k = 0; k < pairs; k++) {
        OraclePair p = oracle_pair(i, j, &rng);
        bool chosen = k % every == 0;
        const OracleEffort effort = {100, 200};
        double distance;
        OracleErrors e = oracle_check(&p, 0.1 * p.size, effort, chosen, &trial, &distance);
        oracle_worst(&row.worst, &e);
        row.apart += distance > 0.0;
        row.deep += distance <= 0.0;
        row.touching += distance < 0.1 * p.size;
        row.wrong += fmax(fmax(e.over, e.under), e.touch) > 1e-6;
        if (chosen && have_ccd)
            ask_ccd(&p, distance, &row);
        row.checked += chosen;
    }
    row.nanoseconds = time_pairs(i, j);
    return row;
}

int main(int argc, char **argv)
{
    int pairs = argc > 1 ? atoi(argv[1]) : DEFAULT_PAIRS;
    int every = argc > 2 ? atoi(argv[2]) : DEFAULT_EVERY;
    if (pairs < 1 || every < 1) {
        fprintf(stderr, "talus_bench_narrow: PAIRS and EVERY must be positive\n");
        return 2;
    }
    oracle_open(1.0);
    printf("%d pairs each, every %d-th that overlaps tried and given to libccd\n", pairs, every);
    printf("%-10s %-10s %8s %8s %9s %9s %9s %6s %9s %6s %7s %7s\n", "a", "b", "touching", "deep",
           "over", "under", "touch", "wrong", "libccd", "deeper", "refuses", "ns");
    int wrong = 0;
    for (int i = 0; i < ORACLE_SHAPES; i++) {
        for (int j = i; j < ORACLE_SHAPES; j++) {
            Row r = run_row(i, j, pairs, every);
            printf("%-10s %-10s %8d %8d %9.1e %9.1e %9.1e %6d %9.1e %6d %7d %7.0f\n",
                   oracle_name[i], oracle_name[j], r.touching, r.deep, r.worst.over, r.worst.under,
                   r.worst.touch, r.wrong, r.ccd_shorter, r.ccd_deeper, r.ccd_refuses,
                   r.nanoseconds);
            fflush(stdout);
            wrong += r.wrong;
        }
    }
    oracle_close();
    printf("%d pairs wrong by more than 1e-6 of their size\n", wrong);
    return wrong > 0;
}
