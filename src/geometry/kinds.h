/* geometry/kinds.h - what a kind of shape is to shape.c: one row of functions per file. */
#ifndef TALUS_GEOMETRY_KINDS_H
#define TALUS_GEOMETRY_KINDS_H

#include "geometry/shape.h"

#define TALUS_PI 3.14159265358979323846

typedef struct TalusShapeOps {
    const char *name, *summary;
    bool fixed_only;
    /* Fails with a message that names the field, its value and what it should be. */
    TalusStatus (*check)(const TalusShapeDef *def);
    /* Sets bounding_radius and size of a checked shape. */
    void (*measure)(TalusShape *shape);
    /* At density 1; NULL for shapes without volume. */
    TalusMassProperties (*mass)(const TalusShapeDef *def, double radius);
} TalusShapeOps;

extern const TalusShapeOps talus_sphere_ops, talus_plane_ops, talus_box_ops, talus_cylinder_ops,
    talus_revolve_ops;

/* OK if `value` is positive and finite; else a message such as
 *     box: half.x is -1; it must be a positive length                                           */
TalusStatus talus_check_length(const char *shape, const char *field, double value);

#endif
