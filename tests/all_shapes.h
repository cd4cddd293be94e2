/* One shape of every kind that has a surface of its own, for tests of what shows and writes them. */
#ifndef TALUS_TESTS_ALL_SHAPES_H
#define TALUS_TESTS_ALL_SHAPES_H

#include <talus/shape.h>

enum { PILL, HAT, EGG, STONE, DUMBBELL, TRAY, HILL, ALL_SHAPES };

/* A box of half extents 0.5, 0.7, 0.9 with a roof of 0.3 on it. */
static const TalusVec3 stone_points[] = {
    {-0.5, -0.7, -0.9}, {0.5, -0.7, -0.9}, {-0.5, 0.7, -0.9}, {0.5, 0.7, -0.9},
    {-0.5, -0.7, 0.9},  {0.5, -0.7, 0.9},  {-0.5, 0.7, 0.9},  {0.5, 0.7, 0.9},
    {0.0, -0.7, 1.2},   {0.0, 0.7, 1.2},   {0.0, 0.0, 0.0} /* within */
};

/* An open box, 2 x 2 and 1 high: a floor and four walls, all seen from within. */
static const TalusVec3 tray_points[] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0},
                                        {-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}};
static const int32_t tray_triangles[] = {0, 1, 2, 0, 2, 3, 0, 4, 1, 1, 4, 5, 1, 5, 2,
                                         2, 5, 6, 2, 6, 3, 3, 6, 7, 3, 7, 0, 0, 7, 4};

static const double hill_heights[] = {0, 0, 0, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 0}; /* 4 x 3 */

static const TalusShapeDef dumbbell_ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.3};
static const TalusShapeDef dumbbell_rod = {
    .kind = TALUS_SHAPE_CYLINDER, .radius = 0.1, .half_height = 0.5};
static const TalusShapePart dumbbell_parts[] = {
    {&dumbbell_ball, {0, 0, -0.8}, {1, 0, 0, 0}},
    {&dumbbell_rod, {0, 0, 0}, {1, 0, 0, 0}},
    {&dumbbell_ball, {0, 0, 0.8}, {1, 0, 0, 0}},
};

static const TalusShapeDef all_shapes[ALL_SHAPES] = {
    [PILL] = {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.4, .half_height = 0.5},
    [HAT] = {.kind = TALUS_SHAPE_CONE, .radius = 0.6, .half_height = 0.8},
    [EGG] = {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.5, 0.7, 0.9}},
    [STONE] = {.kind = TALUS_SHAPE_HULL, .vertex = stone_points, .vertex_count = 11},
    [DUMBBELL] = {.kind = TALUS_SHAPE_COMPOUND, .part = dumbbell_parts, .part_count = 3},
    [TRAY] = {.kind = TALUS_SHAPE_MESH,
              .vertex = tray_points,
              .vertex_count = 8,
              .triangle = tray_triangles,
              .triangle_count = 10},
    [HILL] = {.kind = TALUS_SHAPE_FIELD,
              .height = hill_heights,
              .columns = 4,
              .rows = 3,
              .spacing = 1.0},
};

#endif
