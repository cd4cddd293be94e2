/* linalg/direct.h - sparse symmetric systems A x = b by a direct method, of three makes.
 *
 *     ldl       of our own: L D L' without exchange of rows, in an order of least degree. For matrices that
 *               are quasi-definite: the sign of every pivot is known beforehand, whatever the order
 *     cholmod   SuiteSparse's Cholesky factorisation: positive definite matrices. Its supernodal part is
 *               under the GPL, so a program with it is, too
 *     mumps     multifrontal, with exchange of rows: any symmetric matrix
 *
 * A is given by its lower triangle with the diagonal, compressed rows, columns rising. The analysis of a
 * pattern is kept: the same pattern again costs nothing. One thread; the same bits each time.
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

typedef enum TalusDirectKind {
    TALUS_DIRECT_LDL,
    TALUS_DIRECT_CHOLMOD,
    TALUS_DIRECT_MUMPS,
    TALUS_DIRECT_KINDS
} TalusDirectKind;

const char *talus_direct_name(TalusDirectKind kind);
/* NULL where this build has it; else how to get it. */
const char *talus_direct_missing(TalusDirectKind kind);

/* Fails with TALUS_ERR_UNSUPPORTED where it is missing. */
TalusStatus talus_direct_create(TalusDirectKind kind, TalusDirect **out);
void talus_direct_destroy(TalusDirect *d);

/* `sign`: of each pivot, 1 or -1; NULL: all 1. Other makes than ldl do not need it. TALUS_ERR_UNSUPPORTED: beyond
 * what can be ordered, or for ldl what TALUS_DIRECT_MOST allows with its fronts. */
TalusStatus talus_direct_analyse(TalusDirect *d, const TalusSparse *lower, const int8_t *sign);

/* Factors with more entries are refused before memory is asked for; 0: that many. */
#define TALUS_DIRECT_MOST 5e8
void talus_direct_limit(TalusDirect *d, double most);

/* `lower` has the pattern analysed last; it is compared.
 * TALUS_ERR_NUMERIC: an entry is not finite, or a pivot is zero or of the wrong sign, and talus_error says in
 * which row (mumps: after how many). Zero is what is below 2^-52 of the row's diagonal entry for ldl, exactly
 * that for cholmod and mumps: a matrix that is singular but for rounding may get a factor, and
 * talus_direct_refine tells how little it is worth.
 * TALUS_ERR_MEMORY, TALUS_ERR_UNSUPPORTED: the factor does not fit or is beyond what is allowed.
 * After a failure another matrix of the same pattern may be tried. */
TalusStatus talus_direct_factor(TalusDirect *d, const TalusSparse *lower);
/* x becomes A^-1 x. */
TalusStatus talus_direct_solve(TalusDirect *d, double *x);
/* The same, then up to `steps` rounds of refinement against `lower`, as long as the residual falls by half.
 * *residual, if not NULL: |b - A x| / |b| at the end, maximum norms. TALUS_ERR_NUMERIC: x is not finite. */
TalusStatus talus_direct_refine(TalusDirect *d, const TalusSparse *lower, double *x, int steps,
                                double *residual);

typedef struct TalusDirectFacts {
    int analyses, factorisations; /* done so far */
    int64_t fill;                 /* entries of the factor with the diagonal, from the analysis */
    size_t bytes;                 /* held for analysis and factor, as the make tells */
} TalusDirectFacts;

TalusDirectFacts talus_direct_facts(const TalusDirect *d);

#endif
