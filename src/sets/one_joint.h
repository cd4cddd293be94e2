/* sets/one_joint.h - the problem of one joint's block within a sweep, for host and device.
 *
 * Given the joint's diagonal block A of N + E and the gradient g = (N + E) gamma + q in its rows, the change d of
 * gamma minimises 1/2 d'A d + g'd. If A is regular and the result is within the bounds, one linear solve over the
 * joint's rows gives d. Otherwise the objective is minimised over each row in turn within its bounds, and later sweeps
 * correct the rest. Either way the objective does not increase for relaxation factors 0 < omega < 2. */
#ifndef TALUS_SETS_ONE_JOINT_H
#define TALUS_SETS_ONE_JOINT_H

#include "sets/joint.h"

/* step = A^-1 g over the rows with a positive bound, by L D L'; 0 in other rows. Returns false if A is singular in the
 * rows with a positive bound. */
TALUS_INLINE bool talus_one_solve_joint_rows(const TalusSet *set, const double a[3][3],
                                             const double g[3], double step[3])
{
    const double flat = 1e-12; /* a pivot below this share of its diagonal entry is rounding of A */
    double l[3][3], d[3];
    for (int k = 0; k < 3; k++) {
        bool moves = talus_joint_bound(set, k) > 0.0;
        d[k] = moves ? a[k][k] : 1.0;
        step[k] = moves ? g[k] : 0.0;
        for (int j = 0; j < k; j++) {
            double sum = moves && talus_joint_bound(set, j) > 0.0 ? a[k][j] : 0.0;
            for (int i = 0; i < j; i++)
                sum -= l[k][i] * d[i] * l[j][i];
            l[k][j] = sum / d[j];
        }
        for (int j = 0; j < k; j++) {
            d[k] -= l[k][j] * l[k][j] * d[j];
            step[k] -= l[k][j] * step[j];
        }
        if (moves && !(d[k] > flat * a[k][k]))
            return false;
    }
    for (int k = 2; k >= 0; k--) {
        step[k] /= d[k];
        for (int j = k + 1; j < 3; j++)
            step[k] -= l[j][k] * step[j];
    }
    return true;
}

/* Changes gamma by omega times the d that minimises 1/2 d'A d + g'd. If the result is outside the bounds or A is
 * singular, changes gamma row by row within the bounds instead. */
TALUS_INLINE void talus_one_step_joint(const TalusSet *set, const double a[3][3], const double g[3],
                                       double omega, double gamma[3])
{
    double step[3], rest[3];
    bool fits = talus_one_solve_joint_rows(set, a, g, step);
    for (int k = 0; fits && k < 3; k++)
        fits = fabs(gamma[k] - omega * step[k]) <= talus_joint_bound(set, k);
    for (int k = 0; k < 3; k++) {
        rest[k] = g[k];
        if (fits)
            gamma[k] -= omega * step[k];
    }
    for (int k = 0; !fits && k < 3; k++) {
        double next = a[k][k] > 0.0 ? gamma[k] - omega * rest[k] / a[k][k] : gamma[k];
        double change = talus_joint_clip(next, talus_joint_bound(set, k)) - gamma[k];
        gamma[k] += change;
        for (int j = k + 1; j < 3; j++)
            rest[j] += a[j][k] * change;
    }
}

#endif
