/* geometry/hull_triangulate.c - convex hull of points on a grid, in exact arithmetic (quickhull: Barber, Dobkin and
 * Huhdanpaa 1996).
 *
 * Each face has a list of points above it. The farthest point of a list joins the hull: the faces visible from the
 * point, a disc of the surface, are removed, and new faces are made from the rim of that disc to the point. Coordinates
 * are integers of 40 bits, so that the side of a plane is decided exactly. This makes the surface closed and convex
 * whatever the points are. A face is not visible from a point in its plane, so no new face is degenerate: a point on
 * the line of a rim's edge would lie in the plane of the removed face. */
#include "geometry/hull_work.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

__extension__ typedef __int128 Wide; /* available in GCC and clang on 64-bit machines */

/* Switches off clang's overflow check, which calls a function that libgcc lacks. Products of three 40-bit numbers, and
 * their sums, stay below 127 bits. */
#define NEVER_OVERFLOWS __attribute__((no_sanitize("signed-integer-overflow")))

/* Normal of a face, outward, of twice the face's area; exact. */
typedef struct Normal {
    Wide x, y, z;
} Normal;

typedef struct HullFace {
    Normal normal;
    int32_t corner[3]; /* points, anticlockwise seen from outside */
    int32_t across[3]; /* the face across the edge from corner k to the next */
    int32_t above;     /* first point of the list of points above the face; -1: none */
    int32_t seen; /* last insertion from whose point it was visible; at the end its new index */
    bool dead;    /* removed */
} HullFace;

/* An edge of the rim of the visible faces: from a to b in the direction of the removed face; `outside` is the face
 * beyond it, which stays. */
typedef struct RimEdge {
    int32_t a, b, outside;
} RimEdge;

typedef struct HullWork {
    const TalusGridPoint *point;
    int count;
    HullFace *face; /* [faces], removed ones included */
    size_t faces;
    int32_t *next;      /* [count]: links of the lists of points above faces */
    int32_t *face_from; /* [count]: the new face on the rim edge that starts at the point */
    int32_t *stack;     /* faces visible from the point that is inserted */
    RimEdge *rim;       /* [rim_edges]: rim of the visible faces, in no order */
    size_t rim_edges;
    int32_t insertion; /* number of insertions so far */
} HullWork;

/* ---- exact geometry ---- */

/* (b - a) x (c - a), exact. */
NEVER_OVERFLOWS static Normal normal_of(TalusGridPoint a, TalusGridPoint b, TalusGridPoint c)
{
    Wide ux = b.x - a.x, uy = b.y - a.y, uz = b.z - a.z;
    Wide vx = c.x - a.x, vy = c.y - a.y, vz = c.z - a.z;
    return (Normal){uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx};
}

/* Product of the face's normal with the point relative to the face: positive above, 0 in the plane; exact. */
NEVER_OVERFLOWS static Wide height_over_face(const HullWork *h, const HullFace *face, int32_t point)
{
    TalusGridPoint a = h->point[face->corner[0]], p = h->point[point];
    return face->normal.x * (p.x - a.x) + face->normal.y * (p.y - a.y) +
           face->normal.z * (p.z - a.z);
}

/* Converts an exact normal to doubles. */
static TalusVec3 round_normal(Normal n)
{
    return talus_vec3((double)n.x, (double)n.y, (double)n.z);
}

TalusVec3 talus_grid_normal(TalusGridPoint a, TalusGridPoint b, TalusGridPoint c)
{
    return round_normal(normal_of(a, b, c));
}

/* ---- the first tetrahedron ---- */

/* True if a comes before b in the order of x, then y, then z. */
static bool is_lexicographically_before(TalusGridPoint a, TalusGridPoint b)
{
    return a.x != b.x ? a.x < b.x : a.y != b.y ? a.y < b.y : a.z < b.z;
}

/* Index of the point that comes first in the order of x, then y, then z: a vertex of the hull. */
static int32_t lowest_point(const HullWork *h)
{
    int32_t first = 0;
    for (int32_t k = 1; k < h->count; k++)
        if (is_lexicographically_before(h->point[k], h->point[first]))
            first = k;
    return first;
}

/* Index of the point farthest from point a; -1 if all are equal to it. */
static int32_t farthest_from_point(const HullWork *h, int32_t a)
{
    double most = 0.0;
    int32_t best = -1;
    for (int32_t k = 0; k < h->count; k++) {
        TalusGridPoint p = h->point[k], o = h->point[a];
        TalusVec3 d = talus_vec3((double)(p.x - o.x), (double)(p.y - o.y), (double)(p.z - o.z));
        if (talus_dot(d, d) > most) {
            most = talus_dot(d, d);
            best = k;
        }
    }
    return best;
}

