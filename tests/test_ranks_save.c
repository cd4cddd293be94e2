/* A world on several ranks is saved without being gathered: the bytes are those of one rank, whichever slots its bodies have,
 * and a failure of the sink is one of all ranks. */
#include <talus/comm.h>
#include <talus/io.h>
#include <talus/joint.h>
#include <talus/world.h>

#include "support/test.h"
#include "world/save/save.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static const int ranks[] = {3};
enum { STEPS = 4 };
#else
static const int ranks[] = {2, 3, 5};
enum { STEPS = 12 };
#endif
enum { COUNTS = sizeof ranks / sizeof *ranks };

/* Spheres and boxes, forces, a driven box, a chain of excluded pairs, bodies that come later, and sleep. */
static const char scene_text[] =
    "{'step': 0.004, 'solver': {'name': 'apgd', 'tolerance': 1e-3}, 'sleep': {'speed': 0.05, 'steps': 4},"
    " 'shapes': {'brick': {'kind': 'box', 'half': [0.06, 0.05, 0.04]}},"
    " 'bodies': [{'shape': {'kind': 'plane'}, 'at': [0, 0, 0]},"
    "  {'radius': 0.05, 'density': 2000, 'count': 700, 'force': [0, 0.5, 0],"
    "   'lattice': {'lo': [-0.6, -0.6, 0], 'cells': [11, 11, 0], 'spacing': 0.102}},"
    "  {'shape': 'brick', 'density': 2000, 'count': 200, 'velocity': [0, 0, -3],"
    "   'lattice': {'lo': [-0.7, -0.7, 0.75], 'cells': [8, 8, 0], 'spacing': 0.19}},"
    "  {'shape': 'brick', 'at': [1.2, 0, 0.5], 'drive': {'spin': [0, 0, 2]}},"
    "  {'name': 'link', 'shape': 'brick', 'density': 2000,"
    "   'at': [[1.5, 0, 1], [1.62, 0, 1], [1.74, 0, 1], [1.86, 0, 1]]},"
    "  {'radius': 0.05, 'density': 2000, 'count': 60, 'time': 0.02,"
    "   'lattice': {'lo': [-0.6, -0.6, 3], 'cells': [11, 11, 0], 'spacing': 0.11}}]}";

/* Bytes of a saved world. */
typedef struct Bytes {
    void *data;
    size_t size;
} Bytes;

static TalusStatus make_world(TalusWorld **world)
{
    char text[sizeof scene_text];
    TalusSceneChoice choice = {.threads = 1};
    TalusScene *scene;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = scene_text[i] == '\'' ? '"' : scene_text[i];
    TalusStatus status = talus_scene_parse(text, strlen(text), "heap", NULL, 0, &scene);
    if (status != TALUS_OK)
        return status;
    status = talus_scene_build(scene, &choice, world);
    talus_scene_destroy(scene);
    return status;
}

/* Bodies that are not there at the start have the numbers from LAST + 1 on. */
enum { LINK = 903, LAST = 906, LATE = 60 };

/* Joins the links and excludes a pair more. */
static TalusStatus add_joints(TalusWorld *world)
{
    TalusStatus status = TALUS_OK;
    for (uint64_t k = 0; status == TALUS_OK && k < 3; k++) {
        TalusJointDef def = talus_joint_def_default();
        def.kind = TALUS_JOINT_BALL;
        def.a.number = LINK + k;
        def.b.number = LINK + k + 1;
        def.point = talus_vec3(1.56 + 0.12 * (double)k, 0.0, 1.0);
        status = talus_world_add_joint(world, &def, NULL);
    }
    return status == TALUS_OK ? talus_world_exclude(world, (TalusBodyId){7}, (TalusBodyId){650})
                              : status;
}

/* Removes bodies, whose slots others take on one rank. */
static TalusStatus remove_some(TalusWorld *world)
{
    TalusStatus status = TALUS_OK;
    for (uint64_t id = 40; status == TALUS_OK && id < 640; id += 31)
        status = talus_world_remove_body(world, (TalusBodyId){id});
    return status;
}

/* A run of some steps. */
typedef struct Run {
    int steps;
    Bytes end;
} Run;

static TalusStatus run_steps(TalusWorld *world, int steps)
{
    TalusStatus status = add_joints(world);
    for (int k = 0; status == TALUS_OK && k < steps; k++) {
        if (k == steps / 3)
            status = remove_some(world);
        if (status == TALUS_OK)
            status = talus_world_step(world, NULL);
    }
    return status;
}

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

static bool is_same(const Bytes *a, const Bytes *b)
{
    return CHECK(a->size == b->size && a->size > 0) &&
           CHECK(memcmp(a->data, b->data, a->size) == 0);
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
