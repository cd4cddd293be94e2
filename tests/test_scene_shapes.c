/* Shapes of scenes: where they are placed, many forms of rocks, files, and the same bits after a restart. */
#include "geometry/shape.h"
#include "io/scene/scene.h"
#include "support/test.h"
#include "world/state.h"

#include <stdio.h>
#include <string.h>

static TalusStatus build(const char *text, TalusWorld **world)
{
    TalusScene *scene;
    TALUS_TRY(talus_scene_parse(text, strlen(text), "test", NULL, 0, &scene));
    TalusStatus status = talus_scene_build(scene, NULL, world);
    talus_scene_destroy(scene);
    return status;
}

static TalusVec3 place(const TalusWorld *world, int slot)
{
    return world->bodies.position[slot];
}

/* A cube given by a corner: its centre of mass is half a side from the place, wherever it is turned to. */
TEST(a_place_is_that_of_the_origin)
{
    TalusWorld *world;
    REQUIRE_OK(build(
        "{\"shapes\": {\"cube\": {\"kind\": \"hull\", \"points\": [[0, 0, 0], [1, 0, 0], [0, 1, 0],"
        " [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]], \"scale\": 2}},\n"
        " \"bodies\": [{\"shape\": \"cube\", \"at\": [5, 0, 0]},\n"
        "  {\"shape\": \"cube\", \"at\": [5, 0, 0], \"orientation\": {\"axis\": [0, 0, 1], \"degrees\": 90}},\n"
        "  {\"shape\": \"cube\", \"lattice\": {\"lo\": [10, 0, 0], \"cells\": [1, 1, 1], \"spacing\": 4}},\n"
        "  {\"shape\": {\"kind\": \"compound\", \"parts\": [\n"
        "    {\"shape\": \"cube\", \"at\": [-1, -1, -1]},\n"
        "    {\"shape\": {\"kind\": \"sphere\", \"radius\": 0.5}, \"at\": [4, 0, 0]},\n"
        "    {\"shape\": {\"kind\": \"sphere\", \"radius\": 0.5}, \"at\": [-4, 0, 0]}]}, \"at\": [0, 9, 0]}]}",
        &world));
    CHECK_INT(world->shapes, 2);
    CHECK_NEAR(talus_norm(talus_sub(place(world, 0), talus_vec3(6, 1, 1))), 0.0, 1e-13);
    CHECK_NEAR(talus_norm(talus_sub(place(world, 1), talus_vec3(4, 1, 1))), 0.0, 1e-13);
    CHECK_NEAR(talus_norm(talus_sub(place(world, 2), talus_vec3(12, 2, 2))), 0.0, 1e-13);
    CHECK_NEAR(talus_norm(talus_sub(place(world, 3), talus_vec3(0, 9, 0))), 0.0, 1e-13);
    CHECK_NEAR(world->bodies.mass[0], 8000.0, 1e-9);
    talus_world_destroy(world);
}

static const char bed[] =
    "{\"shapes\": {\"gravel\": {\"kind\": \"rock\", \"radius\": 0.05, \"forms\": 20},\n"
    "   \"pill\": {\"kind\": \"capsule\", \"radius\": 0.03, \"half_height\": 0.05}},\n"
    " \"bodies\": [{\"shape\": {\"kind\": \"plane\"}, \"at\": [0, 0, 0]},\n"
    "  {\"shapes\": [\"gravel\", \"pill\"], \"orientation\": \"random\", \"count\": 200,\n"
    "   \"fill\": {\"lo\": [0, 0, 0], \"hi\": [1, 1, 1]}}]}";

TEST(rocks_of_many_forms)
{
    TalusWorld *world;
    REQUIRE_OK(build(bed, &world));
    CHECK_INT(world->shapes, 22);
    const TalusBodies *b = &world->bodies;
    CHECK_INT(b->counts.living, 201);
    int used[22] = {0}, overlaps = 0, same = 0, outside = 0;
    for (int i = 1; i < 201; i++) {
        used[b->shape[i]]++;
        double r = b->radius[i];
        TalusVec3 x = b->position[i];
        outside += x.x < r || x.y < r || x.z < r || x.x > 1 - r || x.y > 1 - r || x.z > 1 - r;
        for (int j = 1; j < i; j++) {
            overlaps += talus_norm(talus_sub(x, b->position[j])) < r + b->radius[j];
            same += memcmp(&b->orientation[i], &b->orientation[j], sizeof b->orientation[i]) == 0;
        }
    }
    CHECK_INT(overlaps + outside + same, 0);
    int forms = 0;
    for (int k = 1; k < 22; k++) {
        forms += used[k] > 0;
        const TalusShape *s = &world->shape[k];
        if (s->def.kind != TALUS_SHAPE_HULL)
            continue;
        CHECK_INT(s->def.vertex_count, 20);
        CHECK(s->size > 0.2 * 0.05 && s->bounding_radius < 1.5 * 0.05);
        CHECK(k == 1 || s->unit.mass != world->shape[1].unit.mass);
    }
    CHECK(forms > 18);
    talus_world_destroy(world);
}

