/* geometry/mesh_kinds.c - triangles of capsules, cones, hulls, compounds, meshes and fields. */
#include "geometry/mesh_build.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* ---- capsule and cone ---- */

TalusStatus talus_mesh_capsule(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out)
{
    const TalusShapeDef *def = &shape->def;
    TalusCircle circle = how->circle;
    int n = circle.n, rings = n / 2, equator = n / 4, last = rings + 1;
    size_t m = (size_t)n;
    TALUS_TRY(talus_mesh_allocate(
        out, (TalusMeshSizes){m * (size_t)(rings + 2), 2 * m * (size_t)last, 0}));
    /* from the south pole; the equator occurs twice, at both ends of the straight part */
    for (int row = 0; row <= last; row++) {
        int k = row <= equator ? row : row - 1;
        double sine = circle.at[k].y, height = -circle.at[k].x;
        double shift = row <= equator ? -def->half_height : def->half_height;
        bool pole = row == 0 || row == last;
        TalusRingProfile rim = {pole ? 0.0 : def->radius * sine, def->radius * height + shift,
                                pole ? 0.0 : sine, height};
        int ring = talus_mesh_add_ring(out, circle, rim);
        if (row > 0)
            talus_mesh_add_band(out, n, ring - n, ring, row == 1, row == last, false);
    }
    return TALUS_OK;
}

/* Makes the mesh of a cone. Its base is half of the half height below the origin, the centre of mass. */
TalusStatus talus_mesh_cone(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out)
{
    TalusCircle circle = how->circle;
    double r = shape->def.radius, h = shape->def.half_height, slant = sqrt(r * r + 4.0 * h * h);
    int n = circle.n;
    size_t m = (size_t)n;
    TALUS_TRY(talus_mesh_allocate(out, (TalusMeshSizes){3 * m, 2 * m - 2, m}));
    TalusRingProfile base = {r, -0.5 * h, 2.0 * h / slant, r / slant};
    int low = talus_mesh_add_ring(out, circle, base);
    base.r = 0.0;
    base.z = 1.5 * h;
    talus_mesh_add_band(out, n, low, talus_mesh_add_ring(out, circle, base), false, true, false);
    talus_mesh_add_ring_edges(out, n, low);
    talus_mesh_add_bottom_disc(out, circle, r, -0.5 * h);
    return TALUS_OK;
}

/* ---- hull ---- */

TalusStatus talus_mesh_hull(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out)
{
    const TalusHull *hull = &shape->hull;
    const TalusVec3 *vertex = shape->def.vertex;
    size_t corners = (size_t)hull->loop_start[hull->faces];
    (void)how;
    TALUS_TRY(talus_mesh_allocate(out, (TalusMeshSizes){corners, corners, (size_t)hull->edges}));
    for (int f = 0; f < hull->faces; f++) {
        const double *p = hull->plane[f];
        int first = out->vertex_count;
        for (int k = hull->loop_start[f]; k < hull->loop_start[f + 1]; k++)
            talus_mesh_add_vertex(out, vertex[hull->loop[k]], talus_vec3(p[0], p[1], p[2]));
        int count = out->vertex_count - first;
        talus_mesh_add_polygon(out, first, count);
        for (int k = 0; k < count; k++) { /* each edge once: from its lower vertex to the higher */
            int a = hull->loop[hull->loop_start[f] + k];
            int b = hull->loop[hull->loop_start[f] + (k + 1) % count];
            if (a < b && out->edge_count < hull->edges)
                talus_mesh_add_edge(out, first + k, first + (k + 1) % count);
        }
    }
    return TALUS_OK;
}

/* ---- compound ---- */

/* Appends the mesh of a part of a compound, placed at the part's pose. */
static TalusStatus append_part(TalusMesh *mesh, const TalusMesh *part, const TalusChild *child)
{
    int first = mesh->vertex_count;
    TALUS_TRY(talus_mesh_reserve(mesh, part));
    for (int k = 0; k < part->vertex_count; k++)
        talus_mesh_add_vertex(
            mesh, talus_add(child->position, talus_rotate(child->orientation, part->vertex[k])),
            talus_rotate(child->orientation, part->normal[k]));
    for (int k = 0; k < part->triangle_count; k++)
        talus_mesh_add_triangle(mesh, first + part->triangle[3 * k],
                                first + part->triangle[3 * k + 1],
                                first + part->triangle[3 * k + 2]);
    for (int k = 0; k < part->edge_count; k++)
        talus_mesh_add_edge(mesh, first + part->edge[2 * k], first + part->edge[2 * k + 1]);
    return TALUS_OK;
}

