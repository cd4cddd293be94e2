/* What a scene is told before its first step: warnings for what is unusual (tests/odd_scenes), none for what ships,
 * overlaps by both bodies and depth. What is refused is in tests/bad_scenes. */
#include "io/scene/scene_start.h"
#include "world/source/overlap.h"

#include "base/memory.h"
#include "support/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void enter(const char *folder)
{
    const char *root = getenv("TALUS_SOURCE_DIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root ? root : ".", folder);
    CHECK(chdir(path) == 0);
}

/* ---- warnings ---- */

static char told[4096];

/* The scene asks for places to be left out (`avoid`): how many were is no surprise. */
static bool is_asked_for(const char *id)
{
    return strcmp(id, "scene.avoid") == 0;
}

static void note(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)user;
    size_t used = strlen(told);
    if (level == TALUS_LOG_WARNING && !is_asked_for(id))
        snprintf(told + used, sizeof told - used, "%s %s\n", id, text);
}

/* Builds a scene with its warnings in `told`. */
static TalusStatus build(const char *path, bool allow, TalusWorld **world)
{
    TalusScene *scene = NULL;
    TalusSceneChoice choice = {.threads = 1, .allow_overlap = allow};
    told[0] = '\0';
    *world = NULL;
    talus_set_log(note, NULL);
    TalusStatus status = talus_scene_load(path, NULL, 0, &scene);
    if (status == TALUS_OK)
        status = talus_scene_build(scene, &choice, world);
    talus_set_log(NULL, NULL);
    talus_scene_destroy(scene);
    return status;
}

static void check_told(const char *name)
{
    char path[300], text[4096] = "";
    TalusWorld *world;
    CHECK_OK(build(name, false, &world));
    talus_world_destroy(world);
    snprintf(path, sizeof path, "%.*stxt", (int)strlen(name) - 4, name);
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[n] = '\0';
    if (file)
        fclose(file);
    if (!CHECK_STR(told, text))
        printf("  in %s\n", name);
}

static int each(const char *folder, void (*fn)(const char *name))
{
    struct dirent **entries;
    enter(folder);
    int n = scandir(".", &entries, NULL, alphasort), count = 0;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name, *dot = strrchr(name, '.');
        if (dot && strcmp(dot, ".json") == 0 && strcmp(name, "schema.json") != 0) {
            fn(name);
            count++;
        }
        free(entries[i]);
    }
    free(entries);
    return count;
}

TEST(odd_scenes_are_told)
{
    CHECK(each("tests/odd_scenes", check_told) >= 15);
}

static void check_silent(const char *name)
{
    TalusWorld *world;
    TalusOverlap worst;
    CHECK_OK(build(name, false, &world));
    if (!CHECK_STR(told, ""))
        printf("  in %s\n", name);
    CHECK_OK(talus_world_worst_overlap(world, &worst));
    CHECK(worst.depth <= 1e-9 * worst.size); /* 0 where there is none */
    talus_world_destroy(world);
}

TEST(shipped_scenes_start_without_a_word)
{
    CHECK(each("scenes", check_silent) >= 20);
}

/* ---- overlaps of worlds ---- */

static TalusWorld *new_world(void)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world;
    def.threads = 2;
    CHECK_OK(talus_world_create(&def, &world));
    return world;
}

static TalusBodyId add(TalusWorld *world, const TalusShapeDef *shape, bool fixed, TalusVec3 at)
{
    TalusBodyBatch batch = talus_body_batch_default();
    TalusBodyId id = {0};
    batch.count = 1;
    batch.fixed = fixed;
    batch.position = &at;
    CHECK_OK(talus_world_add_shape(world, shape, &batch.shape));
    CHECK_OK(talus_world_add_bodies(world, &batch, &id));
    return id;
}

static const TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};

/* The deepest in terms of the smaller body's size, not in metres. */
TEST(worst_overlap_is_relative)
{
    TalusShapeDef large = {.kind = TALUS_SHAPE_SPHERE, .radius = 1.0};
    TalusShapeDef small = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01};
    TalusWorld *world = new_world();
    TalusOverlap worst;
    CHECK_OK(talus_world_worst_overlap(world, &worst));
    CHECK(worst.depth == 0.0 && worst.pairs == 0);
    TalusBodyId floor = add(world, &plane, true, talus_vec3(0, 0, 0));
    add(world, &large, false, talus_vec3(0, 0, 0.9));
    TalusBodyId grain = add(world, &small, false, talus_vec3(9, 0, 0.002));
    CHECK_OK(talus_world_worst_overlap(world, &worst));
    CHECK_INT(worst.a.number, grain.number);
    CHECK_INT(worst.b.number, floor.number);
    CHECK_NEAR(worst.depth, 0.008, 1e-15);
    CHECK(worst.size == 0.01);
    CHECK_INT(worst.pairs, 2);
    talus_world_destroy(world);
}

/* Asking leaves the world's contacts and impulses, and so the bits of its next steps, as they are. */
TEST(asking_changes_nothing)
{
    uint64_t hash[2];
    for (int ask = 0; ask < 2; ask++) {
        TalusWorld *world = new_world();
        TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.1, 0.1}};
        TalusOverlap worst;
        add(world, &plane, true, talus_vec3(0, 0, 0));
        for (int i = 0; i < 5; i++)
            add(world, &box, false, talus_vec3(0.03 * i, 0, 0.1 + 0.199 * i));
        for (int i = 0; i < 40; i++) {
            if (ask)
                CHECK_OK(talus_world_worst_overlap(world, &worst));
            CHECK_OK(talus_world_step(world, NULL));
        }
        hash[ask] = talus_world_hash(world);
        talus_world_destroy(world);
    }
    CHECK(hash[0] == hash[1]);
}

