/* base/lane4.h - vectors of four floats, which every x86-64 (SSE2) and ARM64 (NEON) processor has.
 *
 * The functions are those of base/lane.h. Each lane has plain IEEE operations: results are those of scalar code in the
 * same order. */
#ifndef TALUS_BASE_LANE4_H
#define TALUS_BASE_LANE4_H

#include "base/lane.h"

/* Number of floats in a Lane4. */
enum { LANES4 = 4 };

/* A vector of four floats; each of them is a lane. */
typedef float Lane4 __attribute__((vector_size(16)));
/* Result of comparing two Lane4: all bits of a lane are 1 where the comparison holds, else 0. */
typedef int32_t Mask4 __attribute__((vector_size(16)));

/* Returns a in all lanes. */
KERNEL Lane4 lane4(float a)
{
    return (Lane4){a, a, a, a};
}

/* Returns p[0] to p[3]; p need not be aligned. */
KERNEL Lane4 lane4_load(const float *p)
{
    Lane4 r;
    memcpy(&r, p, sizeof r);
    return r;
}

/* Stores a to p[0] to p[3]; p need not be aligned. */
KERNEL void lane4_store(float *p, Lane4 a)
{
    memcpy(p, &a, sizeof a);
}

/* Sets lane k of *r to a, and leaves the other lanes alone (lane_set). */
KERNEL void lane4_set(Lane4 *r, int k, float a)
{
    memcpy((char *)r + (size_t)k * sizeof a, &a, sizeof a);
}

/* Returns lane k of *r; for a variable k, r[k] would go through the stack. */
KERNEL float lane4_get(const Lane4 *r, int k)
{
    float a;
    memcpy(&a, (const char *)r + (size_t)k * sizeof a, sizeof a);
    return a;
}

/* Returns a in lanes where the mask has all bits set, b where it is 0. */
KERNEL Lane4 lane4_select(Mask4 m, Lane4 a, Lane4 b)
{
    return (Lane4)((m & (Mask4)a) | (~m & (Mask4)b));
}

KERNEL Lane4 lane4_sqrt(Lane4 a)
{
#if defined(__aarch64__)
    return (Lane4)vsqrtq_f32((float32x4_t)a);
#elif defined(__SSE2__)
    return (Lane4)_mm_sqrt_ps((__m128)a);
#else
    return (Lane4){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])};
#endif
}

/* Returns lane 3 of a in all lanes. */
KERNEL Lane4 lane4_last(Lane4 a)
{
    return __builtin_shufflevector(a, a, 3, 3, 3, 3);
}

/* Transposes the matrix whose rows are r[0] to r[3]. */
KERNEL void lane4_transpose(Lane4 r[4])
{
    Lane4 a = __builtin_shufflevector(r[0], r[2], 0, 4, 1, 5);
    Lane4 b = __builtin_shufflevector(r[0], r[2], 2, 6, 3, 7);
    Lane4 c = __builtin_shufflevector(r[1], r[3], 0, 4, 1, 5);
    Lane4 d = __builtin_shufflevector(r[1], r[3], 2, 6, 3, 7);
    r[0] = __builtin_shufflevector(a, c, 0, 4, 1, 5);
    r[1] = __builtin_shufflevector(a, c, 2, 6, 3, 7);
    r[2] = __builtin_shufflevector(b, d, 0, 4, 1, 5);
    r[3] = __builtin_shufflevector(b, d, 2, 6, 3, 7);
}

/* r = a x b; r must be neither a nor b. */
KERNEL void lane4_cross(const Lane4 a[3], const Lane4 b[3], Lane4 r[3])
{
    r[0] = a[1] * b[2] - a[2] * b[1];
    r[1] = a[2] * b[0] - a[0] * b[2];
    r[2] = a[0] * b[1] - a[1] * b[0];
}

KERNEL Lane4 lane4_dot(const Lane4 a[3], const Lane4 b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

#endif
