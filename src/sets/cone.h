/* sets/cone.h - the friction cone |t| <= mu n and its projection, for host and device.
 *
 * Written once in the common subset of C17 and CUDA C++, inlined into every kernel. */
#ifndef TALUS_SETS_CONE_H
#define TALUS_SETS_CONE_H

#include <math.h>

#ifdef __CUDACC__
#define TALUS_INLINE static __host__ __device__ inline
#else
#define TALUS_INLINE static inline
#endif

/* Projection onto the nonnegative half line. A NaN stays one: a residual must show it. */
TALUS_INLINE double talus_project_nonneg(double n)
{
    return n <= 0.0 ? 0.0 : n;
}

/* Projection of (n, t) onto the cone in the metric diag(b_n, b_t, b_t), in place.
 *
 * Three cases: inside; in the polar cone, to the apex; otherwise onto the mantle, where
 *     n' = (n + kappa |t|) / (1 + mu kappa),   t' = mu n' t / |t|,   kappa = mu b_t / b_n.
 * kappa = mu is the Euclidean projection. mu = 0 leaves the half line; there, and where mu n
 * underflows, t <= mu n alone would let a negative n pass. */
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

#endif
