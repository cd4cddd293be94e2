/* geometry/hull_faces.c - planar faces of a triangulated convex surface, and its redundant corners.
 *
 * A face grows from the largest triangle left: neighbouring triangles join while all their corners are within the
 * tolerance of the plane of the first triangle. This plane does not change, so that a face cannot bend around a curve.
 * The face is used only if it is a polygon with one simple rim, convex up to the tolerance; else each of its triangles
 * is a face. So the faces always tile the surface, whatever the points.
 *
 * Redundant corners are those inside a face, on the straight edge between two faces, or within the tolerance of another
 * corner. Of two neighbours along an edge at most one is marked as redundant in a call, so that a finely divided curve
 * loses no more than the tolerance. */
#include "geometry/hull_work.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* A triangle from which a face may grow. */
typedef struct Seed {
    double area; /* twice the area, in grid steps squared */
    int32_t triangle;
} Seed;

/* Arguments and work arrays of talus_find_faces. */
typedef struct FaceWork {
    const TalusTriangulation *t;
    const TalusGridPoint *grid;
    const TalusVec3 *point;
    int count;         /* of points */
    double tolerance;  /* m */
    TalusVec3 *normal; /* [triangles]: unit, outward, from the grid */
    Seed *seed;        /* all triangles, largest first */
    int32_t *stack;    /* triangles of the current face */
    int32_t *visit;    /* [count]: last face with the point on its rim; later faces at the point */
    int32_t (*end)[2]; /* [count]: ends of the first two rim edges that start at the point */
    int32_t *rim;      /* corners of the current rim */
    TalusFaces *out;
} FaceWork;

/* Position of corner k of a triangle. */
static TalusVec3 corner_position(const FaceWork *w, int32_t triangle, int k)
{
    return w->point[w->t->corner[triangle][k]];
}

/* Allocates the work arrays and those of w->out. */
static TalusStatus allocate_work(FaceWork *w)
{
    size_t n = (size_t)w->t->triangles, points = (size_t)w->count;
    TALUS_TRY(TALUS_ALLOC(w->normal, n, "faces of a hull"));
    TALUS_TRY(TALUS_ALLOC(w->seed, n, "faces of a hull"));
    TALUS_TRY(TALUS_ALLOC(w->stack, n, "faces of a hull"));
    TALUS_TRY(TALUS_ALLOC(w->visit, points, "faces of a hull"));
    TALUS_TRY(TALUS_ALLOC(w->end, points, "faces of a hull"));
    TALUS_TRY(TALUS_ALLOC(w->rim, 3 * n, "faces of a hull"));
    TALUS_TRY(TALUS_ALLOC(w->out->face, n, "faces of a hull"));
    TALUS_TRY(TALUS_ALLOC(w->out->loop_start, n + 1, "faces of a hull"));
    TALUS_TRY(TALUS_ALLOC(w->out->loop, 3 * n, "faces of a hull"));
    return TALUS_ALLOC(w->out->normal, n, "faces of a hull");
}

/* ---- triangles in one plane ---- */

