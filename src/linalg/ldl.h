/* linalg/ldl.h - sparse factorisation A = L D U without exchange of rows.
 *
 * U = L' when A is symmetric. For matrices whose symmetric part is positive definite (no exchange
 * is needed then), or semidefinite with a rule for pivots that vanish. Rows are eliminated in the
 * reverse Cuthill-McKee order of the pattern of A + A'; the elimination tree gives the pattern of
 * each row of L, which is computed row by row (up-looking; Davis, Direct Methods for Sparse Linear
 * Systems, ch. 4). Everything is serial, and ties are broken by index, so the result is the same
 * everywhere.
 *
 *     TalusLdl ldl = {0};
 *     talus_ldl_analyse(&ldl, &a, NULL);                 order, tree, fill: from the pattern alone
 *     talus_ldl_factor(&ldl, &a, NULL, &pivots);         as often as values change
 *     talus_ldl_solve(&ldl, x);                          x becomes A^-1 x
 *     talus_ldl_clear(&ldl);
 *
 * The same object takes one matrix after another; memory is kept and grows. */
#ifndef TALUS_LINALG_LDL_H
#define TALUS_LINALG_LDL_H

#include <talus/base.h>
#include <talus/sparse.h>

typedef struct TalusLdl {
    int n;
    bool symmetric;
    int32_t *order, *place; /* [n]: row of A eliminated k-th; its inverse */
    int32_t *parent;        /* [n]: elimination tree over places; -1 at a root */
    int64_t *start;         /* [n + 1]: columns of L and rows of U, same pattern */
    int32_t *row;           /* rising within a column */
    double *lower, *upper;  /* unit diagonals not stored; upper is lower when symmetric */
    double *pivot;          /* [n]: D */
    int replaced;           /* pivots that the rule made positive */
    int failed;             /* row of A whose pivot was refused; -1 if none was */

    int32_t *work, *fill; /* [n] each: marks; entries so far in a column */
    double *x, *y;        /* [n] each, all zero between calls */
    int64_t *near_start;  /* the pattern of A + A', rows of A */
    int32_t *near;
    size_t n_room;
} TalusLdl;

/* A pivot is bad when it is not above `relative` times its row's diagonal entry of A. A bad one
 * becomes `replacement`, or, if that is 0, ends the factorisation with TALUS_ERR_NUMERIC. A factor of
 * more than `most` entries (0: 5e8) is refused with TALUS_ERR_UNSUPPORTED: the system might grant memory
 * that it has not. */
typedef struct TalusPivots {
    double relative;
    double replacement;
    double most;
} TalusPivots;

/* `transposed` is A' for a matrix that is not symmetric, NULL for one that is. */
TalusStatus talus_ldl_analyse(TalusLdl *ldl, const TalusSparse *a, const TalusSparse *transposed);
/* Entries of L below the diagonal, known after the analysis. */
int64_t talus_ldl_fill(const TalusLdl *ldl);
TalusStatus talus_ldl_factor(TalusLdl *ldl, const TalusSparse *a, const TalusSparse *transposed,
                             const TalusPivots *pivots);
void talus_ldl_solve(TalusLdl *ldl, double *x);
void talus_ldl_clear(TalusLdl *ldl);

/* The form B' A^-1 C of sparse B and C with as many rows as A, given transposed: row j of `bt` is
 * column j of B. Exactly symmetric when A is symmetric and both are the same matrix. Needs positive
 * pivots. */
TalusStatus talus_ldl_form(TalusLdl *ldl, const TalusSparse *bt, const TalusSparse *ct,
                           TalusSparse *out);

#endif
