/* problem/qp.h - a problem with polygonal cones as a quadratic program, petra-2009.
 *
 * A polygonal cone is the set of non-negative combinations of its edges: block i has gamma_i = G_i lambda_i,
 * lambda_i >= 0, with the columns of G_i
 *     (1)                                     one row, or no friction
 *     (1, mu cos 2 pi k / m, mu sin ...)      polygon:m, inscribed; m = 3 in the paper (Eq. 2 and 6)
 *     (1, +-mu, +-mu)                         square, circumscribed.
 * Two views of the same problem:
 *     primal   min 1/2 v'M v + f'v + 1/2 s'E^-1 s,  A v + s >= b                                (Eq. 10)
 *     dual     min 1/2 lambda'P lambda + kappa'lambda,  lambda >= 0,  P = A M^-1 A' + G'E G      (Eq. 13)
 * with A = G'D', f = -M v_f (Eq. 11 and kappa omit M and its inverse), kappa = G'q = A v_f - b, and s the
 * yielding of compliant contacts, one number per contact, the same in all of its rows. b is -G'bias, less
 * what bodies of given motion, which are no unknowns, add to the contact velocity.
 * Unknowns of the primal view are those of jacobian.h. A problem given as a matrix has the dual view alone.
 * v = v_f + M^-1 A'lambda, s = E 1'lambda lead from dual to primal; u_i = D_i'v + bias are the contact
 * velocities, G'(u + E gamma) = A v + s - b >= 0 the slacks. */
#ifndef TALUS_PROBLEM_QP_H
#define TALUS_PROBLEM_QP_H

#include "problem/jacobian.h"

typedef struct TalusQp {
    int blocks, rows;   /* of the problem */
    int multipliers;    /* unknowns of the dual */
    int32_t *first;     /* [blocks + 1]: multipliers of each block */
    double (*edge)[3];  /* [multipliers]: columns of G, `rows` entries each, then zeros */
    double *compliance; /* [blocks]; NULL: rigid */
    double *scale;      /* [multipliers]: about the diagonal of P, 1/kg; > 0 */
    double *kappa;      /* [multipliers] */

    /* primal view */
    bool has_primal;
    TalusJacobian bodies; /* unknowns, masses and D' */
    TalusSparse a;        /* multipliers x unknowns, columns rising */
    double *b;            /* [multipliers] */

    double *compliance_store, *offset; /* offset: q, [rows blocks] */
} TalusQp;

/* Takes nonneg, ccp x polygon and ccp x square with 1 or 3 rows, from the host's arrays; others are refused
 * with a reason. Blocks under Coulomb's law are taken as their cones with the offsets as they stand, in
 * which De Saxce's shifts are during a solve. May be filled again; a QP starts as zeros. */
TalusStatus talus_qp_fill(TalusQp *qp, TalusProblem *problem);
void talus_qp_clear(TalusQp *qp);

/* P, whole or the lower triangle, with the diagonal, of its symmetric part (direct.h): a matrix W of contact
 * problems in circulation need not be symmetric. The caller clears it. */
TalusStatus talus_qp_dual_matrix(const TalusQp *qp, const TalusProblem *problem, bool lower,
                                 TalusSparse *out);
/* gamma = G lambda; and a lambda >= 0 with that, for gamma in K: the only one with m = 3, else one that is
 * positive inside K. */
void talus_qp_impulses(const TalusQp *qp, const double *lambda, double *gamma);
void talus_qp_multipliers(const TalusQp *qp, const double *gamma, double *lambda);
/* out = G'u of contact velocities. */
void talus_qp_slacks(const TalusQp *qp, const double *u, double *out);
/* v = v_f + M^-1 A'lambda. Primal view needed. */
void talus_qp_velocity(const TalusQp *qp, const double *lambda, double *v);

/* Objectives of both views at v and lambda, s = E 1'lambda, with the constant 1/2 v_f'M v_f that makes them
 * equal at an optimum; their gap, primal less dual; and the largest violation of A v + s >= b, m/s. `datum` is
 * OOQP's scale: the largest magnitude among the entries of M, A, f and b, whatever their units. Primal view
 * needed. */
typedef struct TalusQpGap {
    double primal, dual, gap, datum, infeasibility;
} TalusQpGap;

TalusStatus talus_qp_gap(const TalusQp *qp, const double *v, const double *lambda, TalusQpGap *out);
/* OOQP's scale alone; of a problem given as a matrix P, kappa. */
double talus_qp_datum(const TalusQp *qp, const TalusSparse *p);

#endif
