/* bench/scale.c - what a step and a product cost on ranks: messages and bytes counted, seconds of the processor.
 *
 *     talus_bench_scale RANKS WIDTH HEIGHT single|double [ITERATIONS [LATENCY [behind|blocking]]]
 *
 * A bed of spheres in the cells of a lattice of 2^WIDTH x 2^WIDTH x 2^HEIGHT cells, each touching the six beside it, numbered
 * along Hilbert's curve (the bed of bench/ranks_sim.c), under gravity on a floor. The world takes steps with apgd and a
 * fixed number of iterations, few and many: at most 16 are made in single precision, more in double. The difference over the
 * difference of products is the cost of a product, the rest is that of a step without products. Ranks are threads of this process with one thread each; every call of the
 * communicator is counted on its way. Time is that of the processor for the rank's thread, since others may use the
 * machine, and the least of STEPS steps. With ITERATIONS the steps alone are taken, so that a tool can count their
 * instructions: bench/scale.sh does, on one rank. Else one line of `run` is printed, for bench/scale_tables.c:
 *
 *     run PRECISION RANKS WIDTH HEIGHT BODIES CONTACTS  per product: CPU-NS-PER-CONTACT MESSAGES BYTES MOST-BYTES REDUCTIONS
 *         REDUCED-BYTES  per step besides: CPU-NS-PER-BODY MESSAGES BYTES MOST-BYTES REDUCTIONS REDUCED-BYTES
 *
 * Messages and bytes are what a rank sends, mean over the ranks; most: the largest of a rank. CPU time is summed over the
 * ranks and divided by all contacts or bodies.
 *
 * With LATENCY, microseconds, messages of exchanges come that much after they were sent at the earliest, as over a network:
 * behind the work, or `blocking`, as if all waited for them at once. bench/latency.sh takes the least of many runs. The line is
 *
 *     latency US MODE RANKS BODIES CONTACTS PRODUCTS  MS-OF-A-STEP  per product: HIDDEN-US WAITING-US
 *
 * with the least seconds of the clock, and of rank 0 the work behind messages and the time in them in the last step. */
#include "base/memory.h"
#include "base/timer.h"
#include "comm/comm.h"
#include "world/ranks/curve.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/talus.h>
#include <time.h>

enum { WARM = 2, STEPS = 5, MOST_RANKS = 64 };

/* Few and many iterations. */
static const int budget[2][2] = {{4, 16}, {24, 64}};

/* m, of a cell, and m/s, of the velocities at the start along each axis: so that no solve comes to the end of single
 * precision before its last iteration. */
static const double EDGE = 0.02, SPEED = 0.1;

/* ---- counting ---- */

typedef struct Counts {
    double messages, bytes;           /* of exchanges and routes, sent */
    double reductions, reduced_bytes; /* of one rank's numbers */
    double cpu_s, wall_s;
    double hidden_s, message_s;
    double products, contacts;
} Counts;

/* A communicator that counts the calls of another one. */
typedef struct Counted {
    TalusComm comm, *inner;
    Counts counts;
    double latency, ready; /* s; time at which messages under way have come */
    bool blocking;
} Counted;

static void count_messages(Counted *c, const TalusMessage *send, int sends)
{
    for (int k = 0; k < sends; k++) {
        c->counts.messages += send[k].rank != c->comm.rank;
        c->counts.bytes += send[k].rank != c->comm.rank ? (double)send[k].bytes : 0.0;
    }
}

static bool counted_reduce(TalusComm *comm, TalusReduction kind, void *values, int count)
{
    Counted *c = (Counted *)comm;
    c->counts.reductions++;
    c->counts.reduced_bytes += (double)talus_reduction_bytes(kind) * count;
    return c->inner->ops->reduce(c->inner, kind, values, count);
}

static bool counted_broadcast(TalusComm *comm, int root, void *data, size_t bytes)
{
    Counted *c = (Counted *)comm;
    c->counts.reductions++;
    c->counts.reduced_bytes += (double)bytes;
    return c->inner->ops->broadcast(c->inner, root, data, bytes);
}

