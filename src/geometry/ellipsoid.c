/* geometry/ellipsoid.c - a solid ellipsoid about the body's origin, given by its semi-axes. */
#include "base/status.h"
#include "geometry/kinds.h"

static TalusStatus check(const TalusShapeDef *def)
{
    TALUS_TRY(talus_check_length("ellipsoid", "half.x", def->half.x));
    TALUS_TRY(talus_check_length("ellipsoid", "half.y", def->half.y));
    return talus_check_length("ellipsoid", "half.z", def->half.z);
}

static void measure(TalusShape *shape)
{
    TalusVec3 h = shape->def.half;
    shape->bounding_radius = fmax(h.x, fmax(h.y, h.z));
    shape->size = fmin(h.x, fmin(h.y, h.z));
}

/* m = 4/3 pi a b c, Ixx = m/5 (b^2 + c^2) */
static TalusMassProperties mass(const TalusShapeDef *def, double radius)
{
    (void)radius;
    TalusVec3 h = def->half;
    double m = 4.0 / 3.0 * TALUS_PI * h.x * h.y * h.z;
    double xx = h.x * h.x, yy = h.y * h.y, zz = h.z * h.z;
    TalusMassProperties p = {
        m, talus_sym3_scale(0.2 * m, (TalusSym3){yy + zz, xx + zz, xx + yy, 0.0, 0.0, 0.0})};
    return p;
}

const TalusShapeOps talus_ellipsoid_ops = {
    .summary = "a solid ellipsoid, given by its semi-axes half",
    .uses = TALUS_USES_HALF,
    .check = check,
    .measure = measure,
    .mass = mass,
    .mesh = talus_mesh_ellipsoid,
};
