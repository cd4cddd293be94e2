/* linalg/direct.h - sparse symmetric systems A x = b by one of three direct solvers.
 *
 *     ldl       built in: L D L' without row exchanges, in minimum degree order. For quasi-definite matrices,
 *               whose pivots have known signs in any order of elimination
 *     cholmod   SuiteSparse's Cholesky factorisation: positive definite matrices. Its supernodal part is under the
 *               GPL, so a program linked with it is under the GPL too
 *     mumps     multifrontal with row exchanges: any symmetric matrix
 *
 * A is given by its lower triangle with the diagonal, compressed rows, columns rising. The analysis is kept: a second
 * talus_direct_analyse of the same pattern and signs only compares. Factorisation and solution run on one thread;
 * results are bitwise reproducible.
 *
 *     TalusDirect *d;
 *     talus_direct_create(TALUS_DIRECT_LDL, &d);
 *     talus_direct_analyse(d, &a, sign);
 *     talus_direct_factor(d, &a);
 *     talus_direct_solve(d, x);
 *     talus_direct_destroy(d); */
#ifndef TALUS_LINALG_DIRECT_H
#define TALUS_LINALG_DIRECT_H

#include "linalg/sparse.h"

#include <stdint.h>

typedef struct TalusDirect TalusDirect;

/* The three solvers, and their number. */
typedef enum TalusDirectKind {
    TALUS_DIRECT_LDL,
    TALUS_DIRECT_CHOLMOD,
    TALUS_DIRECT_MUMPS,
    TALUS_DIRECT_KINDS
} TalusDirectKind;

/* Returns "ldl", "cholmod" or "mumps". */
const char *talus_direct_name(TalusDirectKind kind);
/* Returns NULL if this build has the solver; else a text that says how to get it. */
const char *talus_direct_missing(TalusDirectKind kind);

/* Fails with TALUS_ERR_UNSUPPORTED if this build lacks the solver or its library cannot be loaded, with
 * TALUS_ERR_MEMORY if there is not enough memory to load it. */
TalusStatus talus_direct_create(TalusDirectKind kind, TalusDirect **out);
/* Makes *d, NULL or created before, a solver of this kind: keeps one of this kind with its analysis, replaces another.
 * A failure is one of talus_direct_create, and *d is then NULL. */
TalusStatus talus_direct_ensure(TalusDirectKind kind, TalusDirect **d);
/* Releases d; NULL is allowed. */
void talus_direct_destroy(TalusDirect *d);

/* Analyses a pattern: finds the elimination order and the size of the factor; an earlier factor is lost unless pattern
 * and signs are the same. `sign`: sign of each pivot, 1 or -1 (NULL: all 1); only ldl uses it. TALUS_ERR_ARGUMENT:
 * `lower` is not square and lower triangular with rising columns. TALUS_ERR_UNSUPPORTED: the matrix is too large to be
 * ordered, or ldl would need more than TALUS_DIRECT_MAX_ENTRIES for factor, largest front and stack of contributions.
 * After a failure only another analysis is possible. */
TalusStatus talus_direct_analyse(TalusDirect *d, const TalusSparse *lower, const int8_t *sign);

/* Sets the maximum number of entries of a factor (0: TALUS_DIRECT_MAX_ENTRIES); talus_direct_factor then fails before
 * it computes a larger factor. */
#define TALUS_DIRECT_MAX_ENTRIES 5e8
void talus_direct_set_limit(TalusDirect *d, double max_entries);

/* Factorises `lower`, whose pattern must be the one analysed last (else TALUS_ERR_ARGUMENT). TALUS_ERR_NUMERIC: an
 * entry is not finite, or a pivot is zero or, except with mumps, has the wrong sign; talus_error names the row (mumps:
 * the number of pivots before). Zero means at most 2^-52 of the row's diagonal entry for ldl, exactly zero for cholmod
 * and mumps: a numerically singular matrix may get a factor, and talus_direct_solve_refined shows its poor accuracy.
 * TALUS_ERR_MEMORY: the factor does not fit; TALUS_ERR_UNSUPPORTED: it exceeds the limit, or the package fails for
 * another reason. After a failure another matrix of the same pattern may be factorised. */
TalusStatus talus_direct_factor(TalusDirect *d, const TalusSparse *lower);
/* x becomes A^-1 x. TALUS_ERR_ARGUMENT: there was no factorisation, or the last one failed. */
TalusStatus talus_direct_solve(TalusDirect *d, double *x);
/* x, on entry b, becomes A^-1 b, refined with `lower`, the matrix A factorised last, in at most `steps` steps.
 * Refinement ends with the first step that does not halve the residual b - A x; a step that does not reduce the
 * residual is undone. *residual, if not NULL: the final |b - A x| / |b| in maximum norms, 0 for b = 0.
 * TALUS_ERR_NUMERIC: the residual is not finite. TALUS_ERR_ARGUMENT: as for talus_direct_solve; x then stays b. */
TalusStatus talus_direct_solve_refined(TalusDirect *d, const TalusSparse *lower, double *x,
                                       int steps, double *residual);

/* Counts and sizes of a direct solver. */
typedef struct TalusDirectFacts {
    int analyses, factorisations; /* numbers done so far */
    int64_t fill;                 /* entries of the factor with the diagonal, by the analysis */
    size_t bytes; /* memory held now; ldl: factor and its work space, without the analysis */
} TalusDirectFacts;

/* Returns counts and sizes for reports and tests. */
TalusDirectFacts talus_direct_facts(const TalusDirect *d);

#endif
