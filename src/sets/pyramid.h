/* sets/pyramid.h - the square section |t1|, |t2| <= mu n, which circumscribes the disc (preclik-2009), and the pyramid
 * over it, for host and device. */
#ifndef TALUS_SETS_PYRAMID_H
#define TALUS_SETS_PYRAMID_H

#include "sets/bounds.h"

enum { TALUS_SQUARE_FACETS = 4 };

/* Writes the outward normal of facet k, 0 to 3: along t1, t2, -t1, -t2. */
TALUS_INLINE void talus_square_normal(int k, double e[2])
{
    e[0] = k == 0 ? 1.0 : k == 2 ? -1.0 : 0.0;
    e[1] = k == 1 ? 1.0 : k == 3 ? -1.0 : 0.0;
}

/* Writes the outward normals of the two facets on the side of t: e along +-t1, f along +-t2. */
TALUS_INLINE void talus_square_axes(const double t[2], double e[2], double f[2])
{
    e[0] = t[0] < 0.0 ? -1.0 : 1.0;
    f[1] = t[1] < 0.0 ? -1.0 : 1.0;
    e[1] = f[0] = 0.0;
}

/* Writes the bounds |t1| <= mu n and |t2| <= mu n, in axes with t1, t2 >= 0. */
TALUS_INLINE void talus_square_bounds(double mu, const double t[2], TalusBounds *bounds)
{
    double e[2], f[2];
    talus_square_axes(t, e, f);
    talus_bounds_set(bounds, 0, e[0], e[1], mu, t);
    talus_bounds_set(bounds, 1, f[0], f[1], mu, t);
}

/* Writes the bounds of the square with half side `radius` that t meets, as bounds on a direction d from t. */
TALUS_INLINE void talus_square_met_bounds(double mu, double radius, const double t[2],
                                          const double d[2], TalusBounds *bounds)
{
    double e[2], f[2], reach = radius * TALUS_SET_MET;
    talus_bounds_clear(bounds);
    talus_square_axes(t, e, f);
    double first = t[0] * e[0] + t[1] * e[1], second = t[0] * f[0] + t[1] * f[1];
    if (first > 0.0 && first >= reach)
        talus_bounds_set(bounds, 0, e[0], e[1], mu, d);
    if (second > 0.0 && second >= reach)
        talus_bounds_set(bounds, 1, f[0], f[1], mu, d);
}

/* Returns the a >= 0 at which the path t - a p leaves the half plane e . t <= r (n - a pn) of a facet with normal e; 0
 * if t is on the facet or beyond and moves outwards, infinite if the path does not leave the half plane. */
TALUS_INLINE double talus_facet_feasible_step(const double e[2], double r, double n, double pn,
                                              const double t[2], const double p[2])
{
    double slack = r * n - (e[0] * t[0] + e[1] * t[1]);
    double rate = r * pn - (e[0] * p[0] + e[1] * p[1]);
    if (!(rate > 0.0))
        return INFINITY;
    return slack > 0.0 ? slack / rate : 0.0;
}

/* Returns the largest a >= 0 with t - a p in the square at the normal impulse n - a pn. */
TALUS_INLINE double talus_square_feasible_step(double mu, double n, double pn, const double t[2],
                                               const double p[2])
{
    double least = INFINITY;
    for (int k = 0; k < TALUS_SQUARE_FACETS; k++) {
        double e[2];
        talus_square_normal(k, e);
        least = fmin(least, talus_facet_feasible_step(e, mu, n, pn, t, p));
    }
    return least;
}

/* Returns the support function at v: the largest v . t over |t1|, |t2| <= 1. */
TALUS_INLINE double talus_square_support(const double v[2])
{
    return fabs(v[0]) + fabs(v[1]);
}

#endif
