/* Several ranks load a saved state together (world/save/loaded.c, io/run/checkpoint.c): each gets its part with the bits of one
 * rank, none ever has all bodies or contacts, and what is wrong with a state is an error of all ranks. */
#include "ranks_heap.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/rng.h"
#include "io/file/file.h"
#include "io/run/checkpoint.h"
#include "world/ids.h"
#include "world/save/save.h"
#include "world/state.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static const int ranks[] = {3};
enum { STEPS = 6, MANY = 20000, FLIPS = 20, FAILURES = 30 };
#else
static const int ranks[] = {2, 3, 5};
enum { STEPS = 12, MANY = 120000, FLIPS = 100, FAILURES = 150 };
#endif
enum { COUNTS = sizeof ranks / sizeof *ranks };

/* ---- a state that ranks load ---- */

/* Bytes that a source gives. */
typedef struct Reading {
    const Bytes *from;
    size_t at;
} Reading;

static TalusStatus get_bytes(void *context, void *bytes, size_t size)
{
    Reading *reading = context;
    CHECK(size <= reading->from->size - reading->at); /* nobody asks for more than there is */
    memcpy(bytes, (const char *)reading->from->data + reading->at, size);
    reading->at += size;
    return TALUS_OK;
}

static TalusStatus load_part(const Bytes *state, TalusComm *comm, TalusWorld **world)
{
    Reading reading = {.from = state};
    const TalusByteSource source = {get_bytes, &reading};
    const TalusLoadDef load = {.threads = 1, .comm = comm};
    const bool first = talus_comm_rank(comm) == 0; /* others have no bytes */
    return talus_world_load_from(first ? &source : NULL, first ? state->size : 0, &load, world);
}

/* Loads the whole state on every rank, and divides it. */
static TalusStatus load_whole(const Bytes *state, TalusComm *comm, TalusWorld **world)
{
    TALUS_TRY(talus_world_load(state->data, state->size, 1, NULL, world));
    return comm ? talus_world_divide(*world, comm) : TALUS_OK;
}

/* A run from a state: what is saved at once, what after some steps, and the hashes of the steps. */
typedef struct Run {
    bool whole; /* every rank loads the whole */
    Bytes start, begin, end;
    uint64_t hash[STEPS];
} Run;

static TalusStatus go_on(TalusComm *comm, void *context)
{
    Run *run = context;
    TalusWorld *world = NULL;
    Bytes begin = {0}, end = {0};
    TalusStatus status = (run->whole ? load_whole : load_part)(&run->start, comm, &world);
    TALUS_THEN(status, talus_world_save(world, &begin.data, &begin.size));
    for (int k = 0; status == TALUS_OK && k < STEPS; k++) {
        status = talus_world_step(world, NULL);
        const uint64_t hash = status == TALUS_OK ? talus_world_hash(world) : 0;
        if (talus_comm_rank(comm) == 0)
            run->hash[k] = hash;
    }
    TALUS_THEN(status, talus_world_save(world, &end.data, &end.size));
    if (talus_comm_rank(comm) == 0) {
        run->begin = begin;
        run->end = end;
    }
    talus_world_destroy(world);
    return status;
}

static void clear_run(Run *run)
{
    talus_free(run->begin.data);
    talus_free(run->end.data);
}

static void compare(const Run *run, const Run *with)
{
    is_same(&run->begin, &with->begin);
    is_same(&run->end, &with->end);
    CHECK(memcmp(run->hash, with->hash, sizeof run->hash) == 0);
}

/* Goes on from a state on one rank and on several. */
static void compare_with_one(const Bytes *start)
{
    Run one = {.start = *start};
    REQUIRE_OK(go_on(NULL, &one));
    is_same(&one.begin, start);
    for (int k = 0; k < COUNTS; k++) {
        Run parts = {.start = *start};
        CHECK_OK(talus_ranks_run(ranks[k], go_on, &parts));
        compare(&parts, &one);
        clear_run(&parts);
    }
    clear_run(&one);
}