/* Waits for the end of the latency. */
static void wait_for_messages(const Counted *c)
{
    while (c->latency > 0.0 && talus_now() < c->ready)
        sched_yield();
}

static void counted_begin_exchange(TalusComm *comm, const TalusMessage *send, int sends,
                                   const TalusMessage *receive, int receives)
{
    Counted *c = (Counted *)comm;
    count_messages(c, send, sends);
    c->inner->ops->begin_exchange(c->inner, send, sends, receive, receives);
    c->ready = c->latency > 0.0 ? talus_now() + c->latency : 0.0;
    if (c->blocking)
        wait_for_messages(c);
}

static bool counted_advance_exchange(TalusComm *comm)
{
    Counted *c = (Counted *)comm;
    return c->inner->ops->advance_exchange(c->inner) &&
           (c->latency == 0.0 || talus_now() >= c->ready);
}

static bool counted_finish_exchange(TalusComm *comm)
{
    Counted *c = (Counted *)comm;
    wait_for_messages(c);
    return c->inner->ops->finish_exchange(c->inner);
}

static bool counted_route(TalusComm *comm, const TalusMessage *send, int sends, TalusInbox *inbox)
{
    Counted *c = (Counted *)comm;
    count_messages(c, send, sends);
    return c->inner->ops->route(c->inner, send, sends, inbox);
}

static const TalusCommOps counted_ops = {
    .name = "counted",
    .reduce = counted_reduce,
    .broadcast = counted_broadcast,
    .begin_exchange = counted_begin_exchange,
    .advance_exchange = counted_advance_exchange,
    .finish_exchange = counted_finish_exchange,
    .route = counted_route,
};

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the bed ---- */

/* What all ranks do. */
typedef struct Bench {
    int width, height;
    int count;                      /* of bodies */
    TalusVec3 *position, *velocity; /* [count], along the curve */
    int iterations;
    double latency; /* s */
    bool blocking;
    Counts step[MOST_RANKS]; /* of one step */
} Bench;

typedef struct Cell {
    uint64_t number;
    int32_t x, y, z;
} Cell;

static int compare_cells(const void *a, const void *b)
{
    const Cell *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* A velocity from -SPEED to SPEED, from a counter. */
static double random_speed(uint32_t k)
{
    k = k * 2654435761u + 12345u;
    k = (k ^ k >> 15) * 2246822519u;
    return SPEED * ((double)(k >> 8) * 0x1p-23 - 1.0);
}

static TalusStatus place_bodies(Bench *b)
{
    const int wide = 1 << b->width, high = 1 << b->height;
    Cell *cell;
    b->count = wide * wide * high;
    TALUS_TRY(TALUS_ALLOC(cell, (size_t)b->count, "cells"));
    TALUS_TRY(TALUS_ALLOC(b->position, (size_t)b->count, "places"));
    TALUS_TRY(TALUS_ALLOC(b->velocity, (size_t)b->count, "velocities"));
    for (int k = 0; k < b->count; k++) {
        const int x = k % wide, y = k / wide % wide, z = k / wide / wide;
        cell[k] =
            (Cell){talus_hilbert_number((uint32_t)x, (uint32_t)y, (uint32_t)z, b->width), x, y, z};
    }
    qsort(cell, (size_t)b->count, sizeof *cell, compare_cells);
    for (int k = 0; k < b->count; k++) {
        const uint32_t seed = 3 * (uint32_t)k;
        b->position[k] = talus_vec3(EDGE * (cell[k].x + 0.5), EDGE * (cell[k].y + 0.5),
                                    EDGE * (cell[k].z + 0.5));
        b->velocity[k] =
            talus_vec3(random_speed(seed), random_speed(seed + 1), random_speed(seed + 2));
    }
    talus_release(cell);
    return TALUS_OK;
}

/* Adds bodies of a shape; without velocities they are fixed. */
static TalusStatus add_bodies(TalusWorld *world, const TalusShapeDef *shape, const TalusVec3 *at,
                              const TalusVec3 *velocity, int count)
{
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = count;
    batch.position = at;
    batch.velocity = velocity;
    batch.fixed = !velocity;
    batch.density = 2500.0;
    TALUS_TRY(talus_world_add_shape(world, shape, &batch.shape));
    return talus_world_add_bodies(world, &batch, NULL);
}

static TalusStatus make_world(const Bench *b, TalusComm *comm, TalusWorld **world)
{
    const TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    const TalusShapeDef sphere = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.5 * EDGE};
    const TalusVec3 origin = {0.0, 0.0, 0.0};
    TalusWorldDef def = talus_world_def_default();
    def.comm = comm;
    def.threads = 1;
    def.solver = "apgd";
    def.tolerance = 0.0;
    def.max_iterations = b->iterations;
    TALUS_TRY(talus_world_create(&def, world));
    TALUS_TRY(add_bodies(*world, &sphere, b->position, b->velocity, b->count));
    return add_bodies(*world, &plane, &origin, NULL, 1);
}

