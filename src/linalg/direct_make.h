/* linalg/direct_make.h - functions that each direct solver (ldl, cholmod, mumps) provides to direct.c, which ensures
 * that matrices have at least one row and, in `factor`, the pattern analysed last and finite values. */
#ifndef TALUS_LINALG_DIRECT_MAKE_H
#define TALUS_LINALG_DIRECT_MAKE_H

#include "linalg/direct.h"

/* Functions and properties of one direct solver; `state` is its own data. */
typedef struct TalusDirectMethod {
    const char *name;
    /* NULL if this build has the solver; else a text that says how to get it, and all functions are NULL. */
    const char *missing;
    TalusStatus (*create)(void **out); /* sets *out to a new state */
    void (*destroy)(void *state);
    /* Analyses a new pattern; sign: [rows], never NULL; *fill: entries of the factor with the diagonal. */
    TalusStatus (*analyse)(void *state, const TalusSparse *lower, const int8_t *sign,
                           int64_t *fill);
    /* May be called again after a failure, with the pattern analysed last. */
    TalusStatus (*factor)(void *state, const TalusSparse *lower);
    TalusStatus (*solve)(void *state, double *x); /* x becomes A^-1 x */
    size_t (*bytes)(const void *state); /* returns the memory held now, see TalusDirectFacts */
    bool allocates_itself;              /* memory is not allocated through base/memory.h */
} TalusDirectMethod;

extern const TalusDirectMethod talus_direct_ldl, talus_direct_cholmod, talus_direct_mumps;

#endif
