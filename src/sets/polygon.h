/* sets/polygon.h - the regular polygon with corners on the circle of radius mu n, the first along t1, and the cone
 * over it (petra-2009), for host and device.
 *
 * Facet normals are at odd multiples of pi / sides. Facets are at the distance mu n cos(pi / sides), with half lengths
 * mu n sin(pi / sides); `c` and `s` are this cosine and sine. The axes of a vector t are those of the facet in whose
 * sector t lies: e, the facet's normal, and f, along the facet towards the corner that is nearer to t. The polygon is
 * symmetric about the boundaries and the middle of each sector, so the projection of t stays in its half of the
 * sector, where the polygon is the rectangle 0 <= t . e <= mu n c, 0 <= t . f <= mu n s.
 *
 * talus_section_cone_project (moments.h) projects onto the cone, by the bounds of this file. */
#ifndef TALUS_SETS_POLYGON_H
#define TALUS_SETS_POLYGON_H

#include "sets/polygon_angle.h"
#include "sets/pyramid.h"

/* Number of bits of the index of a facet above t2 = 0, for TALUS_SIDES_MAX sides. */
enum { TALUS_POLYGON_BITS = 5 };

/* Rotates r by the angle with cosine c and sine s. */
TALUS_INLINE void talus_turn_by(double c, double s, double r[2])
{
    double x = c * r[0] - s * r[1];
    r[1] = s * r[0] + c * r[1];
    r[0] = x;
}

/* e = outward normal of facet k, between corners k and k + 1. The facets below t2 = 0 mirror those above. */
TALUS_INLINE void talus_polygon_normal(int sides, double c, double s, int k, double e[2])
{
    bool below = 2 * k >= sides;
    double power[2] = {c, s};
    e[0] = c;
    e[1] = s;
    for (int left = below ? sides - 1 - k : k; left > 0; left >>= 1) {
        talus_turn_by(power[0], power[1], power);
        if (left & 1)
            talus_turn_by(power[0], power[1], e);
    }
    e[1] = below ? -e[1] : e[1];
}

/* Returns the facet in whose sector t lies. For t2 >= 0, t is rotated towards t2 = 0 by 2^j sectors, the largest j
 * first, wherever the rotated vector still has t2 >= 0; the facet is the sum of these 2^j. A vector with t2 < 0 is
 * mirrored. */
TALUS_INLINE int talus_polygon_sector(int sides, double c, double s, const double t[2])
{
    double turn[TALUS_POLYGON_BITS][2], power[2] = {c, s}, left[2] = {t[0], fabs(t[1])};
    int k = 0;
    for (int j = 0; j < TALUS_POLYGON_BITS; j++) {
        talus_turn_by(power[0], power[1], power);
        turn[j][0] = power[0];
        turn[j][1] = power[1];
    }
    for (int j = TALUS_POLYGON_BITS - 1; j >= 0; j--) {
        double next[2] = {left[0], left[1]};
        if (2 << j >= sides) /* half a turn or more */
            continue;
        talus_turn_by(turn[j][0], -turn[j][1], next);
        if (next[1] >= 0.0) {
            left[0] = next[0];
            left[1] = next[1];
            k += 1 << j;
        }
    }
    k = 2 * k >= sides ? (sides - 1) / 2 : k;
    return t[1] < 0.0 ? sides - 1 - k : k;
}

/* e = normal of the facet in whose sector t lies; f = unit vector along the facet, towards the corner nearer to t. */
TALUS_INLINE void talus_polygon_axes(int sides, double c, double s, const double t[2], double e[2],
                                     double f[2])
{
    talus_polygon_normal(sides, c, s, talus_polygon_sector(sides, c, s, t), e);
    double side = e[0] * t[1] - e[1] * t[0] < 0.0 ? -1.0 : 1.0;
    f[0] = -side * e[1];
    f[1] = side * e[0];
}

/* Writes the bounds of t: on its component along the facet's normal, and on that along the facet. */
TALUS_INLINE void talus_polygon_bounds(double mu, int sides, double c, double s, const double t[2],
                                       TalusBounds *bounds)
{
    double e[2], f[2];
    talus_polygon_axes(sides, c, s, t, e, f);
    talus_bounds_set(bounds, 0, e[0], e[1], mu * c, t);
    talus_bounds_set(bounds, 1, f[0], f[1], mu * s, t);
}

/* Writes the bounds of the polygon with circumradius `radius` that t meets, as bounds on a direction d from t. At a
 * corner two facets meet: if d points to the sector of the neighbouring facet, e and f are mirrored to that facet; w
 * is normal to the mirror. */
TALUS_INLINE void talus_polygon_met_bounds(double mu, double radius, int sides, double c, double s,
                                           const double t[2], const double d[2],
                                           TalusBounds *bounds)
{
    double e[2], f[2], reach = radius * TALUS_SET_MET;
    talus_bounds_clear(bounds);
    talus_polygon_axes(sides, c, s, t, e, f);
    double first = t[0] * e[0] + t[1] * e[1], second = t[0] * f[0] + t[1] * f[1];
    if (!(first > 0.0 && first >= reach * c))
        return;
    if (second >= reach * s) {
        double w[2] = {s * e[0] - c * f[0], s * e[1] - c * f[1]};
        if (w[0] * d[0] + w[1] * d[1] < 0.0)
            for (int k = 0; k < 2; k++) {
                e[k] -= 2.0 * s * w[k];
                f[k] += 2.0 * c * w[k];
            }
        talus_bounds_set(bounds, 1, f[0], f[1], mu * s, d);
    }
    talus_bounds_set(bounds, 0, e[0], e[1], mu * c, d);
}

/* Returns the largest a >= 0 with t - a p in the polygon at the normal impulse n - a pn. */
TALUS_INLINE double talus_polygon_feasible_step(double mu, int sides, double c, double s, double n,
                                                double pn, const double t[2], const double p[2])
{
    double least = INFINITY;
    for (int k = 0; k < sides; k++) {
        double e[2];
        talus_polygon_normal(sides, c, s, k, e);
        least = fmin(least, talus_facet_feasible_step(e, mu * c, n, pn, t, p));
    }
    return least;
}

/* Returns the support function at v: the largest v . t over the polygon with corners on the unit circle. */
TALUS_INLINE double talus_polygon_support(int sides, double c, double s, const double v[2])
{
    double e[2], f[2];
    talus_polygon_axes(sides, c, s, v, e, f);
    return c * (v[0] * e[0] + v[1] * e[1]) + s * (v[0] * f[0] + v[1] * f[1]);
}

#endif
