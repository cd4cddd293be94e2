/* sets/section.h - one block's set and its section, for host and device. */
#ifndef TALUS_SETS_SECTION_H
#define TALUS_SETS_SECTION_H

#include "sets/disc.h"
#include "sets/polygon.h"
#include "sets/pyramid.h"

#include <talus/set.h>

/* The set of one block: n >= 0, t in mu n times the section and, with six rows, |moment about n| <= spinning n and
 * |moments about t| <= rolling n. In a prism `estimate` replaces n in these bounds. In the metric x = gamma / s, with
 * s_n for the normal row and s_t for all others, the set has the same form with mu, spinning and rolling times s_n /
 * s_t and estimate / s_n. A joint (sets/joint.h) has the bounds mu / s_t and, in `estimate`, mu / s_n. */
typedef struct TalusSet {
    int section;              /* TalusSection */
    int sides;                /* sides of the polygon; row bits of a joint */
    bool prism;               /* bounds from `estimate`; else the cone, or a joint's box */
    double mu;                /* mu, spinning and rolling are >= 0 */
    double spinning, rolling; /* six rows only */
    /* prism: normal impulse, negative counts as 0; joint: bound of the normal row */
    double estimate;
    double cos, sin; /* of pi / sides; polygon only */
} TalusSet;

/* Returns the coefficient of friction; 0 for TALUS_SECTION_NONE, which is thus a disc of size 0. */
TALUS_INLINE double talus_section_mu(const TalusSet *set)
{
    return set->section == TALUS_SECTION_NONE ? 0.0 : set->mu;
}

/* Writes the bounds of the section in axes chosen for t, and the components of t along these axes (sets/bounds.h). */
TALUS_INLINE void talus_section_bounds(const TalusSet *set, const double t[2], TalusBounds *bounds)
{
    if (set->section == TALUS_SECTION_SQUARE)
        talus_square_bounds(set->mu, t, bounds);
    else if (set->section == TALUS_SECTION_POLYGON)
        talus_polygon_bounds(set->mu, set->sides, set->cos, set->sin, t, bounds);
    else
        talus_disc_bounds(talus_section_mu(set), t, bounds);
}

/* Writes the bounds of the section at the normal impulse n that t meets, as bounds on a direction d from t: axes
 * chosen for t, z_k = d . axis_k. Writes no bounds if mu n is 0. */
TALUS_INLINE void talus_section_met_bounds(const TalusSet *set, double n, const double t[2],
                                           const double d[2], TalusBounds *bounds)
{
    double radius = talus_section_mu(set) * n;
    talus_bounds_clear(bounds);
    if (!(radius > 0.0))
        return;
    if (set->section == TALUS_SECTION_SQUARE)
        talus_square_met_bounds(set->mu, radius, t, d, bounds);
    else if (set->section == TALUS_SECTION_POLYGON)
        talus_polygon_met_bounds(set->mu, radius, set->sides, set->cos, set->sin, t, d, bounds);
    else
        talus_disc_met_bounds(set->mu, radius, t, d, bounds);
}

/* Returns the largest a >= 0 with t - a p in the section at the normal impulse n - a pn. */
TALUS_INLINE double talus_section_feasible_step(const TalusSet *set, double n, double pn,
                                                const double t[2], const double p[2])
{
    if (set->section == TALUS_SECTION_SQUARE)
        return talus_square_feasible_step(set->mu, n, pn, t, p);
    if (set->section == TALUS_SECTION_POLYGON)
        return talus_polygon_feasible_step(set->mu, set->sides, set->cos, set->sin, n, pn, t, p);
    return talus_disc_feasible_step(talus_section_mu(set), n, pn, t, p);
}

/* Returns the support function at v: the largest v . t over the section at the normal impulse 1. */
TALUS_INLINE double talus_section_support(const TalusSet *set, const double v[2])
{
    if (set->section == TALUS_SECTION_SQUARE)
        return set->mu * talus_square_support(v);
    if (set->section == TALUS_SECTION_POLYGON)
        return set->mu * talus_polygon_support(set->sides, set->cos, set->sin, v);
    return talus_section_mu(set) * talus_disc_support(v);
}

/* ---- moments: rows 3 to 5 ---- */

/* Returns the number of parts of a block with `rows` rows: tangential impulse, spinning moment, rolling moments
 * (TALUS_PARTS). */
TALUS_INLINE int talus_part_count(int rows)
{
    return rows == 6 ? 3 : rows == 3 ? 1 : 0;
}

/* Copies the rows of one part of x to t; the second entry of the spinning part is 0. */
TALUS_INLINE void talus_part_get(int part, const double *x, double t[2])
{
    t[0] = x[part == 0 ? 1 : part + 2];
    t[1] = part == 0 ? x[2] : part == 1 ? 0.0 : x[5];
}

/* Copies t to the rows of one part of x. */
TALUS_INLINE void talus_part_put(int part, const double t[2], double *x)
{
    x[part == 0 ? 1 : part + 2] = t[0];
    if (part != 1)
        x[part == 0 ? 2 : 5] = t[1];
}

/* Returns a copy of `set` with section and coefficient of one part in section and mu; the section of moments is the
 * disc. */
TALUS_INLINE TalusSet talus_set_of_part(const TalusSet *set, int part)
{
    TalusSet r = *set;
    if (part > 0) {
        r.section = TALUS_SECTION_DISC;
        r.mu = part == 1 ? set->spinning : set->rolling;
    }
    return r;
}

#endif
