/* collide/mesh_parts.h - contacts of a convex body with one facet of a mesh or height field: its face, an edge or a
 * vertex. The body has been moved clear of the surface (mesh_clear.h). For host and device.
 *
 *   1. A body above the facet's plane, or at most TALUS_FACET_CLEAR_DEPTH below it, has face contacts where it projects
 *      into the facet. If its lowest point does, these are all.
 *   2. Otherwise the nearest points of body and facet (convex.h) decide, by the direction from the facet to the body.
 *      Inside the normal cone (facets.h) of the edge or vertex that has the facet's point: that edge or vertex has a
 *      contact. Equal to the facet's normal: the face has contacts; the edge or vertex has one too if it is nearer
 *      than these and the surface does not continue in the facet's plane there. Outside the cone: the face has contacts
 *      if the surface continues in the facet's plane beyond that point, or if body and facet still overlap; else a
 *      neighbouring facet has the contact.
 *
 * Face contacts are the corners of the body's facing part, clipped to the facet, and the lowest point if no corner is
 * as low. Corners made by clipping at edges across which the surface continues in the same plane are dropped, because
 * they are no corners of the whole contact area. */
#ifndef TALUS_COLLIDE_MESH_PARTS_H
#define TALUS_COLLIDE_MESH_PARTS_H

#include "collide/manifold.h"
#include "collide/mesh_clear.h"

/* Tolerances of lengths are relative to the body's size. */
#define TALUS_FACET_CLIP 0x1p-40   /* corners up to this far outside of a facet are over it */
#define TALUS_FACET_BESIDE 0x1p-21 /* difference of gaps below which points are equally near */
#define TALUS_FACET_NORMAL 0x1p-21 /* 1 - cosine up to which a direction is the facet's normal */
/* Sine of the angle up to which a direction outside a normal cone counts as inside */
#define TALUS_FACET_CONE_SLACK 0x1p-14
/* Barycentric coordinate below which a point lies on a side. */
#define TALUS_FACET_SIDE 0x1p-16

enum { TALUS_FACET_LOWEST = 180 }; /* id of the lowest point if that is no corner */

/* Candidates over one facet. All facets of a flat patch have the same `up`. */
typedef struct TalusFacePoints {
    TalusVec3 up; /* normal of the patch on the body's side */
    double least; /* smallest gap of the candidates; INFINITY: none */
    int count;
    TalusCandidate c[TALUS_CANDIDATES + 1];
} TalusFacePoints;

/* Finds the part of the body's surface that faces d. */
TALUS_INLINE void talus_find_cleared_facing(const TalusClearedBody *q, TalusVec3 d,
                                            TalusFacing *part)
{
    talus_find_facing(q->pose.shape, talus_rotate_back(q->pose.orientation, d), part);
    for (int k = 0; k < part->count; k++)
        part->point[k] =
            talus_madd(talus_rotate(q->pose.orientation, part->point[k]), q->margin, d);
    if (part->count > 2)
        part->normal = talus_rotate(q->pose.orientation, part->normal);
}

/* ---- faces ----------------------------------------------------------------------------------- */

/* Normal of the facet's flat patch, the same for all its facets, on the body's side. */
TALUS_INLINE TalusVec3 talus_patch_normal(const TalusClearedBody *q, const TalusLocalFacet *g)
{
    int32_t first = talus_facet_patch(q->surface, g->t);
    if (first == g->t)
        return g->up;
    TalusVec3 n = talus_get_facet(&q->surface->def, first).normal;
    return talus_dot(n, g->up) < 0.0 ? talus_neg(n) : n;
}

/* True if the candidate with this id was made by clipping to one or two sides of the facet, and the surface continues
 * in the facet's plane across these (bit k of `flat`: across side k). Such a candidate is no corner of the whole
 * contact area. The id of an intersection is 8 + 16 edge + side, where edge 8 + k lies along side k (talus_cut_edge);
 * lower ids are corners of the body. */
TALUS_INLINE bool talus_cut_is_interior(uint32_t id, uint32_t flat)
{
    if (id < TALUS_FACING_POINTS)
        return false;
    uint32_t side = (id - 8) % 16, edge = (id - 8) / 16;
    uint32_t other = edge >= 8 ? edge - 8 : side;
    return (flat >> side & 1) && (flat >> other & 1);
}

/* Adds a candidate and updates face->least. */
TALUS_INLINE void talus_face_add_candidate(TalusFacePoints *face, TalusCandidate c)
{
    face->least = talus_min(face->least, c.gap);
    face->c[face->count++] = c;
}

