/* collide/mesh_convex.h - meshes and height fields against convex bodies; for host and device. Part of touch.h, which
 * includes it.
 *
 * Facet by facet, in the frame of the mesh, everything relative to the body's position:
 *   1. The body's lowest point over the facet's plane is a hair from it and over the facet: a face touch.
 *   2. Otherwise the nearest points of body and facet (convex.h) say what touches. Where the normal is the facet's:
 *      a face touch. Where the foot is on an edge or at a vertex and the direction from there to the body stands out
 *      from all facets around (facets.h): a touch of that edge or vertex. Else the direction is one that the facet
 *      alone would give and the surface does not; apart, a neighbour is nearer, and the facet is left out; in
 *      overlap it makes a face touch.
 * A face touch is the facing part of the body, clipped to the facet. Corners that this makes at edges where the
 * surface goes on in the same plane are no corners of the whole and are dropped; what remains of the facets of a
 * flat patch is thinned to four. A tessellated plane therefore touches as a plane does. */
#ifndef TALUS_COLLIDE_MESH_CONVEX_H
#define TALUS_COLLIDE_MESH_CONVEX_H

#include "collide/manifold.h"
#include "collide/mesh_touch.h"

/* Relative to the body's size: overlap up to which the lowest point alone decides; overlap beyond which a face is
 * not touched in spite of a foreign direction; what a corner may lie outside of a facet. */
#define TALUS_FACET_HAIR 0x1p-12
#define TALUS_FACET_DEEP 1.0
#define TALUS_FACET_CLIP 0x1p-40
/* 1 - cosine up to which a direction is the facet's normal; what it may lean over a facet beside an edge. */
#define TALUS_FACET_NORMAL 0x1p-21
#define TALUS_FACET_LEAN 0x1p-14
/* Barycentric coordinate below which a point lies on a side. */
#define TALUS_FACET_SIDE 0x1p-16

enum {
    TALUS_FACET_PATCHES =
        2, /* flat patches gathered at a time; those of further ones are not thinned */
    TALUS_FACET_EDGES = 16,   /* edges and vertices touched by one body at most */
    TALUS_FACET_LOWEST = 180, /* feature of the lowest point where that is no corner */
    TALUS_FACET_ON_EDGE = 200 /* features of touches of side k: 8 each */
};

/* Candidates of one flat patch. */
typedef struct TalusPatchTouches {
    int32_t patch;
    TalusVec3 up; /* out of it, on the body's side */
    int count;
    TalusCandidate c[TALUS_CANDIDATES];
} TalusPatchTouches;

typedef struct TalusOnFacets {
    const TalusPose *a, *b;
    TalusPose x; /* a in the frame of b */
    double reach, margin, size;
    TALUS_TOUCH_SINK *sink;
    TalusPatchTouches patch[TALUS_FACET_PATCHES];
    int patches;
    uint32_t edge[TALUS_FACET_EDGES];
    int edges;
} TalusOnFacets;

/* One facet as the body sees it: corners relative to the body's position. */
typedef struct TalusSeenFacet {
    int32_t t;
    TalusFacet f;
    bool solid;
    TalusVec3 up; /* its normal on the body's side */
} TalusSeenFacet;

TALUS_INLINE void talus_facets_touch(const TalusOnFacets *q, uint32_t feature, TalusVec3 up,
                                     TalusVec3 on_mesh, double gap)
{
    if (!(gap < q->reach))
        return;
    TalusQuat r = q->b->orientation;
    TalusTouch touch = {feature, talus_neg(talus_rotate(r, up)), gap,
                        talus_rotate(r, talus_madd(on_mesh, gap, up)),
                        talus_rotate(r, talus_add(q->x.position, on_mesh))};
    talus_touch_add(q->sink, &touch);
}

/* The body's surface farthest along d. */
TALUS_INLINE TalusVec3 talus_on_support(const TalusOnFacets *q, TalusVec3 d)
{
    TalusVec3 own = talus_rotate_back(q->x.orientation, d);
    return talus_madd(talus_rotate(q->x.orientation, talus_support_core(q->x.shape, own)),
                      q->margin, d);
}

/* The body's part that looks along d, of its surface. */
TALUS_INLINE void talus_on_facing(const TalusOnFacets *q, TalusVec3 d, TalusFacing *part)
{
    talus_facing(q->x.shape, talus_rotate_back(q->x.orientation, d), part);
    for (int k = 0; k < part->count; k++)
        part->point[k] = talus_madd(talus_rotate(q->x.orientation, part->point[k]), q->margin, d);
    if (part->count > 2)
        part->normal = talus_rotate(q->x.orientation, part->normal);
}

