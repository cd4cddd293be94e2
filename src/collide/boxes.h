/* collide/boxes.h - two boxes; for host and device. Part of pair_table.h, which includes it.
 *
 * Of the 15 axes that can separate two boxes (3 + 3 face normals, 9 cross products of edge directions) the one with the
 * largest separation is the normal. For a face normal, the facing side of the other box is clipped to the face, and
 * four of the result's corners are the manifold; their height over the face is the gap. For a cross product, the two
 * edges touch in one point; if the best face normal is near that axis, the facing sides are clipped as for a face, but
 * seen along the axis.
 *
 * This suffices for overlapping boxes. It suffices for separate boxes if the corner nearest to the face lies over it,
 * or if the nearest points of the two lines of edges are on the edges. Otherwise corners or edges face each other, no
 * axis gives their distance, and the boxes are handled as general convex bodies.
 *
 * Of nearly equal axes, faces are preferred, first those of the first box, by a small fraction of the boxes' size: a
 * stack at rest then keeps its features from step to step although rounding moves the boxes. Gaps are then measured
 * over that face, whose normal is at most 2^-11 rad off the best axis (TALUS_BOX_SAME_AXIS), so their relative error is
 * of the order of the square of this angle. */
#ifndef TALUS_COLLIDE_BOXES_H
#define TALUS_COLLIDE_BOXES_H

#include "collide/convex_manifold.h"

/* Bits of a feature. Contact of a face with a corner: (2 axis + positive) << 12 for the face, the same number << 8 for
 * the clipped side of the other box, the id of the corner, and TALUS_FROM_SECOND if the face is the second box's.
 * Contact of two edges: TALUS_FROM_EDGES, number of the first box's edge << 4, number of the second's
 * (talus_box_farthest_edge). */
enum { TALUS_FROM_EDGES = 1 << 16, TALUS_FROM_SECOND = 1 << 15 };

enum { TALUS_BOX_CORNERS = 8 }; /* maximum number of corners of a side clipped to a face */

/* Tolerances are relative to the smallest half extent of both boxes. */
#define TALUS_BOX_BIAS 0x1p-8  /* distance by which a face is preferred to a nearly equal axis */
#define TALUS_BOX_CLIP 0x1p-10 /* widening of a face before a parallel side is clipped to it */
#define TALUS_BOX_TINY 0x1p-21 /* widening for a side that is not parallel; tolerance of edges */
/* Cosine above which axes are nearly equal: 2^-11 rad */
#define TALUS_BOX_SAME_AXIS (1.0 - 0x1p-23)
/* Cosine of the angle between best edge axis and best face normal from which on more than two edges may touch */
#define TALUS_BOX_NEAR_FACE 0.875
/* sin^2 of the angle below which two edges count as parallel: their cross product is no axis of its own. */
#define TALUS_BOX_PARALLEL 0x1p-20

/* A box in space. */
typedef struct TalusPlacedBox {
    TalusVec3 axis[3]; /* world frame */
    double half[3];    /* half extents, m */
    TalusVec3 centre;  /* relative to the centre of the first box, world frame */
} TalusPlacedBox;

/* Sets *box from the orientation and half extents of the pose, with the given centre. axis[k] is the rotated unit
 * vector k, written out. */
TALUS_INLINE void talus_box_place(const TalusPose *pose, TalusVec3 centre, TalusPlacedBox *box)
{
    TalusQuat q = pose->orientation;
    double x = 2.0 * q.x, y = 2.0 * q.y, z = 2.0 * q.z;
    box->axis[0] = talus_vec3(1.0 - (q.y * y + q.z * z), q.w * z + q.x * y, q.x * z - q.w * y);
    box->axis[1] = talus_vec3(q.y * x - q.w * z, 1.0 - (q.z * z + q.x * x), q.w * x + q.y * z);
    box->axis[2] = talus_vec3(q.w * y + q.z * x, q.z * y - q.w * x, 1.0 - (q.x * x + q.y * y));
    box->half[0] = pose->shape->def.half.x;
    box->half[1] = pose->shape->def.half.y;
    box->half[2] = pose->shape->def.half.z;
    box->centre = centre;
}

