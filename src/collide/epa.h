/* collide/epa.h - shortest translation that separates two overlapping convex bodies; for host and device.
 *
 * The origin lies in C = {a - b}, or barely outside, and the shortest translation leads to the nearest point of C's
 * surface. A polytope inside C grows towards it (van den Bergen 2001): the face nearest to the origin is lifted to the
 * point of C farthest along its normal, until no point lies farther.
 *
 * Memory is bounded, because a device thread has little, and the polytope stays rough: convex.h refines its result.
 * Every normal tried gives an upper bound, the depth along it; the smallest bound is the result. */
#ifndef TALUS_COLLIDE_EPA_H
#define TALUS_COLLIDE_EPA_H

#include "collide/gjk.h"

enum {
    TALUS_EPA_POINTS = 40,
    TALUS_EPA_FACES = 2 * TALUS_EPA_POINTS,
    TALUS_EPA_EDGES = 40,
    TALUS_EPA_RIVALS = 5
};

/* Tolerance of the depth, relative to the smaller size; without it curved bodies would need faces without end. */
#define TALUS_EPA_ROUGH 0x1p-16

typedef struct TalusEpaFace {
    TalusVec3 normal; /* outward, length 1 */
    double height;    /* distance of its plane from the origin; infinite for a face without area */
    uint8_t at[3];    /* indices of its corners in TalusEpa.w */
} TalusEpaFace;

typedef struct TalusEpa {
    const TalusConvexPair *pair;
    int points, faces;
    TalusVec3 w[TALUS_EPA_POINTS];
    TalusEpaFace face[TALUS_EPA_FACES];
    double extent; /* distance of the farthest point from the origin */
    TalusVec3 normal;
    double depth; /* smallest depth found so far, along `normal` */
} TalusEpa;

/* Point of C farthest along d. */
TALUS_INLINE TalusVec3 talus_epa_support(const TalusConvexPair *p, TalusVec3 d)
{
    return talus_sub(talus_support_core(p->a, d), talus_pair_support_b(p, talus_neg(d)));
}

TALUS_INLINE void talus_epa_add_face(TalusEpa *e, int i, int j, int k)
{
    TalusEpaFace *f = &e->face[e->faces++];
    TalusVec3 a = e->w[i], ab = talus_sub(e->w[j], a), ac = talus_sub(e->w[k], a);
    TalusVec3 n = talus_cross(ab, ac);
    double area2 = talus_dot(n, n);
    f->at[0] = (uint8_t)i;
    f->at[1] = (uint8_t)j;
    f->at[2] = (uint8_t)k;
    f->normal = n;
    f->height = INFINITY;
    if (area2 > 0x1p-80 * talus_dot(ab, ab) * talus_dot(ac, ac)) {
        f->normal = talus_scale(1.0 / sqrt(area2), n);
        f->height = talus_dot(f->normal, a);
    }
}

/* ---- the first tetrahedron ------------------------------------------------------------------- */

/* Measure of how far w is off the simplex of 1, 2 or 3 points: square of the length, area or volume that it would span
 * with them, up to a factor. */
TALUS_INLINE double talus_epa_off_line(const TalusEpa *e, TalusVec3 w)
{
    TalusVec3 d = talus_sub(w, e->w[0]);
    if (e->points < 2)
        return talus_dot(d, d);
    TalusVec3 off = talus_cross(talus_sub(e->w[1], e->w[0]), d);
    if (e->points < 3)
        return talus_dot(off, off);
    TalusVec3 n = talus_cross(talus_sub(e->w[1], e->w[0]), talus_sub(e->w[2], e->w[0]));
    double height = talus_dot(n, d);
    return height * height;
}

/* Direction k of the search for the next point: axes for one point, two normals of a line, normal of a triangle. */
TALUS_INLINE TalusVec3 talus_epa_direction(const TalusEpa *e, int k)
{
    if (e->points == 1)
        return talus_axis_vector(k);
    TalusVec3 line = talus_sub(e->w[1], e->w[0]);
    if (e->points == 3)
        return talus_cross(line, talus_sub(e->w[2], e->w[0]));
    TalusVec3 across = talus_cross(line, talus_smallest_axis(line));
    return k == 0 ? across : talus_cross(line, across);
}

/* Extends the simplex to a tetrahedron. False if C has no volume. */
TALUS_INLINE bool talus_epa_widen(TalusEpa *e)
{
    while (e->points < 4) {
        double most = 0.0;
        TalusVec3 best = e->w[0];
        for (int k = 0; k < 4 - e->points; k++) {
            TalusVec3 d = talus_epa_direction(e, k);
            if (!(talus_dot(d, d) > 0.0))
                return false;
            for (int side = 0; side < 2; side++) {
                TalusVec3 w = talus_epa_support(e->pair, side ? talus_neg(d) : d);
                double off = talus_epa_off_line(e, w);
                if (off > most) {
                    most = off;
                    best = w;
                }
            }
        }
        if (!(most > 0.0))
            return false;
        e->w[e->points++] = best;
    }
    return true;
}

