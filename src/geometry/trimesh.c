/* geometry/trimesh.c - triangle meshes: fixed or driven bodies of any form.
 *
 * Closed parts of the surface bound a solid; their triangles must be anticlockwise seen from outside, which is not
 * checked. Other parts are thin walls with two sides. `pseudonormal` at a vertex is the sum of the normals around it,
 * weighted by their angles there. It distinguishes inside and outside for points whose nearest point is the vertex
 * (Baerentzen and Aanaes, 2005). */
#include "base/memory.h"
#include "base/status.h"
#include "geometry/adjacency.h"
#include "geometry/bounds.h"
#include "geometry/facets.h"
#include "geometry/kinds.h"
#include "geometry/tree.h"

#include <string.h>

/* Fails unless the coordinates of vertex v are at most TALUS_FACET_MAX_COORDINATE in magnitude. */
static TalusStatus check_vertex(const TalusShapeDef *def, int v)
{
    TalusVec3 x = def->vertex[v];
    if (fabs(x.x) <= TALUS_FACET_MAX_COORDINATE && fabs(x.y) <= TALUS_FACET_MAX_COORDINATE &&
        fabs(x.z) <= TALUS_FACET_MAX_COORDINATE)
        return TALUS_OK;
    return talus_reject(
        "mesh: vertex %d is (%g, %g, %g); coordinates must be finite and at most %g", v, x.x, x.y,
        x.z, TALUS_FACET_MAX_COORDINATE);
}

/* Fails unless the vertices of triangle t exist and span an area. */
static TalusStatus check_triangle(const TalusShapeDef *def, int t)
{
    const int32_t *v = def->triangle + 3 * (size_t)t;
    for (int k = 0; k < 3; k++)
        if (v[k] < 0 || v[k] >= def->vertex_count)
            return talus_reject("mesh: corner %d of triangle %d is vertex %d; there are %d", k, t,
                                (int)v[k], def->vertex_count);
    TalusVec3 x = def->vertex[v[0]];
    TalusVec3 n = talus_cross(talus_sub(def->vertex[v[1]], x), talus_sub(def->vertex[v[2]], x));
    if (!(talus_dot(n, n) > 0.0))
        return talus_reject("mesh: triangle %d has no area; drop it, as reading a file does", t);
    return TALUS_OK;
}

static TalusStatus check_def(const TalusShapeDef *def)
{
    if (!def->vertex || def->vertex_count < 3 || !def->triangle || def->triangle_count < 1)
        return talus_reject("mesh: has %d vertices and %d triangles; it needs at least 3 and 1",
                            def->vertex ? def->vertex_count : 0,
                            def->triangle ? def->triangle_count : 0);
    if (def->triangle_count > TALUS_MAX_FACETS)
        return talus_reject("mesh: has %d triangles; at most %d are possible", def->triangle_count,
                            (int)TALUS_MAX_FACETS);
    for (int v = 0; v < def->vertex_count; v++)
        TALUS_TRY(check_vertex(def, v));
    for (int t = 0; t < def->triangle_count; t++)
        TALUS_TRY(check_triangle(def, t));
    return TALUS_OK;
}

/* ---- topology ---- */

/* Writable arrays of the block (TalusMeshTopology, TalusTree). */
typedef struct MeshArrays {
    TalusVec3 *vertex;
    int32_t *triangle, *across, *patch, *ring_start, *ring;
    uint8_t *mark;
    double (*pseudonormal)[3];
    TalusTreeNode *node;
} MeshArrays;

/* Number of edges of a mesh, given its adjacency. */
static size_t count_edges(const int32_t *across, int triangles)
{
    size_t edges = 0;
    for (int32_t s = 0; s < 3 * triangles; s++)
        edges +=
            across[s] <=
            s; /* of the sides of an edge, which form an ascending ring, one leads back or is alone */
    return edges;
}

