/* collide/period.h - periodic space (TalusPeriod); for host and device.
 *
 * Bodies are kept between lo and hi. Across the period along y images are offset along x by the tilt (cell.h). Two bodies touch only as the images nearest to each other: fit.h refuses bodies so
 * large, and clips margins so wide, that other images could touch. */
#ifndef TALUS_COLLIDE_PERIOD_H
#define TALUS_COLLIDE_PERIOD_H

#include <talus/math.h>

/* True if space is periodic along any axis. */
TALUS_INLINE int talus_has_period(const TalusPeriod *p)
{
    return p->on[0] || p->on[1] || p->on[2];
}

/* Sets side to lo and hi, both 0 along an axis without a period, as files store them. */
TALUS_INLINE void talus_period_sides(const TalusPeriod *p, TalusVec3 side[2])
{
    side[0] =
        talus_vec3(p->on[0] ? p->lo.x : 0.0, p->on[1] ? p->lo.y : 0.0, p->on[2] ? p->lo.z : 0.0);
    side[1] =
        talus_vec3(p->on[0] ? p->hi.x : 0.0, p->on[1] ? p->hi.y : 0.0, p->on[2] ? p->hi.z : 0.0);
}

/* Length of the shortest period; infinite if no axis is periodic. */
TALUS_INLINE double talus_shortest_period(const TalusPeriod *p)
{
    double x = p->on[0] ? p->hi.x - p->lo.x : INFINITY;
    double y = p->on[1] ? p->hi.y - p->lo.y : INFINITY;
    double z = p->on[2] ? p->hi.z - p->lo.z : INFINITY;
    return talus_min(x, talus_min(y, z));
}

/* Component d of a vector between two bodies, changed by a multiple of the period to the smallest magnitude. */
TALUS_INLINE double talus_nearest_image_component(double d, double length)
{
    return d - length * floor(d / length + 0.5);
}

/* Returns the integer k with which d + length k has the smallest magnitude, as talus_nearest_image_component. */
TALUS_INLINE double talus_nearest_image_count(double d, double length)
{
    return 0.0 - floor(d / length + 0.5);
}

/* Vector of k periods: k.x along x, k.y along y with its tilt, k.z along z. */
TALUS_INLINE TalusVec3 talus_period_vector(const TalusPeriod *p, TalusVec3 k)
{
    return talus_vec3((p->on[0] ? k.x * (p->hi.x - p->lo.x) : 0.0) + k.y * p->tilt,
                      p->on[1] ? k.y * (p->hi.y - p->lo.y) : 0.0,
                      p->on[2] ? k.z * (p->hi.z - p->lo.z) : 0.0);
}

/* Given the vector d from body a to body b, returns the vector from a to the nearest image of b: nearest along y and z, and
 * along x among those. *k: the periods between b and that image. */
TALUS_INLINE TalusVec3 talus_nearest_image(const TalusPeriod *p, TalusVec3 d, TalusVec3 *k)
{
    *k = talus_vec3(0.0, 0.0, 0.0);
    if (p->on[1]) {
        k->y = talus_nearest_image_count(d.y, p->hi.y - p->lo.y);
        d.y = talus_nearest_image_component(d.y, p->hi.y - p->lo.y);
        if (p->tilt != 0.0)
            d.x += k->y * p->tilt;
    }
    if (p->on[0]) {
        k->x = talus_nearest_image_count(d.x, p->hi.x - p->lo.x);
        d.x = talus_nearest_image_component(d.x, p->hi.x - p->lo.x);
    }
    if (p->on[2]) {
        k->z = talus_nearest_image_count(d.z, p->hi.z - p->lo.z);
        d.z = talus_nearest_image_component(d.z, p->hi.z - p->lo.z);
    }
    return d;
}

/* Given the vector d from body a to body b, returns the vector from a to the nearest image of b. */
TALUS_INLINE TalusVec3 talus_nearest_image_vector(const TalusPeriod *p, TalusVec3 d)
{
    TalusVec3 k;
    return talus_nearest_image(p, d, &k);
}

/* Returns the bits (1 << axis) of the periodic axes along which x is within `reach` of lo. */
TALUS_INLINE unsigned talus_near_lower_sides(const TalusPeriod *p, TalusVec3 x, double reach)
{
    unsigned sides = 0;
    for (int axis = 0; axis < 3; axis++)
        if (p->on[axis] && talus_along(x, axis) - talus_along(p->lo, axis) < reach)
            sides |= 1u << axis;
    return sides;
}

