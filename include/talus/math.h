/* talus/math.h - small vectors, quaternions and symmetric matrices, as plain values.
 *
 * Only + - * / and square root are used, so results are the same on every IEEE platform. */
#ifndef TALUS_MATH_H
#define TALUS_MATH_H

#include <math.h>

/* Small functions that host and device code share. */
#ifdef __CUDACC__
#define TALUS_INLINE static __host__ __device__ inline
#else
#define TALUS_INLINE static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TalusVec3 {
    double x, y, z;
} TalusVec3;

/* Unit quaternion, scalar part first: rotates body coordinates to world coordinates. */
typedef struct TalusQuat {
    double w, x, y, z;
} TalusQuat;

/* Symmetric 3x3 matrix. */
typedef struct TalusSym3 {
    double xx, yy, zz, xy, xz, yz;
} TalusSym3;

/* Axis-aligned box. */
typedef struct TalusAabb {
    TalusVec3 lo, hi;
} TalusAabb;

/* Space that repeats itself from lo to hi along the axes k with on[k] nonzero. */
typedef struct TalusPeriod {
    TalusVec3 lo, hi;
    int on[3];
    /* m: offset along x of the images across the period along y; 0 unless both are periodic. A sheared cell has it. */
    double tilt;
} TalusPeriod;

/* Gradient of the velocity with which a periodic cell deforms, 1/s: stretching along the axes, and simple shear, xy:
 * velocity along x over position along y. */
typedef struct TalusGradient {
    double xx, yy, zz, xy;
} TalusGradient;

/* The larger and the smaller of two numbers; b if they are equal or one is NaN. Fast everywhere, where fmax and
 * fmin, which must treat NaN in their way, may be calls. */
TALUS_INLINE double talus_max(double a, double b)
{
    return a > b ? a : b;
}

TALUS_INLINE double talus_min(double a, double b)
{
    return a < b ? a : b;
}

TALUS_INLINE TalusVec3 talus_vec3(double x, double y, double z)
{
    TalusVec3 r = {x, y, z};
    return r;
}

/* Returns the component along axis 0, 1 or 2. */
TALUS_INLINE double talus_along(TalusVec3 a, int axis)
{
    return axis == 0 ? a.x : axis == 1 ? a.y : a.z;
}

TALUS_INLINE TalusVec3 talus_add(TalusVec3 a, TalusVec3 b)
{
    return talus_vec3(a.x + b.x, a.y + b.y, a.z + b.z);
}

TALUS_INLINE TalusVec3 talus_sub(TalusVec3 a, TalusVec3 b)
{
    return talus_vec3(a.x - b.x, a.y - b.y, a.z - b.z);
}

TALUS_INLINE TalusVec3 talus_scale(double s, TalusVec3 a)
{
    return talus_vec3(s * a.x, s * a.y, s * a.z);
}

