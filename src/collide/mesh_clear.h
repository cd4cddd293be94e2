/* collide/mesh_clear.h - moves a convex body clear of a mesh or height field; for host and device. mesh_convex.h finds
 * the contacts there. Everything is in the frame of the mesh.
 *
 * A body that overlaps the surface is moved out of the cut facet whose plane it is least below, and so on until it cuts
 * none. A body entirely under a field is moved out of the facet above its position. */
#ifndef TALUS_COLLIDE_MESH_CLEAR_H
#define TALUS_COLLIDE_MESH_CLEAR_H

#include "collide/convex.h"
#include "geometry/bounds.h"
#include "geometry/facets.h"

/* Relative to the body's size: depth below a plane or in a facet up to which the body counts as clear. */
#define TALUS_FACET_HAIR 0x1p-12
/* Relative saving that a shorter way out must have. */
#define TALUS_FACET_GAIN 0x1p-16

enum { TALUS_FACET_ROUNDS = 4 }; /* maximum number of facets that a body is moved out of */

typedef struct TalusBeside {
    const TalusShape *surface; /* mesh or field */
    TalusPose x;               /* the body, in the frame of the surface, clear of it */
    TalusVec3 moved;           /* translation of the body to x */
    double reach;              /* limit of gaps of the body */
    double clear_reach;        /* limit of gaps of x: reach plus the length of moved */
    double margin, size;
} TalusBeside;

/* One facet, its corners relative to the body's position. */
typedef struct TalusSeenFacet {
    int32_t t;
    TalusFacet f;
    bool solid;
    TalusVec3 up; /* normal on the side of the body's original position */
} TalusSeenFacet;

TALUS_INLINE TalusSeenFacet talus_see_facet(const TalusBeside *q, int32_t t)
{
    TalusSeenFacet g;
    g.t = t;
    g.f = talus_facet(&q->surface->def, t);
    g.solid = talus_facet_solid(q->surface, t);
    for (int k = 0; k < 3; k++)
        g.f.corner[k] = talus_sub(g.f.corner[k], q->x.position);
    bool below =
        !g.solid && talus_dot(g.f.normal, g.f.corner[0]) > -talus_dot(g.f.normal, q->moved);
    g.up = below ? talus_neg(g.f.normal) : g.f.normal;
    return g;
}

TALUS_INLINE TalusFacetWalk talus_facets_around(const TalusBeside *q)
{
    const TalusPose *x = &q->x;
    TalusAabb box = talus_shape_bounds(x->shape, x->radius, x->position, x->orientation);
    TalusVec3 more = talus_vec3(q->clear_reach, q->clear_reach, q->clear_reach);
    box.lo = talus_sub(box.lo, more);
    box.hi = talus_add(box.hi, more);
    return talus_facets_in(q->surface, box);
}

/* Point of the body's surface farthest along d. */
TALUS_INLINE TalusVec3 talus_beside_support(const TalusBeside *q, TalusVec3 d)
{
    TalusVec3 own = talus_rotate_back(q->x.orientation, d);
    return talus_madd(talus_rotate(q->x.orientation, talus_support_core(q->x.shape, own)),
                      q->margin, d);
}

TALUS_INLINE bool talus_over_facet(const TalusSeenFacet *g, TalusVec3 x)
{
    for (int k = 0; k < 3; k++) {
        TalusVec3 edge = talus_sub(g->f.corner[k == 2 ? 0 : k + 1], g->f.corner[k]);
        if (talus_dot(g->f.normal, talus_cross(edge, talus_sub(x, g->f.corner[k]))) < 0.0)
            return false;
    }
    return true;
}

/* Finds the body's lowest point and its gap to the facet's plane. False if the plane is out of reach, or the whole body
 * is behind the plane of a solid. */
TALUS_INLINE bool talus_lowest_over(const TalusBeside *q, const TalusSeenFacet *g,
                                    TalusVec3 *lowest, double *gap)
{
    *lowest = talus_beside_support(q, talus_neg(g->up));
    *gap = talus_dot(g->up, talus_sub(*lowest, g->f.corner[0]));
    return *gap < q->clear_reach &&
           !(g->solid &&
             talus_dot(g->up, talus_sub(talus_beside_support(q, g->up), g->f.corner[0])) < 0.0);
}

/* ---- ways out -------------------------------------------------------------------------------- */

typedef struct TalusWayOut {
    TalusVec3 up;
    double depth; /* depth of the body's lowest point below a facet's plane */
    bool hidden;  /* that point is not over the facet, so another direction may be shorter */
} TalusWayOut;

/* Finds the way out through the facet above a body that lies below a field and barely cuts it, if at all. */
TALUS_INLINE bool talus_way_up(const TalusBeside *q, TalusWayOut *way)
{
    double height;
    int32_t above = q->surface->def.kind == TALUS_SHAPE_FIELD
                        ? talus_field_under(q->surface, q->x.position, &height)
                        : -1;
    if (above < 0 || height >= 0.0)
        return false;
    TalusSeenFacet g = talus_see_facet(q, above);
    TalusVec3 lowest = talus_beside_support(q, talus_neg(g.up));
    way->up = g.up;
    way->depth = -talus_dot(g.up, talus_sub(lowest, g.f.corner[0]));
    way->hidden = false;
    return true;
}

/* Finds the cut facet whose plane the body is least below. False if no facet is cut by more than TALUS_FACET_HAIR. */
TALUS_OUTLINE bool talus_way_out(const TalusBeside *q, TalusWayOut *way)
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
        most = fmax(most, -near.gap);
        if (-gap < way->depth) {
            way->depth = -gap;
            way->up = g.up;
            way->hidden = !talus_over_facet(&g, lowest);
        }
    }
    return most > TALUS_FACET_HAIR * q->size || talus_way_up(q, way);
}

TALUS_INLINE void talus_move_by(TalusBeside *q, TalusVec3 step)
{
    q->x.position = talus_add(q->x.position, step);
    q->moved = talus_add(q->moved, step);
    q->clear_reach = q->reach + talus_norm(q->moved);
}

/* Finds direction and distance of the nearest point of the surface. False if the surface is cut or out of reach. */
TALUS_OUTLINE bool talus_nearest_up(const TalusBeside *q, TalusVec3 *up, double *gap)
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

/* Shortens the way of a body that one facet's plane has cleared, over an edge or a vertex. As in convex.h, the nearest
 * point in the clear position gives a shorter way to a clear position. Repeated while that gains. */
TALUS_INLINE void talus_shorten_way(TalusBeside *q)
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
        if (!clear) /* not clear there, as in a hollow: undo */
            talus_move_by(q, talus_neg(back));
        up = next_up;
        gap = next_gap;
    }
}

TALUS_INLINE void talus_move_clear(TalusBeside *q)
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
    TalusPose x = {a->shape, a->radius,
                   talus_rotate_back(frame->orientation, talus_sub(a->position, frame->position)),
                   talus_quat_mul(back, a->orientation)};
    return x;
}

/* Places body a in the frame of b, a mesh or field, and moves it clear of b. */
TALUS_OUTLINE void talus_beside(const TalusPose *a, const TalusPose *b, double reach,
                                TalusBeside *q)
{
    q->surface = b->shape;
    q->x = talus_pose_within(a, b);
    q->moved = talus_vec3(0.0, 0.0, 0.0);
    q->reach = q->clear_reach = reach;
    q->margin = talus_core_margin(a->shape, a->radius);
    q->size = a->shape->size;
    talus_move_clear(q);
}

#endif
