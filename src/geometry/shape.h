/* geometry/shape.h - shapes as the engine stores them. */
#ifndef TALUS_GEOMETRY_SHAPE_H
#define TALUS_GEOMETRY_SHAPE_H

#include <talus/shape.h>

/* Topology of a convex polyhedron; vertices are def.vertex. Faces are maximal planar polygons, anticlockwise
 * seen from outside. */
typedef struct TalusHull {
    int faces, edges;
    const double (*plane)[4];  /* [faces]: outward unit normal n and d, the face lying on n.x = d */
    const int32_t *loop_start; /* [faces + 1] into loop */
    const int32_t *loop;       /* vertices of each face in order */
    const int32_t (*edge)[4];  /* [edges]: two vertices, the two faces that meet there */
    const int32_t *neighbour_start; /* [vertices + 1] into neighbour: along edges, for climbing */
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

/* What contact with a mesh needs to know of each triangle beyond its corners: bit k set where edge k (from
 * corner k to the next), bit 3 + k where corner k may be touched, that is where the surface is convex or free;
 * and for each edge the neighbour's normal, so that normals between the two are told from phantom ones. */
typedef struct TalusMeshTopology {
    const uint8_t *open;        /* [triangles] */
    const int32_t (*across)[3]; /* [triangles]: neighbour over edge k; -1: free edge */
} TalusMeshTopology;

/* A checked copy of a TalusShapeDef that owns its arrays. All of them lie in one block of memory without
 * pointers in it except `child`, so that a device copies the block and calls talus_shape_rebase. */
typedef struct TalusShape {
    TalusShapeDef def;      /* arrays in block; `part` is NULL, `child` has the parts */
    double bounding_radius; /* about the body's origin; 0 where unbounded or a sphere */
    double size;            /* smallest half extent; 0 for plane, revolve, mesh and field */
    TalusVec3 centre;       /* subtracted from all coordinates: where the centre of mass was */
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

/* Points all arrays of a shape, whose block has been copied to `to`, there. The children in the block too:
 * call it with the block where it can be written, before it goes where it is read. */
void talus_shape_rebase(TalusShape *shape, const unsigned char *to);

/* True for shapes that may only belong to fixed bodies (plane, revolve). */
bool talus_shape_fixed_only(TalusShapeKind kind);

#endif
