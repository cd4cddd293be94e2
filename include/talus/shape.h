/* talus/shape.h - collision shapes and their mass properties.
 *
 * A shape is a plain value; many bodies may share one. Lengths are in metres. */
#ifndef TALUS_SHAPE_H
#define TALUS_SHAPE_H

#include <talus/base.h>
#include <talus/math.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Plane, revolve, mesh and field have no mass: they are for fixed bodies only, driven ones included. */
typedef enum TalusShapeKind {
    TALUS_SHAPE_SPHERE,   /* the radius is the body's, so spheres of all sizes share one shape */
    TALUS_SHAPE_PLANE,    /* half space below z = 0 in the body's frame */
    TALUS_SHAPE_BOX,      /* centred, half extents */
    TALUS_SHAPE_CYLINDER, /* centred, axis z, radius and half height */
    TALUS_SHAPE_REVOLVE,  /* a thin wall: polyline `profile` (radius, height) rotated about z */
    /* centred, axis z: all points within radius of a segment of 2 half_height */
    TALUS_SHAPE_CAPSULE,
    TALUS_SHAPE_CONE,      /* axis z, apex up, height 2 half_height, centre of mass at the origin */
    TALUS_SHAPE_ELLIPSOID, /* centred, semi-axes in half */
    TALUS_SHAPE_HULL,      /* convex hull of points */
    TALUS_SHAPE_COMPOUND,  /* rigidly joined parts, each a convex shape; parts may overlap */
    TALUS_SHAPE_MESH,      /* triangles, anticlockwise seen from outside */
    TALUS_SHAPE_FIELD,     /* heights over a grid of the x-y plane, solid below */
    TALUS_SHAPE_KINDS
} TalusShapeKind;

typedef struct TalusShapePart TalusShapePart;

typedef struct TalusShapeDef {
    TalusShapeKind kind;
    TalusVec3 half;        /* box: half extents; ellipsoid: semi-axes */
    double radius;         /* cylinder, capsule, cone (a sphere's default radius) */
    double half_height;    /* cylinder, cone; capsule: half height of the straight part */
    const double *profile; /* revolve: point_count pairs (radius >= 0, height) */
    int point_count;
    const TalusVec3 *vertex; /* hull: points, interior ones are dropped; mesh: corners */
    int vertex_count;
    const int32_t *triangle; /* mesh: three vertices each */
    int triangle_count;
    const double *height; /* field: columns (x) times rows (y), x fastest, centred on the origin */
    int columns, rows;
    double spacing;             /* field: distance of neighbouring heights */
    const TalusShapePart *part; /* compound */
    int part_count;
    /* Inertia over mass about the centre of mass, in the axes of the shape, m2; all 0: that of a uniform body. Not for a
     * sphere or a shape without mass. No principal moment is above the sum of the other two. */
    TalusSym3 gyration;
} TalusShapeDef;

/* One part of a compound, in the compound's coordinates: sphere (with its radius), box, cylinder, capsule, cone,
 * ellipsoid or hull. Mass and inertia count an overlap once per part: give a body's mass where that matters. */
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

/* Name in scene files ("sphere"), and a one-line summary. */
TALUS_API const char *talus_shape_name(TalusShapeKind kind);
TALUS_API const char *talus_shape_summary(TalusShapeKind kind);

/* Computes the mass properties at a density, kg/m3; `radius` is the body's radius for a sphere, else ignored. Shapes
 * without volume (plane, revolve, mesh, field) fail with TALUS_ERR_ARGUMENT. */
TALUS_API TalusStatus talus_shape_mass(const TalusShapeDef *def, double radius, double density,
                                       TalusMassProperties *out);

/* Sets *out to the centre of mass in the coordinates in which a hull or compound was given; the origin for other
 * shapes. A body's position is the position of its centre of mass. */
TALUS_API TalusStatus talus_shape_centre(const TalusShapeDef *def, TalusVec3 *out);

#ifdef __cplusplus
}
#endif

#endif