/* Returns the bits (1 << axis) of the periodic axes along which x is within `reach` of hi. */
TALUS_INLINE unsigned talus_near_upper_sides(const TalusPeriod *p, TalusVec3 x, double reach)
{
    unsigned sides = 0;
    for (int axis = 0; axis < 3; axis++)
        if (p->on[axis] && talus_along(p->hi, axis) - talus_along(x, axis) < reach)
            sides |= 1u << axis;
    return sides;
}

/* Returns x changed by a multiple of hi - lo to lo <= x < hi; *k: that multiple. */
TALUS_INLINE double talus_wrap_count(double x, double lo, double hi, double *k)
{
    *k = 0.0;
    if (x >= lo && x < hi)
        return x; /* exactly unchanged */
    double periods = floor((x - lo) / (hi - lo));
    x -= (hi - lo) * periods;
    *k = 0.0 - periods;
    if (x >= lo && x < hi)
        return x;
    *k -= x >= hi ? 1.0 : 0.0; /* rounding gave hi, or less than lo */
    return lo;
}

/* Image of x, shifted by `way` (1 or -1) periods along the axes whose bits are set in `shift`. With a tilt the shift
 * along y is followed by whole periods along x, to between lo and hi, before the shift along x. */
TALUS_INLINE TalusVec3 talus_shift_by_periods(const TalusPeriod *p, TalusVec3 x, unsigned shift,
                                              double way)
{
    double k;
    if ((shift & 2) && p->tilt != 0.0)
        x.x = talus_wrap_count(x.x + way * p->tilt, p->lo.x, p->hi.x, &k);
    if (shift & 1)
        x.x += way * (p->hi.x - p->lo.x);
    if (shift & 2)
        x.y += way * (p->hi.y - p->lo.y);
    if (shift & 4)
        x.z += way * (p->hi.z - p->lo.z);
    return x;
}

/* Returns a set of shifts (talus_shift_by_periods with way 1), bit 1 << shift for each: those whose images beyond the upper
 * sides may touch bodies between lo and hi, if x is within `reach` of them. With a tilt the image across y decides whether it
 * has one across x, too. */
TALUS_INLINE unsigned talus_upper_images(const TalusPeriod *p, TalusVec3 x, double reach)
{
    unsigned sides = talus_near_lower_sides(p, x, reach), along_x = sides & 1u, set = 0;
    if ((sides & 2u) && p->tilt != 0.0)
        along_x = talus_near_lower_sides(p, talus_shift_by_periods(p, x, 2u, 1.0), reach) & 1u;
    for (unsigned shift = 1; shift < 8; shift++) {
        unsigned near = shift & 2u ? (sides & ~1u) | along_x : sides;
        if (!(shift & ~near))
            set |= 1u << shift;
    }
    return set;
}

/* Image of x between lo and hi; *k: the periods between x and that image. */
TALUS_INLINE TalusVec3 talus_wrap_counted(const TalusPeriod *p, TalusVec3 x, TalusVec3 *k)
{
    *k = talus_vec3(0.0, 0.0, 0.0);
    if (p->on[1]) {
        x.y = talus_wrap_count(x.y, p->lo.y, p->hi.y, &k->y);
        if (p->tilt != 0.0)
            x.x += k->y * p->tilt;
    }
    if (p->on[0])
        x.x = talus_wrap_count(x.x, p->lo.x, p->hi.x, &k->x);
    if (p->on[2])
        x.z = talus_wrap_count(x.z, p->lo.z, p->hi.z, &k->z);
    return x;
}

/* Image of x between lo and hi. */
TALUS_INLINE TalusVec3 talus_wrap_position(const TalusPeriod *p, TalusVec3 x)
{
    TalusVec3 k;
    return talus_wrap_counted(p, x, &k);
}

/* Wraps the position of a body back between lo and hi. Returns the change of its potential energy by gravity, J. */
TALUS_INLINE double talus_wrap_body(const TalusPeriod *p, double mass, TalusVec3 gravity,
                                    TalusVec3 *position)
{
    TalusVec3 x = talus_wrap_position(p, *position), way = talus_sub(x, *position);
    *position = x;
    return -mass * talus_dot(gravity, way);
}

#endif
