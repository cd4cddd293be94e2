/* Worlds on several ranks (world/ranks): each step gives the bits of one rank. Under mpirun its processes are the ranks
 * (tests/comm_mpi.sh). */
#include <talus/comm.h>
#include <talus/world.h>

#include "support/ranks.h"
#include "support/test.h"
#include "world/source/generate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of ranks and threads of each; with a sanitizer few, since each exchange then takes long. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static const int grid_of_threads[][2] = {{1, 1}, {3, 2}};
enum { STEPS = 6 };
#else
static const int grid_of_threads[][2] = {{1, 1}, {1, 2}, {2, 1}, {3, 2}, {5, 1}, {8, 1}};
enum { STEPS = 30 };
#endif
static const int grid_of_processes[2][2] = {{1, 1}, {3, 2}}; /* three, or as many as there are */
enum { SHORT = 4 };                                          /* steps under mpirun */
enum { RUNS = sizeof grid_of_threads / sizeof *grid_of_threads, MAX_STEPS = 200 };

typedef TalusStatus MakeWorldFn(TalusWorldDef *def, TalusWorld **world);

/* What a world on ranks did. */
typedef struct Run {
    MakeWorldFn *make;
    int steps, threads;
    uint64_t hash[MAX_STEPS];
    TalusStepInfo info[MAX_STEPS];
} Run;

static TalusStatus run_rank(TalusComm *comm, void *context)
{
    Run *run = context;
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.comm = comm;
    def.threads = run->threads;
    def.solver = "apgd";
    TalusStatus status = run->make(&def, &world);
    for (int k = 0; status == TALUS_OK && k < run->steps; k++) {
        TalusStepInfo info;
        status = talus_world_step(world, &info);
        uint64_t hash = status == TALUS_OK ? talus_world_hash(world) : 0;
        if (talus_comm_rank(comm) == 0) {
            run->info[k] = info;
            run->hash[k] = hash;
        }
    }
    talus_world_destroy(world);
    return status;
}

/* True if two steps report the same numbers, to the last bit, but for times and memory. */
static bool reports_same(const TalusStepInfo *a, const TalusStepInfo *b)
{
    bool same = CHECK_INT(a->contacts, b->contacts);
    same &= CHECK_INT(a->bodies, b->bodies);
    same &= CHECK_INT(a->solve.iterations, b->solve.iterations);
    same &= CHECK(memcmp(&a->solve.residual, &b->solve.residual, sizeof a->solve.residual) == 0);
    same &= CHECK(memcmp(&a->ledger, &b->ledger, sizeof a->ledger) == 0);
    same &= CHECK(memcmp(&a->overlap, &b->overlap, sizeof a->overlap) == 0);
    same &= CHECK(a->penetration_mean == b->penetration_mean);
    return same && CHECK(a->penetration_max == b->penetration_max);
}

static bool is_first; /* this process has the results, set by main */

/* Runs a world on one rank, in the process that compares, or on several. */
static TalusStatus run_world(int ranks, Run *run)
{
    if (ranks > 1)
        return run_ranks(ranks, run_rank, run);
    return is_first ? talus_ranks_run(1, run_rank, run) : TALUS_OK;
}

/* Runs a world on all numbers of ranks and threads, and compares each step with that of one rank and thread. */
static void compare(const char *name, MakeWorldFn *make, int steps)
{
    const int(*const grid)[2] = talus_mpi_is_launched() ? grid_of_processes : grid_of_threads;
    const int runs = talus_mpi_is_launched() ? 2 : RUNS;
    steps = talus_mpi_is_launched() ? SHORT : steps;
    Run *run = calloc(RUNS, sizeof *run);
    for (int k = 0; k < runs; k++) {
        run[k].make = make;
        run[k].steps = steps;
        run[k].threads = grid[k][1];
        TalusStatus status = run_world(grid[k][0], &run[k]);
        if (status != TALUS_OK)
            printf("# %s on %d ranks: %s\n", name, grid[k][0], talus_error());
        if (!CHECK_OK(status))
            break;
        for (int s = 0; s < steps && is_first; s++)
            if (!CHECK(run[k].hash[s] == run[0].hash[s]) ||
                !reports_same(&run[k].info[s], &run[0].info[s])) {
                printf("# %s: step %d on %d ranks of %d threads differs\n", name, s + 1, grid[k][0],
                       grid[k][1]);
                break;
            }
    }
    CHECK(run[0].info[steps - 1].contacts > 100 || !is_first);
    free(run);
}

