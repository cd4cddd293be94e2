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
    TALUS_SHAPE_CAPSULE,  /* centred, axis z: all points within radius of a line of 2 half_height */
    TALUS_SHAPE_CONE, /* axis z, apex up, height 2 half_height, its centre of mass at the origin */
    TALUS_SHAPE_ELLIPSOID, /* centred, semi-axes in half */
    TALUS_SHAPE_HULL,      /* convex hull of points */
    TALUS_SHAPE_COMPOUND,  /* rigidly joined parts, each a convex shape; parts may overlap */
    TALUS_SHAPE_MESH,      /* triangles, anticlockwise seen from outside; fixed or driven only */
    TALUS_SHAPE_FIELD,     /* heights over a grid of the x-y plane, solid below; fixed only */
    TALUS_SHAPE_KINDS
} TalusShapeKind;

typedef struct TalusShapePart TalusShapePart;

typedef struct TalusShapeDef {
    TalusShapeKind kind;
    TalusVec3 half;        /* box: half extents; ellipsoid: semi-axes */
    double radius;         /* cylinder, capsule, cone (a sphere's default radius) */
    double half_height;    /* cylinder, cone; capsule: of its straight part */
    const double *profile; /* revolve: point_count pairs (radius >= 0, height) */
    int point_count;
    const TalusVec3 *vertex; /* hull: its points, those within are dropped; mesh: corners */
    int vertex_count;
    const int32_t *triangle; /* mesh: three vertices each */
    int triangle_count;
    const double
        *height; /* field: columns (x) times rows (y), x runs fastest; centred on the origin */
    int columns, rows;
    double spacing;             /* field: between neighbouring heights */
    const TalusShapePart *part; /* compound */
    int part_count;
} TalusShapeDef;

/* One part of a compound, in its coordinates: sphere (with its radius), box, cylinder, capsule, cone,
 * ellipsoid or hull. Where parts overlap, what they share counts in mass and inertia as often as there are parts:
 * give a body's mass where that matters. */
struct TalusShapePart {
    const TalusShapeDef *shape;
    TalusVec3 position;
    TalusQuat orientation;
};

/* Mass, and inertia about the centre of mass in the axes of the shape. */
typedef struct TalusMassProperties {
    double mass;
    TalusSym3 inertia;
} TalusMassProperties;

/* The name used in scene files ("sphere"), and one line about it. */
const char *talus_shape_name(TalusShapeKind kind);
const char *talus_shape_summary(TalusShapeKind kind);

/* Mass properties at the given density; `radius` is the body's radius for a sphere. Shapes without
 * volume (plane, revolve, mesh, field) fail with TALUS_ERR_ARGUMENT. */
TalusStatus talus_shape_mass(const TalusShapeDef *def, double radius, double density,
                             TalusMassProperties *out);

/* Where the centre of mass lies in the coordinates that a hull or a compound was given in; the origin for
 * all others. A body's position is that of its centre of mass. */
TalusStatus talus_shape_centre(const TalusShapeDef *def, TalusVec3 *out);

#ifdef __cplusplus
}
#endif

#endif
