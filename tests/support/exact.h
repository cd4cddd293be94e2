/* exact.h - the natural residual of a problem in extended precision, from its def: what claims of convergence are
 * held against. Matrix-free or explicit problems; half lines and discs under the three laws, no joints. */
#ifndef TALUS_TEST_EXACT_H
#define TALUS_TEST_EXACT_H

#include <talus/problem.h>

typedef struct ExactResidual {
    long double rms, max;
} ExactResidual;

/* `estimate` bounds friction under TALUS_LAW_FIXED, [blocks]; NULL: no block is under it. */
ExactResidual exact_residual(const TalusProblemDef *def, int rows, const double *gamma,
                             const double *estimate);

#endif