/* Returns a + s b. */
TALUS_INLINE TalusVec3 talus_madd(TalusVec3 a, double s, TalusVec3 b)
{
    return talus_vec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

TALUS_INLINE TalusVec3 talus_neg(TalusVec3 a)
{
    return talus_vec3(-a.x, -a.y, -a.z);
}

TALUS_INLINE double talus_dot(TalusVec3 a, TalusVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

TALUS_INLINE TalusVec3 talus_cross(TalusVec3 a, TalusVec3 b)
{
    return talus_vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

TALUS_INLINE double talus_norm(TalusVec3 a)
{
    return sqrt(talus_dot(a, a));
}

/* Returns a / |a|, or `fallback` if a is zero. */
TALUS_INLINE TalusVec3 talus_normalize(TalusVec3 a, TalusVec3 fallback)
{
    double n = talus_norm(a);
    return n > 0.0 ? talus_scale(1.0 / n, a) : fallback;
}

TALUS_INLINE TalusQuat talus_quat_identity(void)
{
    TalusQuat r = {1.0, 0.0, 0.0, 0.0};
    return r;
}

TALUS_INLINE TalusQuat talus_quat_mul(TalusQuat a, TalusQuat b)
{
    TalusQuat r = {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                   a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                   a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                   a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
    return r;
}

TALUS_INLINE TalusQuat talus_quat_normalize(TalusQuat q)
{
    double s = 1.0 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    TalusQuat r = {s * q.w, s * q.x, s * q.y, s * q.z};
    return r;
}

/* Returns the rotation by the small vector `angle` (axis times radians) by the Cayley map: exact axis, angle
 * 2 atan(|angle|/2). The angle's error is about |angle|^3/12, and no transcendental function is needed. */
TALUS_INLINE TalusQuat talus_quat_cayley(TalusVec3 angle)
{
    TalusQuat r = {1.0, 0.5 * angle.x, 0.5 * angle.y, 0.5 * angle.z};
    return talus_quat_normalize(r);
}

/* Returns a rotated by q, from body to world coordinates; talus_rotate_back is the inverse. */
TALUS_INLINE TalusVec3 talus_rotate(TalusQuat q, TalusVec3 a)
{
    TalusVec3 u = talus_vec3(q.x, q.y, q.z);
    TalusVec3 t = talus_scale(2.0, talus_cross(u, a));
    return talus_add(talus_madd(a, q.w, t), talus_cross(u, t));
}

TALUS_INLINE TalusVec3 talus_rotate_back(TalusQuat q, TalusVec3 a)
{
    TalusQuat c = {q.w, -q.x, -q.y, -q.z};
    return talus_rotate(c, a);
}

TALUS_INLINE TalusVec3 talus_sym3_mul(TalusSym3 m, TalusVec3 a)
{
    return talus_vec3(m.xx * a.x + m.xy * a.y + m.xz * a.z, m.xy * a.x + m.yy * a.y + m.yz * a.z,
                      m.xz * a.x + m.yz * a.y + m.zz * a.z);
}

TALUS_INLINE TalusSym3 talus_sym3_scale(double s, TalusSym3 m)
{
    TalusSym3 r = {s * m.xx, s * m.yy, s * m.zz, s * m.xy, s * m.xz, s * m.yz};
    return r;
}

/* Returns R m R^T, with R the rotation by q. */
TALUS_INLINE TalusSym3 talus_sym3_rotate(TalusQuat q, TalusSym3 m)
{
    TalusVec3 ex = talus_rotate(q, talus_vec3(1, 0, 0));
    TalusVec3 ey = talus_rotate(q, talus_vec3(0, 1, 0));
    TalusVec3 ez = talus_rotate(q, talus_vec3(0, 0, 1));
    TalusVec3 r0 = talus_vec3(ex.x, ey.x, ez.x);
    TalusVec3 r1 = talus_vec3(ex.y, ey.y, ez.y);
    TalusVec3 r2 = talus_vec3(ex.z, ey.z, ez.z);
    TalusVec3 m0 = talus_sym3_mul(m, r0);
    TalusVec3 m1 = talus_sym3_mul(m, r1);
    TalusVec3 m2 = talus_sym3_mul(m, r2);
    TalusSym3 r = {talus_dot(r0, m0), talus_dot(r1, m1), talus_dot(r2, m2),
                   talus_dot(r0, m1), talus_dot(r0, m2), talus_dot(r1, m2)};
    return r;
}

/* Returns the inverse of a positive definite matrix. */
TALUS_INLINE TalusSym3 talus_sym3_inverse(TalusSym3 m)
{
    double cxx = m.yy * m.zz - m.yz * m.yz;
    double cxy = m.xz * m.yz - m.xy * m.zz;
    double cxz = m.xy * m.yz - m.xz * m.yy;
    double s = 1.0 / (m.xx * cxx + m.xy * cxy + m.xz * cxz);
    TalusSym3 r = {
        s * cxx, s * (m.xx * m.zz - m.xz * m.xz), s * (m.xx * m.yy - m.xy * m.xy), s * cxy,
        s * cxz, s * (m.xy * m.xz - m.xx * m.yz)};
    return r;
}

#ifdef __cplusplus
}
#endif

#endif
