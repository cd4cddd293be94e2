/* io/formats/vtp_surface.c - meshes of bodies that are not spheres, and the .vtp file with all of them. */
#include "io/formats/vtp_surface.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "geometry/bounds.h"
#include "io/formats/vtp_xml.h"

#include <string.h>

enum { SHAPE_SEGMENTS = 32 };      /* segments per circle on moving bodies, which may be many */
static const double margin = 0.25; /* of the bounds that clip planes, over their widest extent */

/* ---- parts ---- */

/* Raises the number of meshes to `count`; new ones are empty. */
static TalusStatus reserve_meshes(TalusVtpSurface *surface, int count)
{
    int have = surface->mesh_count;
    if (count <= have)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(surface->mesh, (size_t)count, (size_t)have, "meshes of shapes"));
    memset(surface->mesh + have, 0, (size_t)(count - have) * sizeof *surface->mesh);
    surface->mesh_count = count;
    return TALUS_OK;
}

/* Appends a part: the body in `row`, drawn with this mesh. */
static TalusStatus add_part(TalusVtpSurface *surface, int mesh, int row, bool placed)
{
    size_t count = (size_t)surface->part_count;
    TALUS_TRY(TALUS_GROW(surface->part, count + 1, count, "parts of a surface"));
    surface->part[surface->part_count++] = (TalusSurfacePart){mesh, row, placed};
    return TALUS_OK;
}

static void free_meshes(TalusVtpSurface *surface)
{
    for (int i = 0; i < surface->mesh_count; i++)
        talus_mesh_free(&surface->mesh[i]);
    surface->mesh_count = 0;
}

void talus_vtp_surface_free(TalusVtpSurface *surface)
{
    free_meshes(surface);
    TALUS_RELEASE(surface->mesh, surface->part);
    talus_rows_free(&surface->rows);
    *surface = (TalusVtpSurface){0};
}

/* ---- moving shapes: one mesh per shape, made at first use ---- */

/* Adds a moving body; makes the mesh of its shape at first use. */
static TalusStatus add_shape(TalusVtpSurface *surface, const TalusFramesHead *head,
                             const TalusSnapshot *snapshot, int row)
{
    int shape = snapshot->shape[row];
    TalusMesh *mesh = &surface->mesh[shape];
    if (!mesh->vertex)
        TALUS_TRY(talus_mesh_of_shape(&head->shapes[shape], 1.0, SHAPE_SEGMENTS, mesh));
    return add_part(surface, shape, row, false);
}

TalusStatus talus_vtp_collect_shapes(TalusVtpSurface *surface, const TalusFramesHead *head,
                                     const TalusSnapshot *snapshot)
{
    surface->part_count = 0;
    TALUS_TRY(reserve_meshes(surface, head->shape_count));
    for (int i = 0; i < snapshot->body_count; i++)
        if (!snapshot->fixed[i] && talus_frame_body_kind(head, snapshot, i) != TALUS_SHAPE_SPHERE)
            TALUS_TRY(add_shape(surface, head, snapshot, i));
    return TALUS_OK;
}

/* ---- walls: one mesh each, because planes clip each other ---- */

/* True if the body is fixed and not a sphere. */
static bool is_wall(const TalusFramesHead *head, const TalusSnapshot *snapshot, int row)
{
    return snapshot->fixed[row] && talus_frame_body_kind(head, snapshot, row) != TALUS_SHAPE_SPHERE;
}

/* Returns (half, half, half), the half extents of a cube. */
static TalusVec3 equal_sides(double half)
{
    return talus_vec3(half, half, half);
}

/* Returns the bounds to which planes are clipped: those of all bodies, by their radii, enlarged by the margin (1 m if
 * the bodies have no extent). A plane, of radius 0, counts as the point at its position. */
static TalusAabb find_clip_bounds(const TalusSnapshot *snapshot)
{
    TalusAabb bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < snapshot->body_count; i++)
        bounds = talus_aabb_join(
            bounds, talus_aabb_about(snapshot->position[i], equal_sides(snapshot->radius[i])));
    TalusVec3 size = talus_sub(bounds.hi, bounds.lo);
    double widest = fmax(size.x, fmax(size.y, size.z));
    double more = widest > 0.0 ? margin * widest : 1.0;
    return (TalusAabb){talus_sub(bounds.lo, equal_sides(more)),
                       talus_add(bounds.hi, equal_sides(more))};
}

