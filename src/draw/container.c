/* draw/container.c - fixed bodies as panes and lines, and the ground that takes shadows. */
#include "draw/picture.h"

#include "base/memory.h"
#include "base/status.h"
#include "geometry/mesh.h"

/* Of a circle: the silhouette of a vessel is to be round; other things are smaller. */
enum { WALL_SEGMENTS = 192, SEGMENTS = 64 };

/* Of fixed bodies with an inside: glass beyond this would be neither clear nor quick. */
enum { PANES_MOST = 1 << 16 };

#define GROUND_COSINE 0.8660254037844386 /* a plane within 30 degrees of level is ground */

/* ---- panes ---- */

/* Where a mesh stands: x -> scale R x + position. */
typedef struct Pose {
    double scale;
    TalusQuat q;
    TalusVec3 position; /* relative to the origin */
} Pose;

static TalusF3 place(const Pose *pose, TalusVec3 p)
{
    return talus_f3_of(talus_madd(pose->position, pose->scale, talus_rotate(pose->q, p)));
}

static TalusStatus add_panes(TalusPicture *picture, const TalusMesh *mesh, const Pose *pose,
                             bool one_sided)
{
    size_t have = (size_t)picture->pane_count, more = (size_t)mesh->triangle_count;
    TALUS_TRY(TALUS_RESERVE(picture->pane, picture->pane_capacity, have + more, have, "panes"));
    for (int k = 0; k < mesh->triangle_count; k++) {
        TalusPane *pane = &picture->pane[picture->pane_count++];
        pane->one_sided = one_sided;
        for (int c = 0; c < 3; c++) {
            int v = mesh->triangle[3 * k + c];
            pane->corner[c] = place(pose, mesh->vertex[v]);
            pane->normal[c] = talus_f3_of(talus_rotate(pose->q, mesh->normal[v]));
        }
    }
    return TALUS_OK;
}

static TalusStatus add_lines(TalusPicture *picture, const TalusMesh *mesh, const Pose *pose)
{
    size_t have = (size_t)picture->line_count, more = (size_t)mesh->edge_count;
    TALUS_TRY(TALUS_RESERVE(picture->line, picture->line_capacity, have + more, have, "lines"));
    for (int k = 0; k < mesh->edge_count; k++)
        picture->line[picture->line_count++] =
            (TalusLine){place(pose, mesh->vertex[mesh->edge[2 * k]]),
                        place(pose, mesh->vertex[mesh->edge[2 * k + 1]])};
    return TALUS_OK;
}

/* ---- planes ---- */

static bool is_plane(const TalusPicture *picture, int row)
{
    const TalusSnapshot *s = picture->snapshot;
    return s->fixed[row] && picture->head->shapes[s->shape[row]].kind == TALUS_SHAPE_PLANE;
}

static TalusMeshPlane plane_of(const TalusPicture *picture, int row)
{
    const TalusSnapshot *s = picture->snapshot;
    TalusMeshPlane r = {
        talus_sub(s->position[row], picture->origin),
        talus_normalize(talus_rotate(s->orientation[row], talus_vec3(0, 0, 1)), picture->up)};
    return r;
}

static TalusAabb pane_bounds(const TalusPicture *picture)
{
    TalusAabb b = picture->bounds;
    double margin = TALUS_BOUNDS_MARGIN * talus_norm(talus_sub(b.hi, b.lo));
    TalusVec3 more = talus_vec3(margin, margin, margin);
    TalusAabb r = {talus_sub(talus_sub(b.lo, picture->origin), more),
                   talus_sub(talus_add(b.hi, more), picture->origin)};
    return r;
}

static void set_ground(TalusPicture *picture, TalusVec3 point, TalusVec3 normal)
{
    if (picture->ground)
        return;
    /* a shadow behind a veil of bodies would look like one on them */
    picture->ground = picture->def->container == TALUS_CONTAINER_GHOST && !picture->def->chains;
    picture->ground_point = talus_f3_of(point);
    picture->ground_normal = talus_f3_of(normal);
}

