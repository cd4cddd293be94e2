/* draw/solid.h - the solids of a picture: spheres, tubes, convex polyhedra, and the triangles of a ground.
 *
 * A ray is inside a convex solid from t0 to t1, so a cut by a plane is a cut of that stretch, and the
 * face it leaves has the plane's normal. */
#ifndef TALUS_DRAW_SOLID_H
#define TALUS_DRAW_SOLID_H

#include "draw/polyhedron.h"
#include "draw/view.h"

#include <stddef.h>

typedef enum TalusFormKind {
    TALUS_FORM_TUBE, /* a cylinder along its third axis */
    TALUS_FORM_POLYHEDRON,
    TALUS_FORM_TRIANGLE /* of a ground: no inside, and never cut */
} TalusFormKind;

/* What a solid that is no sphere has besides its middle, which is that of its box. */
typedef struct TalusForm {
    TalusFormKind kind;
    int32_t item;    /* polyhedron: its coarsest level; triangle: the first of its three normals */
    int32_t levels;  /* of a polyhedron, one after the other */
    TalusF3 half;    /* half extents of the box about it, along `axis` */
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
    const TalusPolyhedron *polyhedron;
    TalusF3 *normal; /* of the corners of triangles, in the world */
    TalusCut cut;
} TalusSolids;

/* The cut in view coordinates. */
TalusCut talus_cut_in_view(const TalusCut *cut, const TalusView *view);

/* A solid in view coordinates. */
typedef struct TalusPlaced {
    TalusF3 centre, half, axis[3]; /* half and axis: of forms alone */
    float radius;
    int kind;                          /* of the form, or -1 */
    const TalusPolyhedron *polyhedron; /* at the level that is fine enough for the view */
    const TalusF3 *normal;             /* of a triangle's corners, in the world */
    const TalusView *view;
} TalusPlaced;

TalusPlaced talus_solid_place(const TalusSolids *solids, int index, const TalusView *view);

/* A vector of the form's axes in the view, and back. */
static inline TalusF3 talus_placed_out(const TalusPlaced *solid, TalusF3 a)
{
    TalusF3 r = talus_f3_scale(a.x, solid->axis[0]);
    return talus_f3_madd(talus_f3_madd(r, a.y, solid->axis[1]), a.z, solid->axis[2]);
}

static inline TalusF3 talus_placed_in(const TalusPlaced *solid, TalusF3 a)
{
    return talus_f3(talus_f3_dot(solid->axis[0], a), talus_f3_dot(solid->axis[1], a),
                    talus_f3_dot(solid->axis[2], a));
}

/* Where the ray enters the solid, which is no polyhedron, and the outward normal there. All is in view
 * coordinates, the cut too. False if it does not. */
bool talus_placed_hit(const TalusPlaced *solid, const TalusCut *cut, TalusRay ray, float *t,
                      TalusF3 *normal);

#endif
