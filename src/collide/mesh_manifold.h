/* collide/mesh_manifold.h - meshes and height fields against spheres; for host and device. Part of pair_table.h, which
 * includes it. mesh_convex.h has the other convex bodies.
 *
 * A ball touches a surface where the distance of its centre from the surface has a minimum: at a face that the centre
 * projects onto, or at an edge or a vertex whose normal cone contains the direction to the centre. The normal cone of a
 * common edge of coplanar faces has only their normals, so a tessellated plane touches as a plane. In a concave corner
 * each face has a contact.
 *
 * A solid (closed parts of a mesh, the ground of a field) is touched from outside; if the centre is inside, the contact
 * is at the nearest point of the surface. A thin wall is touched from the side of the centre. */
#ifndef TALUS_COLLIDE_MESH_MANIFOLD_H
#define TALUS_COLLIDE_MESH_MANIFOLD_H

#include "collide/gjk.h"
#include "collide/simple_manifold.h"
#include "geometry/facets.h"

/* Features: index of a facet times 2^8 plus a number for its part; at a vertex its index with the highest bit set. */
enum {
    TALUS_FACET_BITS = 8,
    TALUS_FACET_BALL = 190, /* feature of a ball on face or side: this plus TalusClosest.where */
    TALUS_FACET_UNDER = 199 /* a ball under a field, at the facet above its centre */
};
#define TALUS_FACET_VERTEX UINT32_C(0x80000000)

/* Distance of a ball's centre from an edge or vertex, over its radius, below which the pseudonormal is the normal. */
#define TALUS_FACET_CLOSE 0x1p-30

/* A sphere a against a mesh or field b. */
typedef struct TalusBallQuery {
    const TalusPose *a, *b;
    TalusVec3 p;  /* centre of the ball, in the frame of b */
    double reach; /* upper limit of gaps, m */
    TALUS_MANIFOLD_SINK *sink;
} TalusBallQuery;

typedef struct TalusNearestFacet {
    int32_t facet;        /* -1: none in reach */
    TalusClosest closest; /* its point nearest to the centre of the ball */
} TalusNearestFacet;

/* Feature of part `where` (TALUS_ON_*) of facet t. */
TALUS_INLINE uint32_t talus_facet_part_feature(const TalusShape *s, int32_t t, int where)
{
    if (where >= TALUS_ON_CORNER)
        return TALUS_FACET_VERTEX |
               (uint32_t)talus_facet_vertex(&s->def, t, where - TALUS_ON_CORNER);
    return (uint32_t)t << TALUS_FACET_BITS | (uint32_t)(TALUS_FACET_BALL + where);
}

/* Adds the ball's contact at the closest point of facet t. The surface's normal points from that point to the
 * centre, or away from the centre if that is `inside` a solid. If the centre is on an edge or vertex, the normal is the
 * pseudonormal. */
TALUS_OUTLINE void talus_add_ball_point(const TalusBallQuery *q, int32_t t, const TalusFacet *f,
                                        const TalusClosest *closest, bool inside)
{
    const TalusShape *s = q->b->shape;
    double distance = talus_norm(closest->from);
    TalusVec3 out;
    if (closest->where == TALUS_ON_FACE)
        out =
            inside || talus_dot(closest->from, f->normal) >= 0.0 ? f->normal : talus_neg(f->normal);
    else if (distance > TALUS_FACET_CLOSE * q->a->radius)
        out = talus_scale((inside ? -1.0 : 1.0) / distance, closest->from);
    else
        out = talus_normalize(talus_pseudonormal(s, t, f, closest->where), f->normal);
    talus_manifold_add_ball(q->a, q->b, talus_facet_part_feature(s, t, closest->where),
                            talus_rotate(q->b->orientation, out), inside ? -distance : distance,
                            q->reach, q->sink);
}

/* Finds the facet with the point of the surface nearest to p, if that is nearer than `limit`. */
TALUS_OUTLINE TalusNearestFacet talus_find_nearest_facet(const TalusShape *s, TalusVec3 p,
                                                         double limit)
{
    TalusNearestFacet best = {-1, {{0.0, 0.0, 0.0}, 0}};
    TalusFacetWalk walk = talus_facets_in_box(s, talus_box_around(p, limit));
    double least = limit * limit;
    for (int32_t t = talus_next_facet(&walk); t >= 0; t = talus_next_facet(&walk)) {
        TalusFacet f = talus_get_facet(&s->def, t);
        TalusClosest closest = talus_facet_closest(&f, p);
        double distance2 = talus_dot(closest.from, closest.from);
        if (!(distance2 < least))
            continue;
        least = distance2;
        best.facet = t;
        best.closest = closest;
        walk.box = talus_box_around(p, sqrt(least));
    }
    return best;
}