/* Order of seeds for qsort: by area, largest first, then by index. */
static int compare_larger_first(const void *a, const void *b)
{
    const Seed *x = a, *y = b;
    if (x->area != y->area)
        return x->area < y->area ? 1 : -1;
    return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

/* Fills seed[], largest triangle first, and normal[]; sets the face of every triangle to -1. */
static void sort_seeds(FaceWork *w)
{
    for (int32_t k = 0; k < w->t->triangles; k++) {
        const int32_t *c = w->t->corner[k];
        TalusVec3 n = talus_grid_normal(w->grid[c[0]], w->grid[c[1]], w->grid[c[2]]);
        w->seed[k] = (Seed){talus_norm(n), k};
        w->normal[k] = talus_normalize(n, talus_vec3(0, 0, 1));
        w->out->face[k] = -1;
    }
    qsort(w->seed, (size_t)w->t->triangles, sizeof *w->seed, compare_larger_first);
}

/* True if all corners of the triangle are within the tolerance of the plane with this normal through the point `on`. */
static bool in_plane(const FaceWork *w, int32_t triangle, TalusVec3 normal, TalusVec3 on)
{
    for (int k = 0; k < 3; k++)
        if (fabs(talus_dot(normal, talus_sub(corner_position(w, triangle, k), on))) > w->tolerance)
            return false;
    return true;
}

/* Grows a face from the triangle `first`: collects its triangles in w->stack and sets out->face of each to `face`.
 * Returns their number. */
static int grow_face(FaceWork *w, int32_t first, int32_t face)
{
    TalusVec3 normal = w->normal[first], on = corner_position(w, first, 0);
    int found = 0;
    w->stack[found++] = first;
    w->out->face[first] = face;
    for (int k = 0; k < found; k++)
        for (int e = 0; e < 3; e++) {
            int32_t other = w->t->across[w->stack[k]][e];
            if (w->out->face[other] >= 0 || !in_plane(w, other, normal, on))
                continue;
            w->out->face[other] = face;
            w->stack[found++] = other;
        }
    return found;
}

/* ---- rims ---- */

/* True if the triangle across this edge belongs to another face. */
static bool is_rim_edge(const FaceWork *w, int32_t triangle, int edge)
{
    return w->out->face[w->t->across[triangle][edge]] != w->out->face[triangle];
}

/* Number of the corner of a triangle that is this point. */
static int corner_number_of(const FaceWork *w, int32_t triangle, int32_t point)
{
    const int32_t *c = w->t->corner[triangle];
    return c[0] == point ? 0 : c[1] == point ? 1 : 2;
}

/* Moves *triangle and *edge from an edge of the rim to the next, rotating about their common corner within the face. */
static void next_rim_edge(const FaceWork *w, int32_t *triangle, int *edge)
{
    *edge = (*edge + 1) % 3;
    while (!is_rim_edge(w, *triangle, *edge)) {
        int32_t about = w->t->corner[*triangle][*edge];
        *triangle = w->t->across[*triangle][*edge];
        *edge = corner_number_of(w, *triangle, about);
    }
}

/* Stores the corners of the rim that starts at an edge in w->rim. Returns their number; 0 if the rim visits a corner
 * twice. */
static int follow_rim(FaceWork *w, int32_t triangle, int edge)
{
    int32_t start = triangle, face = w->out->face[triangle];
    int start_edge = edge, length = 0;
    do {
        int32_t at = w->t->corner[triangle][edge];
        if (w->visit[at] == face)
            return 0;
        w->visit[at] = face;
        w->rim[length++] = at;
        next_rim_edge(w, &triangle, &edge);
    } while (triangle != start || edge != start_edge);
    return length;
}

/* True if the rim in w->rim is convex, up to the tolerance. */
static bool rim_is_convex(const FaceWork *w, int length, TalusVec3 normal)
{
    for (int k = 0; k < length; k++) {
        TalusVec3 p = w->point[w->rim[k]], v = w->point[w->rim[(k + 1) % length]];
        TalusVec3 q = w->point[w->rim[(k + 2) % length]], chord = talus_sub(q, p);
        double out = talus_dot(normal, talus_cross(talus_sub(v, p), chord));
        if (out < -w->tolerance * talus_norm(chord))
            return false;
    }
    return true;
}

/* Finds the rim of the `found` triangles in w->stack. Returns its number of corners; 0 if the triangles do not form a
 * convex polygon. */
static int find_polygon_rim(FaceWork *w, int found, TalusVec3 normal)
{
    int edges = 0, length = 0;
    for (int k = 0; k < found; k++)
        for (int e = 0; e < 3; e++) {
            if (!is_rim_edge(w, w->stack[k], e))
                continue;
            if (edges++ == 0)
                length = follow_rim(w, w->stack[k], e);
        }
    return length == edges && rim_is_convex(w, length, normal) ? length : 0;
}

/* ---- faces ---- */

/* Twice the area vector of a polygon (Newell), from differences to its first corner. */
static TalusVec3 twice_area_vector(const FaceWork *w, const int32_t *loop, int length)
{
    TalusVec3 sum = talus_vec3(0, 0, 0), o = w->point[loop[0]];
    for (int k = 1; k + 1 < length; k++)
        sum = talus_add(
            sum, talus_cross(talus_sub(w->point[loop[k]], o), talus_sub(w->point[loop[k + 1]], o)));
    return sum;
}

/* Extent of the corners of a polygon along a direction. */
static double extent_along(const FaceWork *w, const int32_t *loop, int length, TalusVec3 along)
{
    double lo = 0.0, hi = 0.0;
    for (int k = 1; k < length; k++) {
        double x = talus_dot(along, talus_sub(w->point[loop[k]], w->point[loop[0]]));
        lo = fmin(lo, x);
        hi = fmax(hi, x);
    }
    return hi - lo;
}

/* Adds the polygon in w->rim as a face, starting at its corner of lowest index. normal: that of its largest
 * triangle. */
static void add_face(FaceWork *w, int length, TalusVec3 normal)
{
    TalusFaces *out = w->out;
    int32_t *loop = out->loop + out->loop_start[out->faces];
    int first = 0;
    for (int k = 1; k < length; k++)
        if (w->rim[k] < w->rim[first])
            first = k;
    for (int k = 0; k < length; k++)
        loop[k] = w->rim[(first + k) % length];
    TalusVec3 own = talus_normalize(twice_area_vector(w, loop, length), normal);
    /* A face too thin for its corners to give a normal, or so bent that their mean normal is worse, has the normal of
     * its largest triangle on the grid. */
    bool sound =
        talus_dot(own, normal) > 0.5 && extent_along(w, loop, length, own) <= 0.5 * w->tolerance;
    out->normal[out->faces] = sound ? own : normal;
    out->loop_start[out->faces + 1] = out->loop_start[out->faces] + length;
    out->faces++;
}

/* Adds a triangle as a face of its own. */
static void add_triangle_face(FaceWork *w, int32_t triangle)
{
    memcpy(w->rim, w->t->corner[triangle], sizeof w->t->corner[triangle]);
    w->out->face[triangle] = w->out->faces;
    add_face(w, 3, w->normal[triangle]);
}

/* Makes all faces, from the largest seed on. */
static void make_faces(FaceWork *w)
{
    for (int32_t k = 0; k < w->count; k++)
        w->visit[k] = -1;
    for (int32_t k = 0; k < w->t->triangles; k++) {
        int32_t first = w->seed[k].triangle;
        if (w->out->face[first] >= 0)
            continue;
        int found = grow_face(w, first, w->out->faces);
        int length = find_polygon_rim(w, found, w->normal[first]);
        if (length > 0)
            add_face(w, length, w->normal[first]);
        else
            for (int j = 0; j < found; j++)
                add_triangle_face(w, w->stack[j]);
    }
}

/* ---- redundant corners ---- */

/* Distance of v from the segment p q. */
static double distance_to_segment(TalusVec3 v, TalusVec3 p, TalusVec3 q)
{
    TalusVec3 along = talus_sub(q, p), from = talus_sub(v, p);
    double length2 = talus_dot(along, along);
    double s = length2 > 0.0 ? talus_dot(from, along) / length2 : 0.0;
    return talus_norm(talus_madd(from, -fmin(fmax(s, 0.0), 1.0), along));
}

/* Sets keep[] to false for one of two corners, that of higher index, if an edge no longer than the tolerance joins
 * them. True if there were any. */
static bool unmark_close_corners(const FaceWork *w, bool *keep)
{
    bool any = false;
    for (int32_t t = 0; t < w->t->triangles; t++)
        for (int e = 0; e < 3; e++) {
            int32_t a = w->t->corner[t][e], b = w->t->corner[t][(e + 1) % 3];
            if (a > b || !keep[a] || !keep[b] ||
                talus_norm(talus_sub(w->point[a], w->point[b])) > w->tolerance)
                continue;
            keep[b] = false;
            any = true;
        }
    return any;
}

/* Sets visit[] to the number of faces at every point, and end[] to the ends of the first two rim edges that start at
 * the point. */
static void count_faces_at_points(FaceWork *w)
{
    const TalusFaces *f = w->out;
    for (int32_t k = 0; k < w->count; k++)
        w->visit[k] = 0;
    for (int face = 0; face < f->faces; face++)
        for (int k = f->loop_start[face]; k < f->loop_start[face + 1]; k++) {
            int next = k + 1 < f->loop_start[face + 1] ? k + 1 : f->loop_start[face];
            int32_t a = f->loop[k];
            if (w->visit[a] < 2)
                w->end[a][w->visit[a]] = f->loop[next];
            w->visit[a]++;
        }
}

/* True if corner v is not redundant: three or more faces meet at v; or two faces do, and their common edge bends at v
 * by more than the tolerance, or a neighbour of v on that edge is being dropped. */
static bool is_needed(const FaceWork *w, int32_t v, const bool *keep)
{
    if (w->visit[v] != 2)
        return w->visit[v] > 2; /* else the point is inside a face */
    int32_t p = w->end[v][0], q = w->end[v][1];
    return !keep[p] || !keep[q] ||
           distance_to_segment(w->point[v], w->point[p], w->point[q]) > w->tolerance;
}

/* Sets keep[] of all points: true for corners that are not redundant (file head). */
static void mark_needed_corners(FaceWork *w, bool *keep)
{
    for (int k = 0; k < w->count; k++)
        keep[k] = false;
    for (int32_t t = 0; t < w->t->triangles; t++)
        for (int e = 0; e < 3; e++)
            keep[w->t->corner[t][e]] = true;
    if (unmark_close_corners(w, keep))
        return; /* one of two such corners may seem redundant because of the other */
    count_faces_at_points(w);
    for (int32_t v = 0; v < w->count; v++)
        keep[v] = keep[v] && is_needed(w, v, keep);
}

TalusStatus talus_find_faces(const TalusTriangulation *t, const TalusGridPoint *grid,
                             const TalusVec3 *point, int count, double tolerance, TalusFaces *out,
                             bool *keep)
{
    FaceWork w = {
        .t = t, .grid = grid, .point = point, .count = count, .tolerance = tolerance, .out = out};
    memset(out, 0, sizeof *out);
    TalusStatus status = allocate_work(&w);
    if (status == TALUS_OK) {
        sort_seeds(&w);
        make_faces(&w);
        mark_needed_corners(&w, keep);
    } else {
        talus_faces_free(out);
    }
    TALUS_RELEASE(w.normal, w.seed, w.stack, w.visit, w.end, w.rim);
    return status;
}

void talus_faces_free(TalusFaces *faces)
{
    TALUS_RELEASE(faces->face, faces->loop_start, faces->loop, faces->normal);
    memset(faces, 0, sizeof *faces);
}
