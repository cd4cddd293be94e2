/* draw/container.c - fixed bodies as walls (triangles) and lines, and the plane that receives shadows. */
#include "draw/picture.h"

#include "base/memory.h"
#include "base/status.h"
#include "geometry/mesh.h"

#include <limits.h>

/* MAX_GHOST_TRIANGLES: limit for all fixed bodies with an inside together; with more triangles they are drawn opaque,
 * because ghosts would be neither clear nor fast. MAX_BODY_TRIANGLES: limit for one of these bodies, if a level of its
 * figure has so few. */
enum { MAX_GHOST_TRIANGLES = 1 << 16, MAX_BODY_TRIANGLES = 8192 };

enum { SPHERE_SEGMENTS = 64 }; /* segments of a circle on a fixed sphere */

#define LEVEL_COSINE 0.8660254037844386 /* of 30 degrees, the slope up to which a plane is level */

/* ---- triangles and lines ---- */

/* Transforms a point of a mesh to the coordinates of the picture. */
static TalusF3 place_point(const TalusPlacement *p, TalusVec3 x)
{
    return talus_f3_from_vec3(talus_madd(p->position, p->scale, talus_rotate(p->q, x)));
}

/* Adds the edges of a mesh to the lines of the picture. */
static TalusStatus add_lines(TalusPicture *picture, const TalusMesh *mesh, const TalusPlacement *p)
{
    size_t have = (size_t)picture->line_count, more = (size_t)mesh->edge_count;
    TALUS_TRY(TALUS_GROW(picture->line, have + more, have, "lines"));
    for (int k = 0; k < mesh->edge_count; k++)
        picture->line[picture->line_count++] =
            (TalusLine){place_point(p, mesh->vertex[mesh->edge[2 * k]]),
                        place_point(p, mesh->vertex[mesh->edge[2 * k + 1]])};
    return TALUS_OK;
}

/* ---- planes ---- */

/* True if the body is fixed and drawn as a half space. */
static bool is_plane(const TalusPicture *picture, int row)
{
    const TalusSnapshot *s = picture->snapshot;
    return s->fixed[row] && talus_is_drawn_as(picture, row, TALUS_DRAWN_HALF_SPACE);
}

/* Plane of a fixed body that is a half space, in the coordinates of the picture. */
static TalusMeshPlane make_plane(const TalusPicture *picture, int row)
{
    const TalusSnapshot *s = picture->snapshot;
    TalusMeshPlane r = {
        talus_sub(s->position[row], picture->origin),
        talus_normalize(talus_rotate(s->orientation[row], talus_vec3(0, 0, 1)), picture->up)};
    return r;
}

/* Returns the box that planes are clipped to: the bodies' bounds with a margin, in the coordinates of the picture. */
static TalusAabb find_plane_bounds(const TalusPicture *picture)
{
    TalusAabb b = picture->bounds;
    double margin = TALUS_BOUNDS_MARGIN * talus_norm(talus_sub(b.hi, b.lo));
    TalusVec3 more = talus_vec3(margin, margin, margin);
    TalusAabb r = {talus_sub(talus_sub(b.lo, picture->origin), more),
                   talus_sub(talus_add(b.hi, more), picture->origin)};
    return r;
}

/* Makes this the plane that receives shadows, if there is none yet, the container is a ghost and no chains are
 * drawn. */
static void set_shadow_plane(TalusPicture *picture, TalusVec3 point, TalusVec3 normal)
{
    if (picture->ground)
        return;
    /* not with chains: a shadow behind the veil of bodies would look as if it were on them */
    picture->ground = picture->def->container == TALUS_CONTAINER_GHOST && !picture->def->chains;
    picture->ground_point = talus_f3_from_vec3(point);
    picture->ground_normal = talus_f3_from_vec3(normal);
}

/* Adds plane `which` to walls and lines. A level plane of a ghost container is not added to the walls, because shadows
 * show it; its outline is added to the lines only if there are other planes. The first level plane receives shadows. */
