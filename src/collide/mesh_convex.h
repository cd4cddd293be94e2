/* collide/mesh_convex.h - meshes and height fields against convex bodies; for host and device. Part of pair_table.h,
 * which includes it.
 *
 * Works facet by facet in the frame of the mesh, relative to the body's position. The touched parts of a facet
 * (mesh_parts.h) are defined for bodies that are apart from the surface, so a body that overlaps it is first moved
 * clear of it (mesh_clear.h). The component of that translation along each contact's normal is then subtracted from its
 * gap.
 *
 * Several facets find the same edge or vertex; the first of them counts. The face contacts of a flat patch are
 * collected and reduced to four, so that a tessellated plane touches as a plane. Short lists hold the edges, vertices
 * and patches found. For those that exceed a list's capacity, the earlier facets are evaluated again. */
#ifndef TALUS_COLLIDE_MESH_CONVEX_H
#define TALUS_COLLIDE_MESH_CONVEX_H

#include "collide/mesh_manifold.h"
#include "collide/mesh_parts.h"

/* Half width of a box around the end of a side, over the side's length, in which talus_facets_in_box finds all facets
 * at that vertex. Not 0, because the cells of a field end at the vertex. */
#define TALUS_FACET_END 0x1p-16

enum {
    TALUS_FACET_PATCHES = 3,  /* capacity of the list of patches */
    TALUS_FACET_EDGES = 16,   /* capacity of the list of edges and vertices */
    TALUS_FACET_ON_EDGE = 200 /* part of an edge's feature: plus 8 side + number of the contact */
};

/* Candidates of one flat patch. */
typedef struct TalusPatchPoints {
    int32_t patch;
    TalusVec3 up; /* normal of the patch on the body's side */
    int count;
    TalusCandidate c[TALUS_CANDIDATES];
} TalusPatchPoints;

/* A convex body against a mesh or field, with the contacts that the facets visited so far have given. */
typedef struct TalusMeshQuery {
    TalusClearedBody at;
    const TalusPose *b; /* the mesh or field */
    TALUS_MANIFOLD_SINK *sink;
    TalusPatchPoints patch[TALUS_FACET_PATCHES];
    int patches;
    uint32_t edge[TALUS_FACET_EDGES]; /* features of the edges and vertices found */
    int edges;
} TalusMeshQuery;

/* Adds a point with the normal `up` of the surface, its gap corrected for the translation to the clear pose. `on_mesh`
 * is relative to the clear position. */
TALUS_INLINE void talus_add_facet_point(const TalusMeshQuery *q, uint32_t feature, TalusVec3 up,
                                        TalusVec3 on_mesh, double clear_gap)
{
    double gap = clear_gap - talus_dot(q->at.translation, up);
    if (!(gap < q->at.reach))
        return;
    TalusQuat r = q->b->orientation;
    TalusVec3 from_a = talus_add(on_mesh, q->at.translation);
    TalusManifoldPoint touch = {feature, talus_neg(talus_rotate(r, up)), gap,
                                talus_rotate(r, talus_madd(from_a, gap, up)),
                                talus_rotate(r, talus_add(q->at.pose.position, on_mesh))};
    talus_manifold_add(q->sink, &touch);
}

/* ---- faces ----------------------------------------------------------------------------------- */

/* Reduces the candidates of a patch whose list is full to the extreme ones along eight directions and the nearest one.
 * The extreme and the nearest points of the whole patch are thus kept, in whatever order facets come. */
TALUS_OUTLINE void talus_patch_keep_extremes(TalusPatchPoints *p)
{
    uint32_t stay = UINT32_C(1) << talus_nearest_candidate(p->c, p->count);
    for (int d = 0; d < 9; d++) {
        double u = d / 3 - 1, v = d % 3 - 1, most = -INFINITY;
        int best = 0;
        for (int k = 0; k < p->count && d != 4; k++) {
            double along = u * p->c[k].u + v * p->c[k].v;
            if (along > most) {
                most = along;
                best = k;
            }
        }
        stay |= d != 4 ? UINT32_C(1) << best : 0;
    }
    int kept = 0;
    for (int k = 0; k < p->count; k++) {
        if (stay >> k & 1)
            p->c[kept++] = p->c[k];
    }
    p->count = kept;
}

/* Reduces the candidates of a patch to at most four and passes them to the sink. */
TALUS_OUTLINE void talus_patch_emit_contacts(const TalusMeshQuery *q, TalusPatchPoints *p)
{
    TalusClipRegion s;
    talus_clip_region_set_axes(&s, p->up);
    p->count = talus_reduce_candidates(p->c, p->count, TALUS_MANIFOLD_NEAREST * q->at.size);
    for (int k = 0; k < p->count; k++)
        talus_add_facet_point(q, (uint32_t)p->patch << TALUS_FACET_BITS | p->c[k].id, p->up,
                              talus_candidate_point(&s, &p->c[k]), p->c[k].gap);
}

/* Adds a candidate to a patch. A corner of the body, or its lowest point, that another facet of the patch has added is
 * not added again (two facets find a point over their common edge). An intersection whose id another facet has used
 * gets the next free id. */
