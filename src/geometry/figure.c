/* geometry/figure.c - figures from the table of shapes.
 *
 * A viewer chooses the level of a body by its size in the picture: with n segments a circle of r pixels has the error r
 * (1 - cos(pi / n)), a quarter of a pixel at r = 13 for 16, 52 for 32, 200 for 64 and 1800 for 192. Spheres and half
 * spaces have no levels. Of other shapes the first level is always made if it has triangles. A further level is
 * omitted, and all finer levels with it, if it has more than MAX_TRIANGLES triangles, or no more than the level before
 * it (a box is the same at every level). */
#include "geometry/figure.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "geometry/bounds.h"
#include "geometry/traits.h"

#include <string.h>

enum { MAX_TRIANGLES = 16384 }; /* of a level other than the first */

const char *talus_drawn_name(TalusDrawn drawn)
{
    static const char *const names[TALUS_DRAWN_KINDS] = {"sphere", "half space", "solid",
                                                         "vessel", "sheet",      "ground"};
    return names[drawn];
}

/* How shapes of a kind are drawn. */
static TalusDrawn drawn_as(TalusShapeKind kind)
{
    if (kind == TALUS_SHAPE_SPHERE)
        return TALUS_DRAWN_SPHERE;
    if (!talus_shape_has(kind, TALUS_TRAIT_WALL))
        return TALUS_DRAWN_SOLID;
    return talus_shape_has(kind, TALUS_TRAIT_HALF_SPACE) ? TALUS_DRAWN_HALF_SPACE
           : talus_shape_has(kind, TALUS_TRAIT_VESSEL)   ? TALUS_DRAWN_VESSEL
           : talus_shape_has(kind, TALUS_TRAIT_GROUND)   ? TALUS_DRAWN_GROUND
                                                         : TALUS_DRAWN_SHEET;
}

/* ---- rounding as in files ---- */

/* Rounds a component of a normal to a multiple of 1 / TALUS_NORMAL_STEPS. */
static double round_component(double x)
{
    return rint(TALUS_NORMAL_STEPS * x) / TALUS_NORMAL_STEPS + 0.0; /* no -0 */
}

/* Returns x rounded to single precision. volatile: gcc 12 for x86-64 drops such conversions at -O2 and above when it
 * vectorises a row of them. */
static double round_to_float(double x)
{
    volatile float rounded = (float)x;
    return rounded + 0.0; /* -0.0 becomes 0.0 */
}

/* Rounds positions to single precision and normals to 1 / TALUS_NORMAL_STEPS. Fails if a position overflows. */
static TalusStatus round_as_in_files(TalusMesh *mesh)
{
    for (int k = 0; k < mesh->vertex_count; k++) {
        TalusVec3 p = mesh->vertex[k], n = mesh->normal[k];
        mesh->vertex[k] = talus_vec3(round_to_float(p.x), round_to_float(p.y), round_to_float(p.z));
        mesh->normal[k] =
            talus_vec3(round_component(n.x), round_component(n.y), round_component(n.z));
        p = mesh->vertex[k];
        if (!isfinite(p.x + p.y + p.z))
            return talus_fail(TALUS_ERR_UNSUPPORTED, "a shape is too large to be drawn");
    }
    return TALUS_OK;
}

/* ---- duplicate vertices ---- */

/* True if two vertices have the same position and normal, bit by bit. */
static bool same_vertex(const TalusMesh *mesh, int a, int b)
{
    return memcmp(&mesh->vertex[a], &mesh->vertex[b], sizeof *mesh->vertex) == 0 &&
           memcmp(&mesh->normal[a], &mesh->normal[b], sizeof *mesh->normal) == 0;
}

/* Returns the first vertex with the position and normal of vertex k, which may be k. `table`: hash table of the
 * distinct vertices so far, to which k is added if it is new; -1: free slot. */
static int find_vertex(const TalusMesh *mesh, int k, int *table, size_t slots)
{
    uint64_t hash = talus_hash(TALUS_HASH_SEED, &mesh->vertex[k], sizeof *mesh->vertex);
    size_t at = talus_hash(hash, &mesh->normal[k], sizeof *mesh->normal) & (slots - 1);
    while (table[at] >= 0 && !same_vertex(mesh, table[at], k))
        at = (at + 1) & (slots - 1);
    if (table[at] < 0)
        table[at] = k;
    return table[at];
}