/* Two boxes, with products of their axes that the tests of all 15 axes share. */
typedef struct TalusBoxes {
    TalusPlacedBox a, b;
    double cosine[3][3], abs_cosine[3][3]; /* a.axis[i] . b.axis[j], and its absolute value */
    double from_a[3]; /* vector between the centres, a to b, along the axes of a */
    double from_b[3]; /* vector between the centres, a to b, along the axes of b */
} TalusBoxes;

/* Best separating axis so far: a face normal of one box, or the cross product of an axis of each. The unit normal
 * points from the first box to the second. */
typedef struct TalusSeparation {
    double distance; /* m: free space along the normal; negative if the boxes overlap */
    TalusVec3 normal;
    int first_axis;  /* axis of the first box that makes the normal; -1: none */
    int second_axis; /* axis of the second box that makes the normal; -1: none */
} TalusSeparation;

/* Returns by how much the distance along another axis must exceed `distance`, the best so far, to replace it: `bias` if
 * the two axes are nearly equal (`cosine` of their angle) and the boxes do not overlap deeply, because then the error,
 * depth times the squared angle, stays small; else 0. */
TALUS_INLINE double talus_box_required_gain(double cosine, double distance, double bias)
{
    return cosine > TALUS_BOX_SAME_AXIS && distance > -64.0 * bias ? bias : 0.0;
}

/* Free space between the boxes along face normal i of the first box. Sets from_a[i], cosine[i] and abs_cosine[i]. */
TALUS_INLINE double talus_box_space_along_first(TalusBoxes *p, int i)
{
    double shadow = p->a.half[i];
    p->from_a[i] = talus_dot(p->b.centre, p->a.axis[i]);
    for (int j = 0; j < 3; j++) {
        p->cosine[i][j] = talus_dot(p->a.axis[i], p->b.axis[j]);
        p->abs_cosine[i][j] = fabs(p->cosine[i][j]);
        shadow += p->b.half[j] * p->abs_cosine[i][j];
    }
    return fabs(p->from_a[i]) - shadow;
}

/* Free space along face normal j of the second box. Sets from_b[j]; abs_cosine[][j] must be set. */
TALUS_INLINE double talus_box_space_along_second(TalusBoxes *p, int j)
{
    double shadow = p->b.half[j];
    p->from_b[j] = talus_dot(p->b.centre, p->b.axis[j]);
    for (int i = 0; i < 3; i++)
        shadow += p->a.half[i] * p->abs_cosine[i][j];
    return fabs(p->from_b[j]) - shadow;
}

/* Finds the face normal with the largest distance, or the first whose distance is not below `reach`. A normal of the
 * second box must exceed a nearly equal normal of the first by `bias` (talus_box_required_gain). Sets the products of
 * axes in *p, whose boxes are set; not all of them if the search ends at `reach`. */
TALUS_INLINE TalusSeparation talus_box_separate_faces(TalusBoxes *p, double bias, double reach)
{
    TalusSeparation best = {-INFINITY, {0.0, 0.0, 0.0}, -1, -1};
    int first = 0;
    for (int i = 0; i < 3 && best.distance < reach; i++) {
        double distance = talus_box_space_along_first(p, i);
        if (distance > best.distance) {
            best.distance = distance;
            best.first_axis = first = i;
        }
    }
    for (int j = 0; j < 3 && best.distance < reach; j++) {
        double distance = talus_box_space_along_second(p, j);
        double alike = best.second_axis < 0 ? p->abs_cosine[first][j] : 0.0;
        if (distance > best.distance + talus_box_required_gain(alike, best.distance, bias)) {
            best.distance = distance;
            best.first_axis = -1;
            best.second_axis = j;
        }
    }
    bool second = best.second_axis >= 0;
    TalusVec3 axis = second ? p->b.axis[best.second_axis] : p->a.axis[first];
    double between = second ? p->from_b[best.second_axis] : p->from_a[first];
    best.normal = between < 0.0 ? talus_neg(axis) : axis;
    return best;
}