TALUS_INLINE void talus_patch_add_candidate(TalusPatchPoints *p, TalusCandidate c)
{
    bool cut = c.id >= TALUS_FACING_POINTS && c.id != TALUS_FACET_LOWEST;
    for (int k = 0; k < p->count; k++) {
        if (p->c[k].id != c.id)
            continue;
        if (!cut)
            return;
        c.id = c.id % 160 + 8; /* 8 higher, cyclic: 20 ids, more than there are candidates */
        k = -1;
    }
    if (p->count == TALUS_CANDIDATES)
        talus_patch_keep_extremes(p);
    p->c[p->count++] = c;
}

/* Adds the candidates of one facet to its patch. */
TALUS_INLINE void talus_patch_add_candidates(TalusPatchPoints *p, const TalusFacePoints *face)
{
    for (int k = 0; k < face->count; k++)
        talus_patch_add_candidate(p, face->c[k]);
}

/* Passes the contacts of a patch that the list has no capacity for to the sink. If facet t is the first of the patch
 * with candidates, the candidates of all its facets are collected into p, which is empty before; for later facets of
 * the patch nothing is done. */
TALUS_OUTLINE void talus_patch_emit_unlisted(const TalusMeshQuery *q, int32_t t,
                                             TalusPatchPoints *p)
{
    TalusFacetWalk walk = talus_facets_near_body(&q->at);
    bool before = true;
    for (int32_t u = talus_next_facet(&walk); u >= 0; u = talus_next_facet(&walk)) {
        TalusFacePoints face;
        TalusNearest near;
        before = before && u != t;
        if (talus_facet_patch(q->at.surface, u) != p->patch)
            continue;
        TalusLocalFacet g = talus_local_facet(&q->at, u);
        talus_find_facet_contacts(&q->at, &g, &face, &near);
        if (before && face.count > 0)
            return;
        talus_patch_add_candidates(p, &face);
    }
    talus_patch_emit_contacts(q, p);
}

/* Adds the face contacts of facet t to the list of its patch, whose contacts go to the sink at the end. Contacts of a
 * facet alone in its patch go to the sink at once. If the list of patches is full, the patch is evaluated again as a
 * whole (talus_patch_emit_unlisted). */
TALUS_OUTLINE void talus_patch_add_facet(TalusMeshQuery *q, int32_t t, const TalusFacePoints *face)
{
    const TalusShape *s = q->at.surface;
    TalusPatchPoints own = {talus_facet_patch(s, t), face->up, 0, {{0.0, 0.0, 0.0, 0.0, 0, 0}}};
    if (!talus_facet_shares_patch(s, t)) {
        talus_patch_add_candidates(&own, face);
        talus_patch_emit_contacts(q, &own);
        return;
    }
    int k = 0;
    while (k < q->patches && q->patch[k].patch != own.patch)
        k++;
    if (k == TALUS_FACET_PATCHES) {
        talus_patch_emit_unlisted(q, t, &own);
        return;
    }
    if (k == q->patches)
        q->patch[q->patches++] = own;
    talus_patch_add_candidates(&q->patch[k], face);
}

/* ---- edges and vertices ---------------------------------------------------------------------- */

/* Returns the lowest index of the sides (facets.h) that share the edge of `side`. */
TALUS_INLINE int32_t talus_lowest_side_of_edge(const TalusShape *s, int32_t side)
{
    int32_t first = side;
    for (int32_t at = talus_side_across(s, side); at >= 0 && at != side;
         at = talus_side_across(s, at))
        first = at < first ? at : first;
    return first;
}

/* Feature of the edge or vertex `where` (TALUS_ON_SIDE or TALUS_ON_CORNER plus its number) of facet t, the same for all
 * facets that share it. The seven numbers after that of an edge are reserved for further contacts of the edge. */
TALUS_INLINE uint32_t talus_edge_or_vertex_feature(const TalusShape *s, int32_t t, int where)
{
    if (where >= TALUS_ON_CORNER)
        return talus_facet_part_feature(s, t, where);
    int32_t side = talus_lowest_side_of_edge(s, 3 * t + where - TALUS_ON_SIDE);
    return (uint32_t)(side / 3) << TALUS_FACET_BITS |
           (uint32_t)(TALUS_FACET_ON_EDGE + 8 * (side % 3));
}

/* True if the feature is that of an edge or a vertex of the facet. */
TALUS_INLINE bool talus_facet_has_feature(const TalusShape *s, int32_t t, uint32_t feature)
{
    for (int where = TALUS_ON_SIDE; where < TALUS_ON_CORNER + 3; where++) {
        if (talus_edge_or_vertex_feature(s, t, where) == feature)
            return true;
    }
    return false;
}

/* True if a facet before g, in the order in which facets are visited, has a contact at the edge or vertex `feature`.
 * Corner k of g is the vertex, or an end of the edge. */
