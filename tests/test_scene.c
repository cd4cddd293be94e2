/* Scenes: defaults, overrides, every shipped scene, and the exact message of every bad one. */
#include "io/scene/scene.h"
#include "world/state.h"

#include "base/memory.h"
#include "support/test.h"

#include <dirent.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static TalusStatus parse(const char *text, const char *override, TalusScene **scene)
{
    return talus_scene_parse(text, strlen(text), "s", &override, override ? 1 : 0, scene);
}

static void enter(const char *folder)
{
    const char *root = getenv("TALUS_SOURCE_DIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root ? root : ".", folder);
    CHECK(chdir(path) == 0);
}

/* Names in the current folder that end in `suffix`, sorted. */
static int list_files(const char *suffix, char names[][64], int room)
{
    struct dirent **entries;
    int n = scandir(".", &entries, NULL, alphasort), count = 0;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name, *dot = strrchr(name, '.');
        if (dot && strcmp(dot, suffix) == 0 && count < room)
            snprintf(names[count++], 64, "%.*s", (int)(dot - name), name);
        free(entries[i]);
    }
    free(entries);
    return count;
}

/* ---- defaults ---- */

TEST(defaults_are_the_worlds)
{
    TalusScene *scene;
    REQUIRE_OK(parse("{\"bodies\": [], \"materials\": {\"m\": {}}}", NULL, &scene));
    TalusWorldDef world = talus_world_def_default();
    TalusMaterialDef material = talus_material_def_default();
    const SceneMaterial *m = (const SceneMaterial *)scene->materials.items;
    CHECK(scene->def.gravity.z == world.gravity.z && scene->def.step == world.step);
    CHECK(scene->def.envelope == world.envelope && scene->def.recovery == world.recovery);
    CHECK(scene->solver->tolerance == world.tolerance);
    CHECK(scene->solver->reference_speed == world.reference_speed);
    CHECK_INT(scene->solver->norm, world.norm);
    CHECK_INT(scene->solver->on_miss, world.on_miss);
    CHECK_INT(scene->solver->max_iterations, world.max_iterations);
    CHECK_STR(scene->solver->name, world.solver);
    CHECK_STR(scene->def.backend, world.backend);
    CHECK(m->def.friction == material.friction && m->def.density == material.density);
    CHECK(m->def.stiffness == material.stiffness && m->def.damping == material.damping);
    talus_scene_destroy(scene);
}

TEST(shape_kinds_are_in_the_order_of_the_enum)
{
    const SceneType *body = talus_scene_find_field(&talus_scene_type, "bodies")->type->item;
    const SceneType *shape = talus_scene_find_field(body, "shape")->type;
    const SceneType *kind = talus_scene_find_field(shape, "kind")->type;
    for (int i = 0; i < TALUS_SHAPE_KINDS; i++)
        CHECK_STR(kind->choices[i], talus_shape_name((TalusShapeKind)i));
    CHECK_STR(kind->choices[SCENE_ROCK], "rock");
    CHECK(!kind->choices[SCENE_ROCK + 1]);
}

/* ---- reading ---- */

static const char sample[] =
    "{\"params\": {\"n\": 8, \"r\": 0.1, \"d\": \"=2*r\"}, \"until\": \"=n\", \"solver\": \"gs\",\n"
    " \"materials\": {\"soft\": {\"friction\": 0.1}, \"hard\": {}},\n"
    " \"bodies\": [\n"
    "  {\"name\": \"a\", \"radius\": \"=r\", \"at\": [0, 0, 5]},\n"
    "  {\"name\": \"b\", \"radius\": {\"mean\": \"=r\", \"spread\": 0.5}, \"count\": \"=n\",\n"
    "   \"lattice\": {\"cells\": [2, 2, 0], \"spacing\": \"=2*d\"}}]}";

static const SceneBody *body_of(const TalusScene *scene, int index)
{
    return (const SceneBody *)scene->bodies.items + index;
}

