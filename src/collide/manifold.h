/* collide/manifold.h - manifold of two convex bodies whose nearest points are known; for host and device.
 *
 * The facing parts of both bodies (facing.h) are projected along the normal. The part with fewer corners (b's if the
 * numbers are equal) is clipped to the other part (Sutherland and Hodgman), and each corner of the result is a
 * candidate. The gap of a candidate is the distance of the two parts there, along the normal. The nearest points are a
 * candidate too if no corner is as near. Everything is in the frame of a. */
#ifndef TALUS_COLLIDE_MANIFOLD_H
#define TALUS_COLLIDE_MANIFOLD_H

#include "collide/convex.h"
#include "collide/facing.h"

/* Tolerances are relative to the smaller size. */
#define TALUS_MANIFOLD_CLIP 0x1p-10    /* corners up to this far outside count as inside */
#define TALUS_MANIFOLD_NEAREST 0x1p-22 /* difference of gaps below which points are equally near */
/* sin^2 of the angle below which two lines count as parallel */
#define TALUS_MANIFOLD_PARALLEL 0x1p-10
/* Angle by which bodies may turn against each other in a step, rad: what a distant candidate is worth against its gap
 * (talus_candidate_need). */
#define TALUS_MANIFOLD_TURN 0.125
/* Fraction of the largest distance by which a candidate must be farther than an earlier one, at equal gaps, to be
 * chosen instead, so that rounding does not decide. */
#define TALUS_MANIFOLD_MARGIN 0x1p-10
/* Factor by which the area of a candidate's triangle must exceed that of an earlier candidate, likewise. */
#define TALUS_MANIFOLD_EXCESS (1.0 + 0x1p-8)
/* Ratio of the areas of the two triangles in talus_choose_spread up to which the smaller triangle does not count. */
#define TALUS_MANIFOLD_THIN 0x1p-8

enum {
    TALUS_MANIFOLD_MAX = 4, /* manifold points of two convex shapes at most */
    TALUS_CANDIDATES =
        2 * TALUS_FACING_POINTS + 1, /* corners, one more per border, nearest points */
    TALUS_FEATURE_NEAREST = 256, /* id of the nearest points, above the ids of corners and cuts */
    TALUS_FEATURE_BITS = 9       /* number of bits of the id in a feature */
};

/* Candidate for a manifold point: a corner of the clipped part. u, v: coordinates across the normal; height: along it.
 * `id` numbers the corner of the original part, or the intersection of an edge with a border (talus_cut_edge). `edge`
 * numbers the edge that leads to the next candidate: 0 .. 7 are edges of the original part, 8 .. 15 run along a
 * border. */
typedef struct TalusCandidate {
    double u, v, height, gap; /* m */
    uint32_t id, edge;
} TalusCandidate;

/* One manifold point of two cores (geometry/support.h): point on the core of a, gap of the cores along the normal. */
typedef struct TalusCorePoint {
    TalusVec3 on_a;
    double gap;
    uint32_t feature;
} TalusCorePoint;

/* The facing part to which the other part is clipped, projected along the normal n: a convex polygon, or a line (count
 * 2), in the axes e and f, where e x f = n. */
typedef struct TalusClipRegion {
    TalusVec3 n, e, f;
    int count;
    double u[TALUS_FACING_POINTS], v[TALUS_FACING_POINTS]; /* corners */
    double turn;               /* 1: corners run anticlockwise; -1: clockwise */
    double base, per_u, per_v; /* height of the part over (u, v): base + per_u u + per_v v */
    double tolerance;          /* m: corners up to this far outside stay */
} TalusClipRegion;

/* Sets the normal n, and two axes e and f across it. */
TALUS_INLINE void talus_clip_region_set_axes(TalusClipRegion *s, TalusVec3 n)
{
    s->n = n;
    s->e = talus_normalize(talus_cross(n, talus_smallest_axis(n)), n);
    s->f = talus_cross(n, s->e);
}

