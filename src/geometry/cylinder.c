/* geometry/cylinder.c - a solid cylinder about the z axis of the body's frame. */
#include "base/status.h"
#include "geometry/closest.h"
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

/* A disc with unit normal u reaches r sqrt(1 - u_x^2) along x. */
static double reach(double u, double radius, double half_height)
{
    return half_height * fabs(u) + radius * sqrt(fmax(0.0, 1.0 - u * u));
}

static TalusAabb bounds(const TalusShape *shape, double radius, TalusVec3 position,
                        TalusQuat orientation)
{
    (void)radius;
    double r = shape->def.radius, h = shape->def.half_height;
    TalusVec3 u = talus_rotate(orientation, talus_vec3(0.0, 0.0, 1.0));
    return talus_aabb(position, talus_vec3(reach(u.x, r, h), reach(u.y, r, h), reach(u.z, r, h)));
}

/* The problem is plane: in (distance from the axis, height) the cylinder is a rectangle. */
double talus_cylinder_distance(double radius, double half_height, TalusVec3 p, TalusVec3 *normal)
{
    double rho = sqrt(p.x * p.x + p.y * p.y);
    TalusVec3 radial =
        rho > 0.0 ? talus_vec3(p.x / rho, p.y / rho, 0.0) : talus_vec3(1.0, 0.0, 0.0);
    TalusVec3 axial = talus_vec3(0.0, 0.0, p.z < 0.0 ? -1.0 : 1.0);
    double out = rho - radius, above = fabs(p.z) - half_height;
    if (out > 0.0 && above > 0.0) {
        double distance = sqrt(out * out + above * above);
        *normal = talus_madd(talus_scale(out / distance, radial), above / distance, axial);
        return distance;
    }
    *normal = out > above ? radial : axial;
    return out > above ? out : above;
}

const TalusShapeOps talus_cylinder_ops = {
    .name = "cylinder",
    .summary = "a solid cylinder about its z axis, given by radius and half height",
    .check = check,
    .measure = measure,
    .mass = mass,
    .bounds = bounds,
};
