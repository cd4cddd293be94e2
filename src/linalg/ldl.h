/* linalg/ldl.h - sparse factorisation A = L D U without row exchanges.
 *
 * U = L' if A is symmetric. A must have a positive definite symmetric part, for which no exchange is needed, or a
 * semidefinite one and a rule for vanishing pivots (TalusPivots). Rows are eliminated in reverse Cuthill-McKee order of
 * the pattern of A + A'. The elimination tree gives the pattern of each row of L, which is computed row by row
 * (up-looking; Davis, Direct Methods for Sparse Linear Systems, ch. 4). The code is serial and breaks ties by index:
 * results are reproducible.
 *
 *     TalusLdl ldl = {0};
 *     talus_ldl_analyse(&ldl, &a, NULL);                 order, tree, fill: from the pattern alone
 *     talus_ldl_factor(&ldl, &a, NULL, &pivots);         as often as values change
 *     talus_ldl_solve(&ldl, x);                          x becomes A^-1 x
 *     talus_ldl_clear(&ldl);
 *
 * One object takes any sequence of matrices; its memory is kept and grows. */
#ifndef TALUS_LINALG_LDL_H
#define TALUS_LINALG_LDL_H

#include <talus/base.h>
#include <talus/sparse.h>

/* Order, tree and factor of a matrix, with work space. */
typedef struct TalusLdl {
    int n;                 /* rows of A */
    bool symmetric;        /* A was analysed as symmetric */
    int32_t *order;        /* [n]: row of A that is eliminated k-th */
    int32_t *position;     /* [n]: inverse of `order` */
    int32_t *parent;       /* [n]: elimination tree, by position; -1 at a root */
    int64_t *start;        /* [n + 1]: start of a column of L, and of the same row of U */
    int32_t *row;          /* position of each entry's row, rising within a column */
    double *lower, *upper; /* L and U; unit diagonals not stored; upper is lower when symmetric */
    double *pivot;         /* [n]: diagonal of D */
    int replaced;          /* number of pivots replaced by the rule */
    int failed;            /* row of A whose pivot was refused; -1: none */

    int32_t *work, *fill; /* [n] each: marks; entries so far in a column */
    double *x, *y;        /* [n] each, all zero between calls */
    int64_t *near_start;  /* [n + 1]: pattern of A + A' without the diagonal, in A's numbering */
    int32_t *near;        /* columns of that pattern */
    size_t row_capacity;  /* n + 1 for which the arrays by row are allocated; 0: none */
} TalusLdl;

/* Rules of a factorisation. A pivot is bad if it is not above `relative` times its row's |A_kk|, or not finite. A bad
 * pivot becomes `replacement` or, if that is 0, ends the factorisation with TALUS_ERR_NUMERIC. With `zeros_only` a
 * finite pivot is bad only if it is exactly 0: where A is singular, most pivots that should vanish are then rounding
 * errors of either sign, and A^-1 x is dominated by them. If L would have more
 * than `max_entries` entries (0: 5e8) below the diagonal, the factorisation fails with TALUS_ERR_UNSUPPORTED: the
 * operating system might grant memory that it does not have. */
typedef struct TalusPivots {
    double relative;
    double replacement;
    double max_entries;
    bool zeros_only;
} TalusPivots;

/* Finds order, tree and fill of A, given with the entries of both triangles. `transposed`: A' for an unsymmetric
 * matrix, NULL for a symmetric one. */
TalusStatus talus_ldl_analyse(TalusLdl *ldl, const TalusSparse *a, const TalusSparse *transposed);
/* Returns the number of entries of L below the diagonal, known after the analysis. */
int64_t talus_ldl_fill(const TalusLdl *ldl);
/* Factorises A; the arguments must have the patterns that were analysed (not checked). */
TalusStatus talus_ldl_factor(TalusLdl *ldl, const TalusSparse *a, const TalusSparse *transposed,
                             const TalusPivots *pivots);
/* x becomes A^-1 x. */
void talus_ldl_solve(TalusLdl *ldl, double *x);
/* Frees all arrays of ldl and sets it to zeros. */
void talus_ldl_clear(TalusLdl *ldl);

/* Computes B' A^-1 C for sparse B and C with as many rows as A, given transposed: row j of `bt` is column j of B. The
 * result, which the caller clears, is exactly symmetric if A is and bt == ct. Needs positive pivots. */
TalusStatus talus_ldl_condense(TalusLdl *ldl, const TalusSparse *bt, const TalusSparse *ct,
                               TalusSparse *out);

#endif
