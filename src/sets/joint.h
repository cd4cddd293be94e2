/* sets/joint.h - the set of a joint's block, a box about zero; for host and device. Row k <= 2 is within +-mu if bit k
 * of set->sides is set (mu is infinite for a free joint), else 0; rows 3 to 5 are 0. The functions never multiply by a
 * bound, since infinity times 0 would be NaN. */
#ifndef TALUS_SETS_JOINT_H
#define TALUS_SETS_JOINT_H

#include "sets/section.h"

#include <math.h>

/* Returns the bound of |x_k|: 0 if x_k must be 0, infinity if the row is free. Row 0 has its bound in set->estimate,
 * which differs from mu in a solver's metric. */
TALUS_INLINE double talus_joint_bound(const TalusSet *set, int k)
{
    if (k > 2 || !(set->sides >> k & 1))
        return 0.0;
    return k == 0 ? set->estimate : set->mu;
}

/* Returns x limited to [-bound, bound]. */
TALUS_INLINE double talus_joint_clip(double x, double bound)
{
    return x > bound ? bound : x < -bound ? -bound : x;
}

/* Euclidean projection of x onto the box, in place. */
TALUS_INLINE void talus_joint_project(int rows, const TalusSet *set, double *x)
{
    for (int k = 0; k < rows; k++)
        x[k] = talus_joint_clip(x[k], talus_joint_bound(set, k));
}

/* Sets the rows of x with finite bounds to 0: the projection onto the directions in which the impulse of a joint may
 * grow without bound. */
TALUS_INLINE void talus_joint_clear_bounded(int rows, const TalusSet *set, double *x)
{
    for (int k = 0; k < rows; k++)
        if (talus_joint_bound(set, k) < INFINITY)
            x[k] = 0.0;
}

/* True if some row with a finite bound above 0 is at that bound or beyond. */
TALUS_INLINE bool talus_joint_is_active(int rows, const TalusSet *set, const double *x)
{
    for (int k = 0; k < rows; k++) {
        double bound = talus_joint_bound(set, k);
        if (bound > 0.0 && !(fabs(x[k]) < bound) && bound < INFINITY)
            return true;
    }
    return false;
}

/* Sets the rows of g whose bound is 0 to 0. */
TALUS_INLINE void talus_joint_clear_immovable(int rows, const TalusSet *set, double *g)
{
    for (int k = 0; k < rows; k++)
        if (talus_joint_bound(set, k) == 0.0)
            g[k] = 0.0;
}

/* Projects d, in place, onto the tangent cone at x: 0 in rows whose bound is 0 or that d would take beyond it. */
TALUS_INLINE void talus_joint_project_tangent(int rows, const TalusSet *set, const double *x,
                                              double *d)
{
    for (int k = 0; k < rows; k++) {
        double bound = talus_joint_bound(set, k);
        if (bound == 0.0 || (x[k] >= bound && d[k] > 0.0) || (x[k] <= -bound && d[k] < 0.0))
            d[k] = 0.0;
    }
}

/* Returns the largest a >= 0 with x - a p in the box, for x in the box; may be infinite. */
TALUS_INLINE double talus_joint_feasible_step(int rows, const TalusSet *set, const double *x,
                                              const double *p)
{
    double least = INFINITY;
    for (int k = 0; k < rows; k++) {
        double bound = talus_joint_bound(set, k);
        if (p[k] == 0.0)
            continue;
        least = fmin(least, ((p[k] > 0.0 ? x[k] : -x[k]) + bound) / fabs(p[k]));
    }
    return least;
}

#endif
