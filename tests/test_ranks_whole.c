/* Worlds are divided among ranks and gathered (world/ranks/whole.c): the saved bytes are those of one rank. */
#include "ranks_world.h"

#include "support/scene_text.h"

static const int ranks[] = {3, 2, 5};
enum { STEPS = SANITIZED ? 4 : 12, COUNTS = SANITIZED ? 1 : sizeof ranks / sizeof *ranks };

static const char scene_text[] =
    "{'step': 0.002, 'solver': {'name': 'apgd', 'tolerance': 1e-3},"
    " 'shapes': {'brick': {'kind': 'box', 'half': [0.06, 0.05, 0.04]}},"
    " 'bodies': [{'shape': {'kind': 'plane'}, 'at': [0, 0, 0]},"
    "  {'radius': 0.05, 'density': 2000, 'count': 900, 'velocity': [0.3, 0, -2], 'force': [0, 0.5, 0],"
    "   'lattice': {'lo': [-0.6, -0.6, 0], 'cells': [11, 11, 0], 'spacing': 0.11, 'jitter': 0.9}},"
    "  {'shape': 'brick', 'density': 2000, 'count': 300, 'velocity': [0, 0, -3],"
    "   'lattice': {'lo': [-0.7, -0.7, 0.95], 'cells': [8, 8, 0], 'spacing': 0.19}}]}";

/* Bytes of a saved world. */
typedef struct Bytes {
    void *data;
    size_t size;
} Bytes;

/* Builds the scene, or loads `start` if it has bytes. */
static TalusStatus make_world(const Bytes *start, TalusWorld **world)
{
    if (start->data)
        return talus_world_load(start->data, start->size, 1, NULL, world);
    return build_scene_text(scene_text, world);
}

/* A run of some steps from `start` to `end`. */
typedef struct Run {
    Bytes start, end;
    int steps;
} Run;

/* Saves the world, which has parts if `comm` is not NULL, on rank 0. */
static TalusStatus save(TalusWorld *world, TalusComm *comm, Bytes *out)
{
    TalusWorld *whole = NULL;
    TalusStatus status = comm ? talus_world_gather(world, &whole) : TALUS_OK;
    CHECK(!comm || status != TALUS_OK || (whole != NULL) == (talus_comm_rank(comm) == 0));
    if (status == TALUS_OK && talus_comm_rank(comm) == 0)
        status = talus_world_save(comm ? whole : world, &out->data, &out->size);
    talus_world_destroy(whole);
    return status;
}

static TalusStatus run_part(TalusComm *comm, void *context)
{
    Run *run = context;
    TalusWorld *world = NULL;
    TalusStatus status = make_world(&run->start, &world);
    if (status == TALUS_OK && comm)
        status = talus_world_divide(world, comm);
    for (int k = 0; status == TALUS_OK && k < run->steps; k++)
        status = talus_world_step(world, NULL);
    status = status == TALUS_OK ? save(world, comm, &run->end) : status;
    talus_world_destroy(world);
    return status;
}

static bool are_bytes_same(const Bytes *a, const Bytes *b)
{
    return CHECK(a->size == b->size && a->size > 0) &&
           CHECK(memcmp(a->data, b->data, a->size) == 0);
}

TEST(a_gathered_world_has_the_bytes_of_one_rank)
{
    for (int steps = 0; steps <= STEPS; steps += STEPS) {
        Run one = {.steps = steps};
        REQUIRE_OK(run_part(NULL, &one));
        for (int k = 0; k < COUNTS; k++) {
            Run parts = {.steps = steps};
            CHECK_OK(talus_ranks_run(ranks[k], run_part, &parts));
            are_bytes_same(&parts.end, &one.end);
            talus_free(parts.end.data);
        }
        talus_free(one.end.data);
    }
}

TEST(a_world_goes_on_with_another_number_of_ranks)
{
    Run one = {.steps = 2 * STEPS};
    REQUIRE_OK(run_part(NULL, &one));
    for (int k = 0; k < COUNTS; k++) {
        Run first = {.steps = STEPS}, last = {.steps = STEPS};
        CHECK_OK(talus_ranks_run(ranks[k], run_part, &first));
        last.start = first.end;
        CHECK_OK(talus_ranks_run(ranks[(k + 1) % COUNTS], run_part, &last));
        are_bytes_same(&last.end, &one.end);
        talus_free(first.end.data);
        talus_free(last.end.data);
    }
    talus_free(one.end.data);
}

static TalusStatus misuse(TalusComm *comm, void *context)
{
    TalusWorld *world = NULL, *whole;
    (void)context;
    const Bytes none = {0};
    if (!CHECK_OK(make_world(&none, &world)))
        return TALUS_ERR_ARGUMENT;
    CHECK_INT(talus_world_gather(world, &whole), TALUS_ERR_ARGUMENT);
    CHECK(whole == NULL);
    CHECK_OK(talus_world_divide(world, comm));
    CHECK_INT(talus_world_divide(world, comm), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
    return TALUS_OK;
}

TEST(wholes_are_not_gathered_and_parts_not_divided)
{
    CHECK_OK(talus_ranks_run(2, misuse, NULL));
}

int main(void)
{
    RUN(a_gathered_world_has_the_bytes_of_one_rank);
    RUN(a_world_goes_on_with_another_number_of_ranks);
    RUN(wholes_are_not_gathered_and_parts_not_divided);
    return talus_test_result();
}
