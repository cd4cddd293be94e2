/* geometry/cylinder.c - a solid cylinder about the z axis of the body's frame. */
#include "geometry/kinds.h"

static void set_radius_and_size(TalusShape *shape)
{
    double r = shape->def.radius, h = shape->def.half_height;
    shape->bounding_radius = sqrt(r * r + h * h);
    shape->size = fmin(r, h);
}

/* m = 2 pi r^2 h with half height h; Izz = m r^2 / 2, Ixx = Iyy = m (r^2/4 + h^2/3) */
static TalusMassProperties mass_at_unit_density(const TalusShapeDef *def)
{
    double rr = def->radius * def->radius, h = def->half_height;
    double m = 2.0 * TALUS_PI * rr * h;
    double across = m * (0.25 * rr + h * h / 3.0);
    return (TalusMassProperties){m, {across, across, 0.5 * m * rr, 0.0, 0.0, 0.0}};
}

const TalusShapeOps talus_cylinder_ops = {
    .summary = "a solid cylinder about its z axis, given by radius and half height",
    .uses = TALUS_USES_RADIUS | TALUS_USES_HALF_HEIGHT,
    .set_radius_and_size = set_radius_and_size,
    .mass_at_unit_density = mass_at_unit_density,
    .make_mesh = talus_mesh_cylinder,
};
