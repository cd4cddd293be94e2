/* collide/capsules.h - capsules against spheres, planes and each other, by closed forms; for host and device. Part of
 * pair_table.h, which includes it.
 *
 * A capsule is the set of points within its radius of a line segment. Features: 0 against a sphere; the end of the
 * segment (0: low, 1: high) against a plane; of two capsules 2 for the nearest points and, if they are parallel, 0 and
 * 1 for the ends of the common stretch. */
#ifndef TALUS_COLLIDE_CAPSULES_H
#define TALUS_COLLIDE_CAPSULES_H

#include "collide/manifold.h"
#include "collide/simple_manifold.h"

/* sin^2 of the angle below which capsules count as parallel and touch in two points */
#define TALUS_CAPSULE_PARALLEL 0x1p-10

/* Vector from the capsule's centre to the high end of its segment, world frame. */
TALUS_INLINE TalusVec3 talus_capsule_half_segment(const TalusPose *pose)
{
    return talus_rotate(pose->orientation, talus_vec3(0.0, 0.0, pose->shape->def.half_height));
}

/* Returns t limited to -1 .. 1. */
TALUS_INLINE double talus_clamp_to_one(double t)
{
    return talus_min(talus_max(t, -1.0), 1.0);
}

/* Adds the contact of two balls whose centres are the points x_a + arm_a and x_b + arm_b, if its gap is below `reach`.
 * If the centres coincide, the normal is `fallback`. */
TALUS_INLINE void talus_manifold_add_balls(const TalusPose *a, const TalusPose *b, TalusVec3 arm_a,
                                           TalusVec3 arm_b, double radius_a, double radius_b,
                                           TalusVec3 fallback, uint32_t feature, double reach,
                                           TALUS_MANIFOLD_SINK *sink)
{
    TalusVec3 d = talus_add(talus_sub(b->position, a->position), talus_sub(arm_b, arm_a));
    double gap = talus_norm(d) - (radius_a + radius_b);
    if (!(gap < reach))
        return;
    TalusVec3 n = talus_normalize(d, fallback);
    TalusManifoldPoint touch = {feature, n, gap, talus_madd(arm_a, radius_a, n),
                                talus_madd(arm_b, -radius_b, n)};
    talus_manifold_add(sink, &touch);
}

/* Adds the contact of sphere a with capsule b. */
TALUS_INLINE void talus_sphere_capsule(const TalusPose *a, const TalusPose *b, double reach,
                                       TALUS_MANIFOLD_SINK *sink)
{
    TalusVec3 line = talus_capsule_half_segment(b), d = talus_sub(a->position, b->position);
    double t = talus_clamp_to_one(talus_dot(line, d) / talus_dot(line, line));
    TalusVec3 across = talus_rotate(b->orientation, talus_vec3(1.0, 0.0, 0.0));
    talus_manifold_add_balls(a, b, talus_vec3(0.0, 0.0, 0.0), talus_scale(t, line), a->radius,
                             b->shape->def.radius, across, 0, reach, sink);
}

/* Adds the contacts of both ends of capsule a with plane b. */
TALUS_INLINE void talus_capsule_plane(const TalusPose *a, const TalusPose *b, double reach,
                                      TALUS_MANIFOLD_SINK *sink)
{
    TalusVec3 up = talus_rotate(b->orientation, talus_vec3(0.0, 0.0, 1.0));
    TalusVec3 line = talus_capsule_half_segment(a);
    for (uint32_t end = 0; end < 2; end++) {
        TalusVec3 arm = talus_scale(end ? 1.0 : -1.0, line);
        talus_manifold_add_plane_point(a, b, end, up, talus_madd(arm, -a->shape->def.radius, up),
                                       reach, sink);
    }
}

