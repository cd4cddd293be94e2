/* Worlds and files that the tests of frames share. */
#ifndef TALUS_TEST_FRAMES_SCENE_H
#define TALUS_TEST_FRAMES_SCENE_H

#include "support/test.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/frames/frames.h"

#include <stdio.h>
#include <string.h>
#include <talus/talus.h>

static inline TalusStatus add_body(TalusWorld *world, TalusShapeDef shape, TalusVec3 at, bool fixed,
                                   int tag)
{
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 spin = {1.0, -2.0, 3.0};
    TALUS_TRY(talus_world_add_shape(world, &shape, &batch.shape));
    batch.count = 1;
    batch.position = &at;
    batch.spin = &spin;
    batch.fixed = fixed;
    batch.tag = tag;
    return talus_world_add_bodies(world, &batch, NULL);
}

static inline TalusStatus add_rain(TalusWorld *world, double start)
{
    TalusEmitterDef rain = talus_emitter_def_default();
    rain.lo = talus_vec3(-0.5, -0.5, 0.8);
    rain.hi = talus_vec3(0.5, 0.5, 1.0);
    rain.rate = 300.0;
    rain.start = start;
    rain.count = 1000000;
    rain.radius_min = 0.02;
    rain.radius_max = 0.04;
    rain.tag = -7;
    TALUS_TRY(talus_world_add_emitter(world, &rain));
    return talus_world_add_sink(world, 2, -0.5);
}

/* Grains rain from `start` on onto a board and a box, beside a falling cylinder, run off, and fall
 * into nothing: bodies come, go, and come again in the same slots. */
static inline TalusWorld *rain_world(double start, bool things)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.threads = 1;
    def.step = 1.0 / 128.0;
    def.gravity = talus_vec3(2.0, 0.0, -9.0);
    static const double funnel[] = {0.3, 0.0, 0.9, 0.4};
    TalusShapeDef board = {.kind = TALUS_SHAPE_BOX, .half = {0.2, 0.2, 0.05}};
    TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.06, 0.05, 0.04}};
    TalusShapeDef can = {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.05, .half_height = 0.07};
    TalusShapeDef wall = {.kind = TALUS_SHAPE_REVOLVE, .profile = funnel, .point_count = 2};
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusMaterialDef ice = {
        .name = "ice \"1\"\\\n\xff\xc3\xa9", .friction = 0.02, .density = 917.0};
    CHECK_OK(talus_world_create(&def, &world));
    CHECK_OK(talus_world_add_material(world, &ice, NULL));
    CHECK_OK(add_body(world, board, talus_vec3(0.0, 0.0, 0.0), true, 1));
    CHECK_OK(add_body(world, wall, talus_vec3(0.0, 0.0, 0.3), true, 2));
    CHECK_OK(add_body(world, plane, talus_vec3(0.0, 0.0, -4.0), true, 3));
    if (things) {
        CHECK_OK(add_body(world, box, talus_vec3(0.0, 0.1, 0.2), false, 4));
        CHECK_OK(add_body(world, can, talus_vec3(5.0, -0.1, 9.0), false, 5));
    }
    CHECK_OK(add_rain(world, start));
    return world;
}

static inline void step_world(TalusWorld *world, int steps)
{
    for (int i = 0; i < steps; i++)
        CHECK_OK(talus_world_step(world, NULL));
}

/* Writes `frames` frames, `steps` steps apart, and finishes. */
static inline void write_frames(const char *path, TalusWorld *world, TalusDetail detail, int frames,
                                int steps)
{
    TalusFramesDef def = {.title = "Rain", .scene = "rain", .detail = detail};
    TalusFramesWriter *writer;
    REQUIRE_OK(talus_frames_create(path, &def, &writer));
    for (int i = 0; i < frames; i++) {
        CHECK_OK(talus_frames_add(writer, world));
        step_world(world, steps);
    }
    CHECK_OK(talus_frames_finish(writer));
}

typedef struct Bytes {
    char *bytes;
    size_t size;
} Bytes;

static inline Bytes read_bytes(const char *path)
{
    Bytes b = {0};
    CHECK_OK(talus_read_file(path, 1 << 26, &b.bytes, &b.size));
    return b;
}

static inline void write_bytes(const char *path, const void *bytes, size_t size)
{
    remove(path); /* some file systems bring a file that was cut to 0 to the disk on closing */
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    CHECK(fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

static inline bool same_files(const char *a, const char *b)
{
    Bytes x = read_bytes(a), y = read_bytes(b);
    bool same = x.size == y.size && memcmp(x.bytes, y.bytes, x.size) == 0;
    talus_release(x.bytes);
    talus_release(y.bytes);
    return same;
}

#endif
