/* draw/polyhedron.h - convex piece of a shape: plane facets, their sharp sides, corner normals for smooth shading. */
#ifndef TALUS_DRAW_POLYHEDRON_H
#define TALUS_DRAW_POLYHEDRON_H

#include "draw/vec.h"
#include "geometry/mesh.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns the normal of the triangle t[0..2] to the side that sees it anticlockwise; its length is twice the area. */
static inline TalusVec3 talus_area_normal(const TalusMesh *mesh, const int *t)
{
    TalusVec3 a = mesh->vertex[t[0]];
    return talus_cross(talus_sub(mesh->vertex[t[1]], a), talus_sub(mesh->vertex[t[2]], a));
}

/* A corner of a facet. Vectors of this header are in the body's axes. */
typedef struct TalusFacetCorner {
    TalusF3 at;     /* relative to the middle of the piece */
    TalusF3 normal; /* unit, for shading */
    int32_t vertex; /* index in the mesh */
    bool sharp;     /* the side from this corner to the next is sharp */
} TalusFacetCorner;

/* A convex polygon; the inside of the piece satisfies dot(normal, x) <= offset, x relative to the piece's middle. */
typedef struct TalusPolygonFacet {
    TalusF3 normal; /* unit */
    float offset;
    int32_t first, count; /* its corners in `corner`, anticlockwise seen from outside */
    bool flat;            /* the normals of all corners are equal, within 0.8 degrees */
    TalusF3 middle;       /* mean of the corners */
    float clearance; /* distance of `middle` from the nearest sharp side's line; INFINITY: none */
} TalusPolygonFacet;

/* One level of detail of a piece. */
typedef struct TalusPolyhedron {
    TalusPolygonFacet *facet;
    TalusFacetCorner *corner;
    int facets, corners;
    float deviation; /* estimated distance from the round shape, in bounding radii; 0: all flat */
    float ellipsoid; /* half axes of the ellipsoid of equal volume over half extents of the box */
} TalusPolyhedron;

/* Makes a polyhedron of the triangles [from, to) of a mesh. `middle` and `half` are middle and half extents of the
 * piece's box; coordinates of the polyhedron are relative to `middle`. On failure the polyhedron is empty. */
TalusStatus talus_polyhedron_create(const TalusMesh *mesh, int from, int to, TalusVec3 middle,
                                    TalusVec3 half, TalusPolyhedron *out);
/* Releases the memory; accepts a zero-initialised polyhedron. */
void talus_polyhedron_free(TalusPolyhedron *polyhedron);

/* Returns the unit normal at point `at` of a facet: interpolated between its corners, or the facet's if it is flat. */
TalusF3 talus_polyhedron_normal(const TalusPolyhedron *polyhedron, int facet, TalusF3 at);
/* True if the line of a sharp side of the facet is closer than `within` to the point `at`. */
bool talus_polyhedron_near_edge(const TalusPolyhedron *polyhedron, int facet, TalusF3 at,
                                float within);

#endif
