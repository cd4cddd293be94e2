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

/* Capacities of the polytope: points, faces, edges of the rim of a hole. */
enum {
    TALUS_EPA_POINTS = 40,
    TALUS_EPA_FACES = 2 * TALUS_EPA_POINTS,
    TALUS_EPA_EDGES = 40,
    TALUS_EPA_RIVALS = 5 /* maximum number of directions from which convex.h refines the result */
};

/* Tolerance of the depth, relative to the smaller size; without it curved bodies would need faces without end. */
#define TALUS_EPA_ROUGH 0x1p-16

typedef struct TalusEpaFace {
    TalusVec3 normal;  /* outward, length 1 */
    double height;     /* distance of the plane from the origin; infinite for a face without area */
    uint8_t corner[3]; /* indices of the corners in TalusEpa.w */
} TalusEpaFace;

typedef struct TalusEpa {
    const TalusConvexPair *pair;
    int points, faces;             /* numbers of points and faces so far */
    TalusVec3 w[TALUS_EPA_POINTS]; /* points a - b of C */
    TalusEpaFace face[TALUS_EPA_FACES];
    double extent;    /* largest distance from the origin of a point of C found so far */
    TalusVec3 normal; /* unit vector along which the depth is smallest so far */
    double depth;     /* that depth */
} TalusEpa;

/* Point of C farthest along d. */
TALUS_INLINE TalusVec3 talus_epa_support(const TalusConvexPair *p, TalusVec3 d)
{
    return talus_sub(talus_core_support(p->a, d), talus_pair_support_b(p, talus_neg(d)));
}

/* Adds the face with the points i, j, k as corners, anticlockwise seen from outside. */
TALUS_INLINE void talus_epa_add_face(TalusEpa *e, int i, int j, int k)
{
    TalusEpaFace *f = &e->face[e->faces++];
    TalusVec3 a = e->w[i], ab = talus_sub(e->w[j], a), ac = talus_sub(e->w[k], a);
    TalusVec3 n = talus_cross(ab, ac);
    double area2 = talus_dot(n, n);
    f->corner[0] = (uint8_t)i;
    f->corner[1] = (uint8_t)j;
    f->corner[2] = (uint8_t)k;
    f->normal = n;
    f->height = INFINITY;
    if (area2 > 0x1p-80 * talus_dot(ab, ab) * talus_dot(ac, ac)) {
        f->normal = talus_scale(1.0 / sqrt(area2), n);
        f->height = talus_dot(f->normal, a);
    }
}

/* ---- the first tetrahedron ------------------------------------------------------------------- */

/* Measure of how far w is off the simplex of 1, 2 or 3 points: square of the length, area or volume that w spans with
 * the simplex, up to a factor. */
TALUS_INLINE double talus_epa_distance_off_simplex(const TalusEpa *e, TalusVec3 w)
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

/* Direction k in which the next point of the simplex is searched: coordinate axis k if there is one point so far,
 * normal k = 0, 1 of the line through two points, normal of the triangle of three. */
TALUS_INLINE TalusVec3 talus_epa_search_direction(const TalusEpa *e, int k)
{
    if (e->points == 1)
        return talus_axis_vector(k);
    TalusVec3 line = talus_sub(e->w[1], e->w[0]);
    if (e->points == 3)
        return talus_cross(line, talus_sub(e->w[2], e->w[0]));
    TalusVec3 across = talus_cross(line, talus_smallest_axis(line));
    return k == 0 ? across : talus_cross(line, across);
}

