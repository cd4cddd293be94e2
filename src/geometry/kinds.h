/* geometry/kinds.h - what a kind of shape is to shape.c: one row of functions per file. */
#ifndef TALUS_GEOMETRY_KINDS_H
#define TALUS_GEOMETRY_KINDS_H

#include "geometry/mesh_build.h"
#include "geometry/shape.h"
#include "geometry/traits.h"

#define TALUS_PI 3.14159265358979323846

/* Members of TalusShapeDef that a kind is given by. */
enum {
    TALUS_USES_HALF = 1,
    TALUS_USES_RADIUS = 2,
    TALUS_USES_HALF_HEIGHT = 4,
    TALUS_USES_PROFILE = 8,
    TALUS_USES_VERTEX = 16,
    TALUS_USES_TRIANGLE = 32,
    TALUS_USES_HEIGHTS = 64, /* height, columns, rows, spacing */
    TALUS_USES_PARTS = 128
};

typedef struct TalusShapeOps {
    const char *summary;
    int uses; /* TALUS_USES_* */
    /* Fails with a message that names the field, its value and what it should be. */
    TalusStatus (*check)(const TalusShapeDef *def);
    /* Where the kind has arrays: makes shape->block and lays them out in it, with shape->def pointing there.
     * shape->def is a copy of the def without its arrays. Sets centre, unit (with volume) and box as well. What
     * it leaves on failure is cleared. */
    TalusStatus (*build)(TalusShape *shape, const TalusShapeDef *def);
    /* Sets bounding_radius and size of a checked and built shape. */
    void (*measure)(TalusShape *shape);
    /* At density 1; NULL for shapes without volume and for those whose `build` sets `unit`. */
    TalusMassProperties (*mass)(const TalusShapeDef *def, double radius);
    /* Triangles, to be drawn (geometry/mesh_build.h); what it leaves on failure is freed. */
    TalusStatus (*mesh)(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out);
} TalusShapeOps;

#define TALUS_DECLARE_OPS(argument, kind, file, name, traits) \
    extern const TalusShapeOps talus_##file##_ops;
TALUS_SHAPE_TABLE(TALUS_DECLARE_OPS, 0)

/* The row of a known kind. */
const TalusShapeOps *talus_shape_ops(TalusShapeKind kind);
/* The kinds with a trait in words, such as "sphere, box or hull". */
const char *talus_shape_list(int trait, char *text, size_t size);

/* Lays out arrays in a block, aligned to 16 bytes. Without a base it counts only, so that one function run
 * twice, before and after the block is made, places everything. */
typedef struct TalusLayout {
    unsigned char *base;
    size_t used;
} TalusLayout;

void *talus_layout(TalusLayout *layout, size_t count, size_t element);

/* OK if `value` is positive and finite; else a message such as
 *     box: half.x is -1; it must be a positive length                                           */
TalusStatus talus_check_length(const char *shape, const char *field, double value);

#endif
