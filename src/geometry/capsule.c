/* geometry/capsule.c - all points within a radius of a segment along z: a cylinder with two half balls. */
#include "geometry/kinds.h"

static void set_radius_and_size(TalusShape *shape)
{
    shape->bounding_radius = shape->def.radius + shape->def.half_height;
    shape->size = shape->def.radius;
}

/* With half height h, the cylinder has c = 2 pi r^2 h, the two half balls b = 4/3 pi r^3. Izz = c r^2/2 + 2/5 b r^2;
 * Ixx = c (r^2/4 + h^2/3) + b (2/5 r^2 + h^2 + 3/4 h r), as a half ball's centre of mass is 3/8 r above its base. */
static TalusMassProperties mass_at_unit_density(const TalusShapeDef *def)
{
    double r = def->radius, h = def->half_height, rr = r * r;
    double c = 2.0 * TALUS_PI * rr * h, b = 4.0 / 3.0 * TALUS_PI * rr * r;
    double along = c * 0.5 * rr + b * 0.4 * rr;
    double across = c * (0.25 * rr + h * h / 3.0) + b * (0.4 * rr + h * h + 0.75 * h * r);
    return (TalusMassProperties){c + b, {across, across, along, 0.0, 0.0, 0.0}};
}

const TalusShapeOps talus_capsule_ops = {
    .summary = "all points within a radius of a line along z, given by its half length half_height",
    .uses = TALUS_USES_RADIUS | TALUS_USES_HALF_HEIGHT,
    .set_radius_and_size = set_radius_and_size,
    .mass_at_unit_density = mass_at_unit_density,
    .make_mesh = talus_mesh_capsule,
};
