/* measure/region.h - boxes and cylinders. */
#ifndef TALUS_MEASURE_REGION_H
#define TALUS_MEASURE_REGION_H

#include <stdbool.h>
#include <talus/measure.h>

/* Middle and radius of a region's cylinder, in the plane of the axes `across`. */
typedef struct TalusRegionCircle {
    int across[2];
    double middle[2], radius;
} TalusRegionCircle;

static inline TalusRegionCircle talus_region_circle(const TalusRegion *region)
{
    TalusRegionCircle circle = {.across = {(region->axis + 1) % 3, (region->axis + 2) % 3},
                                .radius = INFINITY};
    for (int k = 0; k < 2; k++) {
        const double lo = talus_along(region->lo, circle.across[k]);
        const double hi = talus_along(region->hi, circle.across[k]);
        circle.middle[k] = 0.5 * (lo + hi);
        circle.radius = talus_min(circle.radius, 0.5 * (hi - lo));
    }
    return circle;
}

/* True if the point is in the region, whose lower sides count. */
static inline bool talus_region_includes(const TalusRegion *region, TalusVec3 x)
{
    if (!(x.x >= region->lo.x && x.x < region->hi.x && x.y >= region->lo.y && x.y < region->hi.y &&
          x.z >= region->lo.z && x.z < region->hi.z))
        return false;
    if (region->axis < 0)
        return true;
    const TalusRegionCircle circle = talus_region_circle(region);
    const double u = talus_along(x, circle.across[0]) - circle.middle[0];
    const double v = talus_along(x, circle.across[1]) - circle.middle[1];
    return u * u + v * v < circle.radius * circle.radius;
}

#endif