/* ---- worlds ---- */

/* Adds a floor and four walls around [0, side]^2. */
static TalusStatus add_container(TalusWorld *world, double side)
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
static double noise(unsigned k)
{
    k = k * 2654435761u + 12345u;
    k ^= k >> 15;
    k *= 2246822519u;
    k ^= k >> 13;
    return (double)(k % 100000) / 100000.0 - 0.5;
}

enum { ACROSS = 9, HIGH = 12, BODIES = ACROSS * ACROSS * HIGH };

/* Adds BODIES bodies of a shape on a lattice of the given spacing, shifted and moving a little, from `lo`. */
static TalusStatus add_lattice(TalusWorld *world, int shape, double spacing, double radius,
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

static TalusStatus make_spheres(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01};
    int index;
    TalusStatus status = talus_world_create(def, world);
    status = status == TALUS_OK ? add_container(*world, 0.023 * ACROSS) : status;
    status = status == TALUS_OK ? talus_world_add_shape(*world, &shape, &index) : status;
    return status == TALUS_OK ? add_lattice(*world, index, 0.023, 0.01, 1.5) : status;
}

static TalusStatus make_relaxed(TalusWorldDef *def, TalusWorld **world)
{
    def->friction.law = TALUS_LAW_CCP;
    def->compliance = 0.0;
    return make_spheres(def, world);
}

static TalusStatus make_periodic(TalusWorldDef *def, TalusWorld **world)
{
    const double side = 0.023 * ACROSS;
    const TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01};
    TalusBodyBatch floor = talus_body_batch_default();
    const TalusVec3 origin = {0, 0, 0};
    int index;
    def->period = (TalusPeriod){.on = {true, true, false}, .hi = {side, side, 0.0}};
    def->gravity = (TalusVec3){4.0, 0.0, -9.0};
    TalusStatus status = talus_world_create(def, world);
    floor.count = 1;
    floor.fixed = true;
    floor.position = &origin;
    status = status == TALUS_OK ? talus_world_add_shape(*world, &plane, &floor.shape) : status;
    status = status == TALUS_OK ? talus_world_add_bodies(*world, &floor, NULL) : status;
    status = status == TALUS_OK ? talus_world_add_shape(*world, &shape, &index) : status;
    return status == TALUS_OK ? add_lattice(*world, index, 0.023, 0.01, 1.0) : status;
}

static TalusStatus make_boxes(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_BOX, .half = {0.008, 0.006, 0.005}};
    int index;
    TalusStatus status = talus_world_create(def, world);
    status = status == TALUS_OK ? add_container(*world, 0.026 * ACROSS) : status;
    status = status == TALUS_OK ? talus_world_add_shape(*world, &shape, &index) : status;
    return status == TALUS_OK ? add_lattice(*world, index, 0.026, 0.0112, 1.5) : status;
}

TEST(a_heap_of_spheres_has_the_same_bits_on_any_ranks)
{
    compare("spheres", make_spheres, STEPS);
}

TEST(a_relaxed_rigid_heap_has_the_same_bits_on_any_ranks)
{
    compare("relaxed", make_relaxed, STEPS);
}

TEST(a_periodic_flow_has_the_same_bits_on_any_ranks)
{
    compare("periodic", make_periodic, STEPS);
}

TEST(a_heap_of_boxes_has_the_same_bits_on_any_ranks)
{
    compare("boxes", make_boxes, STEPS);
}

int main(void)
{
    is_first = is_first_process();
    RUN(a_heap_of_spheres_has_the_same_bits_on_any_ranks);
    RUN(a_relaxed_rigid_heap_has_the_same_bits_on_any_ranks);
    RUN(a_periodic_flow_has_the_same_bits_on_any_ranks);
    RUN(a_heap_of_boxes_has_the_same_bits_on_any_ranks);
    return talus_test_result();
}