/* Makes a face the clip region: sets its corners and plane. False if the face is too steep: the cosine of the angle
 * between its normal and n is below 1/4 in magnitude. */
TALUS_INLINE bool talus_clip_region_set_face(TalusClipRegion *s, const TalusFacing *part)
{
    double cosine = talus_dot(part->normal, s->n);
    if (!(fabs(cosine) >= 0.25))
        return false;
    s->count = part->count;
    s->turn = cosine > 0.0 ? 1.0 : -1.0;
    for (int k = 0; k < part->count; k++) {
        s->u[k] = talus_dot(part->point[k], s->e);
        s->v[k] = talus_dot(part->point[k], s->f);
    }
    s->per_u = -talus_dot(part->normal, s->e) / cosine;
    s->per_v = -talus_dot(part->normal, s->f) / cosine;
    s->base = talus_dot(part->normal, part->point[0]) / cosine;
    return true;
}

/* Makes the line `part` the clip region, with two borders across its ends. False if, seen along n, the line `other` is
 * not parallel, or if `part` is more than 60 degrees out of the plane normal to n. */
TALUS_INLINE bool talus_clip_region_set_line(TalusClipRegion *s, const TalusFacing *part,
                                             const TalusFacing *other)
{
    TalusVec3 d = talus_sub(part->point[1], part->point[0]);
    TalusVec3 o = talus_sub(other->point[1], other->point[0]);
    double u = talus_dot(d, s->e), v = talus_dot(d, s->f), length2 = u * u + v * v;
    double x = talus_dot(o, s->e), y = talus_dot(o, s->f), sine = u * y - v * x;
    if (!(sine * sine <= TALUS_MANIFOLD_PARALLEL * length2 * (x * x + y * y) && length2 > 0.0 &&
          length2 >= 0.25 * talus_dot(d, d)))
        return false;
    double slope = talus_dot(d, s->n) / length2;
    s->count = 2;
    s->turn = 1.0;
    for (int k = 0; k < 2; k++) { /* the ends are the first corners of borders across the line */
        s->u[k] = talus_dot(part->point[k], s->e);
        s->v[k] = talus_dot(part->point[k], s->f);
    }
    s->per_u = slope * u;
    s->per_v = slope * v;
    s->base = talus_dot(part->point[0], s->n) - s->per_u * s->u[0] - s->per_v * s->v[0];
    return true;
}

/* Border k of a clip region: from corner k to the next; of a line, across its end k. */
typedef struct TalusClipBorder {
    double u, v;         /* corner or end k */
    double x, y, length; /* vector to the next corner or to the other end, and its length */
    double turn; /* outside is to the right of (x, y) for 1, to the left for -1, behind for 0 */
} TalusClipBorder;

/* Returns border k of the region. Its turn is that of the polygon; 0 if the region is a line, where outside
 * is beyond end k. */
TALUS_INLINE TalusClipBorder talus_clip_region_border(const TalusClipRegion *s, int k)
{
    int next = k + 1 < s->count ? k + 1 : 0;
    double x = s->u[next] - s->u[k], y = s->v[next] - s->v[k];
    TalusClipBorder border = {
        s->u[k], s->v[k], x, y, sqrt(x * x + y * y), s->count == 2 ? 0.0 : s->turn};
    return border;
}

/* Distance of a candidate outside of a border, m: negative inside, and -1 (so inside) for a border without length. */
TALUS_INLINE double talus_distance_outside(const TalusClipBorder *b, const TalusCandidate *c)
{
    if (!(b->length > 0.0))
        return -1.0;
    double u = c->u - b->u, v = c->v - b->v;
    double across = b->turn == 0.0 ? -(b->x * u + b->y * v) : b->turn * (b->y * u - b->x * v);
    return across / b->length;
}

/* Returns the intersection of the edge from p to q with a border, given the distances of p and q outside of the border.
 * The intersection has the id first + stride * p->edge + border. The edge that follows is p's if that leads inside,
 * else the one along the border, number first + border. */
