/* geometry/revolve.c - a thin wall: a polyline (radius, height) revolved about the z axis. */
#include "base/memory.h"
#include "base/status.h"
#include "geometry/closest.h"
#include "geometry/kinds.h"

#include <string.h>

/* Fails unless profile point k is finite, has a radius >= 0, differs from the point before it and makes a surface with
 * it. */
static TalusStatus check_point(const double *profile, int k)
{
    TalusProfilePoint p = talus_profile_point(profile, k);
    if (!(p.r >= 0.0 && p.r < INFINITY && fabs(p.z) < INFINITY))
        return talus_reject("revolve: profile point %d is (%g, %g); it must be (radius, height), "
                            "finite and with radius >= 0",
                            k, p.r, p.z);
    if (k == 0)
        return TALUS_OK;
    TalusProfilePoint before = talus_profile_point(profile, k - 1);
    if (p.r == before.r && p.z == before.z)
        return talus_reject("revolve: profile points %d and %d are both (%g, %g); neighbours must "
                            "differ",
                            k - 1, k, p.r, p.z);
    if (p.r == 0.0 && before.r == 0.0)
        return talus_reject(
            "revolve: profile points %d and %d both have radius 0; a segment along the axis has "
            "no surface",
            k - 1, k);
    return TALUS_OK;
}

static TalusStatus check_def(const TalusShapeDef *def)
{
    if (def->point_count < 2 || !def->profile)
        return talus_reject("revolve: profile has %d points; it needs at least 2",
                            def->profile ? def->point_count : 0);
    for (int k = 0; k < def->point_count; k++)
        TALUS_TRY(check_point(def->profile, k));
    return TALUS_OK;
}

/* Copies the profile into the block. */
static TalusStatus build_arrays(TalusShape *shape, const TalusShapeDef *def)
{
    shape->block_size = 2 * (size_t)def->point_count * sizeof(double);
    TALUS_TRY(TALUS_ALLOC(shape->block, shape->block_size, "profile"));
    memcpy(shape->block, def->profile, shape->block_size);
    shape->def.profile = (const double *)shape->block;
    return TALUS_OK;
}

/* The bounding radius reaches the farthest profile point; the size stays 0. */
static void set_radius_and_size(TalusShape *shape)
{
    double largest = 0.0;
    for (int k = 0; k < shape->def.point_count; k++) {
        TalusProfilePoint p = talus_profile_point(shape->def.profile, k);
        largest = fmax(largest, talus_profile_dot(p, p));
    }
    shape->bounding_radius = sqrt(largest);
}

const TalusShapeOps talus_revolve_ops = {
    .summary =
        "a thin wall: a profile of (radius, height) points turned about z; fixed or driven bodies only",
    .uses = TALUS_USES_PROFILE,
    .check_def = check_def,
    .build_arrays = build_arrays,
    .set_radius_and_size = set_radius_and_size,
    .make_mesh = talus_mesh_revolve,
};
