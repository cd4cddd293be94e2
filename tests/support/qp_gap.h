/* support/qp_gap.h - objectives of both forms of a quadratic program (problem/qp.h), for tests of its solvers. */
#ifndef SUPPORT_QP_GAP_H
#define SUPPORT_QP_GAP_H

#include "problem/qp.h"

/* v = v_f + M^-1 A'lambda. Needs the primal form. */
void qp_velocity(const TalusQp *qp, const double *lambda, double *v);

/* Objective of the primal form at v and s = E 1'lambda, plus the constant 1/2 v_f'M v_f; of the dual form at lambda,
 * its sign changed, so that both are equal at an optimum; their gap, primal minus dual; and the largest violation, m/s,
 * of A v + s >= b. `datum` is OOQP's scale, talus_qp_data_scale. Needs the primal form. */
typedef struct QpGap {
    double primal, dual, gap, datum, infeasibility;
} QpGap;

QpGap qp_gap(const TalusQp *qp, const double *v, const double *lambda);

#endif