/* Saves the heap after some steps. */
static Bytes save_heap(int steps)
{
    TalusWorld *world = NULL;
    Bytes state = {0};
    CHECK_OK(make_world(&world));
    CHECK_OK(run_steps(world, steps));
    if (steps > 20) /* the heap is what the test needs */
        CHECK(world->sleep.asleep > 0 && world->drives > 0 && world->filters.count > 3 &&
              world->forces.count > 0 && world->joints.count > 0 &&
              talus_world_contacts(world)->general > 100);
    CHECK_OK(talus_world_save(world, &state.data, &state.size));
    talus_world_destroy(world);
    return state;
}

TEST(ranks_go_on_with_the_bits_of_one)
{
    for (int steps = 0; steps <= 2 * STEPS; steps += 2 * STEPS) {
        const Bytes state = save_heap(steps);
        compare_with_one(&state);
        talus_free(state.data);
    }
}

/* Ranks without any body. */
TEST(few_bodies_are_enough)
{
    for (int bodies = 0; bodies < 3; bodies++) {
        TalusWorldDef def = talus_world_def_default();
        TalusShapeDef sphere = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.25};
        TalusBodyBatch batch = talus_body_batch_default();
        const TalusVec3 at[2] = {{0, 0, 0}, {0.1, 0, 0.49}};
        TalusWorld *world;
        Bytes state;
        def.threads = 1;
        REQUIRE_OK(talus_world_create(&def, &world));
        CHECK_OK(talus_world_add_shape(world, &sphere, &batch.shape));
        batch.position = at;
        batch.count = bodies;
        if (bodies > 0)
            CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
        CHECK_OK(talus_world_step(world, NULL));
        REQUIRE_OK(talus_world_save(world, &state.data, &state.size));
        compare_with_one(&state);
        talus_free(state.data);
        talus_world_destroy(world);
    }
}

/* Bodies and contacts are in the order of slots, some of them dead, and ids are given by generations. One rank drops impulses
 * of slots that were used again, since it wants contacts in order; several sort them. */
TEST(states_of_earlier_versions_go_on_the_same)
{
    static const int versions[] = {5, 6, 7, 9};
    for (int i = 0; i < 4; i++) {
        char path[512], *bytes;
        Bytes state;
        const char *source = getenv("TALUS_SOURCE_DIR");
        snprintf(path, sizeof path, "%s/tests/states/version-%d.state", source ? source : ".",
                 versions[i]);
        REQUIRE_OK(talus_read_file(path, SIZE_MAX - 1, &bytes, &state.size));
        state.data = bytes;
        for (int k = 0; k < COUNTS; k++) {
            Run parts = {.start = state}, whole = {.whole = true, .start = state};
            CHECK_OK(talus_ranks_run(ranks[k], go_on, &parts));
            CHECK_OK(talus_ranks_run(ranks[k], go_on, &whole));
            compare(&parts, &whole);
            clear_run(&parts);
            clear_run(&whole);
        }
        talus_release(bytes);
    }
}

/* ---- checkpoints ---- */

typedef struct Checkpoint {
    const char *dir;
    int64_t steps;      /* of the world that was read */
    int warnings;       /* of rank 0 */
    char said[1024];    /* the error */
    TalusStatus status; /* of rank 0 */
} Checkpoint;

static void count_warning(void *user, TalusLogLevel level, const char *id, const char *text)
{
    Checkpoint *c = user;
    (void)text;
    c->warnings += level == TALUS_LOG_WARNING && strcmp(id, "checkpoint.damaged") == 0;
}

