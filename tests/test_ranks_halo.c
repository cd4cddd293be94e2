/* How long a halo serves (engine/reach.h, world/ranks/reach.c): bodies that move together keep theirs, and what is searched
 * less often changes no bit. */
#include "ranks_world.h"

#include "world/state.h"

enum { STEPS = 40, ACROSS = 10, HIGH = 10 };

/* What a run of a world gave on rank 0. */
typedef struct HaloRun {
    double floor; /* m: height of the floor under the heap */
    int steps;
    uint64_t hash;
    int64_t searches;
} HaloRun;

/* A heap above a floor of fixed spheres, some of which are in halos. */
static TalusStatus make_falling(TalusComm *comm, double floor, TalusWorld **world)
{
    Grains grains = heap_of_spheres(0.0);
    Grains bed = grains;
    TalusBodyBatch batch = talus_body_batch_default();
    TalusWorldDef def = talus_world_def_default();
    static const int beds = 2 * ACROSS * 2 * ACROSS;
    TalusVec3 *x = malloc((size_t)beds * sizeof *x);
    def.comm = comm;
    def.threads = 1;
    def.step = 2e-3;
    grains.across[0] = grains.across[1] = ACROSS;
    grains.across[2] = HIGH;
    for (int k = 0; k < beds; k++)
        x[k] =
            talus_vec3(0.02 * (k % (2 * ACROSS)) - 0.08, 0.02 * (k / (2 * ACROSS)) - 0.08, floor);
    batch.count = beds;
    batch.fixed = true;
    batch.position = x;
    TalusStatus status = talus_world_create(&def, world);
    TALUS_THEN(status, talus_world_add_shape(*world, &bed.shape, &batch.shape));
    TALUS_THEN(status, talus_world_add_bodies(*world, &batch, NULL));
    TALUS_THEN(status, add_grains(*world, &grains, NULL));
    free(x);
    return status;
}

static TalusStatus run_falling(TalusComm *comm, void *context)
{
    HaloRun *run = context;
    TalusWorld *world = NULL;
    TalusStatus status = make_falling(comm, run->floor, &world);
    for (int k = 0; k < run->steps && status == TALUS_OK; k++)
        status = talus_world_step(world, NULL);
    const uint64_t hash = status == TALUS_OK ? talus_world_hash(world) : 0;
    if (talus_comm_rank(comm) == 0) {
        run->hash = hash;
        run->searches = world->ranks.searches;
    }
    talus_world_destroy(world);
    return status;
}

/* Makes the steps on three ranks and on one; returns the searches of three. */
static int64_t compare_falls(double floor, int steps)
{
    HaloRun one = {.floor = floor, .steps = steps}, three = one;
    CHECK_OK(talus_ranks_run(1, run_falling, &one));
    CHECK_OK(talus_ranks_run(3, run_falling, &three));
    CHECK(one.hash != 0 && one.hash == three.hash);
    return three.searches;
}

/* In free fall the heap comes down by 30 mm, three radii, and in the last steps by 1.6 mm each. By the displacements of single
 * bodies, whose skins are 3 mm at most, 15 searches would be made. */
TEST(a_heap_that_falls_keeps_its_halo)
{
    const int64_t searches = compare_falls(-1.0, STEPS);
    CHECK(searches >= 1);
    CHECK(searches <= 8);
}

/* The heap falls onto fixed spheres, which do not take part in its motion: the halo must still have them in time. */
TEST(fixed_bodies_are_in_the_halo_when_a_heap_comes_down)
{
    CHECK(compare_falls(-0.03, STEPS) > 0);
}

int main(void)
{
    RUN(a_heap_that_falls_keeps_its_halo);
    RUN(fixed_bodies_are_in_the_halo_when_a_heap_comes_down);
    return talus_test_result();
}