/* The planes of a snapshot, to be clipped by each other. */
typedef struct Planes {
    TalusMeshPlane *plane; /* [count], in the order of bodies */
    int count, next;       /* next: index in `plane` of the next body that is a plane */
    TalusAabb bounds;      /* to which planes are clipped */
} Planes;

/* Collects the planes and the bounds that clip them; free planes->plane with talus_release. */
static TalusStatus collect_planes(Planes *planes, const TalusFramesHead *head,
                                  const TalusSnapshot *snapshot)
{
    *planes = (Planes){.bounds = find_clip_bounds(snapshot)};
    TALUS_TRY(TALUS_ALLOC(planes->plane, (size_t)snapshot->body_count, "planes"));
    for (int i = 0; i < snapshot->body_count; i++)
        if (talus_frame_body_kind(head, snapshot, i) == TALUS_SHAPE_PLANE)
            planes->plane[planes->count++] =
                (TalusMeshPlane){snapshot->position[i],
                                 talus_rotate(snapshot->orientation[i], talus_vec3(0.0, 0.0, 1.0))};
    return TALUS_OK;
}

/* Adds a fixed body with a mesh of its own; a plane is clipped by the other planes and the bounds. */
static TalusStatus add_wall(TalusVtpSurface *surface, Planes *planes, const TalusFramesHead *head,
                            const TalusSnapshot *snapshot, int row)
{
    int index = surface->mesh_count;
    const TalusShapeDef *shape = &head->shapes[snapshot->shape[row]];
    bool plane = shape->kind == TALUS_SHAPE_PLANE;
    TALUS_TRY(reserve_meshes(surface, index + 1));
    TalusMesh *mesh = &surface->mesh[index];
    if (plane)
        TALUS_TRY(talus_mesh_of_plane(planes->plane, planes->count, planes->next++, planes->bounds,
                                      mesh));
    else
        TALUS_TRY(talus_mesh_of_shape(shape, 1.0, TALUS_MESH_SEGMENTS, mesh));
    return add_part(surface, index, row, plane);
}

TalusStatus talus_vtp_collect_walls(TalusVtpSurface *surface, const TalusFramesHead *head,
                                    const TalusSnapshot *snapshot)
{
    Planes planes;
    free_meshes(surface);
    surface->part_count = 0;
    TALUS_TRY(collect_planes(&planes, head, snapshot));
    TalusStatus status = TALUS_OK;
    for (int i = 0; i < snapshot->body_count && status == TALUS_OK; i++)
        if (is_wall(head, snapshot, i))
            status = add_wall(surface, &planes, head, snapshot, i);
    talus_release(planes.plane);
    return status;
}

uint64_t talus_walls_key(const TalusFramesHead *head, const TalusSnapshot *snapshot)
{
    uint64_t hash = TALUS_HASH_SEED;
    for (int i = 0; i < snapshot->body_count; i++) {
        if (!is_wall(head, snapshot, i))
            continue;
        hash = talus_hash(hash, &snapshot->id[i], sizeof snapshot->id[i]);
        hash = talus_hash(hash, &snapshot->shape[i], sizeof snapshot->shape[i]);
        hash = talus_hash(hash, &snapshot->position[i], sizeof snapshot->position[i]);
        hash = talus_hash(hash, &snapshot->orientation[i], sizeof snapshot->orientation[i]);
    }
    return hash ? hash : 1;
}

/* ---- the file ---- */

/* Sets the numbers of points and triangles of all parts, and surface->rows to the body of each triangle. */
static TalusStatus count_and_list(TalusVtpSurface *surface, TalusVtpCounts *counts)
{
    int64_t points = 0, triangles = 0;
    TalusRows *rows = &surface->rows;
    for (int i = 0; i < surface->part_count; i++) {
        points += surface->mesh[surface->part[i].mesh].vertex_count;
        triangles += surface->mesh[surface->part[i].mesh].triangle_count;
    }
    if (points > INT32_MAX || 3 * triangles > INT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "the surfaces of the bodies have %lld points and %lld triangles; a frame "
                          "in .vtp holds at most %d and %d",
                          (long long)points, (long long)triangles, INT32_MAX, INT32_MAX / 3);
    *counts = (TalusVtpCounts){.points = (int)points, .polys = (int)triangles};
    TALUS_TRY(TALUS_GROW(rows->row, (size_t)triangles, 0, "rows of triangles"));
    rows->count = 0;
    for (int i = 0; i < surface->part_count; i++)
        for (int k = surface->mesh[surface->part[i].mesh].triangle_count; k > 0; k--)
            rows->row[rows->count++] = surface->part[i].row;
    return TALUS_OK;
}