/* Removes duplicate vertices and renumbers triangles and edges. Sets number[] to the new index of each vertex. */
static void renumber_vertices(TalusMesh *mesh, int *number, int *table, size_t slots)
{
    int count = 0;
    for (int k = 0; k < mesh->vertex_count; k++) {
        int first = find_vertex(mesh, k, table, slots);
        number[k] = first == k ? count++ : number[first];
    }
    for (int k = 0; k < mesh->vertex_count; k++) { /* number[k] <= k */
        mesh->vertex[number[k]] = mesh->vertex[k];
        mesh->normal[number[k]] = mesh->normal[k];
    }
    mesh->vertex_count = count;
    for (int k = 0; k < 3 * mesh->triangle_count; k++)
        mesh->triangle[k] = number[mesh->triangle[k]];
    for (int k = 0; k < 2 * mesh->edge_count; k++)
        mesh->edge[k] = number[mesh->edge[k]];
}

/* Makes vertices with the same position and normal one. */
static TalusStatus merge_duplicate_vertices(TalusMesh *mesh)
{
    size_t slots = 16;
    int *number, *table = NULL;
    while (slots < 2 * (size_t)mesh->vertex_count)
        slots *= 2;
    TalusStatus status = TALUS_ALLOC(number, (size_t)mesh->vertex_count, "vertices");
    TALUS_THEN(status, TALUS_ALLOC(table, slots, "vertices"));
    if (status == TALUS_OK) {
        memset(table, -1, slots * sizeof *table);
        renumber_vertices(mesh, number, table, slots);
    }
    TALUS_RELEASE(number, table);
    return status;
}

/* ---- levels ---- */

/* Adds the level with `segments` segments of a circle, unless it is too fine or no finer than the last. *more: a finer
 * level may follow. */
static TalusStatus add_level(const TalusShapeDef *shape, int segments, TalusFigure *out, bool *more)
{
    TalusMesh *mesh = &out->level[out->levels];
    int before = out->levels > 0 ? mesh[-1].triangle_count : 0;
    TALUS_TRY(talus_mesh_of_shape(shape, 1.0, segments, mesh));
    *more = mesh->triangle_count > before &&
            (out->levels == 0 || mesh->triangle_count <= MAX_TRIANGLES);
    if (!*more) {
        talus_mesh_free(mesh);
        return TALUS_OK;
    }
    out->levels++;
    *more = mesh->triangle_count <= MAX_TRIANGLES;
    TALUS_TRY(round_as_in_files(mesh));
    return merge_duplicate_vertices(mesh);
}

TalusAabb talus_figure_bounds(const TalusMesh *mesh, int from, int to)
{
    TalusAabb b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int k = 3 * from; k < 3 * to; k++) {
        TalusVec3 p = mesh->vertex[mesh->triangle[k]];
        b = talus_aabb_join(b, (TalusAabb){p, p});
    }
    return from < to ? b : (TalusAabb){0};
}

void talus_figure_set_box(TalusFigure *figure)
{
    const TalusMesh *mesh = &figure->level[figure->levels > 0 ? figure->levels - 1 : 0];
    figure->box = talus_figure_bounds(mesh, 0, mesh->triangle_count);
}

TalusStatus talus_figure_of_shape(const TalusShapeDef *shape, TalusFigure *out)
{
    static const int segments[TALUS_FIGURE_LEVELS] = {16, 32, 64, 192};
    TalusStatus status = TALUS_OK;
    memset(out, 0, sizeof *out);
    out->drawn = drawn_as(shape->kind);
    bool more = out->drawn > TALUS_DRAWN_HALF_SPACE;
    for (int k = 0; k < TALUS_FIGURE_LEVELS && more && status == TALUS_OK; k++)
        status = add_level(shape, segments[k], out, &more);
    if (status != TALUS_OK)
        talus_figure_free(out);
    talus_figure_set_box(out);
    return status;
}

void talus_figure_free(TalusFigure *figure)
{
    for (int k = 0; k < TALUS_FIGURE_LEVELS; k++)
        talus_mesh_free(&figure->level[k]);
    memset(figure, 0, sizeof *figure);
}