/* Joins the meshes of the parts of a compound. Surfaces inside other parts are not removed. */
TalusStatus talus_mesh_compound(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out)
{
    int parts = shape->def.part_count;
    TALUS_TRY(talus_mesh_allocate(out, (TalusMeshSizes){0, 0, 0}));
    TALUS_TRY(TALUS_ALLOC(out->piece, (size_t)parts, "mesh pieces"));
    TalusStatus status = TALUS_OK;
    for (int k = 0; k < parts && status == TALUS_OK; k++) {
        const TalusChild *child = &shape->child[k];
        TalusMeshing own = {how->circle, child->shape.def.radius, 1.0};
        TalusMesh part;
        status = talus_mesh_of_built_shape(&child->shape, &own, &part);
        out->piece[k] = part.triangle_count;
        TALUS_THEN(status, append_part(out, &part, child));
        talus_mesh_free(&part);
    }
    out->piece_count = parts;
    return status;
}

/* ---- mesh ---- */

/* The triangles at each vertex, with the normals of all triangles. */
typedef struct VertexTriangles {
    int *start;      /* [vertices + 1]: index in `triangle` of the first triangle at each vertex */
    int *triangle;   /* triangles by vertex */
    TalusVec3 *face; /* [triangles]: unit normals; zero without area */
} VertexTriangles;

/* Releases the arrays. */
static void free_vertex_triangles(VertexTriangles *star)
{
    TALUS_RELEASE(star->start, star->triangle, star->face);
}

/* Unit normal of a triangle; zero if it has no area. */
static TalusVec3 triangle_normal(const TalusShapeDef *def, int triangle)
{
    const int32_t *t = def->triangle + 3 * (size_t)triangle;
    TalusVec3 a = def->vertex[t[0]];
    TalusVec3 n = talus_cross(talus_sub(def->vertex[t[1]], a), talus_sub(def->vertex[t[2]], a));
    return talus_normalize(n, talus_vec3(0, 0, 0));
}

/* Fills *star for a mesh; release it with free_vertex_triangles. On failure it is released already. */
static TalusStatus list_vertex_triangles(const TalusShapeDef *def, VertexTriangles *star)
{
    size_t corners = 3 * (size_t)def->triangle_count, vertices = (size_t)def->vertex_count;
    memset(star, 0, sizeof *star);
    TalusStatus status = TALUS_ALLOC(star->start, vertices + 1, "mesh");
    TALUS_THEN(status, TALUS_ALLOC(star->triangle, corners, "mesh"));
    TALUS_THEN(status, TALUS_ALLOC(star->face, (size_t)def->triangle_count, "mesh"));
    if (status != TALUS_OK) {
        free_vertex_triangles(star);
        return status;
    }
    memset(star->start, 0, (vertices + 1) * sizeof *star->start);
    for (size_t k = 0; k < corners; k++)
        star->start[def->triangle[k] + 1]++;
    for (size_t v = 0; v < vertices; v++)
        star->start[v + 1] += star->start[v];
    for (size_t k = 0; k < corners; k++) /* fills the range of each vertex from its end ... */
        star->triangle[--star->start[def->triangle[k] + 1]] = (int)(k / 3);
    for (size_t v = 0; v < vertices; v++) /* ... which moves every end to its start */
        star->start[v] = star->start[v + 1];
    star->start[vertices] = (int)corners;
    for (int k = 0; k < def->triangle_count; k++)
        star->face[k] = triangle_normal(def, k);
    return TALUS_OK;
}

/* Unit normal with which a triangle is shaded at one of its vertices: the mean over the triangles at the vertex whose
 * normals differ from its own by at most the angle of TALUS_SMOOTH_COSINE. */
static TalusVec3 corner_normal(const VertexTriangles *star, int vertex, int triangle)
{
    TalusVec3 own = star->face[triangle], sum = talus_vec3(0, 0, 0);
    for (int k = star->start[vertex]; k < star->start[vertex + 1]; k++) {
        TalusVec3 other = star->face[star->triangle[k]];
        if (talus_dot(own, other) >= TALUS_SMOOTH_COSINE)
            sum = talus_add(sum, other);
    }
    return talus_normalize(sum, talus_vec3(0, 0, 1));
}

/* True if the side from a to b of a triangle is to be drawn as a line: if the side is free, shared by more than two
 * triangles, or sharp. A sharp side is drawn for the first of its two triangles only. */
