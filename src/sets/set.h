/* sets/set.h - operations on one block's set, for host and device: projection, boundary, tangent cone, feasible step,
 * De Saxce's shift. `rows` is 1 (the half line x_0 >= 0, whatever the set; no joint), 3 or 6. Projections keep NaNs. */
#ifndef TALUS_SETS_SET_H
#define TALUS_SETS_SET_H

#include "sets/joint.h"
#include "sets/moments.h"
#include "sets/prism.h"

/* True for the circular cone, for which some loops have special code. */
TALUS_INLINE bool talus_block_is_cone(int rows, const TalusSet *set)
{
    return rows == 3 && !set->prism && set->section == TALUS_SECTION_DISC;
}

/* Returns the normal impulse that scales the section at x: that of x or, in a prism, the estimate. */
TALUS_INLINE double talus_block_section_size(const TalusSet *set, const double *x)
{
    return set->prism ? talus_prism_section_size(set) : x[0];
}

/* Projects x, in place, onto the set (Euclidean). */
TALUS_INLINE void talus_block_project(int rows, const TalusSet *set, double *x)
{
    if (rows == 1)
        x[0] = talus_project_nonneg(x[0]);
    else if (talus_block_is_cone(rows, set))
        talus_project_cone(set->mu, set->mu, &x[0], &x[1], &x[2]);
    else if (set->section == TALUS_SECTION_JOINT)
        talus_joint_project(rows, set, x);
    else if (set->prism)
        talus_prism_project(rows, set, x);
    else
        talus_section_cone_project(rows, set, x);
}

/* Restricts x, in place, as Coulomb's law does: first makes n >= 0, then projects the other rows onto the section at
 * this n. If gamma is unchanged by a step against its velocity followed by this restriction, gamma obeys Coulomb's law
 * exactly: n >= 0, u_n >= 0, n u_n = 0, and the other rows have the largest dissipation within their bounds. */
TALUS_INLINE void talus_block_restrict(int rows, const TalusSet *set, double *x)
{
    TalusSet bounded = *set;
    bounded.prism = true;
    bounded.estimate = x[0];
    talus_prism_project(rows, &bounded, x);
}

/* Projects x, in place, onto the directions along which impulses can grow without bound: onto the cone itself; for a
 * joint, by setting the rows with finite bounds to 0. For a prism, which would need another projection, it projects
 * onto the prism itself: callers either accept this (solvers/driver/infeasibility.c) or handle prisms themselves. */
TALUS_INLINE void talus_block_project_unbounded(int rows, const TalusSet *set, double *x)
{
    if (rows > 1 && set->section == TALUS_SECTION_JOINT)
        talus_joint_clear_bounded(rows, set, x);
    else
        talus_block_project(rows, set, x);
}

/* True if x is on the boundary of the set: the normal impulse is not positive, or another row meets its bound. Parts
 * whose section is a point (coefficient or prism size 0) do not count. For a joint see talus_joint_is_active. */
TALUS_INLINE bool talus_block_is_active(int rows, const TalusSet *set, const double *x)
{
    const double none[2] = {0.0, 0.0};
    if (set->section == TALUS_SECTION_JOINT)
        return talus_joint_is_active(rows, set, x);
    if (!(x[0] > 0.0))
        return true;
    if (talus_block_is_cone(rows, set))
        return talus_cone_state(set->mu, x[0], x[1], x[2]) != TALUS_CONE_INSIDE;
    for (int i = 0; i < talus_part_count(rows); i++) {
        TalusSet part = talus_set_of_part(set, i);
        TalusBounds bounds;
        double t[2];
        talus_part_get(i, x, t);
        talus_section_met_bounds(&part, talus_block_section_size(set, x), t, none, &bounds);
        if (bounds.met[0] || bounds.met[1])
            return true;
    }
    return false;
}

/* Sets to 0 the rows of g in which the set allows only 0: parts whose coefficient or prism size is 0, and rows of a
 * joint whose bound is 0. */
TALUS_INLINE void talus_block_clear_immovable(int rows, const TalusSet *set, double *g)
{
    const double none[2] = {0.0, 0.0};
    double size = set->prism ? talus_prism_section_size(set) : 1.0;
    if (set->section == TALUS_SECTION_JOINT) {
        talus_joint_clear_immovable(rows, set, g);
        return;
    }
    for (int i = 0; i < talus_part_count(rows); i++) {
        TalusSet part = talus_set_of_part(set, i);
        if (talus_section_mu(&part) * size == 0.0)
            talus_part_put(i, none, g);
    }
}

/* Projects d, in place, onto the tangent cone of the set at x. */
TALUS_INLINE void talus_block_project_tangent(int rows, const TalusSet *set, const double *x,
                                              double *d)
{
    if (rows == 1)
        d[0] = x[0] > 0.0 ? d[0] : talus_project_nonneg(d[0]);
    else if (talus_block_is_cone(rows, set))
        talus_cone_project_tangent(set->mu, x, d);
    else if (set->section == TALUS_SECTION_JOINT)
        talus_joint_project_tangent(rows, set, x, d);
    else if (set->prism)
        talus_prism_project_tangent(rows, set, x, d);
    else
        talus_section_cone_project_tangent(rows, set, x, d);
}

/* Returns the largest a >= 0 with x - a p in the set, for x in the set; may be infinite. */
TALUS_INLINE double talus_block_feasible_step(int rows, const TalusSet *set, const double *x,
                                              const double *p)
{
    double least = p[0] > 0.0 ? x[0] / p[0] : INFINITY;
    if (set->section == TALUS_SECTION_JOINT)
        return talus_joint_feasible_step(rows, set, x, p);
    for (int i = 0; i < talus_part_count(rows); i++) {
        TalusSet part = talus_set_of_part(set, i);
        double t[2], along[2];
        talus_part_get(i, x, t);
        talus_part_get(i, p, along);
        least = fmin(least, talus_section_feasible_step(&part, talus_block_section_size(set, x),
                                                        set->prism ? 0.0 : p[0], t, along));
    }
    return least;
}

/* Returns De Saxce's shift: the support function, at -u, of the rows after the first for a unit normal impulse; for the
 * disc mu |u_t|. Under Coulomb's law -(u + shift e_n) is in the polar cone of K (desaxce-1998). 0 for a joint. */
TALUS_INLINE double talus_block_shift(int rows, const TalusSet *set, const double *u)
{
    double shift = 0.0;
    if (set->section == TALUS_SECTION_JOINT)
        return shift;
    for (int i = 0; i < talus_part_count(rows); i++) {
        TalusSet part = talus_set_of_part(set, i);
        double t[2];
        talus_part_get(i, u, t);
        t[0] = -t[0];
        t[1] = -t[1];
        shift += talus_section_support(&part, t);
    }
    return shift;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Fails with TALUS_ERR_ARGUMENT for an invalid friction model, or invalid rows or law of a joint. Host only. */
TalusStatus talus_set_check(TalusFrictionModel model);

/* Returns the set of a block with this model and mu: a prism under TALUS_LAW_FIXED, spinning and rolling 0, estimate 0
 * or, for a joint, mu. Host only. */
TalusSet talus_set_from_model(TalusFrictionModel model, double mu);

#ifdef __cplusplus
}
#endif

#endif
