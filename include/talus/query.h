/* talus/query.h - rays, moving spheres and spheres at rest against the bodies of a world.
 *
 * A ray is a moving sphere of radius 0. All shapes are met by their exact surfaces: convex shapes, their compounds and
 * planes are solid; meshes, height fields and revolves are thin. The world does not change. One rank; space that does not
 * repeat itself. The cost is that of all bodies for each ray; rays are shared among the world's threads. */
#ifndef TALUS_QUERY_H
#define TALUS_QUERY_H

#include <talus/base.h>
#include <talus/math.h>
#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which bodies a query sees. */
typedef struct TalusQueryFilter {
    uint32_t cookie;
    uint32_t groups;    /* bit k: bodies of group k (TalusBodyBatch.group) */
    bool moving, fixed; /* free and sleeping ones; fixed and driven ones */
    TalusBodyId ignore; /* number 0: none */
} TalusQueryFilter;

/* All bodies. */
TALUS_API TalusQueryFilter talus_query_filter_default(void);

/* A sphere that moves from a point along a direction, of any length above 0. */
typedef struct TalusRay {
    TalusVec3 from, direction;
    double length; /* m: of the way of its centre; infinite: no end */
    double radius; /* m; 0: a ray */
} TalusRay;

typedef struct TalusHit {
    TalusBodyId body; /* number 0: nothing was hit, and the rest is 0 */
    /* m: way of the centre until the sphere touches the body, within 1e-6 of the size of the body; 0: it touches or overlaps
     * the body from the start */
    double distance;
    TalusVec3 point; /* of the body's surface; with distance 0 the start */
    TalusVec3
        normal; /* unit, from the body; with distance 0 that of the nearest surface or, inside, against the way */
} TalusHit;

/* Finds the first body that each of ray[count] meets; of several at the same distance that of the lowest number. `filter`
 * NULL: all bodies. */
TALUS_API TalusStatus talus_world_cast(const TalusWorld *world, const TalusQueryFilter *filter,
                                       const TalusRay *ray, int64_t count, TalusHit *hit);

/* Finds the bodies that a sphere touches or overlaps; radius 0: those that contain the point. Writes the ids of at most
 * `capacity` of them to `body`, which may be NULL, in the order of talus_world_get_state; *count: the number of all. */
TALUS_API TalusStatus talus_world_overlap(const TalusWorld *world, const TalusQueryFilter *filter,
                                          TalusVec3 centre, double radius, TalusBodyId *body,
                                          int64_t capacity, int64_t *count);

#ifdef __cplusplus
}
#endif

#endif
