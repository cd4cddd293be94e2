/* Clouds of points that are hard on a convex hull, each kind in all sizes and places. */
#ifndef TALUS_TESTS_HULL_CLOUDS_H
#define TALUS_TESTS_HULL_CLOUDS_H

#include "base/rng.h"

#include <talus/math.h>

enum {
    CLOUD_CUBE,    /* anywhere in a cube */
    CLOUD_SPHERE,  /* on a sphere: all of them vertices */
    CLOUD_LATTICE, /* small whole numbers: planes, lines, circles and points met many times */
    CLOUD_PRISM,   /* two rings of many points on common circles */
    CLOUD_SINGLE,  /* lattice, turned and rounded to single precision, as files of triangles are */
    CLOUD_SHELL,   /* on a sphere, each point several times, apart by rounding alone */
    CLOUD_NEEDLE,  /* a cube a thousand times longer than wide */
    CLOUD_CAP,     /* a cap so shallow that it is flat almost to the tolerance, and its base */
    CLOUD_KINDS
};

static inline double cloud_real(TalusRng *rng)
{
    return 2.0 * talus_rng_uniform(rng) - 1.0;
}

static inline TalusVec3 cloud_in_cube(TalusRng *rng)
{
    double x = cloud_real(rng), y = cloud_real(rng);
    return talus_vec3(x, y, cloud_real(rng));
}

static inline TalusQuat cloud_turn(TalusRng *rng)
{
    TalusQuat q = {cloud_real(rng), cloud_real(rng), cloud_real(rng), cloud_real(rng)};
    return talus_quat_normalize(q);
}

static inline TalusVec3 cloud_lattice(TalusRng *rng, uint64_t sides)
{
    double x = (double)talus_rng_below(rng, sides), y = (double)talus_rng_below(rng, sides);
    return talus_vec3(x, y, (double)talus_rng_below(rng, sides));
}

static inline TalusVec3 cloud_point(int kind, TalusRng *rng, int k, TalusQuat turn)
{
    TalusVec3 p = cloud_in_cube(rng), s = talus_normalize(p, talus_vec3(1, 0, 0));
    double c, w;
    switch (kind) {
    case CLOUD_SPHERE: return s;
    case CLOUD_LATTICE: return cloud_lattice(rng, 4);
    case CLOUD_PRISM:
        c = 2.0 * talus_rng_uniform(rng) - 1.0;
        w = sqrt(1.0 - c * c);
        return talus_rotate(turn, talus_vec3(c, k & 1 ? w : -w, k & 2 ? 0.7 : -0.7));
    case CLOUD_SINGLE:
        p = talus_rotate(turn, cloud_lattice(rng, 3));
        return talus_vec3((float)p.x, (float)p.y, (float)p.z);
    case CLOUD_SHELL: {
        TalusRng own = talus_rng_from_seed((uint64_t)k / 3);
        s = talus_normalize(cloud_in_cube(&own), s);
        return talus_madd(s, 1e-15, p);
    }
    case CLOUD_NEEDLE: return talus_rotate(turn, talus_vec3(p.x, 1e-3 * p.y, 1e-3 * p.z));
    case CLOUD_CAP: return talus_vec3(p.x, p.y, k < 4 ? -0.5 : -1e-6 * (p.x * p.x + p.y * p.y));
    default: return p;
    }
}

/* `count` points of a kind; the scale and the place are random too. */
static inline void cloud_fill(int kind, uint64_t seed, int count, TalusVec3 *point)
{
    TalusRng rng = talus_rng_from_seed(seed * 1000003 + (uint64_t)kind);
    TalusQuat turn = cloud_turn(&rng);
    double scale = ldexp(1.0 + talus_rng_uniform(&rng), (int)talus_rng_below(&rng, 60) - 30);
    TalusVec3 at = talus_scale(talus_rng_below(&rng, 2) ? 5.0 : 0.0, cloud_in_cube(&rng));
    for (int k = 0; k < count; k++)
        point[k] = talus_scale(scale, talus_add(at, cloud_point(kind, &rng, k, turn)));
}

#endif