TALUS_INLINE TalusCandidate talus_cut_edge(const TalusCandidate *p, const TalusCandidate *q,
                                           double outside_p, double outside_q, int border,
                                           uint32_t first, uint32_t stride)
{
    double t = outside_p / (outside_p - outside_q);
    TalusCandidate c = {p->u + t * (q->u - p->u),
                        p->v + t * (q->v - p->v),
                        p->height + t * (q->height - p->height),
                        0.0,
                        first + stride * p->edge + (uint32_t)border,
                        outside_p > 0.0 ? p->edge : first + (uint32_t)border};
    return c;
}

/* Clips the polygon or line `in` to one border; writes the candidates that remain to `out` and returns their number. A
 * corner outside by at most the tolerance stays, and an edge from such a corner farther out is not cut. A line (`line`)
 * has two edges, there and back, of which only the first is cut. */
TALUS_INLINE int talus_clip_to_border(const TalusClipRegion *s, int border,
                                      const TalusCandidate *in, int count, bool line,
                                      TalusCandidate *out)
{
    int kept = 0;
    const TalusClipBorder along = talus_clip_region_border(s, border);
    double first = talus_distance_outside(&along, &in[0]), outside_p = first, outside_q;
    for (int k = 0; k < count; k++, outside_p = outside_q) {
        const TalusCandidate *p = &in[k], *q = &in[k + 1 < count ? k + 1 : 0];
        outside_q = k + 1 < count ? talus_distance_outside(&along, q) : first;
        if (outside_p <= s->tolerance)
            out[kept++] = *p;
        if (talus_max(outside_p, outside_q) > s->tolerance &&
            talus_min(outside_p, outside_q) <= 0.0 && !(line && k == 1))
            out[kept++] = talus_cut_edge(p, q, outside_p, outside_q, border, 8, 16);
    }
    return kept;
}

/* Clips the subject, the facing part of b (`subject_is_b`) or of a, to all borders of the region. Writes the candidates
 * with a gap below `limit` to `out`, with heights of a's part; returns their number. */
TALUS_INLINE int talus_clip_part(const TalusClipRegion *s, const TalusFacing *subject,
                                 bool subject_is_b, double limit, TalusCandidate *out)
{
    TalusCandidate corner[2][TALUS_CANDIDATES];
    int count = subject->count, now = 0;
    for (int k = 0; k < count; k++) {
        TalusVec3 x = subject->point[k];
        TalusCandidate c = {talus_dot(x, s->e), talus_dot(x, s->f), talus_dot(x, s->n), 0.0,
                            (uint32_t)k,        (uint32_t)k};
        corner[0][k] = c;
    }
    bool line = count == 2;
    for (int border = 0; border < s->count && count > 0; border++, now ^= 1)
        count = talus_clip_to_border(s, border, corner[now], count, line && count == 2,
                                     corner[now ^ 1]);
    int kept = 0;
    for (int k = 0; k < count; k++) {
        TalusCandidate c = corner[now][k];
        double other = s->base + s->per_u * c.u + s->per_v * c.v;
        c.gap = subject_is_b ? c.height - other : other - c.height;
        c.height = subject_is_b ? other : c.height;
        if (c.gap < limit)
            out[kept++] = c;
    }
    return kept;
}

/* ---- the choice of four ---------------------------------------------------------------------- */

/* Twice the signed area of the triangle p q x. */
TALUS_INLINE double talus_twice_signed_area(const TalusCandidate *p, const TalusCandidate *q,
                                            const TalusCandidate *x)
{
    return (q->u - p->u) * (x->v - p->v) - (q->v - p->v) * (x->u - p->u);
}

/* Squared distance of a candidate from (u, v). */
TALUS_INLINE double talus_squared_distance(const TalusCandidate *p, double u, double v)
{
    return (p->u - u) * (p->u - u) + (p->v - v) * (p->v - v);
}

