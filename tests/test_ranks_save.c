/* A world on several ranks is saved without being gathered: the bytes are those of one rank, whichever slots its bodies have,
 * and a failure of the sink is one of all ranks. */
#include "ranks_heap.h"

#include "world/save/save.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static const int ranks[] = {3};
enum { STEPS = 4 };
#else
static const int ranks[] = {2, 3, 5};
enum { STEPS = 12 };
#endif
enum { COUNTS = sizeof ranks / sizeof *ranks };

/* A run of some steps. */
typedef struct Run {
    int steps;
    Bytes end;
} Run;

static TalusStatus run_rank(TalusComm *comm, void *context)
{
    Run *run = context;
    TalusWorld *world = NULL;
    Bytes end = {0};
    TalusStatus status = make_world(&world);
    if (status == TALUS_OK && comm)
        status = talus_world_divide(world, comm);
    if (status == TALUS_OK)
        status = run_steps(world, run->steps);
    const uint64_t before = status == TALUS_OK ? talus_world_hash(world) : 0;
    if (status == TALUS_OK)
        status = talus_world_save(world, &end.data, &end.size);
    CHECK(status != TALUS_OK || (end.data != NULL) == (talus_comm_rank(comm) == 0));
    CHECK(status != TALUS_OK || talus_world_hash(world) == before); /* saving changes nothing */
    if (talus_comm_rank(comm) == 0)
        run->end = end;
    talus_world_destroy(world);
    return status;
}

TEST(the_bytes_are_those_of_one_rank)
{
    for (int steps = 0; steps <= STEPS; steps += STEPS) {
        Run one = {.steps = steps};
        REQUIRE_OK(run_rank(NULL, &one));
        for (int k = 0; k < COUNTS; k++) {
            Run parts = {.steps = steps};
            CHECK_OK(talus_ranks_run(ranks[k], run_rank, &parts));
            is_same(&parts.end, &one.end);
            talus_free(parts.end.data);
        }
        talus_free(one.end.data);
    }
}

TEST(the_bytes_load_to_a_world_that_goes_on_the_same)
{
    TalusWorld *world = NULL, *copy = NULL;
    Bytes saved;
    REQUIRE_OK(make_world(&world));
    REQUIRE_OK(run_steps(world, STEPS));
    REQUIRE_OK(talus_world_save(world, &saved.data, &saved.size));
    REQUIRE_OK(talus_world_load(saved.data, saved.size, 1, NULL, &copy));
    CHECK_INT(talus_world_body_count(copy), talus_world_body_count(world));
    CHECK(talus_world_body_count(world) < LAST + LATE);
    for (int k = 0; k < STEPS; k++) {
        CHECK_OK(talus_world_step(world, NULL));
        CHECK_OK(talus_world_step(copy, NULL));
        CHECK(talus_world_hash(world) == talus_world_hash(copy));
    }
    Bytes a, b;
    REQUIRE_OK(talus_world_save(world, &a.data, &a.size));
    REQUIRE_OK(talus_world_save(copy, &b.data, &b.size));
    is_same(&a, &b);
    talus_free(a.data);
    talus_free(b.data);
    talus_free(saved.data);
    talus_world_destroy(world);
    talus_world_destroy(copy);
}

/* ---- failures ---- */

/* A sink that takes `left` bytes. */
static TalusStatus put_some(void *context, const void *bytes, size_t size)
{
    size_t *left = context;
    (void)bytes;
    if (size > *left)
        return talus_fail(TALUS_ERR_IO, "the sink is full");
    *left -= size;
    return TALUS_OK;
}

/* Saves into sinks that are full sooner or later; every rank must get the failure. */
static TalusStatus fill_sinks(TalusComm *comm, void *context)
{
    TalusWorld *world = NULL;
    (void)context;
    if (!CHECK_OK(make_world(&world)) || !CHECK_OK(talus_world_divide(world, comm)) ||
        !CHECK_OK(talus_world_step(world, NULL)))
        return TALUS_ERR_ARGUMENT;
    for (size_t room = 0; room < 131072; room += 65536) {
        size_t left = room;
        const TalusByteSink sink = {put_some, &left};
        CHECK_INT(talus_world_save_to(world, &sink),
                  talus_comm_rank(comm) == 0 ? TALUS_ERR_IO : TALUS_ERR_CANCELLED);
        if (talus_comm_rank(comm) == 0)
            CHECK_STR(talus_error(), "the sink is full");
    }
    CHECK_OK(talus_world_step(world, NULL)); /* the world goes on */
    talus_world_destroy(world);
    return TALUS_OK;
}

TEST(a_full_sink_fails_on_all_ranks)
{
    CHECK_OK(talus_ranks_run(3, fill_sinks, NULL));
}

int main(void)
{
    RUN(the_bytes_are_those_of_one_rank);
    RUN(the_bytes_load_to_a_world_that_goes_on_the_same);
    RUN(a_full_sink_fails_on_all_ranks);
    return talus_test_result();
}
