/* collide/mesh_convex.h - meshes and height fields against convex bodies; for host and device. Part of touch.h, which
 * includes it.
 *
 * Facet by facet, in the frame of the mesh, everything relative to the body's position:
 *   1. A body above the facet's plane, or no more than a hair below it: a face touch with what of it is over the
 *      facet. If its lowest point is, that is all.
 *   2. Otherwise the nearest points of body and facet (convex.h) say what touches. Where the foot is on an edge or at
 *      a vertex and the direction from there to the body stands out from all facets around (facets.h): that edge or
 *      vertex. Where the direction is the facet's normal, or the facet goes on in its plane beyond the foot: a face
 *      touch. Else the direction is one that the facet alone would give and the surface does not: a neighbour is
 *      nearer, and the facet is left out.
 * All that is sound for bodies that are apart from the surface. One that overlaps it is therefore looked at where it
 * is clear: moved out of the facet, of those that it cuts, whose plane it is least below, and so on until it cuts
 * none. By as much as that moved it along a touch's normal, the gap is less.
 *
 * A face touch is the facing part of the body, clipped to the facet. Corners that this makes at edges where the
 * surface goes on in the same plane are no corners of the whole and are dropped; what remains of the facets of a
 * flat patch is thinned to four. A tessellated plane therefore touches as a plane does. */
#ifndef TALUS_COLLIDE_MESH_CONVEX_H
#define TALUS_COLLIDE_MESH_CONVEX_H

#include "collide/manifold.h"
#include "collide/mesh_touch.h"

/* Relative to the body's size: how far below a plane it still counts as above; what a corner may lie outside of a
 * facet; how much nearer than all corners over a facet the nearest point must be to count beside them. */
#define TALUS_FACET_HAIR 0x1p-12
#define TALUS_FACET_CLIP 0x1p-40
#define TALUS_FACET_BESIDE 0x1p-21
/* Part of a way out that a shorter one must save. */
#define TALUS_FACET_GAIN 0x1p-16
/* 1 - cosine up to which a direction is the facet's normal; what it may lean over a facet beside an edge. */
#define TALUS_FACET_NORMAL 0x1p-21
#define TALUS_FACET_LEAN 0x1p-14
/* Barycentric coordinate below which a point lies on a side. */
#define TALUS_FACET_SIDE 0x1p-16

