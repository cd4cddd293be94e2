/* collide/fit.h - limits of fat radii in periodic space; for host and device. Lengths are in metres.
 *
 * A fat radius is a body's radius plus a margin (grid.h) that grows with its speed. Two bodies meet as nearest images
 * only, so the sum of two fat radii must stay below half of every period, and so must a wall with its margin and the
 * body beside it. Bodies too large for this even at rest are refused. A margin that is too large because of speeds is
 * clipped, and bodies and walls that may miss a contact for that reason are counted: the step is then halved
 * (world/step/step.c). Bodies of which only the sliding part of the margin is
 * clipped are not counted: that part only keeps contacts from appearing and disappearing (envelope.h). */
#ifndef TALUS_COLLIDE_FIT_H
#define TALUS_COLLIDE_FIT_H

#include "collide/wall.h"

typedef enum TalusFitResult {
    TALUS_FIT_OK,
    TALUS_FIT_BODY_TOO_LARGE, /* a body of the grid meets two images of another even at rest */
    TALUS_FIT_WALL_TOO_LARGE, /* a wall, no plane, meets two images of a body even at rest */
    TALUS_FIT_PLANE_OBLIQUE   /* a plane is not parallel to a periodic axis */
} TalusFitResult;

typedef struct TalusFit {
    double largest;        /* largest fat radius of the bodies in the grid */
    double at_rest;        /* largest talus_resting_fat_radius of the bodies in the grid */
    double limit;          /* upper bound of fat radii with which bodies meet nearest images only */
    int clipped;           /* bodies and walls that may miss a contact by a clipped margin */
    TalusFitResult result; /* TALUS_FIT_OK, or what does not fit even with all speeds zero; then: */
    int axis;              /* axis of the period */
    uint32_t body;         /* slot of the wall or plane; not set for a body of the grid */
    TalusShapeKind kind;   /* shape of that wall */
    double length;         /* length of the period */
    double reach; /* resting fat radius of the body; wall: extent, margin and a body beside it */
} TalusFit;

/* Margin of body i at rest: without the part that grows with its speeds. */
TALUS_INLINE double talus_resting_margin(const TalusBodyView *v, const TalusDetectOptions *o,
                                         uint32_t i)
{
    return 0.5 * o->envelope * v->size[i] + o->h * o->reference_speed;
}

/* Fat radius of body i with its resting margin. */
TALUS_INLINE double talus_resting_fat_radius(const TalusBodyView *v, const TalusDetectOptions *o,
                                             uint32_t i)
{
    return (v->radius[i] + talus_resting_margin(v, o, i)) * TALUS_GRID_SLACK;
}

/* Margin (talus_body_margin) without the part for sliding: what the body needs to miss no contact. */
TALUS_INLINE double talus_closing_margin(const TalusBodyView *v, const TalusDetectOptions *o,
                                         TalusVec3 drift, uint32_t i)
{
    TalusDetectOptions frictionless = *o;
    frictionless.friction = 0.0;
    return talus_body_margin(v, &frictionless, drift, i);
}

/* Records in *fit why a body (wall NULL) or a wall does not fit the period. Returns false. */
TALUS_INLINE bool talus_fit_set_fault(TalusFit *fit, TalusFitResult result, const TalusWall *wall,
                                      double reach)
{
    fit->result = result;
    fit->reach = reach;
    if (wall) {
        fit->body = wall->body;
        fit->kind = wall->kind;
    }
    return false;
}

/* True if the wall fits the period along fit->axis; may clip wall->margin and lower fit->limit for it. A plane fits if
 * it is parallel to the axis. Any other wall fits if the sum of its extent from its position, its margin and the
 * largest fat radius is below half of the period's length. If the sum is larger, the wall's margin is clipped: to its
 * resting margin plus half of the length that remains beside a resting body, and the limit of fat radii is lowered to
 * the rest. If no length remains, the wall does not fit. */
TALUS_INLINE bool talus_fit_wall(TalusFit *fit, const TalusBodyView *v, const TalusDetectOptions *o,
                                 TalusVec3 drift, TalusWall *wall, double unit)
{
    int axis = fit->axis;
    if (wall->kind == TALUS_SHAPE_PLANE)
        return fabs(talus_along(wall->normal, axis)) < 1e-12 ||
               talus_fit_set_fault(fit, TALUS_FIT_PLANE_OBLIQUE, wall, 0.0);
    double x = talus_along(v->position[wall->body], axis), half = 0.5 * fit->length;
    double extent = fmax(talus_along(wall->bounds.hi, axis) * unit - x,
                         x - talus_along(wall->bounds.lo, axis) * unit);
    if (extent + (fit->largest + wall->margin * unit) < half)
        return true;
    double resting = talus_resting_margin(v, o, wall->body) * TALUS_GRID_SLACK;
    double spare = half - extent - fit->at_rest - resting, allowed = resting + 0.5 * spare;
    if (!(spare > 0.0))
        return talus_fit_set_fault(fit, TALUS_FIT_WALL_TOO_LARGE, wall,
                                   extent + fit->at_rest + resting);
    if (wall->margin * unit > allowed) {
        fit->clipped += talus_closing_margin(v, o, drift, wall->body) > allowed;
        wall->margin = allowed / unit;
    }
    fit->limit = fmin(fit->limit, half - extent - wall->margin * unit);
    return true;
}

/* Computes limit, clipped and result of *fit from `largest` and `at_rest`, and clips margins of walls that are too wide
 * for a period. Stops at the first body or wall that does not fit. */
TALUS_INLINE void talus_fit_period(TalusFit *fit, const TalusBodyView *v,
                                   const TalusDetectOptions *o, TalusVec3 drift, TalusWall *wall,
                                   int walls, double unit)
{
    const TalusPeriod *p = v->period;
    fit->limit = INFINITY;
    fit->clipped = 0;
    fit->result = TALUS_FIT_OK;
    for (int axis = 0; axis < 3; axis++) {
        if (!p->on[axis])
            continue;
        fit->axis = axis;
        fit->length = talus_along(p->hi, axis) - talus_along(p->lo, axis);
        bool fits = fit->at_rest < 0.25 * fit->length ||
                    talus_fit_set_fault(fit, TALUS_FIT_BODY_TOO_LARGE, NULL, fit->at_rest);
        fit->limit = fmin(fit->limit, 0.25 * fit->length);
        for (int w = 0; fits && w < walls; w++)
            fits = talus_fit_wall(fit, v, o, drift, &wall[w], unit);
        if (!fits)
            return;
    }
}

/* True if a fat radius reaches the limit and so will be clipped, or if a wall with a clipped margin may miss a
 * contact. */
TALUS_INLINE bool talus_fit_has_clipped(const TalusFit *fit)
{
    return !(fit->largest < fit->limit) || fit->clipped > 0;
}

/* Fat radius of a clipped body: the limit, lowered so that rounding keeps it strictly below. */
TALUS_INLINE double talus_clipped_fat_radius(const TalusFit *fit)
{
    return fit->limit * (2.0 - TALUS_GRID_SLACK);
}

/* True if body i, whose fat radius is clipped, moves so far within the step that it may miss a contact. */
TALUS_INLINE bool talus_clipped_body_may_miss(const TalusFit *fit, const TalusBodyView *v,
                                              const TalusDetectOptions *o, TalusVec3 drift,
                                              uint32_t i)
{
    return v->radius[i] + talus_closing_margin(v, o, drift, i) > talus_clipped_fat_radius(fit);
}

#endif
