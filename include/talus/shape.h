/* talus/shape.h - collision shapes and their mass properties.
 *
 * A shape is a plain value; many bodies may share one. Lengths are in the scene's unit. */
#ifndef TALUS_SHAPE_H
#define TALUS_SHAPE_H

#include <talus/base.h>
#include <talus/math.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TalusShapeKind {
    TALUS_SHAPE_SPHERE,   /* radius comes from the body, so a bed of sizes needs one shape */
    TALUS_SHAPE_PLANE,    /* half space below z = 0 in the body's frame; fixed bodies only */
    TALUS_SHAPE_BOX,      /* centred, half extents */
    TALUS_SHAPE_CYLINDER, /* centred, axis z, radius and half height */
    TALUS_SHAPE_REVOLVE,  /* a thin wall: profile polyline (radius, height) about z; fixed only */
    TALUS_SHAPE_KINDS
} TalusShapeKind;

typedef struct TalusShapeDef {
    TalusShapeKind kind;
    TalusVec3 half;        /* box: half extents */
    double radius;         /* cylinder (a sphere's default radius) */
    double half_height;    /* cylinder */
    const double *profile; /* revolve: point_count pairs (radius >= 0, height) */
    int point_count;
} TalusShapeDef;

/* Mass 1 per unit density: volume, and inertia about the centre in the body's frame. */
typedef struct TalusMassProperties {
    double mass;
    TalusSym3 inertia;
} TalusMassProperties;

/* The name used in scene files ("sphere"), and one line about it. */
const char *talus_shape_name(TalusShapeKind kind);
const char *talus_shape_summary(TalusShapeKind kind);

/* Mass properties at the given density; `radius` is the body's radius for a sphere. Shapes without
 * volume (plane, revolve) fail with TALUS_ERR_ARGUMENT. */
TalusStatus talus_shape_mass(const TalusShapeDef *def, double radius, double density,
                             TalusMassProperties *out);

#ifdef __cplusplus
}
#endif

#endif
