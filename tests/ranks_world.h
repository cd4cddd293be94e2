/* Worlds on several ranks: each step must give the bits of one rank and thread, in hash, report, probes and joints. Under
 * mpirun its processes are the ranks. Then parts that such worlds are made of. */
#ifndef TALUS_TESTS_RANKS_WORLD_H
#define TALUS_TESTS_RANKS_WORLD_H

#include <talus/comm.h>
#include <talus/joint.h>
#include <talus/world.h>

#include "base/status.h"
#include "support/ranks.h"
#include "support/test.h"
#include "world/source/generate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || \
    __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* Numbers of ranks, with threads of each. */
typedef struct RanksGrid {
    int count;
    int ranks[8], threads[8];
} RanksGrid;

/* The first is one rank of one thread, with which the others are compared. */
static const RanksGrid usual_grid = {5, {1, 1, 2, 3, 5}, {1, 2, 1, 2, 1}};
/* With a sanitizer each exchange takes long. */
static const RanksGrid sanitized_grid = {2, {1, 3}, {1, 2}};

typedef TalusStatus MakeWorldFn(TalusWorldDef *def, TalusWorld **world);
/* What all ranks do before step k, counted from 0. */
typedef TalusStatus ActFn(TalusWorld *world, int k);

/* A world under test. */
typedef struct RanksCase {
    const char *name;
    MakeWorldFn *make;
    ActFn *act;         /* NULL: nothing */
    const char *solver; /* NULL: that of a world by default */
    int steps;
    const RanksGrid *grid; /* NULL: usual_grid, or sanitized_grid with a sanitizer */
} RanksCase;

/* What a step gave. */
typedef struct StepRecord {
    uint64_t hash;
    TalusStepInfo info;
    TalusProbeValue *probe;
    TalusJointState *joint;
    int probes, joints;
} StepRecord;

/* A run of a case on some number of ranks, and on rank 0 what its steps gave. */
typedef struct RanksRun {
    const RanksCase *of;
    int threads;
    StepRecord *step; /* [steps] */
    int steps;
} RanksRun;

static inline RanksRun create_run(const RanksCase *of, int threads, int steps)
{
    return (RanksRun){of, threads, calloc((size_t)steps, sizeof(StepRecord)), steps};
}

static inline void clear_run(RanksRun *run)
{
    for (int k = 0; k < run->steps; k++) {
        free(run->step[k].probe);
        free(run->step[k].joint);
    }
    free(run->step);
}

static inline TalusWorldDef def_of_run(const RanksRun *run, TalusComm *comm)
{
    TalusWorldDef def = talus_world_def_default();
    def.comm = comm;
    def.threads = run->threads;
    if (run->of->solver)
        def.solver = run->of->solver;
    return def;
}

/* Makes a step of all ranks. What it gave is stored on rank 0. */
static inline TalusStatus record_step(TalusComm *comm, TalusWorld *world, const RanksRun *run,
                                      int k)
{
    StepRecord step = {.probes = talus_world_probe_count(world)};
    if (run->of->act)
        TALUS_TRY(run->of->act(world, k));
    TALUS_TRY(talus_world_step(world, &step.info));
    step.hash = talus_world_hash(world);
    step.joints = talus_world_joint_count(world);
    step.joint = calloc((size_t)step.joints + 1, sizeof *step.joint);
    talus_world_get_joints(world, step.joint, step.joints);
    if (talus_comm_rank(comm) > 0) {
        free(step.joint);
        return TALUS_OK;
    }
    step.probe = calloc((size_t)step.probes + 1, sizeof *step.probe);
    for (int p = 0; p < step.probes; p++)
        step.probe[p] = talus_world_probe_value(world, p);
    run->step[k] = step;
    return TALUS_OK;
}

static inline TalusStatus run_rank(TalusComm *comm, void *context)
{
    const RanksRun *run = context;
    TalusWorldDef def = def_of_run(run, comm);
    TalusWorld *world = NULL;
    TalusStatus status = run->of->make(&def, &world);
    for (int k = 0; status == TALUS_OK && k < run->steps; k++)
        status = record_step(comm, world, run, k);
    talus_world_destroy(world);
    return status;
}

