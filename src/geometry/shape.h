/* geometry/shape.h - shapes as the engine stores them. */
#ifndef TALUS_GEOMETRY_SHAPE_H
#define TALUS_GEOMETRY_SHAPE_H

#include "geometry/traits.h"

#include <talus/shape.h>

/* Topology of a convex polyhedron of def.vertex. Faces are maximal planar polygons, anticlockwise seen from outside. */
typedef struct TalusHull {
    int faces, edges;
    /* [faces]: outward unit normal n and d. Corners of the face are at most about 2^-22 extents below n.x = d; no
     * vertex is above it but for rounding. */
    const double (*plane)[4];
    const int32_t *loop_start; /* [faces + 1] into loop */
    const int32_t *loop;       /* vertices of each face in order */
    /* [edges]: two vertices and the two faces that share them; the first face has the vertices in this order. */
    const int32_t (*edge)[4];
    /* [vertices + 1] into neighbour: the vertices joined to each one by an edge or by a diagonal of a triangulated
     * face; the support function climbs along them. */
    const int32_t *neighbour_start;
    const int32_t *neighbour;
} TalusHull;

/* Bounding boxes of a mesh's triangles as a binary tree in depth-first order (tree.h). */
typedef struct TalusTreeNode {
    float lo[3], hi[3]; /* rounded outwards */
    int32_t skip; /* index of the next node if this one is not met; if met, node + 1 is next */
    int32_t item; /* leaf: its triangle; inner node: -1 */
} TalusTreeNode;

typedef struct TalusTree {
    int nodes;
    const TalusTreeNode *node;
} TalusTree;

/* Topology of a mesh, for contacts. Side 3 t + k: edge k of triangle t, from its corner k to the next (adjacency.h). */
typedef struct TalusMeshTopology {
    const int32_t *across;     /* [3 triangles]: the next side on the same edge; -1: free edge */
    const uint8_t *mark;       /* [triangles]: TALUS_MARK_* */
    const int32_t *patch;      /* [triangles]: the first triangle of its flat patch */
    const int32_t *ring_start; /* [vertices + 1] into ring */
    const int32_t *ring;       /* the neighbours of each vertex along edges */
    const double (
        *pseudonormal)[3]; /* [vertices]: sum of the normals around, weighted by angle: outward */
} TalusMeshTopology;

enum {
    TALUS_MARK_CORNER = 1, /* bits 0 .. 2: the triangle is the first at this corner's vertex */
    TALUS_MARK_SIDE = 8,   /* bits 3 .. 5: it is the first at this edge */
    TALUS_MARK_SOLID = 64, /* it bounds a solid: its part of the surface is closed */
    TALUS_MARK_MANY = 128  /* its flat patch has other triangles */
};

/* A checked copy of a TalusShapeDef that owns its arrays. All arrays are in one block of memory, so that a device
 * copies the block and calls talus_shape_rebase. */
typedef struct TalusShape {
    /* Definition of the shape as built, with its arrays in the block: a hull's points are its vertices, and a hull or a
     * compound has its centre of mass at the origin. A shape made from this definition has the same bits. */
    TalusShapeDef def;
    double bounding_radius;   /* about the body's origin; 0: unbounded or a sphere */
    double size;              /* smallest half extent; 0 for sphere, plane, revolve, mesh, field */
    TalusVec3 centre;         /* hull, compound: given centre of mass, moved to the origin */
    TalusMassProperties unit; /* at density 1; 0: a sphere, or no volume */
    TalusAabb box;            /* in the body's frame; for hull, compound, mesh and field */
    TalusHull hull;
    TalusTree tree;
    TalusMeshTopology mesh;
    const struct TalusChild *child; /* compound: [def.part_count] */
    unsigned char *block;
    size_t block_size;
} TalusShape;

/* A part of a compound; its arrays are in the compound's block. */
typedef struct TalusChild {
    TalusShape shape;
    TalusVec3 position; /* of its origin, in the compound's frame */
    TalusQuat orientation;
} TalusChild;

/* Checks the def by the rules of its kind (TalusShapeOps.check) and builds the shape. On failure the shape is all
 * zero. */
TalusStatus talus_shape_init(TalusShape *shape, const TalusShapeDef *def);
void talus_shape_clear(TalusShape *shape);

/* Makes a copy of the struct refer to a copy of its block. `copy` is where the block can be written, `to` where it will
 * be read: the same on the host, else the device address that `copy` is uploaded to afterwards. */
void talus_shape_rebase(TalusShape *shape, unsigned char *copy, unsigned char *to);

/* Computes mass properties as talus_shape_mass does. */
TalusStatus talus_shape_properties(const TalusShape *shape, double radius, double density,
                                   TalusMassProperties *out);

#endif