/* Adds the body's lowest point if it is over the facet and no corner of `part` is as low: for round bodies, and faces
 * with omitted corners. */
TALUS_INLINE void talus_face_add_lowest(const TalusClearedBody *q, const TalusClipRegion *s,
                                        const TalusFacing *part, TalusVec3 lowest,
                                        TalusFacePoints *face)
{
    double low = talus_dot(lowest, s->n) + TALUS_MANIFOLD_NEAREST * q->size;
    TalusFacing point = {1, {lowest}, {0.0, 0.0, 0.0}, 0};
    TalusCandidate c[TALUS_CANDIDATES];
    for (int k = 0; k < part->count; k++) {
        if (talus_dot(part->point[k], s->n) <= low)
            return;
    }
    if (talus_clip_part(s, &point, true, q->clear_reach, c) == 1) {
        c[0].id = TALUS_FACET_LOWEST;
        talus_face_add_candidate(face, c[0]);
    }
}

/* Finds the face contacts: adds the corners of the body's facing part, clipped to the facet, and the body's lowest
 * point to *face, and sets face->up. */
TALUS_OUTLINE void talus_find_face_points(const TalusClearedBody *q, const TalusLocalFacet *g,
                                          TalusVec3 lowest, TalusFacePoints *face)
{
    TalusFacing part, facet = {3, {g->f.corner[0], g->f.corner[1], g->f.corner[2]}, g->f.normal, 0};
    TalusClipRegion s;
    TalusCandidate c[TALUS_CANDIDATES];
    face->up = talus_patch_normal(q, g);
    talus_clip_region_set_axes(&s, face->up);
    s.tolerance = TALUS_FACET_CLIP * q->size;
    talus_find_cleared_facing(q, talus_neg(face->up), &part);
    if (!talus_clip_region_set_face(&s, &facet))
        return;
    uint32_t flat = 0;
    for (int k = 0; k < 3; k++)
        flat |= (uint32_t)talus_side_continues_flat(q->surface, g->t, k, g->f.normal) << k;
    int count = talus_clip_part(&s, &part, true, q->clear_reach, c);
    for (int k = 0; k < count; k++) {
        if (!talus_cut_is_interior(c[k].id, flat))
            talus_face_add_candidate(face, c[k]);
    }
    talus_face_add_lowest(q, &s, &part, lowest, face);
}

/* ---- edges and vertices ---------------------------------------------------------------------- */

/* Returns the part of the facet (TALUS_ON_* plus the number of the side or corner) on which the point x of the facet
 * lies, within TALUS_FACET_SIDE. */
TALUS_INLINE int talus_locate_on_facet(const TalusFacet *f, TalusVec3 x)
{
    TalusVec3 n =
        talus_cross(talus_sub(f->corner[1], f->corner[0]), talus_sub(f->corner[2], f->corner[0]));
    double area2 = talus_dot(n, n);
    bool near[3];
    for (int k = 0; k < 3; k++) { /* compares the area of side k and x with that of the facet */
        TalusVec3 edge = talus_sub(f->corner[k == 2 ? 0 : k + 1], f->corner[k]);
        near[k] =
            talus_dot(n, talus_cross(edge, talus_sub(x, f->corner[k]))) <= TALUS_FACET_SIDE * area2;
    }
    for (int k = 0; k < 3; k++) {
        if (near[k] && near[k == 0 ? 2 : k - 1])
            return TALUS_ON_CORNER + k;
    }
    return near[0] ? TALUS_ON_SIDE : near[1] ? TALUS_ON_SIDE + 1 : near[2] ? TALUS_ON_SIDE + 2 : 0;
}

/* Where a direction lies relative to the normal cone of an edge or a vertex. */
enum {
    TALUS_NORMAL_CONE_OUTSIDE,  /* the surface is nearer elsewhere */
    TALUS_NORMAL_CONE_BOUNDARY, /* the direction is the normal of an adjacent facet */
    TALUS_NORMAL_CONE_INSIDE    /* the distance has a minimum at the edge or vertex */
};

