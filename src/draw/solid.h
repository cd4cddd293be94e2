/* draw/solid.h - solids of a picture: spheres, tubes, convex polyhedra, and triangles of a surface.
 *
 * A ray o + t d is inside a convex solid for t0 < t < t1. A cut by a plane shortens this interval; where the ray then
 * enters by the plane, the surface has the normal of the plane. */
#ifndef TALUS_DRAW_SOLID_H
#define TALUS_DRAW_SOLID_H

#include "draw/polyhedron.h"
#include "draw/view.h"

#include <stddef.h>

typedef enum TalusFormKind {
    TALUS_FORM_TUBE, /* a cylinder along its third axis; spheres at its ends hide the flat ends */
    TALUS_FORM_POLYHEDRON,
    TALUS_FORM_TRIANGLE /* of a ground or wall: no inside, and never cut */
} TalusFormKind;

/* Sides from which a triangle is opaque. From the other side it is drawn as a ghost (ghost.c). */
typedef enum TalusOpaqueFrom {
    TALUS_OPAQUE_FROM_BOTH,
    TALUS_OPAQUE_FROM_FRONT, /* where its normals point */
    TALUS_OPAQUE_FROM_BACK
} TalusOpaqueFrom;

/* Data of a solid other than a sphere. The centre of a tube or polyhedron is that of its box, the centre of a triangle
 * is the mean of its corners. */
typedef struct TalusForm {
    TalusFormKind kind;
    TalusOpaqueFrom opaque_from; /* of a triangle */
    int32_t item; /* polyhedron: index of its coarsest level; triangle: of the first of 3 normals */
    int32_t levels;  /* polyhedron: number of levels, consecutive from `item`, coarse to fine */
    TalusF3 half;    /* half extents of its box along `axis`; 0 for a triangle */
    TalusF3 axis[3]; /* of the body, world frame; triangle: its corners relative to the centre */
} TalusForm;

typedef struct TalusSolid {
    TalusF3 centre;
    float radius; /* of the sphere, or of the bounding sphere */
    int32_t form; /* index in TalusSolids.form; -1: a sphere */
    uint32_t rgb; /* 0x00rrggbb, sRGB */
} TalusSolid;

/* A cut by a plane; the half space dot(normal, x) <= offset remains. */
typedef struct TalusCut {
    bool on;        /* false: no cut */
    TalusF3 normal; /* unit */
    float offset;   /* m */
} TalusCut;

/* Solids that are drawn together, all with the same cut. */
typedef struct TalusSolids {
    TalusSolid *solid; /* [count] */
    TalusForm *form;   /* [form_count] */
    int count, form_count, normal_count;
    const TalusPolyhedron *polyhedron; /* levels of all pieces, owned by the picture */
    TalusF3 *normal; /* [normal_count]: of the corners of triangles, world frame */
    TalusCut cut;    /* triangles are not cut */
} TalusSolids;

/* Transforms the cut to view coordinates. */
TalusCut talus_cut_in_view(const TalusCut *cut, const TalusView *view);

/* A solid in view coordinates. */
typedef struct TalusViewedSolid {
    TalusF3 centre, half, axis[3];     /* half, axis: as in TalusForm; not set for a sphere */
    float radius;                      /* of the sphere, or of the bounding sphere */
    int kind;                          /* TalusFormKind; -1: a sphere */
    const TalusPolyhedron *polyhedron; /* coarsest level that is fine enough, else the finest */
    const TalusF3 *normal;             /* of a triangle's corners, world frame */
    TalusOpaqueFrom opaque_from;       /* triangles */
    const TalusView *view;             /* NULL for a sphere */
} TalusViewedSolid;

/* Transforms a solid to view coordinates and chooses the level of a polyhedron. */
TalusViewedSolid talus_solid_in_view(const TalusSolids *solids, int index, const TalusView *view);

/* Transforms a vector from the axes of the solid to view coordinates. */
static inline TalusF3 talus_viewed_from_axes(const TalusViewedSolid *solid, TalusF3 a)
{
    TalusF3 r = talus_f3_scale(a.x, solid->axis[0]);
    return talus_f3_madd(talus_f3_madd(r, a.y, solid->axis[1]), a.z, solid->axis[2]);
}

/* Transforms a vector from view coordinates to the axes of the solid. */
static inline TalusF3 talus_viewed_to_axes(const TalusViewedSolid *solid, TalusF3 a)
{
    return talus_f3(talus_f3_dot(solid->axis[0], a), talus_f3_dot(solid->axis[1], a),
                    talus_f3_dot(solid->axis[2], a));
}

/* Finds where a ray enters a sphere, tube or triangle (not a polyhedron). Sets *t > 0 along the ray, and *normal to the
 * unit normal at that point: outward; of a triangle towards the eye; if the ray enters by the cut, that of the plane of
 * the cut. All arguments are in view coordinates, the cut too. Returns false if the ray misses; do not use *t and
 * *normal then. */
bool talus_viewed_find_hit(const TalusViewedSolid *solid, const TalusCut *cut, TalusRay ray,
                           float *t, TalusF3 *normal);

/* True if a triangle is opaque from both sides or the eye of its perspective view is on its opaque side. */
bool talus_viewed_is_opaque(const TalusViewedSolid *triangle);

#endif