TEST(reading)
{
    TalusScene *scene;
    REQUIRE_OK(parse(sample, NULL, &scene));
    CHECK_INT(talus_scene_param_count(scene), 3);
    CHECK_STR(talus_scene_param_name(scene, 2), "d");
    CHECK(talus_scene_param_value(scene, 2) == 0.2);
    CHECK(talus_scene_until(scene) == 8.0 && talus_scene_every(scene) == 0.08);
    CHECK_STR(scene->solver->name, "gs");
    CHECK(scene->solver->max_iterations == 1000);
    CHECK_INT(body_of(scene, 0)->at.count, 1);
    CHECK(body_of(scene, 1)->lattice->spacing[2] == 0.4);
    talus_scene_destroy(scene);
}

TEST(overrides)
{
    static const char *const sets[] = {"n=9",
                                       "solver.tolerance=1e-5",
                                       "gravity[2]=-1.62",
                                       "bodies[b].material=hard",
                                       "bodies[1].radius.spread=0.25",
                                       "bodies[a].fill={\"radius\": 1, \"height\": 2}",
                                       "bodies[a].count=3",
                                       "r==1/4",
                                       "materials.soft.friction=0.7",
                                       "bodies[1].lattice.spacing=[1, 2, 3]",
                                       "title=Two words"};
    TalusScene *scene;
    REQUIRE_OK(
        talus_scene_parse(sample, strlen(sample), "s", sets, sizeof sets / sizeof *sets, &scene));
    CHECK(talus_scene_until(scene) == 9.0);
    CHECK_STR(scene->solver->name, "gs");
    CHECK(scene->solver->tolerance == 1e-5 && scene->def.gravity.z == -1.62);
    CHECK_STR(body_of(scene, 1)->material, "hard");
    CHECK(body_of(scene, 1)->radius->def.mean == 0.25 && body_of(scene, 1)->radius->spread == 0.25);
    CHECK(body_of(scene, 0)->fill && body_of(scene, 0)->at.count == 0);
    CHECK(body_of(scene, 1)->lattice->spacing[1] == 2.0);
    CHECK(((const SceneMaterial *)scene->materials.items)->def.friction == 0.7);
    CHECK_STR(talus_scene_title(scene), "Two words");
    talus_scene_destroy(scene);
}

