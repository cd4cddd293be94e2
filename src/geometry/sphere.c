/* geometry/sphere.c - a ball. The radius belongs to the body, not to the shape. */
#include "base/status.h"
#include "geometry/kinds.h"

static TalusStatus check_def(const TalusShapeDef *def)
{
    if (def->radius >= 0.0 && def->radius < INFINITY) /* 0: no default, each body has its own */
        return TALUS_OK;
    return talus_reject("sphere: radius is %g; it must be a positive length", def->radius);
}

/* m = 4/3 pi r^3, I = 2/5 m r^2 */
static TalusMassProperties mass_at_unit_density(const TalusShapeDef *def)
{
    double r = def->radius, m = 4.0 / 3.0 * TALUS_PI * r * r * r, i = 0.4 * m * r * r;
    return (TalusMassProperties){m, {i, i, i, 0.0, 0.0, 0.0}};
}

const TalusShapeOps talus_sphere_ops = {
    .summary = "a ball; its radius is given by the body",
    .uses = TALUS_USES_RADIUS,
    .check_def = check_def,
    .mass_at_unit_density = mass_at_unit_density,
    .make_mesh = talus_mesh_sphere,
};