/* Finds the cross product of edge directions with the largest distance, if that is above `least`; else the distance is
 * -INFINITY and the normal zero. Nearly parallel edges (TALUS_BOX_PARALLEL) are skipped. Let a_i and b_j be axes of the
 * boxes. Along a_i x b_j, box a extends by half[i1] |a_i2 . b_j| + half[i2] |a_i1 . b_j|, where i1 and i2 are the other
 * two axes, and box b alike. `between`, the distance of the centres, and `over`, the free space, are multiplied by
 * the sine |a_i x b_j|, as are these extents. */
TALUS_INLINE TalusSeparation talus_box_separate_edges(const TalusBoxes *p, double least)
{
    TalusSeparation best = {-INFINITY, {0.0, 0.0, 0.0}, -1, -1};
    const double *of_a = p->a.half, *of_b = p->b.half;
    double length = 1.0;
    for (int i = 0; i < 3; i++) {
        int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            double x = p->cosine[i1][j], y = p->cosine[i2][j], sine2 = x * x + y * y;
            double between = p->from_a[i2] * x - p->from_a[i1] * y;
            double over = fabs(between) -
                          (of_a[i1] * p->abs_cosine[i2][j] + of_a[i2] * p->abs_cosine[i1][j]) -
                          (of_b[j1] * p->abs_cosine[i][j2] + of_b[j2] * p->abs_cosine[i][j1]);
            /* over > least * sine, without a square root: squares with the signs of their roots. One comparison, as
             * processors cannot foresee the signs */
            if (!(over * fabs(over) > least * fabs(least) * sine2) || !(sine2 > TALUS_BOX_PARALLEL))
                continue;
            double sine = sqrt(sine2);
            best.distance = least = over / sine;
            best.first_axis = i;
            best.second_axis = j;
            length = between < 0.0 ? -sine : sine;
        }
    }
    if (best.first_axis >= 0)
        best.normal = talus_scale(
            1.0 / length, talus_cross(p->a.axis[best.first_axis], p->b.axis[best.second_axis]));
    return best;
}

/* ---- face against face ----------------------------------------------------------------------- */

/* The corners of the clipped side are candidates (TalusCandidate of manifold.h): u and v are coordinates along the
 * face, height is the distance over it. `id` numbers the corner of the side, or the intersection of an edge of the side
 * with a border of the face. `edge` numbers the edge that leads to the next corner: 0 .. 3 are edges of the side,
 * 4 .. 7 run along borders 0 .. 3 of the face. Borders 0, 1, 2, 3 of the face are at +u, +v, -u, -v. */

/* Distance of a corner outside of a border of the face, m; negative inside. half: half extents of the face. */
TALUS_INLINE double talus_box_distance_outside(const TalusCandidate *c, int border,
                                               const double half[2])
{
    double x = border & 1 ? c->v : c->u;
    return (border & 2 ? -x : x) - half[border & 1];
}

/* Clips the polygon `in` to one border of the face (Sutherland and Hodgman) and writes its corners to `out`, given the
 * distances of all corners outside of the border. Returns their number. */
TALUS_INLINE int talus_box_clip_to_border(const TalusCandidate *in, int count, int border,
                                          const double *outside, TalusCandidate *out)
{
    int kept = 0;
    for (int k = 0; k < count; k++) {
        int next = k + 1 < count ? k + 1 : 0;
        if (outside[k] <= 0.0)
            out[kept++] = in[k];
        if ((outside[k] <= 0.0) != (outside[next] <= 0.0))
            out[kept++] =
                talus_cut_edge(&in[k], &in[next], outside[k], outside[next], border, 4, 4);
    }
    return kept;
}