/* A pair has what it names; what it leaves out is the materials' and the scene's. */
TEST(materials_and_pairs_reach_the_world)
{
    static const char text[] =
        "{\"law\": \"fixed\", \"section\": \"polygon:6\", \"cohesion_range\": 0.25,\n"
        " \"materials\": {\"a\": {\"rolling\": 0.1, \"spinning\": 0.2, \"cohesion\": 3, \"restitution\": 0.5},"
        " \"b\": {\"rolling\": 0.05, \"cohesion\": 5, \"restitution\": 0.4, \"friction\": 0.7}},\n"
        " \"friction\": [{\"between\": [\"b\", \"b\"], \"law\": \"coulomb\"},\n"
        "  {\"between\": [\"b\", \"a\"], \"section\": \"disc\", \"rolling\": 0, \"mu\": 0.6}],\n"
        " \"bodies\": []}";
    TalusScene *scene;
    TalusWorld *world;
    REQUIRE_OK(parse(text, NULL, &scene));
    REQUIRE_OK(talus_scene_build(scene, NULL, &world));
    const TalusLaw *law = world->materials.law; /* the world's own material is the first */
    CHECK(world->def.cohesion_range == 0.25 && world->def.restitution_threshold == 2.0);
    CHECK(law[4].rolling == 0.1 && law[4].spinning == 0.2 && law[4].restitution == 0.5);
    CHECK(law[4].cohesion == 3.0 && law[4].mu == 0.3 && law[4].model.sides == 6);
    CHECK(law[4].model.law == TALUS_LAW_FIXED && law[4].model.section == TALUS_SECTION_POLYGON);
    CHECK(law[8].mu == 0.7 && law[8].rolling == 0.05 && law[8].model.sides == 6);
    CHECK(law[8].model.law == TALUS_LAW_COULOMB);
    CHECK(law[5].mu == 0.6 && law[5].rolling == 0.0 && law[5].spinning == 0.0);
    CHECK(law[5].cohesion == 3.0 && law[5].restitution == 0.4);
    CHECK(law[5].model.law == TALUS_LAW_FIXED && law[5].model.section == TALUS_SECTION_DISC);
    /* without the padding behind the last member */
    CHECK(memcmp(&law[5], &law[7], offsetof(TalusLaw, model) + sizeof law->model) == 0);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

/* ---- places ---- */

/* Places the bodies of an entry of spheres; the curve of `forms` is to be cleared. */
static TalusStatus place_spheres(const TalusScene *scene, const SceneBody *body, SceneForms *forms,
                                 ScenePlaces *places)
{
    talus_size_curve_clear(forms->sizes);
    TALUS_TRY(talus_scene_make_sizes(body->radius, body->shape, forms->sizes));
    return talus_scene_place_bodies(scene, body, body->shape, forms, places);
}

TEST(points_from_a_file)
{
    enter("tests/bad_scenes");
    static const char text[] = "{\"bodies\": [{\"radius\": 0.5, \"file\": \"points.txt\"}]}";
    double bound = 0.5;
    TalusSizeCurve sizes = {0};
    SceneForms forms = {.count = 1, .bound = &bound, .sizes = &sizes};
    TalusScene *scene;
    ScenePlaces places;
    ScenePiece piece;
    REQUIRE_OK(parse(text, NULL, &scene));
    const SceneBody *body = body_of(scene, 0);
    REQUIRE_OK(place_spheres(scene, body, &forms, &places));
    REQUIRE(CHECK_INT(places.count, 3));
    REQUIRE_OK(talus_scene_allocate_piece(&places, 1, &piece));
    talus_scene_get_piece(&places, 2, 1, &piece);
    CHECK(piece.position[0].z == 3.0 && piece.radius[0] == 0.5);
    talus_scene_piece_clear(&piece);
    talus_scene_places_clear(&places);
    talus_scene_destroy(scene);
    REQUIRE_OK(parse(text, "bodies[0].count=2", &scene));
    body = body_of(scene, 0);
    REQUIRE_OK(place_spheres(scene, body, &forms, &places));
    CHECK_INT(places.count, 2);
    talus_size_curve_clear(&sizes);
    talus_scene_places_clear(&places);
    talus_scene_destroy(scene);
}

TEST(built_bodies)
{
    static const char text[] =
        "{\"shapes\": {\"wall\": {\"kind\": \"plane\"}}, \"bodies\": [\n"
        " {\"shape\": \"wall\", \"at\": [0, 0, 0], \"normal\": [1, 0, 0]},\n"
        " {\"shape\": \"wall\", \"at\": [9, 0, 0], \"normal\": [-1, 0, 0]},\n"
        " {\"shape\": {\"kind\": \"box\", \"half\": [1, 1, 1]}, \"mass\": 2, \"at\": [4, 0, 0],\n"
        "  \"orientation\": {\"axis\": [0, 0, 1], \"degrees\": 90}, \"velocity\": [0, 0, 3]},\n"
        " {\"radius\": 0.5, \"density\": 6, \"at\": [[4, 0, 5], [4, 0, 7]], \"tag\": 7}]}";
    TalusScene *scene;
    TalusWorld *world;
    REQUIRE_OK(parse(text, NULL, &scene));
    REQUIRE_OK(talus_scene_build(scene, NULL, &world));
    REQUIRE(talus_world_body_count(world) == 5);
    TalusVec3 velocity[5];
    TalusQuat turn[5];
    double mass[5];
    int tag[5], shape[5];
    bool fixed[5];
    TalusBodyState state = {.velocity = velocity,
                            .orientation = turn,
                            .mass = mass,
                            .tag = tag,
                            .shape = shape,
                            .fixed = fixed};
    talus_world_get_state(world, &state);
    CHECK(fixed[0] && fixed[1] && !fixed[2]);
    CHECK(shape[0] == shape[1] && shape[3] == shape[4]);
    TalusVec3 z = talus_rotate(turn[0], talus_vec3(0, 0, 1));
    CHECK_NEAR(z.x, 1.0, 1e-15);
    CHECK_NEAR(turn[2].w, sqrt(0.5), 1e-15);
    CHECK(velocity[2].z == 3.0 && mass[2] == 2.0 && tag[4] == 7);
    CHECK_NEAR(mass[3], 6.0 * 4.0 / 3.0 * 3.14159265358979 * 0.125, 1e-12);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

/* Lengths of which the square is no number still have a direction. */
TEST(directions_of_any_length)
{
    static const char text[] =
        "{\"bodies\": [\n"
        " {\"radius\": 1, \"at\": [9, 0, 1], \"orientation\": [1e308, 0, 0, 1e308]},\n"
        " {\"radius\": 1, \"at\": [6, 0, 1], \"orientation\": [3e-308, 0, 0, 3e-308]},\n"
        " {\"radius\": 1, \"at\": [3, 0, 1], \"orientation\": {\"axis\": [0, 0, 1e300], \"degrees\": 90}},\n"
        " {\"shape\": {\"kind\": \"plane\"}, \"at\": [0, 0, 0], \"normal\": [0, 0, 1e308]}]}";
    TalusScene *scene;
    TalusWorld *world;
    REQUIRE_OK(parse(text, NULL, &scene));
    REQUIRE_OK(talus_scene_build(scene, NULL, &world));
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(world->bodies.orientation[i].w, sqrt(0.5), 1e-15);
        CHECK_NEAR(world->bodies.orientation[i].z, sqrt(0.5), 1e-15);
    }
    CHECK(world->bodies.orientation[3].w == 1.0);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

/* ---- shipped scenes ---- */

/* With `bodies` set, where the scene has a parameter of that name; false where it has not. */
static bool try_scene(const char *name, const char *bodies)
{
    char path[80];
    TalusScene *scene;
    TalusWorld *world;
    TalusStepInfo info;
    snprintf(path, sizeof path, "%s.json", name);
    TalusStatus status = talus_scene_load(path, &bodies, bodies ? 1 : 0, &scene);
    CHECK_OK(status);
    if (status != TALUS_OK)
        return false;
    bool counted = false;
    for (int i = 0; i < talus_scene_param_count(scene); i++)
        counted |= strcmp(talus_scene_param_name(scene, i), "bodies") == 0;
    CHECK(talus_scene_title(scene)[0] && scene->description[0]);
    status = talus_scene_build(scene, NULL, &world);
    CHECK_OK(status);
    if (status == TALUS_OK) {
        CHECK_OK(talus_world_step(world, &info));
        CHECK_NEAR(info.penetration_max, 0.0, 1e-9); /* nothing overlaps at the start */
        talus_world_destroy(world);
    }
    talus_scene_destroy(scene);
    return counted;
}

TEST(shipped_scenes)
{
    char names[32][64];
    enter("scenes");
    int n = list_files(".json", names, 32);
    CHECK(n >= 9);
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], "schema") == 0)
            continue;
        if (!try_scene(names[i], NULL))
            continue;
        try_scene(names[i], "bodies=2");
        try_scene(names[i], "bodies=137");
        try_scene(names[i], "bodies=5000");
    }
}

