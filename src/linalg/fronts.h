/* linalg/fronts.h - direct solution with matrices diag(L) A + diag(M), A a sparse block matrix.
 *
 * Multifrontal elimination (Duff & Reid 1983) for patterns that are symmetric and values that need not
 * be: blocks are eliminated in an order of least degree on the quotient graph (George & Liu 1989), which
 * also gives the tree of dense fronts; a front takes up children that are nearly as large. Rows are
 * exchanged only inside small squares of pivots, so the tree stands whatever the values are: enough for
 * Jacobians of contact problems, of which each row is that of a matrix with positive definite symmetric
 * part, times a factor between 0 and 1, plus the rest of the identity. The tree is found once per
 * pattern; Newton's method then factorises with other L and M as often as it likes. Serial and with
 * ties broken by index: the result is the same everywhere.
 *
 *     TalusFronts f = {0};
 *     talus_fronts_analyse(&f, &a);
 *     talus_fronts_factor(&f, &a, left, own);       left, own: blocks L_i and M_i by rows
 *     talus_fronts_solve(&f, x);                    x becomes (L A + M)^-1 x
 *     talus_fronts_clear(&f); */
#ifndef TALUS_LINALG_FRONTS_H
#define TALUS_LINALG_FRONTS_H

#include "linalg/block_matrix.h"

/* The tree of fronts, children before parents, each subtree in one piece. */
typedef struct TalusFrontTree {
    int count;
    int32_t *parent;     /* [count], -1 at a root */
    int32_t *pivots;     /* [count]: blocks eliminated in a front: the first ones of its list */
    int32_t *list_start; /* [count + 1] */
    int32_t *list;       /* blocks of a front: pivots, then those that it is coupled to */
    int32_t *front_of;   /* [blocks]: where a block is eliminated */
} TalusFrontTree;

/* Of the pattern of `a` alone. `weight`: rows of each block where they differ; NULL: as many for all. */
TalusStatus talus_front_tree_create(const TalusBlockMatrix *a, const int32_t *weight,
                                    TalusFrontTree *out);
void talus_front_tree_clear(TalusFrontTree *tree);

typedef struct TalusFronts {
    TalusFrontTree tree;
    int blocks, size;
    int replaced;          /* pivots that were zero but for rounding, and made small instead */
    int64_t *factor_start; /* [count + 1]: in `factor`: pivot rows, then the columns below them */
    double *factor;
    double *front, *stack; /* the front at work; what children leave for their parents */
    double *panel;         /* columns of the front, while they are multiplied */
    int32_t *children;     /* [count]: how many */
    int32_t *waiting;      /* [count]: fronts on the stack */
    double *x;             /* a front's part of the solution */
    int32_t *local;        /* [blocks]: place in the front at work */
} TalusFronts;

/* Fails where the factor would take more than a few gigabytes. */
TalusStatus talus_fronts_analyse(TalusFronts *f, const TalusBlockMatrix *a);
/* `a` has the pattern that was analysed. */
void talus_fronts_factor(TalusFronts *f, const TalusBlockMatrix *a, const double *left,
                         const double *own);
void talus_fronts_solve(TalusFronts *f, double *x);
void talus_fronts_clear(TalusFronts *f);

#endif
