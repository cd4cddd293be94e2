/* ENGINE --bed FILE --out FILE [--iterations N] [--step H] [--time T] [--sweep-cost]
 *
 * Runs the bed, writes the final centres and prints one line of key=value pairs. CPU time (user and
 * system, this process) is that of the stepping calls alone: reading, writing and counting contacts
 * are outside. The machine is shared, so wall time would say more about the neighbours.
 *
 * --sweep-cost goes on after the run and measures what one sweep costs per contact. Everything that
 * does not depend on the number of iterations cancels in the difference between a step with 50 and
 * a step with 10; the bed is settled by then, so both see the same contacts. Blocks of either kind
 * alternate and the median of the differences is reported, so that a disturbance by another process
 * spoils one pair and not the result. */
#define _POSIX_C_SOURCE 200809L

#include "peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { SWEEP_PAIRS = 9, SWEEP_STEPS = 10, SWEEP_MANY = 50, SWEEP_FEW = 10 };

typedef struct Options {
    const char *bed, *out;
    int iterations, sweep_cost;
    double step, time; /* 0: as the bed says */
} Options;

typedef struct Tally {
    double cpu_seconds;
    double contact_steps; /* contacts summed over steps */
    int steps;
} Tally;

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double peak_memory_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static Tally run_steps(const PeerEngine *peer, void *engine, int steps, double h)
{
    Tally tally = {0, 0, steps};
    for (int i = 0; i < steps; i++) {
        double start = cpu_now();
        peer->step(engine, h);
        tally.cpu_seconds += cpu_now() - start;
        tally.contact_steps += peer->contacts(engine);
    }
    return tally;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double seconds_per_contact(const PeerEngine *peer, void *engine, int iterations, double h)
{
    peer->set_iterations(engine, iterations);
    Tally tally = run_steps(peer, engine, SWEEP_STEPS, h);
    return tally.cpu_seconds / tally.contact_steps;
}

static double sweep_nanoseconds(const PeerEngine *peer, void *engine, double h)
{
    double cost[SWEEP_PAIRS];
    for (int i = 0; i < SWEEP_PAIRS; i++) {
        double few = seconds_per_contact(peer, engine, SWEEP_FEW, h);
        double many = seconds_per_contact(peer, engine, SWEEP_MANY, h);
        cost[i] = 1e9 * (many - few) / (SWEEP_MANY - SWEEP_FEW);
    }
    qsort(cost, SWEEP_PAIRS, sizeof cost[0], compare_doubles);
    return cost[SWEEP_PAIRS / 2];
}

static int write_final(const PeerEngine *peer, void *engine, int n, const char *path)
{
    double *x = malloc(3 * sizeof(double) * (size_t)n);
    if (!x)
        return 0;
    peer->positions(engine, x);
    int ok = positions_write(path, n, x);
    free(x);
    return ok;
}

static int run_bed(const PeerEngine *peer, const Bed *bed, const Options *options)
{
    double h = options->step > 0 ? options->step : bed->step;
    double time = options->time > 0 ? options->time : bed->time;
    void *engine = peer->create(bed);
    if (!engine)
        return 1;
    peer->set_iterations(engine, options->iterations);
    Tally tally = run_steps(peer, engine, (int)lround(time / h), h);
    double peak = peak_memory_mb();
    int ok = write_final(peer, engine, bed->n, options->out);
    printf("engine=%s n=%d knob=its=%d,h=%gms cpu_s=%.4f steps=%d sim_s=%g rss_mb=%.1f "
           "contact_steps=%.0f contacts_mean=%.1f contacts_last=%d",
           peer->name, bed->n, options->iterations, 1e3 * h, tally.cpu_seconds, tally.steps,
           tally.steps * h, peak, tally.contact_steps, tally.contact_steps / tally.steps,
           peer->contacts(engine));
    if (options->sweep_cost)
        printf(" sweep_ns=%.2f", sweep_nanoseconds(peer, engine, h));
    printf("\n");
    peer->destroy(engine);
    return ok ? 0 : 1;
}

static int positive_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && *value > 0;
}

static int parse_option(Options *options, const char *key, const char *value)
{
    double number;
    if (strcmp(key, "--bed") == 0)
        options->bed = value;
    else if (strcmp(key, "--out") == 0)
        options->out = value;
    else if (!positive_number(value, &number))
        return 0;
    else if (strcmp(key, "--iterations") == 0)
        options->iterations = (int)number;
    else if (strcmp(key, "--step") == 0)
        options->step = number;
    else if (strcmp(key, "--time") == 0)
        options->time = number;
    else
        return 0;
    return 1;
}

static int parse_options(Options *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--sweep-cost") == 0)
            options->sweep_cost = 1;
        else if (i + 1 < argc && parse_option(options, argv[i], argv[i + 1]))
            i++;
        else
            return 0;
    }
    return options->bed && options->out && options->iterations >= 1;
}

int peer_main(const PeerEngine *peer, int argc, char **argv)
{
    Options options = {.iterations = 50};
    if (!parse_options(&options, argc, argv)) {
        fprintf(stderr,
                "usage: %s --bed FILE --out FILE [--iterations N] [--step H] [--time T] "
                "[--sweep-cost]\n",
                argv[0]);
        return 2;
    }
    Bed bed;
    if (!bed_read(options.bed, &bed))
        return 1;
    int status = run_bed(peer, &bed, &options);
    bed_free(&bed);
    return status;
}