/* Returns the index of the candidate that, beyond side q r or r p of the triangle p q r, spans the largest triangle
 * with that side; -1 if twice the area of none is above `least`. */
TALUS_INLINE int talus_choose_beyond_triangle(const TalusCandidate *c, int count, int p, int q,
                                              int r, double least)
{
    double turn = talus_twice_signed_area(&c[p], &c[q], &c[r]) < 0.0 ? -1.0 : 1.0, most = least;
    int best = -1;
    for (int k = 0; k < count; k++) {
        double area = -talus_min(turn * talus_twice_signed_area(&c[q], &c[r], &c[k]),
                                 turn * talus_twice_signed_area(&c[r], &c[p], &c[k]));
        if (area > TALUS_MANIFOLD_EXCESS * most) {
            most = area;
            best = k;
        }
    }
    return best;
}

/* Returns how much a candidate is needed, m, whose distance from the candidates chosen so far is `distance`: by how far
 * it would go in, if the bodies turned about those by the angle TALUS_MANIFOLD_TURN. */
TALUS_INLINE double talus_candidate_need(const TalusCandidate *c, double distance)
{
    return TALUS_MANIFOLD_TURN * distance - c->gap;
}

/* Returns the index of the candidate other than `but` (-1: any) that is needed most at its distance from (u, v). A later
 * candidate must be needed by more than `excess` more than an earlier one. */
TALUS_INLINE int talus_choose_away_from(const TalusCandidate *c, int count, int but, double u,
                                        double v, double excess)
{
    int best = -1;
    double most = -INFINITY;
    for (int k = 0; k < count; k++) {
        if (k == but)
            continue;
        double need = talus_candidate_need(&c[k], sqrt(talus_squared_distance(&c[k], u, v)));
        if (best < 0 || need > most + excess) {
            most = need;
            best = k;
        }
    }
    return best;
}

/* Returns the index of the candidate that is needed most of those on one side of the line from p to q: on the left if
 * `side` is 1, on the right if it is -1; -1 if there is none. `excess`: as for talus_choose_away_from. */
TALUS_INLINE int talus_choose_beside(const TalusCandidate *c, int count, int p, int q, double side,
                                     double excess)
{
    double length = sqrt(talus_squared_distance(&c[p], c[q].u, c[q].v)), most = -INFINITY;
    int best = -1;
    for (int k = 0; k < count; k++) {
        double area = side * talus_twice_signed_area(&c[p], &c[q], &c[k]);
        if (!(area > 0.0))
            continue;
        double need = talus_candidate_need(&c[k], area / length);
        if (need > most + excess) {
            most = need;
            best = k;
        }
    }
    return best;
}

/* If there are more than four candidates, moves up to four of them to the front, in this order, each the one that is
 * needed most (talus_candidate_need): p, by its distance from the mean of all; q, by its distance from p; one on the
 * left and one on the right of the line p q, by their distance from it. If one side has none, or if the triangle with
 * p and q there has at most TALUS_MANIFOLD_THIN of the other's area, talus_choose_beyond_triangle chooses the fourth
 * instead. Gaps of resting bodies are nearly equal and fluctuate by less than the margin of the choice, so the choice
 * is stable. Where one body is inclined, candidates near the touching side come before distant ones with a wide gap,
 * which the bodies would have to turn far to close. Returns the number of chosen candidates. */
