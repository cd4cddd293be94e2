/* geometry/shape.c - one table of shape kinds, and what is common to all of them. */
#include "geometry/shape.h"

#include "base/memory.h"
#include "base/status.h"
#include "geometry/kinds.h"

#include <string.h>

static const TalusShapeOps *const kinds[TALUS_SHAPE_KINDS] = {
    [TALUS_SHAPE_SPHERE] = &talus_sphere_ops,   [TALUS_SHAPE_PLANE] = &talus_plane_ops,
    [TALUS_SHAPE_BOX] = &talus_box_ops,         [TALUS_SHAPE_CYLINDER] = &talus_cylinder_ops,
    [TALUS_SHAPE_REVOLVE] = &talus_revolve_ops,
};

static bool known(TalusShapeKind kind)
{
    return (int)kind >= 0 && kind < TALUS_SHAPE_KINDS && kinds[kind];
}

static TalusStatus check(const TalusShapeDef *def)
{
    if (!known(def->kind))
        return talus_fail(TALUS_ERR_ARGUMENT, "shape: kind %d is not one of 0 to %d",
                          (int)def->kind, TALUS_SHAPE_KINDS - 1);
    return kinds[def->kind]->check(def);
}

TalusStatus talus_check_length(const char *shape, const char *field, double value)
{
    if (value > 0.0 && value < INFINITY)
        return TALUS_OK;
    return talus_fail(TALUS_ERR_ARGUMENT, "%s: %s is %g; it must be a positive length", shape,
                      field, value);
}

const char *talus_shape_name(TalusShapeKind kind)
{
    return known(kind) ? kinds[kind]->name : "unknown";
}

const char *talus_shape_summary(TalusShapeKind kind)
{
    return known(kind) ? kinds[kind]->summary : "";
}

bool talus_shape_fixed_only(TalusShapeKind kind)
{
    return known(kind) && kinds[kind]->fixed_only;
}

TalusStatus talus_shape_mass(const TalusShapeDef *def, double radius, double density,
                             TalusMassProperties *out)
{
    TALUS_TRY(check(def));
    const TalusShapeOps *ops = kinds[def->kind];
    if (!ops->mass)
        return talus_fail(TALUS_ERR_ARGUMENT, "%s: has no volume, so it can only be a fixed body",
                          ops->name);
    if (!(density > 0.0 && density < INFINITY))
        return talus_fail(TALUS_ERR_ARGUMENT, "%s: density is %g; it must be positive", ops->name,
                          density);
    if (def->kind == TALUS_SHAPE_SPHERE)
        TALUS_TRY(talus_check_length("sphere", "radius", radius));
    TalusMassProperties unit = ops->mass(def, radius);
    out->mass = density * unit.mass;
    out->inertia = talus_sym3_scale(density, unit.inertia);
    return TALUS_OK;
}

TalusStatus talus_shape_init(TalusShape *shape, const TalusShapeDef *def)
{
    memset(shape, 0, sizeof *shape);
    TALUS_TRY(check(def));
    shape->def = *def;
    shape->def.profile = NULL;
    if (def->kind == TALUS_SHAPE_REVOLVE) {
        shape->block_size = 2 * (size_t)def->point_count * sizeof(double);
        TALUS_TRY(TALUS_ALLOC(shape->block, shape->block_size, "profile"));
        memcpy(shape->block, def->profile, shape->block_size);
        shape->def.profile = (const double *)shape->block;
    }
    kinds[def->kind]->measure(shape);
    return TALUS_OK;
}

void talus_shape_clear(TalusShape *shape)
{
    talus_release(shape->block);
    memset(shape, 0, sizeof *shape);
}