/* Writes the vertices as doubles or, with `normals`, their normals as floats, in the world frame. */
static void write_vectors(TalusFile *file, const TalusVtpSurface *surface,
                          const TalusSnapshot *snapshot, int count, bool normals)
{
    TalusBase64 stream = talus_vtp_array_begin(file, normals ? TALUS_FIELD_F32 : TALUS_FIELD_F64,
                                               normals ? "Normals" : "Points", 3, (size_t)count);
    for (int i = 0; i < surface->part_count; i++) {
        const TalusSurfacePart *part = &surface->part[i];
        const TalusMesh *mesh = &surface->mesh[part->mesh];
        for (int k = 0; k < mesh->vertex_count; k++) {
            TalusVec3 v = normals ? mesh->normal[k] : mesh->vertex[k];
            if (!part->placed)
                v = talus_rotate(snapshot->orientation[part->row], v);
            if (!part->placed && !normals)
                v = talus_add(snapshot->position[part->row], v);
            float single[3] = {(float)v.x, (float)v.y, (float)v.z};
            talus_base64_put(&stream, normals ? (const void *)single : &v,
                             normals ? sizeof single : sizeof v);
        }
    }
    talus_vtp_array_end(&stream);
}

/* Writes the section Polys with the triangles of all parts. */
static void write_triangles(TalusFile *file, const TalusVtpSurface *surface, int count)
{
    int first = 0; /* index in the file of the part's first vertex */
    talus_file_print(file, "<Polys>\n");
    TalusBase64 stream =
        talus_vtp_array_begin(file, TALUS_FIELD_I32, "connectivity", 1, 3 * (size_t)count);
    for (int i = 0; i < surface->part_count; i++) {
        const TalusMesh *mesh = &surface->mesh[surface->part[i].mesh];
        for (int k = 0; k < mesh->triangle_count; k++) {
            const int *t = mesh->triangle + 3 * (size_t)k;
            int32_t corner[3] = {first + t[0], first + t[1], first + t[2]};
            talus_base64_put(&stream, corner, sizeof corner);
        }
        first += mesh->vertex_count;
    }
    talus_vtp_array_end(&stream);
    talus_vtp_write_sequence(file, "offsets", 3, 3, count);
    talus_file_print(file, "</Polys>\n");
}

/* True if a field is written as data of the triangles: any field of the snapshot, with `lasting` only one that is
 * constant during a body's life, except position, orientation and radius, which the surface itself shows. */
static bool is_surface_field(const TalusField *field, const TalusSnapshot *snapshot, bool lasting)
{
    size_t at = field->offset;
    return talus_field_present(field, snapshot) && at != offsetof(TalusSnapshot, position) &&
           at != offsetof(TalusSnapshot, orientation) && at != offsetof(TalusSnapshot, radius) &&
           (field->lasting || !lasting);
}

TalusStatus talus_vtp_write_surface(TalusVtpSurface *surface, TalusFile *file,
                                    const TalusFramesHead *head, const TalusSnapshot *snapshot,
                                    uint64_t key, bool lasting)
{
    TalusVtpCounts counts;
    TalusStatus status = count_and_list(surface, &counts);
    if (status != TALUS_OK) {
        talus_file_abandon(file);
        return status;
    }
    talus_vtp_begin(file, head, snapshot->time, key, counts);
    talus_file_print(file, "<PointData Normals=\"Normals\">\n");
    write_vectors(file, surface, snapshot, counts.points, true);
    talus_file_print(file, "</PointData>\n<CellData>\n");
    for (int i = 0; i < talus_fields_of_bodies.count; i++)
        if (is_surface_field(&talus_fields_of_bodies.field[i], snapshot, lasting))
            talus_vtp_write_field(file, &talus_fields_of_bodies.field[i], NULL, head, snapshot,
                                  surface->rows.row, counts.polys);
    talus_file_print(file, "</CellData>\n<Points>\n");
    write_vectors(file, surface, snapshot, counts.points, false);
    talus_file_print(file, "</Points>\n");
    write_triangles(file, surface, counts.polys);
    talus_vtp_end(file);
    return talus_file_commit_unsynced(file);
}
