/* measure/ball.h - the part of a ball that lies in a box or a cylinder.
 *
 * The area of a disc in a rectangle or a circle is in closed form; it is integrated along the axis by Gauss's rule between the
 * heights at which the disc begins or ceases to cross an edge, a corner or the circle. There the area has square roots, which
 * the substitution z ~ (3 s - s^3) / 2 makes smooth: the error is below 1e-10 of the ball. */
#ifndef TALUS_MEASURE_BALL_H
#define TALUS_MEASURE_BALL_H

#include <talus/measure.h>

/* Returns the volume of the part of the ball of this centre and radius that is in the region. */
double talus_ball_in_region(TalusVec3 centre, double radius, const TalusRegion *region);

#endif
