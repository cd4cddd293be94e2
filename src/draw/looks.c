/* draw/looks.c - the shapes of a head, made ready once for all bodies that have them. */
#include "base/memory.h"
#include "base/status.h"
#include "draw/picture.h"
#include "geometry/kinds.h"

#include <string.h>

/* A surface no steeper than this anywhere is stood on rather than looked into. */
#define GROUND_SLOPE 0.7071067811865476

static bool has_arrays(TalusShapeKind kind)
{
    return kind >= TALUS_SHAPE_CAPSULE; /* the kinds before are drawn from their defs alone */
}

/* ---- ground ---- */

static bool is_level(const TalusShapeDef *def, TalusQuat q, TalusVec3 up)
{
    TalusVec3 own = talus_rotate_back(q, up);
    for (int k = 0; k < def->triangle_count; k++) {
        const int32_t *t = def->triangle + 3 * (size_t)k;
        TalusVec3 a = def->vertex[t[0]];
        TalusVec3 n = talus_cross(talus_sub(def->vertex[t[1]], a), talus_sub(def->vertex[t[2]], a));
        if (!(talus_dot(n, own) >= GROUND_SLOPE * talus_norm(n)))
            return false;
    }
    return true;
}

bool talus_is_ground(const TalusPicture *picture, int row)
{
    const TalusSnapshot *s = picture->snapshot;
    return s->fixed[row] && picture->look[s->shape[row]].ground &&
           picture->def->container != TALUS_CONTAINER_HIDDEN;
}

/* Of a mesh it depends on how its bodies stand, which is one body as a rule: the first tells. */
static void find_grounds(TalusPicture *picture)
{
    const TalusSnapshot *s = picture->snapshot;
    for (int i = s->body_count - 1; i >= 0; i--) {
        TalusLook *look = &picture->look[s->shape[i]];
        TalusShapeKind kind = talus_picture_kind(picture, i);
        if (kind == TALUS_SHAPE_FIELD)
            look->ground = true;
        else if (kind == TALUS_SHAPE_MESH)
            look->ground = is_level(&look->shape.def, s->orientation[i], picture->up);
    }
}

/* ---- hulls ---- */

typedef struct Sizes {
    size_t hulls, facets, corners, loops;
} Sizes;

/* Calls `each` for a hull, and for the parts of a compound that are hulls. */
static void for_hulls(TalusPicture *picture, const TalusShape *shape, Sizes *at,
                      void (*each)(TalusPicture *, const TalusShape *, Sizes *))
{
    if (shape->def.kind == TALUS_SHAPE_HULL)
        each(picture, shape, at);
    for (int k = 0; shape->child && k < shape->def.part_count; k++)
        if (shape->child[k].shape.def.kind == TALUS_SHAPE_HULL)
            each(picture, &shape->child[k].shape, at);
}

static void count_hull(TalusPicture *picture, const TalusShape *shape, Sizes *at)
{
    (void)picture;
    at->hulls++;
    at->facets += (size_t)shape->hull.faces;
    at->corners += (size_t)shape->def.vertex_count;
    at->loops += (size_t)shape->hull.loop_start[shape->hull.faces];
}

static void put_hull(TalusPicture *picture, const TalusShape *shape, Sizes *at)
{
    const TalusHull *hull = &shape->hull;
    TalusVec3 middle = talus_scale(0.5, talus_add(shape->box.lo, shape->box.hi));
    TalusFacet *facet = picture->facet + at->facets;
    TalusF3 *corner = picture->corner + at->corners;
    int *loop = picture->loop + at->loops;
    for (int k = 0; k < hull->faces; k++) {
        TalusVec3 n = {hull->plane[k][0], hull->plane[k][1], hull->plane[k][2]};
        facet[k] = (TalusFacet){talus_f3_of(n), (float)(hull->plane[k][3] - talus_dot(n, middle)),
                                hull->loop_start[k], hull->loop_start[k + 1] - hull->loop_start[k]};
    }
    for (int k = 0; k < shape->def.vertex_count; k++)
        corner[k] = talus_f3_of(talus_sub(shape->def.vertex[k], middle));
    for (int k = 0; k < hull->loop_start[hull->faces]; k++)
        loop[k] = hull->loop[k];
    TalusVec3 half = talus_scale(0.5, talus_sub(shape->box.hi, shape->box.lo));
    double whole = 4.0 / 3.0 * TALUS_PI * half.x * half.y * half.z;
    picture->bodies.hull[at->hulls] = (TalusPolyhedron){facet,
                                                        corner,
                                                        loop,
                                                        hull->faces,
                                                        shape->def.vertex_count,
                                                        (float)cbrt(shape->unit.mass / whole)};
    count_hull(picture, shape, at);
}

static TalusStatus make_hulls(TalusPicture *picture)
{
    Sizes all = {0}, at = {0};
    for (int k = 0; k < picture->head->shape_count; k++) {
        picture->look[k].first_hull = (int)all.hulls;
        for_hulls(picture, &picture->look[k].shape, &all, count_hull);
    }
    TALUS_TRY(TALUS_ALLOC(picture->bodies.hull, all.hulls, "hulls"));
    TALUS_TRY(TALUS_ALLOC(picture->facet, all.facets, "hulls"));
    TALUS_TRY(TALUS_ALLOC(picture->corner, all.corners, "hulls"));
    TALUS_TRY(TALUS_ALLOC(picture->loop, all.loops, "hulls"));
    for (int k = 0; k < picture->head->shape_count; k++)
        for_hulls(picture, &picture->look[k].shape, &at, put_hull);
    return TALUS_OK;
}

/* ---- all of it ---- */

TalusStatus talus_picture_looks(TalusPicture *picture)
{
    const TalusFramesHead *head = picture->head;
    TALUS_TRY(TALUS_ALLOC(picture->look, (size_t)head->shape_count, "shapes"));
    for (int k = 0; k < head->shape_count; k++) {
        TalusLook *look = &picture->look[k];
        look->solids = talus_is_wall(head->shapes[k].kind) ? 0 : 1;
        if (!has_arrays(head->shapes[k].kind))
            continue;
        TALUS_TRY(talus_shape_init(&look->shape, &head->shapes[k]));
        look->ready = true;
        if (head->shapes[k].kind == TALUS_SHAPE_COMPOUND)
            look->solids = look->shape.def.part_count;
    }
    find_grounds(picture);
    return make_hulls(picture);
}

void talus_picture_clear_looks(TalusPicture *picture)
{
    for (int k = 0; picture->look && k < picture->head->shape_count; k++)
        if (picture->look[k].ready)
            talus_shape_clear(&picture->look[k].shape);
    talus_release(picture->look);
    talus_release(picture->facet);
    talus_release(picture->corner);
    talus_release(picture->loop);
}