/* Sets *s and *t so that s p and d + t q are the nearest points of two segments, s and t within -1 .. 1. */
TALUS_INLINE void talus_segments_nearest(TalusVec3 p, TalusVec3 q, TalusVec3 d, double *s,
                                         double *t)
{
    double pp = talus_dot(p, p), qq = talus_dot(q, q), pq = talus_dot(p, q);
    double pd = talus_dot(p, d), qd = talus_dot(q, d);
    double sine2 = pp * qq - pq * pq;
    *s = sine2 > 0.0 ? talus_clamp_to_one((pd * qq - pq * qd) / sine2) : 0.0;
    *t = talus_clamp_to_one((pq * *s - qd) / qq);
    *s = talus_clamp_to_one((pd + pq * *t) / pp);
}

/* Two capsules. Points of their segments, relative to the centre of a: s p and d + t q, with s and t in -1 .. 1. */
typedef struct TalusCapsules {
    const TalusPose *a, *b;
    TalusVec3 p, q, d;
    TalusVec3 fallback; /* normal to use if the segments intersect */
    double reach;       /* upper limit of gaps */
    TALUS_MANIFOLD_SINK *sink;
} TalusCapsules;

/* Gap of the two balls about the segment points s p and d + t q. */
TALUS_INLINE double talus_capsules_gap(const TalusCapsules *c, double s, double t)
{
    TalusVec3 between = talus_madd(talus_madd(c->d, t, c->q), -s, c->p);
    return talus_norm(between) - (c->a->shape->def.radius + c->b->shape->def.radius);
}

/* Adds the contact of the two balls about the segment points s p and d + t q. */
TALUS_INLINE void talus_capsules_add_contact(const TalusCapsules *c, double s, double t,
                                             uint32_t feature)
{
    talus_manifold_add_balls(c->a, c->b, talus_scale(s, c->p), talus_scale(t, c->q),
                             c->a->shape->def.radius, c->b->shape->def.radius, c->fallback, feature,
                             c->reach, c->sink);
}

/* Adds the contacts of capsules with parallel segments, at the two ends of the stretch of a's segment that lies beside
 * b's, as far as their gaps are below c->reach. Returns the smaller gap of the two ends; INFINITY without such a
 * stretch. */
TALUS_INLINE double talus_capsules_add_parallel(const TalusCapsules *c)
{
    double pp = talus_dot(c->p, c->p), pq = talus_dot(c->p, c->q);
    double middle = talus_dot(c->p, c->d) / pp, half = fabs(pq) / pp;
    double low = talus_max(-1.0, middle - half), high = talus_min(1.0, middle + half),
           least = INFINITY;
    for (uint32_t end = 0; end < 2 && high > low; end++) {
        double s = end ? high : low, t = talus_clamp_to_one((s - middle) * pp / pq);
        talus_capsules_add_contact(c, s, t, end);
        least = talus_min(least, talus_capsules_gap(c, s, t));
    }
    return least;
}

/* Adds the contacts of two capsules: those of talus_capsules_add_parallel if the segments are parallel, and the nearest
 * points unless an end is as near. */
TALUS_INLINE void talus_capsule_capsule(const TalusPose *a, const TalusPose *b, double reach,
                                        TALUS_MANIFOLD_SINK *sink)
{
    TalusVec3 p = talus_capsule_half_segment(a), q = talus_capsule_half_segment(b),
              across = talus_cross(p, q);
    TalusVec3 side = talus_rotate(a->orientation, talus_vec3(1.0, 0.0, 0.0));
    TalusCapsules c = {
        a,     b,   p, q, talus_sub(b->position, a->position), talus_normalize(across, side),
        reach, sink};
    double product = talus_dot(p, p) * talus_dot(q, q), s, t;
    talus_segments_nearest(p, q, c.d, &s, &t);
    double gap = talus_capsules_gap(&c, s, t), ends = INFINITY;
    if (!(gap < reach))
        return;
    if (talus_dot(across, across) < TALUS_CAPSULE_PARALLEL * product)
        ends = talus_capsules_add_parallel(&c);
    if (gap < ends - TALUS_MANIFOLD_NEAREST * talus_min(a->shape->size, b->shape->size))
        talus_capsules_add_contact(&c, s, t, 2);
}

#endif
