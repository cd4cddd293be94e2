/* base/lane.h - vectors of two doubles, which every x86-64 (SSE2) and ARM64 (NEON) processor has.
 *
 * Each lane has plain IEEE operations: results are those of scalar code in the same order. */
#ifndef TALUS_BASE_LANE_H
#define TALUS_BASE_LANE_H

#include <stdint.h>
#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#else
#include <math.h>
#endif

/* Marks functions that are always inlined into the loops that call them, so that branches on constant arguments
 * disappear. */
#define KERNEL static inline __attribute__((always_inline))

/* Number of doubles in a Lane. */
enum { LANES = 2 };

/* A vector of two doubles; each of them is a lane. */
typedef double Lane __attribute__((vector_size(16)));
/* Result of comparing two Lanes: all bits of a lane are 1 where the comparison holds, else 0. */
typedef int64_t Mask __attribute__((vector_size(16)));

/* Projections onto cones divide mu by t^2, the squared tangential impulse; below this they divide by 1, as the quotient
 * could overflow. */
#define TINY2 1e-280

/* Returns a in both lanes. */
KERNEL Lane lane(double a)
{
    return (Lane){a, a};
}

/* Returns p[0] and p[1]; p need not be aligned. */
KERNEL Lane lane_load(const double *p)
{
    Lane r;
    memcpy(&r, p, sizeof r);
    return r;
}

/* Stores a to p[0] and p[1]; p need not be aligned. */
KERNEL void lane_store(double *p, Lane a)
{
    memcpy(p, &a, sizeof a);
}

/* Sets lane k of *r to a. For the assignment (*r)[k] = a clang would store both lanes, which can undo a write of
 * another thread to the other lane. */
KERNEL void lane_set(Lane *r, int k, double a)
{
    memcpy((char *)r + (size_t)k * sizeof a, &a, sizeof a);
}

/* Returns lane k of *r; for a variable k, r[k] would go through the stack. */
KERNEL double lane_get(const Lane *r, int k)
{
    double a;
    memcpy(&a, (const char *)r + (size_t)k * sizeof a, sizeof a);
    return a;
}

/* Returns a in lanes where the mask has all bits set, b where it is 0. */
KERNEL Lane lane_select(Mask m, Lane a, Lane b)
{
    return (Lane)((m & (Mask)a) | (~m & (Mask)b));
}

KERNEL Lane lane_sqrt(Lane a)
{
#if defined(__aarch64__)
    return (Lane)vsqrtq_f64((float64x2_t)a);
#elif defined(__SSE2__)
    return (Lane)_mm_sqrt_pd((__m128d)a);
#else
    return (Lane){sqrt(a[0]), sqrt(a[1])};
#endif
}

/* Load two floats as doubles, and store two doubles as floats, rounded. Both use intrinsics, since gcc converts
 * elements one by one. */
KERNEL Lane lane_load_floats(const float *p)
{
#if defined(__aarch64__)
    return (Lane)vcvt_f64_f32(vld1_f32(p));
#elif defined(__SSE2__)
    double both; /* the bits of two floats; p is aligned for one */
    memcpy(&both, p, sizeof both);
    return (Lane)_mm_cvtps_pd(_mm_castpd_ps(_mm_set_sd(both)));
#else
    return (Lane){p[0], p[1]};
#endif
}

KERNEL void lane_store_floats(float *p, Lane a)
{
#if defined(__aarch64__)
    vst1_f32(p, vcvt_f32_f64((float64x2_t)a));
#elif defined(__SSE2__)
    double both = _mm_cvtsd_f64(_mm_castps_pd(_mm_cvtpd_ps((__m128d)a)));
    memcpy(p, &both, sizeof both);
#else
    p[0] = (float)a[0];
    p[1] = (float)a[1];
#endif
}

/* Return (a[0], b[0]) and (a[1], b[1]). */
KERNEL Lane lane_low(Lane a, Lane b)
{
    return __builtin_shufflevector(a, b, 0, 2);
}

KERNEL Lane lane_high(Lane a, Lane b)
{
    return __builtin_shufflevector(a, b, 1, 3);
}

/* Load two consecutive vectors of 3 doubles, p[0..2] and p[3..5], as r[k] = (p[k], p[3 + k]); store them back. */
KERNEL void lane_load3(const double *p, Lane r[3])
{
    Lane a = lane_load(p), b = lane_load(p + 2), c = lane_load(p + 4);
    r[0] = __builtin_shufflevector(a, b, 0, 3);
    r[1] = __builtin_shufflevector(a, c, 1, 2);
    r[2] = __builtin_shufflevector(b, c, 0, 3);
}

KERNEL void lane_store3(double *p, const Lane r[3])
{
    lane_store(p, lane_low(r[0], r[1]));
    lane_store(p + 2, __builtin_shufflevector(r[2], r[0], 0, 3));
    lane_store(p + 4, lane_high(r[1], r[2]));
}

/* Loads 2 `pairs` doubles from each of two addresses: r[k] = (p[k], q[k]). */
KERNEL void lane_gather(const double *p, const double *q, int pairs, Lane *r)
{
    for (int i = 0; i < pairs; i++) {
        Lane a = lane_load(p + 2 * i), b = lane_load(q + 2 * i);
        r[2 * i] = lane_low(a, b);
        r[2 * i + 1] = lane_high(a, b);
    }
}

/* r = a x b; r must be neither a nor b. */
KERNEL void lane_cross(const Lane a[3], const Lane b[3], Lane r[3])
{
    r[0] = a[1] * b[2] - a[2] * b[1];
    r[1] = a[2] * b[0] - a[0] * b[2];
    r[2] = a[0] * b[1] - a[1] * b[0];
}

KERNEL Lane lane_dot(const Lane a[3], const Lane b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

#endif