/* ---- faces ----------------------------------------------------------------------------------- */

TALUS_INLINE void talus_patch_thin(TalusPatchTouches *p, double size)
{
    if (p->count <= TALUS_SPOTS)
        return;
    TalusCandidate nearest = p->c[talus_nearest_candidate(p->c, p->count)];
    p->count = talus_spread(p->c, p->count);
    talus_spread_keep(p->c, p->count, &nearest, TALUS_MANIFOLD_NEAREST * size);
}

TALUS_INLINE void talus_patch_emit(const TalusOnFacets *q, TalusPatchTouches *p)
{
    TalusSeen s;
    talus_seen_axes(&s, p->up);
    talus_patch_thin(p, q->size);
    for (int k = 0; k < p->count; k++) {
        TalusVec3 x = talus_scale(p->c[k].height, s.n);
        x = talus_madd(talus_madd(x, p->c[k].u, s.e), p->c[k].v, s.f);
        talus_facets_touch(q, (uint32_t)p->patch << TALUS_FACET_BITS | p->c[k].id, p->up, x,
                           p->c[k].gap);
    }
}

/* A corner over a common edge of two facets of a patch is found by both. Cut corners of different facets may have
 * the same number. */
TALUS_INLINE void talus_patch_add(const TalusOnFacets *q, TalusPatchTouches *p, TalusCandidate c)
{
    bool cut = c.id >= TALUS_FACING_MOST && c.id != TALUS_FACET_LOWEST;
    for (int k = 0; k < p->count; k++) {
        if (p->c[k].id != c.id)
            continue;
        if (!cut)
            return;
        c.id = c.id % 160 + 8; /* the next number, and once more from the start */
        k = -1;
    }
    if (p->count == TALUS_CANDIDATES)
        talus_patch_thin(p, q->size);
    p->c[p->count++] = c;
}

/* The patch being gathered that the facet belongs to, or `own`. */
TALUS_INLINE TalusPatchTouches *talus_patch_of(TalusOnFacets *q, const TalusSeenFacet *g,
                                               TalusPatchTouches *own)
{
    const TalusShape *s = q->b->shape;
    int32_t patch = talus_facet_patch(s, g->t);
    bool many = s->def.kind == TALUS_SHAPE_MESH && (s->mesh.mark[g->t] & TALUS_MARK_MANY);
    for (int k = 0; k < q->patches && many; k++) {
        if (q->patch[k].patch == patch)
            return &q->patch[k];
    }
    bool gather = many && q->patches < TALUS_FACET_PATCHES;
    TalusPatchTouches *p = gather ? &q->patch[q->patches++] : own;
    p->patch = gather ? patch : g->t;
    p->up = g->up;
    p->count = 0;
    return p;
}

/* Whether a candidate is a corner where the surface goes on: one that side k has cut, or that two such sides make.
 * Bit k of `flat`: side k. */
TALUS_INLINE bool talus_cut_within(uint32_t id, uint32_t flat)
{
    if (id < TALUS_FACING_MOST)
        return false;
    uint32_t side = (id - 8) % 16, edge = (id - 8) / 16;
    uint32_t other = edge >= 8 ? edge - 8 : side;
    return (flat >> side & 1) && (flat >> other & 1);
}

TALUS_INLINE void talus_face_touch(TalusOnFacets *q, const TalusSeenFacet *g, TalusVec3 lowest)
{
    TalusPatchTouches own, *p = talus_patch_of(q, g, &own);
    TalusFacing part, face = {3, {g->f.corner[0], g->f.corner[1], g->f.corner[2]}, g->f.normal, 0};
    TalusSeen s;
    TalusCandidate c[TALUS_CANDIDATES];
    talus_seen_axes(&s, p->up);
    s.tolerance = TALUS_FACET_CLIP * q->size;
    talus_on_facing(q, talus_neg(p->up), &part);
    if (!talus_seen_face(&s, &face))
        return;
    uint32_t flat = 0;
    for (int k = 0; k < 3; k++)
        flat |= (uint32_t)talus_side_flat(q->b->shape, g->t, k, g->f.normal) << k;
    int count = talus_clip_all(&s, &part, true, q->reach, c);
    for (int k = 0; k < count; k++) {
        if (!talus_cut_within(c[k].id, flat))
            talus_patch_add(q, p, c[k]);
    }
    /* a round body, or a face that is known by some of its corners */
    double low = talus_dot(lowest, s.n), least = low + TALUS_MANIFOLD_NEAREST * q->size;
    for (int k = 0; k < part.count; k++) {
        if (talus_dot(part.point[k], s.n) <= least)
            least = -INFINITY;
    }
    if (least > -INFINITY) {
        TalusFacing point = {1, {lowest}, {0.0, 0.0, 0.0}, 0};
        if (talus_clip_all(&s, &point, true, q->reach, c) == 1) {
            c[0].id = TALUS_FACET_LOWEST;
            talus_patch_add(q, p, c[0]);
        }
    }
    if (p == &own)
        talus_patch_emit(q, p);
}