/* Index of the point farthest from the line a b; -1 if all are on it. */
static int32_t farthest_from_line(const HullWork *h, int32_t a, int32_t b)
{
    double most = 0.0;
    int32_t best = -1;
    for (int32_t k = 0; k < h->count; k++) {
        TalusVec3 n = talus_grid_normal(h->point[a], h->point[b], h->point[k]);
        if (talus_dot(n, n) > most) {
            most = talus_dot(n, n);
            best = k;
        }
    }
    return best;
}

/* Index of the point farthest from the plane of the face; -1 if all are in it. *above: the point is above the face. */
static int32_t farthest_from_plane(const HullWork *h, const HullFace *face, bool *above)
{
    Wide most = 0;
    int32_t best = -1;
    for (int32_t k = 0; k < h->count; k++) {
        Wide along = height_over_face(h, face, k), distance = along < 0 ? -along : along;
        if (distance > most) {
            most = distance;
            best = k;
            *above = along > 0;
        }
    }
    return best;
}

/* Adds the face a b c, with no points above it and no neighbours yet. */
static TalusStatus add_face(HullWork *h, int32_t a, int32_t b, int32_t c)
{
    TALUS_TRY(TALUS_GROW(h->face, h->faces + 1, h->faces, "faces of a hull"));
    h->face[h->faces++] = (HullFace){.normal = normal_of(h->point[a], h->point[b], h->point[c]),
                                     .corner = {a, b, c},
                                     .above = -1};
    return TALUS_OK;
}

/* Adds a point to the list of the first face, of those from index `from` on, that the point is above; to none if it is
 * inside. */
static void assign_to_face(HullWork *h, int32_t point, size_t from)
{
    for (size_t f = from; f < h->faces; f++)
        if (height_over_face(h, &h->face[f], point) > 0) {
            h->next[point] = h->face[f].above;
            h->face[f].above = point;
            return;
        }
}

/* Makes the first tetrahedron of four extreme points and assigns all points to its faces. *flat: all points lie in one
 * plane. */
