/* io/surface/surface_weld.c - conversion of a triangle soup to a surface with shared vertices.
 *
 * Corners are visited in the order in which triangles use them. A corner at most the distance `near` from a stored
 * vertex becomes that vertex; any other corner is stored as a new vertex. A hash table of cells, with edges of 2
 * `near`, finds the stored vertices; a cell has few of them, since no two are within `near` of each other. */
#include "base/memory.h"
#include "geometry/adjacency.h"
#include "io/surface/surface.h"

#include <string.h>

/* `near` is the larger of NEAR_EXTENT times the surface's extent and NEAR_COORDINATE times its largest coordinate, to
 * which the rounding error of float32 is proportional. */
#define NEAR_EXTENT 0x1p-20
#define NEAR_COORDINATE 0x1p-22
/* A surface with a smaller `near` is refused: it is within about 1e-30 m of the origin, and the bounds of triangles are
 * stored in single precision, whose smallest normal number is 1e-38. */
#define MIN_NEAR 1e-36
/* A triangle is degenerate if its height is at most this times its longest edge. */
#define FLAT 0x1p-20

/* The hash table of cells that finds stored vertices. */
typedef struct Cells {
    int32_t *first;  /* [hash]: first stored vertex of this hash, or -1 */
    int32_t *next;   /* [vertex]: next stored vertex of the same hash, or -1 */
    uint32_t mask;   /* number of hash values less 1 */
    double per_edge; /* 1 / edge of a cell, 1/m */
    TalusVec3 lo;    /* low corner of cell (0, 0, 0) */
    double near2;    /* near squared, m2 */
} Cells;

/* Sets the bounds of the surface, by the vertices that triangles use. */
static void find_bounds(TalusSoup *soup, TalusSurface *out)
{
    TalusVec3 lo = soup->vertex[soup->triangle[0]], hi = lo;
    for (size_t k = 0; k < 3 * (size_t)soup->triangles; k++) {
        TalusVec3 x = soup->vertex[soup->triangle[k]];
        lo = talus_vec3(fmin(lo.x, x.x), fmin(lo.y, x.y), fmin(lo.z, x.z));
        hi = talus_vec3(fmax(hi.x, x.x), fmax(hi.y, x.y), fmax(hi.z, x.z));
    }
    out->lo = lo;
    out->hi = hi;
}

/* Returns the distance `near` within which corners are merged. */
static double near_distance(const TalusSurface *s)
{
    double extent = fmax(fmax(s->hi.x - s->lo.x, s->hi.y - s->lo.y), s->hi.z - s->lo.z);
    double largest =
        fmax(fmax(fmax(fabs(s->lo.x), fabs(s->hi.x)), fmax(fabs(s->lo.y), fabs(s->hi.y))),
             fmax(fabs(s->lo.z), fabs(s->hi.z)));
    return fmax(NEAR_EXTENT * extent, NEAR_COORDINATE * largest);
}

/* Returns the hash of a cell, an index of cells->first; different cells may have the same hash. */
static uint32_t hash_cell(const Cells *cells, int64_t x, int64_t y, int64_t z)
{
    uint64_t h = (uint64_t)x * UINT64_C(0x9e3779b97f4a7c15) ^
                 (uint64_t)y * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                 (uint64_t)z * UINT64_C(0x165667b19e3779f9);
    h ^= h >> 29;
    h *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(h >> 32) & cells->mask;
}

/* Returns the index of the cell along one axis, `from_lo` after cells->lo; *side is -1 or 1 towards the neighbour cell
 * that is nearer. */
static int64_t find_cell(double from_lo, double per_edge, int64_t *side)
{
    double c = from_lo * per_edge, whole = floor(c);
    *side = c - whole < 0.5 ? -1 : 1;
    return (int64_t)whole;
}

