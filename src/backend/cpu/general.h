/* backend/cpu/general.h - one block at a time of an operator whose blocks are varied (operator.h).
 *
 * Functions, not inlined: loops that know cones and half lines keep their size and speed. metric NULL:
 * s = 1; x, g, d and p are one block's, in the metric. */
#ifndef TALUS_BACKEND_CPU_GENERAL_H
#define TALUS_BACKEND_CPU_GENERAL_H

#include "backend/cpu/cpu.h"
#include "backend/sets.h"
#include "base/lane.h"

/* What a loop over blocks knows of them; constants after inlining but for the rows of varied blocks. */
typedef struct Known {
    int rows;
    bool varied;
} Known;

void talus_general_project(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i,
                           double *x);
/* Onto the directions in which the set has no end, but that prisms keep their bounds; no metric. */
void talus_general_recede(const TalusOperator *op, int64_t i, double *x);
/* x is on the boundary of its set. */
bool talus_general_active(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i,
                          const double *x);
/* Entries of d that the set never lets move become 0. */
void talus_general_free(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i,
                        double *d);
void talus_general_tangent(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i,
                           const double *x, double *d);
double talus_general_step(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i,
                          const double *x, const double *p);

/* De Saxce's shift s_n sigma(-u_t) of a Coulomb block with the gradient g = s u; 0 for other blocks. */
double talus_general_shift(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i,
                           const double *g);

/* In loops that take half lines, with a constant `rows`, and varied blocks alike: P(x); */
KERNEL void plain_project(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i,
                          double *x)
{
    if (op->varied)
        talus_general_project(op, metric, i, x);
    else
        x[0] = talus_project_nonneg(x[0]);
}

/* and the squared natural residual (problem.h) of gamma, `step` being gamma - g / d on entry. */
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