static TalusStatus read_part(TalusComm *comm, void *context)
{
    Checkpoint *c = context;
    TalusWorld *world;
    char *note;
    const bool first = talus_comm_rank(comm) == 0;
    talus_set_log(first ? count_warning : NULL, c);
    /* the directory is rank 0's */
    const TalusStatus status =
        talus_checkpoint_read_part(first ? c->dir : "elsewhere", comm, 1, NULL, &world, &note);
    talus_set_log(NULL, NULL);
    CHECK((status == TALUS_OK) == (world != NULL && note != NULL));
    if (first) {
        c->status = status;
        c->steps = world ? talus_world_steps(world) : -1;
        snprintf(c->said, sizeof c->said, "%s", status == TALUS_OK ? "" : talus_error());
    } else if (status != TALUS_OK) {
        CHECK(talus_error()[0] != '\0');
    }
    if (note)
        CHECK_STR(note, "of all ranks");
    CHECK(!world || talus_world_step(world, NULL) == TALUS_OK);
    talus_world_destroy(world);
    talus_free(note);
    return TALUS_OK;
}

static Checkpoint read_on_three(const char *dir)
{
    Checkpoint c = {.dir = dir};
    CHECK_OK(talus_ranks_run(3, read_part, &c));
    return c;
}

/* Two checkpoints in a directory: a at step 1, b at step 2. */
static void make_pair(const char *dir)
{
    TalusWorld *world;
    char path[256];
    REQUIRE_OK(make_world(&world));
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, i ? TALUS_CHECKPOINT_B : TALUS_CHECKPOINT_A);
        unlink(path);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_OK(talus_world_step(world, NULL));
        CHECK_OK(talus_checkpoint_write(dir, world, "of all ranks"));
    }
    talus_world_destroy(world);
}

/* Flips one bit; a negative place counts from the end. */
static void flip(const char *path, long place)
{
    FILE *file = fopen(path, "r+b");
    const int whence = place < 0 ? SEEK_END : SEEK_SET;
    fseek(file, place, whence);
    const int c = fgetc(file);
    fseek(file, place, whence);
    fputc(c ^ 0x10, file);
    fclose(file);
}

TEST(a_damaged_checkpoint_is_passed_over_by_all_ranks)
{
    static const long places[] = {3, 8, 16, 70, 90, 40000, -9, -1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        make_pair("flipped");
        flip("flipped/" TALUS_CHECKPOINT_B, places[i]);
        const Checkpoint c = read_on_three("flipped");
        CHECK(c.steps == 1 && c.warnings == 1);
    }
    make_pair("flipped");
    CHECK(read_on_three("flipped").steps == 2);
    flip("flipped/" TALUS_CHECKPOINT_A, 5000); /* the older one: still worth a warning */
    const Checkpoint c = read_on_three("flipped");
    CHECK(c.steps == 2 && c.warnings == 1);
}

TEST(without_a_sound_checkpoint_all_ranks_fail)
{
    make_pair("bad");
    flip("bad/" TALUS_CHECKPOINT_A, -1);
    CHECK(truncate("bad/" TALUS_CHECKPOINT_B, 20000) == 0);
    Checkpoint c = read_on_three("bad");
    CHECK(c.status == TALUS_ERR_FORMAT && c.steps == -1);
    CHECK(strstr(c.said, "bad/" TALUS_CHECKPOINT_A ": damaged: the content does not match its "
                         "checksum") != NULL);
    CHECK(strstr(c.said, "bad/" TALUS_CHECKPOINT_B ": truncated: 19920 bytes") != NULL);
    unlink("bad/" TALUS_CHECKPOINT_A);
    unlink("bad/" TALUS_CHECKPOINT_B);
    c = read_on_three("bad");
    CHECK_STR(c.said, "bad: holds neither " TALUS_CHECKPOINT_A " nor " TALUS_CHECKPOINT_B);
    c = read_on_three("nowhere");
    CHECK_STR(c.said, "nowhere: there is no such directory");
}

/* ---- states that contradict themselves ---- */

/* Gives changed bytes the size and the hash that they must have. */
static void sign(const Bytes *state)
{
    unsigned char *bytes = state->data;
    uint64_t total = state->size, hash;
    memcpy(bytes + 16, &total, sizeof total);
    hash = talus_hash(TALUS_HASH_SEED, bytes, state->size - sizeof hash);
    memcpy(bytes + state->size - sizeof hash, &hash, sizeof hash);
}

