/* exact.h - the natural residual of a problem (talus/problem.h) from its def, in long double, to test claims of
 * convergence. Matrix-free or explicit problems with 1 or 3 rows per block; half lines and discs under the three laws,
 * no joints. */
#ifndef TALUS_TEST_EXACT_H
#define TALUS_TEST_EXACT_H

#include <talus/problem.h>

typedef struct ExactResidual {
    long double rms, max;
} ExactResidual;

/* `rows` per block. `estimate`: normal impulses that bound friction under TALUS_LAW_FIXED, [blocks]; NULL: zeros. */
ExactResidual exact_residual(const TalusProblemDef *def, int rows, const double *gamma,
                             const double *estimate);

#endif
