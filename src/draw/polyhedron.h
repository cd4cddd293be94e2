/* draw/polyhedron.h - a convex piece of a shape, made from its triangles: flat facets, which of their sides are
 * sharp, and normals at their corners, so that what is round looks round. */
#ifndef TALUS_DRAW_POLYHEDRON_H
#define TALUS_DRAW_POLYHEDRON_H

#include "draw/vec.h"
#include "geometry/mesh.h"

#include <stdbool.h>
#include <stdint.h>

/* A convex polygon: the inside of the piece is where dot(normal, x) <= offset. */
typedef struct TalusFacet {
    TalusF3 normal;
    float offset;
    int32_t first, count; /* in the polyhedron's loop */
    bool flat;            /* all corners have one normal */
    TalusF3 middle;
    float free; /* no sharp side is nearer to `middle`; INFINITY: it has none */
} TalusFacet;

typedef struct TalusPolyhedron {
    TalusFacet *facet;
    TalusF3 *corner, *bend; /* corners about the middle of the piece, and the normals there */
    int32_t *loop;          /* corners of each facet, anticlockwise from outside */
    bool *sharp;            /* of each entry of `loop`: the side from it to the next one */
    int facets, corners;
    float off;   /* how far it is off the round shape that it stands for, in bounding radii */
    float round; /* the ellipsoid of its volume has so much of the box's half extents */
} TalusPolyhedron;

/* Of triangles `from` to `to` of a mesh, about `middle`; `half` is half the box about the piece. */
TalusStatus talus_polyhedron_create(const TalusMesh *mesh, int from, int to, TalusVec3 middle,
                                    TalusVec3 half, TalusPolyhedron *out);
/* A zeroed one is fine. */
void talus_polyhedron_free(TalusPolyhedron *polyhedron);

/* The unit normal at a point of a facet. */
TalusF3 talus_polyhedron_normal(const TalusPolyhedron *polyhedron, int facet, TalusF3 at);
/* Whether a sharp side of the facet is nearer to a point of it than this. */
bool talus_polyhedron_near_edge(const TalusPolyhedron *polyhedron, int facet, TalusF3 at,
                                float within);

#endif