/* What ranks make of a state. */
typedef struct Trial {
    Bytes state;
    long fail_in; /* number of the allocation that fails on some rank; 0: none */
    bool accepted;
    TalusStatus status[3];
    char said[3][512];
} Trial;

static TalusStatus try_state(TalusComm *comm, void *context)
{
    Trial *trial = context;
    TalusWorld *world;
    const int rank = talus_comm_rank(comm);
    TALUS_TRY(talus_comm_agree(comm, TALUS_OK)); /* all have been started */
    if (rank == 0)
        talus_fail_allocation_in(trial->fail_in);
    const TalusStatus status = load_part(&trial->state, comm, &world);
    if (rank == 0)
        talus_fail_allocation_in(0);
    trial->status[rank] = status;
    snprintf(trial->said[rank], sizeof trial->said[rank], "%s",
             status == TALUS_OK ? "" : talus_error());
    CHECK((status == TALUS_OK) == (world != NULL));
    if (world && trial->fail_in == 0)
        (void)talus_world_step(world, NULL); /* what is accepted can be stepped */
    talus_world_destroy(world);
    return TALUS_OK;
}

/* Tries a state on three ranks: all of them take it or all fail. */
static void try_on_three(Trial *trial)
{
    CHECK_OK(talus_ranks_run(3, try_state, trial));
    const TalusStatus *status = trial->status;
    const int taken = (status[0] == TALUS_OK) + (status[1] == TALUS_OK) + (status[2] == TALUS_OK);
    CHECK(taken == 0 || taken == 3);
    trial->accepted = taken == 3;
}

/* True if some rank has given this reason. */
static bool is_said(const Trial *trial, const char *text)
{
    return strstr(trial->said[0], text) || strstr(trial->said[1], text) ||
           strstr(trial->said[2], text);
}

TEST(damaged_states_are_refused_by_all_ranks_and_never_harm)
{
    const Bytes state = save_heap(2 * STEPS);
    TalusRng rng = talus_rng_from_seed(1);
    int accepted = 0;
    for (int k = 0; k < FLIPS; k++) {
        Trial trial = {.state = {malloc(state.size), state.size}};
        unsigned char *bytes = trial.state.data;
        memcpy(bytes, state.data, state.size);
        bytes[talus_rng_below(&rng, k % 2 ? state.size : 2000)] ^=
            (unsigned char)(1u << talus_rng_below(&rng, 8));
        if (k % 4 == 0) {
            try_on_three(&trial);
            CHECK(!trial.accepted);
        }
        sign(&trial.state);
        try_on_three(&trial);
        accepted += trial.accepted;
        for (int r = 0; r < 3; r++)
            CHECK(trial.accepted || trial.status[r] == TALUS_ERR_FORMAT ||
                  trial.status[r] == TALUS_ERR_CANCELLED);
        free(bytes);
    }
    CHECK(accepted > FLIPS / 10);
    for (size_t cut = 0; cut < state.size; cut += cut < 40 ? 5 : state.size / 12) {
        Trial trial = {.state = {state.data, cut}};
        try_on_three(&trial);
        CHECK(!trial.accepted && is_said(&trial, "saved state, byte "));
    }
    talus_free(state.data);
}

/* Ids that contradict each other across pieces: no rank sees it before bodies are dealt. */
TEST(two_bodies_with_one_id_are_refused)
{
    TalusWorld *world;
    Trial trial = {.fail_in = 0};
    REQUIRE_OK(make_world(&world));
    world->bodies.id[10] = world->bodies.id[800];
    REQUIRE_OK(talus_world_save(world, &trial.state.data, &trial.state.size));
    try_on_three(&trial);
    CHECK(!trial.accepted && is_said(&trial, "two bodies have the id"));
    talus_free(trial.state.data);
    talus_world_destroy(world);
}

