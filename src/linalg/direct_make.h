/* linalg/direct_make.h - functions that each direct solver (ldl, cholmod, mumps) provides; direct.c has the common
 * part, which ensures that matrices have at least one row and the pattern analysed last. */
#ifndef TALUS_LINALG_DIRECT_MAKE_H
#define TALUS_LINALG_DIRECT_MAKE_H

#include "linalg/direct.h"

typedef struct TalusDirectMake {
    const char *name;
    const char *missing; /* NULL, or how to get it; then there are no functions */
    TalusStatus (*create)(void **out);
    void (*destroy)(void *state);
    /* Analyses a new pattern; *fill: entries of the factor with the diagonal. */
    TalusStatus (*analyse)(void *state, const TalusSparse *lower, const int8_t *sign,
                           int64_t *fill);
    /* May be called again after a failure, with the pattern analysed last. */
    TalusStatus (*factor)(void *state, const TalusSparse *lower);
    TalusStatus (*solve)(void *state, double *x);
    size_t (*bytes)(const void *state); /* held for analysis and factor */
    bool foreign;                       /* memory belongs to a package, not to the library's heap */
} TalusDirectMake;

extern const TalusDirectMake talus_direct_ldl, talus_direct_cholmod, talus_direct_mumps;

#endif