/* As a ghost, ground is seen by the shadows on it, and by its outline where walls stand on it. */
static TalusStatus add_plane(TalusPicture *picture, const TalusMeshPlane *planes, int count,
                             int which)
{
    static const Pose stays = {1.0, {1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    bool level = talus_dot(planes[which].normal, picture->up) > GROUND_COSINE;
    bool ghost = picture->def->container == TALUS_CONTAINER_GHOST;
    TalusMesh mesh;
    TALUS_TRY(talus_mesh_of_plane(planes, count, which, pane_bounds(picture), &mesh));
    if (level)
        set_ground(picture, planes[which].point, planes[which].normal);
    TalusStatus status = TALUS_OK;
    if (!(level && ghost))
        status = add_panes(picture, &mesh, &stays, true);
    if (status == TALUS_OK && !(level && ghost && count == 1))
        status = add_lines(picture, &mesh, &stays);
    talus_mesh_free(&mesh);
    return status;
}

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
            planes[k++] = plane_of(picture, i);
    TalusStatus status = TALUS_OK;
    for (k = 0; k < count && status == TALUS_OK; k++)
        status = add_plane(picture, planes, count, k);
    talus_release(planes);
    return status;
}

/* ---- other fixed bodies ---- */

/* A sphere's at least of each part. */
static int compound_panes(const TalusShape *shape)
{
    return SEGMENTS * SEGMENTS * shape->def.part_count;
}

static int panes_of(TalusShapeKind kind, const TalusLook *look)
{
    switch (kind) {
    case TALUS_SHAPE_SPHERE:
    case TALUS_SHAPE_ELLIPSOID:
    case TALUS_SHAPE_CAPSULE: return SEGMENTS * SEGMENTS;
    case TALUS_SHAPE_CYLINDER:
    case TALUS_SHAPE_CONE: return 4 * SEGMENTS;
    case TALUS_SHAPE_BOX: return 12;
    case TALUS_SHAPE_HULL: return 2 * look->shape.def.vertex_count;
    case TALUS_SHAPE_COMPOUND: return compound_panes(&look->shape);
    default: return 0; /* walls stay panes, however many */
    }
}

bool talus_container_is_solid(const TalusPicture *picture)
{
    const TalusSnapshot *s = picture->snapshot;
    if (picture->def->container != TALUS_CONTAINER_GHOST)
        return picture->def->container == TALUS_CONTAINER_SHOWN;
    int64_t panes = 0;
    for (int i = 0; i < s->body_count; i++)
        if (s->fixed[i])
            panes += panes_of(talus_picture_kind(picture, i), &picture->look[s->shape[i]]);
    return panes > PANES_MOST;
}

/* Where a vessel is shown, what turns its outside to the viewer is left out. Which side that is, the winding of
 * a mesh does not tell: of a wall with a thickness the inner face looks inward. So normals are turned away
 * from a point above the middle, by half the width of all: of a bowl or a hopper both faces of the near
 * side are left out then, and both faces of the far side seen. */
static void turn_outward(TalusMesh *mesh, TalusVec3 up)
{
    TalusAabb b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int k = 0; k < mesh->vertex_count; k++) {
        TalusVec3 p = mesh->vertex[k];
        b.lo = talus_vec3(fmin(b.lo.x, p.x), fmin(b.lo.y, p.y), fmin(b.lo.z, p.z));
        b.hi = talus_vec3(fmax(b.hi.x, p.x), fmax(b.hi.y, p.y), fmax(b.hi.z, p.z));
    }
    TalusVec3 half = talus_scale(0.5, talus_sub(b.hi, b.lo));
    double above = fabs(up.x) * half.x + fabs(up.y) * half.y + fabs(up.z) * half.z;
    TalusVec3 from =
        talus_madd(talus_scale(0.5, talus_add(b.lo, b.hi)), above + talus_norm(half), up);
    for (int k = 0; k < mesh->triangle_count; k++) {
        const int *t = mesh->triangle + 3 * (size_t)k; /* each corner has a vertex of its own */
        TalusVec3 way = talus_sub(mesh->vertex[t[0]], from);
        if (talus_dot(mesh->normal[t[0]], way) < 0.0)
            for (int c = 0; c < 3; c++)
                mesh->normal[t[c]] = talus_neg(mesh->normal[t[c]]);
    }
}

static TalusStatus add_fixed(TalusPicture *picture, int row)
{
    const TalusSnapshot *s = picture->snapshot;
    const TalusShapeDef *def = &picture->head->shapes[s->shape[row]];
    bool wall = talus_is_wall(def->kind);
    if (talus_is_ground(picture, row) || (!wall && picture->fixed_solid))
        return TALUS_OK;
    Pose pose = {def->kind == TALUS_SHAPE_SPHERE ? s->radius[row] : 1.0, s->orientation[row],
                 talus_sub(s->position[row], picture->origin)};
    TalusMesh mesh;
    TALUS_TRY(talus_mesh_of_shape(def, 1.0, wall ? WALL_SEGMENTS : SEGMENTS, &mesh));
    if (def->kind == TALUS_SHAPE_MESH)
        turn_outward(&mesh, talus_rotate_back(pose.q, picture->up));
    TalusStatus status = add_panes(picture, &mesh, &pose, false);
    if (status == TALUS_OK)
        status = add_lines(picture, &mesh, &pose);
    talus_mesh_free(&mesh);
    return status;
}

/* Without a plane to stand on, things stand on the lowest point of what holds them. */
static void assume_ground(TalusPicture *picture)
{
    TalusVec3 half = talus_scale(0.5, talus_sub(picture->bounds.hi, picture->bounds.lo));
    TalusVec3 up = picture->up;
    double depth = fabs(up.x) * half.x + fabs(up.y) * half.y + fabs(up.z) * half.z;
    set_ground(picture, talus_scale(-depth, up), up);
}

TalusStatus talus_picture_container(TalusPicture *picture)
{
    const TalusSnapshot *s = picture->snapshot;
    if (picture->def->container == TALUS_CONTAINER_HIDDEN)
        return TALUS_OK;
    TALUS_TRY(add_planes(picture));
    bool bounded = false, ground = false;
    for (int i = 0; i < s->body_count; i++)
        if (s->fixed[i] && !is_plane(picture, i)) {
            TALUS_TRY(add_fixed(picture, i));
            bounded = true;
            ground |= talus_is_ground(picture, i);
        }
    if (bounded && !ground && !picture->ground)
        assume_ground(picture);
    return TALUS_OK;
}
