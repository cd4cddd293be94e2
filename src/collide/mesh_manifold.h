/* collide/mesh_manifold.h - meshes and height fields against spheres; for host and device. Part of pair_table.h, which
 * includes it. mesh_convex.h has the other convex bodies.
 *
 * A ball touches a surface where the distance of its centre from the surface has a minimum: at a face that the centre
 * projects onto, or at an edge or a vertex that stands out towards it from all faces around. Common edges of coplanar
 * faces never stand out, so a tessellated plane touches as a plane. In a concave corner each face has a contact.
 *
 * A solid (closed parts of a mesh, the ground of a field) is touched from outside; if the centre is inside, the nearest
 * point of the surface gives the way out. A thin wall is touched from the side of the centre. */
#ifndef TALUS_COLLIDE_MESH_MANIFOLD_H
#define TALUS_COLLIDE_MESH_MANIFOLD_H

#include "collide/gjk.h"
#include "collide/simple_manifold.h"
#include "geometry/facets.h"

/* Features: a facet and, in 8 bits, its part. A vertex of the surface has its own number with the highest bit set. */
enum {
    TALUS_FACET_BITS = 8,
    TALUS_FACET_BALL = 190, /* plus TalusFoot.where, faces and sides only */
    TALUS_FACET_UNDER = 199 /* the facet of a field above the centre */
};
#define TALUS_FACET_VERTEX UINT32_C(0x80000000)

/* Distance of a ball's centre from the surface, relative to its radius, below which the surface defines the normal. */
#define TALUS_FACET_CLOSE 0x1p-30

typedef struct TalusBallOnFacets {
    const TalusPose *a, *b;
    TalusVec3 p; /* centre of the ball, in the frame of the facets */
    double reach;
    TALUS_MANIFOLD_SINK *sink;
} TalusBallOnFacets;

typedef struct TalusNearestFacet {
    int32_t facet; /* -1: none in reach */
    TalusFoot foot;
} TalusNearestFacet;

TALUS_INLINE uint32_t talus_foot_feature(const TalusShape *s, int32_t t, int where)
{
    if (where >= TALUS_ON_CORNER)
        return TALUS_FACET_VERTEX |
               (uint32_t)talus_facet_vertex(&s->def, t, where - TALUS_ON_CORNER);
    return (uint32_t)t << TALUS_FACET_BITS | (uint32_t)(TALUS_FACET_BALL + where);
}

/* Adds the contact at a foot. `inside`: the way out is opposite to the foot's direction. */
TALUS_OUTLINE void talus_ball_point(const TalusBallOnFacets *q, int32_t t, const TalusFacet *f,
                                    const TalusFoot *foot, bool inside)
{
    const TalusShape *s = q->b->shape;
    double distance = talus_norm(foot->from);
    TalusVec3 out;
    if (foot->where == TALUS_ON_FACE)
        out = inside || talus_dot(foot->from, f->normal) >= 0.0 ? f->normal : talus_neg(f->normal);
    else if (distance > TALUS_FACET_CLOSE * q->a->radius)
        out = talus_scale((inside ? -1.0 : 1.0) / distance, foot->from);
    else
        out = talus_normalize(talus_outward(s, t, f, foot->where), f->normal);
    talus_manifold_ball(q->a, q->b, talus_foot_feature(s, t, foot->where),
                        talus_rotate(q->b->orientation, out), inside ? -distance : distance,
                        q->reach, q->sink);
}

/* Finds the nearest point of the surface within `limit`. */
TALUS_OUTLINE TalusNearestFacet talus_nearest_facet(const TalusShape *s, TalusVec3 p, double limit)
{
    TalusNearestFacet best = {-1, {{0.0, 0.0, 0.0}, 0}};
    TalusFacetWalk walk = talus_facets_in(s, talus_box_around(p, limit));
    double least = limit * limit;
    for (int32_t t = talus_facet_next(&walk); t >= 0; t = talus_facet_next(&walk)) {
        TalusFacet f = talus_facet(&s->def, t);
        TalusFoot foot = talus_facet_foot(&f, p);
        double distance2 = talus_dot(foot.from, foot.from);
        if (!(distance2 < least))
            continue;
        least = distance2;
        best.facet = t;
        best.foot = foot;
        walk.box = talus_box_around(p, sqrt(least));
    }
    return best;
}

