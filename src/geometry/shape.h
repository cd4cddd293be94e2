/* geometry/shape.h - shapes as the engine stores them. */
#ifndef TALUS_GEOMETRY_SHAPE_H
#define TALUS_GEOMETRY_SHAPE_H

#include "geometry/traits.h"

#include <talus/shape.h>

/* Topology of a convex polyhedron; vertices are def.vertex. Faces are maximal planar polygons, anticlockwise
 * seen from outside. */
typedef struct TalusHull {
    int faces, edges;
    /* [faces]: outward unit normal n and d; the face lies on n.x = d up to 2^-22 of the extent, and no vertex is
     * beyond it by more than 2^-37. */
    const double (*plane)[4];
    const int32_t *loop_start; /* [faces + 1] into loop */
    const int32_t *loop;       /* vertices of each face in order */
    /* [edges]: two vertices, the two faces that meet there; the first face has them in this order. */
    const int32_t (*edge)[4];
    /* [vertices + 1] into neighbour: along edges and, where faces have more than three corners, across them, for
     * climbing. */
    const int32_t *neighbour_start;
    const int32_t *neighbour;
} TalusHull;

/* Bounding boxes of triangles or cells as a binary tree in depth-first order. */
typedef struct TalusTreeNode {
    float lo[3], hi[3]; /* rounded outwards */
    int32_t skip; /* node to go on with where this one is not met; children follow otherwise */
    int32_t item; /* leaf: its triangle; inner node: -1 */
} TalusTreeNode;

typedef struct TalusTree {
    int nodes;
    const TalusTreeNode *node;
} TalusTree;

/* What contact with a mesh needs to know beyond corners of triangles. A side 3 t + k is edge k of triangle t,
 * from its corner k to the next (adjacency.h). */
typedef struct TalusMeshTopology {
    const int32_t *across;     /* [3 triangles]: the next side on the same edge; -1: free edge */
    const uint8_t *mark;       /* [triangles]: TALUS_MARK_* */
    const int32_t *patch;      /* [triangles]: the first triangle of the flat patch it lies in */
    const int32_t *ring_start; /* [vertices + 1] into ring */
    const int32_t *ring;       /* the vertices that each vertex shares an edge with */
    const double (
        *lean)[3]; /* [vertices]: normals around it, weighted by angle: its outward side */
} TalusMeshTopology;

enum {
    TALUS_MARK_CORNER = 1, /* bits 0 .. 2: the triangle is the first at this corner */
    TALUS_MARK_SIDE = 8,   /* bits 3 .. 5: it is the first at this edge */
    TALUS_MARK_SOLID = 64, /* it bounds a solid: its part of the surface is closed */
    TALUS_MARK_MANY = 128  /* its flat patch has more triangles */
};

/* A checked copy of a TalusShapeDef that owns its arrays. All of them lie in one block of memory, so that a
 * device copies the block and calls talus_shape_rebase. */
typedef struct TalusShape {
    /* Arrays in the block. A definition of the shape as it is: a hull's points are its vertices, and a hull or a
     * compound has its centre of mass at the origin. Made anew from it, a shape has the same bits. */
    TalusShapeDef def;
    double bounding_radius;   /* about the body's origin; 0 where unbounded or a sphere */
    double size;              /* smallest half extent; 0 for plane, revolve, mesh and field */
    TalusVec3 centre;         /* subtracted from all coordinates: where the centre of mass was */
    TalusMassProperties unit; /* at density 1; 0 for a sphere and for what has no volume */
    TalusAabb box;            /* in the body's frame; of hull, compound, mesh and field */
    TalusHull hull;
    TalusTree tree;
    TalusMeshTopology mesh;
    const struct TalusChild *child; /* compound: [def.part_count] */
    unsigned char *block;
    size_t block_size;
} TalusShape;

/* A part of a compound; its arrays lie in the compound's block. */
typedef struct TalusChild {
    TalusShape shape;
    TalusVec3 position; /* of its origin, in the compound's frame */
    TalusQuat orientation;
} TalusChild;

/* Checks the def (positive sizes, at least two profile points, no two equal neighbours, radii not
 * negative, everything finite) and copies it. */
TalusStatus talus_shape_init(TalusShape *shape, const TalusShapeDef *def);
void talus_shape_clear(TalusShape *shape);

/* Makes a copy of the struct the owner of a copy of its block. `copy` is where that lies now and can be written,
 * `to` where it will be read: the same on the host, the address on a device that `copy` goes to afterwards. */
void talus_shape_rebase(TalusShape *shape, unsigned char *copy, unsigned char *to);

/* Mass properties of a shape, as talus_shape_mass. */
TalusStatus talus_shape_properties(const TalusShape *shape, double radius, double density,
                                   TalusMassProperties *out);

#endif
