/* solvers/first_order/lbfgs.h - limited-memory BFGS in the coordinates of its pairs.
 *
 * The inverse Hessian H of L-BFGS is applied to r without vector operations: in the two-loop recursion every vector is
 * a combination of r and of the pairs (s_i, y_i), so the inner products s'y, y'y, s'r and y'r suffice. Nocedal and
 * Wright, Numerical Optimization, Algorithm 7.4, with the initial scaling (7.20), s'y / y'y of the newest pair. */
#ifndef TALUS_SOLVERS_FIRST_ORDER_LBFGS_H
#define TALUS_SOLVERS_FIRST_ORDER_LBFGS_H

#include "backend/backend.h"

typedef struct TalusLbfgs {
    int memory, count; /* maximum and current number of pairs; oldest first */
    double sy[TALUS_PAIRS][TALUS_PAIRS],
        yy[TALUS_PAIRS][TALUS_PAIRS];        /* s_i'y_j and y_i'y_j, i <= j */
    double sr[TALUS_PAIRS], yr[TALUS_PAIRS]; /* s_i'r and y_i'r with the current r */
} TalusLbfgs;

/* Writes the weights of r and the pairs in d = -H r, in the order of step.quasi_direction: r, s_0, y_0, s_1, ... d = -r
 * without pairs. */
void talus_lbfgs_direction(const TalusLbfgs *h, double weight[2 * TALUS_PAIRS + 1]);

/* Updates the pairs after a step, whose inner products are in `sums`: s_i'r and y_i'r become products with r_next, and
 * q->pair[q->count] becomes the newest pair, unless s'y is too small against |s| |y| or |y| against |s| (lbfgs.c). If
 * the memory is full, the oldest pair is dropped first. Keeps q->count equal to h->count. */
void talus_lbfgs_update(TalusLbfgs *h, TalusQuasi *q, const TalusQuasiSums *sums);

/* Drops all pairs. */
void talus_lbfgs_drop_pairs(TalusLbfgs *h, TalusQuasi *q);

#endif