/* The face of one box against which the other box is clipped. */
typedef struct TalusFaceContact {
    const TalusPlacedBox *face, *other;
    int axis;         /* axis of the face normal */
    TalusVec3 normal; /* out of the face */
    TalusVec3 along; /* normal of the contacts, out of the face: `normal`, or a direction near it */
    double size;     /* smaller size of the two boxes, the scale of tolerances */
    bool second;     /* the face belongs to the second box */
    double reach;    /* upper limit of gaps, m */
} TalusFaceContact;

/* Returns the axis of the side of `box` whose outward normal is most opposed to `normal`. *positive: the side is at
 * +axis; *parallel: the side is normal to `normal` up to TALUS_BOX_SAME_AXIS. */
TALUS_INLINE int talus_box_facing_side(const TalusPlacedBox *box, TalusVec3 normal, bool *positive,
                                       bool *parallel)
{
    int side = 0;
    double most = -1.0;
    for (int j = 0; j < 3; j++) {
        double cosine = talus_dot(box->axis[j], normal);
        if (fabs(cosine) > most) {
            most = fabs(cosine);
            side = j;
            *positive = cosine < 0.0;
        }
    }
    *parallel = most > TALUS_BOX_SAME_AXIS;
    return side;
}

/* Computes the four corners of a side of the other box as candidates, u and v measured from the centre of the face. */
TALUS_INLINE void talus_box_side_corners(const TalusFaceContact *c, int side, bool positive,
                                         TalusCandidate corner[4])
{
    const TalusPlacedBox *face = c->face, *other = c->other;
    int u = (side + 1) % 3, v = (side + 2) % 3;
    TalusVec3 from_face = talus_sub(other->centre, face->centre);
    TalusVec3 centre =
        talus_madd(from_face, positive ? other->half[side] : -other->half[side], other->axis[side]);
    for (uint32_t k = 0; k < 4; k++) {
        double su = k == 1 || k == 2 ? other->half[u] : -other->half[u];
        double sv = k >= 2 ? other->half[v] : -other->half[v];
        TalusVec3 x = talus_madd(talus_madd(centre, su, other->axis[u]), sv, other->axis[v]);
        corner[k].u = talus_dot(x, face->axis[(c->axis + 1) % 3]);
        corner[k].v = talus_dot(x, face->axis[(c->axis + 2) % 3]);
        corner[k].height = talus_dot(x, c->normal) - face->half[c->axis];
        corner[k].id = corner[k].edge = k;
    }
}

/* Adds the contact of the face with one corner of the clipped side. */
TALUS_INLINE void talus_box_add_face_point(const TalusFaceContact *c, const TalusCandidate *corner,
                                           uint32_t feature, TALUS_MANIFOLD_SINK *sink)
{
    const TalusPlacedBox *face = c->face;
    TalusVec3 on_face =
        talus_scale(face->half[c->axis], c->normal); /* on the face, from its centre */
    on_face = talus_madd(on_face, corner->u, face->axis[(c->axis + 1) % 3]);
    on_face = talus_madd(on_face, corner->v, face->axis[(c->axis + 2) % 3]);
    TalusVec3 on_other = talus_madd(on_face, corner->gap, c->along); /* on the other box */
    on_other = talus_add(talus_sub(face->centre, c->other->centre), on_other);
    TalusManifoldPoint touch = {feature, c->second ? talus_neg(c->along) : c->along, corner->gap,
                                c->second ? on_other : on_face, c->second ? on_face : on_other};
    talus_manifold_add(sink, &touch);
}

/* True if the mean of the corners is over the face, of half extents `half`; also without corners. */
TALUS_INLINE bool talus_box_centre_over_face(const TalusCandidate *corner, int count,
                                             const double half[2])
{
    double u = 0.0, v = 0.0;
    for (int k = 0; k < count; k++) {
        u += corner[k].u;
        v += corner[k].v;
    }
    return fabs(u) <= count * half[0] && fabs(v) <= count * half[1];
}