/* ---- measuring ---- */

static TalusStatus measure_steps(Counted *c, TalusWorld *world, Counts *step)
{
    double least = (double)INFINITY, least_wall = least;
    for (int k = 0; k < WARM + STEPS; k++) {
        TalusStepInfo info;
        c->counts = (Counts){0};
        const TalusCommUse before = c->comm.use;
        const double start = cpu_now(), wall_start = talus_now();
        TALUS_TRY(talus_world_step(world, &info));
        const double seconds = cpu_now() - start, wall = talus_now() - wall_start;
        c->counts.hidden_s = c->comm.use.hidden_seconds - before.hidden_seconds;
        c->counts.message_s = c->comm.use.message_seconds - before.message_seconds;
        c->counts.products = info.solve.products;
        c->counts.contacts = info.contacts;
        least = k >= WARM && seconds < least ? seconds : least;
        least_wall = k >= WARM && wall < least_wall ? wall : least_wall;
    }
    *step = c->counts;
    step->cpu_s = least;
    step->wall_s = least_wall;
    return TALUS_OK;
}

static TalusStatus run_rank(TalusComm *comm, void *context)
{
    Bench *b = context;
    TalusWorld *world = NULL;
    Counted c = {
        .comm = {.ops = &counted_ops, .rank = talus_comm_rank(comm), .size = talus_comm_size(comm)},
        .inner = comm,
        .latency = b->latency,
        .blocking = b->blocking};
    TalusStatus status = make_world(b, &c.comm, &world);
    if (status == TALUS_OK)
        status = measure_steps(&c, world, &b->step[talus_comm_rank(comm)]);
    talus_world_destroy(world);
    return status;
}

/* Sums over the ranks, and the most bytes of one. */
typedef struct Total {
    Counts sum;
    double most_bytes;
} Total;

static TalusStatus measure(Bench *b, int ranks, int iterations, Total *total)
{
    b->iterations = iterations;
    TALUS_TRY(talus_ranks_run(ranks, run_rank, b));
    *total = (Total){0};
    for (int r = 0; r < ranks; r++) {
        const Counts *c = &b->step[r];
        total->sum.messages += c->messages;
        total->sum.bytes += c->bytes;
        total->sum.reductions += c->reductions;
        total->sum.reduced_bytes += c->reduced_bytes;
        total->sum.cpu_s += c->cpu_s;
        total->most_bytes = c->bytes > total->most_bytes ? c->bytes : total->most_bytes;
    }
    total->sum.products = b->step[0].products;
    total->sum.contacts = b->step[0].contacts;
    return TALUS_OK;
}