/* Returns the stored vertex of least number near vertex v; if there is none, stores and returns v. */
static int32_t find_or_store(Cells *cells, const TalusVec3 *vertex, int32_t v)
{
    TalusVec3 x = vertex[v], d = talus_sub(x, cells->lo);
    int64_t sx, sy, sz, cx = find_cell(d.x, cells->per_edge, &sx),
                        cy = find_cell(d.y, cells->per_edge, &sy),
                        cz = find_cell(d.z, cells->per_edge, &sz);
    int32_t best = INT32_MAX;
    for (int k = 0; k < 8; k++) {
        uint32_t h =
            hash_cell(cells, cx + (k & 1 ? sx : 0), cy + (k & 2 ? sy : 0), cz + (k & 4 ? sz : 0));
        for (int32_t w = cells->first[h]; w >= 0; w = cells->next[w]) {
            TalusVec3 from = talus_sub(x, vertex[w]);
            if (w < best && talus_dot(from, from) <= cells->near2)
                best = w;
        }
    }
    if (best != INT32_MAX)
        return best;
    uint32_t own = hash_cell(cells, cx, cy, cz);
    cells->next[v] = cells->first[own];
    cells->first[own] = v;
    return v;
}

/* Sets joined[v] to the vertex that v becomes (find_or_store); -1 for vertices that no triangle uses. */
static TalusStatus join_vertices(TalusSoup *soup, const TalusSurface *out, int32_t *joined)
{
    double near = near_distance(out);
    if (!(near >= MIN_NEAR))
        return talus_fail_file(
            soup->name, TALUS_ERR_FORMAT,
            "all its vertices are within %g of the origin; that is too small for "
            "a surface",
            MIN_NEAR * 0x1p20);
    uint32_t buckets = 16;
    while (buckets < (uint32_t)soup->vertices && buckets < 1u << 30)
        buckets *= 2;
    /* Edges of 2 `near`: all vertices within `near` of a point are in its cell or in the 7 nearest neighbour cells. */
    Cells cells = {
        .mask = buckets - 1, .per_edge = 0.5 / near, .lo = out->lo, .near2 = near * near};
    TalusStatus status = TALUS_ALLOC(cells.first, buckets, "cells of vertices");
    TALUS_THEN(status, TALUS_ALLOC(cells.next, (size_t)soup->vertices, "cells of vertices"));
    if (status == TALUS_OK) {
        memset(cells.first, 0xff, buckets * sizeof *cells.first);
        memset(joined, 0xff, (size_t)soup->vertices * sizeof *joined);
        for (size_t k = 0; k < 3 * (size_t)soup->triangles; k++) {
            int32_t v = soup->triangle[k];
            if (joined[v] < 0)
                joined[v] = find_or_store(&cells, soup->vertex, v);
        }
    }
    TALUS_RELEASE(cells.first, cells.next);
    return status;
}

/* True if two corners are one vertex, or if the height over the longest edge is at most FLAT times that edge. In the
 * formula |n|, twice the area, is the longest edge times the height. */
static bool is_degenerate(const TalusVec3 *vertex, const int32_t *t)
{
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0])
        return true;
    TalusVec3 a = talus_sub(vertex[t[1]], vertex[t[0]]), b = talus_sub(vertex[t[2]], vertex[t[0]]);
    TalusVec3 c = talus_sub(b, a), n = talus_cross(a, b);
    double longest2 = fmax(fmax(talus_dot(a, a), talus_dot(b, b)), talus_dot(c, c));
    return !(talus_norm(n) > FLAT * longest2);
}

/* Replaces each corner v by joined[v]; then drops degenerate triangles and counts them in out->degenerate. */
static void drop_degenerate(TalusSoup *soup, const int32_t *joined, TalusSurface *out)
{
    int kept = 0;
    for (int t = 0; t < soup->triangles; t++) {
        const int32_t *from = soup->triangle + 3 * (size_t)t;
        int32_t corner[3] = {joined[from[0]], joined[from[1]], joined[from[2]]};
        if (is_degenerate(soup->vertex, corner)) {
            out->degenerate++;
            continue;
        }
        memcpy(soup->triangle + 3 * (size_t)kept++, corner, sizeof corner);
    }
    soup->triangles = kept;
}