/* Sets TALUS_MARK_SIDE for the first side of every edge. */
static void mark_first_sides(const MeshArrays *a, int triangles)
{
    for (int32_t s = 0; s < 3 * triangles; s++) {
        if (a->across[s] < 0)
            a->mark[s / 3] |= (uint8_t)(TALUS_MARK_SIDE << s % 3);
        else if (a->across[s] < s) /* last of its ring, which leads to the first */
            a->mark[a->across[s] / 3] |= (uint8_t)(TALUS_MARK_SIDE << a->across[s] % 3);
    }
}

/* Sets TALUS_MARK_CORNER for the first corner at every vertex. Uses ring_start as scratch. */
static void mark_first_corners(const MeshArrays *a, int triangles, int vertices)
{
    memset(a->ring_start, 0, ((size_t)vertices + 1) * sizeof *a->ring_start);
    for (int32_t s = 0; s < 3 * triangles; s++) {
        int32_t v = a->triangle[s];
        if (!a->ring_start[v])
            a->mark[s / 3] |= (uint8_t)(TALUS_MARK_CORNER << s % 3);
        a->ring_start[v] = 1;
    }
}

/* Sets ring and ring_start: the neighbours of each vertex, from the first side of every edge. */
static void list_neighbours(const MeshArrays *a, int triangles, int vertices)
{
    int32_t *start = a->ring_start;
    memset(start, 0, ((size_t)vertices + 1) * sizeof *start);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t s = 0; s < 3 * triangles; s++) {
            if (!(a->mark[s / 3] & TALUS_MARK_SIDE << s % 3))
                continue;
            int32_t v = talus_side_start(a->triangle, s), w = talus_side_end(a->triangle, s);
            if (pass == 0) {
                start[v]++;
                start[w]++;
            } else { /* fills each range from its end, so that start[] ends at its first index */
                a->ring[--start[v]] = w;
                a->ring[--start[w]] = v;
            }
        }
        for (int v = 0; v < vertices && pass == 0; v++)
            start[v + 1] += start[v];
    }
}

/* ---- solids and patches ---- */

/* Unit normal of triangle t, on the side that sees its corners anticlockwise. */
static TalusVec3 unit_normal(const MeshArrays *a, int32_t t)
{
    const int32_t *v = a->triangle + 3 * (size_t)t;
    TalusVec3 x = a->vertex[v[0]];
    TalusVec3 n = talus_cross(talus_sub(a->vertex[v[1]], x), talus_sub(a->vertex[v[2]], x));
    return talus_normalize(n, talus_vec3(0.0, 0.0, 1.0));
}

/* Marks the triangles of solids: connected parts of the surface of which every edge is balanced
 * (talus_side_is_balanced). Uses `patch` as scratch. */
static void mark_solids(const MeshArrays *a, int triangles, int32_t *queue)
{
    memset(a->patch, 0, (size_t)triangles * sizeof *a->patch);
    for (int32_t seed = 0; seed < triangles; seed++) {
        int head = 0, tail = 0;
        bool solid = true;
        if (a->patch[seed])
            continue;
        a->patch[seed] = 1;
        for (queue[tail++] = seed; head < tail; head++) {
            for (int32_t s = 3 * queue[head]; s < 3 * queue[head] + 3; s++) {
                solid = solid && talus_side_is_balanced(a->triangle, a->across, NULL, s);
                int32_t t = a->across[s] < 0 ? queue[head] : a->across[s] / 3;
                if (!a->patch[t])
                    queue[tail++] = t;
                a->patch[t] = 1;
            }
        }
        for (int k = 0; k < tail && solid; k++)
            a->mark[queue[k]] |= TALUS_MARK_SOLID;
    }
}

/* Sets patch[], and TALUS_MARK_SHARES_PATCH. A flat patch grows from a triangle across edges that two triangles share,
 * while normals agree with the normal of the first triangle. */