/* ---- edges and vertices ---------------------------------------------------------------------- */

/* Where on its facet a point lies, within a tolerance. */
TALUS_INLINE int talus_where_on(const TalusFacet *f, TalusVec3 x)
{
    TalusVec3 n =
        talus_cross(talus_sub(f->corner[1], f->corner[0]), talus_sub(f->corner[2], f->corner[0]));
    double area2 = talus_dot(n, n);
    bool near[3];
    for (int k = 0; k < 3; k++) { /* the part of the area that side k and x span */
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

/* The first side on the edge of a side. */
TALUS_INLINE int32_t talus_first_side(const TalusShape *s, int32_t side)
{
    int32_t first = side;
    for (int32_t at = talus_facet_across(s, side); at >= 0 && at != side;
         at = talus_facet_across(s, at))
        first = at < first ? at : first;
    return first;
}

/* Notes an edge or a vertex; false if it has touched before. */
TALUS_INLINE bool talus_note_edge(TalusOnFacets *q, uint32_t feature)
{
    for (int k = 0; k < q->edges; k++) {
        if (q->edge[k] == feature)
            return false;
    }
    if (q->edges == TALUS_FACET_EDGES)
        return false;
    q->edge[q->edges++] = feature;
    return true;
}

/* An edge against the part of the body that looks at it: two points where it lies along a face or a line. */
TALUS_INLINE void talus_edge_touch(TalusOnFacets *q, const TalusSeenFacet *g, int k,
                                   const TalusNearest *near)
{
    int32_t side = talus_first_side(q->b->shape, 3 * g->t + k);
    uint32_t feature =
        (uint32_t)(side / 3) << TALUS_FACET_BITS | (uint32_t)(TALUS_FACET_ON_EDGE + 8 * (side % 3));
    if (!talus_note_edge(q, feature))
        return;
    TalusVec3 up = talus_neg(near->normal);
    TalusFacing part, line = {2, {g->f.corner[k], g->f.corner[k == 2 ? 0 : k + 1]}, up, 0};
    TalusSeen s;
    TalusCandidate c[TALUS_CANDIDATES];
    talus_seen_axes(&s, up);
    s.tolerance = TALUS_MANIFOLD_CLIP * q->size;
    talus_on_facing(q, near->normal, &part);
    bool fine = part.count > 2    ? talus_seen_face(&s, &part)
                : part.count == 2 ? talus_seen_line(&s, &part, &line)
                                  : false;
    int count = fine ? talus_clip_all(&s, &line, false, q->reach, c) : 0;
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        TalusVec3 x = talus_scale(c[i].height, s.n);
        x = talus_madd(talus_madd(x, c[i].u, s.e), c[i].v, s.f);
        least = fmin(least, c[i].gap);
        talus_facets_touch(q, feature + 1 + (uint32_t)i, up, x, c[i].gap);
    }
    if (least > near->gap + TALUS_MANIFOLD_NEAREST * q->size)
        talus_facets_touch(q, feature, up, near->on_b, near->gap);
}

TALUS_INLINE void talus_vertex_touch(TalusOnFacets *q, const TalusSeenFacet *g, int k,
                                     const TalusNearest *near)
{
    uint32_t feature =
        TALUS_FACET_VERTEX | (uint32_t)talus_facet_vertex(&q->b->shape->def, g->t, k);
    if (talus_note_edge(q, feature))
        talus_facets_touch(q, feature, talus_neg(near->normal), near->on_b, near->gap);
}

/* Whether the surface is touched there in this direction, and not the facet alone. */
TALUS_INLINE bool talus_stands_out(const TalusOnFacets *q, const TalusSeenFacet *g, int where,
                                   TalusVec3 up)
{
    const TalusShape *s = q->b->shape;
    if (where == TALUS_ON_FACE)
        return false;
    bool out =
        where >= TALUS_ON_CORNER
            ? talus_vertex_stands_out(s, talus_facet_vertex(&s->def, g->t, where - TALUS_ON_CORNER),
                                      up, TALUS_FACET_LEAN)
            : talus_edge_stands_out(s, 3 * g->t + where - TALUS_ON_SIDE, up, TALUS_FACET_LEAN);
    return out && (!g->solid || talus_dot(talus_outward(s, g->t, &g->f, where), up) > 0.0);
}

/* ---- facets ---------------------------------------------------------------------------------- */

TALUS_INLINE bool talus_over_facet(const TalusSeenFacet *g, TalusVec3 x)
{
    for (int k = 0; k < 3; k++) {
        TalusVec3 edge = talus_sub(g->f.corner[k == 2 ? 0 : k + 1], g->f.corner[k]);
        if (talus_dot(g->f.normal, talus_cross(edge, talus_sub(x, g->f.corner[k]))) < 0.0)
            return false;
    }
    return true;
}

TALUS_INLINE void talus_meet_facet(TalusOnFacets *q, const TalusSeenFacet *g)
{
    TalusVec3 lowest = talus_on_support(q, talus_neg(g->up));
    double gap = talus_dot(g->up, talus_sub(lowest, g->f.corner[0]));
    if (!(gap < q->reach))
        return;
    if (g->solid && talus_dot(g->up, talus_sub(talus_on_support(q, g->up), g->f.corner[0])) < 0.0)
        return; /* wholly behind it */
    if (gap > -TALUS_FACET_HAIR * q->size && talus_over_facet(g, lowest)) {
        talus_face_touch(q, g, lowest);
        return;
    }
    TalusNearest near;
    if (!talus_convex_triangle(&q->x, g->f.corner, q->reach, &near))
        return;
    TalusVec3 up = talus_neg(near.normal);
    int where = talus_where_on(&g->f, near.on_b);
    if (talus_dot(up, g->up) >= 1.0 - TALUS_FACET_NORMAL)
        talus_face_touch(q, g, lowest);
    else if (talus_stands_out(q, g, where, up) && where >= TALUS_ON_CORNER)
        talus_vertex_touch(q, g, where - TALUS_ON_CORNER, &near);
    else if (talus_stands_out(q, g, where, up))
        talus_edge_touch(q, g, where - TALUS_ON_SIDE, &near);
    else if (near.gap < 0.0 && gap > -TALUS_FACET_DEEP * q->size)
        talus_face_touch(q, g, lowest);
}

TALUS_INLINE TalusPose talus_pose_within(const TalusPose *a, const TalusPose *frame)
{
    TalusQuat back = {frame->orientation.w, -frame->orientation.x, -frame->orientation.y,
                      -frame->orientation.z};
    TalusPose x = {a->shape, a->radius, talus_into_frame(frame, a->position),
                   talus_quat_mul(back, a->orientation)};
    return x;
}

/* A convex body a, no sphere, against the mesh or field b. */
TALUS_INLINE void talus_convex_facets(const TalusPose *a, const TalusPose *b, double reach,
                                      TALUS_TOUCH_SINK *sink)
{
    TalusOnFacets q;
    q.a = a;
    q.b = b;
    q.x = talus_pose_within(a, b);
    q.reach = reach;
    q.margin = talus_core_margin(a->shape, a->radius);
    q.size = a->shape->size;
    q.sink = sink;
    q.patches = q.edges = 0;
    TalusAabb box = talus_shape_bounds(a->shape, a->radius, q.x.position, q.x.orientation);
    TalusVec3 more = talus_vec3(reach, reach, reach);
    box.lo = talus_sub(box.lo, more);
    box.hi = talus_add(box.hi, more);
    TalusFacetWalk walk = talus_facets_in(b->shape, box);
    for (int32_t t = talus_facet_next(&walk); t >= 0; t = talus_facet_next(&walk)) {
        TalusSeenFacet g;
        g.t = t;
        g.f = talus_facet(&b->shape->def, t);
        g.solid = talus_facet_solid(b->shape, t);
        for (int k = 0; k < 3; k++)
            g.f.corner[k] = talus_sub(g.f.corner[k], q.x.position);
        bool below = !g.solid && talus_dot(g.f.normal, g.f.corner[0]) > 0.0;
        g.up = below ? talus_neg(g.f.normal) : g.f.normal;
        talus_meet_facet(&q, &g);
    }
    for (int k = 0; k < q.patches; k++)
        talus_patch_emit(&q, &q.patch[k]);
}

#endif
