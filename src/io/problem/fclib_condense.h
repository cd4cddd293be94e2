/* io/problem/fclib_condense.h - elimination of the bodies and joints of a global problem. */
#ifndef TALUS_IO_PROBLEM_FCLIB_CONDENSE_H
#define TALUS_IO_PROBLEM_FCLIB_CONDENSE_H

#include "io/problem/fclib.h"
#include "linalg/ldl.h"

/* Factors of M and, with joints, of S = G' M^-1 G. */
typedef struct TalusCondenser {
    const TalusFclib *fclib;
    TalusLdl mass, joint;
    TalusSparse mass_transposed;           /* absent when M is symmetric */
    TalusSparse form;                      /* [H G]' M^-1 [H G] */
    TalusSparse across, across_back;       /* H'M^-1 G; (G'M^-1 H)' if M is not symmetric */
    TalusSparse square, square_transposed; /* S; S' if M is not symmetric */
} TalusCondenser;

/* Fails, naming the row, if M is not positive definite or the joints are linearly dependent. */
TalusStatus talus_condenser_open(const TalusFclib *fclib, TalusCondenser *c);
void talus_condenser_close(TalusCondenser *c);

/* Computes W of u = W r + q. */
TalusStatus talus_condenser_matrix(TalusCondenser *c, TalusSparse *W);
/* Computes v, l and u for the impulses r (NULL: zero, so that u is q). l may be NULL without joints. */
TalusStatus talus_condenser_velocities(TalusCondenser *c, const double *r, double *v, double *l,
                                       double *u);

#endif