/* Prints the line from steps with few and with many products. */
static void print_run(const Bench *b, const char *precision, int ranks, const Total *few,
                      const Total *many)
{
    const double products = many->sum.products - few->sum.products;
    const double contacts = few->sum.contacts;
#define EACH(member) ((many->member - few->member) / products)
#define REST(member) (few->member - few->sum.products * EACH(member))
    printf(
        "run %s %d %d %d %d %.0f  %.2f %.2f %.0f %.0f %.2f %.0f  %.0f %.1f %.0f %.0f %.1f %.0f\n",
        precision, ranks, b->width, b->height, b->count, contacts, 1e9 * EACH(sum.cpu_s) / contacts,
        EACH(sum.messages) / ranks, EACH(sum.bytes) / ranks, EACH(most_bytes),
        EACH(sum.reductions) / ranks, EACH(sum.reduced_bytes) / ranks,
        1e9 * REST(sum.cpu_s) / b->count, REST(sum.messages) / ranks, REST(sum.bytes) / ranks,
        REST(most_bytes), REST(sum.reductions) / ranks, REST(sum.reduced_bytes) / ranks);
#undef EACH
#undef REST
}

/* Reads the options. False: they are wrong. */
static bool read_options(Bench *b, int argc, char **argv, int *ranks)
{
    if (argc < 5 || argc > 8 || (strcmp(argv[4], "single") != 0 && strcmp(argv[4], "double") != 0))
        return false;
    *ranks = atoi(argv[1]);
    b->width = atoi(argv[2]);
    b->height = atoi(argv[3]);
    b->iterations = argc > 5 ? atoi(argv[5]) : 0;
    b->latency = argc > 6 ? 1e-6 * atof(argv[6]) : 0.0;
    b->blocking = argc > 7 && strcmp(argv[7], "blocking") == 0;
    return *ranks >= 1 && *ranks <= MOST_RANKS && b->height >= 1 && b->width >= b->height &&
           2 * b->width + b->height <= 24 && b->iterations >= 0;
}

/* Measures few and many iterations and prints their line. */
static TalusStatus compare(Bench *b, const char *precision, int ranks)
{
    const int *iterations = budget[strcmp(precision, "double") == 0];
    Total few, many;
    TALUS_TRY(measure(b, ranks, iterations[0], &few));
    TALUS_TRY(measure(b, ranks, iterations[1], &many));
    print_run(b, precision, ranks, &few, &many);
    return TALUS_OK;
}

/* Takes the steps alone, for a program that counts their instructions. */
static TalusStatus take_steps(Bench *b, int ranks)
{
    Total total;
    TALUS_TRY(measure(b, ranks, b->iterations, &total));
    printf("steps %d products %.0f contacts %.0f\n", WARM + STEPS, total.sum.products,
           total.sum.contacts);
    return TALUS_OK;
}

/* Takes the steps with a latency. */
static TalusStatus take_late_steps(Bench *b, int ranks)
{
    Total total;
    TALUS_TRY(measure(b, ranks, b->iterations, &total));
    const Counts *first = &b->step[0];
    printf("latency %.0f %s %d %d %.0f %.0f  %.3f  %.1f %.1f\n", 1e6 * b->latency,
           b->blocking ? "blocking" : "behind", ranks, b->count, first->contacts, first->products,
           1e3 * first->wall_s, 1e6 * first->hidden_s / first->products,
           1e6 * first->message_s / first->products);
    return TALUS_OK;
}

int main(int argc, char **argv)
{
    Bench bench = {0};
    int ranks;
    if (!read_options(&bench, argc, argv, &ranks)) {
        fputs("usage: talus_bench_scale RANKS WIDTH HEIGHT single|double [ITERATIONS [LATENCY "
              "[behind|blocking]]]\n",
              stderr);
        return 2;
    }
    TalusStatus status = place_bodies(&bench);
    if (status == TALUS_OK && argc > 6)
        status = take_late_steps(&bench, ranks);
    else if (status == TALUS_OK)
        status = bench.iterations > 0 ? take_steps(&bench, ranks) : compare(&bench, argv[4], ranks);
    if (status != TALUS_OK)
        fprintf(stderr, "talus_bench_scale: %s\n", talus_error());
    TALUS_RELEASE(bench.position, bench.velocity);
    return status == TALUS_OK ? 0 : 1;
}
