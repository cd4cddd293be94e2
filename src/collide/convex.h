/* collide/convex.h - signed distance and nearest points of two convex bodies; for host and device.
 *
 * With s(n) = min n.b - max n.a, the free space between the bodies along a unit direction n, the signed distance is the
 * maximum of s(n): the distance if the bodies are apart, minus the shortest translation that separates them if they
 * overlap. Three steps find n:
 *   1. GJK (gjk.h). It suffices if the cores are apart by more than TALUS_CONVEX_TOUCHING times their size.
 *   2. The polytope (epa.h) finds the direction of that translation, roughly for curved bodies.
 *   3. b is moved in that direction until it is clear of a by `clearance`, and GJK finds the nearest points of the two:
 *      the direction n' between them has s(n') >= s(n). (b moved by t = |t| n; the distance found is s(n') + t.n', at
 *      least s(n) + |t|, and t.n' <= |t|.) Repeated while s grows; each time the error of the direction is multiplied
 *      by (depth + clearance) / (radius of curvature of C + clearance), where C = {a - b} is the set of gjk.h.
 * Bodies that barely touch are therefore evaluated while apart, so their normal is as accurate as that of any others:
 * it is never the direction of a vector of length zero. */
#ifndef TALUS_COLLIDE_CONVEX_H
#define TALUS_COLLIDE_CONVEX_H

#include "collide/epa.h"
#include "collide/narrow.h"

/* Lengths relative to the smaller size of the two bodies. */
#define TALUS_CONVEX_TOUCHING 0x1p-22  /* distance of cores below which they count as touching */
#define TALUS_CONVEX_CLEARANCE 0x1p-10 /* clearance of step 3 */

enum { TALUS_CONVEX_ROUNDS = 48 }; /* limit of the rounds of step 3 */

/* Nearest points and the unit normal from a to b: on_b = on_a + gap normal. The gap is negative in overlap. */
typedef struct TalusNearest {
    TalusVec3 normal;
    double gap;
    TalusVec3 on_a, on_b;
} TalusNearest;

/* Returns s(n) of the two cores (gjk.h): the free space between them along the unit vector n, negative if they overlap
 * along n. The free space between the bodies is less by their core margins, which callers subtract. */
TALUS_INLINE double talus_separation_along(const TalusConvexPair *p, TalusVec3 n)
{
    return -talus_dot(n, talus_epa_support(p, n));
}

/* A round of step 3 has rotated the direction `from` to *turned, along which s is `space`. Rotates *turned farther the
 * same way, in doubling steps, while s grows; returns s along the new *turned. Speeds up step 3 for a body in the
 * middle of another, where a round reduces the error of the direction by little. */
TALUS_INLINE double talus_convex_extrapolate_normal(const TalusConvexPair *p, TalusVec3 from,
                                                    TalusVec3 *turned, double space)
{
    TalusVec3 step = talus_sub(*turned, from);
    for (int k = 0; k < TALUS_CONVEX_ROUNDS; k++) {
        TalusVec3 n = talus_normalize(talus_add(*turned, step), from);
        double found = talus_separation_along(p, n);
        if (!(found > space))
            break;
        space = found;
        *turned = n;
        step = talus_scale(2.0, step);
    }
    return space;
}

/* Step 3: refines the direction `normal`, along which b is `depth` deep in a, and finds the nearest points of the cores
 * along it. */
TALUS_OUTLINE void talus_convex_refine(const TalusConvexPair *p, TalusVec3 normal, double depth,
                                       TalusNearest *out)
{
    double clearance = TALUS_CONVEX_CLEARANCE * p->size;
    out->normal = normal;
    out->gap = -depth;
    for (int round = 0; round < TALUS_CONVEX_ROUNDS; round++) {
        TalusGjk g;
        TalusVec3 shift = talus_scale(clearance - out->gap, out->normal);
        talus_gjk(p, shift, talus_neg(out->normal), INFINITY, 0.0, &g);
        TalusVec3 on_a = talus_gjk_nearest_on_a(&g), on_b = talus_sub(talus_sub(on_a, g.v), shift);
        TalusVec3 n = g.norm2 > 0.0 ? talus_scale(-1.0 / sqrt(g.norm2), g.v) : out->normal;
        double found = talus_separation_along(p, n), gain = found - out->gap;
        bool better = gain > 0x1p-36 * p->size;
        if (better)
            found = talus_convex_extrapolate_normal(p, out->normal, &n, found);
        if (gain >= 0.0) {
            out->normal = n;
            out->gap = found;
        }
        /* puts the points `gap` apart along the normal, with the midpoint of GJK's two points */
        double off = talus_dot(out->normal, talus_sub(on_b, on_a)) - out->gap;
        out->on_a = talus_madd(on_a, 0.5 * off, out->normal);
        if (!better)
            break;
    }
    out->on_b = talus_madd(out->on_a, out->gap, out->normal);
}

