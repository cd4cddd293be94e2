/* Worlds on several ranks: each step must give the bits of one rank. */
#ifndef TALUS_TESTS_RANKS_WORLD_H
#define TALUS_TESTS_RANKS_WORLD_H

#include <talus/comm.h>
#include <talus/world.h>

#include "support/test.h"
#include "world/source/generate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 200, MAX_PROBES = 4 };

typedef TalusStatus MakeWorldFn(TalusWorldDef *def, TalusWorld **world);
/* What all ranks do before the k-th step. */
typedef TalusStatus ActFn(TalusWorld *world, int k);

/* What a world on ranks did. */
typedef struct Run {
    MakeWorldFn *make;
    ActFn *act; /* NULL: nothing */
    int steps, threads, probes;
    uint64_t hash[MAX_STEPS];
    TalusStepInfo info[MAX_STEPS];
    TalusProbeValue probe[MAX_STEPS][MAX_PROBES];
} Run;

/* Makes a step and, on rank 0, stores what it reports. */
static inline TalusStatus make_step(TalusComm *comm, TalusWorld *world, Run *run, int k)
{
    TalusStepInfo info;
    TalusStatus status = run->act ? run->act(world, k) : TALUS_OK;
    status = status == TALUS_OK ? talus_world_step(world, &info) : status;
    if (status != TALUS_OK)
        return status;
    const uint64_t hash = talus_world_hash(world);
    if (talus_comm_rank(comm) > 0)
        return TALUS_OK;
    run->info[k] = info;
    run->hash[k] = hash;
    run->probes = talus_world_probe_count(world);
    for (int p = 0; p < run->probes; p++)
        run->probe[k][p] = talus_world_probe_value(world, p);
    return TALUS_OK;
}

static inline TalusStatus run_rank(TalusComm *comm, void *context)
{
    Run *run = context;
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.comm = comm;
    def.threads = run->threads;
    def.solver = "apgd";
    TalusStatus status = run->make(&def, &world);
    for (int k = 0; status == TALUS_OK && k < run->steps; k++)
        status = make_step(comm, world, run, k);
    talus_world_destroy(world);
    return status;
}

/* True if two steps report the same numbers, to the last bit, but for times and memory. */
static inline bool reports_same(const TalusStepInfo *a, const TalusStepInfo *b)
{
    bool same = CHECK_INT(a->contacts, b->contacts);
    same &= CHECK_INT(a->bodies, b->bodies);
    same &= CHECK_INT(a->asleep, b->asleep);
    same &= CHECK_INT(a->solve.iterations, b->solve.iterations);
    same &= CHECK(memcmp(&a->solve.residual, &b->solve.residual, sizeof a->solve.residual) == 0);
    same &= CHECK(memcmp(&a->ledger, &b->ledger, sizeof a->ledger) == 0);
    same &= CHECK(memcmp(&a->overlap, &b->overlap, sizeof a->overlap) == 0);
    same &= CHECK(a->penetration_mean == b->penetration_mean);
    return same && CHECK(a->penetration_max == b->penetration_max);
}

/* True if two probes have the same values, to the last bit. */
static inline bool probes_same(const TalusProbeValue *a, const TalusProbeValue *b)
{
    bool same = CHECK_INT(a->contacts, b->contacts);
    same &= CHECK_INT(a->bodies, b->bodies);
    same &= CHECK(memcmp(&a->force, &b->force, sizeof a->force) == 0);
    same &= CHECK(memcmp(&a->torque, &b->torque, sizeof a->torque) == 0);
    same &= CHECK(memcmp(&a->mass, &b->mass, sizeof a->mass) == 0);
    return same && CHECK(memcmp(&a->momentum, &b->momentum, sizeof a->momentum) == 0);
}

/* True if a step of two runs gave the same bits. */
static inline bool steps_same(const Run *a, const Run *b, int k)
{
    bool same = CHECK(a->hash[k] == b->hash[k]) && reports_same(&a->info[k], &b->info[k]);
    same = same && CHECK_INT(a->probes, b->probes);
    for (int p = 0; same && p < a->probes; p++)
        same = probes_same(&a->probe[k][p], &b->probe[k][p]);
    return same;
}

/* Runs a world on all numbers of ranks and threads, grid[runs], of which the first is {1, 1}, and compares each step with
 * that of one rank and thread. Returns the report of the last step. */
