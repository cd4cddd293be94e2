/* geometry/closest.h - signed distance from a point to a shape, in the shape's frame. */
#ifndef TALUS_GEOMETRY_CLOSEST_H
#define TALUS_GEOMETRY_CLOSEST_H

#include <talus/math.h>

#include <stdbool.h>
#include <stdint.h>

/* Distance from p to the surface of a solid, negative inside; `normal` is the outward direction at
 * the nearest surface point, so that p - distance * normal lies on the surface. Inside, the face of
 * least depth counts. */
double talus_box_distance(TalusVec3 half, TalusVec3 p, TalusVec3 *normal);
double talus_cylinder_distance(double radius, double half_height, TalusVec3 p, TalusVec3 *normal);

/* A nearest point of a revolve: a local minimum of the distance from p. `normal` points from the
 * wall to p, on whichever side p is. */
typedef void TalusRevolveFn(void *context, uint32_t feature, TalusVec3 normal, double distance);

/* Calls fn for every contact of a ball at p with the wall nearer than `reach`:
 *   - a face that p projects onto: one call; in a concave corner there is one per face
 *   - an edge or a free rim whose circle is nearer than the faces beside it: one call
 *   - where the ball fills the wall (p near the axis of a tube, funnel or hole), the same face or
 *     circle again at 120 and 240 degrees from p, as far as nearer than `reach`: one point of a
 *     ring cannot hold the ball
 * `profile` holds `points` pairs (radius, height). The feature is 2k for the circle of point k,
 * 2k + 1 for the face from point k to k + 1, plus the turn (0, 1, 2) times 2^30. */
void talus_revolve_visit(const double *profile, int points, TalusVec3 p, double reach,
                         TalusRevolveFn *fn, void *context);

/* True if some point of the wall is nearer to p than `reach`. */
bool talus_revolve_near(const double *profile, int points, TalusVec3 p, double reach);

#endif
