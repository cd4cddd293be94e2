/* draw/solid.h - the convex solids of a picture, and where a ray meets one.
 *
 * A ray is inside a convex solid from t0 to t1, so a cut by a plane is a cut of that stretch, and the
 * face it leaves has the plane's normal: nothing has to be made of triangles but a ground that is given
 * by them. */
#ifndef TALUS_DRAW_SOLID_H
#define TALUS_DRAW_SOLID_H

#include "draw/view.h"

#include <stddef.h>
#include <stdint.h>

typedef enum TalusFormKind {
    TALUS_FORM_BOX,
    TALUS_FORM_CYLINDER,
    TALUS_FORM_CAPSULE,
    TALUS_FORM_CONE,
    TALUS_FORM_ELLIPSOID,
    TALUS_FORM_HULL,
    TALUS_FORM_TRIANGLE /* of a ground: no inside, and never cut */
} TalusFormKind;

/* A face of a hull: the inside is where dot(normal, x) <= offset, about the form's middle. */
typedef struct TalusFacet {
    TalusF3 normal;
    float offset;
    int32_t first, count; /* in the hull's loop */
} TalusFacet;

/* A convex polyhedron about the middle of its box: its faces, corners, and the corners of each face. */
typedef struct TalusPolyhedron {
    const TalusFacet *facet;
    const TalusF3 *corner;
    const int *loop;
    int facets, corners;
    float round; /* the ellipsoid of its volume has so much of the box's half extents */
} TalusPolyhedron;

/* What a solid that is no sphere has besides its middle, which is that of its box. */
typedef struct TalusForm {
    TalusFormKind kind;
    int32_t item;    /* hull: its polyhedron; triangle: the first of its three normals */
    TalusF3 half;    /* half extents of the box about it, along `axis`; round forms stand along z */
    TalusF3 axis[3]; /* of the body's frame, in the world; triangle: its corners about the middle */
} TalusForm;

typedef struct TalusSolid {
    TalusF3 centre;
    float radius; /* of the sphere, or of one about the form */
    int32_t form; /* -1: a sphere */
    uint32_t rgb; /* 0x00rrggbb, sRGB */
} TalusSolid;

/* What is kept: dot(normal, x) <= offset. */
typedef struct TalusCut {
    bool on;
    TalusF3 normal;
    float offset;
} TalusCut;

typedef struct TalusSolids {
    TalusSolid *solid;
    TalusForm *form;
    int count, form_count, normal_count;
    size_t solid_capacity, form_capacity, normal_capacity;
    TalusPolyhedron *hull;
    TalusF3 *normal; /* of the corners of triangles, in the world */
    TalusCut cut;
} TalusSolids;

/* The cut in view coordinates. */
TalusCut talus_cut_in_view(const TalusCut *cut, const TalusView *view);

/* A solid in view coordinates. */
typedef struct TalusPlaced {
    TalusF3 centre, half, axis[3]; /* half and axis: of forms alone */
    float radius;
    int kind; /* of the form, or -1 */
    const TalusFacet *facet;
    const TalusF3 *corner;
    const int *loop;
    int facet_count, corner_count;
    float round;
    const TalusF3 *normal; /* of a triangle's corners, in the world */
    const TalusView *view;
} TalusPlaced;

TalusPlaced talus_solid_place(const TalusSolids *solids, int index, const TalusView *view);

/* Where the ray enters the solid, and the outward normal there. All is in view coordinates, the cut
 * too. False if it does not. */
bool talus_placed_hit(const TalusPlaced *solid, const TalusCut *cut, TalusRay ray, float *t,
                      TalusF3 *normal);

/* How far a point of its surface is from the nearest sharp edge; INFINITY for what has none. */
float talus_placed_edge(const TalusPlaced *solid, TalusF3 at);

#endif
