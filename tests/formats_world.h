/* A world with every kind of body, for tests of what is written of it. */
#ifndef TALUS_TESTS_FORMATS_WORLD_H
#define TALUS_TESTS_FORMATS_WORLD_H

#include "support/test.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/formats/formats.h"
#include "io/frames/frames.h"
#include "world/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ids take more than 32 bits, and more than 24 of a float. */
#define FIRST_ID ((INT64_C(1) << 52) + 1)

enum { SPHERES = 7, PLANE_BODY = 0, CUP_BODY = 1, BLOCK_BODY = 2, FIRST_SPHERE = 3 };

static TalusBodyId add_body(TalusWorld *world, const TalusShapeDef *shape, bool fixed, TalusVec3 at,
                            TalusQuat turn, int tag)
{
    TalusBodyBatch batch = talus_body_batch_default();
    TalusBodyId id = {0};
    CHECK_OK(talus_world_add_shape(world, shape, &batch.shape));
    batch.count = 1;
    batch.fixed = fixed;
    batch.position = &at;
    batch.orientation = &turn;
    batch.tag = tag;
    CHECK_OK(talus_world_add_bodies(world, &batch, &id));
    return id;
}

/* A floor, a revolved cup, a fixed block; a pile of spheres and one beside it, a box and a cylinder that move. */
static TalusWorld *make_world(void)
{
    static const double cup[] = {0.0, 4.0, 2.0, 4.0, 3.0, 6.0};
    const TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    const TalusShapeDef revolve = {.kind = TALUS_SHAPE_REVOLVE, .profile = cup, .point_count = 3};
    const TalusShapeDef block = {.kind = TALUS_SHAPE_BOX, .half = {2.0, 0.5, 0.25}};
    const TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.2, 0.3}};
    const TalusShapeDef cylinder = {
        .kind = TALUS_SHAPE_CYLINDER, .radius = 0.25, .half_height = 0.5};
    const TalusShapeDef sphere = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.25};
    const TalusQuat none = talus_quat_identity(), half_turn = {0.0, 0.0, 0.0, 1.0};
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.threads = 1;
    def.step = 1.0 / 128.0;
    CHECK_OK(talus_world_create(&def, &world));
    world->bodies.counts.created = FIRST_ID - 1;
    add_body(world, &plane, true, talus_vec3(0.0, 0.0, 0.0), none, 1);
    add_body(world, &revolve, true, talus_vec3(0.0, 0.0, 0.0), none, 2);
    add_body(world, &block, true, talus_vec3(0.0, -3.0, 0.25), half_turn, 3);
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 at[SPHERES];
    double radius[SPHERES];
    for (int i = 0; i < SPHERES; i++) {
        radius[i] = 0.25 + 0.01 * i;
        at[i] = talus_vec3(0.001 * i, 0.002 * i, 0.25 + 0.51 * i);
    }
    radius[SPHERES - 1] = 0.25; /* close to the lowest, but no force between them */
    at[SPHERES - 1] = talus_vec3(0.5001, 0.0, 0.25);
    CHECK_OK(talus_world_add_shape(world, &sphere, &batch.shape));
    batch.count = SPHERES;
    batch.position = at;
    batch.radius = radius;
    batch.tag = 42;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    add_body(world, &box, false, talus_vec3(3.0, 0.0, 0.3), none, 43);
    add_body(world, &cylinder, false, talus_vec3(5.0, 0.0, 0.5), half_turn, 44);
    return world;
}

/* ---- writing ---- */

static void add_frame(TalusFormatWriter *writer, const TalusWorld *world, unsigned fields)
{
    TalusSnapshot snapshot = {0};
    TalusHeadStore head = {0};
    CHECK_OK(talus_frames_head_of_world(world, NULL, NULL, &head));
    CHECK_OK(talus_snapshot_take(&snapshot, world, fields));
    CHECK_OK(talus_format_add_frame(writer, &head.head, &snapshot));
    talus_frames_head_clear(&head);
    talus_snapshot_free(&snapshot);
}

/* Steps with a frame after every fourth one. */
static void run_steps(TalusFormatWriter *writer, TalusWorld *world, int count)
{
    for (int i = 0; i < count; i++) {
        CHECK_OK(talus_world_step(world, NULL));
        if (talus_world_steps(world) % 4 == 0)
            add_frame(writer, world, talus_format_fields(writer));
    }
}

/* A whole run of 20 steps into `dir`: 6 frames. */
static void write_whole(const char *format, const char *dir)
{
    TalusFormatWriter *writer = NULL;
    TalusWorld *world = make_world();
    REQUIRE_OK(talus_format_open(format, dir, false, 0.0, &writer));
    add_frame(writer, world, talus_format_fields(writer));
    run_steps(writer, world, 20);
    CHECK_OK(talus_format_sync(writer));
    CHECK_OK(talus_format_close(writer));
    talus_world_destroy(world);
}

/* The same run, saved after 12 steps, at a frame, stopped after 17 and gone on with from there. */
static void write_in_parts(const char *format, const char *dir)
{
    TalusFormatWriter *writer = NULL;
    TalusWorld *world = make_world();
    void *bytes;
    size_t size;
    REQUIRE_OK(talus_format_open(format, dir, false, 0.0, &writer));
    add_frame(writer, world, talus_format_fields(writer));
    run_steps(writer, world, 12);
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    run_steps(writer, world, 5);
    CHECK_OK(talus_format_close(writer));
    talus_world_destroy(world);
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &world));
    talus_free(bytes);
    REQUIRE_OK(talus_format_open(format, dir, true, talus_world_time(world), &writer));
    run_steps(writer, world, 8);
    CHECK_OK(talus_format_close(writer));
    talus_world_destroy(world);
}

/* ---- files ---- */

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

#endif
