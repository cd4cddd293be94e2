/* geometry/hull_work.h - the two steps from points to a polyhedron: an exact triangulation, then planar faces. */
#ifndef TALUS_GEOMETRY_HULL_WORK_H
#define TALUS_GEOMETRY_HULL_WORK_H

#include <talus/base.h>
#include <talus/math.h>

/* Bits of a coordinate of a point on the grid: a determinant of three differences of such points is exact in 128
 * bits. */
enum { TALUS_GRID_BITS = 40 };

typedef struct TalusGridPoint {
    int64_t x, y, z; /* 0 to 2^40 */
} TalusGridPoint;

/* A closed surface of triangles, anticlockwise seen from outside. */
typedef struct TalusTriangulation {
    int triangles;
    int32_t (*corner)[3]; /* points */
    int32_t (*across)[3]; /* the triangle beyond the edge from corner k to the next */
} TalusTriangulation;

/* Computes the exact hull of points on the grid: every point lies on or below the plane of every triangle. Points in
 * the plane of a face or on an edge may or may not be corners. *flat: all points lie in one plane, and there are no
 * triangles. Free *out with talus_triangulation_free; on failure it is empty. */
TalusStatus talus_triangulate(const TalusGridPoint *point, int count, TalusTriangulation *out,
                              bool *flat);
/* Releases and zeroes a triangulation; accepts a zeroed one. */
void talus_triangulation_free(TalusTriangulation *triangulation);

/* (b - a) x (c - a), exact up to its rounding to double: outward for a triangle of TalusTriangulation. */
TalusVec3 talus_grid_normal(TalusGridPoint a, TalusGridPoint b, TalusGridPoint c);

/* Planar faces of a triangulation: connected triangles in one plane up to the tolerance. */
typedef struct TalusFaces {
    int faces;
    int32_t *face;       /* [triangles]: the face of each triangle */
    int32_t *loop_start; /* [faces + 1]: index in loop of the first corner of each face */
    int32_t *loop;       /* corners of each face in order, anticlockwise from outside */
    TalusVec3 *normal;   /* [faces]: unit */
} TalusFaces;

/* Finds the faces of the triangulation of grid[count]; point[count] are the same points before rounding, tolerance is
 * in their unit. Free *out with talus_faces_free; on failure it is empty and keep[] is not set. Sets keep[] of all
 * points: false for points that are no corner, and for redundant corners, which are within the tolerance of a face, an
 * edge or another corner. After dropping such points the caller must triangulate again. */
TalusStatus talus_find_faces(const TalusTriangulation *t, const TalusGridPoint *grid,
                             const TalusVec3 *point, int count, double tolerance, TalusFaces *out,
                             bool *keep);
/* Releases and zeroes faces; accepts zeroed ones. */
void talus_faces_free(TalusFaces *faces);

#endif