/* ---- comparison of steps: to the last bit; members of structs that have padding one by one ---- */

/* True if numbers have the same bits. */
#define SAME_BITS(a, b) CHECK(memcmp(&(a), &(b), sizeof(a)) == 0)

static inline bool is_overlap_same(const TalusOverlapSummary *a, const TalusOverlapSummary *b)
{
    bool same = CHECK_INT(a->loaded, b->loaded);
    same &= SAME_BITS(a->mean, b->mean);
    same &= SAME_BITS(a->max, b->max);
    same &= SAME_BITS(a->p99, b->p99);
    return same & SAME_BITS(a->kappa, b->kappa);
}

/* Compares all but times and memory. */
static inline bool is_info_same(const TalusStepInfo *a, const TalusStepInfo *b)
{
    bool same = CHECK_INT(a->contacts, b->contacts);
    same &= CHECK_INT(a->bodies, b->bodies);
    same &= CHECK_INT(a->asleep, b->asleep);
    same &= CHECK_INT(a->projection_fallbacks, b->projection_fallbacks);
    same &= CHECK_INT(a->solve.iterations, b->solve.iterations);
    same &= CHECK_INT(a->solve.outcome, b->solve.outcome);
    same &= SAME_BITS(a->solve.residual, b->solve.residual);
    same &= SAME_BITS(a->ledger, b->ledger);
    same &= is_overlap_same(&a->overlap, &b->overlap);
    same &= SAME_BITS(a->penetration_mean, b->penetration_mean);
    return same & SAME_BITS(a->penetration_max, b->penetration_max);
}

static inline bool is_probe_same(const TalusProbeValue *a, const TalusProbeValue *b)
{
    bool same = CHECK_INT(a->contacts, b->contacts);
    same &= CHECK_INT(a->bodies, b->bodies);
    same &= SAME_BITS(a->force, b->force);
    same &= SAME_BITS(a->torque, b->torque);
    same &= SAME_BITS(a->mass, b->mass);
    return same & SAME_BITS(a->momentum, b->momentum);
}

static inline bool is_joint_same(const TalusJointState *a, const TalusJointState *b)
{
    bool same = CHECK_INT(a->id.number, b->id.number);
    same &= CHECK_INT(a->a.number, b->a.number);
    same &= CHECK_INT(a->b.number, b->b.number);
    same &= SAME_BITS(a->point, b->point);
    same &= SAME_BITS(a->point_b, b->point_b);
    same &= SAME_BITS(a->axis, b->axis);
    same &= SAME_BITS(a->force, b->force);
    same &= SAME_BITS(a->torque, b->torque);
    same &= SAME_BITS(a->coordinate, b->coordinate);
    same &= SAME_BITS(a->speed, b->speed);
    same &= SAME_BITS(a->effort, b->effort);
    return same & SAME_BITS(a->error, b->error);
}

static inline bool is_step_same(const StepRecord *a, const StepRecord *b)
{
    bool same = CHECK(a->hash == b->hash);
    same &= is_info_same(&a->info, &b->info);
    same &= CHECK_INT(a->probes, b->probes);
    same &= CHECK_INT(a->joints, b->joints);
    for (int k = 0; same && k < a->probes; k++)
        same = is_probe_same(&a->probe[k], &b->probe[k]);
    for (int k = 0; same && k < a->joints; k++)
        same = is_joint_same(&a->joint[k], &b->joint[k]);
    return same;
}

/* Compares the steps of two runs up to the first that differs. */
static inline void compare_runs(const RanksRun *run, const RanksRun *one, int ranks)
{
    for (int k = 0; k < run->steps; k++)
        if (!is_step_same(&run->step[k], &one->step[k])) {
            printf("# %s: step %d on %d ranks of %d threads differs\n", run->of->name, k + 1, ranks,
                   run->threads);
            return;
        }
}

