/* measure/packing.c - the packing fraction of a box or a cylinder. */
#include "measure/ball.h"
#include "measure/images.h"
#include "measure/region.h"

#include <math.h>

/* True if the ball is in the region as a whole. */
static bool holds(const TalusRegion *region, TalusVec3 x, double r)
{
    const TalusVec3 lo = region->lo, hi = region->hi;
    if (!(x.x - r >= lo.x && x.x + r <= hi.x && x.y - r >= lo.y && x.y + r <= hi.y &&
          x.z - r >= lo.z && x.z + r <= hi.z))
        return false;
    if (region->axis < 0)
        return true;
    const TalusRegionCircle circle = talus_region_circle(region);
    const double u = talus_along(x, circle.across[0]) - circle.middle[0];
    const double v = talus_along(x, circle.across[1]) - circle.middle[1];
    return sqrt(u * u + v * v) + r <= circle.radius;
}

/* Returns the volume of all images of a ball in the region. */
static double volume_in(const TalusPeriod *p, TalusVec3 x, double volume, const TalusRegion *region)
{
    const double r = cbrt(volume / 4.1887902047863909846); /* 4 pi / 3 */
    const TalusVec3 out = {r, r, r};
    const TalusImages images =
        talus_find_images(p, talus_sub(x, out), talus_add(x, out), region->lo, region->hi);
    double sum = 0.0;
    for (int n = 0; n < talus_count_images(&images); n++) {
        const TalusVec3 at = talus_image_at(p, &images, n, x);
        sum += holds(region, at, r) ? volume : talus_ball_in_region(at, r, region);
    }
    return sum;
}

static double volume_of(const TalusRegion *region)
{
    const TalusVec3 side = talus_sub(region->hi, region->lo);
    if (region->axis < 0)
        return side.x * side.y * side.z;
    const double radius = talus_region_circle(region).radius;
    return 3.14159265358979323846 * radius * radius * talus_along(side, region->axis);
}

double talus_packing_fraction(const TalusAssembly *assembly, const TalusRegion *region)
{
    double sum = 0.0;
    if (!talus_has_few_images(&assembly->period, region->lo, region->hi, 0.0))
        return NAN;
    for (int i = 0; i < assembly->body_count; i++)
        sum += volume_in(&assembly->period, assembly->position[i], assembly->volume[i], region);
    return sum / volume_of(region);
}
