/* draw/polyhedron.h - convex piece of a shape: flat facets, sharp sides, and corner normals for smooth shading. */
#ifndef TALUS_DRAW_POLYHEDRON_H
#define TALUS_DRAW_POLYHEDRON_H

#include "draw/vec.h"
#include "geometry/mesh.h"

#include <stdbool.h>
#include <stdint.h>

/* Normal of a triangle, as long as twice its area. */
static inline TalusVec3 talus_area_normal(const TalusMesh *mesh, const int *t)
{
    TalusVec3 a = mesh->vertex[t[0]];
    return talus_cross(talus_sub(mesh->vertex[t[1]], a), talus_sub(mesh->vertex[t[2]], a));
}

/* A corner of a facet, relative to the middle of the piece. */
typedef struct TalusCorner {
    TalusF3 at, normal;
    int32_t vertex; /* of the mesh */
    bool sharp;     /* the side from here to the next corner is sharp */
} TalusCorner;

/* A convex polygon; the inside of the piece satisfies dot(normal, x) <= offset. */
typedef struct TalusFacet {
    TalusF3 normal;
    float offset;
    int32_t first, count; /* its corners, anticlockwise seen from outside */
    bool flat;            /* all corners have one normal */
    TalusF3 middle;
    float clearance; /* distance of `middle` from the nearest sharp side; INFINITY: none */
} TalusFacet;

typedef struct TalusPolyhedron {
    TalusFacet *facet;
    TalusCorner *corner;
    int facets, corners;
    float deviation; /* from the round shape that it approximates, in bounding radii */
    float ellipsoid; /* half axes of the ellipsoid of equal volume, in half extents of the box */
} TalusPolyhedron;

/* Makes a polyhedron of triangles `from` to `to` of a mesh, relative to `middle`; `half`: half extents of its box. */
TalusStatus talus_polyhedron_create(const TalusMesh *mesh, int from, int to, TalusVec3 middle,
                                    TalusVec3 half, TalusPolyhedron *out);
/* Accepts a zero-initialised polyhedron. */
void talus_polyhedron_free(TalusPolyhedron *polyhedron);

/* Unit normal at a point of a facet. */
TalusF3 talus_polyhedron_normal(const TalusPolyhedron *polyhedron, int facet, TalusF3 at);
/* True if a sharp side of the facet is closer than `within` to the point. */
bool talus_polyhedron_near_edge(const TalusPolyhedron *polyhedron, int facet, TalusF3 at,
                                float within);

#endif
