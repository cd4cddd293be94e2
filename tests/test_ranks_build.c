/* Scenes built by several ranks together (TalusSceneChoice.comm): the bits, the warnings and the errors are those of one
 * rank, and no array is as long as the scene. */
#include "base/memory.h"
#include "support/scene_text.h"
#include "support/test.h"
#include "world/state.h"

#include "world/source/generate.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/comm.h>
#include <talus/io.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static const int numbers[] = {1, 3};
enum { STEPS = 1 };
#else
static const int numbers[] = {1, 2, 3, 5};
enum { STEPS = 3 };
#endif
enum { RUNS = sizeof numbers / sizeof *numbers, MOST_RANKS = 5, MOST_SET = 6, TOLD = 4096 };

/* A scene, and what came of it on some number of ranks. */
typedef struct Case {
    const char *path, *text; /* a file, or else the text with ' for " */
    const char *set[MOST_SET];
    int steps;
    /* results, of rank 0: */
    uint64_t hash[STEPS + 1]; /* [0]: of the start */
    void *start;              /* bytes of the saved world, before the first step */
    size_t start_bytes;
    /* of each rank: status, warnings and the error */
    TalusStatus status[MOST_RANKS];
    char told[MOST_RANKS][TOLD];
} Case;

static void enter(const char *folder)
{
    const char *root = getenv("TALUS_SOURCE_DIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root ? root : ".", folder);
    CHECK(chdir(path) == 0);
}

/* A log: appends warnings to the text. */
static void note(void *user, TalusLogLevel level, const char *id, const char *text)
{
    char *told = user;
    const size_t used = strlen(told);
    if (level == TALUS_LOG_WARNING)
        snprintf(told + used, TOLD - used, "%s %s\n", id, text);
}

static int count_set(const Case *c)
{
    int count = 0;
    while (count < MOST_SET && c->set[count])
        count++;
    return count;
}

static TalusStatus load(const Case *c, TalusScene **scene)
{
    if (c->path)
        return talus_scene_load(c->path, c->set, count_set(c), scene);
    return parse_scene_text(c->text, c->set, count_set(c), scene);
}

/* Builds the world and writes warnings and the error to `told`. */
static TalusStatus build(const Case *c, TalusComm *comm, char *told, TalusWorld **world)
{
    const TalusSceneChoice choice = {.solver = "apgd", .threads = 1, .comm = comm};
    TalusScene *scene = NULL;
    *world = NULL;
    talus_set_log(note, told);
    TalusStatus status = load(c, &scene);
    if (status == TALUS_OK)
        status = talus_scene_build(scene, &choice, world);
    talus_set_log(NULL, NULL);
    const size_t used = strlen(told);
    if (status != TALUS_OK)
        snprintf(told + used, TOLD - used, "%s\n", talus_error());
    talus_scene_destroy(scene);
    return status;
}

/* Saves the world, on rank 0. */
static TalusStatus save(TalusWorld *world, TalusComm *comm, Case *c)
{
    TalusWorld *whole = NULL;
    if (talus_comm_size(comm) == 1)
        return talus_world_save(world, &c->start, &c->start_bytes);
    TalusStatus status = talus_world_gather(world, &whole);
    if (whole)
        status = talus_world_save(whole, &c->start, &c->start_bytes);
    talus_world_destroy(whole);
    return status;
}

static TalusStatus run_rank(TalusComm *comm, void *context)
{
    Case *c = context;
    TalusWorld *world;
    const int rank = talus_comm_rank(comm);
    const bool first = rank == 0;
    TalusStatus status = c->status[rank] = build(c, comm, c->told[rank], &world);
    for (int k = 0; status == TALUS_OK && k <= c->steps; k++) {
        status = k > 0 ? talus_world_step(world, NULL) : TALUS_OK;
        const uint64_t hash = status == TALUS_OK ? talus_world_hash(world) : 0;
        if (first)
            c->hash[k] = hash;
        if (k == 0)
            status = save(world, comm, c);
    }
    talus_world_destroy(world);
    return status;
}

/* Returns the first rank that has not failed for another's sake. */
static int find_speaker(const Case *c)
{
    int rank = 0;
    while (rank + 1 < MOST_RANKS && c->status[rank] == TALUS_ERR_CANCELLED)
        rank++;
    return rank;
}

/* True if all ranks were told the same, but for those that have failed for another's sake. */
static bool same_words(const Case *c, int ranks)
{
    const char *told = c->told[find_speaker(c)];
    bool same = true;
    for (int r = 0; r < ranks; r++)
        same &= c->status[r] == TALUS_ERR_CANCELLED || CHECK_STR(c->told[r], told);
    return same;
}

/* True if two numbers of ranks have made the same. */
static bool same_results(const Case *a, const Case *b)
{
    bool same = CHECK(memcmp(a->hash, b->hash, sizeof a->hash) == 0);
    same &= CHECK_STR(a->told[find_speaker(a)], b->told[0]);
    same &= CHECK_INT(a->start_bytes, b->start_bytes);
    return same && CHECK(a->start_bytes == 0 || memcmp(a->start, b->start, a->start_bytes) == 0);
}

/* Runs a case on all numbers of ranks. fails: building fails. Returns what one rank was told, valid until the next call. */
static const char *compare(const Case *of, bool fails)
{
    static char told[TOLD];
    Case *c = calloc(RUNS, sizeof *c);
    for (int k = 0; k < RUNS; k++) {
        c[k] = *of;
        TalusStatus status = talus_ranks_run(numbers[k], run_rank, &c[k]);
        bool good = CHECK((status == TALUS_OK) == !fails);
        if (!(good && same_words(&c[k], numbers[k]) && same_results(&c[k], &c[0])))
            printf("# %s on %d ranks: %s\n", of->path ? of->path : of->text, numbers[k],
                   c[k].told[find_speaker(&c[k])]);
    }
    memcpy(told, c[0].told[0], sizeof told);
    for (int k = 0; k < RUNS; k++)
        talus_free(c[k].start);
    free(c);
    return told;
}

/* ---- bits ---- */

TEST(shipped_scenes_have_the_bits_of_one_rank)
{
    static const Case cases[] = {
        {.path = "settle-box.json", .set = {"bodies=1200"}, .steps = STEPS},
        {.path = "settle-cylinder.json", .set = {"bodies=900"}, .steps = STEPS},
        {.path = "silo.json", .set = {"bodies=2400", "pause=0.008"}, .steps = STEPS},
        {.path = "brick-wall.json", .set = {"strike=0.004"}, .steps = STEPS},
        {.path = "impact.json", .set = {"bodies=900", "arrival=1e-3"}, .steps = STEPS},
        {.path = "tablet-drum.json", .set = {"bodies=600"}, .steps = STEPS},
        {.path = "mesh-silo.json", .set = {"bodies=700"}, .steps = STEPS},
        {.path = "ball-mill.json", .steps = STEPS},
        {.path = "rubble-slope.json", .set = {"rocks=300"}, .steps = STEPS},
        {.path = "rover.json",
         .set = {"rocks=700", "depth=0.12", "width=1.8", "settle=0.02"},
         .steps = STEPS},
        {.path = "chain-bridge.json", .steps = STEPS},
        {.path = "hourglass.json", .set = {"bodies=600"}, .steps = STEPS},
    };
    enter("scenes");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        compare(&cases[k], false);
}

/* Emitters and sinks, points in the scene and in a file, driven and delayed bodies, probes, groups apart. */
static const char mixture[] =
    "{'step': 0.004, 'solver': {'name': 'apgd', 'tolerance': 1e-3},"
    " 'shapes': {'brick': {'kind': 'box', 'half': [0.06, 0.05, 0.04]}, 'wall': {'kind': 'plane'}},"
    " 'bodies': [{'name': 'floor', 'shape': 'wall', 'at': [0, 0, 0]},"
    "  {'radius': {'min': 0.03, 'max': 0.05}, 'density': 2000, 'count': 700, 'velocity': [0.3, 0, -2], 'force': [0, 0.5, 0],"
    "   'lattice': {'lo': [-0.6, -0.6, 0], 'cells': [11, 11, 0], 'spacing': 0.11, 'jitter': 0.9}},"
    "  {'shape': 'brick', 'density': 2000, 'count': 300, 'velocity': [0, 0, -3], 'spin': [1, 2, 3], 'orientation': 'random',"
    "   'lattice': {'lo': [-0.8, -0.8, 0.8], 'cells': [8, 8, 0], 'spacing': 0.2, 'jitter': 0.5}},"
    "  {'name': 'bob', 'shape': 'brick', 'density': 900, 'at': [0, 0, 3]},"
    "  {'name': 'blade', 'shape': 'brick', 'at': [0.8, 0, 0.3], 'drive': {'velocity': [-1, 0, 0]}},"
    "  {'radius': 0.04, 'density': 900, 'at': [[2, 2, 1], [2, 2.2, 1], [2, 2.4, 1]], 'group': 'ghosts'},"
    "  {'radius': 0.04, 'density': 900, 'time': 0.006, 'count': 500, 'group': 'ghosts',"
    "   'layers': {'bottom': [0, 0, 4], 'radius': 0.5, 'jitter': 1}}],"
    " 'joints': [{'type': 'ball', 'bodies': ['bob'], 'at': [0.3, 0, 3]}],"
    " 'apart': [{'between': ['ghosts', 'ghosts']}],"
    " 'probes': [{'name': 'floor', 'body': 'floor'}, {'name': 'room', 'region': {'lo': [-1, -1, 0], 'hi': [1, 1, 1]}}],"
    " 'emitters': [{'lo': [-0.4, -0.4, 5], 'hi': [0.4, 0.4, 6], 'rate': 5000, 'count': 300, 'radius': {'min': 0.02, 'max': 0.04}}],"
    " 'sinks': [{'axis': 'z', 'below': 0.05}]}";

TEST(a_mixture_has_the_bits_of_one_rank)
{
    const Case of = {.text = mixture, .steps = STEPS};
    compare(&of, false);
}

/* Species of spheres and boxes by mass, scaled rocks, an emitter of two species, under a seed. */
TEST(species_have_the_bits_of_one_rank)
{
    static const char text[] =
        "{'step': 0.004, 'seed': 3, 'solver': {'name': 'apgd', 'tolerance': 1e-3},"
        " 'materials': {'glass': {'density': 2500}, 'lead': {'density': 11000}},"
        " 'bodies': [{'shape': {'kind': 'plane'}, 'at': [0, 0, 0]},"
        "  {'count': 900, 'velocity': [0, 0, -2], 'species': ["
        "    {'fraction': 0.6, 'radius': {'kind': 'rosin-rammler', 'scale': 0.04, 'exponent': 4}},"
        "    {'fraction': 0.3, 'radius': 0.04, 'material': 'lead'},"
        "    {'fraction': 0.1, 'shape': {'kind': 'box', 'half': [0.03, 0.03, 0.02]}}],"
        "   'lattice': {'lo': [-0.6, -0.6, 0], 'cells': [10, 10, 0], 'spacing': 0.14, 'jitter': 0.9}},"
        "  {'count': 200, 'orientation': 'random', 'lattice': {'lo': [2, 2, 0], 'cells': [5, 5, 0]},"
        "   'shape': {'kind': 'rock', 'radius': 0.05, 'forms': 5, 'scale': {'mean': 1, 'spread': 0.5}}}],"
        " 'emitters': [{'lo': [-3, -3, 1], 'hi': [-2, -2, 2], 'rate': 5000, 'count': 300, 'species': ["
        "    {'fraction': 0.5, 'radius': 0.02}, {'fraction': 0.5, 'radius': {'mean': 0.03, 'spread': 0.2}}]}]}";
    const Case of = {.text = text, .steps = STEPS};
    compare(&of, false);
}

TEST(copies_have_the_bits_of_one_rank)
{
    static const char text[] =
        "{'copies': 3, 'step': 0.004, 'solver': {'name': 'apgd', 'tolerance': 1e-3},"
        " 'materials': {'m': {'friction': '=0.1*(1 + copy)'}},"
        " 'bodies': [{'name': 'floor', 'shape': {'kind': 'plane'}, 'at': [0, 0, 0]},"
        "  {'radius': '=0.05 - 0.005*copy', 'density': 2000, 'count': 400, 'velocity': [0.3, 0, -2],"
        "   'lattice': {'lo': [-0.6, -0.6, 0], 'cells': [11, 11, 0], 'spacing': 0.11, 'jitter': 0.9}},"
        "  {'name': 'bob', 'radius': 0.05, 'density': 900, 'at': [0, 0, 3]}],"
        " 'joints': [{'name': 'rope', 'type': 'ball', 'bodies': ['bob'], 'at': [0.3, 0, 3]}],"
        " 'probes': [{'name': 'floor', 'body': 'floor'}]}";
    const Case of = {.text = text, .steps = STEPS};
    compare(&of, false);
}

/* ---- words ---- */

/* Calls fn for each scene of a folder; returns their number. */
static int each(const char *folder, void (*fn)(const char *name))
{
    struct dirent **entries;
    enter(folder);
    int n = scandir(".", &entries, NULL, alphasort), count = 0;
    for (int i = 0; i < n; i++) {
        const char *dot = strrchr(entries[i]->d_name, '.');
        if (dot && strcmp(dot, ".json") == 0) {
            fn(entries[i]->d_name);
            count++;
        }
        free(entries[i]);
    }
    free(entries);
    return count;
}

static void compare_odd(const char *name)
{
    const Case of = {.path = name};
    CHECK(compare(&of, false)[0] != '\0');
}

static void compare_bad(const char *name)
{
    const Case of = {.path = name};
    if (strncmp(name, "set-", 4) != 0) /* those are sound without --set */
        CHECK(compare(&of, true)[0] != '\0');
}

TEST(odd_and_bad_scenes_have_the_words_of_one_rank)
{
    CHECK(each("tests/odd_scenes", compare_odd) >= 15);
    CHECK(each("tests/bad_scenes", compare_bad) >= 60);
}

/* Entries of several blocks of numbers, so that the bodies of one message belong to several ranks. */
#define FLOOR_AND_GRAINS                                                                         \
    "{'step': 0.004, 'bodies': [{'name': 'floor', 'shape': {'kind': 'plane'}, 'at': [0, 0, 0]}," \
    " {'name': 'grains', 'radius': 0.05, 'density': 2000, 'count': 1500,"                        \
    "  'lattice': {'lo': [-0.6, -0.6, 0], 'cells': [11, 11, 0], 'spacing': 0.11}},"              \
    " {'name': 'bed', 'radius': 0.05, 'fixed': true, 'count': 1200,"                             \
    "  'lattice': {'lo': [4, 4, 0], 'cells': [11, 11, 0], 'spacing': 0.11}},"

TEST(bodies_of_several_ranks_have_the_words_of_one)
{
    static const Case deep = {
        .text = FLOOR_AND_GRAINS
        " {'name': 'late', 'radius': 0.05, 'density': 2000, 'at': [0.03, 0.02, 1.2]}]}"};
    static const Case slight = {
        .text = FLOOR_AND_GRAINS
        " {'name': 'late', 'radius': 0.05, 'density': 2000, 'at': [[0.005, 0.005, 1.355], [0, 9, 0.03], [1, 9, 0.03]]}],"
        " 'max_overlap': 1.9}"};
    static const Case arrival = {
        .text = FLOOR_AND_GRAINS
        " {'name': 'late', 'radius': 0.05, 'density': 2000, 'time': 1, 'count': 700,"
        "  'lattice': {'lo': [4.4, 4.4, 1.06], 'cells': [7, 7, 0], 'spacing': 0.15}}], 'max_overlap': 1.9}"};
    static const Case odd = {
        .text = FLOOR_AND_GRAINS
        " {'name': 'pebble', 'radius': 0.0002, 'density': 2000, 'at': [0, 0, 3], 'velocity': [900, 0, 0]},"
        " {'name': 'moon', 'radius': 45, 'density': 9e6, 'at': [0, 300, 46]},"
        " {'name': 'twin', 'radius': 45, 'density': 9e6, 'at': [0, 600, 46]},"
        " {'name': 'cube', 'shape': {'kind': 'mesh', 'file': 'cube.obj'}, 'at': [-100, 0, 100]}],"
        " 'joints': [{'type': 'ball', 'bodies': ['pebble'], 'at': [0, 0, 4]}]}"};
    static const Case emitter = {
        .text = FLOOR_AND_GRAINS
        " {'name': 'top', 'radius': 0.05, 'density': 2000, 'at': [0, 0, 3]}],"
        " 'emitters': [{'lo': [4.1, 4.1, 0.1], 'hi': [5.1, 5.1, 0.9], 'rate': 5, 'count': 3, 'radius': 0.05}]}"};
    enter("tests/bad_scenes");
    CHECK(strstr(compare(&deep, true), "sphere \"late\" ") != NULL);
    CHECK(strstr(compare(&slight, false), "sphere \"late\" 1 at") != NULL);
    CHECK(strstr(compare(&arrival, false), "when it arrives at t = 1 s") != NULL);
    const char *told = compare(&odd, false);
    CHECK(strstr(told, "scene.sizes") && strstr(told, "\"pebble\"") && strstr(told, "\"moon\""));
    CHECK(strstr(told, "scene.masses") && strstr(told, "scene.speed"));
    CHECK(strstr(told, "scene.step") && strstr(told, "scene.joint"));
    CHECK(strstr(compare(&emitter, false), "of 64 random ones none is free") != NULL);
}

TEST(lost_bodies_of_several_ranks_have_the_words_of_one)
{
    static const Case of = {
        .text =
            "{'bodies': [{'name': 'ground', 'shape': {'kind': 'box', 'half': [1, 1, 0.1]}, 'fixed': true,"
            "  'at': [0, 0, -0.1]},"
            " {'name': 'grains', 'radius': 0.05, 'density': 2000, 'count': 1500,"
            "  'lattice': {'lo': [-0.6, -0.6, 0], 'cells': [11, 11, 0], 'spacing': 0.11}},"
            " {'name': 'lost', 'radius': 0.05, 'density': 2000, 'count': 700,"
            "  'lattice': {'lo': [5, 5, 0], 'cells': [11, 11, 0], 'spacing': 0.11}}]}"};
    CHECK(strstr(compare(&of, false), "\"lost\" 0 at") != NULL);
}

/* A rank that lacks a file fails, and so do all. */
static TalusStatus build_without_file(TalusComm *comm, void *context)
{
    (void)context;
    const Case c = {
        .text = talus_comm_rank(comm) == 1
                    ? "{'bodies': [{'radius': 0.5, 'density': 1, 'file': 'no-such-file.txt'}]}"
                    : "{'bodies': [{'radius': 0.5, 'density': 1, 'file': 'points.txt'}]}"};
    char told[TOLD] = "";
    TalusWorld *world;
    TalusStatus status = build(&c, comm, told, &world);
    CHECK(status == (talus_comm_rank(comm) == 1 ? TALUS_ERR_IO : TALUS_ERR_CANCELLED));
    CHECK(world == NULL);
    return TALUS_OK;
}

TEST(a_file_that_one_rank_lacks_ends_all)
{
    enter("tests/bad_scenes");
    CHECK_OK(talus_ranks_run(3, build_without_file, NULL));
}

/* ---- pieces ---- */

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { MANY = 17000 };
#else
enum { MANY = 40000 };
#endif

/* An entry of several pieces, added by talus_world_add_bodies as one batch, gives the same bytes. */
TEST(pieces_have_the_bits_of_one_batch)
{
    char text[512], override[32], told[TOLD] = "";
    const Case of = {.text = text, .set = {override}};
    Case pieces = {0}, batch = {0};
    TalusWorld *world;
    snprintf(override, sizeof override, "params.n=%d", MANY);
    snprintf(
        text, sizeof text,
        "{'params': {'n': 1}, 'bodies': [{'radius': {'min': 0.03, 'max': 0.05}, 'density': 2000, 'count': '=n', 'velocity': [1, 2, 3],"
        " 'seed': 7, 'lattice': {'lo': [0, 0, 0], 'cells': [30, 30, 0], 'spacing': 0.11, 'jitter': 0.5}}]}");
    REQUIRE_OK(build(&of, NULL, told, &world));
    CHECK_OK(save(world, NULL, &pieces));
    talus_world_destroy(world);

    snprintf(override, sizeof override, "params.n=1");
    REQUIRE_OK(build(&of, NULL, told, &world));
    TalusVec3 *x = malloc(MANY * sizeof *x), *v = malloc(MANY * sizeof *v);
    double *r = malloc(MANY * sizeof *r);
    const TalusLattice lattice = {.spacing = {0.11, 0.11, 0.11},
                                  .half = {0.05, 0.05, 0.05},
                                  .cells = {30, 30, MANY},
                                  .jitter = 0.5,
                                  .seed = 7};
    talus_generate_lattice(&lattice, 0, MANY, x);
    TalusSizeDef sizes = talus_size_def_default();
    sizes.min = 0.03;
    sizes.max = 0.05;
    REQUIRE_OK(talus_sizes_draw(&sizes, 7 ^ UINT64_C(0x73697a6573), 0, MANY, r));
    for (int i = 0; i < MANY; i++)
        v[i] = (TalusVec3){1, 2, 3};
    TalusBodyBatch all = talus_body_batch_default();
    all.shape = world->bodies.shape[0];
    all.density = 2000;
    all.count = MANY;
    all.position = x;
    all.velocity = v;
    all.radius = r;
    /* the one body of the scene goes, with its number and energies */
    world->bodies.counts = (TalusBodyCounts){0};
    world->exchange_kinetic = world->exchange_potential = 0.0;
    CHECK_OK(talus_world_add_bodies(world, &all, NULL));
    CHECK_OK(save(world, NULL, &batch));
    CHECK_INT(pieces.start_bytes, batch.start_bytes);
    CHECK(pieces.start_bytes == batch.start_bytes &&
          memcmp(pieces.start, batch.start, batch.start_bytes) == 0);
    talus_world_destroy(world);
    talus_free(pieces.start);
    talus_free(batch.start);
    free(x);
    free(v);
    free(r);
}

/* Forms of rocks and bricks, random orientations, circles: bodies of several pieces, form by form. */
TEST(many_bodies_have_the_bits_of_one_rank)
{
    char text[1024];
    const Case of = {.text = text};
    snprintf(
        text, sizeof text,
        "{'shapes': {'rock': {'kind': 'rock', 'radius': 0.05, 'forms': 3}, 'brick': {'kind': 'box', 'half': [0.05, 0.04, 0.03]}},"
        " 'bodies': [{'shape': {'kind': 'plane'}, 'at': [0, 0, 0]},"
        "  {'shapes': ['rock', 'brick'], 'density': 2000, 'count': %d, 'orientation': 'random', 'velocity': [0.1, 0, -1],"
        "   'layers': {'radius': 3, 'jitter': 0.8}},"
        "  {'radius': {'min': 0.02, 'max': 0.04}, 'density': 2000, 'count': %d, 'spin': [1, 0, 0],"
        "   'lattice': {'lo': [-3, -3, -40], 'cells': [50, 50, 0], 'spacing': 0.1, 'jitter': 0.8}}],"
        " 'max_overlap': 1e9}",
        MANY, MANY);
    compare(&of, false);
}

/* ---- memory ---- */

/* Returns the peak, since the start of the process, of the memory of bodies before a world has them. */
static size_t peak_of_pieces(void)
{
    TalusMemoryUse use[256];
    const int count = talus_memory_uses(use, 256);
    for (int k = 0; k < count; k++)
        if (strcmp(use[k].name, "bodies of a scene") == 0)
            return use[k].peak;
    return 0;
}

static TalusStatus build_alone(TalusComm *comm, void *context)
{
    char told[TOLD] = "";
    TalusWorld *world;
    TalusStatus status = build(context, comm, told, &world);
    talus_world_destroy(world);
    return status;
}

/* Builds a scene on some ranks; returns the peak of the memory of all of them together. */
static size_t measure_peak(const Case *c, int ranks)
{
    talus_memory_reset_peak();
    const size_t before = talus_memory_now();
    CHECK_OK(talus_ranks_run(ranks, build_alone, (void *)c));
    return talus_memory_peak() - before;
}

/* The pieces of an entry take the same memory whatever its length. Eight ranks, which are threads of this process, take
 * together little more than four: larger halos in all. If each had all bodies, they would take twice as much. */
TEST(no_rank_has_all_bodies)
{
    char text[512], override[32];
    const Case c = {.text = text, .set = {override}};
    snprintf(
        text, sizeof text,
        "{'params': {'n': 1}, 'bodies': [{'shape': {'kind': 'plane'}, 'at': [0, 0, 0]},"
        " {'radius': {'min': 0.03, 'max': 0.05}, 'density': 2000, 'count': '=n', 'velocity': [1, 2, 3],"
        "  'orientation': 'random', 'lattice': {'lo': [0, 0, 0], 'cells': [40, 40, 0], 'spacing': 0.11}}]}");
    snprintf(override, sizeof override, "params.n=%d", 3 * MANY);
    const size_t one = measure_peak(&c, 1), pieces = peak_of_pieces();
    CHECK(pieces > 0 && pieces < (size_t)16384 * 200);
    const size_t four = measure_peak(&c, 4), eight = measure_peak(&c, 8);
    CHECK(2 * eight < 3 * four);
    printf("# peak of %d bodies: %.1f MB on one rank, %.1f MB on four together, %.1f MB on eight\n",
           3 * MANY, 1e-6 * (double)one, 1e-6 * (double)four, 1e-6 * (double)eight);
    CHECK(peak_of_pieces() <= 8 * pieces);
}

int main(void)
{
    RUN(no_rank_has_all_bodies); /* first: peaks are those of the process */
    RUN(shipped_scenes_have_the_bits_of_one_rank);
    RUN(a_mixture_has_the_bits_of_one_rank);
    RUN(species_have_the_bits_of_one_rank);
    RUN(copies_have_the_bits_of_one_rank);
    RUN(odd_and_bad_scenes_have_the_words_of_one_rank);
    RUN(bodies_of_several_ranks_have_the_words_of_one);
    RUN(lost_bodies_of_several_ranks_have_the_words_of_one);
    RUN(a_file_that_one_rank_lacks_ends_all);
    RUN(pieces_have_the_bits_of_one_batch);
    RUN(many_bodies_have_the_bits_of_one_rank);
    return talus_test_result();
}