/* Removes the vertices that no triangle uses any more and renumbers the others in order. Sets out->joined to the number
 * of vertices that triangles used before and no longer use. `number` has the result of join_vertices on entry, and is
 * overwritten. */
static void renumber_vertices(TalusSoup *soup, int32_t *number, TalusSurface *out)
{
    int kept = 0, used = 0;
    for (int v = 0; v < soup->vertices; v++)
        used += number[v] >= 0;
    memset(number, 0, (size_t)soup->vertices * sizeof *number);
    for (size_t k = 0; k < 3 * (size_t)soup->triangles; k++)
        number[soup->triangle[k]] = 1;
    for (int v = 0; v < soup->vertices; v++) {
        if (number[v]) {
            soup->vertex[kept] = soup->vertex[v];
            number[v] = kept++;
        }
    }
    for (size_t k = 0; k < 3 * (size_t)soup->triangles; k++)
        soup->triangle[k] = number[soup->triangle[k]];
    out->joined = used - kept;
    soup->vertices = kept;
}

/* ---- duplicates ---- */

/* Writes the vertices of a triangle into `out` in ascending order. */
static void sort_vertices(const int32_t *t, uint32_t out[3])
{
    uint32_t a = (uint32_t)t[0], b = (uint32_t)t[1], c = (uint32_t)t[2];
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    out[0] = c < low ? c : low;
    out[2] = c > high ? c : high;
    out[1] = a ^ b ^ c ^ out[0] ^ out[2];
}

/* Marks the duplicates: of all triangles with the same vertices, in either winding, every one but the first. So a sheet
 * given from both sides becomes one sheet. Sorts the triangles by their vertices to find equal ones. Returns the number
 * marked. `item`: work space for 2 entries per triangle. */
static int mark_duplicates(const TalusSoup *soup, TalusKeyed *item, bool *duplicate)
{
    size_t count = (size_t)soup->triangles;
    uint32_t v[3], w[3];
    int found = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < count; k++) {
            if (pass == 0)
                item[k].value = (int32_t)k;
            sort_vertices(soup->triangle + 3 * (size_t)item[k].value, v);
            item[k].key = pass == 0 ? v[0] : (uint64_t)v[1] << 32 | v[2];
        }
        talus_sort_keyed(item, item + count, count);
    }
    for (size_t k = 1; k < count; k++) {
        sort_vertices(soup->triangle + 3 * (size_t)item[k - 1].value, v);
        sort_vertices(soup->triangle + 3 * (size_t)item[k].value, w);
        duplicate[item[k].value] = memcmp(v, w, sizeof v) == 0;
        found += duplicate[item[k].value];
    }
    return found;
}

/* Removes duplicate triangles and stores their number in out->duplicate. */
static TalusStatus drop_duplicates(TalusSoup *soup, TalusSurface *out)
{
    TalusKeyed *item = NULL;
    bool *duplicate = NULL;
    size_t count = (size_t)soup->triangles;
    TalusStatus status = TALUS_ALLOC(item, 2 * count, "triangles to compare");
    TALUS_THEN(status, TALUS_ALLOC(duplicate, count, "triangles to compare"));
    if (status == TALUS_OK) {
        out->duplicate = mark_duplicates(soup, item, duplicate);
        int kept = 0;
        for (size_t t = 0; t < count; t++) {
            if (!duplicate[t])
                memmove(soup->triangle + 3 * (size_t)kept++, soup->triangle + 3 * t,
                        3 * sizeof *soup->triangle);
        }
        soup->triangles = kept;
    }
    TALUS_RELEASE(item, duplicate);
    return status;
}

TalusStatus talus_surface_weld(TalusSoup *soup, TalusSurface *out)
{
    int32_t *joined;
    find_bounds(soup, out);
    TALUS_TRY(TALUS_ALLOC(joined, (size_t)soup->vertices, "joined vertices"));
    TalusStatus status = join_vertices(soup, out, joined);
    if (status == TALUS_OK) {
        drop_degenerate(soup, joined, out);
        renumber_vertices(soup, joined, out);
        status = drop_duplicates(soup, out);
    }
    talus_release(joined);
    return status;
}
