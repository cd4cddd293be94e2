/* geometry/box.c - a solid box about the body's origin, given by its half extents. */
#include "base/status.h"
#include "geometry/closest.h"
#include "geometry/kinds.h"

static TalusStatus check(const TalusShapeDef *def)
{
    TALUS_TRY(talus_check_length("box", "half.x", def->half.x));
    TALUS_TRY(talus_check_length("box", "half.y", def->half.y));
    return talus_check_length("box", "half.z", def->half.z);
}

static void measure(TalusShape *shape)
{
    TalusVec3 h = shape->def.half;
    shape->bounding_radius = talus_norm(h);
    shape->size = fmin(h.x, fmin(h.y, h.z));
}

/* m = 8 hx hy hz, Ixx = m/3 (hy^2 + hz^2) */
static TalusMassProperties mass(const TalusShapeDef *def, double radius)
{
    (void)radius;
    TalusVec3 h = def->half;
    double m = 8.0 * h.x * h.y * h.z;
    double xx = h.x * h.x, yy = h.y * h.y, zz = h.z * h.z;
    TalusMassProperties r = {
        m, talus_sym3_scale(m / 3.0, (TalusSym3){yy + zz, xx + zz, xx + yy, 0.0, 0.0, 0.0})};
    return r;
}

static TalusAabb bounds(const TalusShape *shape, double radius, TalusVec3 position,
                        TalusQuat orientation)
{
    (void)radius;
    TalusVec3 h = shape->def.half;
    TalusVec3 x = talus_rotate(orientation, talus_vec3(h.x, 0.0, 0.0));
    TalusVec3 y = talus_rotate(orientation, talus_vec3(0.0, h.y, 0.0));
    TalusVec3 z = talus_rotate(orientation, talus_vec3(0.0, 0.0, h.z));
    return talus_aabb(position, talus_vec3(fabs(x.x) + fabs(y.x) + fabs(z.x),
                                           fabs(x.y) + fabs(y.y) + fabs(z.y),
                                           fabs(x.z) + fabs(y.z) + fabs(z.z)));
}

static double clamp(double x, double half)
{
    return fmin(fmax(x, -half), half);
}

/* The nearest face from inside: the one with the least depth. */
static double leave(TalusVec3 half, TalusVec3 p, TalusVec3 *normal)
{
    double depth_x = half.x - fabs(p.x), depth_y = half.y - fabs(p.y), depth_z = half.z - fabs(p.z);
    if (depth_x <= depth_y && depth_x <= depth_z) {
        *normal = talus_vec3(p.x < 0.0 ? -1.0 : 1.0, 0.0, 0.0);
        return -depth_x;
    }
    if (depth_y <= depth_z) {
        *normal = talus_vec3(0.0, p.y < 0.0 ? -1.0 : 1.0, 0.0);
        return -depth_y;
    }
    *normal = talus_vec3(0.0, 0.0, p.z < 0.0 ? -1.0 : 1.0);
    return -depth_z;
}

double talus_box_distance(TalusVec3 half, TalusVec3 p, TalusVec3 *normal)
{
    TalusVec3 q = talus_vec3(clamp(p.x, half.x), clamp(p.y, half.y), clamp(p.z, half.z));
    TalusVec3 d = talus_sub(p, q);
    double distance = talus_norm(d);
    if (!(distance > 0.0))
        return leave(half, p, normal);
    *normal = talus_scale(1.0 / distance, d);
    return distance;
}

const TalusShapeOps talus_box_ops = {
    .name = "box",
    .summary = "a solid box, given by its half extents",
    .check = check,
    .measure = measure,
    .mass = mass,
    .bounds = bounds,
};
