/* solvers/pivot/lcp_newton.h - Newton's method on the min map of a linear complementarity problem, one direction at
 * a time: what newton-pang and the crash of newton-path share.
 *
 * A solution of w = M z + q, w, z >= 0, w'z = 0 is a root of H(z) = min(z, w(z)), by components. H is not
 * differentiable where z_i = w_i, but has directional derivatives everywhere (it is B-differentiable), and Pang's
 * Newton equation H(z) + H'(z; d) = 0 reads for z+ = z + d and w+ = w(z+)
 *     w+_i = 0                      where z_i > w_i    (equations; z+_i has any sign)
 *     z+_i = 0                      where z_i < w_i
 *     min(z+_i, w+_i) = 0           where z_i = w_i    (tied):
 * a mixed linear complementarity problem. The basis of the equations' z is factorised, which eliminates them; on the
 * tied indices an LCP with the Schur complement is left, for Lemke's method.
 *
 * The matrix of the equations is singular wherever more edges of cones bear load than bodies have degrees of
 * freedom. So the map is that of a regularised problem with w(y) = M y + q + r (y - z), z being the current point: H
 * is the same at z, and if M is positive semidefinite, M + r I is positive definite, so that the direction exists
 * and is unique. Entries of M are about 1 (lemke_lcp.h), so r needs no scale. */
#ifndef TALUS_SOLVERS_PIVOT_LCP_NEWTON_H
#define TALUS_SOLVERS_PIVOT_LCP_NEWTON_H

#include "solvers/pivot/lemke_pivot.h"

/* A point of an LCP. */
typedef struct TalusLcpPoint {
    double *z, *w; /* [n]; w = M z + q */
    double merit;  /* 1/2 |min(z, w)|^2 */
} TalusLcpPoint;

/* Reserves memory for a point of n unknowns. */
TalusStatus talus_lcp_point_reserve(TalusLcpPoint *point, int n);
void talus_lcp_point_clear(TalusLcpPoint *point);
/* Computes w and merit from z. */
void talus_lcp_point_evaluate(TalusLcpPoint *point, const TalusLcp *lcp);
void talus_lcp_point_copy(const TalusLcpPoint *from, int n, TalusLcpPoint *to);
/* Returns the largest |z_i|. */
double talus_lcp_point_size(const TalusLcpPoint *point, int n);
/* True if the largest |z_i| has grown a hundredfold over *size, which is then set to it: iterates that run off may prove
 * that there is no solution. */
bool talus_lcp_point_has_grown(const TalusLcpPoint *point, int n, double *size);

/* Fills *out with M + weight I and q - weight centre. *out starts as zeros; its memory is reused. */
TalusStatus talus_lcp_regularise(const TalusLcp *lcp, double weight, const double *centre,
                                 TalusLcp *out);
/* Releases the memory and zeroes *lcp. */
void talus_lcp_clear(TalusLcp *lcp);

typedef enum TalusLcpStep {
    TALUS_LCP_STEP_FOUND,
    TALUS_LCP_STEP_SINGULAR, /* the equations have no or many solutions in double precision */
    TALUS_LCP_STEP_RAY       /* Lemke's method found no solution of the mixed LCP */
} TalusLcpStep;

/* How a direction is computed. */
typedef struct TalusLcpNewtonOptions {
    double regularise; /* r */
    /* Indices with |z_i - w_i| at most this are tied. Negative: none is tied, and z_i = w_i counts as z_i < w_i: a step
     * of the semismooth Newton method. */
    double equal;
} TalusLcpNewtonOptions;

typedef struct TalusLcpNewton {
    TalusLcp lcp;     /* the regularised problem */
    TalusBasis basis; /* its z are those of the equations */
    bool *has_z;      /* [n]: index i is an equation */
    int32_t *tied;    /* [tied_count] */
    int tied_count;
    double *column; /* n x tied_count, by columns: B^-1 times the columns of the tied z */
    TalusLcp rest;  /* the LCP of the tied indices, [tied_count] unknowns */
    double *cover, *rest_z;
    TalusLemke lemke;
    double *target; /* [n]: z+ */
    /* Totals, to be zeroed by the caller: factorisations of the equations, pivots of the mixed LCPs, and the largest
     * number of tied indices. */
    int factorisations, pivots, most_tied;
} TalusLcpNewton;

/* Computes z+ into newton->target. */
TalusStatus talus_lcp_newton_find(TalusLcpNewton *newton, const TalusLcp *lcp,
                                  const TalusLcpPoint *at, const TalusLcpNewtonOptions *options,
                                  TalusLcpStep *step);
/* Releases the memory and zeroes *newton. */
void talus_lcp_newton_clear(TalusLcpNewton *newton);

#endif