static TalusStatus add_plane(TalusPicture *picture, const TalusMeshPlane *planes, int count,
                             int which)
{
    const TalusPlacement stays = {
        {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, 1.0, picture->theme->fixed};
    bool level = talus_dot(planes[which].normal, picture->up) > LEVEL_COSINE;
    bool ghost = picture->def->container == TALUS_CONTAINER_GHOST;
    TalusMesh mesh;
    TALUS_TRY(talus_mesh_of_plane(planes, count, which, find_plane_bounds(picture), &mesh));
    if (level)
        set_shadow_plane(picture, planes[which].point, planes[which].normal);
    TalusStatus status = TALUS_OK;
    if (!(level && ghost))
        status =
            talus_solids_add_mesh(&picture->walls, &mesh, &stays, TALUS_OPAQUE_FROM_FRONT, NULL);
    if (status == TALUS_OK && !(level && ghost && count == 1))
        status = add_lines(picture, &mesh, &stays);
    talus_mesh_free(&mesh);
    return status;
}

/* Adds all fixed planes, each cut by the others, to walls and lines. */
static TalusStatus add_planes(TalusPicture *picture)
{
    const TalusSnapshot *s = picture->snapshot;
    int count = 0, k = 0;
    for (int i = 0; i < s->body_count; i++)
        count += is_plane(picture, i);
    TalusMeshPlane *planes;
    TALUS_TRY(TALUS_ALLOC(planes, (size_t)count, "planes"));
    for (int i = 0; i < s->body_count; i++)
        if (is_plane(picture, i))
            planes[k++] = make_plane(picture, i);
    TalusStatus status = TALUS_OK;
    for (k = 0; k < count && status == TALUS_OK; k++)
        status = add_plane(picture, planes, count, k);
    talus_release(planes);
    return status;
}

/* ---- other fixed bodies ---- */

/* Returns the number of triangles that a fixed body would have as a ghost; 0 for surfaces without an inside. */
static int count_ghost_triangles(const TalusFigure *figure)
{
    if (figure->drawn == TALUS_DRAWN_SPHERE)
        return SPHERE_SEGMENTS * SPHERE_SEGMENTS;
    if (figure->drawn == TALUS_DRAWN_SOLID)
        return talus_figure_level(figure, MAX_BODY_TRIANGLES)->triangle_count;
    return 0; /* these are walls in any case */
}

bool talus_container_is_solid(const TalusPicture *picture)
{
    const TalusSnapshot *s = picture->snapshot;
    if (picture->def->container != TALUS_CONTAINER_GHOST)
        return picture->def->container == TALUS_CONTAINER_SHOWN;
    int64_t triangles = 0;
    for (int i = 0; i < s->body_count; i++)
        if (s->fixed[i])
            triangles += count_ghost_triangles(talus_picture_figure(picture, i));
    return triangles > MAX_GHOST_TRIANGLES;
}

/* Returns the point, in the body's frame, that the normals of a sheet are made to point away from: half a diagonal
 * above the top of its box. A container that is shown is transparent where its normals point to the viewer. The winding
 * of a sheet does not tell its outside: the inner face of a thick wall points inward. With all normals away from a
 * point above the sheet, both faces of a bowl or hopper are transparent on the near side and opaque on the far side. */
static TalusVec3 find_point_above(const TalusFigure *figure, TalusVec3 up)
{
    TalusAabb b = figure->box;
    TalusVec3 half = talus_scale(0.5, talus_sub(b.hi, b.lo));
    double above = fabs(up.x) * half.x + fabs(up.y) * half.y + fabs(up.z) * half.z;
    return talus_madd(talus_scale(0.5, talus_add(b.lo, b.hi)), above + talus_norm(half), up);
}

/* Adds a mesh to the walls, opaque where its normals point away from the eye, and its edges to the lines. */
static TalusStatus add_wall_mesh(TalusPicture *picture, const TalusMesh *mesh,
                                 const TalusPlacement *p, const TalusVec3 *from)
{
    TALUS_TRY(talus_solids_add_mesh(&picture->walls, mesh, p, TALUS_OPAQUE_FROM_BACK, from));
    return add_lines(picture, mesh, p);
}

/* Adds a fixed sphere to walls and lines. */
static TalusStatus add_fixed_sphere(TalusPicture *picture, const TalusPlacement *p)
{
    static const TalusShapeDef sphere = {.kind = TALUS_SHAPE_SPHERE};
    TalusMesh mesh;
    TALUS_TRY(talus_mesh_of_shape(&sphere, 1.0, SPHERE_SEGMENTS, &mesh));
    TalusStatus status = add_wall_mesh(picture, &mesh, p, NULL);
    talus_mesh_free(&mesh);
    return status;
}

/* Adds a fixed body that is no plane to walls and lines, unless it is in `bodies` as ground or as an opaque solid. */
static TalusStatus add_fixed_body(TalusPicture *picture, int row)
{
    const TalusSnapshot *s = picture->snapshot;
    const TalusFigure *figure = talus_picture_figure(picture, row);
    bool sphere = figure->drawn == TALUS_DRAWN_SPHERE;
    if (talus_is_ground(picture, row) || (!talus_is_surface(picture, row) && picture->fixed_solid))
        return TALUS_OK;
    TalusPlacement p = talus_picture_placement(picture, row);
    if (sphere) {
        p.scale = s->radius[row];
        return add_fixed_sphere(picture, &p);
    }
    TalusVec3 from = find_point_above(figure, talus_rotate_back(p.q, picture->up));
    int most = figure->drawn == TALUS_DRAWN_SOLID ? MAX_BODY_TRIANGLES : INT_MAX;
    return add_wall_mesh(picture, talus_figure_level(figure, most), &p,
                         figure->drawn == TALUS_DRAWN_SHEET ? &from : NULL);
}

/* Sets the plane that receives shadows, if there is no level plane: horizontal, at the lowest corner of the bounds. */
static void set_shadow_plane_below(TalusPicture *picture)
{
    TalusVec3 half = talus_scale(0.5, talus_sub(picture->bounds.hi, picture->bounds.lo));
    TalusVec3 up = picture->up;
    double depth = fabs(up.x) * half.x + fabs(up.y) * half.y + fabs(up.z) * half.z;
    set_shadow_plane(picture, talus_scale(-depth, up), up);
}

TalusStatus talus_picture_add_container(TalusPicture *picture)
{
    const TalusSnapshot *s = picture->snapshot;
    if (picture->def->container == TALUS_CONTAINER_HIDDEN)
        return TALUS_OK;
    TALUS_TRY(add_planes(picture));
    bool bounded = false, ground = false;
    for (int i = 0; i < s->body_count; i++)
        if (s->fixed[i] && !is_plane(picture, i)) {
            TALUS_TRY(add_fixed_body(picture, i));
            bounded = true;
            ground |= talus_is_ground(picture, i);
        }
    if (bounded && !ground && !picture->ground)
        set_shadow_plane_below(picture);
    return TALUS_OK;
}
