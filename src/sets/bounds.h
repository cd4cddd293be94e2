/* sets/bounds.h - projection onto a cone over a product of sections, for host and device.
 *
 * A section is a disc, a square, a regular polygon or an interval. In axes chosen for a given point t
 * (talus_*_bounds), the distance of t from the section of the normal impulse n is
 *     dist^2 = sum over k of max(z_k - m_k n, 0)^2,   z_k = t . axis_k,
 * with one bound k for discs and intervals and two for the others; m_k is the slope of the bound. The projection of
 * (n, t) onto the cone thus minimises a piecewise quadratic function of one unknown, the new n, with one breakpoint
 * per bound. */
#ifndef TALUS_SETS_BOUNDS_H
#define TALUS_SETS_BOUNDS_H

#include <talus/math.h>

#include <stdbool.h>

/* Bounds z_k <= slope_k n on the components z_k = t . axis_k of a tangential vector t, at the normal impulse n. */
typedef struct TalusBounds {
    double axis[2][2], slope[2], z[2];
    bool met[2]; /* the bound exists; after talus_bounds_nearest: the bound holds with equality */
} TalusBounds;

/* A tangential vector counts as on a bound from this fraction of the bound on, since projections round.
 * talus_cone_state has the same margin, as 1e-12 of the squares. */
#define TALUS_SET_MET (1.0 - 5e-13)

/* Removes all bounds. */
TALUS_INLINE void talus_bounds_clear(TalusBounds *bounds)
{
    for (int k = 0; k < 2; k++) {
        bounds->axis[k][0] = bounds->axis[k][1] = 0.0;
        bounds->slope[k] = bounds->z[k] = 0.0;
        bounds->met[k] = false;
    }
}

/* Makes bound k that of t . (e0, e1) <= slope n: sets its axis, slope, z = t . (e0, e1) and met = true. */
TALUS_INLINE void talus_bounds_set(TalusBounds *bounds, int k, double e0, double e1, double slope,
                                   const double t[2])
{
    bounds->axis[k][0] = e0;
    bounds->axis[k][1] = e1;
    bounds->slope[k] = slope;
    bounds->z[k] = t[0] * e0 + t[1] * e1;
    bounds->met[k] = true;
}

/* Largest number of parts into which rows 1 to 5 of a block are divided: tangential impulse (rows 1 and 2), spinning
 * moment (row 3, an interval), rolling moments (rows 4 and 5). Each part has its own section. */
enum { TALUS_PARTS = 3 };

/* Returns half the derivative at n' = `at` of (n' - n)^2 + sum of max(z_k - m_k n', 0)^2; it increases with n'. */
TALUS_INLINE double talus_bounds_derivative(int parts, const TalusBounds *bounds, double n,
                                            double at)
{
    double pull = at - n;
    for (int i = 0; i < parts; i++)
        for (int k = 0; k < 2; k++) {
            double m = bounds[i].slope[k];
            double over = bounds[i].met[k] && m > 0.0 ? bounds[i].z[k] - m * at : 0.0;
            pull -= over > 0.0 ? m * over : 0.0;
        }
    return pull;
}

/* Returns the n' that minimises (n' - n)^2 + sum of max(z_k - m_k n', 0)^2, and sets `met` of each bound that holds
 * with equality there. A bound is met if the derivative is positive at its breakpoint z_k / m_k, or if m_k = 0; the
 * minimum lies between the breakpoints of unmet and met bounds. (Assuming all bounds met and dropping those that are
 * not fails for steep ones: with m = 1e6 the others are lost in the rounding of the sum.) A NaN counts as met. */
TALUS_INLINE double talus_bounds_nearest(int parts, TalusBounds *bounds, double n)
{
    bool met[TALUS_PARTS][2];
    double top = n, bottom = 1.0, low = -INFINITY, high = INFINITY;
    for (int i = 0; i < parts; i++)
        for (int k = 0; k < 2; k++) {
            double m = bounds[i].slope[k], z = bounds[i].z[k], at = m > 0.0 ? z / m : 0.0;
            met[i][k] = bounds[i].met[k];
            if (met[i][k] && m > 0.0) {
                met[i][k] = !(talus_bounds_derivative(parts, bounds, n, at) <= 0.0);
                low = !met[i][k] && at > low ? at : low;
                high = met[i][k] && at < high ? at : high;
            }
            top += met[i][k] ? m * z : 0.0;
            bottom += met[i][k] ? m * m : 0.0;
        }
    for (int i = 0; i < parts; i++)
        for (int k = 0; k < 2; k++)
            bounds[i].met[k] = met[i][k];
    double best = top / bottom;
    best = best < low ? low : best;
    return best > high ? high : best;
}

/* True if n >= 0 and every bound z_k <= slope_k n holds. */
TALUS_INLINE bool talus_bounds_hold(int parts, const TalusBounds *bounds, double n)
{
    bool holds = n >= 0.0;
    for (int i = 0; i < parts; i++)
        for (int k = 0; k < 2; k++)
            holds = holds && (!bounds[i].met[k] || bounds[i].z[k] <= bounds[i].slope[k] * n);
    return holds;
}

/* Moves t onto the met bounds: t = sum of z_k axis_k, with slope_k n in place of z_k for met bounds. The axes must
 * span t, as those of talus_*_bounds do. Without met bounds t is unchanged. */
TALUS_INLINE void talus_bounds_apply(const TalusBounds *bounds, double n, double t[2])
{
    if (!bounds->met[0] && !bounds->met[1])
        return;
    double z0 = bounds->met[0] ? bounds->slope[0] * n : bounds->z[0];
    double z1 = bounds->met[1] ? bounds->slope[1] * n : bounds->z[1];
    t[0] = z0 * bounds->axis[0][0] + z1 * bounds->axis[1][0];
    t[1] = z0 * bounds->axis[0][1] + z1 * bounds->axis[1][1];
}

/* Moves t onto the met bounds by subtracting the excess z_k - slope_k n along the axis of each met bound; the axes
 * need not span t. */
TALUS_INLINE void talus_bounds_clip(const TalusBounds *bounds, double n, double t[2])
{
    for (int k = 0; k < 2; k++)
        if (bounds->met[k]) {
            double excess = bounds->z[k] - bounds->slope[k] * n;
            t[0] -= excess * bounds->axis[k][0];
            t[1] -= excess * bounds->axis[k][1];
        }
}

#endif
