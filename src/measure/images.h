/* measure/images.h - the images, in periodic space, of a thing that reach a box. */
#ifndef TALUS_MEASURE_IMAGES_H
#define TALUS_MEASURE_IMAGES_H

#include <talus/math.h>

/* Shifts by whole periods: along axis k from first[k] on, count[k] of them. */
typedef struct TalusImages {
    int first[3], count[3];
} TalusImages;

/* Returns the images of what lies between low and high that overlap the box from lo to hi; without a period along an axis,
 * the thing itself or nothing. */
static inline TalusImages talus_find_images(const TalusPeriod *period, TalusVec3 low,
                                            TalusVec3 high, TalusVec3 lo, TalusVec3 hi)
{
    TalusImages images;
    for (int k = 0; k < 3; k++) {
        const double length = talus_along(period->hi, k) - talus_along(period->lo, k);
        const double down = talus_along(lo, k) - talus_along(high, k);
        const double up = talus_along(hi, k) - talus_along(low, k);
        images.first[k] = period->on[k] ? (int)ceil(down / length) : 0;
        images.count[k] =
            period->on[k] ? (int)floor(up / length) + 1 - images.first[k] : down < 0.0 && up > 0.0;
        if (images.count[k] <= 0)
            return (TalusImages){{0, 0, 0}, {0, 0, 0}};
    }
    return images;
}

static inline int talus_count_images(const TalusImages *images)
{
    return images->count[0] * images->count[1] * images->count[2];
}

/* Returns the point x in image number n. */
static inline TalusVec3 talus_image_at(const TalusPeriod *p, const TalusImages *images, int n,
                                       TalusVec3 x)
{
    const int i = images->first[0] + n % images->count[0];
    const int j = images->first[1] + n / images->count[0] % images->count[1];
    const int k = images->first[2] + n / (images->count[0] * images->count[1]);
    return talus_vec3(i ? x.x + i * (p->hi.x - p->lo.x) : x.x,
                      j ? x.y + j * (p->hi.y - p->lo.y) : x.y,
                      k ? x.z + k * (p->hi.z - p->lo.z) : x.z);
}

#endif