/* Steps 2 and 3, from the simplex of GJK, for cores that overlap or touch. The polytope is rough, so step 3 starts
 * several times: from the result of the polytope, then from normals of faces that may be shallower, at most
 * TALUS_EPA_RIVALS times in all. *out is the result with the shortest translation. */
TALUS_INLINE void talus_convex_nearest_overlapping(const TalusConvexPair *p, const TalusGjk *g,
                                                   TalusNearest *out)
{
    TalusEpa e;
    TalusTriedDirections tried = {0, {{0.0, 0.0, 0.0}}};
    talus_epa(&e, p, g);
    TalusVec3 n = e.normal;
    double depth = e.depth;
    for (int k = 0; k < TALUS_EPA_RIVALS; k++) {
        TalusNearest found;
        talus_convex_refine(p, n, depth, &found);
        if (k == 0 || found.gap > out->gap)
            *out = found;
        tried.direction[tried.count++] = n;
        tried.direction[tried.count++] = found.normal;
        int rival = talus_epa_untried_face(&e, &tried, -out->gap);
        if (rival < 0)
            return;
        n = e.face[rival].normal;
        depth = -talus_separation_along(p, n);
    }
}

/* Finds the nearest points of the two cores and the normal, in the frame of a. False if the gap is not below `limit`;
 * do not use *out then. */
TALUS_OUTLINE bool talus_convex_nearest(const TalusConvexPair *p, double limit, TalusNearest *out)
{
    TalusGjk g;
    TalusVec3 start = talus_neg(p->centre);
    if (!(talus_dot(start, start) > 0.0))
        start = talus_vec3(0.0, 0.0, 1.0);
    talus_gjk(p, talus_vec3(0.0, 0.0, 0.0), start, limit, TALUS_CONVEX_TOUCHING * p->size, &g);
    if (g.result == TALUS_GJK_FAR)
        return false;
    if (g.result == TALUS_GJK_APART) {
        out->gap = sqrt(g.norm2);
        out->normal = talus_scale(-1.0 / out->gap, g.v);
        out->on_a = talus_gjk_nearest_on_a(&g);
        out->on_b = talus_sub(out->on_a, g.v);
        return out->gap < limit;
    }
    talus_convex_nearest_overlapping(p, &g, out);
    return out->gap < limit;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Describes two convex bodies in the frame of a, for GJK. */
TALUS_INLINE TalusConvexPair talus_make_convex_pair(const TalusPose *a, const TalusPose *b)
{
    TalusQuat back = {a->orientation.w, -a->orientation.x, -a->orientation.y, -a->orientation.z};
    TalusQuat q = talus_quat_mul(back, b->orientation);
    TalusVec3 zero = talus_vec3(0.0, 0.0, 0.0);
    double size_a = a->shape->def.kind == TALUS_SHAPE_SPHERE ? a->radius : a->shape->size;
    double size_b = b->shape->def.kind == TALUS_SHAPE_SPHERE ? b->radius : b->shape->size;
    TalusConvexPair p = {a->shape,
                         b->shape,
                         {talus_rotate(q, talus_vec3(1.0, 0.0, 0.0)),
                          talus_rotate(q, talus_vec3(0.0, 1.0, 0.0)),
                          talus_rotate(q, talus_vec3(0.0, 0.0, 1.0))},
                         talus_rotate(back, talus_sub(b->position, a->position)),
                         {zero, zero, zero},
                         talus_min(size_a, size_b)};
    return p;
}

/* Distance of the surface from the core: the radius of a sphere or capsule, else 0. */
TALUS_INLINE double talus_pose_core_margin(const TalusPose *pose)
{
    return talus_core_margin(pose->shape, pose->radius);
}

/* Finds the nearest points of a convex body x, with its margin, and a triangle. Corners and results are relative to x's
 * position, in the axes in which x->orientation is given (world or mesh); the normal points from x to the triangle. If
 * the two overlap, the gap is minus the shortest translation that separates them, to either side of the triangle. False
 * if the gap is not below `reach`; *out is then not set. */
TALUS_INLINE bool talus_convex_triangle_nearest(const TalusPose *x, const TalusVec3 corner[3],
                                                double reach, TalusNearest *out)
{
    double margin = talus_pose_core_margin(x);
    TalusConvexPair p = talus_make_convex_pair(x, x);
    p.b = NULL;
    for (int k = 0; k < 3; k++)
        p.corner[k] = talus_rotate_back(x->orientation, corner[k]);
    p.centre = talus_scale(1.0 / 3.0, talus_add(talus_add(p.corner[0], p.corner[1]), p.corner[2]));
    TalusNearest near;
    if (!talus_convex_nearest(&p, reach + margin, &near))
        return false;
    out->normal = talus_rotate(x->orientation, near.normal);
    out->gap = near.gap - margin;
    out->on_a = talus_madd(talus_rotate(x->orientation, near.on_a), margin, out->normal);
    out->on_b = talus_rotate(x->orientation, near.on_b);
    return true;
}

#endif
