/* geometry/ellipsoid.c - a solid ellipsoid about the body's origin, given by its semi-axes. */
#include "geometry/kinds.h"

static void set_radius_and_size(TalusShape *shape)
{
    TalusVec3 h = shape->def.half;
    shape->bounding_radius = fmax(h.x, fmax(h.y, h.z));
    shape->size = fmin(h.x, fmin(h.y, h.z));
}

/* m = 4/3 pi a b c, Ixx = m/5 (b^2 + c^2) */
static TalusMassProperties mass_at_unit_density(const TalusShapeDef *def)
{
    TalusVec3 h = def->half;
    double m = 4.0 / 3.0 * TALUS_PI * h.x * h.y * h.z;
    double xx = h.x * h.x, yy = h.y * h.y, zz = h.z * h.z;
    TalusSym3 inertia = {yy + zz, xx + zz, xx + yy, 0.0, 0.0, 0.0};
    return (TalusMassProperties){m, talus_sym3_scale(0.2 * m, inertia)};
}

const TalusShapeOps talus_ellipsoid_ops = {
    .summary = "a solid ellipsoid, given by its semi-axes half",
    .uses = TALUS_USES_HALF,
    .set_radius_and_size = set_radius_and_size,
    .mass_at_unit_density = mass_at_unit_density,
    .make_mesh = talus_mesh_ellipsoid,
};