/* Copies the simplex of GJK, extends it to a tetrahedron and adds its faces. False if C has no volume. */
TALUS_INLINE bool talus_epa_begin(TalusEpa *e, const TalusConvexPair *p, const TalusGjk *g)
{
    e->pair = p;
    e->points = g->count;
    e->faces = 0;
    e->depth = INFINITY;
    e->normal = talus_vec3(0.0, 0.0, 1.0);
    for (int k = 0; k < g->count; k++)
        e->w[k] = g->w[k];
    bool solid = talus_epa_widen(e);
    e->extent = 0.0;
    for (int k = 0; k < e->points; k++)
        e->extent = fmax(e->extent, talus_norm(e->w[k]));
    if (!solid)
        return false;
    TalusVec3 n = talus_cross(talus_sub(e->w[1], e->w[0]), talus_sub(e->w[2], e->w[0]));
    bool below = talus_dot(n, talus_sub(e->w[3], e->w[0])) < 0.0;
    for (int f = 0; f < 4; f++) { /* faces 012, 031, 023, 132, oriented outwards */
        const int corner[4][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
        talus_epa_add_face(e, corner[f][0], corner[f][below ? 1 : 2], corner[f][below ? 2 : 1]);
    }
    return true;
}

/* ---- growth ---------------------------------------------------------------------------------- */

TALUS_INLINE int talus_epa_nearest_face(const TalusEpa *e)
{
    int best = 0;
    for (int f = 1; f < e->faces; f++) {
        if (e->face[f].height < e->face[best].height)
            best = f;
    }
    return best;
}

/* Adds an edge of a removed face to the rim of the hole; if the rim has it in the other direction already, both faces
 * at it are removed, and the edge is dropped from the rim. False if the rim has no room for more. */
TALUS_INLINE bool talus_epa_rim(uint8_t edge[][2], int *count, uint8_t from, uint8_t to)
{
    for (int k = 0; k < *count; k++) {
        if (edge[k][0] == to && edge[k][1] == from) {
            --*count;
            edge[k][0] = edge[*count][0];
            edge[k][1] = edge[*count][1];
            return true;
        }
    }
    if (*count == TALUS_EPA_EDGES)
        return false;
    edge[*count][0] = from;
    edge[*count][1] = to;
    ++*count;
    return true;
}

/* Replaces the faces visible from w, among them `top`, by faces from their rim to w. False if capacity is exceeded;
 * the faces are then the same as before, in another order. */
TALUS_INLINE bool talus_epa_lift(TalusEpa *e, int top, TalusVec3 w)
{
    uint8_t edge[TALUS_EPA_EDGES][2];
    int rim = 0, kept = 0;
    double tolerance = 0x1p-46 * e->extent;
    for (int f = 0; f < e->faces; f++) {
        TalusEpaFace face = e->face[f];
        bool seen = f == top ||
                    (face.height < INFINITY && talus_dot(face.normal, w) - face.height > tolerance);
        if (!seen) { /* changes places with the first visible one */
            e->face[f] = e->face[kept];
            e->face[kept++] = face;
            continue;
        }
        for (int k = 0; k < 3; k++) {
            if (!talus_epa_rim(edge, &rim, face.at[k], face.at[k == 2 ? 0 : k + 1]))
                return false;
        }
    }
    if (kept + rim > TALUS_EPA_FACES)
        return false;
    e->faces = kept;
    e->w[e->points] = w;
    for (int k = 0; k < rim; k++)
        talus_epa_add_face(e, edge[k][0], edge[k][1], e->points);
    e->points++;
    return true;
}

/* For a C without volume: sets `normal` perpendicular to it, and `depth`, 0 up to rounding. */
TALUS_INLINE void talus_epa_flat(TalusEpa *e)
{
    TalusVec3 d = e->points == 1 ? talus_axis_vector(2) : talus_epa_direction(e, 0);
    e->normal = talus_normalize(d, talus_axis_vector(2));
    e->depth = talus_dot(e->normal, talus_epa_support(e->pair, e->normal));
}

/* Starts from the simplex of GJK. Sets `normal`, out of a, and `depth`, the translation of b along it that separates
 * the bodies; negative if they are barely apart. */
TALUS_OUTLINE void talus_epa(TalusEpa *e, const TalusConvexPair *p, const TalusGjk *g)
{
    if (!talus_epa_begin(e, p, g)) {
        talus_epa_flat(e);
        return;
    }
    double tolerance = fmax(TALUS_EPA_ROUGH * p->size, 0x1p-44 * e->extent);
    for (;;) {
        int f = talus_epa_nearest_face(e);
        TalusEpaFace face = e->face[f];
        if (!(face.height < INFINITY))
            return;
        TalusVec3 w = talus_epa_support(p, face.normal);
        double depth = talus_dot(face.normal, w);
        e->extent = fmax(e->extent, talus_norm(w));
        if (depth < e->depth) {
            e->depth = depth;
            e->normal = face.normal;
        }
        if (depth - face.height <= tolerance || face.height >= e->depth - tolerance ||
            e->points == TALUS_EPA_POINTS || !talus_epa_lift(e, f, w))
            return;
    }
}

/* Directions from which step 3 of convex.h has started or at which it has ended. */
typedef struct TalusTriedDirections {
    int count;
    TalusVec3 direction[2 * TALUS_EPA_RIVALS];
} TalusTriedDirections;

TALUS_INLINE bool talus_is_tried(const TalusTriedDirections *tried, TalusVec3 n)
{
    for (int k = 0; k < tried->count; k++) {
        if (talus_dot(tried->direction[k], n) > 0.96875)
            return true;
    }
    return false;
}

/* Returns the face nearest to the origin, if nearer than `depth`, whose normal is more than 14 degrees (cosine 0.96875)
 * off all tried directions; -1: none. */
TALUS_INLINE int talus_epa_rival(const TalusEpa *e, const TalusTriedDirections *tried, double depth)
{
    int best = -1;
    double least = depth;
    for (int f = 0; f < e->faces; f++) {
        if (e->face[f].height < least && !talus_is_tried(tried, e->face[f].normal)) {
            least = e->face[f].height;
            best = f;
        }
    }
    return best;
}

#endif