/* The mean of many turned vectors is zero, that of their squares a third in each direction. */
TEST(random_turns_have_no_direction)
{
    TalusWorld *world;
    REQUIRE_OK(build(
        "{\"bodies\": [{\"shape\": {\"kind\": \"box\", \"half\": [1, 1, 1]}, \"orientation\": "
        "{\"random\": true}, \"lattice\": {\"cells\": [20, 20, 10]}}]}",
        &world));
    TalusVec3 sum = talus_vec3(0, 0, 0);
    double square = 0.0, n = world->bodies.counts.living;
    for (int i = 0; i < (int)n; i++) {
        TalusVec3 v = talus_rotate(world->bodies.orientation[i], talus_vec3(0, 0, 1));
        sum = talus_add(sum, v);
        square += v.z * v.z;
    }
    CHECK_NEAR(talus_norm(sum) / n, 0.0, 0.05);
    CHECK_NEAR(square / n, 1.0 / 3.0, 0.02);
    talus_world_destroy(world);
}

static bool write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    bool ok = f && fputs(text, f) >= 0;
    return f && fclose(f) == 0 && ok;
}

static const char pyramid[] = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 1 1 3\n"
                              "f 4 3 2 1\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n";

TEST(shapes_from_files)
{
    TalusWorld *world;
    REQUIRE(write_file("pyramid.obj", pyramid));
    REQUIRE(write_file("grid.csv", "# heights\n0, 0, 0, 0\n0, 1, 2, 0\n\n0; 0; 0; 0\n"));
    REQUIRE_OK(build(
        "{\"bodies\": [\n"
        " {\"shape\": {\"kind\": \"hull\", \"file\": \"pyramid.obj\", \"scale\": 0.5}, \"at\": [0, 0, 8]},\n"
        " {\"shape\": {\"kind\": \"mesh\", \"file\": \"pyramid.obj\"}, \"at\": [0, 0, 4]},\n"
        " {\"shape\": {\"kind\": \"field\", \"file\": \"grid.csv\", \"spacing\": 2, \"scale\": 0.25},\n"
        "  \"at\": [0, 0, 0]}]}",
        &world));
    const TalusShape *s = world->shape;
    CHECK_NEAR(world->bodies.mass[0], 1000.0 * 4.0 / 8.0,
               1e-9); /* base 4, height 3, a third; halved */
    CHECK_NEAR(place(world, 0).z, 8.0 + 0.375, 1e-12);
    CHECK_INT(s[0].hull.faces, 5);
    CHECK_INT(s[1].def.triangle_count, 6);
    CHECK(world->bodies.mobility[1] && world->bodies.mobility[2]);
    CHECK_INT(s[2].def.columns, 4);
    CHECK_INT(s[2].def.rows, 3);
    CHECK(s[2].def.height[6] == 0.5 && s[2].def.spacing == 2.0);
    talus_world_destroy(world);
}

/* ---- restart ---- */

static const char all_kinds[] =
    "{\"step\": 0.005, \"gravity\": [0, 0, -10], \"bodies\": [\n"
    " {\"shape\": {\"kind\": \"field\", \"heights\": [[0, 0.3], [0.3, 0]], \"spacing\": 4}, \"at\": [0, 0, -0.4]},\n"
    " {\"shape\": {\"kind\": \"mesh\", \"file\": \"pyramid.obj\", \"scale\": 0.1}, \"at\": [0, 0, 0]},\n"
    " {\"shape\": {\"kind\": \"capsule\", \"radius\": 0.1, \"half_height\": 0.1}, \"at\": [0.3, 0, 0.5]},\n"
    " {\"shape\": {\"kind\": \"cone\", \"radius\": 0.1, \"half_height\": 0.1}, \"at\": [0, 0.4, 0.4]},\n"
    " {\"shape\": {\"kind\": \"ellipsoid\", \"half\": [0.1, 0.2, 0.1]}, \"at\": [0.5, 0.4, 0.4]},\n"
    " {\"shape\": {\"kind\": \"rock\", \"radius\": 0.1}, \"at\": [0.1, 0.1, 0.9]},\n"
    " {\"shape\": {\"kind\": \"compound\", \"parts\": [\n"
    "  {\"shape\": {\"kind\": \"hull\", \"points\": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}},\n"
    "  {\"shape\": {\"kind\": \"sphere\", \"radius\": 0.1}, \"at\": [0.2, 0, 0]}]}, \"at\": [0, 0.1, 1.2]}]}";

TEST(a_restart_has_the_same_bits)
{
    REQUIRE(write_file("pyramid.obj", pyramid));
    TalusWorld *world, *copy;
    void *bytes, *again;
    size_t size, size_again;
    REQUIRE_OK(build(all_kinds, &world));
    for (int part = 0; part < 3; part++) {
        REQUIRE_OK(talus_world_save(world, &bytes, &size));
        REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &copy));
        REQUIRE_OK(talus_world_save(copy, &again, &size_again));
        CHECK(size == size_again && memcmp(bytes, again, size) == 0);
        for (int k = 0; k < 40; k++) {
            REQUIRE_OK(talus_world_step(world, NULL));
            REQUIRE_OK(talus_world_step(copy, NULL));
        }
        CHECK(talus_world_hash(copy) == talus_world_hash(world));
        talus_free(bytes);
        talus_free(again);
        talus_world_destroy(copy);
    }
    CHECK(talus_world_get_contacts(world, NULL, 0) > 4);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(a_place_is_that_of_the_origin);
    RUN(rocks_of_many_forms);
    RUN(random_turns_have_no_direction);
    RUN(shapes_from_files);
    RUN(a_restart_has_the_same_bits);
    return talus_test_result();
}
