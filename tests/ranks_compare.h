/* tests/ranks_compare.h - runs a world on several numbers of ranks and threads, and compares every step with that of one
 * rank and thread, to the last bit: hash of the state, report of the step, states of all joints. */
#ifndef TALUS_TESTS_RANKS_COMPARE_H
#define TALUS_TESTS_RANKS_COMPARE_H

#include <talus/comm.h>
#include <talus/joint.h>
#include <talus/world.h>

#include "support/test.h"
#include "world/source/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of ranks and threads of each; with a sanitizer few, since each exchange then takes long. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static const int compared[][2] = {{1, 1}, {3, 2}};
enum { COMPARED_STEPS = 6 };
#else
static const int compared[][2] = {{1, 1}, {1, 2}, {2, 1}, {3, 2}, {5, 1}};
enum { COMPARED_STEPS = 12 };
#endif
enum {
    COMPARED = sizeof compared / sizeof *compared,
    MAX_COMPARED_STEPS = 80,
    MAX_COMPARED_JOINTS = 80
};

/* A world under test. act: what all ranks do before step k, counted from 0; NULL: nothing. */
typedef struct RanksCase {
    const char *name;
    TalusStatus (*make)(TalusWorldDef *def, TalusWorld **world);
    TalusStatus (*act)(TalusWorld *world, int k);
    int steps;
} RanksCase;

/* What such a world did. */
typedef struct RanksRecord {
    const RanksCase *of;
    int threads;
    uint64_t hash[MAX_COMPARED_STEPS];
    TalusStepInfo info[MAX_COMPARED_STEPS];
    int joints[MAX_COMPARED_STEPS];
    TalusJointState joint[MAX_COMPARED_STEPS][MAX_COMPARED_JOINTS];
} RanksRecord;

/* Makes step k and, on rank 0, records it. */
static inline TalusStatus record_step(TalusComm *comm, TalusWorld *world, RanksRecord *out, int k)
{
    TalusJointState joint[MAX_COMPARED_JOINTS];
    TalusStepInfo info;
    TalusStatus status = out->of->act ? out->of->act(world, k) : TALUS_OK;
    status = status == TALUS_OK ? talus_world_step(world, &info) : status;
    if (status != TALUS_OK)
        return status;
    const uint64_t hash = talus_world_hash(world);
    const int joints = talus_world_get_joints(world, joint, MAX_COMPARED_JOINTS);
    if (talus_comm_rank(comm) > 0)
        return TALUS_OK;
    out->info[k] = info;
    out->hash[k] = hash;
    out->joints[k] = joints < MAX_COMPARED_JOINTS ? joints : MAX_COMPARED_JOINTS;
    memcpy(out->joint[k], joint, (size_t)out->joints[k] * sizeof *joint);
    return TALUS_OK;
}

static inline TalusStatus record_rank(TalusComm *comm, void *context)
{
    RanksRecord *out = context;
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.comm = comm;
    def.threads = out->threads;
    def.solver = "apgd";
    TalusStatus status = out->of->make(&def, &world);
    for (int k = 0; status == TALUS_OK && k < out->of->steps; k++)
        status = record_step(comm, world, out, k);
    talus_world_destroy(world);
    return status;
}

/* True if two steps report the same numbers, but for times and memory. */
static inline bool same_info(const TalusStepInfo *a, const TalusStepInfo *b)
{
    bool same = CHECK_INT(a->contacts, b->contacts);
    same &= CHECK_INT(a->bodies, b->bodies);
    same &= CHECK_INT(a->asleep, b->asleep);
    same &= CHECK_INT(a->projection_fallbacks, b->projection_fallbacks);
    same &= CHECK_INT(a->solve.iterations, b->solve.iterations);
    same &= CHECK_INT(a->solve.outcome, b->solve.outcome);
    same &= CHECK(memcmp(&a->solve.residual, &b->solve.residual, sizeof a->solve.residual) == 0);
    same &= CHECK(memcmp(&a->ledger, &b->ledger, sizeof a->ledger) == 0);
    same &= CHECK(memcmp(&a->overlap, &b->overlap, sizeof a->overlap) == 0);
    same &= CHECK(a->penetration_mean == b->penetration_mean);
    return same & CHECK(a->penetration_max == b->penetration_max);
}

