/* sets/prism.h - prisms, for host and device: n >= 0, and the other rows in a section whose size does not depend on n:
 * a box over the square, a cylinder over the disc. With six rows the section is the product with an interval
 * (spinning) and a disc (rolling). */
#ifndef TALUS_SETS_PRISM_H
#define TALUS_SETS_PRISM_H

#include "sets/section.h"

/* Returns the normal impulse by which the section is scaled: the estimate, or 0 if the estimate is negative. */
TALUS_INLINE double talus_prism_section_size(const TalusSet *set)
{
    return set->estimate > 0.0 ? set->estimate : 0.0;
}

/* Projects x, in place, onto the prism (Euclidean). */
TALUS_INLINE void talus_prism_project(int rows, const TalusSet *set, double *x)
{
    double size = talus_prism_section_size(set);
    x[0] = talus_project_nonneg(x[0]);
    for (int i = 0; i < talus_part_count(rows); i++) {
        TalusSet part = talus_set_of_part(set, i);
        TalusBounds bounds;
        double t[2];
        talus_part_get(i, x, t);
        talus_section_bounds(&part, t, &bounds);
        for (int k = 0; k < 2; k++)
            bounds.met[k] = bounds.met[k] && bounds.z[k] > bounds.slope[k] * size;
        talus_bounds_apply(&bounds, size, t);
        talus_part_put(i, t, x);
    }
}

/* Projects d, in place, onto the tangent cone of the prism at x. */
TALUS_INLINE void talus_prism_project_tangent(int rows, const TalusSet *set, const double *x,
                                              double *d)
{
    double size = talus_prism_section_size(set);
    if (!(x[0] > 0.0))
        d[0] = talus_project_nonneg(d[0]);
    for (int i = 0; i < talus_part_count(rows); i++) {
        TalusSet part = talus_set_of_part(set, i);
        TalusBounds bounds;
        double t[2], along[2];
        talus_part_get(i, x, t);
        talus_part_get(i, d, along);
        talus_section_met_bounds(&part, size, t, along, &bounds);
        for (int k = 0; k < 2; k++)
            bounds.met[k] = bounds.met[k] && bounds.z[k] > 0.0;
        talus_bounds_clip(&bounds, 0.0, along);
        if (talus_section_mu(&part) * size == 0.0)
            along[0] = along[1] = 0.0;
        talus_part_put(i, along, d);
    }
}

#endif
