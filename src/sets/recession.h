/* sets/recession.h - recession cone of a block under its law, for host and device: the directions along which the
 * impulses of a block may grow without bound.
 *
 * Under ccp the set is a cone, which is its own recession cone. Under `fixed` the tangential rows are bounded, so that
 * only the normal impulse can grow. Under `coulomb` the directions that prove infeasibility
 * (solvers/driver/certificate.h) are those without friction, the normal again. Blocks under `fixed` and `coulomb` have
 * set->prism true here. The recession cone of a joint is the space of its rows without bounds. */
#ifndef TALUS_SETS_RECESSION_H
#define TALUS_SETS_RECESSION_H

#include "sets/set.h"

/* Sets all rows but the normal one to 0. */
TALUS_INLINE void talus_recession_clear_friction(int rows, double *x)
{
    for (int k = 1; k < rows; k++)
        x[k] = 0.0;
}

/* Projects x, in place, onto the recession cone (Euclidean). */
TALUS_INLINE void talus_recession_project(int rows, const TalusSet *set, double *x)
{
    if (set->prism && rows > 1) {
        talus_recession_clear_friction(rows, x);
        x[0] = talus_project_nonneg(x[0]);
    } else {
        talus_block_project_unbounded(rows, set, x);
    }
}

/* Projects x, in place, onto the linear span of the recession cone (Euclidean). */
TALUS_INLINE void talus_recession_span(int rows, const TalusSet *set, double *x)
{
    if (rows == 1)
        return;
    if (set->section == TALUS_SECTION_JOINT)
        talus_joint_clear_bounded(rows, set, x);
    else if (set->prism)
        talus_recession_clear_friction(rows, x);
    else
        talus_block_clear_immovable(rows, set, x);
}

#endif