static void find_patches(const MeshArrays *a, int triangles, int32_t *queue)
{
    memset(a->patch, 0xff, (size_t)triangles * sizeof *a->patch);
    for (int32_t seed = 0; seed < triangles; seed++) {
        int head = 0, tail = 0;
        if (a->patch[seed] >= 0)
            continue;
        TalusVec3 n = unit_normal(a, seed);
        a->patch[seed] = seed;
        for (queue[tail++] = seed; head < tail; head++) {
            for (int32_t s = 3 * queue[head]; s < 3 * queue[head] + 3; s++) {
                int32_t other = a->across[s], t = other / 3;
                if (other < 0 || a->across[other] != s || a->patch[t] >= 0)
                    continue;
                if (!talus_normals_agree(n, unit_normal(a, t)))
                    continue;
                a->patch[t] = seed;
                queue[tail++] = t;
            }
        }
        for (int k = 0; k < tail && tail > 1; k++)
            a->mark[queue[k]] |= TALUS_MARK_SHARES_PATCH;
    }
}

/* Angle between two vectors, with an error of about 1e-5, by a polynomial for atan(x) on 0 .. 1; sufficient for
 * weights. */
static double approximate_angle(TalusVec3 p, TalusVec3 q)
{
    double y = talus_norm(talus_cross(p, q)), x = talus_dot(p, q);
    double least = fmin(y, fabs(x)), most = fmax(y, fabs(x));
    double t = most > 0.0 ? least / most : 0.0, t2 = t * t;
    double r =
        t * (0.9998660 + t2 * (-0.3302995 + t2 * (0.1801410 + t2 * (-0.0851330 + t2 * 0.0208351))));
    r = y > fabs(x) ? 0.5 * TALUS_PI - r : r;
    return x < 0.0 ? TALUS_PI - r : r;
}

/* Sets the pseudonormals of all vertices (file head). */
static void sum_pseudonormals(const MeshArrays *a, int triangles, int vertices)
{
    memset(a->pseudonormal, 0, (size_t)vertices * sizeof *a->pseudonormal);
    for (int32_t s = 0; s < 3 * triangles; s++) {
        int32_t next = talus_next_side(s), last = talus_next_side(next);
        TalusVec3 x = a->vertex[a->triangle[s]], n = unit_normal(a, s / 3);
        double w = approximate_angle(talus_sub(a->vertex[a->triangle[next]], x),
                                     talus_sub(a->vertex[a->triangle[last]], x));
        double *pseudonormal = a->pseudonormal[a->triangle[s]];
        pseudonormal[0] += w * n.x;
        pseudonormal[1] += w * n.y;
        pseudonormal[2] += w * n.z;
    }
}

/* ---- block ---- */

/* Lays out all arrays of the block (TalusLayout); run before and after its allocation. */
static MeshArrays lay_out_arrays(TalusLayout *layout, const TalusShapeDef *def, size_t edges)
{
    size_t v = (size_t)def->vertex_count, t = (size_t)def->triangle_count;
    MeshArrays a;
    a.vertex = talus_layout_array(layout, v, sizeof *a.vertex);
    a.triangle = talus_layout_array(layout, 3 * t, sizeof *a.triangle);
    a.node = talus_layout_array(layout, talus_tree_node_count((int)t), sizeof *a.node);
    a.across = talus_layout_array(layout, 3 * t, sizeof *a.across);
    a.patch = talus_layout_array(layout, t, sizeof *a.patch);
    a.ring_start = talus_layout_array(layout, v + 1, sizeof *a.ring_start);
    a.ring = talus_layout_array(layout, 2 * edges, sizeof *a.ring);
    a.pseudonormal = talus_layout_array(layout, v, sizeof *a.pseudonormal);
    a.mark = talus_layout_array(layout, t, sizeof *a.mark);
    return a;
}

