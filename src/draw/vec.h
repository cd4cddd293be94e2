/* draw/vec.h - single-precision vectors of the renderer. Points in world axes are relative to TalusPicture.origin. */
#ifndef TALUS_DRAW_VEC_H
#define TALUS_DRAW_VEC_H

#include <talus/math.h>

typedef struct TalusF3 {
    float x, y, z;
} TalusF3;

static inline TalusF3 talus_f3(float x, float y, float z)
{
    TalusF3 r = {x, y, z};
    return r;
}

static inline TalusF3 talus_f3_from_vec3(TalusVec3 a)
{
    return talus_f3((float)a.x, (float)a.y, (float)a.z);
}

static inline TalusF3 talus_f3_add(TalusF3 a, TalusF3 b)
{
    return talus_f3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline TalusF3 talus_f3_sub(TalusF3 a, TalusF3 b)
{
    return talus_f3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline TalusF3 talus_f3_scale(float s, TalusF3 a)
{
    return talus_f3(s * a.x, s * a.y, s * a.z);
}

/* a + s b */
static inline TalusF3 talus_f3_madd(TalusF3 a, float s, TalusF3 b)
{
    return talus_f3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

static inline float talus_f3_dot(TalusF3 a, TalusF3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline TalusF3 talus_f3_cross(TalusF3 a, TalusF3 b)
{
    return talus_f3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

/* a / |a|; a must not be zero. */
static inline TalusF3 talus_f3_normalize(TalusF3 a)
{
    return talus_f3_scale(1.0f / sqrtf(talus_f3_dot(a, a)), a);
}

/* Returns x limited to low .. high. */
static inline float talus_clampf(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

#endif
