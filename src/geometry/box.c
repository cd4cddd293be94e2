/* geometry/box.c - a solid box about the body's origin, given by its half extents. */
#include "geometry/kinds.h"

static void set_radius_and_size(TalusShape *shape)
{
    TalusVec3 h = shape->def.half;
    shape->bounding_radius = talus_norm(h);
    shape->size = fmin(h.x, fmin(h.y, h.z));
}

/* m = 8 hx hy hz, Ixx = m/3 (hy^2 + hz^2) */
static TalusMassProperties mass_at_unit_density(const TalusShapeDef *def)
{
    TalusVec3 h = def->half;
    double m = 8.0 * h.x * h.y * h.z;
    double xx = h.x * h.x, yy = h.y * h.y, zz = h.z * h.z;
    TalusSym3 inertia = {yy + zz, xx + zz, xx + yy, 0.0, 0.0, 0.0};
    return (TalusMassProperties){m, talus_sym3_scale(m / 3.0, inertia)};
}

const TalusShapeOps talus_box_ops = {
    .summary = "a solid box, given by its half extents",
    .uses = TALUS_USES_HALF,
    .set_radius_and_size = set_radius_and_size,
    .mass_at_unit_density = mass_at_unit_density,
    .make_mesh = talus_mesh_box,
};
