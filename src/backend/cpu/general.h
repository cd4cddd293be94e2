/* backend/cpu/general.h - operations on one block with any set, for operators with mixed_sets true.
 *
 * talus_general_NAME does what talus_block_NAME of sets/set.h does, for block i of an operator. These functions are not
 * inlined, so that loops over cones and half lines keep their size and speed. metric NULL: s = 1; x, g, d and p are the
 * entries of block i alone, in the metric. */
#ifndef TALUS_BACKEND_CPU_GENERAL_H
#define TALUS_BACKEND_CPU_GENERAL_H

#include "backend/cpu/cpu.h"
#include "backend/sets.h"
#include "base/lane.h"

/* op->rows and op->mixed_sets as arguments of loops over blocks. They are constants after inlining, except `rows` if
 * mixed_sets is true. */
typedef struct Known {
    int rows;
    bool mixed_sets;
} Known;

void talus_general_project(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i,
                           double *x);
/* Projects x, in N s, onto the cone or prism of a contact; sets the rows of a joint with finite bounds to 0. */
void talus_general_project_unbounded(const TalusOperator *op, int64_t i, double *x);
/* True if x is on the boundary of its set. */
bool talus_general_is_active(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i,
                             const double *x);
/* Sets to 0 the rows of d in which the set allows only 0, as tangential rows with mu = 0. */
void talus_general_clear_immovable(const TalusOperator *op, const TalusMetricBlock *metric,
                                   int64_t i, double *d);
/* Projects d, in place, onto the tangent cone of the set at x. */
void talus_general_project_tangent(const TalusOperator *op, const TalusMetricBlock *metric,
                                   int64_t i, const double *x, double *d);
/* Returns the largest a >= 0 with x - a p in the set. */
double talus_general_feasible_step(const TalusOperator *op, const TalusMetricBlock *metric,
                                   int64_t i, const double *x, const double *p);

/* Returns De Saxce's shift in the metric, s_n sigma(-u_t), of a block under Coulomb's law with the gradient g = s u; 0
 * for other blocks. */
double talus_general_shift(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i,
                           const double *g);

/* x = P(x) for block i: any set if op->mixed_sets, else the half line. */
KERNEL void plain_project(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i,
                          double *x)
{
    if (op->mixed_sets)
        talus_general_project(op, metric, i, x);
    else
        x[0] = talus_project_nonneg(x[0]);
}

/* Returns |d (gamma - P(step))|^2, the squared natural residual of block i, for the sets of plain_project. `step` is
 * gamma - g / d on entry, its projection on return. */
KERNEL double plain_residual2(const TalusOperator *op, int64_t i, int rows, double d,
                              const double *gamma, double *step)
{
    double r2 = 0.0;
    plain_project(op, NULL, i, step);
    for (int k = 0; k < rows; k++) {
        double r = d * (gamma[k] - step[k]);
        r2 += r * r;
    }
    return r2;
}

#endif