/* Returns where `up` lies relative to the normal cone of the edge of a side (TALUS_NORMAL_CONE_*). */
TALUS_INLINE int talus_locate_in_edge_cone(const TalusShape *s, int32_t side, TalusVec3 up)
{
    int32_t at = side;
    if (!talus_in_edge_normal_cone(s, side, up, TALUS_FACET_CONE_SLACK))
        return TALUS_NORMAL_CONE_OUTSIDE;
    do {
        if (talus_dot(talus_get_facet(&s->def, at / 3).normal, up) >= 1.0 - TALUS_FACET_NORMAL)
            return TALUS_NORMAL_CONE_BOUNDARY;
        at = talus_side_across(s, at);
    } while (at >= 0 && at != side);
    return TALUS_NORMAL_CONE_INSIDE;
}

/* Returns where `up` lies relative to the normal cone of the edge or vertex `where` of g (TALUS_NORMAL_CONE_*): outside
 * if `up` points to the back of a solid. */
TALUS_OUTLINE int talus_locate_in_normal_cone(const TalusClearedBody *q, const TalusLocalFacet *g,
                                              int where, TalusVec3 up)
{
    const TalusShape *s = q->surface;
    int is = TALUS_NORMAL_CONE_OUTSIDE;
    if (where >= TALUS_ON_CORNER) {
        int32_t v = talus_facet_vertex(&s->def, g->t, where - TALUS_ON_CORNER);
        TalusVertexCone ring = talus_vertex_normal_cone(s, v, up, TALUS_FACET_CONE_SLACK);
        is = !ring.contains    ? TALUS_NORMAL_CONE_OUTSIDE
             : ring.level >= 2 ? TALUS_NORMAL_CONE_BOUNDARY
                               : TALUS_NORMAL_CONE_INSIDE;
    } else if (where >= TALUS_ON_SIDE) {
        is = talus_locate_in_edge_cone(s, 3 * g->t + where - TALUS_ON_SIDE, up);
    }
    bool back = g->solid && !(talus_dot(talus_pseudonormal(s, g->t, &g->f, where), up) > 0.0);
    return back ? TALUS_NORMAL_CONE_OUTSIDE : is;
}

/* True if the surface continues in the facet's plane beyond its edge or vertex `where`. */
TALUS_INLINE bool talus_continues_flat(const TalusClearedBody *q, const TalusLocalFacet *g,
                                       int where)
{
    for (int k = 0; k < 3; k++) {
        bool here = where == TALUS_ON_SIDE + k || where == TALUS_ON_CORNER + k ||
                    where == TALUS_ON_CORNER + (k == 2 ? 0 : k + 1);
        if (here && talus_side_continues_flat(q->surface, g->t, k, g->f.normal))
            return true;
    }
    return false;
}

/* ---- one facet ------------------------------------------------------------------------------- */

/* Finds the contacts of the body with facet g, as the file head describes: the face contacts in *face; returns the
 * touched edge or vertex (TALUS_ON_SIDE + k or TALUS_ON_CORNER + k; TALUS_ON_FACE: none) and sets *near to its nearest
 * points. */
TALUS_OUTLINE int talus_find_facet_contacts(const TalusClearedBody *q, const TalusLocalFacet *g,
                                            TalusFacePoints *face, TalusNearest *near)
{
    TalusVec3 lowest;
    double gap;
    face->count = 0;
    face->least = INFINITY;
    if (!talus_find_lowest_point(q, g, &lowest, &gap))
        return TALUS_ON_FACE;
    bool above = gap > -TALUS_FACET_CLEAR_DEPTH * q->size;
    if (above) {
        talus_find_face_points(q, g, lowest, face);
        if (talus_projects_onto_facet(g, lowest))
            return TALUS_ON_FACE;
    }
    if (!talus_convex_triangle_nearest(&q->pose, g->f.corner, q->clear_reach, near))
        return TALUS_ON_FACE;
    TalusVec3 up = talus_neg(near->normal);
    int where = talus_locate_on_facet(&g->f, near->on_b);
    bool level = talus_dot(up, g->up) >= 1.0 - TALUS_FACET_NORMAL,
         on = talus_continues_flat(q, g, where);
    int is = level ? TALUS_NORMAL_CONE_BOUNDARY : talus_locate_in_normal_cone(q, g, where, up);
    if (!above && (level || (is == TALUS_NORMAL_CONE_OUTSIDE && (on || near->gap < 0.0))))
        talus_find_face_points(q, g, lowest, face);
    /* the nearest point of a face may also be on its rim, beside the body's lowest point */
    bool rim = level && !on && face->least > near->gap + TALUS_FACET_BESIDE * q->size;
    return is == TALUS_NORMAL_CONE_INSIDE || rim ? where : TALUS_ON_FACE;
}

#endif
