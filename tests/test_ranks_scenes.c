/* Shipped scenes with joints, drives and filters, divided among ranks (world/ranks): after some steps the hash, and the bytes
 * of the gathered world, are those of one rank. */
#include "ranks_world.h"

#include <talus/io.h>

enum { STEPS = SANITIZED ? 4 : 24, MAX_SET = 8 };

/* A scene, and what a run of it came to. */
typedef struct Run {
    const char *scene;
    const char *set[MAX_SET];
    int sets, threads;
    uint64_t hash[STEPS];
    void *bytes; /* of the saved world */
    size_t size;
} Run;

static TalusStatus build(const Run *run, TalusWorld **world)
{
    const char *root = getenv("TALUS_SOURCE_DIR");
    const TalusSceneChoice choice = {.solver = "apgd", .threads = run->threads};
    TalusScene *scene;
    char path[1024];
    snprintf(path, sizeof path, "%s/scenes/%s.json", root ? root : ".", run->scene);
    TalusStatus status = talus_scene_load(path, run->set, run->sets, &scene);
    if (status != TALUS_OK)
        return status;
    status = talus_scene_build(scene, &choice, world);
    talus_scene_destroy(scene);
    return status;
}

/* Saves the world on rank 0. */
static TalusStatus save(TalusWorld *world, TalusComm *comm, Run *run)
{
    TalusWorld *whole = NULL;
    if (talus_comm_size(comm) == 1)
        return talus_world_save(world, &run->bytes, &run->size);
    TalusStatus status = talus_world_gather(world, &whole);
    if (whole)
        status = talus_world_save(whole, &run->bytes, &run->size);
    talus_world_destroy(whole);
    return status;
}

static TalusStatus run_scene(TalusComm *comm, void *context)
{
    Run *run = context;
    TalusWorld *world = NULL;
    TalusStatus status = build(run, &world);
    status = status == TALUS_OK ? talus_world_divide(world, comm) : status;
    for (int k = 0; status == TALUS_OK && k < STEPS; k++) {
        status = talus_world_step(world, NULL);
        const uint64_t hash = status == TALUS_OK ? talus_world_hash(world) : 0;
        if (talus_comm_rank(comm) == 0)
            run->hash[k] = hash;
    }
    status = status == TALUS_OK ? save(world, comm, run) : status;
    talus_world_destroy(world);
    return status;
}

/* Runs a scene on all numbers of ranks and threads. */
static void compare(const Run *of)
{
    const RanksGrid *grid = SANITIZED ? &sanitized_grid : &usual_grid;
    Run run[8];
    for (int k = 0; k < grid->count; k++) {
        run[k] = *of;
        run[k].threads = grid->threads[k];
        if (!CHECK_OK(talus_ranks_run(grid->ranks[k], run_scene, &run[k])))
            printf("# %s on %d ranks\n", of->scene, grid->ranks[k]);
        int same = 0;
        while (same < STEPS && run[k].hash[same] == run[0].hash[same])
            same++;
        CHECK_INT(same, STEPS);
        CHECK_INT(run[k].size, run[0].size);
        CHECK(run[k].size == run[0].size && run[k].size > 0 &&
              memcmp(run[k].bytes, run[0].bytes, run[0].size) == 0);
    }
    for (int k = 0; k < grid->count; k++)
        talus_free(run[k].bytes);
}

TEST(the_rover_has_the_same_bits_on_any_ranks)
{
    const Run of = {.scene = "rover",
                    .set = {"rocks=900", "depth=0.12", "width=1.8", "settle=0.02"},
                    .sets = 4};
    compare(&of);
}

TEST(the_bridge_has_the_same_bits_on_any_ranks)
{
    const Run of = {.scene = "chain-bridge"};
    compare(&of);
}

int main(void)
{
    RUN(the_rover_has_the_same_bits_on_any_ranks);
    RUN(the_bridge_has_the_same_bits_on_any_ranks);
    return talus_test_result();
}
