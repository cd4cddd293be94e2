/* collide/mesh_clear.h - translates a convex body until it is clear of a mesh or height field; for host and device.
 * mesh_convex.h finds the contacts there. Everything is in the frame of the surface.
 *
 * Of the facets that an overlapping body intersects, the one whose plane the body is least below gives the direction:
 * the body moves along its normal until it is above that plane. This is repeated until no facet is intersected, at most
 * TALUS_FACET_ROUNDS times. A body that intersects no facet, but has its position below a field, moves out of the facet
 * above its position. */
#ifndef TALUS_COLLIDE_MESH_CLEAR_H
#define TALUS_COLLIDE_MESH_CLEAR_H

#include "collide/convex.h"
#include "geometry/bounds.h"
#include "geometry/facets.h"

/* Depth below a plane or in a facet, over the body's size, up to which the body counts as clear. */
#define TALUS_FACET_CLEAR_DEPTH 0x1p-12
/* Fraction by which a translation must be shorter to replace another. */
#define TALUS_FACET_GAIN 0x1p-16

enum { TALUS_FACET_ROUNDS = 4 }; /* maximum number of translations */

/* A convex body and its position clear of a surface. */
typedef struct TalusClearedBody {
    const TalusShape *surface; /* mesh or field */
    TalusPose pose;            /* clear pose, in the frame of the surface */
    TalusVec3 translation;     /* from the original position to the clear one */
    double reach;              /* upper limit of gaps, at the original position */
    double clear_reach;        /* upper limit of gaps at the clear pose: reach + |translation| */
    double margin, size;       /* core margin (geometry/support.h) and size of the body */
} TalusClearedBody;

/* One facet of the surface, as seen from the body. */
typedef struct TalusLocalFacet {
    int32_t t;    /* index of the facet */
    TalusFacet f; /* corners relative to the clear position */
    bool solid;   /* the facet bounds a solid */
    TalusVec3 up; /* outward normal; of a thin wall, towards the original position */
} TalusLocalFacet;

/* Facet t of the surface, its corners relative to the body's clear position. */
TALUS_INLINE TalusLocalFacet talus_local_facet(const TalusClearedBody *q, int32_t t)
{
    TalusLocalFacet g;
    g.t = t;
    g.f = talus_get_facet(&q->surface->def, t);
    g.solid = talus_facet_is_solid(q->surface, t);
    for (int k = 0; k < 3; k++)
        g.f.corner[k] = talus_sub(g.f.corner[k], q->pose.position);
    bool below =
        !g.solid && talus_dot(g.f.normal, g.f.corner[0]) > -talus_dot(g.f.normal, q->translation);
    g.up = below ? talus_neg(g.f.normal) : g.f.normal;
    return g;
}

/* Iterator over the facets whose bounds are within clear_reach of the body's bounds. */
TALUS_INLINE TalusFacetWalk talus_facets_near_body(const TalusClearedBody *q)
{
    const TalusPose *x = &q->pose;
    TalusAabb box = talus_shape_bounds(x->shape, x->radius, x->position, x->orientation);
    TalusVec3 more = talus_vec3(q->clear_reach, q->clear_reach, q->clear_reach);
    box.lo = talus_sub(box.lo, more);
    box.hi = talus_add(box.hi, more);
    return talus_facets_in_box(q->surface, box);
}

/* Point of the body's surface farthest along the unit vector d, relative to the body's position. */
TALUS_INLINE TalusVec3 talus_cleared_support(const TalusClearedBody *q, TalusVec3 d)
{
    TalusVec3 own = talus_rotate_back(q->pose.orientation, d);
    return talus_madd(talus_rotate(q->pose.orientation, talus_core_support(q->pose.shape, own)),
                      q->margin, d);
}