/* Sets the pointers of the shape to its arrays. */
static void point_shape_to(TalusShape *shape, const MeshArrays *a)
{
    shape->def.vertex = a->vertex;
    shape->def.triangle = a->triangle;
    shape->tree.node = a->node;
    shape->tree.nodes = (int)talus_tree_node_count(shape->def.triangle_count);
    shape->mesh.across = a->across;
    shape->mesh.mark = a->mark;
    shape->mesh.patch = a->patch;
    shape->mesh.ring_start = a->ring_start;
    shape->mesh.ring = a->ring;
    shape->mesh.pseudonormal = (const double(*)[3])a->pseudonormal;
}

/* Allocates the block of a mesh and fills all its arrays. `scratch` has a number for each side: it holds the adjacency
 * of sides first, then the queue of triangles. */
static TalusStatus fill_block(TalusShape *shape, const TalusShapeDef *def, int32_t *scratch)
{
    size_t sides = 3 * (size_t)def->triangle_count;
    TalusLayout layout = {NULL, 0};
    TALUS_TRY(talus_link_sides(def->triangle, def->triangle_count, scratch));
    size_t edges = count_edges(scratch, def->triangle_count);
    lay_out_arrays(&layout, def, edges);
    TALUS_TRY(TALUS_ALLOC(shape->block, layout.used, "mesh"));
    shape->block_size = layout.used;
    layout = (TalusLayout){shape->block, 0};
    MeshArrays a = lay_out_arrays(&layout, def, edges);
    memcpy(a.vertex, def->vertex, (size_t)def->vertex_count * sizeof *a.vertex);
    memcpy(a.triangle, def->triangle, sides * sizeof *a.triangle);
    memcpy(a.across, scratch, sides * sizeof *a.across);
    mark_first_sides(&a, def->triangle_count);
    mark_first_corners(&a, def->triangle_count, def->vertex_count);
    list_neighbours(&a, def->triangle_count, def->vertex_count);
    mark_solids(&a, def->triangle_count, scratch);
    find_patches(&a, def->triangle_count, scratch);
    sum_pseudonormals(&a, def->triangle_count, def->vertex_count);
    point_shape_to(shape, &a);
    return talus_tree_build(a.node, a.vertex, a.triangle, def->triangle_count);
}

/* Bounds of the triangles; unused vertices do not count. */
static TalusAabb bounds_of_triangles(const TalusShapeDef *def)
{
    TalusVec3 first = def->vertex[def->triangle[0]];
    TalusAabb box = {first, first};
    for (size_t k = 1; k < 3 * (size_t)def->triangle_count; k++)
        box = talus_aabb_add_point(box, def->vertex[def->triangle[k]]);
    return box;
}

/* Fills the block of the mesh and sets the box. */
static TalusStatus build_arrays(TalusShape *shape, const TalusShapeDef *def)
{
    int32_t *scratch;
    TALUS_TRY(TALUS_ALLOC(scratch, 3 * (size_t)def->triangle_count, "edges of a mesh"));
    TalusStatus status = fill_block(shape, def, scratch);
    talus_release(scratch);
    shape->box = bounds_of_triangles(def);
    return status;
}

/* The bounding radius reaches the farthest vertex of a triangle; the size stays 0. */
static void set_radius_and_size(TalusShape *shape)
{
    double largest = 0.0;
    for (size_t k = 0; k < 3 * (size_t)shape->def.triangle_count; k++) {
        TalusVec3 x = shape->def.vertex[shape->def.triangle[k]];
        largest = fmax(largest, talus_dot(x, x));
    }
    shape->bounding_radius = sqrt(largest);
}

const TalusShapeOps talus_trimesh_ops = {
    .summary = "triangles, from a file or given: closed ones bound a solid, open ones are thin "
               "walls; fixed or driven bodies only",
    .uses = TALUS_USES_VERTEX | TALUS_USES_TRIANGLE,
    .check_def = check_def,
    .build_arrays = build_arrays,
    .set_radius_and_size = set_radius_and_size,
    .make_mesh = talus_mesh_trimesh,
};