/* Runs a world on one rank, in the process that compares, or on several. */
static inline TalusStatus run_world(int ranks, RanksRun *run)
{
    if (ranks > 1)
        return run_ranks(ranks, run_rank, run);
    return is_first_process() ? talus_ranks_run(1, run_rank, run) : TALUS_OK;
}

/* Compares each step of a world on all numbers of ranks and threads with that of one rank and thread; under mpirun on as
 * many ranks as there are. Returns the report of the last step, zeros if there is none in this process. */
static inline TalusStepInfo compare_ranks(const RanksCase *of)
{
    const RanksGrid *grid = of->grid;
    RanksRun run[8];
    if (!grid || talus_mpi_is_launched())
        grid = SANITIZED || talus_mpi_is_launched() ? &sanitized_grid : &usual_grid;
    for (int k = 0; k < grid->count; k++) {
        run[k] = create_run(of, grid->threads[k], of->steps);
        TalusStatus status = run_world(grid->ranks[k], &run[k]);
        if (!CHECK_OK(status))
            printf("# %s on %d ranks\n", of->name, grid->ranks[k]);
        else if (is_first_process())
            compare_runs(&run[k], &run[0], grid->ranks[k]);
    }
    const TalusStepInfo last = run[0].step[of->steps - 1].info;
    for (int k = 0; k < grid->count; k++)
        clear_run(&run[k]);
    return last;
}

/* ---- parts that come and go ---- */

/* Every rank makes the whole world and a third of the steps; then the world is divided, makes as many, and is gathered on
 * rank 0, where it makes the rest. Without a communicator it stays whole. */
static inline TalusStatus divide_and_gather(TalusComm *comm, void *context)
{
    const RanksRun *run = context;
    TalusWorldDef def = def_of_run(run, NULL);
    TalusWorld *world = NULL;
    TalusStatus status = run->of->make(&def, &world);
    for (int k = 0; k < run->steps && status == TALUS_OK && world; k++) {
        if (comm && k == run->steps / 3)
            status = talus_world_divide(world, comm);
        if (comm && k == 2 * run->steps / 3) {
            TalusWorld *whole = NULL;
            TALUS_THEN(status, talus_world_gather(world, &whole));
            talus_world_destroy(world);
            world = whole;
        }
        if (world)
            TALUS_THEN(status, record_step(comm, world, run, k));
    }
    talus_world_destroy(world);
    return status;
}

/* Divides and gathers a world on 2, 3 and 5 ranks, and compares each step with that of a world that stays whole. */
static inline void compare_parts(const RanksCase *of)
{
    static const int ranks[] = {0, 2, 3, 5};
    enum { PARTS = sizeof ranks / sizeof *ranks };
    RanksRun run[PARTS];
    for (int k = 0; k < PARTS; k++) {
        run[k] = create_run(of, 1, of->steps);
        if (CHECK_OK(k == 0 ? divide_and_gather(NULL, &run[k])
                            : talus_ranks_run(ranks[k], divide_and_gather, &run[k])))
            compare_runs(&run[k], &run[0], ranks[k]);
    }
    for (int k = 0; k < PARTS; k++)
        clear_run(&run[k]);
}

/* ---- parts of worlds ---- */

/* A number in [-0.5, 0.5) from a counter. */
static inline double noise(unsigned k)
{
    k = k * 2654435761u + 12345u;
    k ^= k >> 15;
    k *= 2246822519u;
    k ^= k >> 13;
    return (double)(k % 100000) / 100000.0 - 0.5;
}

/* Adds a fixed body of a shape; `id` may be NULL. */
static inline TalusStatus add_fixed(TalusWorld *world, const TalusShapeDef *shape, TalusVec3 at,
                                    TalusQuat orientation, TalusBodyId *id)
{
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 1;
    batch.fixed = true;
    batch.position = &at;
    batch.orientation = &orientation;
    TALUS_TRY(talus_world_add_shape(world, shape, &batch.shape));
    return talus_world_add_bodies(world, &batch, id);
}

static inline TalusStatus add_plane(TalusWorld *world, TalusVec3 at, TalusVec3 normal,
                                    TalusBodyId *id)
{
    const TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    return add_fixed(world, &plane, at, talus_quat_from_z(normal), id);
}