/* Clips the side of the other box, whose four corners are in corner[0], to a face with these half extents. Returns the
 * number of corners of the clipped side; *out: which of the two arrays has them. Borders with no corner outside are
 * passed over. */
TALUS_INLINE int talus_box_clip_side(TalusCandidate corner[2][TALUS_BOX_CORNERS + 2],
                                     const double half[2], int *out)
{
    double outside[TALUS_BOX_CORNERS + 2];
    int count = 4;
    *out = 0;
    for (int border = 0; border < 4; border++) {
        double most = -1.0;
        for (int k = 0; k < count; k++) {
            outside[k] = talus_box_distance_outside(&corner[*out][k], border, half);
            most = talus_max(most, outside[k]);
        }
        if (!(most > 0.0))
            continue;
        count = talus_box_clip_to_border(corner[*out], count, border, outside, corner[1 - *out]);
        *out = 1 - *out;
    }
    return count;
}

/* Makes heights gaps and drops corners with a gap not below `reach`; returns the number left. */
TALUS_INLINE int talus_box_drop_distant(TalusCandidate *corner, int count, double reach)
{
    int kept = 0;
    for (int k = 0; k < count; k++) {
        corner[k].gap = corner[k].height;
        if (!(corner[k].gap < reach))
            continue;
        if (kept < k)
            corner[kept] = corner[k];
        kept++;
    }
    return kept;
}

/* Part of the features of a face's contacts that names the face and the clipped side. */
TALUS_INLINE uint32_t talus_box_face_feature(const TalusFaceContact *c, int side, bool positive)
{
    bool face_positive = talus_dot(c->normal, c->face->axis[c->axis]) > 0.0;
    return (uint32_t)(2 * c->axis + face_positive) << 12 | (uint32_t)(2 * side + positive) << 8 |
           (c->second ? (uint32_t)TALUS_FROM_SECOND : 0u);
}

/* Adds the manifold of the face with the facing side of the other box, clipped to the face. Adds nothing and returns
 * false if no corner of the clipped side is in reach, or if the boxes are apart and their nearest points are not over
 * the face: `distance`, the free space along the normal, is not the distance of the boxes then. */
TALUS_INLINE bool talus_box_add_face_manifold(const TalusFaceContact *c, double distance,
                                              TALUS_MANIFOLD_SINK *sink)
{
    bool positive = false, parallel = false;
    int side = talus_box_facing_side(c->other, c->normal, &positive, &parallel);
    TalusCandidate clip[2][TALUS_BOX_CORNERS + 2];
    talus_box_side_corners(c, side, positive, clip[0]);
    double tiny = TALUS_BOX_TINY * c->size, margin = parallel ? TALUS_BOX_CLIP * c->size : tiny;
    const double half[2] = {c->face->half[(c->axis + 1) % 3], c->face->half[(c->axis + 2) % 3]};
    const double wide[2] = {half[0] + margin, half[1] + margin};
    int out, count = talus_box_clip_side(clip, wide, &out);
    TalusCandidate *corner = clip[out];
    bool over = talus_box_centre_over_face(corner, count, half);
    int kept = talus_box_drop_distant(corner, count, c->reach);
    double least = corner[talus_nearest_candidate(corner, kept)].gap;
    if (kept == 0 || (distance > 0.0 && !(parallel ? over : least <= distance + tiny)))
        return false;
    uint32_t faces = talus_box_face_feature(c, side, positive);
    kept = talus_reduce_candidates(corner, kept, tiny);
    for (int k = 0; k < kept; k++)
        talus_box_add_face_point(c, &corner[k], faces | corner[k].id, sink);
    return true;
}

/* ---- edge against edge ----------------------------------------------------------------------- */

/* Returns the centre of the edge that is farthest in `direction`, of the four edges along `axis`; relative to the first
 * box. *which, the number of the edge: 4 axis, plus 1 on the positive side of the next axis, plus 2 on that of the axis
 * after the next. */
