/* sets/moments.h - cone over the product of a section, an interval for the moment about the normal (spinning) and a
 * disc for the moments about the tangents (rolling), all scaled by one normal impulse; with three rows, over the
 * section alone. For host and device. */
#ifndef TALUS_SETS_MOMENTS_H
#define TALUS_SETS_MOMENTS_H

#include "sets/section.h"

/* Projects x, in place, onto the cone (Euclidean). */
TALUS_INLINE void talus_section_cone_project(int rows, const TalusSet *set, double *x)
{
    TalusBounds bounds[TALUS_PARTS];
    int parts = talus_part_count(rows);
    for (int i = 0; i < parts; i++) {
        TalusSet part = talus_set_of_part(set, i);
        double t[2];
        talus_part_get(i, x, t);
        talus_section_bounds(&part, t, &bounds[i]);
    }
    if (talus_bounds_hold(parts, bounds, x[0]))
        return;
    double n = talus_bounds_nearest(parts, bounds, x[0]);
    if (n <= 0.0) {
        for (int k = 0; k < rows; k++)
            x[k] = 0.0;
        return;
    }
    x[0] = n;
    for (int i = 0; i < parts; i++) {
        double t[2];
        talus_part_get(i, x, t);
        talus_bounds_apply(&bounds[i], n, t);
        talus_part_put(i, t, x);
    }
}

/* Projects d, in place, onto the tangent cone at x. At the apex (x_0 = 0) the tangent cone is the cone itself;
 * elsewhere the bounds that x meets define it, and parts of d whose coefficient is 0, so that their section is a
 * point, become 0. */
TALUS_INLINE void talus_section_cone_project_tangent(int rows, const TalusSet *set, const double *x,
                                                     double *d)
{
    TalusBounds bounds[TALUS_PARTS];
    int parts = talus_part_count(rows);
    if (!(x[0] > 0.0)) {
        talus_section_cone_project(rows, set, d);
        return;
    }
    for (int i = 0; i < parts; i++) {
        TalusSet part = talus_set_of_part(set, i);
        double t[2], along[2];
        talus_part_get(i, x, t);
        talus_part_get(i, d, along);
        talus_section_met_bounds(&part, x[0], t, along, &bounds[i]);
    }
    d[0] = talus_bounds_nearest(parts, bounds, d[0]);
    for (int i = 0; i < parts; i++) {
        TalusSet part = talus_set_of_part(set, i);
        double t[2];
        talus_part_get(i, d, t);
        talus_bounds_clip(&bounds[i], d[0], t);
        if (talus_section_mu(&part) == 0.0)
            t[0] = t[1] = 0.0;
        talus_part_put(i, t, d);
    }
}

#endif