static inline TalusStepInfo compare_ranks(const char *name, MakeWorldFn *make, ActFn *act,
                                          int steps, const int (*grid)[2], int runs)
{
    Run *run = calloc((size_t)runs, sizeof *run);
    for (int k = 0; k < runs; k++) {
        run[k].make = make;
        run[k].act = act;
        run[k].steps = steps;
        run[k].threads = grid[k][1];
        TalusStatus status = talus_ranks_run(grid[k][0], run_rank, &run[k]);
        if (status != TALUS_OK)
            printf("# %s on %d ranks: %s\n", name, grid[k][0], talus_error());
        if (!CHECK_OK(status))
            break;
        for (int s = 0; s < steps; s++)
            if (!steps_same(&run[k], &run[0], s)) {
                printf("# %s: step %d on %d ranks of %d threads differs\n", name, s + 1, grid[k][0],
                       grid[k][1]);
                break;
            }
    }
    const TalusStepInfo last = run[0].info[steps - 1];
    free(run);
    return last;
}

/* ---- parts of worlds ---- */

/* Adds a floor and four walls around [0, side]^2. */
static inline TalusStatus add_container(TalusWorld *world, double side)
{
    const TalusVec3 normal[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    const TalusVec3 point[5] = {{0, 0, 0}, {0, 0, 0}, {side, 0, 0}, {0, 0, 0}, {0, side, 0}};
    TalusStatus status = TALUS_OK;
    for (int k = 0; k < 5 && status == TALUS_OK; k++) {
        const TalusShapeDef shape = {.kind = TALUS_SHAPE_PLANE};
        const TalusQuat facing = talus_quat_from_z(normal[k]);
        TalusBodyBatch wall = talus_body_batch_default();
        wall.orientation = &facing;
        wall.count = 1;
        wall.fixed = true;
        wall.position = &point[k];
        status = talus_world_add_shape(world, &shape, &wall.shape);
        if (status == TALUS_OK)
            status = talus_world_add_bodies(world, &wall, NULL);
    }
    return status;
}

/* A number in [-0.5, 0.5) from a counter. */
static inline double noise(unsigned k)
{
    k = k * 2654435761u + 12345u;
    k ^= k >> 15;
    k *= 2246822519u;
    k ^= k >> 13;
    return (double)(k % 100000) / 100000.0 - 0.5;
}

enum { ACROSS = 9, HIGH = 12, BODIES = ACROSS * ACROSS * HIGH };

/* Adds BODIES bodies of a shape on a lattice of the given spacing, shifted and moving a little, from `lo`. */
static inline TalusStatus add_lattice(TalusWorld *world, int shape, double spacing, double radius,
                                      double speed)
{
    static TalusVec3 position[BODIES], velocity[BODIES], spin[BODIES];
    static double radii[BODIES];
    TalusVec3 *x = malloc(sizeof position), *v = malloc(sizeof velocity), *w = malloc(sizeof spin);
    double *r = malloc(sizeof radii);
    TalusBodyBatch batch = talus_body_batch_default();
    for (int k = 0; k < BODIES; k++) {
        const double gap = spacing - 2.0 * radius;
        const double at[3] = {k % ACROSS + 0.5, k / ACROSS % ACROSS + 0.5,
                              k / (ACROSS * ACROSS) + 0.6};
        x[k] = (TalusVec3){at[0] * spacing + gap * noise(3u * (unsigned)k),
                           at[1] * spacing + gap * noise(3u * (unsigned)k + 1),
                           at[2] * spacing + gap * noise(3u * (unsigned)k + 2)};
        v[k] = (TalusVec3){speed * noise(7u * (unsigned)k), speed * noise(7u * (unsigned)k + 1),
                           -speed};
        w[k] = (TalusVec3){5.0 * noise((unsigned)k), 0.0, 3.0};
        r[k] = radius * (0.8 + 0.4 * noise(11u * (unsigned)k));
    }
    batch.count = BODIES;
    batch.shape = shape;
    batch.position = x;
    batch.velocity = v;
    batch.spin = w;
    batch.radius = r;
    batch.density = 2500.0;
    TalusStatus status = talus_world_add_bodies(world, &batch, NULL);
    free(x);
    free(v);
    free(w);
    free(r);
    return status;
}

#endif