static TalusStatus make_tetrahedron(HullWork *h, bool *flat)
{
    int32_t p[4] = {lowest_point(h), -1, -1, -1};
    bool above = false;
    *flat = true;
    if ((p[1] = farthest_from_point(h, p[0])) < 0)
        return TALUS_OK;
    if ((p[2] = farthest_from_line(h, p[0], p[1])) < 0)
        return TALUS_OK;
    HullFace base = {.normal = normal_of(h->point[p[0]], h->point[p[1]], h->point[p[2]]),
                     .corner = {p[0], p[1], p[2]}};
    if ((p[3] = farthest_from_plane(h, &base, &above)) < 0)
        return TALUS_OK;
    *flat = false;
    if (above) { /* puts the fourth point below the first face */
        int32_t swap = p[1];
        p[1] = p[2];
        p[2] = swap;
    }
    static const int32_t corner[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    static const int32_t across[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
    for (int f = 0; f < 4; f++) {
        TALUS_TRY(add_face(h, p[corner[f][0]], p[corner[f][1]], p[corner[f][2]]));
        memcpy(h->face[f].across, across[f], sizeof across[f]);
    }
    for (int32_t k = h->count - 1; k >= 0; k--)
        assign_to_face(h, k, 0);
    return TALUS_OK;
}

/* ---- insertion of a point ---- */

/* Removes the point farthest above a face from the list of the face and returns the point. */
static int32_t remove_farthest_above(HullWork *h, HullFace *face)
{
    int32_t best = face->above, previous = -1;
    Wide most = height_over_face(h, face, best);
    for (int32_t at = face->above; h->next[at] >= 0; at = h->next[at]) {
        Wide along = height_over_face(h, face, h->next[at]);
        if (along > most) {
            most = along;
            best = h->next[at];
            previous = at;
        }
    }
    if (previous >= 0)
        h->next[previous] = h->next[best];
    else
        face->above = h->next[best];
    return best;
}

/* Collects the faces visible from `point` in h->stack, starting from the visible face `from`, and the edges of their
 * rim in h->rim. *seen: number of visible faces. */
static TalusStatus find_visible_faces(HullWork *h, int32_t point, int32_t from, size_t *seen)
{
    int32_t stamp = ++h->insertion;
    *seen = 0;
    h->rim_edges = 0;
    TALUS_TRY(TALUS_GROW(h->stack, 1, 0, "hull"));
    h->stack[(*seen)++] = from;
    h->face[from].seen = stamp;
    for (size_t k = 0; k < *seen; k++)
        for (int e = 0; e < 3; e++) {
            const HullFace *face = &h->face[h->stack[k]];
            HullFace *other = &h->face[face->across[e]];
            if (other->seen == stamp)
                continue;
            if (height_over_face(h, other, point) > 0) {
                TALUS_TRY(TALUS_GROW(h->stack, *seen + 1, *seen, "hull"));
                h->stack[(*seen)++] = face->across[e];
                other->seen = stamp;
            } else {
                TALUS_TRY(TALUS_GROW(h->rim, h->rim_edges + 1, h->rim_edges, "rim of a hull"));
                h->rim[h->rim_edges++] =
                    (RimEdge){face->corner[e], face->corner[(e + 1) % 3], face->across[e]};
            }
        }
    return TALUS_OK;
}

/* Sets the neighbour of `face` across its edge that starts at b to `beyond`. */
static void set_face_across(HullFace *face, int32_t b, int32_t beyond)
{
    int e = face->corner[0] == b ? 0 : face->corner[1] == b ? 1 : 2;
    face->across[e] = beyond;
}

/* Adds a face from every edge of the rim to `point`, and links the new faces with each other and with those beyond the
 * rim. */
static TalusStatus add_faces_on_rim(HullWork *h, int32_t point)
{
    size_t first = h->faces;
    for (size_t k = 0; k < h->rim_edges; k++) {
        RimEdge r = h->rim[k];
        TALUS_TRY(add_face(h, r.a, r.b, point));
        h->face[first + k].across[0] = r.outside;
        set_face_across(&h->face[r.outside], r.b, (int32_t)(first + k));
        h->face_from[r.a] = (int32_t)(first + k);
    }
    for (size_t k = 0; k < h->rim_edges; k++) {
        int32_t next = h->face_from[h->rim[k].b];
        h->face[first + k].across[1] = next;
        h->face[next].across[2] = (int32_t)(first + k);
    }
    return TALUS_OK;
}

/* Adds the farthest point above face `from` to the hull. Points above the faces that this removes are assigned to the
 * new faces, or are inside. */
static TalusStatus insert_farthest_point(HullWork *h, int32_t from)
{
    int32_t point = remove_farthest_above(h, &h->face[from]);
    size_t seen, first = h->faces;
    TALUS_TRY(find_visible_faces(h, point, from, &seen));
    if (h->faces + h->rim_edges > INT32_MAX / 8)
        return talus_reject("hull: %d points have more faces than it can hold", h->count);
    TALUS_TRY(add_faces_on_rim(h, point));
    for (size_t k = 0; k < seen; k++) {
        HullFace *gone = &h->face[h->stack[k]];
        gone->dead = true;
        for (int32_t at = gone->above, next; at >= 0; at = next) {
            next = h->next[at];
            assign_to_face(h, at, first);
        }
        gone->above = -1;
    }
    return TALUS_OK;
}

/* ---- result ---- */

/* Copies the faces that are not removed to *out, numbered anew. */
static TalusStatus write_triangulation(HullWork *h, TalusTriangulation *out)
{
    int32_t living = 0;
    for (size_t f = 0; f < h->faces; f++)
        h->face[f].seen = h->face[f].dead ? -1 : living++; /* its new index */
    TALUS_TRY(TALUS_ALLOC(out->corner, (size_t)living, "triangles of a hull"));
    TALUS_TRY(TALUS_ALLOC(out->across, (size_t)living, "triangles of a hull"));
    for (size_t f = 0; f < h->faces; f++) {
        const HullFace *face = &h->face[f];
        if (face->dead)
            continue;
        for (int e = 0; e < 3; e++) {
            out->corner[face->seen][e] = face->corner[e];
            out->across[face->seen][e] = h->face[face->across[e]].seen;
        }
    }
    out->triangles = living;
    return TALUS_OK;
}

/* Runs quickhull on h->point and writes the result to *out. */
static TalusStatus triangulate(HullWork *h, TalusTriangulation *out, bool *flat)
{
    TALUS_TRY(TALUS_ALLOC(h->next, (size_t)h->count, "points of a hull"));
    TALUS_TRY(TALUS_ALLOC(h->face_from, (size_t)h->count, "points of a hull"));
    memset(h->next, -1, (size_t)h->count * sizeof *h->next);
    TALUS_TRY(make_tetrahedron(h, flat));
    for (size_t f = 0; f < h->faces; f++)
        while (h->face[f].above >= 0) /* removes the face; its list goes to others */
            TALUS_TRY(insert_farthest_point(h, (int32_t)f));
    return *flat ? TALUS_OK : write_triangulation(h, out);
}

TalusStatus talus_triangulate(const TalusGridPoint *point, int count, TalusTriangulation *out,
                              bool *flat)
{
    HullWork h = {.point = point, .count = count};
    memset(out, 0, sizeof *out);
    TalusStatus status = triangulate(&h, out, flat);
    if (status != TALUS_OK)
        talus_triangulation_free(out);
    TALUS_RELEASE(h.face, h.next, h.face_from, h.stack, h.rim);
    return status;
}

void talus_triangulation_free(TalusTriangulation *triangulation)
{
    TALUS_RELEASE(triangulation->corner, triangulation->across);
    memset(triangulation, 0, sizeof *triangulation);
}