/* The bench's beds come with their own lattice of the same layout. */
TEST(settle_box_takes_a_bed)
{
    enter("scenes");
    static const char *const sets[] = {"bodies=3",
                                       "bodies[grains].file=../tests/bad_scenes/points.txt"};
    TalusScene *scene;
    TalusWorld *world;
    REQUIRE_OK(talus_scene_load("settle-box.json", sets, 2, &scene));
    CHECK_OK(talus_scene_build(scene, NULL, &world));
    CHECK_INT(talus_world_body_count(world), 8);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

/* ---- bad scenes ---- */

/* NAME.txt: lines "--set name=value", then the message, then what the schema says. Returns the
 * number of overrides, or -1. */
static int read_case(const char *name, char lines[][1024], const char **overrides)
{
    char path[80];
    int n = 0;
    snprintf(path, sizeof path, "%s.txt", name);
    FILE *file = fopen(path, "r");
    while (file && n < 8 && fgets(lines[n], 1024, file)) {
        lines[n][strcspn(lines[n], "\n")] = '\0';
        overrides[n] = lines[n] + strlen("--set ");
        n++;
    }
    if (file)
        fclose(file);
    return n < 2 ? -1 : n - 2;
}

/* The record has what the message begins with: the scene or the override, or a file that the scene names. */
static void check_record(TalusStatus status, const char *path, const char *message)
{
    const TalusError *e = talus_error_record();
    bool override = strncmp(message, "--set ", 6) == 0;
    bool scene = strncmp(message, path, strlen(path)) == 0;
    char begin[1100];
    CHECK_INT(e->code, status);
    CHECK_STR(talus_domain_name(e->domain), override ? "override" : scene ? "scene" : "io");
    if (e->column)
        snprintf(begin, sizeof begin, "%s:%d:%d: ", e->file, e->line, e->column);
    else if (e->line)
        snprintf(begin, sizeof begin, "%s:%d: ", e->file, e->line);
    else
        snprintf(begin, sizeof begin, "%s: ", e->file);
    CHECK(scene == (strcmp(e->file, path) == 0) && scene == (e->column > 0));
    CHECK(strncmp(message, begin, strlen(begin)) == 0);
    if (scene && e->key[0])
        CHECK(strncmp(message + strlen(begin), e->key, strlen(e->key)) == 0);
}

static void try_bad(const char *name)
{
    char lines[8][1024], path[80];
    const char *overrides[8];
    int sets = read_case(name, lines, overrides);
    TalusScene *scene = NULL;
    TalusWorld *world = NULL;
    if (!CHECK(sets >= 0))
        return;
    snprintf(path, sizeof path, "%s.json", name);
    TalusStatus status = talus_scene_load(path, overrides, sets, &scene);
    if (status == TALUS_OK)
        status = talus_scene_build(scene, NULL, &world);
    CHECK(status != TALUS_OK);
    CHECK_STR(talus_error(), lines[sets]);
    check_record(status, path, lines[sets]);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

TEST(bad_scenes)
{
    static char names[256][64];
    enter("tests/bad_scenes");
    int n = list_files(".json", names, 256);
    CHECK(n >= 20);
    for (int i = 0; i < n; i++)
        try_bad(names[i]);
}

TEST(missing_file)
{
    TalusScene *scene;
    CHECK_INT(talus_scene_load("no-such-scene.json", NULL, 0, &scene), TALUS_ERR_IO);
    CHECK(!scene);
}

TEST(memory_failures)
{
    enter("scenes");
    for (int n = 1;; n++) {
        TalusScene *scene;
        TalusWorld *world = NULL;
        talus_fail_allocation_in(n);
        TalusStatus status = talus_scene_load("box-stack.json", NULL, 0, &scene);
        if (status == TALUS_OK)
            status = talus_scene_build(scene, NULL, &world);
        talus_fail_allocation_in(0);
        talus_world_destroy(world);
        talus_scene_destroy(scene);
        if (status == TALUS_OK)
            break;
        REQUIRE(status == TALUS_ERR_MEMORY);
    }
}

int main(void)
{
    RUN(defaults_are_the_worlds);
    RUN(shape_kinds_are_in_the_order_of_the_enum);
    RUN(reading);
    RUN(overrides);
    RUN(materials_and_pairs_reach_the_world);
    RUN(points_from_a_file);
    RUN(built_bodies);
    RUN(directions_of_any_length);
    RUN(shipped_scenes);
    RUN(settle_box_takes_a_bed);
    RUN(bad_scenes);
    RUN(missing_file);
    RUN(memory_failures);
    return talus_test_result();
}
