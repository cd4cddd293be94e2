/* geometry/cylinder.c - a solid cylinder about the z axis of the body's frame. */
#include "base/status.h"
#include "geometry/kinds.h"

static TalusStatus check(const TalusShapeDef *def)
{
    TALUS_TRY(talus_check_length("cylinder", "radius", def->radius));
    return talus_check_length("cylinder", "half_height", def->half_height);
}

static void measure(TalusShape *shape)
{
    double r = shape->def.radius, h = shape->def.half_height;
    shape->bounding_radius = sqrt(r * r + h * h);
    shape->size = fmin(r, h);
}

/* m = 2 pi r^2 h with half height h; Izz = m r^2 / 2, Ixx = Iyy = m (r^2/4 + h^2/3) */
static TalusMassProperties mass(const TalusShapeDef *def, double radius)
{
    (void)radius;
    double rr = def->radius * def->radius, h = def->half_height;
    double m = 2.0 * TALUS_PI * rr * h;
    double across = m * (0.25 * rr + h * h / 3.0);
    TalusMassProperties r = {m, {across, across, 0.5 * m * rr, 0.0, 0.0, 0.0}};
    return r;
}

const TalusShapeOps talus_cylinder_ops = {
    .summary = "a solid cylinder about its z axis, given by radius and half height",
    .uses = TALUS_USES_RADIUS | TALUS_USES_HALF_HEIGHT,
    .check = check,
    .measure = measure,
    .mass = mass,
    .mesh = talus_mesh_cylinder,
};
