/* solvers/ipm/pointed.h - whether a problem's friction cone is pointed, petra-2009 Section 2.3.
 *
 * The cone of all body impulses A'beta, beta >= 0, that contacts can exert is pointed if A'beta = 0 for
 * beta = 0 alone. Then the multipliers of (10) are bounded (Mangasarian and Fromowitz; Anitescu and Hart 2004).
 * If it is not, contacts can press against each other without moving a body, with any force: jamming.
 *
 * The paper's Eq. 14 to 16 have the tangential directions d_s in the place of n + mu d_s, the columns
 * of D^ (its Eq. 6). That must be a misprint: the directions of one polygon add up to zero, so a cone of them is
 * never pointed. The rows of A are those n + mu d_s.
 *
 * By Gordan's theorem the cone is pointed if and only if some velocity has A v > 0, that is, if all contacts can
 * open at once, as fast as the relaxation makes sliding ones open. The margin measures it:
 *     margin = max over v of min_k (A v)_k / (c_k |v|_M) = min over beta of |A'beta|_{M^-1} / sum c_k beta_k
 * with c_k about the norm of row k, so that it has no unit. Compliance does not count. */
#ifndef TALUS_SOLVERS_IPM_POINTED_H
#define TALUS_SOLVERS_IPM_POINTED_H

#include <talus/problem.h>

typedef struct TalusPointed {
    bool pointed;
    double lower, upper; /* bounds of the margin */
    int bearing; /* not pointed: contacts that take part, with more than 1e-3 of the largest impulse */
} TalusPointed;

/* For the problems of problem/qp.h; of one given as a matrix, N stands for A M^-1 A'. A margin below 1e-6 counts
 * as none. gamma, [size], may be NULL: where the cone is not pointed impulses in K with D gamma = 0, whose
 * normal parts add up to 1; else zeros. TALUS_ERR_NUMERIC: the margin could not be told from 1e-6. */
TalusStatus talus_qp_pointed(TalusProblem *problem, TalusPointed *out, double *gamma);

#endif