TALUS_INLINE int talus_choose_spread(TalusCandidate *c, int count)
{
    if (count <= TALUS_MANIFOLD_MAX)
        return count;
    double u = 0.0, v = 0.0, extent2 = 0.0;
    for (int k = 0; k < count; k++) {
        u += c[k].u / count;
        v += c[k].v / count;
    }
    for (int k = 0; k < count; k++)
        extent2 = talus_max(extent2, talus_squared_distance(&c[k], u, v));
    double excess = TALUS_MANIFOLD_TURN * TALUS_MANIFOLD_MARGIN * sqrt(extent2);
    int at[TALUS_MANIFOLD_MAX];
    at[0] = talus_choose_away_from(c, count, -1, u, v, excess);
    at[1] = talus_choose_away_from(c, count, at[0], c[at[0]].u, c[at[0]].v, excess);
    at[2] = talus_choose_beside(c, count, at[0], at[1], 1.0, excess);
    at[3] = talus_choose_beside(c, count, at[0], at[1], -1.0, excess);
    double left = at[2] < 0 ? 0.0 : talus_twice_signed_area(&c[at[0]], &c[at[1]], &c[at[2]]);
    double right = at[3] < 0 ? 0.0 : -talus_twice_signed_area(&c[at[0]], &c[at[1]], &c[at[3]]);
    int wide = left < right ? 3 : 2;
    double least = TALUS_MANIFOLD_THIN * talus_max(left, right);
    if (talus_min(left, right) <= least && at[wide] >= 0)
        at[5 - wide] = talus_choose_beyond_triangle(c, count, at[0], at[1], at[wide], least);
    TalusCandidate chosen[TALUS_MANIFOLD_MAX];
    int kept = 0;
    for (int k = 0; k < TALUS_MANIFOLD_MAX; k++) {
        if (at[k] >= 0)
            chosen[kept++] = c[at[k]];
    }
    for (int k = 0; k < kept; k++)
        c[k] = chosen[k];
    return kept;
}

/* Ensures that the chosen candidates c contain one whose gap is that of `nearest` up to the tolerance: if none has it,
 * `nearest` replaces the chosen candidate closest to it. */
TALUS_INLINE void talus_keep_nearest(TalusCandidate *c, int count, const TalusCandidate *nearest,
                                     double tolerance)
{
    int closest = 0;
    for (int k = 0; k < count; k++) {
        if (c[k].gap <= nearest->gap + tolerance)
            return;
        if (talus_squared_distance(&c[k], nearest->u, nearest->v) <
            talus_squared_distance(&c[closest], nearest->u, nearest->v))
            closest = k;
    }
    c[closest] = *nearest;
}

/* Drops candidates with a gap below `least`, the gap of the nearest points less a tolerance; returns the number left.
 * No points of the two parts are nearer than the nearest points: a candidate with a smaller gap lies outside of an
 * inclined part, by no more than the tolerance of clipping. */
TALUS_INLINE int talus_drop_gaps_below(TalusCandidate *c, int count, double least)
{
    int kept = 0;
    for (int k = 0; k < count; k++) {
        if (c[k].gap >= least)
            c[kept++] = c[k];
    }
    return kept;
}

/* Index of the candidate with the smallest gap; 0 if there is none. */
TALUS_INLINE int talus_nearest_candidate(const TalusCandidate *c, int count)
{
    int best = 0;
    for (int k = 1; k < count; k++) {
        if (c[k].gap < c[best].gap)
            best = k;
    }
    return best;
}

/* Reduces one or more candidates to at most four, spread and near, with the nearest among them. Returns their number. */
TALUS_INLINE int talus_reduce_candidates(TalusCandidate *c, int count, double tolerance)
{
    TalusCandidate nearest = c[talus_nearest_candidate(c, count)];
    count = talus_choose_spread(c, count);
    talus_keep_nearest(c, count, &nearest, tolerance);
    return count;
}

/* Position of a candidate in space, from its coordinates u, v, height along the axes of the region. */
TALUS_INLINE TalusVec3 talus_candidate_point(const TalusClipRegion *s, const TalusCandidate *c)
{
    return talus_madd(talus_madd(talus_scale(c->height, s->n), c->u, s->e), c->v, s->f);
}

/* ---- two bodies ------------------------------------------------------------------------------ */

/* Sets the part to the triangle, turned towards d. Its id is 1 if its corners are anticlockwise seen from
 * the side that d points to, else 0. */