/* Adds points of C to the simplex until it is a tetrahedron. False if C has no volume. */
TALUS_INLINE bool talus_epa_extend_to_tetrahedron(TalusEpa *e)
{
    while (e->points < 4) {
        double most = 0.0;
        TalusVec3 best = e->w[0];
        for (int k = 0; k < 4 - e->points; k++) {
            TalusVec3 d = talus_epa_search_direction(e, k);
            if (!(talus_dot(d, d) > 0.0))
                return false;
            for (int side = 0; side < 2; side++) {
                TalusVec3 w = talus_epa_support(e->pair, side ? talus_neg(d) : d);
                double off = talus_epa_distance_off_simplex(e, w);
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

/* Initializes the polytope: copies the simplex of GJK, extends it to a tetrahedron and adds the four faces. False if C
 * has no volume; then there are no faces. */
TALUS_INLINE bool talus_epa_init(TalusEpa *e, const TalusConvexPair *p, const TalusGjk *g)
{
    e->pair = p;
    e->points = g->count;
    e->faces = 0;
    e->depth = INFINITY;
    e->normal = talus_vec3(0.0, 0.0, 1.0);
    for (int k = 0; k < g->count; k++)
        e->w[k] = g->w[k];
    bool solid = talus_epa_extend_to_tetrahedron(e);
    e->extent = 0.0;
    for (int k = 0; k < e->points; k++)
        e->extent = talus_max(e->extent, talus_norm(e->w[k]));
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

/* Index of the face whose plane is nearest to the origin. */
TALUS_INLINE int talus_epa_nearest_face(const TalusEpa *e)
{
    int best = 0;
    for (int f = 1; f < e->faces; f++) {
        if (e->face[f].height < e->face[best].height)
            best = f;
    }
    return best;
}

/* Notes an edge of a removed face. An edge that is new is added to the rim of the hole. If the rim has the edge
 * already, in the other direction, both faces at the edge are removed, and the edge is dropped from the rim. False if
 * the rim has no capacity for more edges. */
TALUS_INLINE bool talus_epa_toggle_rim_edge(uint8_t edge[][2], int *count, uint8_t from, uint8_t to)
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

/* Adds the point w to the polytope: replaces the faces visible from w, among them `top`, by faces from the rim of the
 * hole to w. False if a capacity is exceeded; the faces are then the same as before, in another order. */
TALUS_INLINE bool talus_epa_add_point(TalusEpa *e, int top, TalusVec3 w)
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
            if (!talus_epa_toggle_rim_edge(edge, &rim, face.corner[k],
                                           face.corner[k == 2 ? 0 : k + 1]))
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

/* Sets the result for a C without volume: `normal` perpendicular to C, and `depth`, 0 up to rounding. */
TALUS_INLINE void talus_epa_finish_flat(TalusEpa *e)
{
    TalusVec3 d = e->points == 1 ? talus_axis_vector(2) : talus_epa_search_direction(e, 0);
    e->normal = talus_normalize(d, talus_axis_vector(2));
    e->depth = talus_dot(e->normal, talus_epa_support(e->pair, e->normal));
}

/* Finds the shortest separating translation, roughly, from the simplex of GJK. Sets e->normal, out of a, and e->depth:
 * b moved by depth along normal is clear of a. The depth is negative if the bodies are barely apart. */
TALUS_OUTLINE void talus_epa(TalusEpa *e, const TalusConvexPair *p, const TalusGjk *g)
{
    if (!talus_epa_init(e, p, g)) {
        talus_epa_finish_flat(e);
        return;
    }
    double tolerance = talus_max(TALUS_EPA_ROUGH * p->size, 0x1p-44 * e->extent);
    for (;;) {
        int f = talus_epa_nearest_face(e);
        TalusEpaFace face = e->face[f];
        if (!(face.height < INFINITY))
            return;
        TalusVec3 w = talus_epa_support(p, face.normal);
        double depth = talus_dot(face.normal, w);
        e->extent = talus_max(e->extent, talus_norm(w));
        if (depth < e->depth) {
            e->depth = depth;
            e->normal = face.normal;
        }
        if (depth - face.height <= tolerance || face.height >= e->depth - tolerance ||
            e->points == TALUS_EPA_POINTS || !talus_epa_add_point(e, f, w))
            return;
    }
}

/* Directions from which step 3 of convex.h has started or at which it has ended. */
typedef struct TalusTriedDirections {
    int count;
    TalusVec3 direction[2 * TALUS_EPA_RIVALS];
} TalusTriedDirections;

/* True if n is within 14 degrees (cosine 0.96875) of a tried direction. */
TALUS_INLINE bool talus_is_tried(const TalusTriedDirections *tried, TalusVec3 n)
{
    for (int k = 0; k < tried->count; k++) {
        if (talus_dot(tried->direction[k], n) > 0.96875)
            return true;
    }
    return false;
}

/* Returns the face nearest to the origin of those that are nearer than `depth` and whose normals are not tried
 * (talus_is_tried); -1: none. */
TALUS_INLINE int talus_epa_untried_face(const TalusEpa *e, const TalusTriedDirections *tried,
                                        double depth)
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