/* Adds a floor and four walls around [0, side]^2: bodies 1 to 5. */
static inline TalusStatus add_container(TalusWorld *world, double side)
{
    const TalusVec3 normal[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    const TalusVec3 point[5] = {{0, 0, 0}, {0, 0, 0}, {side, 0, 0}, {0, 0, 0}, {0, side, 0}};
    for (int k = 0; k < 5; k++)
        TALUS_TRY(add_plane(world, point[k], normal[k], NULL));
    return TALUS_OK;
}

/* A lattice of bodies that are shifted a little and fall. */
typedef struct Grains {
    TalusShapeDef shape;
    int across[3];
    TalusVec3 lo;
    double spacing, radius, speed;
    double spread; /* of spheres: radii are 1 - spread to 1 times `radius` */
    double spin;   /* rad/s: about z, and up to half of it about x */
} Grains;

/* Writes where body k of a lattice is and how it moves. */
static inline void fill_grain(const Grains *g, int k, TalusVec3 *x, TalusVec3 *v, TalusVec3 *w)
{
    const double gap = g->spacing - 2.0 * g->radius;
    const int at[3] = {k % g->across[0], k / g->across[0] % g->across[1],
                       k / (g->across[0] * g->across[1])};
    const unsigned n = 3u * (unsigned)k;
    *x = talus_add(g->lo, talus_vec3((at[0] + 0.5) * g->spacing + gap * noise(n),
                                     (at[1] + 0.5) * g->spacing + gap * noise(n + 1),
                                     (at[2] + 0.5) * g->spacing + gap * noise(n + 2)));
    *v = talus_vec3(g->speed * noise(n + 5), g->speed * noise(n + 7), -g->speed);
    *w = talus_vec3(g->spin * noise(n + 11), 0.0, g->spin);
}

/* Adds the bodies of a lattice; ids: as many as the lattice has points, or NULL. */
static inline TalusStatus add_grains(TalusWorld *world, const Grains *g, TalusBodyId *ids)
{
    const int count = g->across[0] * g->across[1] * g->across[2];
    TalusVec3 *vector = malloc(3 * (size_t)count * sizeof *vector);
    double *radius = malloc((size_t)count * sizeof *radius);
    TalusVec3 *x = vector, *v = vector + count, *w = v + count;
    TalusBodyBatch batch = talus_body_batch_default();
    for (int k = 0; k < count; k++) {
        fill_grain(g, k, &x[k], &v[k], &w[k]);
        radius[k] = g->radius * (1.0 - g->spread * (0.5 + noise(11u * (unsigned)k)));
    }
    batch.count = count;
    batch.position = x;
    batch.velocity = v;
    batch.spin = w;
    batch.radius = g->spread > 0.0 ? radius : NULL;
    batch.density = 2500.0;
    TalusStatus status = talus_world_add_shape(world, &g->shape, &batch.shape);
    TALUS_THEN(status, talus_world_add_bodies(world, &batch, ids));
    free(vector);
    free(radius);
    return status;
}

/* The heap that several tests have: HEAP spheres of different radii in a container, bodies 6 and following. */
enum { HEAP_ACROSS = 9, HEAP_HIGH = 12, HEAP = HEAP_ACROSS * HEAP_ACROSS * HEAP_HIGH };

static inline Grains heap_of_spheres(double speed)
{
    return (Grains){.shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01},
                    .across = {HEAP_ACROSS, HEAP_ACROSS, HEAP_HIGH},
                    .lo = {0.0, 0.0, 0.0023},
                    .spacing = 0.023,
                    .radius = 0.01,
                    .speed = speed,
                    .spread = 0.3,
                    .spin = 3.0};
}

static inline TalusStatus make_heap(TalusWorldDef *def, TalusWorld **world)
{
    const Grains grains = heap_of_spheres(1.5);
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_container(*world, HEAP_ACROSS * grains.spacing));
    return add_grains(*world, &grains, NULL);
}

#endif
