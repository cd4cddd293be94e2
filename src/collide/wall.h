/* collide/wall.h - walls, the bodies that are not in the grid (grid.h); for host and device. They are planes, revolves,
 * meshes, fields, and bodies of other shapes that are not free and much larger than the free ones, unless there are
 * more than TALUS_LARGE_WALLS of these. Lengths of walls are in TalusGrid.unit. */
#ifndef TALUS_COLLIDE_WALL_H
#define TALUS_COLLIDE_WALL_H

#include "collide/grid_level.h"
#include "geometry/bounds.h"
#include "geometry/closest.h"
#include "geometry/facets.h"

typedef struct TalusWall {
    uint32_t body; /* slot */
    TalusShapeKind kind;
    TalusAabb bounds; /* of the shape; infinite for a plane */
    TalusVec3 normal; /* of a plane */
    double offset;    /* of a plane, which is solid where normal . x < offset */
    double margin;    /* the wall's part of an envelope: talus_body_margin, clipped by fit.h */
} TalusWall;

/* Describes body i as a wall. per_unit: 1 / TalusGrid.unit. */
TALUS_INLINE TalusWall talus_make_wall(const TalusBodyView *v, const TalusDetectOptions *o,
                                       TalusVec3 drift, uint32_t i, double per_unit)
{
    TalusWall wall;
    TalusAabb box = talus_shape_bounds(&v->shapes[v->shape[i]], v->radius[i], v->position[i],
                                       v->orientation[i]);
    wall.body = i;
    wall.kind = talus_body_kind(v, i);
    wall.bounds.lo = talus_scale(per_unit, box.lo);
    wall.bounds.hi = talus_scale(per_unit, box.hi);
    wall.margin = talus_body_margin(v, o, drift, i) * TALUS_GRID_SLACK * per_unit;
    wall.normal = talus_rotate(v->orientation[i], talus_vec3(0.0, 0.0, 1.0));
    wall.offset = talus_dot(wall.normal, v->position[i]) * per_unit;
    return wall;
}

/* True if the point x may be within `reach` of the wall or inside it; x and reach are in units, `unit` in metres.
 * `facets` may be false if no wall is a mesh or a field. */
TALUS_INLINE bool talus_is_near_wall(const TalusBodyView *v, const TalusWall *wall, TalusVec3 x,
                                     double reach, double unit, bool facets)
{
    if (wall->kind == TALUS_SHAPE_PLANE)
        return talus_dot(wall->normal, x) - wall->offset < reach;
    const TalusAabb *box = &wall->bounds;
    bool ground = facets && wall->kind == TALUS_SHAPE_FIELD; /* solid down to infinity */
    if (!ground && (x.x + reach < box->lo.x || x.x - reach > box->hi.x || x.y + reach < box->lo.y ||
                    x.y - reach > box->hi.y || x.z + reach < box->lo.z || x.z - reach > box->hi.z))
        return false;
    bool mesh = facets && wall->kind == TALUS_SHAPE_MESH;
    if (wall->kind != TALUS_SHAPE_REVOLVE && !mesh && !ground)
        return true;
    const TalusShape *shape = &v->shapes[v->shape[wall->body]];
    TalusVec3 from = talus_sub(talus_scale(unit, x), v->position[wall->body]);
    TalusVec3 p = talus_rotate_back(v->orientation[wall->body], from);
    if (!facets || wall->kind == TALUS_SHAPE_REVOLVE)
        return talus_revolve_is_near(shape->def.profile, shape->def.point_count, p, reach * unit);
    return talus_facets_are_near(shape, p, reach * unit);
}

#endif