/* True if the surface's distance to the ball's centre has a local minimum at the closest point of facet t. At an edge
 * or vertex only true for the first of the facets that share it; on a closed part of a mesh only if the centre is
 * outside. */
TALUS_OUTLINE bool talus_is_distance_minimum(const TalusShape *s, int32_t t, const TalusFacet *f,
                                             const TalusClosest *closest)
{
    int k = closest->where - TALUS_ON_SIDE, c = closest->where - TALUS_ON_CORNER;
    if (closest->where >= TALUS_ON_CORNER) {
        int32_t v = talus_facet_vertex(&s->def, t, c);
        if (!talus_facet_owns_vertex(s, t, c) ||
            !talus_vertex_normal_cone(s, v, closest->from, 0.0).contains)
            return false;
    } else if (closest->where >= TALUS_ON_SIDE) {
        if (!talus_facet_owns_edge(s, t, k) ||
            !talus_in_edge_normal_cone(s, 3 * t + k, closest->from, 0.0))
            return false;
    }
    return s->def.kind == TALUS_SHAPE_FIELD || !talus_facet_is_solid(s, t) ||
           talus_dot(talus_pseudonormal(s, t, f, closest->where), closest->from) >= 0.0;
}

/* Adds the contact of a ball whose centre is below the ground of a field: at the nearest point, or, if that is out of
 * reach, at the plane of the facet above the centre (its `height` over that plane is negative). */
TALUS_INLINE void talus_add_ball_below_ground(const TalusBallQuery *q,
                                              const TalusNearestFacet *near, int32_t above,
                                              double height)
{
    const TalusShape *s = q->b->shape;
    TalusFacet f = talus_get_facet(&s->def, near->facet >= 0 ? near->facet : above);
    if (near->facet >= 0)
        talus_add_ball_point(q, near->facet, &f, &near->closest, true);
    else
        talus_manifold_add_ball(q->a, q->b, (uint32_t)above << TALUS_FACET_BITS | TALUS_FACET_UNDER,
                                talus_rotate(q->b->orientation, f.normal), height, q->reach,
                                q->sink);
}

/* True if the ball's centre is inside a solid: behind the nearest facet. */
TALUS_INLINE bool talus_centre_is_inside(const TalusShape *s, const TalusNearestFacet *near)
{
    if (!talus_facet_is_solid(s, near->facet))
        return false;
    TalusFacet f = talus_get_facet(&s->def, near->facet);
    return talus_dot(talus_pseudonormal(s, near->facet, &f, near->closest.where),
                     near->closest.from) < 0.0;
}

/* Adds the contacts of a ball whose centre is outside: one at every minimum of the surface's distance below `limit`, or
 * at the nearest point `near` if rounding hides all minima. */
TALUS_OUTLINE void talus_add_ball_outside(const TalusBallQuery *q, double limit,
                                          const TalusNearestFacet *near)
{
    const TalusShape *s = q->b->shape;
    TalusFacetWalk walk = talus_facets_in_box(s, talus_box_around(q->p, limit));
    bool none = true;
    for (int32_t t = talus_next_facet(&walk); t >= 0; t = talus_next_facet(&walk)) {
        TalusFacet f = talus_get_facet(&s->def, t);
        TalusClosest closest = talus_facet_closest(&f, q->p);
        if (!(talus_dot(closest.from, closest.from) < limit * limit) ||
            !talus_is_distance_minimum(s, t, &f, &closest))
            continue;
        talus_add_ball_point(q, t, &f, &closest, false);
        none = false;
    }
    if (none) { /* rounding made each of two neighbours leave the point to the other */
        TalusFacet f = talus_get_facet(&s->def, near->facet);
        talus_add_ball_point(q, near->facet, &f, &near->closest, false);
    }
}

/* Adds the contacts of sphere a with the mesh or field b. */
TALUS_OUTLINE void talus_sphere_facets(const TalusPose *a, const TalusPose *b, double reach,
                                       TALUS_MANIFOLD_SINK *sink)
{
    const TalusShape *s = b->shape;
    double limit = a->radius + reach, height = 0.0;
    TalusBallQuery q = {a, b, talus_point_in_frame(b, a->position), reach, sink};
    TalusNearestFacet near = talus_find_nearest_facet(s, q.p, limit);
    if (s->def.kind == TALUS_SHAPE_FIELD) {
        int32_t above = talus_field_facet_at(s, q.p, &height);
        if (above >= 0 && height < 0.0) {
            talus_add_ball_below_ground(&q, &near, above, height);
            return;
        }
    }
    if (near.facet < 0)
        return;
    if (s->def.kind == TALUS_SHAPE_MESH && talus_centre_is_inside(s, &near)) {
        TalusFacet f = talus_get_facet(&s->def, near.facet);
        talus_add_ball_point(&q, near.facet, &f, &near.closest, true);
        return;
    }
    talus_add_ball_outside(&q, limit, &near);
}

#endif