TALUS_OUTLINE bool talus_found_by_earlier_facet(const TalusMeshQuery *q, const TalusLocalFacet *g,
                                                int k, uint32_t feature)
{
    const TalusShape *s = q->at.surface;
    TalusVec3 end = talus_vertex_position(&s->def, talus_facet_vertex(&s->def, g->t, k));
    double length = talus_norm(talus_sub(g->f.corner[k == 2 ? 0 : k + 1], g->f.corner[k]));
    TalusFacetWalk walk = talus_facets_in_box(s, talus_box_around(end, TALUS_FACET_END * length));
    for (int32_t t = talus_next_facet(&walk); t >= 0 && t != g->t; t = talus_next_facet(&walk)) {
        TalusFacePoints face;
        TalusNearest near;
        if (!talus_facet_has_feature(s, t, feature))
            continue;
        TalusLocalFacet other = talus_local_facet(&q->at, t);
        int where = talus_find_facet_contacts(&q->at, &other, &face, &near);
        if (where != TALUS_ON_FACE && talus_edge_or_vertex_feature(s, t, where) == feature)
            return true;
    }
    return false;
}

/* Returns false if an earlier facet has added the contacts of the edge or vertex `feature` of g. Else records the
 * feature, while the list has capacity, and returns true. */
TALUS_INLINE bool talus_claim_edge_or_vertex(TalusMeshQuery *q, const TalusLocalFacet *g, int k,
                                             uint32_t feature)
{
    for (int e = 0; e < q->edges; e++) {
        if (q->edge[e] == feature)
            return false;
    }
    if (q->edges == TALUS_FACET_EDGES)
        return !talus_found_by_earlier_facet(q, g, k, feature);
    q->edge[q->edges++] = feature;
    return true;
}

/* Adds the contacts of side k of g, an edge of the surface, with the body's facing part. If that part is a face or a
 * parallel line, the edge is clipped to it, and the two ends that remain are contacts. The nearest points are a contact
 * if no such end is as near. */
TALUS_OUTLINE void talus_add_edge_points(const TalusMeshQuery *q, const TalusLocalFacet *g, int k,
                                         uint32_t feature, const TalusNearest *near)
{
    TalusVec3 up = talus_neg(near->normal);
    TalusFacing part, line = {2, {g->f.corner[k], g->f.corner[k == 2 ? 0 : k + 1]}, up, 0};
    TalusClipRegion s;
    TalusCandidate c[TALUS_CANDIDATES];
    talus_clip_region_set_axes(&s, up);
    s.tolerance = TALUS_FACET_CLIP * q->at.size;
    talus_find_cleared_facing(&q->at, near->normal, &part);
    bool fine = part.count > 2    ? talus_clip_region_set_face(&s, &part)
                : part.count == 2 ? talus_clip_region_set_line(&s, &part, &line)
                                  : false;
    int count = fine ? talus_clip_part(&s, &line, false, q->at.clear_reach, c) : 0;
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        least = talus_min(least, c[i].gap);
        talus_add_facet_point(q, feature + 1 + (uint32_t)i, up, talus_candidate_point(&s, &c[i]),
                              c[i].gap);
    }
    if (least > near->gap + TALUS_MANIFOLD_NEAREST * q->at.size)
        talus_add_facet_point(q, feature, up, near->on_b, near->gap);
}

/* Adds the contacts of an edge or a vertex, once for all facets that share it. */
TALUS_INLINE void talus_add_edge_or_vertex_points(TalusMeshQuery *q, const TalusLocalFacet *g,
                                                  int where, const TalusNearest *near)
{
    bool corner = where >= TALUS_ON_CORNER;
    int k = where - (corner ? TALUS_ON_CORNER : TALUS_ON_SIDE);
    uint32_t feature = talus_edge_or_vertex_feature(q->at.surface, g->t, where);
    if (!talus_claim_edge_or_vertex(q, g, k, feature))
        return;
    if (corner)
        talus_add_facet_point(q, feature, talus_neg(near->normal), near->on_b, near->gap);
    else
        talus_add_edge_points(q, g, k, feature, near);
}

/* ---- the body -------------------------------------------------------------------------------- */

/* Adds the contacts of a convex body a, not a sphere, with the mesh or field b. */
TALUS_OUTLINE void talus_convex_facets(const TalusPose *a, const TalusPose *b, double reach,
                                       TALUS_MANIFOLD_SINK *sink)
{
    TalusMeshQuery q;
    talus_clear_body(a, b, reach, &q.at);
    q.b = b;
    q.sink = sink;
    q.patches = q.edges = 0;
    TalusFacetWalk walk = talus_facets_near_body(&q.at);
    for (int32_t t = talus_next_facet(&walk); t >= 0; t = talus_next_facet(&walk)) {
        TalusFacePoints face;
        TalusNearest near;
        TalusLocalFacet g = talus_local_facet(&q.at, t);
        int where = talus_find_facet_contacts(&q.at, &g, &face, &near);
        if (face.count > 0)
            talus_patch_add_facet(&q, t, &face);
        if (where != TALUS_ON_FACE)
            talus_add_edge_or_vertex_points(&q, &g, where, &near);
    }
    for (int k = 0; k < q.patches; k++)
        talus_patch_emit_contacts(&q, &q.patch[k]);
}

#endif
