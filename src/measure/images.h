/* measure/images.h - the images, in periodic space, of a thing that reach a box. */
#ifndef TALUS_MEASURE_IMAGES_H
#define TALUS_MEASURE_IMAGES_H

#include <talus/math.h>

/* Shifts by whole periods: along axis k from first[k] on, count[k] of them. With a tilt some of them may be out of reach. */
typedef struct TalusImages {
    int first[3], count[3];
} TalusImages;

/* Largest number of images of one thing; their numbers are counted by int. */
enum { TALUS_IMAGES_MAX = 1 << 20 };

/* True if a thing of extent `size` has at most TALUS_IMAGES_MAX images that reach the box from lo to hi. */
static inline int talus_has_few_images(const TalusPeriod *period, TalusVec3 lo, TalusVec3 hi,
                                       double size)
{
    double images = 1.0, across_y = 0.0;
    for (int k = 2; k >= 0; k--) {
        const double length = talus_along(period->hi, k) - talus_along(period->lo, k);
        const double reach = talus_along(hi, k) - talus_along(lo, k) + size;
        if (!period->on[k])
            continue;
        across_y = k == 1 ? reach / length : across_y;
        images *= reach / length + 1.0 + (k == 0 && period->tilt != 0.0 ? across_y : 0.0);
    }
    return images <= TALUS_IMAGES_MAX;
}

/* Returns the images of what lies between low and high that overlap the box from lo to hi; without a period along an axis,
 * the thing itself or nothing. */
static inline TalusImages talus_find_images(const TalusPeriod *period, TalusVec3 low,
                                            TalusVec3 high, TalusVec3 lo, TalusVec3 hi)
{
    TalusImages images;
    double left = 0.0, right = 0.0; /* largest shifts along x by the tilt of shifts along y */
    for (int k = 2; k >= 0; k--) {
        const double length = talus_along(period->hi, k) - talus_along(period->lo, k);
        const double down = talus_along(lo, k) - talus_along(high, k) - (k == 0 ? right : 0.0);
        const double up = talus_along(hi, k) - talus_along(low, k) - (k == 0 ? left : 0.0);
        images.first[k] = period->on[k] ? (int)ceil(down / length) : 0;
        images.count[k] =
            period->on[k] ? (int)floor(up / length) + 1 - images.first[k] : down < 0.0 && up > 0.0;
        if (images.count[k] <= 0)
            return (TalusImages){{0, 0, 0}, {0, 0, 0}};
        if (k == 1) {
            const double first = images.first[1] * period->tilt;
            const double last = (images.first[1] + images.count[1] - 1) * period->tilt;
            left = talus_min(first, last);
            right = talus_max(first, last);
        }
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
    if (j)
        x.x += j * p->tilt;
    return talus_vec3(i ? x.x + i * (p->hi.x - p->lo.x) : x.x,
                      j ? x.y + j * (p->hi.y - p->lo.y) : x.y,
                      k ? x.z + k * (p->hi.z - p->lo.z) : x.z);
}

#endif
