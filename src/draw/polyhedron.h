/* draw/polyhedron.h - convex piece of a shape: flat facets, sharp sides, and corner normals for smooth shading. */
#ifndef TALUS_DRAW_POLYHEDRON_H
#define TALUS_DRAW_POLYHEDRON_H

#include "draw/vec.h"
#include "geometry/mesh.h"

#include <stdbool.h>
#include <stdint.h>

/* A convex polygon; the inside of the piece satisfies dot(normal, x) <= offset. */
typedef struct TalusFacet {
    TalusF3 normal;
    float offset;
    int32_t first, count; /* range in the polyhedron's loop */
    bool flat;            /* all corners have one normal */
    TalusF3 middle;
    float free; /* distance of `middle` from the nearest sharp side; INFINITY: none */
} TalusFacet;

typedef struct TalusPolyhedron {
    TalusFacet *facet;
    TalusF3 *corner, *bend; /* corners relative to the middle of the piece; their normals */
    int32_t *loop;          /* corners of each facet, anticlockwise seen from outside */
    bool *sharp;            /* per entry of `loop`: the side from its corner to the next is sharp */
    int facets, corners;
    float off;   /* deviation from the round shape that it approximates, in bounding radii */
    float round; /* ratio of the ellipsoid of equal volume to the box's half extents */
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