/* True if the distance to the ball's centre has a minimum at the foot. One facet counts for a shared edge or vertex. */
TALUS_OUTLINE bool talus_foot_counts(const TalusShape *s, int32_t t, const TalusFacet *f,
                                     const TalusFoot *foot)
{
    int k = foot->where - TALUS_ON_SIDE, c = foot->where - TALUS_ON_CORNER;
    if (foot->where >= TALUS_ON_CORNER) {
        int32_t v = talus_facet_vertex(&s->def, t, c);
        if (!talus_facet_has_corner(s, t, c) ||
            !talus_vertex_seen(s, v, foot->from, 0.0).stands_out)
            return false;
    } else if (foot->where >= TALUS_ON_SIDE) {
        if (!talus_facet_has_edge(s, t, k) || !talus_edge_stands_out(s, 3 * t + k, foot->from, 0.0))
            return false;
    }
    return s->def.kind == TALUS_SHAPE_FIELD || !talus_facet_solid(s, t) ||
           talus_dot(talus_outward(s, t, f, foot->where), foot->from) >= 0.0;
}

/* Adds the contact of a centre below the ground: at the nearest point, or at the facet above if none is in reach. */
TALUS_INLINE void talus_ball_under(const TalusBallOnFacets *q, const TalusNearestFacet *near,
                                   int32_t above, double height)
{
    const TalusShape *s = q->b->shape;
    TalusFacet f = talus_facet(&s->def, near->facet >= 0 ? near->facet : above);
    if (near->facet >= 0)
        talus_ball_point(q, near->facet, &f, &near->foot, true);
    else
        talus_manifold_ball(q->a, q->b, (uint32_t)above << TALUS_FACET_BITS | TALUS_FACET_UNDER,
                            talus_rotate(q->b->orientation, f.normal), height, q->reach, q->sink);
}

TALUS_INLINE bool talus_nearest_inside(const TalusShape *s, const TalusNearestFacet *near)
{
    if (!talus_facet_solid(s, near->facet))
        return false;
    TalusFacet f = talus_facet(&s->def, near->facet);
    return talus_dot(talus_outward(s, near->facet, &f, near->foot.where), near->foot.from) < 0.0;
}

TALUS_OUTLINE void talus_ball_outside(const TalusBallOnFacets *q, double limit,
                                      const TalusNearestFacet *near)
{
    const TalusShape *s = q->b->shape;
    TalusFacetWalk walk = talus_facets_in(s, talus_box_around(q->p, limit));
    bool none = true;
    for (int32_t t = talus_facet_next(&walk); t >= 0; t = talus_facet_next(&walk)) {
        TalusFacet f = talus_facet(&s->def, t);
        TalusFoot foot = talus_facet_foot(&f, q->p);
        if (!(talus_dot(foot.from, foot.from) < limit * limit) ||
            !talus_foot_counts(s, t, &f, &foot))
            continue;
        talus_ball_point(q, t, &f, &foot, false);
        none = false;
    }
    if (none) { /* rounding made each of two neighbours leave the point to the other */
        TalusFacet f = talus_facet(&s->def, near->facet);
        talus_ball_point(q, near->facet, &f, &near->foot, false);
    }
}

TALUS_OUTLINE void talus_sphere_facets(const TalusPose *a, const TalusPose *b, double reach,
                                       TALUS_MANIFOLD_SINK *sink)
{
    const TalusShape *s = b->shape;
    double limit = a->radius + reach, height = 0.0;
    TalusBallOnFacets q = {a, b, talus_into_frame(b, a->position), reach, sink};
    TalusNearestFacet near = talus_nearest_facet(s, q.p, limit);
    if (s->def.kind == TALUS_SHAPE_FIELD) {
        int32_t above = talus_field_under(s, q.p, &height);
        if (above >= 0 && height < 0.0) {
            talus_ball_under(&q, &near, above, height);
            return;
        }
    }
    if (near.facet < 0)
        return;
    if (s->def.kind == TALUS_SHAPE_MESH && talus_nearest_inside(s, &near)) {
        TalusFacet f = talus_facet(&s->def, near.facet);
        talus_ball_point(&q, near.facet, &f, &near.foot, true);
        return;
    }
    talus_ball_outside(&q, limit, &near);
}

#endif
