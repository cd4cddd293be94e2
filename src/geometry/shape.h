/* geometry/shape.h - shapes as the engine stores them. */
#ifndef TALUS_GEOMETRY_SHAPE_H
#define TALUS_GEOMETRY_SHAPE_H

#include <talus/shape.h>

/* A checked copy of a TalusShapeDef that owns its profile. */
typedef struct TalusShape {
    TalusShapeDef def;
    double *profile;        /* owned; def.profile points here */
    double bounding_radius; /* about the body's origin; 0 where unbounded or a sphere */
    double size;            /* smallest half extent; 0 for plane and revolve */
} TalusShape;

/* Checks the def (positive sizes, at least two profile points, no two equal neighbours, radii not
 * negative, everything finite) and copies it. */
TalusStatus talus_shape_init(TalusShape *shape, const TalusShapeDef *def);
void talus_shape_clear(TalusShape *shape);

/* True for shapes that may only belong to fixed bodies (plane, revolve). */
bool talus_shape_fixed_only(TalusShapeKind kind);

#endif
