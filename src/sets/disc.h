/* sets/disc.h - disc and interval as sections in the form of bounds.h, for host and device. Circular cone: cone.h. */
#ifndef TALUS_SETS_DISC_H
#define TALUS_SETS_DISC_H

#include "sets/bounds.h"
#include "sets/cone.h"

/* Writes the bound |t| <= mu n, along the direction of t. */
TALUS_INLINE void talus_disc_bounds(double mu, const double t[2], TalusBounds *bounds)
{
    double length = sqrt(t[0] * t[0] + t[1] * t[1]);
    talus_bounds_clear(bounds);
    if (length == 0.0)
        talus_bounds_set(bounds, 0, 1.0, 0.0, mu, t);
    else
        talus_bounds_set(bounds, 0, t[0] / length, t[1] / length, mu, t);
    bounds->z[0] = length;
}

/* If t is on the rim of the disc |t| <= radius, writes the bound that keeps t + d in the cone to first order,
 * d . t / |t| <= mu d_n; else no bound. */
TALUS_INLINE void talus_disc_met_bounds(double mu, double radius, const double t[2],
                                        const double d[2], TalusBounds *bounds)
{
    double length = sqrt(t[0] * t[0] + t[1] * t[1]);
    talus_bounds_clear(bounds);
    if (length > 0.0 && length >= radius * TALUS_SET_MET)
        talus_bounds_set(bounds, 0, t[0] / length, t[1] / length, mu, d);
}

/* Returns the largest a >= 0 with t - a p in the disc of radius mu (n - a pn). */
TALUS_INLINE double talus_disc_feasible_step(double mu, double n, double pn, const double t[2],
                                             const double p[2])
{
    double x[3] = {n, t[0], t[1]}, y[3] = {pn, p[0], p[1]};
    return talus_cone_feasible_step(mu, x, y);
}

/* Returns the support function of the unit disc: the largest v . t over |t| <= 1. */
TALUS_INLINE double talus_disc_support(const double v[2])
{
    return sqrt(v[0] * v[0] + v[1] * v[1]);
}

#endif
