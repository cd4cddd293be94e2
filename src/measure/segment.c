/* measure/segment.c - clips a line to a grid, and cuts it into pieces. */
#include "measure/segment.h"

/* Shortens the segment to the part with low <= y <= high along an axis. */
static void clip_axis(TalusSegment *segment, int axis, double low, double high)
{
    const double y = talus_along(segment->start, axis), d = talus_along(segment->along, axis);
    if (d == 0.0) {
        if (y < low || y > high)
            segment->to = segment->from;
        return;
    }
    const double a = (low - y) / d, b = (high - y) / d;
    segment->from = talus_max(segment->from, talus_min(a, b));
    segment->to = talus_min(segment->to, talus_max(a, b));
}

bool talus_segment_clip(TalusSegment *segment, const TalusAxis axis[3], TalusCells layer)
{
    for (int k = 0; k < 3; k++) {
        const TalusCells cells = k < 2 ? (TalusCells){0, axis[k].cells} : layer;
        clip_axis(segment, k, talus_axis_edge(&axis[k], cells.first) - axis[k].width,
                  talus_axis_edge(&axis[k], cells.end) + axis[k].width);
    }
    return segment->from < segment->to;
}

/* Returns the first crossing after s of an edge, shifted by `shift`, by the line y + s d along an axis; infinity if there is
 * none. */
static double next_crossing(const TalusAxis *axis, double shift, double y, double d, double s)
{
    if (d == 0.0)
        return INFINITY;
    const int way = d > 0.0 ? 1 : -1;
    const double at = (y + s * d - shift - axis->lo) / axis->cell;
    const double start = way > 0 ? talus_max(floor(at), 0.0) : talus_min(ceil(at), axis->cells);
    if (!(start >= 0.0 && start <= axis->cells))
        return INFINITY;
    for (int i = (int)start; i >= 0 && i <= axis->cells; i += way) {
        const double crossing = (talus_axis_edge(axis, i) + shift - y) / d;
        if (crossing > s)
            return crossing;
    }
    return INFINITY;
}

double talus_segment_next(const TalusSegment *segment, const TalusAxis axis[3], double s)
{
    double next = segment->to;
    for (int k = 0; k < 3; k++) {
        const double y = talus_along(segment->start, k), d = talus_along(segment->along, k);
        next = talus_min(next, next_crossing(&axis[k], axis[k].width, y, d, s));
        next = talus_min(next, next_crossing(&axis[k], -axis[k].width, y, d, s));
    }
    return next;
}
