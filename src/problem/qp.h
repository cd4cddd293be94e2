/* problem/qp.h - a problem with polygonal cones as a quadratic program, petra-2009.
 *
 * A polygonal cone is the set of non-negative combinations of its edges: block i has gamma_i = G_i lambda_i,
 * lambda_i >= 0, with the columns of G_i
 *     (1)                                     one row, no friction
 *     (1, mu cos 2 pi k / m, mu sin ...)      polygon:m, inscribed; m = 3 in the paper (Eq. 2 and 6)
 *     (1, +-mu, +-mu)                         square, circumscribed.
 * Two views of the same problem:
 *     primal   min 1/2 v'M v + f'v + 1/2 s'E^-1 s,  A v + (s of compliant contacts) >= b      (Eq. 10)
 *     dual     min 1/2 lambda'P lambda + kappa'lambda,  lambda >= 0,  P = A M^-1 A' + G'E G    (Eq. 13)
 * with A = G'D', b = -G'bias, f = -M v_f (Eq. 11 and kappa omit M and its inverse), kappa = A v_f - b = G'q.
 * Unknowns of the primal view are those of jacobian.h. A problem given as a matrix has the dual view alone.
 * v = v_f + M^-1 A'lambda leads from dual to primal; u_i = D_i'v + bias are the contact velocities. */
#ifndef TALUS_PROBLEM_QP_H
#define TALUS_PROBLEM_QP_H

#include "problem/jacobian.h"

typedef struct TalusQp {
    int blocks, rows;   /* of the problem */
    int multipliers;    /* unknowns of the dual */
    int32_t *first;     /* [blocks + 1]: multipliers of each block */
    double (*edge)[3];  /* [multipliers]: columns of G, `rows` entries each */
    double *compliance; /* [blocks]; NULL: rigid */
    double *kappa;      /* [multipliers] */

    /* primal view */
    bool has_primal;
    TalusJacobian bodies; /* unknowns, masses and D' */
    TalusSparse a;        /* multipliers x unknowns, columns rising */
    double *b;            /* [multipliers] */
} TalusQp;

/* Takes nonneg, ccp x polygon and ccp x square with 1 or 3 rows; others are refused with a reason. The arrays
 * are reused when a QP is filled again. The problem's host arrays are read (talus_problem_export is not
 * needed). */
TalusStatus talus_qp_fill(TalusQp *qp, TalusProblem *problem);
void talus_qp_clear(TalusQp *qp);

/* P as its lower triangle (direct.h) or whole. */
TalusStatus talus_qp_dual_matrix(const TalusQp *qp, TalusProblem *problem, TalusSparse *out);
/* gamma = G lambda; and lambda >= 0 with that, for gamma in K (for m > 3 one of many). */
void talus_qp_impulses(const TalusQp *qp, const double *lambda, double *gamma);
void talus_qp_multipliers(const TalusQp *qp, const double *gamma, double *lambda);
/* v = v_f + M^-1 A'lambda. */
void talus_qp_velocity(const TalusQp *qp, const double *lambda, double *v);

/* Objectives of both views, with the constants that make them equal at an optimum, their gap, and the
 * largest violation of A v + E.. >= b at v(lambda), m/s. `datum` is OOQP's scale: the largest magnitude
 * among the entries of M, A, f and b. Primal view needed. */
typedef struct TalusQpGap {
    double primal, dual, gap, datum, infeasibility;
} TalusQpGap;

TalusStatus talus_qp_gap(const TalusQp *qp, const double *v, const double *lambda, TalusQpGap *out);

#endif
