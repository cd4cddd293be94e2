/* linalg/fronts.h - direct solution with matrices L A + M: A a sparse block matrix, L and M block-diagonal.
 *
 * Multifrontal elimination (Duff & Reid 1983) for symmetric patterns with values that need not be symmetric. Blocks are
 * eliminated in minimum degree order on the quotient graph (George & Liu 1989), which also gives the tree of dense
 * fronts; a front absorbs children that are nearly as large. Rows are exchanged only inside small squares of pivots, so
 * the tree does not depend on values. These exchanges suffice for Jacobians of contact problems, where each row is
 * theta times a row of a matrix with positive definite symmetric part plus 1 - theta times a row of the identity, 0 <=
 * theta <= 1. The tree is found once per pattern; Newton's method then factorises with any L and M. The code is serial
 * and deterministic: results are reproducible.
 *
 *     TalusFronts f = {0};
 *     talus_fronts_analyse(&f, &a);
 *     talus_fronts_factor(&f, &a, left, own);       left, own: the diagonal blocks L_i and M_i, by rows
 *     talus_fronts_solve(&f, x);                    x becomes (L A + M)^-1 x
 *     talus_fronts_clear(&f); */
#ifndef TALUS_LINALG_FRONTS_H
#define TALUS_LINALG_FRONTS_H

#include "linalg/block_matrix.h"

/* Tree of fronts, children before parents, each subtree contiguous. */
typedef struct TalusFrontTree {
    int count;           /* number of fronts */
    int32_t *parent;     /* [count], -1 at a root */
    int32_t *pivots;     /* [count]: number of blocks that a front eliminates */
    int64_t *list_start; /* [count + 1]: start of a front in `list` */
    int32_t *list;       /* blocks of a front: pivots, then blocks coupled to them, fill included */
    int32_t *front_of;   /* [blocks]: front in which a block is eliminated */
} TalusFrontTree;

/* Builds the tree from the pattern of `a`, of which only blocks, start and column are read. `weight`: number of rows of
 * each block; NULL: equal for all. */
TalusStatus talus_front_tree_create(const TalusBlockMatrix *a, const int32_t *weight,
                                    TalusFrontTree *out);
/* Frees the arrays of the tree and sets it to zeros. */
void talus_front_tree_clear(TalusFrontTree *tree);

/* A tree with its factor and work space. */
typedef struct TalusFronts {
    TalusFrontTree tree;
    int blocks, size; /* of the matrix analysed: number of block rows; scalar rows of each */
    int replaced; /* number of pivots that were 0 up to rounding and replaced by a small number */
    int sign;     /* of the determinant, with the replaced pivots: 1 or -1 */
    int64_t *factor_start; /* [count + 1]: start of a front in `factor` */
    double *factor;        /* of each front the pivot rows, then the columns below them, by rows */
    double *front, *stack; /* current front; contributions that wait for their parents */
    double *panel;         /* work space for a panel's columns of the front */
    int32_t *children;     /* [count]: number of children */
    int32_t *waiting;      /* [count]: fronts with contributions on the stack */
    double *x;             /* a front's part of the solution */
    int32_t *local;        /* [blocks]: index in the current front, if the block is in it */
} TalusFronts;

/* Builds the tree for the pattern of `a` and allocates memory; *f starts as zeros or from another analysis, which is
 * dropped, and is all zeros after a failure. TALUS_ERR_UNSUPPORTED: factor, largest front and stack would have more
 * than 5e8 entries (4 GB) together. */
TalusStatus talus_fronts_analyse(TalusFronts *f, const TalusBlockMatrix *a);
/* Factorises L A + M; `left` and `own` hold the diagonal blocks L_i and M_i. `a` must have the pattern that was
 * analysed. Sets f->replaced and f->sign. */
void talus_fronts_factor(TalusFronts *f, const TalusBlockMatrix *a, const double *left,
                         const double *own);
/* x becomes (L A + M)^-1 x. */
void talus_fronts_solve(TalusFronts *f, double *x);
/* Frees all arrays of f and sets it to zeros. */
void talus_fronts_clear(TalusFronts *f);

#endif
