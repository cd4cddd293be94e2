/* draw/solid.h - the convex solids of a picture, and where a ray meets one.
 *
 * A ray is inside a convex solid from t0 to t1, so a cut by a plane is a cut of that stretch, and the
 * face it leaves has the plane's normal: nothing has to be made of triangles. */
#ifndef TALUS_DRAW_SOLID_H
#define TALUS_DRAW_SOLID_H

#include "draw/view.h"

#include <stdint.h>

typedef enum TalusFormKind { TALUS_FORM_BOX, TALUS_FORM_CYLINDER } TalusFormKind;

/* What a solid that is no sphere has besides its middle. */
typedef struct TalusForm {
    TalusFormKind kind;
    TalusF3 half;    /* half extents; of a cylinder about its z: radius, radius, half height */
    TalusF3 axis[3]; /* of the body's frame, in the world */
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
    int count, form_count;
    TalusCut cut;
} TalusSolids;

/* The cut in view coordinates. */
TalusCut talus_cut_in_view(const TalusCut *cut, const TalusView *view);

/* A solid in view coordinates. */
typedef struct TalusPlaced {
    TalusF3 centre, half, axis[3]; /* half and axis: of forms alone */
    float radius;
    int kind; /* of the form, or -1 */
} TalusPlaced;

TalusPlaced talus_solid_place(const TalusSolids *solids, int index, const TalusView *view);

/* Where the ray enters the solid, and the outward normal there. All is in view coordinates, the cut
 * too. False if it does not. */
bool talus_placed_hit(const TalusPlaced *solid, const TalusCut *cut, TalusRay ray, float *t,
                      TalusF3 *normal);

/* How far a point of its surface is from the nearest sharp edge; INFINITY for a sphere. */
float talus_placed_edge(const TalusPlaced *solid, TalusF3 at);

#endif