TALUS_INLINE void talus_facing_triangle(const TalusVec3 corner[3], TalusVec3 d, TalusFacing *f)
{
    TalusVec3 n = talus_cross(talus_sub(corner[1], corner[0]), talus_sub(corner[2], corner[0]));
    bool front = talus_dot(n, d) > 0.0;
    f->count = 3;
    f->id = front;
    f->normal = talus_normalize(front ? n : talus_neg(n), d);
    for (int k = 0; k < 3; k++)
        f->point[k] = corner[front ? k : 2 - k];
}

/* Finds the part of b that faces d, in the frame of a. */
TALUS_INLINE void talus_find_facing_b(const TalusConvexPair *p, TalusVec3 d, TalusFacing *f)
{
    if (!p->b) {
        talus_facing_triangle(p->corner, d, f);
        return;
    }
    talus_find_facing(p->b, talus_pair_rotate_into_b(p, d), f);
    for (int k = 0; k < f->count; k++)
        f->point[k] = talus_pair_point_from_b(p, f->point[k]);
    if (f->count > 2)
        f->normal = talus_pair_rotate_from_b(p, f->normal);
}

/* Finds candidates c by clipping one of the facing parts a and b to the other; makes *s the clip region. Returns their
 * number; 0 if one part is a point, two lines cross, or the clip region is too steep. */
TALUS_INLINE int talus_clip_facing_parts(const TalusConvexPair *p, TalusClipRegion *s,
                                         const TalusFacing *a, const TalusFacing *b, double limit,
                                         TalusCandidate *c)
{
    if (a->count == 1 || b->count == 1)
        return 0;
    s->tolerance = TALUS_MANIFOLD_CLIP * p->size;
    bool subject_is_b = b->count <= a->count;
    const TalusFacing *subject = subject_is_b ? b : a, *other = subject_is_b ? a : b;
    bool fine = other->count == 2 ? talus_clip_region_set_line(s, other, subject)
                                  : talus_clip_region_set_face(s, other);
    return fine ? talus_clip_part(s, subject, subject_is_b, limit, c) : 0;
}

/* Feature of the candidate with this id: a number made of the ids of both facing parts, distinct while b's is below
 * 1021, and `id`; for the nearest points `id` alone. */
TALUS_INLINE uint32_t talus_manifold_feature(const TalusFacing *a, const TalusFacing *b,
                                             uint32_t id)
{
    uint32_t parts = id == TALUS_FEATURE_NEAREST ? 0 : a->id * 1021u + b->id;
    return parts << TALUS_FEATURE_BITS | id;
}

/* Finds up to four manifold points of the two cores with a gap below `limit`, given their nearest points. Returns their
 * number. */
TALUS_OUTLINE int talus_core_manifold(const TalusConvexPair *p, const TalusNearest *near,
                                      double limit, TalusCorePoint spot[TALUS_MANIFOLD_MAX])
{
    TalusFacing a, b;
    TalusClipRegion s;
    TalusCandidate c[TALUS_CANDIDATES];
    talus_find_facing(p->a, near->normal, &a);
    talus_find_facing_b(p, talus_neg(near->normal), &b);
    talus_clip_region_set_axes(&s, near->normal);
    double tolerance = TALUS_MANIFOLD_NEAREST * p->size;
    int count = talus_clip_facing_parts(p, &s, &a, &b, limit, c);
    count = talus_drop_gaps_below(c, count, near->gap - tolerance);
    TalusCandidate nearest = {talus_dot(near->on_a, s.e), talus_dot(near->on_a, s.f),
                              talus_dot(near->on_a, s.n), near->gap,
                              TALUS_FEATURE_NEAREST,      0};
    int lowest = talus_nearest_candidate(c, count);
    if (count == 0 || c[lowest].gap > near->gap + tolerance)
        c[count++] = nearest;
    count = talus_reduce_candidates(c, count, tolerance);
    for (int k = 0; k < count; k++) {
        spot[k].on_a = talus_candidate_point(&s, &c[k]);
        spot[k].gap = c[k].gap;
        spot[k].feature = talus_manifold_feature(&a, &b, c[k].id);
    }
    return count;
}

#endif
