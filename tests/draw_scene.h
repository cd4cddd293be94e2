/* A few bodies without a world, for tests of pictures. */
#ifndef TALUS_TESTS_DRAW_SCENE_H
#define TALUS_TESTS_DRAW_SCENE_H

#include "base/memory.h"
#include "draw/draw.h"
#include "support/test.h"

#include <string.h>

enum { SCENE_MAX = 512 };
enum { BALL, BRICK, DRUM, CUP, GROUND, SHAPES };

static const double scene_profile[] = {0.0, -1.5, 1.5, -1.5, 1.5, 1.5};
static const TalusShapeDef scene_shapes[SHAPES] = {
    [BALL] = {.kind = TALUS_SHAPE_SPHERE},
    [BRICK] = {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.7, 0.9}},
    [DRUM] = {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.6, .half_height = 0.8},
    [CUP] = {.kind = TALUS_SHAPE_REVOLVE, .profile = scene_profile, .point_count = 3},
    [GROUND] = {.kind = TALUS_SHAPE_PLANE},
};
static const TalusFramesMaterial scene_materials[2] = {{"default", 0.3, 1.0}, {"stone", 0.5, 2.0}};
static const TalusFramesHead scene_head = {.title = "A test",
                                           .scene = "test",
                                           .gravity = {0, 0, -10},
                                           .step = 0.01,
                                           .radius = 1.0,
                                           .shape_count = SHAPES,
                                           .material_count = 2,
                                           .shapes = scene_shapes,
                                           .materials = scene_materials};

/* The arrays of a snapshot in one place. */
typedef struct Scene {
    TalusSnapshot s;
    TalusBodyId id[SCENE_MAX];
    TalusVec3 position[SCENE_MAX];
    TalusQuat orientation[SCENE_MAX];
    double speed[SCENE_MAX], radius[SCENE_MAX], force[SCENE_MAX];
    int touching[SCENE_MAX], shape[SCENE_MAX], material[SCENE_MAX], tag[SCENE_MAX];
    bool fixed[SCENE_MAX];
    TalusContactState contact[8];
    int contact_a[8], contact_b[8];
} Scene;

static void scene_clear(Scene *scene)
{
    memset(scene, 0, sizeof *scene);
    scene->s = (TalusSnapshot){.fields = TALUS_SNAPSHOT_SPEED | TALUS_SNAPSHOT_FORCE,
                               .time = 1.5,
                               .length = 0.01,
                               .id = scene->id,
                               .position = scene->position,
                               .orientation = scene->orientation,
                               .speed = scene->speed,
                               .radius = scene->radius,
                               .force = scene->force,
                               .touching = scene->touching,
                               .shape = scene->shape,
                               .material = scene->material,
                               .tag = scene->tag,
                               .fixed = scene->fixed};
}

/* Tag and fixed may be set afterwards; returns the row. */
static int scene_add(Scene *scene, int shape, TalusVec3 at, double radius)
{
    int row = scene->s.body_count++;
    scene->id[row].number = (uint64_t)row + 1;
    scene->position[row] = at;
    scene->orientation[row] = talus_quat_identity();
    scene->radius[row] = radius;
    scene->shape[row] = shape;
    return row;
}

static int scene_wall(Scene *scene, int shape, TalusVec3 at)
{
    int row = scene_add(scene, shape, at, 0.0);
    scene->fixed[row] = true;
    return row;
}

/* A small picture without caption or background, from the front. */
static TalusDrawDef scene_def(void)
{
    TalusDrawDef def = talus_draw_def_default();
    def.width = 120;
    def.height = 90;
    def.azimuth = -90.0;
    def.elevation = 0.0;
    def.colour = TALUS_COLOUR_TAG;
    def.plain = def.transparent = true;
    def.container = TALUS_CONTAINER_HIDDEN;
    return def;
}

/* Draws with one allocation or another failing, later by 1/part each time, until none does: before the
 * most-th. */
static inline void check_draw_memory(const TalusFramesHead *head, const TalusSnapshot *snapshot,
                                     const TalusDrawDef *def, long most, long part)
{
    TalusStatus status = TALUS_ERR_MEMORY;
    for (long n = 1; status != TALUS_OK && n < most; n += 1 + n / part) {
        TalusImage image;
        talus_fail_allocation_in(n);
        status = talus_draw(head, snapshot, def, NULL, &image);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        if (status == TALUS_OK)
            talus_image_free(&image);
    }
    CHECK(status == TALUS_OK);
}

#endif
