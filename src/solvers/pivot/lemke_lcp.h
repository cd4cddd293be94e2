/* solvers/pivot/lemke_lcp.h - contact problems as linear complementarity problems (LCP), w = M z + q, w, z >= 0, w'z =
 * 0.
 *
 * The law of each block selects one of two forms; blocks of both forms may occur in one problem. With u = (N + E) gamma
 * + q the forms are:
 *     dual      ccp, and contacts without friction: gamma = G z with the edges of the cone as columns of G,
 *               (1, mu c_k) for the corners c_k of the section; w = G'u. It is the optimality condition of the
 *               convex problem's dual (petra-2009 Eq. 13), M = G'(N + E)G positive semidefinite.
 *     Stewart-Trinkle, in Anitescu and Potra's form   coulomb: unknowns are the normal impulse n, weights
 *               b_k >= 0 of the corners, and the slip speed s,
 *                   0 <= u_n             _|_  n   >= 0
 *                   0 <= c_k.u_t + s     _|_  b_k >= 0          gamma = (n, sum of b_k c_k)
 *                   0 <= mu n - sum b_k  _|_  s   >= 0
 *               so s is the support function of the section at -u_t: De Saxce's shift over mu. M is copositive,
 *               z'M z = gamma'(N + E)gamma + mu n s, and not symmetric.
 * Powers of two scale the data: velocities by the largest |q|, impulses of a block by that over its diagonal, so that q
 * and the diagonal of M are about 1. A change of units by powers of two leaves the same numbers. */
#ifndef TALUS_SOLVERS_PIVOT_LEMKE_LCP_H
#define TALUS_SOLVERS_PIVOT_LEMKE_LCP_H

#include "solvers/pivot/lemke_basis.h"

#include "problem/problem.h"

typedef struct TalusLcpBlock {
    int first;   /* index of the block's first unknown */
    int count;   /* number of edges of the cone; under Coulomb's law of corners of the section */
    bool exact;  /* Coulomb's law: the unknowns are n, one weight per corner, and s */
    double unit; /* the block's impulses are unknowns times this, N s */
    int corner;  /* index of the block's first corner; -1: no friction, one edge along the normal */
    double mu;   /* friction coefficient; 0 without friction */
} TalusLcpBlock;

typedef struct TalusContactLcp {
    TalusLcp lcp;
    int rows, blocks;     /* rows of a block; number of blocks */
    TalusLcpBlock *block; /* [blocks] */
    double (*corner)[2];  /* corners of the sections for mu = 1 */
    double speed;         /* velocities are divided by this, m/s */
    /* Work space for block column j of N + E: */
    int32_t *near;     /* [blocks]: block rows that have a block in the column, in rising order */
    int32_t *mark;     /* [blocks]: j if the block row has a block in column j */
    double (*part)[9]; /* [blocks]: that block, by rows */
} TalusContactLcp;

/* Returns the number of unknowns of the problem's LCP. */
int64_t talus_contact_lcp_size(const TalusOperator *op);

/* Fills the LCP. `q`: the problem's offsets, [rows * blocks]. Sections with friction must be polygons or squares. */
TalusStatus talus_contact_lcp_fill(TalusContactLcp *c, const TalusProblem *problem,
                                   const double *q);
/* Releases the memory and zeroes *c. */
void talus_contact_lcp_clear(TalusContactLcp *c);

/* Writes the impulses gamma that the unknowns z stand for, in N s. */
void talus_contact_lcp_get_impulses(const TalusContactLcp *c, const double *z, double *gamma);

/* Writes unknowns z >= 0, [n], of impulses gamma in K, in N s, as a start. Weights are those of the two corners beside
 * gamma_t; under ccp, corners whose weights balance each other share the rest of the normal impulse. Slip speeds are
 * those of the velocities u, in m/s. */
void talus_contact_lcp_get_unknowns(const TalusContactLcp *c, const double *gamma, const double *u,
                                    double *z);

#endif