/* A cube of side 2 with a cavity of side 1: bodies in the solid are found, at the depth of the nearest face. */
TEST(inside_a_closed_mesh)
{
    TalusVec3 vertex[16];
    int32_t triangle[72];
    static const int face[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (int i = 0; i < 16; i++) {
        double a = i < 8 ? 1.0 : 0.5;
        vertex[i] = talus_vec3(i & 1 ? a : -a, i & 2 ? a : -a, i & 4 ? a : -a);
    }
    for (int k = 0; k < 12; k++)
        for (int half = 0; half < 2; half++) {
            const int *f = face[k % 6];
            int base = k < 6 ? 0 : 8, at = 6 * k + 3 * half;
            triangle[at] = base + f[0];
            triangle[at + 1] = base + f[k < 6 ? 1 + half : 2 + half];
            triangle[at + 2] = base + f[k < 6 ? 2 + half : 1 + half];
        }
    TalusShapeDef shell = {.kind = TALUS_SHAPE_MESH,
                           .vertex = vertex,
                           .vertex_count = 16,
                           .triangle = triangle,
                           .triangle_count = 24};
    TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01};
    static const struct {
        TalusVec3 at;
        double depth;
    } cases[] = {{{0, 0, 0}, 0.0},       {{0.6, 0.0, 0.0}, 0.11},    {{0.0, 0.0, -0.8}, 0.21},
                 {{0.3, 0.3, 1.5}, 0.0}, {{0.75, 0.75, 0.75}, 0.26}, {{0.2, -0.2, 0.2}, 0.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TalusWorld *world = new_world();
        TalusOverlap worst;
        add(world, &shell, true, talus_vec3(0, 0, 0));
        add(world, &ball, false, cases[i].at);
        CHECK_OK(talus_world_worst_overlap(world, &worst));
        CHECK_NEAR(worst.depth, cases[i].depth, 1e-12);
        talus_world_destroy(world);
    }
}

/* ---- batches that arrive in the midst of a run ---- */

TEST(arrivals_inside_others_are_told)
{
    TalusWorld *world = new_world();
    TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
    TalusVec3 at = talus_vec3(0, 0, 0.12);
    add(world, &plane, true, talus_vec3(0, 0, 0));
    TalusBodyId there = add(world, &ball, false, talus_vec3(0, 0, 0.1));
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 1;
    batch.shape = 1;
    batch.position = &at;
    batch.tag = 7;
    REQUIRE_OK(talus_world_add_bodies_at(world, 0.01, &batch));
    told[0] = '\0';
    talus_set_log(note, NULL);
    for (int i = 0; i < 4; i++)
        CHECK_OK(talus_world_step(world, NULL));
    talus_set_log(NULL, NULL);
    CHECK_INT(there.number, 2);
    CHECK_STR(
        told,
        "step.overlap step 3: bodies arrive where others are: body 2 (tag 0) and body 3 (tag 7) "
        "overlap by 0.18 m, 1.8 of the smaller size (said once)\n");
    talus_world_destroy(world);
}

/* Two balls overlap from the start, far from one that arrives: it is not to blame. */
TEST(arrivals_are_not_blamed_for_others)
{
    TalusWorld *world = new_world();
    TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
    TalusVec3 at = talus_vec3(2, 0, 0.2);
    add(world, &plane, true, talus_vec3(0, 0, 0));
    add(world, &ball, false, talus_vec3(0, 0, 0.1));
    add(world, &ball, false, talus_vec3(0, 0, 0.12));
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 1;
    batch.shape = 1;
    batch.position = &at;
    REQUIRE_OK(talus_world_add_bodies_at(world, 0.0, &batch));
    told[0] = '\0';
    talus_set_log(note, NULL);
    CHECK_OK(talus_world_step(world, NULL));
    talus_set_log(NULL, NULL);
    CHECK(!strstr(told, "step.overlap"));
    talus_world_destroy(world);
}

/* ---- looking at what is refused ---- */

TEST(a_look_is_allowed)
{
    TalusWorld *world;
    enter("tests/bad_scenes");
    CHECK_INT(build("start-below-floor.json", false, &world), TALUS_ERR_FORMAT);
    CHECK(!world);
    CHECK_OK(build("start-below-floor.json", true, &world));
    CHECK_STR(
        told,
        "scene.overlap start-below-floor.json:4:9: bodies[1]: sphere at (0, 0, -0.5) overlaps plane "
        "\"floor\" of bodies[0] by 0.6 m, 6 times the radius 0.1 m; a run refuses more than 0.5\n");
    talus_world_destroy(world);
}

static void fail_each_allocation(const char *path)
{
    for (int n = 1;; n++) {
        TalusWorld *world;
        talus_fail_allocation_in(n);
        TalusStatus status = build(path, false, &world);
        talus_fail_allocation_in(0);
        talus_world_destroy(world);
        if (status == TALUS_OK)
            break;
        REQUIRE(status == TALUS_ERR_MEMORY);
    }
}

TEST(memory_failures)
{
    enter("tests/odd_scenes");
    fail_each_allocation("emitter-outside.json");
    fail_each_allocation("../paraview/solids.json"); /* where a body arrives later */
    fail_each_allocation("mesh-mm.json");
}

int main(void)
{
    RUN(odd_scenes_are_told);
    RUN(shipped_scenes_start_without_a_word);
    RUN(worst_overlap_is_relative);
    RUN(asking_changes_nothing);
    RUN(inside_a_closed_mesh);
    RUN(arrivals_inside_others_are_told);
    RUN(arrivals_are_not_blamed_for_others);
    RUN(a_look_is_allowed);
    RUN(memory_failures);
    return talus_test_result();
}
