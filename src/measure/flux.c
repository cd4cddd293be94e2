/* measure/flux.c - what crosses a plane between two states.
 *
 * A body crosses if its centre is on another side of the plane afterwards. Along a period it is taken to have gone the shorter
 * way, so that it crosses the plane or one of its images at most once. Where it crosses follows from the straight line
 * between its places. */
#include "base/memory.h"
#include "base/status.h"
#include "collide/period.h"

#include <math.h>
#include <stdlib.h>
#include <talus/measure.h>

/* A body of the earlier state. */
typedef struct Known {
    uint64_t id;
    int row;
} Known;

static int compare_known(const void *a, const void *b)
{
    const uint64_t x = ((const Known *)a)->id, y = ((const Known *)b)->id;
    return (x > y) - (x < y);
}

/* Returns x in [lo, hi) of a period along the axis; x itself without one. */
static double wrap(const TalusPeriod *period, int axis, double x)
{
    const double lo = talus_along(period->lo, axis), side = talus_along(period->hi, axis) - lo;
    return period->on[axis] ? x - side * floor((x - lo) / side) : x;
}

/* Returns how many times a way of `d` along the axis, from x to `to` or, in a period, an image of it, crosses the plane, or
 * images of it: 1, 0 or, against the axis, -1. */
static int count_crossings(const TalusFluxDef *def, const TalusPeriod *period, double x, double d,
                           double to)
{
    if (!period->on[def->axis]) /* not x + d, which may round to the other side of the plane */
        return (to >= def->at) - (x >= def->at);
    const double side = talus_along(period->hi, def->axis) - talus_along(period->lo, def->axis);
    return (int)(floor((x + d - def->at) / side) - floor((x - def->at) / side));
}

/* True if the place at which the way crosses the plane is in the region across it. */
static bool crosses_region(const TalusFluxDef *def, const TalusPeriod *period, TalusVec3 x,
                           TalusVec3 d)
{
    const double from = talus_along(x, def->axis), way = talus_along(d, def->axis);
    double gone = def->at - from;
    if (period->on[def->axis]) {
        const double side = talus_along(period->hi, def->axis) - talus_along(period->lo, def->axis);
        gone -= side * round((gone - 0.5 * way) / side); /* of the image that lies on the way */
    }
    for (int k = 0; k < 3; k++) {
        const double at = wrap(period, k, talus_along(talus_madd(x, gone / way, d), k));
        if (k != def->axis && !(at >= talus_along(def->lo, k) && at < talus_along(def->hi, k)))
            return false;
    }
    return true;
}

/* Adds the crossing of body `to` of the later state, which was `from` in the earlier one. */
static void add_body(const TalusAssembly *before, int from, const TalusAssembly *after, int to,
                     const TalusFluxDef *def, TalusFlux *out)
{
    const TalusVec3 x = before->position[from];
    const TalusVec3 d =
        talus_nearest_image_vector(&after->period, talus_sub(after->position[to], x));
    const int crossings =
        count_crossings(def, &after->period, talus_along(x, def->axis), talus_along(d, def->axis),
                        talus_along(after->position[to], def->axis));
    if (crossings == 0 || !crosses_region(def, &after->period, x, d))
        return;
    out->bodies += crossings;
    out->mass += crossings * after->mass[to];
}

/* Refuses a cell that deforms, in which a plane is at rest nowhere. */
static TalusStatus check_period(const TalusPeriod *a, const TalusPeriod *b)
{
    for (int k = 0; k < 3; k++)
        if (a->on[k] && (talus_along(a->lo, k) != talus_along(b->lo, k) ||
                         talus_along(a->hi, k) != talus_along(b->hi, k)))
            return talus_reject("flux: the period along %c changes from state to state", 'x' + k);
    return a->tilt != 0.0 || b->tilt != 0.0
               ? talus_reject("flux: images across the period along y are offset")
               : TALUS_OK;
}

TalusStatus talus_flux_measure(const TalusAssembly *before, const TalusAssembly *after,
                               const TalusFluxDef *def, TalusFlux *out)
{
    Known *known = NULL;
    *out = (TalusFlux){0};
    TALUS_TRY(check_period(&before->period, &after->period));
    TALUS_TRY(TALUS_ALLOC(known, (size_t)before->body_count, "flux"));
    for (int i = 0; i < before->body_count; i++)
        known[i] = (Known){before->id[i], i};
    qsort(known, (size_t)before->body_count, sizeof *known, compare_known);
    for (int i = 0; i < after->body_count; i++) {
        const Known key = {.id = after->id[i]},
                    *at = bsearch(&key, known, (size_t)before->body_count, sizeof *known,
                                  compare_known);
        if (at)
            add_body(before, at->row, after, i, def, out);
    }
    talus_release(known);
    return TALUS_OK;
}