/* One allocation after the other fails on some rank. */
TEST(without_memory_on_one_rank_all_fail)
{
    Trial trial = {.state = save_heap(2 * STEPS)};
    int failed = 0;
    for (int k = 0; k < FAILURES; k++) {
        trial.fail_in = 1 + 3 * k;
        try_on_three(&trial);
        failed += !trial.accepted;
        for (int r = 0; r < 3; r++)
            CHECK(trial.accepted || trial.status[r] == TALUS_ERR_MEMORY ||
                  trial.status[r] == TALUS_ERR_CANCELLED);
    }
    CHECK(failed > FAILURES / 4);
    trial.fail_in = 0;
    try_on_three(&trial);
    CHECK(trial.accepted);
    talus_free(trial.state.data);
}

/* ---- memory ---- */

static TalusStatus load_and_drop(TalusComm *comm, void *context)
{
    const Run *run = context;
    TalusWorld *world = NULL;
    const TalusStatus status = (run->whole ? load_whole : load_part)(&run->start, comm, &world);
    talus_world_destroy(world);
    return status;
}

/* Returns the peak of the memory of all ranks together, which are threads of this process. */
static size_t measure_peak(int count, Run run)
{
    talus_memory_reset_peak();
    const size_t before = talus_memory_now();
    CHECK_OK(talus_ranks_run(count, load_and_drop, &run));
    return talus_memory_peak() - before;
}

/* A bed of spheres that touch, after a step. */
static Bytes save_bed(void)
{
    char text[512];
    TalusSceneChoice choice = {.threads = 1};
    TalusScene *scene;
    TalusWorld *world = NULL;
    Bytes state = {0};
    snprintf(
        text, sizeof text,
        "{\"bodies\": [{\"shape\": {\"kind\": \"plane\"}, \"at\": [0, 0, 0]}, {\"radius\": 0.05,"
        " \"density\": 2000, \"count\": %d, \"lattice\": {\"lo\": [0, 0, 0], \"cells\": [40, 40, 0],"
        " \"spacing\": 0.1}}], \"max_overlap\": 1}",
        MANY);
    CHECK_OK(talus_scene_parse(text, strlen(text), "bed", NULL, 0, &scene));
    CHECK_OK(talus_scene_build(scene, &choice, &world));
    talus_scene_destroy(scene);
    CHECK_OK(talus_world_step(world, NULL));
    CHECK(talus_world_contacts(world)->count > 2 * MANY);
    CHECK_OK(talus_world_save(world, &state.data, &state.size));
    talus_world_destroy(world);
    return state;
}

/* Eight ranks take together little more than two. If each had an array of vectors of all bodies they would take more than
 * this test allows, and with whole worlds several times as much. */
TEST(no_rank_has_the_whole_state)
{
    const Bytes state = save_bed();
    const size_t two = measure_peak(2, (Run){.start = state});
    const size_t eight = measure_peak(8, (Run){.start = state});
    const size_t whole = measure_peak(8, (Run){.whole = true, .start = state});
    printf("# a state of %d bodies and %.1f MB: 2 ranks take %.1f MB together, 8 take %.1f MB, "
           "with whole worlds %.1f MB\n",
           MANY, 1e-6 * (double)state.size, 1e-6 * (double)two, 1e-6 * (double)eight,
           1e-6 * (double)whole);
    if (MANY > 100000) /* of fewer, what does not grow with them is too large a part */
        CHECK(5 * eight < 6 * two);
    CHECK(whole > 2 * eight);
    talus_free(state.data);
}

int main(void)
{
    RUN(no_rank_has_the_whole_state);
    RUN(ranks_go_on_with_the_bits_of_one);
    RUN(few_bodies_are_enough);
    RUN(states_of_earlier_versions_go_on_the_same);
    RUN(a_damaged_checkpoint_is_passed_over_by_all_ranks);
    RUN(without_a_sound_checkpoint_all_ranks_fail);
    RUN(damaged_states_are_refused_by_all_ranks_and_never_harm);
    RUN(two_bodies_with_one_id_are_refused);
    RUN(without_memory_on_one_rank_all_fail);
    return talus_test_result();
}