TALUS_INLINE TalusVec3 talus_box_farthest_edge(const TalusPlacedBox *box, int axis,
                                               TalusVec3 direction, uint32_t *which)
{
    TalusVec3 x = box->centre;
    *which = (uint32_t)axis << 2;
    for (int k = 1; k < 3; k++) {
        int other = (axis + k) % 3;
        bool positive = talus_dot(box->axis[other], direction) > 0.0;
        x = talus_madd(x, positive ? box->half[other] : -box->half[other], box->axis[other]);
        *which |= positive ? (uint32_t)k : 0;
    }
    return x;
}

/* Nearest points of two edges, one of each box. */
typedef struct TalusEdges {
    TalusVec3 on_a, on_b; /* relative to the first box */
    uint32_t feature;     /* of the contact, with TALUS_FROM_EDGES */
} TalusEdges;

/* Sets *out to the nearest points p + s d and q + t e of the lines through the two edges of `edge`, farthest along its
 * normal. False if one of the points is off its edge by more than `tolerance`, m. With d, e of length 1, c = d . e and
 * r = q - p: s = (d.r - c e.r) / (1 - c^2), t = c s - e.r. */
TALUS_INLINE bool talus_box_nearest_edges(const TalusPlacedBox *a, const TalusPlacedBox *b,
                                          const TalusSeparation *edge, double tolerance,
                                          TalusEdges *out)
{
    uint32_t which_a, which_b;
    int i = edge->first_axis, j = edge->second_axis;
    TalusVec3 p = talus_box_farthest_edge(a, i, edge->normal, &which_a);
    TalusVec3 q = talus_box_farthest_edge(b, j, talus_neg(edge->normal), &which_b);
    TalusVec3 d = a->axis[i], e = b->axis[j], r = talus_sub(q, p);
    double c = talus_dot(d, e);
    double s = (talus_dot(d, r) - c * talus_dot(e, r)) / (1.0 - c * c);
    double t = c * s - talus_dot(e, r);
    out->on_a = talus_madd(p, s, d);
    out->on_b = talus_madd(q, t, e);
    out->feature = (uint32_t)TALUS_FROM_EDGES | which_a << 4 | which_b;
    return fabs(s) <= a->half[i] + tolerance && fabs(t) <= b->half[j] + tolerance;
}

/* Adds the contact of two edges. */
TALUS_INLINE void talus_box_add_edge_point(const TalusPlacedBox *second, const TalusEdges *at,
                                           TalusVec3 normal, double gap, TALUS_MANIFOLD_SINK *sink)
{
    TalusManifoldPoint touch = {at->feature, normal, gap, at->on_a,
                                talus_sub(at->on_b, second->centre)};
    talus_manifold_add(sink, &touch);
}

/* Projects the corners of the other box's side along c->along onto the face; heights become gaps along that
 * direction. */
TALUS_INLINE void talus_box_shear_corners(const TalusFaceContact *c, TalusCandidate corner[4])
{
    double per_height = 1.0 / talus_dot(c->normal, c->along);
    double u = talus_dot(c->along, c->face->axis[(c->axis + 1) % 3]);
    double v = talus_dot(c->along, c->face->axis[(c->axis + 2) % 3]);
    for (int k = 0; k < 4; k++) {
        double gap = corner[k].height * per_height;
        corner[k].u -= gap * u;
        corner[k].v -= gap * v;
        corner[k].height = gap;
    }
}

/* Adds the manifold of two boxes whose nearest points are on two edges, where the face of c is so near to normal to
 * them that more than the edges may touch: corners of the facing side of the other box, clipped to the face as seen
 * along the contact normal c->along. Their gaps are those of the two sides along that normal, of which the edges' is
 * the smallest. Features are those of the face and side, so that impulses are transferred when the face normal becomes
 * the best axis. */