/* True if x projects into the facet along the facet's normal. */
TALUS_INLINE bool talus_projects_onto_facet(const TalusLocalFacet *g, TalusVec3 x)
{
    for (int k = 0; k < 3; k++) {
        TalusVec3 edge = talus_sub(g->f.corner[k == 2 ? 0 : k + 1], g->f.corner[k]);
        if (talus_dot(g->f.normal, talus_cross(edge, talus_sub(x, g->f.corner[k]))) < 0.0)
            return false;
    }
    return true;
}

/* Finds the body's lowest point, the farthest along -g->up, and its gap to the facet's plane. False if the plane is out
 * of reach, or the whole body is behind the plane of a solid. */
TALUS_INLINE bool talus_find_lowest_point(const TalusClearedBody *q, const TalusLocalFacet *g,
                                          TalusVec3 *lowest, double *gap)
{
    *lowest = talus_cleared_support(q, talus_neg(g->up));
    *gap = talus_dot(g->up, talus_sub(*lowest, g->f.corner[0]));
    return *gap < q->clear_reach &&
           !(g->solid &&
             talus_dot(g->up, talus_sub(talus_cleared_support(q, g->up), g->f.corner[0])) < 0.0);
}

/* ---- translations -------------------------------------------------------------------------------- */

/* Translation out of one facet. */
typedef struct TalusPushOut {
    TalusVec3 direction; /* normal of the facet */
    double depth;        /* of the body's lowest point below the facet's plane */
    bool off_facet; /* the lowest point is not over the facet: another direction may be shorter */
} TalusPushOut;

/* For a body whose position is below a height field: finds the translation out of the facet above. False for any other
 * body. Needed where a deep body intersects no facet. */
TALUS_INLINE bool talus_find_push_out_of_ground(const TalusClearedBody *q, TalusPushOut *push)
{
    double height;
    int32_t above = q->surface->def.kind == TALUS_SHAPE_FIELD
                        ? talus_field_facet_at(q->surface, q->pose.position, &height)
                        : -1;
    if (above < 0 || height >= 0.0)
        return false;
    TalusLocalFacet g = talus_local_facet(q, above);
    TalusVec3 lowest = talus_cleared_support(q, talus_neg(g.up));
    push->direction = g.up;
    push->depth = -talus_dot(g.up, talus_sub(lowest, g.f.corner[0]));
    push->off_facet = false;
    return true;
}

/* Finds the translation out of the intersected facet whose plane the body is least below. If no facet is intersected by
 * more than TALUS_FACET_CLEAR_DEPTH: that of talus_find_push_out_of_ground. False if there is
 * neither; do not use *push then. */
TALUS_OUTLINE bool talus_find_push_out(const TalusClearedBody *q, TalusPushOut *push)
{
    TalusFacetWalk walk = talus_facets_near_body(q);
    double most = 0.0;
    TalusPushOut none = {{0.0, 0.0, 1.0}, INFINITY, false};
    *push = none;
    for (int32_t t = talus_next_facet(&walk); t >= 0; t = talus_next_facet(&walk)) {
        TalusLocalFacet g = talus_local_facet(q, t);
        TalusVec3 lowest;
        TalusNearest near;
        double gap;
        if (!talus_find_lowest_point(q, &g, &lowest, &gap) || !(gap < 0.0) ||
            !talus_convex_triangle_nearest(&q->pose, g.f.corner, 0.0, &near))
            continue;
        most = talus_max(most, -near.gap);
        if (-gap < push->depth) {
            push->depth = -gap;
            push->direction = g.up;
            push->off_facet = !talus_projects_onto_facet(&g, lowest);
        }
    }
    return most > TALUS_FACET_CLEAR_DEPTH * q->size || talus_find_push_out_of_ground(q, push);
}

/* Moves the clear pose by `step`. */
TALUS_INLINE void talus_translate_cleared(TalusClearedBody *q, TalusVec3 step)
{
    q->pose.position = talus_add(q->pose.position, step);
    q->translation = talus_add(q->translation, step);
    q->clear_reach = q->reach + talus_norm(q->translation);
}

/* Finds the distance of the nearest point of the surface, and the direction `up` from there to the body. False if the
 * surface is intersected or out of reach. */
