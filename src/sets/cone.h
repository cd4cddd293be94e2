/* sets/cone.h - the friction cone |t| <= mu n and its projection, for host and device.
 *
 * Written once in the common subset of C17 and CUDA C++, inlined into every kernel. */
#ifndef TALUS_SETS_CONE_H
#define TALUS_SETS_CONE_H

#include <talus/math.h>

/* Returns the projection of n onto the half line n >= 0. A NaN stays NaN, so that residuals reveal it. */
TALUS_INLINE double talus_project_nonneg(double n)
{
    return n <= 0.0 ? 0.0 : n;
}

/* Projects (n, t), in place, onto the cone |t| <= mu n in the metric diag(b_n, b_t, b_t).
 *
 * Three cases: inside; in the polar cone, to the apex; otherwise onto the mantle, where
 *     n' = (n + kappa |t|) / (1 + mu kappa),   t' = mu n' t / |t|,   kappa = mu b_t / b_n.
 * kappa = mu is the Euclidean projection. For mu = 0 the cone is the half line t = 0, n >= 0. The test n >= 0 is needed
 * for mu = 0 and where mu n underflows, as |t| <= mu n would then accept a negative n. */
TALUS_INLINE void talus_project_cone(double mu, double kappa, double *n, double *t1, double *t2)
{
    double t = sqrt(*t1 * *t1 + *t2 * *t2);
    if (t <= mu * *n && *n >= 0.0)
        return;
    if (kappa * t <= -*n) {
        *n = *t1 = *t2 = 0.0;
        return;
    }
    double mantle = (*n + kappa * t) / (1.0 + mu * kappa);
    double shrink = mu * mantle / t;
    *n = mantle;
    *t1 *= shrink;
    *t2 *= shrink;
}

/* Location of a block's impulse in its friction cone. An impulse counts as on the mantle |t| = mu n within rounding,
 * since projections round. Without friction the cone is a half line, which has no mantle. */
typedef enum TalusConeState {
    TALUS_CONE_APEX,
    TALUS_CONE_MANTLE,
    TALUS_CONE_INSIDE
} TalusConeState;

/* Returns the location of (n, t1, t2). NaN in n counts as the apex. */
TALUS_INLINE TalusConeState talus_cone_state(double mu, double n, double t1, double t2)
{
    if (!(n > 0.0))
        return TALUS_CONE_APEX;
    double tangent2 = t1 * t1 + t2 * t2; /* 0: inside, even if mu^2 n^2 underflows to 0 */
    if (mu > 0.0 && tangent2 > 0.0 && tangent2 >= mu * mu * n * n * (1.0 - 1e-12))
        return TALUS_CONE_MANTLE;
    return TALUS_CONE_INSIDE;
}

/* Projects d, in place, onto the tangent cone at x: the cone itself if x is the apex, a half space if x is on the
 * mantle, and otherwise all directions, or for mu = 0 those along the normal. */
TALUS_INLINE void talus_cone_project_tangent(double mu, const double x[3], double d[3])
{
    TalusConeState state = talus_cone_state(mu, x[0], x[1], x[2]);
    if (state == TALUS_CONE_APEX) {
        talus_project_cone(mu, mu, &d[0], &d[1], &d[2]);
    } else if (mu == 0.0) {
        d[1] = d[2] = 0.0;
    } else if (state == TALUS_CONE_MANTLE) {
        double t = sqrt(x[1] * x[1] + x[2] * x[2]);
        double out = -mu * d[0] + (x[1] * d[1] + x[2] * d[2]) / t;
        if (out > 0.0) {
            out /= 1.0 + mu * mu;
            d[0] += mu * out;
            d[1] -= out * x[1] / t;
            d[2] -= out * x[2] / t;
        }
    }
}

/* Returns the largest a >= 0 with x - a p in the cone, for x in the cone; infinity if there is no largest. It is the
 * first root of
 *     f(a) = |t - a p_t|^2 - mu^2 (n - a p_n)^2 = c - 2 b a + s a^2 = 0, or n - a p_n = 0. */
TALUS_INLINE double talus_cone_feasible_step(double mu, const double x[3], const double p[3])
{
    double mu2 = mu * mu, apex = p[0] > 0.0 ? x[0] / p[0] : INFINITY;
    double c = x[1] * x[1] + x[2] * x[2] - mu2 * x[0] * x[0];
    double b = x[1] * p[1] + x[2] * p[2] - mu2 * x[0] * p[0];
    double s = p[1] * p[1] + p[2] * p[2] - mu2 * p[0] * p[0];
    c = c < 0.0 ? c : 0.0;
    double root2 = b * b - s * c;
    if (root2 < 0.0)
        return apex;
    double root = sqrt(root2), exit = INFINITY;
    if (b < 0.0)
        exit = -c / (root - b);
    else if (s > 0.0)
        exit = (b + root) / s;
    return exit < apex ? exit : apex;
}

#endif
