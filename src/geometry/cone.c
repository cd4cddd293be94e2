/* geometry/cone.c - a solid circular cone about z, apex up, its centre of mass at the origin.
 *
 * The centre of mass is a quarter of the height above the base: with half height h, base at -h/2, apex at 3h/2. */
#include "geometry/kinds.h"

/* The size is the radius of the ball that touches base and side: r H / (r + sqrt(r^2 + H^2)), H the height. */
static void set_radius_and_size(TalusShape *shape)
{
    double r = shape->def.radius, h = shape->def.half_height, height = 2.0 * h;
    shape->bounding_radius = fmax(1.5 * h, sqrt(r * r + 0.25 * h * h));
    shape->size = r * height / (r + sqrt(r * r + height * height));
}

/* m = pi r^2 H / 3, Izz = 3/10 m r^2, Ixx = Iyy = m (3/20 r^2 + 3/80 H^2) about the centre of mass, H = 2h. */
static TalusMassProperties mass_at_unit_density(const TalusShapeDef *def)
{
    double rr = def->radius * def->radius, h = def->half_height;
    double m = 2.0 / 3.0 * TALUS_PI * rr * h;
    double across = m * 0.15 * (rr + h * h);
    return (TalusMassProperties){m, {across, across, 0.3 * m * rr, 0.0, 0.0, 0.0}};
}

const TalusShapeOps talus_cone_ops = {
    .summary = "a solid cone about its z axis, apex up, its centre of mass at the origin",
    .uses = TALUS_USES_RADIUS | TALUS_USES_HALF_HEIGHT,
    .set_radius_and_size = set_radius_and_size,
    .mass_at_unit_density = mass_at_unit_density,
    .make_mesh = talus_mesh_cone,
};
