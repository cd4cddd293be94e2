/* solvers/ipm/pointed.h - tests if a problem's friction cone is pointed, petra-2009 Section 2.3.
 *
 * With A = G'D' of problem/qp.h, whose rows map velocities of bodies to velocities along the edges n + mu d_s of the
 * polygonal cones (n: normal, d_s: tangential directions), the cone of all body impulses A'beta, beta >= 0, is pointed
 * if A'beta = 0 only for beta = 0. Then the multipliers of the paper's (10) are bounded (Mangasarian and Fromowitz;
 * Anitescu and Hart 2004). Otherwise contacts can press against each other with any force without moving a body:
 * jamming.
 *
 * The paper's Eq. 14 to 16 have the tangential directions d_s instead of n + mu d_s, the columns of D^ (its Eq. 6).
 * That must be a misprint: the directions of one polygon add up to zero, so their cone is never pointed.
 *
 * By Gordan's theorem the cone is pointed if and only if some velocity has A v > 0: all contacts can open at once, as
 * fast as the relaxation ccp makes sliding contacts open. The margin measures how far the cone is from not being
 * pointed:
 *     margin = max over v of min_k (A v)_k / (c_k |v|_M) = min over beta of |A'beta|_{M^-1} / sum c_k beta_k
 * with c_k about the norm of row k, so that it has no unit. Compliance is ignored. */
#ifndef TALUS_SOLVERS_IPM_POINTED_H
#define TALUS_SOLVERS_IPM_POINTED_H

#include <talus/problem.h>

typedef struct TalusPointed {
    bool pointed;        /* the margin is above 1e-6, or there are no contacts */
    double lower, upper; /* bounds of the margin; 0 and infinity if unknown */
    int bearing; /* if not pointed: contacts with normal impulse above 1e-3 of the largest */
} TalusPointed;

/* Tests a problem that talus_qp_fill takes; for one given as a matrix, G'N G replaces A M^-1 A'. A margin of at most
 * 1e-6 counts as zero. gamma, [size], may be NULL. If the cone is not pointed, gamma receives impulses in K with D
 * gamma = 0, up to that margin, whose normal parts add up to 1; else zeros. TALUS_ERR_NUMERIC: the margin could not be
 * distinguished from 1e-6. */
TalusStatus talus_qp_pointed(TalusProblem *problem, TalusPointed *out, double *gamma);

#endif
