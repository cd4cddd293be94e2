/* geometry/traits.h - table of shapes: each kind with the file that implements it and its traits; for host and device.
 * Shared code tests traits instead of kinds where it can; a new convex kind also needs a case in support.h. Also the
 * list of the lengths that define shapes. */
#ifndef TALUS_GEOMETRY_TRAITS_H
#define TALUS_GEOMETRY_TRAITS_H

#include <talus/math.h>
#include <talus/shape.h>

enum {
    TALUS_TRAIT_CONVEX = 1,      /* solid, with a support function (geometry/support.h) */
    TALUS_TRAIT_ROLLS = 2,       /* has a rolling radius (engine/contact_terms.h) */
    TALUS_TRAIT_AXIAL = 4,       /* symmetric under rotation about z */
    TALUS_TRAIT_WALL = 8,        /* has no mass: fixed or driven bodies only */
    TALUS_TRAIT_HALF_SPACE = 16, /* solid below z = 0, without bounds */
    TALUS_TRAIT_FACETS = 32,     /* a surface of triangles (geometry/facets.h) */
    TALUS_TRAIT_VESSEL = 64,     /* a wall whose normals point away from its contents */
    TALUS_TRAIT_GROUND = 128     /* a wall that is solid below and supports bodies */
};

/* One row per kind: X(argument, kind, file, name, traits). The kinds are in the order of TalusShapeKind. */
#define TALUS_SHAPE_TABLE(X, argument)                                                     \
    X(argument, SPHERE, sphere, "sphere",                                                  \
      TALUS_TRAIT_CONVEX | TALUS_TRAIT_ROLLS | TALUS_TRAIT_AXIAL)                          \
    X(argument, PLANE, plane, "plane", TALUS_TRAIT_WALL | TALUS_TRAIT_HALF_SPACE)          \
    X(argument, BOX, box, "box", TALUS_TRAIT_CONVEX)                                       \
    X(argument, CYLINDER, cylinder, "cylinder",                                            \
      TALUS_TRAIT_CONVEX | TALUS_TRAIT_ROLLS | TALUS_TRAIT_AXIAL)                          \
    X(argument, REVOLVE, revolve, "revolve", TALUS_TRAIT_WALL | TALUS_TRAIT_VESSEL)        \
    X(argument, CAPSULE, capsule, "capsule",                                               \
      TALUS_TRAIT_CONVEX | TALUS_TRAIT_ROLLS | TALUS_TRAIT_AXIAL)                          \
    X(argument, CONE, cone, "cone", TALUS_TRAIT_CONVEX | TALUS_TRAIT_AXIAL)                \
    X(argument, ELLIPSOID, ellipsoid, "ellipsoid", TALUS_TRAIT_CONVEX | TALUS_TRAIT_ROLLS) \
    X(argument, HULL, hull, "hull", TALUS_TRAIT_CONVEX)                                    \
    X(argument, COMPOUND, compound, "compound", 0)                                         \
    X(argument, MESH, trimesh, "mesh", TALUS_TRAIT_WALL | TALUS_TRAIT_FACETS)              \
    X(argument, FIELD, field, "field", TALUS_TRAIT_WALL | TALUS_TRAIT_FACETS | TALUS_TRAIT_GROUND)

/* The members of TalusShapeDef that are lengths of kinds: X(member, name). Bits of `uses` (geometry/kinds.h), checks,
 * frames and saved states follow from this list. Saved states have the lengths in this order: append new ones. */
#define TALUS_SHAPE_LENGTHS(X) \
    X(radius, RADIUS)          \
    X(half_height, HALF_HEIGHT)

#define TALUS_TRAIT_BIT(trait, kind, file, name, traits) \
    | (((traits) & (trait)) != 0 ? 1u << TALUS_SHAPE_##kind : 0u)

/* True if a kind has one of these traits. For a constant `trait` the table is one constant word of bits. */
TALUS_INLINE bool talus_shape_has(TalusShapeKind kind, int trait)
{
    unsigned kinds = 0u TALUS_SHAPE_TABLE(TALUS_TRAIT_BIT, trait);
    return (kinds >> (unsigned)kind & 1u) != 0;
}

#endif