static bool is_drawn_edge(const TalusShapeDef *def, const VertexTriangles *star, int triangle,
                          int a, int b)
{
    int beyond = -1, met = 0;
    for (int k = star->start[a]; k < star->start[a + 1]; k++) {
        const int32_t *t = def->triangle + 3 * (size_t)star->triangle[k];
        bool has = t[0] == b || t[1] == b || t[2] == b;
        if (has && star->triangle[k] != triangle) {
            beyond = star->triangle[k];
            met++;
        }
    }
    if (met != 1)
        return true;
    return triangle < beyond &&
           talus_dot(star->face[triangle], star->face[beyond]) < TALUS_SMOOTH_COSINE;
}

/* Makes the mesh of a triangle mesh. Every corner has a vertex of its own; triangles without area are omitted. */
TalusStatus talus_mesh_trimesh(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out)
{
    const TalusShapeDef *def = &shape->def;
    VertexTriangles star;
    (void)how;
    size_t corners = 3 * (size_t)def->triangle_count;
    TALUS_TRY(list_vertex_triangles(def, &star));
    TalusStatus status =
        talus_mesh_allocate(out, (TalusMeshSizes){corners, (size_t)def->triangle_count, corners});
    for (int t = 0; t < def->triangle_count && status == TALUS_OK; t++) {
        const int32_t *v = def->triangle + 3 * (size_t)t;
        if (talus_norm(star.face[t]) == 0.0)
            continue;
        int first = out->vertex_count;
        for (int c = 0; c < 3; c++)
            talus_mesh_add_vertex(out, def->vertex[v[c]], corner_normal(&star, v[c], t));
        talus_mesh_add_triangle(out, first, first + 1, first + 2);
        for (int c = 0; c < 3; c++)
            if (is_drawn_edge(def, &star, t, v[c], v[(c + 1) % 3]))
                talus_mesh_add_edge(out, first + c, first + (c + 1) % 3);
    }
    free_vertex_triangles(&star);
    return status;
}

/* ---- field ---- */

/* Height of a field at a grid point. */
static double height_at(const TalusShapeDef *def, int column, int row)
{
    return def->height[(size_t)row * (size_t)def->columns + (size_t)column];
}

/* Slope of a field along x (right 1, up 0) or y (0, 1) at a grid point, from both neighbours if there are two. */
static double slope_at(const TalusShapeDef *def, int column, int row, int right, int up)
{
    int c0 = column - right, r0 = row - up, c1 = column + right, r1 = row + up, steps = 2;
    if (c0 < 0 || r0 < 0) {
        c0 = column;
        r0 = row;
        steps--;
    }
    if (c1 >= def->columns || r1 >= def->rows) {
        c1 = column;
        r1 = row;
        steps--;
    }
    return (height_at(def, c1, r1) - height_at(def, c0, r0)) / (steps * def->spacing);
}

/* Makes the mesh of the surface of a field, with its rim as edges; the ground below is omitted. */
TalusStatus talus_mesh_field(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out)
{
    const TalusShapeDef *def = &shape->def;
    int nx = def->columns, ny = def->rows;
    size_t points = (size_t)nx * (size_t)ny, rim = 2 * ((size_t)nx + (size_t)ny);
    (void)how;
    TALUS_TRY(talus_mesh_allocate(out, (TalusMeshSizes){points, 2 * points, rim}));
    for (int row = 0; row < ny; row++)
        for (int column = 0; column < nx; column++) {
            TalusVec3 at = {(column - 0.5 * (nx - 1)) * def->spacing,
                            (row - 0.5 * (ny - 1)) * def->spacing, height_at(def, column, row)};
            TalusVec3 n = {-slope_at(def, column, row, 1, 0), -slope_at(def, column, row, 0, 1),
                           1.0};
            talus_mesh_add_vertex(out, at, talus_normalize(n, talus_vec3(0, 0, 1)));
        }
    for (int row = 0; row + 1 < ny; row++)
        for (int column = 0; column + 1 < nx; column++) {
            int a = row * nx + column, b = a + 1, c = b + nx, d = a + nx;
            talus_mesh_add_triangle(out, a, b, c);
            talus_mesh_add_triangle(out, a, c, d);
        }
    for (int column = 0; column + 1 < nx; column++) {
        talus_mesh_add_edge(out, column, column + 1);
        talus_mesh_add_edge(out, (ny - 1) * nx + column, (ny - 1) * nx + column + 1);
    }
    for (int row = 0; row + 1 < ny; row++) {
        talus_mesh_add_edge(out, row * nx, (row + 1) * nx);
        talus_mesh_add_edge(out, (row + 1) * nx - 1, (row + 2) * nx - 1);
    }
    return TALUS_OK;
}
