/* collide/convex_manifold.h - convex bodies against each other and against planes; for host and device. Part of
 * pair_table.h, which includes it. */
#ifndef TALUS_COLLIDE_CONVEX_MANIFOLD_H
#define TALUS_COLLIDE_CONVEX_MANIFOLD_H

#include "collide/manifold.h"
#include "collide/simple_manifold.h"

/* Adds the manifold of two bodies whose cores have the nearest points `near`, in the frame of a. */
TALUS_INLINE void talus_manifold_add_at_nearest(const TalusPose *a, const TalusPose *b,
                                                const TalusConvexPair *p, const TalusNearest *near,
                                                double reach, TALUS_MANIFOLD_SINK *sink)
{
    double margin_a = talus_pose_core_margin(a), margin_b = talus_pose_core_margin(b);
    TalusCorePoint spot[TALUS_MANIFOLD_MAX];
    int count = talus_core_manifold(p, near, reach + margin_a + margin_b, spot);
    TalusVec3 n = talus_rotate(a->orientation, near->normal);
    for (int k = 0; k < count; k++) {
        TalusVec3 core_a = talus_rotate(a->orientation, spot[k].on_a);
        double gap = spot[k].gap - margin_a - margin_b;
        TalusVec3 arm_a = talus_madd(core_a, margin_a, n);
        TalusVec3 arm_b =
            talus_sub(talus_madd(core_a, margin_a + gap, n), talus_sub(b->position, a->position));
        TalusManifoldPoint touch = {spot[k].feature, n, gap, arm_a, arm_b};
        talus_manifold_add(sink, &touch);
    }
}

/* Adds the manifold of any two convex bodies: distance by convex.h, manifold by manifold.h. */
TALUS_INLINE void talus_convex_convex(const TalusPose *a, const TalusPose *b, double reach,
                                      TALUS_MANIFOLD_SINK *sink)
{
    TalusConvexPair p = talus_make_convex_pair(a, b);
    TalusNearest near;
    if (talus_convex_nearest(&p, reach + talus_pose_core_margin(a) + talus_pose_core_margin(b),
                             &near))
        talus_manifold_add_at_nearest(a, b, &p, &near, reach, sink);
}

/* Adds the manifold of a convex body a and the plane b. Candidates are the corners of the facing part of a, and the
 * lowest point of a if no corner is as low; adds at most four candidates within reach, the lowest among them. */
TALUS_INLINE void talus_convex_plane(const TalusPose *a, const TalusPose *b, double reach,
                                     TALUS_MANIFOLD_SINK *sink)
{
    TalusVec3 up = talus_rotate(b->orientation, talus_vec3(0.0, 0.0, 1.0));
    TalusVec3 n = talus_rotate_back(a->orientation, talus_neg(up));
    double margin = talus_pose_core_margin(a), tolerance = TALUS_MANIFOLD_NEAREST * a->shape->size;
    double height = talus_dot(up, talus_sub(a->position, b->position)) - margin;
    TalusFacing part;
    TalusClipRegion s;
    TalusCandidate c[TALUS_CANDIDATES];
    talus_find_facing(a->shape, n, &part);
    talus_clip_region_set_axes(&s, n);
    part.point[part.count] = talus_core_support(a->shape, n);
    int count = 0, lowest = 0;
    for (int k = 0; k <= part.count; k++) {
        TalusVec3 x = part.point[k];
        double along = talus_dot(x, n);
        bool last = k == part.count;
        TalusCandidate one = {talus_dot(x, s.e),
                              talus_dot(x, s.f),
                              along,
                              height - along,
                              last ? (uint32_t)TALUS_FEATURE_NEAREST : (uint32_t)k,
                              0};
        if (!(one.gap < reach) || (last && count > 0 && one.gap > c[lowest].gap - tolerance))
            continue;
        c[count++] = one;
        lowest = talus_nearest_candidate(c, count);
    }
    if (count == 0)
        return;
    count = talus_reduce_candidates(c, count, tolerance);
    for (int k = 0; k < count; k++) {
        TalusVec3 x = talus_candidate_point(&s, &c[k]);
        talus_manifold_add_plane_point(a, b, part.id << TALUS_FEATURE_BITS | c[k].id, up,
                                       talus_madd(talus_rotate(a->orientation, x), -margin, up),
                                       reach, sink);
    }
}

#endif