TALUS_INLINE void talus_box_add_edge_manifold(const TalusFaceContact *c, const TalusEdges *at,
                                              double gap, TALUS_MANIFOLD_SINK *sink)
{
    bool positive = false, parallel = false;
    int side = talus_box_facing_side(c->other, c->along, &positive, &parallel);
    TalusCandidate clip[2][TALUS_BOX_CORNERS + 2];
    talus_box_side_corners(c, side, positive, clip[0]);
    talus_box_shear_corners(c, clip[0]);
    double tiny = TALUS_BOX_TINY * c->size;
    int u = (c->axis + 1) % 3, v = (c->axis + 2) % 3;
    const double wide[2] = {c->face->half[u] + tiny, c->face->half[v] + tiny};
    int out, count = talus_box_clip_side(clip, wide, &out);
    TalusCandidate *corner = clip[out];
    count = talus_box_drop_distant(corner, count, c->reach);
    count = talus_drop_gaps_below(corner, count, gap - tiny);
    if (count == 0 || corner[talus_nearest_candidate(corner, count)].gap > gap + tiny) {
        TalusVec3 x = c->second ? talus_sub(at->on_b, c->face->centre) : at->on_a;
        TalusCandidate nearest = {talus_dot(x, c->face->axis[u]),
                                  talus_dot(x, c->face->axis[v]),
                                  gap,
                                  gap,
                                  at->feature,
                                  0};
        corner[count++] = nearest;
    }
    count = talus_reduce_candidates(corner, count, tiny);
    uint32_t faces = talus_box_face_feature(c, side, positive);
    for (int k = 0; k < count; k++) {
        uint32_t id = corner[k].id;
        talus_box_add_face_point(c, &corner[k], id == at->feature ? id : faces | id, sink);
    }
}

/* ---- two boxes ------------------------------------------------------------------------------- */

/* Adds the manifold of two boxes, as the file head describes. */
TALUS_INLINE void talus_box_box(const TalusPose *first, const TalusPose *second, double reach,
                                TALUS_MANIFOLD_SINK *sink)
{
    TalusBoxes p;
    talus_box_place(first, talus_vec3(0.0, 0.0, 0.0), &p.a);
    talus_box_place(second, talus_sub(second->position, first->position), &p.b);
    double size = talus_min(first->shape->size, second->shape->size);
    double bias = TALUS_BOX_BIAS * size, tiny = TALUS_BOX_TINY * size;
    TalusSeparation face = talus_box_separate_faces(&p, bias, reach);
    if (!(face.distance < reach))
        return;
    TalusSeparation edge = talus_box_separate_edges(&p, face.distance);
    if (!(edge.distance < reach))
        return;
    double cosine = talus_dot(edge.normal, face.normal);
    bool by_edges = edge.distance > face.distance + tiny +
                                        talus_box_required_gain(fabs(cosine), face.distance, bias);
    TalusFaceContact contact = {&p.a,        &p.b, face.first_axis, face.normal,
                                face.normal, size, false,           reach};
    if (face.first_axis < 0) {
        TalusVec3 out = talus_neg(face.normal);
        TalusFaceContact other = {&p.b, &p.a, face.second_axis, out, out, size, true, reach};
        contact = other;
    }
    TalusEdges at;
    if (by_edges && talus_box_nearest_edges(&p.a, &p.b, &edge, tiny, &at)) {
        double gap = talus_dot(edge.normal, talus_sub(at.on_b, at.on_a));
        contact.along = contact.second ? talus_neg(edge.normal) : edge.normal;
        if (cosine < TALUS_BOX_NEAR_FACE)
            talus_box_add_edge_point(&p.b, &at, edge.normal, gap, sink);
        else
            talus_box_add_edge_manifold(&contact, &at, gap, sink);
        return;
    }
    if ((by_edges && edge.distance > 0.0) ||
        !talus_box_add_face_manifold(&contact, face.distance, sink))
        talus_convex_convex(first, second, reach, sink);
}

#endif
