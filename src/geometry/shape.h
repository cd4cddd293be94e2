/* geometry/shape.h - shapes as the engine stores them. */
#ifndef TALUS_GEOMETRY_SHAPE_H
#define TALUS_GEOMETRY_SHAPE_H

#include "geometry/traits.h"

#include <talus/shape.h>

/* Topology of a convex polyhedron of def.vertex. Faces are maximal planar polygons, anticlockwise seen from outside. */
typedef struct TalusHull {
    int faces, edges;
    /* [faces]: outward unit normal n and offset d of the plane n.x = d. No vertex is above the plane, up to rounding;
     * the corners of the face are at most about 2^-22 extents below it. */
    const double (*plane)[4];
    const int32_t *loop_start; /* [faces + 1]: index in loop of the first vertex of each face */
    const int32_t *loop;       /* vertices of each face in order */
    /* [edges]: the two vertices of an edge and its two faces; the loop of the first face has the vertices in this
     * order. */
    const int32_t (*edge)[4];
    /* neighbour: by vertex, the vertices joined to it by an edge or by a diagonal of a triangulated face; the support
     * function climbs along these. neighbour_start[vertices + 1]: index in neighbour of the first one of each
     * vertex. */
    const int32_t *neighbour_start;
    const int32_t *neighbour;
} TalusHull;

/* Bounding boxes of a mesh's triangles as a binary tree in depth-first order (tree.h). */
typedef struct TalusTreeNode {
    float lo[3], hi[3]; /* rounded outwards */
    int32_t skip; /* index of the node after all descendants, where a search that misses goes on */
    int32_t item; /* leaf: index of its triangle; inner node: -1 */
} TalusTreeNode;

typedef struct TalusTree {
    int nodes;
    const TalusTreeNode *node;
} TalusTree;

/* Topology of a mesh, for contacts. Side 3 t + k: edge k of triangle t, from its corner k to the next (adjacency.h). */
typedef struct TalusMeshTopology {
    const int32_t *across;     /* [3 triangles]: the next side on the same edge; -1: free edge */
    const uint8_t *mark;       /* [triangles]: TALUS_MARK_* */
    const int32_t *patch;      /* [triangles]: the first triangle of the flat patch of each */
    const int32_t *ring_start; /* [vertices + 1]: index in ring of each vertex's first neighbour */
    const int32_t *ring;       /* by vertex: the vertices joined to it by edges */
    /* [vertices]: outward, not normalised: sum of the normals around the vertex, weighted by their angles there */
    const double (*pseudonormal)[3];
} TalusMeshTopology;

/* Bits of TalusMeshTopology.mark, about a triangle. */
enum {
    TALUS_MARK_CORNER = 1, /* bit 0 + k: no earlier triangle has the vertex at corner k */
    TALUS_MARK_SIDE = 8,   /* bit 3 + k: no earlier triangle has the edge of side k */
    TALUS_MARK_SOLID = 64, /* it bounds a solid: its connected part of the surface is closed */
    TALUS_MARK_SHARES_PATCH = 128 /* the flat patch of the triangle has other triangles */
};

/* A checked copy of a TalusShapeDef that owns its arrays. All arrays are in one block of memory, so that a device
 * copies the block and calls talus_shape_rebase. */
typedef struct TalusShape {
    /* Definition of the shape as built, with its arrays in the block: a hull's points are its vertices, and a hull or a
     * compound has its centre of mass at the origin. A shape made from this definition has the same bits. */
    TalusShapeDef def;
    double bounding_radius; /* about the body's origin; 0: unbounded or a sphere */
    /* Smallest half extent: of a cone the radius of the inscribed ball, of a hull half its width, of a compound the
     * smallest of its parts. 0 for sphere, plane, revolve, mesh and field. */
    double size;
    /* Hull, compound: centre of mass of the definition as given, in its frame; def has it at the origin. Else 0. */
    TalusVec3 centre;
    TalusMassProperties unit; /* mass properties at density 1; 0 for a sphere, or without volume */
    TalusAabb box;            /* in the body's frame; for hull, compound, mesh and field */
    TalusHull hull;           /* of a hull */
    TalusTree tree;           /* of a mesh */
    TalusMeshTopology mesh;   /* of a mesh */
    const struct TalusChild *child; /* compound: [def.part_count] */
    unsigned char *block;           /* memory of all arrays */
    size_t block_size;
} TalusShape;

/* A part of a compound; its arrays are in the compound's block. */
typedef struct TalusChild {
    TalusShape shape;
    TalusVec3 position; /* position of the part's origin in the compound's frame */
    TalusQuat orientation;
} TalusChild;

/* Checks the def by the rules of its kind (TalusShapeOps.check_def) and builds the shape. On failure the shape is all
 * zero. */
TalusStatus talus_shape_init(TalusShape *shape, const TalusShapeDef *def);
/* Fails unless an inertia, or inertia over mass, is one that a body can have. */
TalusStatus talus_check_inertia(const char *name, TalusSym3 inertia);
/* Releases the block and zeroes the shape; accepts a zeroed one. */
void talus_shape_clear(TalusShape *shape);

/* Changes the pointers of *shape, a copy of a shape, from the original block to a copy of the block. `copy`: address
 * where the copy of the block can be written; `to`: address where it will be read. They are the same on the host; for a
 * device, `to` is the device address that `copy` is uploaded to afterwards. */
void talus_shape_rebase(TalusShape *shape, unsigned char *copy, unsigned char *to);

/* As talus_shape_mass, for a shape that is built already. radius: of the body, used for spheres. */
TalusStatus talus_shape_mass_of_built(const TalusShape *shape, double radius, double density,
                                      TalusMassProperties *out);

#endif
