/* geometry/mesh.h - triangles of shapes, for pictures and for files that other programs read. */
#ifndef TALUS_GEOMETRY_MESH_H
#define TALUS_GEOMETRY_MESH_H

#include <talus/shape.h>

/* Triangles of a shape. Vertices are duplicated along sharp edges, so that each face has its own normal at its corners.
 * The triangles of a solid still form a closed surface. */
typedef struct TalusMesh {
    int vertex_count, triangle_count, edge_count, piece_count;
    TalusVec3 *vertex;
    TalusVec3 *normal; /* unit: out of a solid, up from a field, mostly out of a revolve */
    int *triangle;     /* 3 vertices each, anticlockwise seen from where the normals point */
    int *edge;         /* 2 vertices each: lines to draw, that is sharp edges and free rims */
    int *piece;        /* [piece_count]: triangles of each convex piece, in order; none for walls */
} TalusMesh;

enum { TALUS_MESH_SEGMENTS = 64 }; /* default segments of a full circle */

/* Makes the mesh of a shape in the body's frame. A sphere is the unit sphere, to be scaled by the body's radius; a
 * plane is a square of half width `extent` (which other shapes ignore), normal +z. `segments` >= 4, a multiple of 4,
 * divides circles. Free the mesh with talus_mesh_free; on failure it is empty. */
TalusStatus talus_mesh_of_shape(const TalusShapeDef *shape, double extent, int segments,
                                TalusMesh *out);

/* A plane that bounds free space, which is where dot(normal, x - point) > 0. */
typedef struct TalusMeshPlane {
    TalusVec3 point, normal; /* normal: unit */
} TalusMeshPlane;

/* Makes the mesh of a part of planes[which], in the frame in which planes and bounds are given: the part within
 * `bounds` that lies on the free side of all other planes. Five planes so give the five faces of an open box, not five
 * intersecting squares. The mesh may be empty; on failure it is. Free it with talus_mesh_free. */
TalusStatus talus_mesh_of_plane(const TalusMeshPlane *planes, int count, int which,
                                TalusAabb bounds, TalusMesh *out);

/* Releases the memory of a mesh; accepts a zeroed one. */
void talus_mesh_free(TalusMesh *mesh);

#endif