static inline bool same_vec3(TalusVec3 a, TalusVec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static inline bool same_joint(const TalusJointState *a, const TalusJointState *b)
{
    bool same = CHECK(a->id.number == b->id.number && a->a.number == b->a.number);
    same &= CHECK(same_vec3(a->point, b->point) && same_vec3(a->point_b, b->point_b));
    same &= CHECK(same_vec3(a->force, b->force) && same_vec3(a->torque, b->torque));
    same &= CHECK(a->coordinate == b->coordinate && a->speed == b->speed);
    return same & CHECK(a->effort == b->effort && a->error == b->error);
}

static inline bool same_step(const RanksRecord *a, const RanksRecord *b, int k)
{
    bool same = CHECK(a->hash[k] == b->hash[k]);
    same &= same_info(&a->info[k], &b->info[k]);
    same &= CHECK_INT(a->joints[k], b->joints[k]);
    for (int j = 0; same && j < a->joints[k]; j++)
        same &= same_joint(&a->joint[k][j], &b->joint[k][j]);
    return same;
}

/* Compares all runs of a world. Returns the report of its last step. */
static inline TalusStepInfo compare_case(const RanksCase *of)
{
    RanksRecord *record = calloc(COMPARED, sizeof *record);
    for (int k = 0; k < COMPARED; k++) {
        record[k].of = of;
        record[k].threads = compared[k][1];
        TalusStatus status = talus_ranks_run(compared[k][0], record_rank, &record[k]);
        if (status != TALUS_OK)
            printf("# %s on %d ranks: %s\n", of->name, compared[k][0], talus_error());
        if (!CHECK_OK(status))
            break;
        for (int s = 0; s < of->steps; s++)
            if (!same_step(&record[k], &record[0], s)) {
                printf("# %s: step %d on %d ranks of %d threads differs\n", of->name, s + 1,
                       compared[k][0], compared[k][1]);
                break;
            }
    }
    const TalusStepInfo last = record[0].info[of->steps - 1];
    free(record);
    return last;
}

/* ---- parts of worlds ---- */

/* A number in [-0.5, 0.5) from a counter. */
static inline double noise_of(unsigned k)
{
    k = k * 2654435761u + 12345u;
    k ^= k >> 15;
    k *= 2246822519u;
    k ^= k >> 13;
    return (double)(k % 100000) / 100000.0 - 0.5;
}

/* Adds a fixed body of a shape. */
static inline TalusStatus add_fixed(TalusWorld *world, const TalusShapeDef *shape, TalusVec3 at,
                                    TalusQuat orientation, TalusBodyId *id)
{
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 1;
    batch.fixed = true;
    batch.position = &at;
    batch.orientation = &orientation;
    TalusStatus status = talus_world_add_shape(world, shape, &batch.shape);
    return status == TALUS_OK ? talus_world_add_bodies(world, &batch, id) : status;
}

static inline TalusStatus add_plane(TalusWorld *world, TalusVec3 at, TalusVec3 normal,
                                    TalusBodyId *id)
{
    const TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    return add_fixed(world, &plane, at, talus_quat_from_z(normal), id);
}

/* A lattice of bodies that are shifted a little and fall. */
typedef struct Grains {
    TalusShapeDef shape;
    int across[3];
    TalusVec3 lo;
    double spacing, radius, speed;
} Grains;

/* Adds the bodies of a lattice; ids: as many as the lattice has places, or NULL. */
static inline TalusStatus add_grains(TalusWorld *world, const Grains *g, TalusBodyId *ids)
{
    const int count = g->across[0] * g->across[1] * g->across[2];
    const double gap = g->spacing - 2.0 * g->radius;
    TalusVec3 *x = malloc((size_t)count * sizeof *x), *v = malloc((size_t)count * sizeof *v);
    TalusBodyBatch batch = talus_body_batch_default();
    for (int k = 0; k < count; k++) {
        const int at[3] = {k % g->across[0], k / g->across[0] % g->across[1],
                           k / (g->across[0] * g->across[1])};
        const unsigned n = 3u * (unsigned)k;
        x[k] = talus_add(g->lo, talus_vec3((at[0] + 0.5) * g->spacing + gap * noise_of(n),
                                           (at[1] + 0.5) * g->spacing + gap * noise_of(n + 1),
                                           (at[2] + 0.5) * g->spacing + gap * noise_of(n + 2)));
        v[k] = talus_vec3(g->speed * noise_of(n + 5), g->speed * noise_of(n + 7), -g->speed);
    }
    batch.count = count;
    batch.position = x;
    batch.velocity = v;
    batch.density = 2500.0;
    TalusStatus status = talus_world_add_shape(world, &g->shape, &batch.shape);
    status = status == TALUS_OK ? talus_world_add_bodies(world, &batch, ids) : status;
    free(x);
    free(v);
    return status;
}

#endif
