/* problem/qp.h - a problem with polygonal cones as a quadratic program, petra-2009.
 *
 * A polygonal cone is the set of non-negative combinations of its edges: gamma_i = G_i lambda_i with lambda_i >= 0 in
 * block i, with the columns of G_i
 *     (1)                                     one row, or no friction
 *     (1, mu cos 2 pi k / m, mu sin ...)      polygon:m, inscribed; m = 3 in the paper (Eq. 2 and 6)
 *     (1, +-mu, +-mu)                         square, circumscribed.
 * Two forms of the same problem:
 *     primal   min 1/2 v'M v + f'v + 1/2 s'E^-1 s,  A v + s >= b                                (Eq. 10)
 *     dual     min 1/2 lambda'P lambda + kappa'lambda,  lambda >= 0,  P = A M^-1 A' + G'E G      (Eq. 13)
 * with A = G'D', f = -M v_f (the paper's Eq. 11 and kappa omit M and M^-1) and kappa = G'q = A v_f - b. s is the speed
 * at which compliant contacts yield: one number per contact, repeated in all rows of the contact. b is -G' times the
 * sum of the bias and the contact velocity due to bodies of given motion, whose velocities are no unknowns. The
 * unknowns of the primal form are the columns of D' (jacobian.h). An explicit problem has only the dual form. The
 * primal solution follows from the dual one by v = v_f + M^-1 A'lambda and s = E 1'lambda. u_i = D_i'v + bias are the
 * contact velocities, G'(u + E gamma) = A v + s - b >= 0 the slacks.
 *
 * Joints, if the caller takes them: each row in which a joint acts has one multiplier, its impulse, with a unit vector
 * as edge. A row of a free joint is an equation of the primal form, A v + s = b, with a multiplier of any sign; in a
 * row of a joint with bounds |lambda| <= bound (TalusQp.bound). */
#ifndef TALUS_PROBLEM_QP_H
#define TALUS_PROBLEM_QP_H

#include "problem/jacobian.h"

/* The two quadratic programs of a problem. */
typedef struct TalusQp {
    int blocks, rows;   /* blocks, and rows per block, of the problem */
    int multipliers;    /* number of unknowns of the dual */
    int32_t *first;     /* [blocks + 1]: first multiplier of each block */
    double (*edge)[3];  /* [multipliers]: columns of G, `rows` entries each, then zeros */
    double *bound;      /* [multipliers]: 0: lambda >= 0; else |lambda| <= bound; free: infinite */
    int free_joints;    /* number of free joints, the last blocks; 0 for an explicit problem */
    double *compliance; /* [blocks]: E on the normal row; NULL: all contacts are rigid */
    double *scale;      /* [multipliers]: about the diagonal of P, 1/kg; > 0 */
    double *kappa;      /* [multipliers]: G'q */

    /* primal form; only if has_primal */
    bool has_primal;
    TalusJacobian bodies; /* unknowns, masses and D' */
    TalusSparse a;        /* A: multipliers x unknowns, columns rising */
    double *b;            /* [multipliers]: right-hand side of A v + s >= b */

    double *compliance_store, *offset; /* offset: q, [rows blocks] */
} TalusQp;

/* Fills qp from the host's arrays of the problem; qp starts as zeros and may be filled again. Blocks must have one row,
 * or three rows without friction or with a polygon or square as section; for other problems, those with joints among
 * them, and for lent ones the call fails, and the message says why. Blocks under Coulomb's law count as their cones
 * with the present offsets, which during a solve contain De Saxce's shifts; blocks that are prisms are refused. */
TalusStatus talus_qp_fill(TalusQp *qp, TalusProblem *problem);
/* The same for a problem that may have joints. */
TalusStatus talus_qp_fill_with_joints(TalusQp *qp, TalusProblem *problem);
/* Frees the arrays of qp and sets it to zeros. */
void talus_qp_clear(TalusQp *qp);

/* Writes P to *out, which the caller clears. With `lower` writes the lower triangle with diagonal of (P + P') / 2, the
 * form that direct.h takes; the mean matters because matrices N of published contact problems need not be symmetric. */
TalusStatus talus_qp_dual_matrix(const TalusQp *qp, const TalusProblem *problem, bool lower,
                                 TalusSparse *out);
/* gamma = G lambda. */
void talus_qp_impulses(const TalusQp *qp, const double *lambda, double *gamma);
/* Writes a lambda with G lambda = gamma, for gamma in K, not negative in contacts: the only one for m = 3; for m > 3
 * one whose entries are positive if gamma is inside K. Of a block without friction only gamma_n is read, of a joint the
 * rows in which it acts. */
void talus_qp_multipliers(const TalusQp *qp, const double *gamma, double *lambda);
/* out = G'u for contact velocities u, [multipliers]. */
void talus_qp_slacks(const TalusQp *qp, const double *u, double *out);
/* Returns the scale of the data by which OOQP measures convergence: the largest magnitude in M, A, f and b, regardless
 * of units. For an explicit problem: the largest magnitude in P, given as p (NULL: left out), and kappa. */
double talus_qp_data_scale(const TalusQp *qp, const TalusSparse *p);

#endif