TALUS_OUTLINE bool talus_find_nearest_surface(const TalusClearedBody *q, TalusVec3 *up, double *gap)
{
    TalusFacetWalk walk = talus_facets_near_body(q);
    *gap = INFINITY;
    *up = talus_vec3(0.0, 0.0, 1.0);
    for (int32_t t = talus_next_facet(&walk); t >= 0; t = talus_next_facet(&walk)) {
        TalusLocalFacet g = talus_local_facet(q, t);
        TalusNearest near;
        if (talus_convex_triangle_nearest(&q->pose, g.f.corner, talus_min(*gap, q->clear_reach),
                                          &near)) {
            *gap = near.gap;
            *up = talus_neg(near.normal);
        }
    }
    return *gap > 0.0 && *gap < INFINITY;
}

/* Shortens the translation out of a facet for a body that is over an edge or a vertex. As in convex.h, the direction
 * from the nearest point of the surface to the clear pose is that of a shorter translation. Repeated while the length
 * shrinks by the fraction TALUS_FACET_GAIN, at most TALUS_FACET_ROUNDS times; a translation to a pose that is not clear
 * is undone. */
TALUS_INLINE void talus_shorten_push_out(TalusClearedBody *q)
{
    double clearance = TALUS_CONVEX_CLEARANCE * q->size, gap, next_gap;
    TalusVec3 up, next_up;
    bool clear = talus_find_nearest_surface(q, &up, &gap);
    for (int round = 0; round < TALUS_FACET_ROUNDS && clear; round++) {
        double depth = talus_dot(q->translation, up) - gap,
               before = talus_norm(q->translation) - clearance;
        if (!(depth < before * (1.0 - TALUS_FACET_GAIN)))
            return;
        TalusVec3 back = talus_sub(talus_scale(depth + clearance, up), q->translation);
        talus_translate_cleared(q, back);
        clear = talus_find_nearest_surface(q, &next_up, &next_gap);
        if (!clear) /* not clear there, as in a hollow: undo */
            talus_translate_cleared(q, talus_neg(back));
        up = next_up;
        gap = next_gap;
    }
}

/* Moves the body clear of the surface. If one translation was enough, and the body's lowest point was not over the
 * facet, the translation is then shortened. */
TALUS_INLINE void talus_push_clear(TalusClearedBody *q)
{
    TalusPushOut push;
    int round = 0;
    bool off_facet = false;
    for (; round < TALUS_FACET_ROUNDS && talus_find_push_out(q, &push); round++) {
        off_facet = push.off_facet;
        talus_translate_cleared(
            q, talus_scale(push.depth + TALUS_CONVEX_CLEARANCE * q->size, push.direction));
    }
    if (round == 1 && off_facet)
        talus_shorten_push_out(q);
}

/* Pose of a in the frame of `frame`. */
TALUS_INLINE TalusPose talus_relative_pose(const TalusPose *a, const TalusPose *frame)
{
    TalusQuat back = {frame->orientation.w, -frame->orientation.x, -frame->orientation.y,
                      -frame->orientation.z};
    TalusPose x = {a->shape, a->radius,
                   talus_rotate_back(frame->orientation, talus_sub(a->position, frame->position)),
                   talus_quat_mul(back, a->orientation)};
    return x;
}

/* Sets *q: body a in the frame of b, a mesh or field, moved clear of b, as far as TALUS_FACET_ROUNDS translations
 * suffice. */
TALUS_OUTLINE void talus_clear_body(const TalusPose *a, const TalusPose *b, double reach,
                                    TalusClearedBody *q)
{
    q->surface = b->shape;
    q->pose = talus_relative_pose(a, b);
    q->translation = talus_vec3(0.0, 0.0, 0.0);
    q->reach = q->clear_reach = reach;
    q->margin = talus_core_margin(a->shape, a->radius);
    q->size = a->shape->size;
    talus_push_clear(q);
}

#endif
