/* measure/segment.h - a line through a grid, in pieces on which the means of the kernel over every cell are polynomials.
 *
 * As the point y(s) moves along the line, the means over a cell change from one polynomial to another where y is the
 * width of the kernel away from an edge of the cell. Between these places Gauss's rule is exact. */
#ifndef TALUS_MEASURE_SEGMENT_H
#define TALUS_MEASURE_SEGMENT_H

#include "measure/axis.h"

#include <stdbool.h>

/* The points start + s along, with s from `from` to `to`. */
typedef struct TalusSegment {
    TalusVec3 start, along;
    double from, to;
} TalusSegment;

/* Shortens the segment to the part whose kernels reach the cells of the first two axes and the cells `layer` of the third;
 * false if there is none. */
bool talus_segment_clip(TalusSegment *segment, const TalusAxis axis[3], TalusCells layer);
/* Returns the end of the piece that begins at s: the next place where some cell's mean has another polynomial, at most
 * segment->to. */
double talus_segment_next(const TalusSegment *segment, const TalusAxis axis[3], double s);

#endif
