/* lab/lab_thin.c - the points of a long curve that a page shows.
 *
 * The axis of x is divided into buckets of equal width, on a logarithmic axis of equal ratio: about one for each column of
 * pixels of a plot. Each bucket keeps its smallest and its largest y, so that no peak is lost, and the first point that the
 * page does not draw, so that a line stays broken there. Ends are kept. Points whose x falls somewhere are divided by
 * their number instead. Order and values of the points that are kept do not change. */
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = (LAB_SHOWN - 2) / 2 };

/* What a bucket keeps: indices of points, -1: none. */
typedef struct Bucket {
    int number, least, most, gap;
} Bucket;

/* True if the page draws point k. */
static bool is_drawn(const LabFigure *figure, const LabCurve *curve, int k)
{
    return isfinite(curve->x[k]) && isfinite(curve->y[k]) &&
           !(figure->x_log && curve->x[k] <= 0.0) && !(figure->y_log && curve->y[k] <= 0.0);
}

/* True if x is finite and falls nowhere. */
static bool is_rising(const LabCurve *curve)
{
    for (int k = 0; k < curve->count; k++)
        if (!isfinite(curve->x[k]) || (k > 0 && curve->x[k] < curve->x[k - 1]))
            return false;
    return true;
}

/* Returns where point k is along the axis; -INFINITY if its x has no place there. */
static double find_position(const LabFigure *figure, const LabCurve *curve, bool rising, int k)
{
    if (!rising)
        return k;
    if (!figure->x_log)
        return curve->x[k];
    return curve->x[k] > 0.0 ? log(curve->x[k]) : -INFINITY;
}

/* Marks what the bucket keeps. */
static void mark_bucket(const Bucket *bucket, bool *kept)
{
    const int index[] = {bucket->least, bucket->most, bucket->gap};
    for (int i = 0; i < LAB_COUNT(index); i++)
        if (index[i] >= 0)
            kept[index[i]] = true;
}

/* Adds point k to the bucket. */
static void add_point(Bucket *bucket, const LabCurve *curve, int k, bool drawn)
{
    if (!drawn) {
        bucket->gap = bucket->gap < 0 ? k : bucket->gap;
        return;
    }
    if (bucket->least < 0 || curve->y[k] < curve->y[bucket->least])
        bucket->least = k;
    if (bucket->most < 0 || curve->y[k] > curve->y[bucket->most])
        bucket->most = k;
}

/* Marks the points to be kept. */
static void choose_points(const LabFigure *figure, const LabCurve *curve, bool *kept)
{
    const bool rising = is_rising(curve);
    const int last = curve->count - 1;
    double first = -INFINITY;
    for (int k = 0; k <= last && first == -INFINITY; k++)
        first = find_position(figure, curve, rising, k);
    const double width = find_position(figure, curve, rising, last) - first;
    Bucket bucket = {0, -1, -1, -1};
    kept[0] = kept[last] = true;
    for (int k = 0; k <= last; k++) {
        const double share = (find_position(figure, curve, rising, k) - first) / width;
        const int number = share > 0.0 ? (int)fmin(share * BUCKETS, BUCKETS - 1) : 0;
        if (number != bucket.number) {
            mark_bucket(&bucket, kept);
            bucket = (Bucket){number, -1, -1, -1};
        }
        add_point(&bucket, curve, k, is_drawn(figure, curve, k));
    }
    mark_bucket(&bucket, kept);
}

bool lab_curve_thin(const LabFigure *figure, const LabCurve *curve, LabCurve *out)
{
    if (curve->count <= LAB_SHOWN)
        return false;
    const size_t count = (size_t)curve->count;
    bool *kept = cli_check_memory(calloc(count, sizeof *kept));
    *out =
        (LabCurve){.x = cli_check_memory(malloc(count * sizeof *out->x)),
                   .y = cli_check_memory(malloc(count * sizeof *out->y)),
                   .bar = curve->bar ? cli_check_memory(malloc(count * sizeof *out->bar)) : NULL};
    memcpy(out->name, curve->name, sizeof out->name);
    choose_points(figure, curve, kept);
    for (int k = 0; k < curve->count; k++)
        if (kept[k]) {
            out->x[out->count] = curve->x[k];
            out->y[out->count] = curve->y[k];
            if (out->bar)
                out->bar[out->count] = curve->bar[k];
            out->count++;
        }
    free(kept);
    return true;
}
