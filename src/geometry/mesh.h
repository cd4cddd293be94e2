/* geometry/mesh.h - triangles of shapes, for pictures and for files that other programs read. */
#ifndef TALUS_GEOMETRY_MESH_H
#define TALUS_GEOMETRY_MESH_H

#include <talus/shape.h>

/* Vertices are doubled along sharp edges, so that every corner of a triangle has the normal of its
 * face; the triangles of a solid close it without gaps all the same. */
typedef struct TalusMesh {
    int vertex_count, triangle_count, edge_count, piece_count;
    TalusVec3 *vertex, *normal; /* normals: unit, out of a solid, away from the axis of a revolve */
    int *triangle; /* 3 vertices each, anticlockwise seen from where the normals point */
    int *edge;     /* 2 vertices each: the lines of a drawing, that is sharp edges and free rims */
    int *piece;    /* triangles of each convex piece, which follow one another; walls have none */
} TalusMesh;

enum { TALUS_MESH_SEGMENTS = 64 }; /* of a full circle, where nothing speaks for another number */

/* In the body's frame. A sphere is the unit sphere, to be scaled by the body's radius; a plane is a
 * square of half width `extent` (which other shapes ignore), normal +z. `segments` >= 4, a multiple
 * of 4, divides circles. On failure the mesh is empty. */
TalusStatus talus_mesh_of_shape(const TalusShapeDef *shape, double extent, int segments,
                                TalusMesh *out);

/* The plane of a fixed body: free space is where dot(normal, x - point) > 0. */
typedef struct TalusMeshPlane {
    TalusVec3 point, normal; /* unit */
} TalusMeshPlane;

/* Planes are half spaces, so what several of them leave free is convex: the part of planes[which]
 * that bounds it, within `bounds`, in the world frame. Five planes give the five faces of an open
 * box instead of five squares that stick out of one another. No triangle where nothing is left. */
TalusStatus talus_mesh_of_plane(const TalusMeshPlane *planes, int count, int which,
                                TalusAabb bounds, TalusMesh *out);

/* A zeroed mesh is fine. */
void talus_mesh_free(TalusMesh *mesh);

#endif
