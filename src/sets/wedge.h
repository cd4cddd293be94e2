/* sets/wedge.h - projection onto a cone over a product of sections, for host and device.
 *
 * A section is a disc, a square, a regular polygon or an interval. In axes chosen for the given point (talus_*_fold),
 * the distance of t from each of these sections at size n is
 *     dist^2 = sum over k of max(z_k - m_k n, 0)^2,   z_k = t . axis_k,
 * with one bound k for discs and intervals and two for the others. The projection of (n, t) onto the cone thus
 * minimises a piecewise quadratic of one unknown, the new n, with as many breakpoints as bounds. */
#ifndef TALUS_SETS_WEDGE_H
#define TALUS_SETS_WEDGE_H

#include <talus/math.h>

#include <stdbool.h>

/* A tangential vector t = sum of z_k axis_k and the bounds z_k <= slope_k n on it. */
typedef struct TalusFold {
    double axis[2][2], slope[2], z[2];
    bool met[2]; /* the bound exists; after talus_wedge: it holds with equality */
} TalusFold;

/* Fraction of a bound at which it counts as met: projections round. talus_cone_state compares squares. */
#define TALUS_SET_MET (1.0 - 5e-13)

/* A fold without bounds. */
TALUS_INLINE void talus_fold_clear(TalusFold *fold)
{
    for (int k = 0; k < 2; k++) {
        fold->axis[k][0] = fold->axis[k][1] = 0.0;
        fold->slope[k] = fold->z[k] = 0.0;
        fold->met[k] = false;
    }
}

TALUS_INLINE void talus_fold_bound(TalusFold *fold, int k, double e0, double e1, double slope,
                                   const double t[2])
{
    fold->axis[k][0] = e0;
    fold->axis[k][1] = e1;
    fold->slope[k] = slope;
    fold->z[k] = t[0] * e0 + t[1] * e1;
    fold->met[k] = true;
}

enum { TALUS_FOLDS = 3 };

/* Half the derivative at n' = `at` of (n' - n)^2 + sum of max(z_k - m_k n', 0)^2, which increases with n'. */
TALUS_INLINE double talus_wedge_pull(int folds, const TalusFold *fold, double n, double at)
{
    double pull = at - n;
    for (int i = 0; i < folds; i++)
        for (int k = 0; k < 2; k++) {
            double m = fold[i].slope[k];
            double over = fold[i].met[k] && m > 0.0 ? fold[i].z[k] - m * at : 0.0;
            pull -= over > 0.0 ? m * over : 0.0;
        }
    return pull;
}

/* The n' that minimises that sum. A bound is met if the derivative is positive at its breakpoint z_k / m_k, and the
 * minimum lies between the breakpoints of unmet and met bounds. (Assuming all bounds met and dropping those that are
 * not fails for steep ones: with m = 1e6 the others are lost in the rounding of the sum.) A NaN counts as met. */
TALUS_INLINE double talus_wedge(int folds, TalusFold *fold, double n)
{
    bool met[TALUS_FOLDS][2];
    double top = n, bottom = 1.0, low = -INFINITY, high = INFINITY;
    for (int i = 0; i < folds; i++)
        for (int k = 0; k < 2; k++) {
            double m = fold[i].slope[k], z = fold[i].z[k], at = m > 0.0 ? z / m : 0.0;
            met[i][k] = fold[i].met[k];
            if (met[i][k] && m > 0.0) {
                met[i][k] = !(talus_wedge_pull(folds, fold, n, at) <= 0.0);
                low = !met[i][k] && at > low ? at : low;
                high = met[i][k] && at < high ? at : high;
            }
            top += met[i][k] ? m * z : 0.0;
            bottom += met[i][k] ? m * m : 0.0;
        }
    for (int i = 0; i < folds; i++)
        for (int k = 0; k < 2; k++)
            fold[i].met[k] = met[i][k];
    double best = top / bottom;
    best = best < low ? low : best;
    return best > high ? high : best;
}

/* True if every bound holds at n. */
TALUS_INLINE bool talus_wedge_holds(int folds, const TalusFold *fold, double n)
{
    bool holds = n >= 0.0;
    for (int i = 0; i < folds; i++)
        for (int k = 0; k < 2; k++)
            holds = holds && (!fold[i].met[k] || fold[i].z[k] <= fold[i].slope[k] * n);
    return holds;
}

/* Writes t with the met bounds at equality, from a fold that spans t. */
TALUS_INLINE void talus_unfold(const TalusFold *fold, double n, double t[2])
{
    if (!fold->met[0] && !fold->met[1])
        return;
    double z0 = fold->met[0] ? fold->slope[0] * n : fold->z[0];
    double z1 = fold->met[1] ? fold->slope[1] * n : fold->z[1];
    t[0] = z0 * fold->axis[0][0] + z1 * fold->axis[1][0];
    t[1] = z0 * fold->axis[0][1] + z1 * fold->axis[1][1];
}

/* The same from a fold that does not span t. */
TALUS_INLINE void talus_fold_clip(const TalusFold *fold, double n, double t[2])
{
    for (int k = 0; k < 2; k++)
        if (fold->met[k]) {
            double excess = fold->z[k] - fold->slope[k] * n;
            t[0] -= excess * fold->axis[k][0];
            t[1] -= excess * fold->axis[k][1];
        }
}

#endif
