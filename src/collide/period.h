/* collide/period.h - periodic space (TalusPeriod); for host and device.
 *
 * Bodies are kept between lo and hi. Two bodies touch only as the images nearest to each other: fit.h refuses bodies so
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

/* Given the vector d from body a to body b, returns the vector from a to the nearest image of b. */
TALUS_INLINE TalusVec3 talus_nearest_image_vector(const TalusPeriod *p, TalusVec3 d)
{
    if (p->on[0])
        d.x = talus_nearest_image_component(d.x, p->hi.x - p->lo.x);
    if (p->on[1])
        d.y = talus_nearest_image_component(d.y, p->hi.y - p->lo.y);
    if (p->on[2])
        d.z = talus_nearest_image_component(d.z, p->hi.z - p->lo.z);
    return d;
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

/* Image of x, shifted by `way` (1 or -1) periods along the axes whose bits are set in `shift`. */
TALUS_INLINE TalusVec3 talus_shift_by_periods(const TalusPeriod *p, TalusVec3 x, unsigned shift,
                                              double way)
{
    if (shift & 1)
        x.x += way * (p->hi.x - p->lo.x);
    if (shift & 2)
        x.y += way * (p->hi.y - p->lo.y);
    if (shift & 4)
        x.z += way * (p->hi.z - p->lo.z);
    return x;
}

/* Returns x changed by a multiple of hi - lo to lo <= x < hi. */
TALUS_INLINE double talus_wrap_coordinate(double x, double lo, double hi)
{
    if (x >= lo && x < hi)
        return x; /* exactly unchanged */
    x -= (hi - lo) * floor((x - lo) / (hi - lo));
    return x >= lo && x < hi ? x : lo; /* rounding may give hi, or less than lo */
}

/* Image of x between lo and hi. */
TALUS_INLINE TalusVec3 talus_wrap_position(const TalusPeriod *p, TalusVec3 x)
{
    if (p->on[0])
        x.x = talus_wrap_coordinate(x.x, p->lo.x, p->hi.x);
    if (p->on[1])
        x.y = talus_wrap_coordinate(x.y, p->lo.y, p->hi.y);
    if (p->on[2])
        x.z = talus_wrap_coordinate(x.z, p->lo.z, p->hi.z);
    return x;
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