enum {
    TALUS_FACET_PATCHES =
        2, /* flat patches gathered at a time; those of further ones are not thinned */
    TALUS_FACET_EDGES = 16,   /* edges and vertices touched by one body at most */
    TALUS_FACET_ROUNDS = 4,   /* facets that a body is moved out of, one after the other */
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
    TalusPose x;     /* a in the frame of b, clear of it */
    TalusVec3 moved; /* by this */
    double reach;    /* of a, and of x, where it may be wider by what it moved */
    double clear_reach;
    double margin, size;
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
                                     TalusVec3 on_mesh, double clear_gap)
{
    double gap = clear_gap - talus_dot(q->moved, up);
    if (!(gap < q->reach))
        return;
    TalusQuat r = q->b->orientation;
    TalusVec3 from_a = talus_add(on_mesh, q->moved);
    TalusTouch touch = {feature, talus_neg(talus_rotate(r, up)), gap,
                        talus_rotate(r, talus_madd(from_a, gap, up)),
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

TALUS_OUTLINE void talus_patch_emit(const TalusOnFacets *q, TalusPatchTouches *p)
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

/* Returns the least gap of those found. */
TALUS_OUTLINE double talus_face_touch(TalusOnFacets *q, const TalusSeenFacet *g, TalusVec3 lowest)
{
    TalusPatchTouches own, *p = talus_patch_of(q, g, &own);
    TalusFacing part, face = {3, {g->f.corner[0], g->f.corner[1], g->f.corner[2]}, g->f.normal, 0};
    TalusSeen s;
    TalusCandidate c[TALUS_CANDIDATES];
    talus_seen_axes(&s, p->up);
    s.tolerance = TALUS_FACET_CLIP * q->size;
    talus_on_facing(q, talus_neg(p->up), &part);
    double found = INFINITY;
    if (!talus_seen_face(&s, &face))
        return found;
    uint32_t flat = 0;
    for (int k = 0; k < 3; k++)
        flat |= (uint32_t)talus_side_flat(q->b->shape, g->t, k, g->f.normal) << k;
    int count = talus_clip_all(&s, &part, true, q->clear_reach, c);
    for (int k = 0; k < count; k++) {
        if (talus_cut_within(c[k].id, flat))
            continue;
        found = fmin(found, c[k].gap);
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
        if (talus_clip_all(&s, &point, true, q->clear_reach, c) == 1) {
            c[0].id = TALUS_FACET_LOWEST;
            found = fmin(found, c[0].gap);
            talus_patch_add(q, p, c[0]);
        }
    }
    if (p == &own)
        talus_patch_emit(q, p);
    return found;
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
TALUS_OUTLINE void talus_edge_touch(TalusOnFacets *q, const TalusSeenFacet *g, int k,
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
    s.tolerance = TALUS_FACET_CLIP * q->size;
    talus_on_facing(q, near->normal, &part);
    bool fine = part.count > 2    ? talus_seen_face(&s, &part)
                : part.count == 2 ? talus_seen_line(&s, &part, &line)
                                  : false;
    int count = fine ? talus_clip_all(&s, &line, false, q->clear_reach, c) : 0;
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

/* What a direction up from a part of a facet is to the surface. */
enum {
    TALUS_UP_INNER,  /* leans over a facet around: the surface is touched elsewhere */
    TALUS_UP_NORMAL, /* the normal of a facet around, which has its own touches */
    TALUS_UP_OUT     /* stands out from all of them */
};

TALUS_INLINE int talus_up_from_edge(const TalusShape *s, int32_t side, TalusVec3 up)
{
    int32_t at = side;
    if (!talus_edge_stands_out(s, side, up, TALUS_FACET_LEAN))
        return TALUS_UP_INNER;
    do {
        if (talus_dot(talus_facet(&s->def, at / 3).normal, up) >= 1.0 - TALUS_FACET_NORMAL)
            return TALUS_UP_NORMAL;
        at = talus_facet_across(s, at);
    } while (at >= 0 && at != side);
    return TALUS_UP_OUT;
}

TALUS_OUTLINE int talus_up_from(const TalusOnFacets *q, const TalusSeenFacet *g, int where,
                                TalusVec3 up)
{
    const TalusShape *s = q->b->shape;
    int is = TALUS_UP_INNER;
    if (where >= TALUS_ON_CORNER) {
        int32_t v = talus_facet_vertex(&s->def, g->t, where - TALUS_ON_CORNER);
        TalusRingSeen ring = talus_vertex_seen(s, v, up, TALUS_FACET_LEAN);
        is = !ring.stands_out ? TALUS_UP_INNER : ring.level >= 2 ? TALUS_UP_NORMAL : TALUS_UP_OUT;
    } else if (where >= TALUS_ON_SIDE) {
        is = talus_up_from_edge(s, 3 * g->t + where - TALUS_ON_SIDE, up);
    }
    bool back = g->solid && !(talus_dot(talus_outward(s, g->t, &g->f, where), up) > 0.0);
    return back ? TALUS_UP_INNER : is;
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

/* Whether the surface goes on in the plane of the facet beyond this part of its rim: the body is lower there. */
TALUS_INLINE bool talus_goes_on(const TalusOnFacets *q, const TalusSeenFacet *g, int where)
{
    for (int k = 0; k < 3; k++) {
        bool here = where == TALUS_ON_SIDE + k || where == TALUS_ON_CORNER + k ||
                    where == TALUS_ON_CORNER + (k == 2 ? 0 : k + 1);
        if (here && talus_side_flat(q->b->shape, g->t, k, g->f.normal))
            return true;
    }
    return false;
}

TALUS_INLINE void talus_part_touch(TalusOnFacets *q, const TalusSeenFacet *g, int where,
                                   const TalusNearest *near)
{
    if (where >= TALUS_ON_CORNER)
        talus_vertex_touch(q, g, where - TALUS_ON_CORNER, near);
    else
        talus_edge_touch(q, g, where - TALUS_ON_SIDE, near);
}

/* The body's lowest point over the facet, and its gap to the plane; false where the plane is out of reach, or all of the
 * body behind it. */
TALUS_INLINE bool talus_lowest_over(const TalusOnFacets *q, const TalusSeenFacet *g,
                                    TalusVec3 *lowest, double *gap)
{
    *lowest = talus_on_support(q, talus_neg(g->up));
    *gap = talus_dot(g->up, talus_sub(*lowest, g->f.corner[0]));
    return *gap < q->clear_reach &&
           !(g->solid &&
             talus_dot(g->up, talus_sub(talus_on_support(q, g->up), g->f.corner[0])) < 0.0);
}

TALUS_OUTLINE void talus_meet_facet(TalusOnFacets *q, const TalusSeenFacet *g)
{
    TalusVec3 lowest;
    double gap, found = INFINITY;
    if (!talus_lowest_over(q, g, &lowest, &gap))
        return;
    bool above = gap > -TALUS_FACET_HAIR * q->size;
    if (above) {
        found = talus_face_touch(q, g, lowest);
        if (talus_over_facet(g, lowest))
            return;
    }
    TalusNearest near;
    if (!talus_convex_triangle(&q->x, g->f.corner, q->clear_reach, &near))
        return;
    TalusVec3 up = talus_neg(near.normal);
    int where = talus_where_on(&g->f, near.on_b);
    bool face = talus_dot(up, g->up) >= 1.0 - TALUS_FACET_NORMAL, on = talus_goes_on(q, g, where);
    int is = face ? TALUS_UP_NORMAL : talus_up_from(q, g, where, up);
    if (!above && (face || (is == TALUS_UP_INNER && (on || near.gap < 0.0))))
        found = talus_face_touch(q, g, lowest);
    /* beside what stands out: a face with its nearest point on the rim, a little off the body's lowest */
    bool rim = face && where != TALUS_ON_FACE && !on;
    if (is == TALUS_UP_OUT || (rim && found > near.gap + TALUS_FACET_BESIDE * q->size))
        talus_part_touch(q, g, where, &near);
}

/* ---- out of overlap -------------------------------------------------------------------------- */

TALUS_INLINE TalusSeenFacet talus_see_facet(const TalusOnFacets *q, int32_t t)
{
    TalusSeenFacet g;
    g.t = t;
    g.f = talus_facet(&q->b->shape->def, t);
    g.solid = talus_facet_solid(q->b->shape, t);
    for (int k = 0; k < 3; k++)
        g.f.corner[k] = talus_sub(g.f.corner[k], q->x.position);
    bool below = !g.solid && talus_dot(g.f.normal, g.f.corner[0]) > talus_dot(g.f.normal, q->moved);
    g.up = below ? talus_neg(g.f.normal) : g.f.normal;
    return g;
}

TALUS_INLINE TalusFacetWalk talus_facets_around(const TalusOnFacets *q)
{
    const TalusPose *x = &q->x;
    TalusAabb box = talus_shape_bounds(x->shape, x->radius, x->position, x->orientation);
    TalusVec3 more = talus_vec3(q->clear_reach, q->clear_reach, q->clear_reach);
    box.lo = talus_sub(box.lo, more);
    box.hi = talus_add(box.hi, more);
    return talus_facets_in(q->b->shape, box);
}

typedef struct TalusWayOut {
    TalusVec3 up;
    double depth; /* of the body's lowest point below a facet's plane */
    bool hidden;  /* that point is not over the facet: another direction may be shorter */
} TalusWayOut;

/* Of the facets that the body cuts the one whose plane it is least below; false if it cuts none by more than a
 * hair. */
TALUS_OUTLINE bool talus_way_out(const TalusOnFacets *q, TalusWayOut *way)
{
    TalusFacetWalk walk = talus_facets_around(q);
    double most = 0.0;
    TalusWayOut none = {{0.0, 0.0, 1.0}, INFINITY, false};
    *way = none;
    for (int32_t t = talus_facet_next(&walk); t >= 0; t = talus_facet_next(&walk)) {
        TalusSeenFacet g = talus_see_facet(q, t);
        TalusVec3 lowest;
        TalusNearest near;
        double gap;
        if (!talus_lowest_over(q, &g, &lowest, &gap) || !(gap < 0.0) ||
            !talus_convex_triangle(&q->x, g.f.corner, 0.0, &near))
            continue;
        most = fmax(most, -gap);
        if (-gap < way->depth) {
            way->depth = -gap;
            way->up = g.up;
            way->hidden = !talus_over_facet(&g, lowest);
        }
    }
    return most > TALUS_FACET_HAIR * q->size;
}

TALUS_INLINE void talus_move_by(TalusOnFacets *q, TalusVec3 step)
{
    q->x.position = talus_add(q->x.position, step);
    q->moved = talus_add(q->moved, step);
    q->clear_reach = q->reach + talus_norm(q->moved);
}

/* The direction and the distance at which the surface is nearest; false if it is cut or out of reach. */
TALUS_OUTLINE bool talus_nearest_up(const TalusOnFacets *q, TalusVec3 *up, double *gap)
{
    TalusFacetWalk walk = talus_facets_around(q);
    *gap = INFINITY;
    *up = talus_vec3(0.0, 0.0, 1.0);
    for (int32_t t = talus_facet_next(&walk); t >= 0; t = talus_facet_next(&walk)) {
        TalusSeenFacet g = talus_see_facet(q, t);
        TalusNearest near;
        if (talus_convex_triangle(&q->x, g.f.corner, fmin(*gap, q->clear_reach), &near)) {
            *gap = near.gap;
            *up = talus_neg(near.normal);
        }
    }
    return *gap > 0.0 && *gap < INFINITY;
}

/* A body that one facet's plane has cleared may have a shorter way, over an edge or a vertex: as in convex.h, what is
 * nearest in the clear shows it, and leads to a nearer place in the clear, until that is nothing new. */
TALUS_INLINE void talus_shorten_way(TalusOnFacets *q)
{
    double clearance = TALUS_CONVEX_CLEARANCE * q->size, gap, next_gap;
    TalusVec3 up, next_up;
    bool clear = talus_nearest_up(q, &up, &gap);
    for (int round = 0; round < TALUS_FACET_ROUNDS && clear; round++) {
        double depth = talus_dot(q->moved, up) - gap, before = talus_norm(q->moved) - clearance;
        if (!(depth < before * (1.0 - TALUS_FACET_GAIN)))
            return;
        TalusVec3 back = talus_sub(talus_scale(depth + clearance, up), q->moved);
        talus_move_by(q, back);
        clear = talus_nearest_up(q, &next_up, &next_gap);
        if (!clear) /* in a hollow: not this way */
            talus_move_by(q, talus_neg(back));
        up = next_up;
        gap = next_gap;
    }
}

TALUS_INLINE void talus_move_clear(TalusOnFacets *q)
{
    TalusWayOut way;
    int round = 0;
    bool hidden = false;
    for (; round < TALUS_FACET_ROUNDS && talus_way_out(q, &way); round++) {
        hidden = way.hidden;
        talus_move_by(q, talus_scale(way.depth + TALUS_CONVEX_CLEARANCE * q->size, way.up));
    }
    if (round == 1 && hidden)
        talus_shorten_way(q);
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
TALUS_OUTLINE void talus_convex_facets(const TalusPose *a, const TalusPose *b, double reach,
                                       TALUS_TOUCH_SINK *sink)
{
    TalusOnFacets q;
    q.a = a;
    q.b = b;
    q.x = talus_pose_within(a, b);
    q.reach = q.clear_reach = reach;
    q.moved = talus_vec3(0.0, 0.0, 0.0);
    q.margin = talus_core_margin(a->shape, a->radius);
    q.size = a->shape->size;
    q.sink = sink;
    q.patches = q.edges = 0;
    talus_move_clear(&q);
    TalusFacetWalk walk = talus_facets_around(&q);
    for (int32_t t = talus_facet_next(&walk); t >= 0; t = talus_facet_next(&walk)) {
        TalusSeenFacet g = talus_see_facet(&q, t);
        talus_meet_facet(&q, &g);
    }
    for (int k = 0; k < q.patches; k++)
        talus_patch_emit(&q, &q.patch[k]);
}

#endif
