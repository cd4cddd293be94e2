/* Worlds of one process that run at once give the bits of running alone, on the host and, where there is such a
 * backend, on the device; and log lines go to the world or thread that they belong to. */
#include "test_world_scene.h"

#include "backend/backend.h"

#include <pthread.h>

enum { WORKERS = 4, STEPS = 12, ROUNDS = 3 };

static const char *const backends[] = {"cpu", "cuda", "cuda-mixed"};

/* What a thread does: `steps` steps of a heap, by a method whose iterations a device runs by itself or not. */
typedef struct Worker {
    const char *solver;
    int count; /* bodies */
    TalusWorld *world;
    int steps;
    TalusStatus status;
} Worker;

static const Worker kinds[WORKERS] = {{.solver = "apgd", .count = 60},
                                      {.solver = "mprgp", .count = 47},
                                      {.solver = "gs:order=coloured", .count = 70},
                                      {.solver = "jacobi", .count = 53}};

static bool is_here(const char *backend)
{
    test_backend = backend;
    return talus_backend_find(backend) != NULL;
}

static Worker make_worker(int k)
{
    Worker worker = kinds[k % WORKERS];
    TalusWorldDef def = quick_def(2);
    def.solver = worker.solver;
    def.max_iterations = 60;
    worker.world = make_world(&def);
    CHECK_OK(add_heap(worker.world, worker.count));
    worker.steps = STEPS;
    return worker;
}

static void *work(void *user)
{
    Worker *worker = user;
    for (int i = 0; i < worker->steps && worker->status == TALUS_OK; i++)
        worker->status = talus_world_step(worker->world, NULL);
    return NULL;
}

/* Its hash after the work, by itself in this thread. */
static uint64_t alone(int k)
{
    Worker worker = make_worker(k);
    work(&worker);
    CHECK_INT(worker.status, TALUS_OK);
    uint64_t hash = talus_world_hash(worker.world);
    talus_world_destroy(worker.world);
    return hash;
}

static void step_at_once(const uint64_t *expected)
{
    Worker worker[WORKERS];
    pthread_t thread[WORKERS];
    for (int k = 0; k < WORKERS; k++)
        worker[k] = make_worker(k);
    for (int k = 0; k < WORKERS; k++)
        REQUIRE(pthread_create(&thread[k], NULL, work, &worker[k]) == 0);
    for (int k = 0; k < WORKERS; k++) {
        pthread_join(thread[k], NULL);
        CHECK_INT(worker[k].status, TALUS_OK);
        CHECK(talus_world_hash(worker[k].world) == expected[k]);
        talus_world_destroy(worker[k].world);
    }
}

TEST(worlds_on_threads_run_as_if_alone)
{
    for (int b = 0; b < 3; b++) {
        uint64_t expected[WORKERS];
        if (!is_here(backends[b]))
            continue;
        for (int k = 0; k < WORKERS; k++)
            expected[k] = alone(k);
        for (int round = 0; round < ROUNDS; round++)
            step_at_once(expected);
    }
}

/* One thread, and the step of one world between two of another. */
TEST(worlds_step_in_turn)
{
    for (int b = 0; b < 3; b++) {
        Worker worker[WORKERS];
        if (!is_here(backends[b]))
            continue;
        for (int k = 0; k < WORKERS; k++) {
            worker[k] = make_worker(k);
            worker[k].steps = 1;
        }
        for (int i = 0; i < STEPS; i++)
            for (int k = 0; k < WORKERS; k++)
                work(&worker[k]);
        for (int k = 0; k < WORKERS; k++) {
            CHECK_INT(worker[k].status, TALUS_OK);
            CHECK(talus_world_hash(worker[k].world) == alone(k));
            talus_world_destroy(worker[k].world);
        }
    }
}

/* Worlds of two backends side by side in one process. */
TEST(backends_run_side_by_side)
{
    Worker worker[2];
    pthread_t thread;
    if (!is_here("cuda"))
        SKIP(talus_error());
    uint64_t there = alone(0);
    worker[0] = make_worker(0);
    is_here("cpu");
    uint64_t here = alone(0);
    worker[1] = make_worker(0);
    REQUIRE(pthread_create(&thread, NULL, work, &worker[0]) == 0);
    work(&worker[1]);
    pthread_join(thread, NULL);
    CHECK(talus_world_hash(worker[0].world) == there);
    CHECK(talus_world_hash(worker[1].world) == here);
    talus_world_destroy(worker[0].world);
    talus_world_destroy(worker[1].world);
}

/* ---- log lines ---- */

static void count_lines(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)level, (void)id, (void)text;
    ++*(int *)user;
}

/* Warns of the first step that misses its tolerance. */
static TalusWorld *make_hasty(void)
{
    TalusWorldDef def = quick_def(1);
    def.tolerance = 1e-9;
    def.max_iterations = 2;
    TalusWorld *world = make_world(&def);
    CHECK_OK(add_heap(world, 40));
    return world;
}

typedef struct Listener {
    TalusWorld *world;
    int lines;
} Listener;

static void *listen(void *user)
{
    Listener *listener = user;
    talus_set_log(count_lines, &listener->lines);
    run(listener->world, 30);
    return NULL;
}

TEST(a_world_warns_whom_it_was_told_to)
{
    int own = 0, threads = 0;
    is_here("cpu");
    TalusWorld *world = make_hasty(), *other = make_hasty();
    talus_set_log(count_lines, &threads);
    talus_world_set_log(world, count_lines, &own);
    run(world, 30);
    CHECK_INT(own, 1);
    CHECK_INT(threads, 0);
    run(other, 30);
    CHECK_INT(own, 1);
    CHECK_INT(threads, 1);
    talus_set_log(NULL, NULL);
    talus_world_destroy(world);
    talus_world_destroy(other);
}

TEST(a_thread_hears_its_own_worlds)
{
    Listener listener[2] = {{make_hasty(), 0}, {make_hasty(), 0}};
    int others = 0;
    pthread_t thread[2];
    talus_set_log(count_lines, &others);
    for (int k = 0; k < 2; k++)
        REQUIRE(pthread_create(&thread[k], NULL, listen, &listener[k]) == 0);
    for (int k = 0; k < 2; k++) {
        pthread_join(thread[k], NULL);
        CHECK_INT(listener[k].lines, 1);
        talus_world_destroy(listener[k].world);
    }
    CHECK_INT(others, 0);
    talus_set_log(NULL, NULL);
}

int main(void)
{
    RUN(worlds_on_threads_run_as_if_alone);
    RUN(worlds_step_in_turn);
    RUN(backends_run_side_by_side);
    RUN(a_world_warns_whom_it_was_told_to);
    RUN(a_thread_hears_its_own_worlds);
    return talus_test_result();
}
