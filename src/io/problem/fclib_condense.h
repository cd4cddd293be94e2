/* io/problem/fclib_condense.h - a global problem's bodies and joints eliminated. */
#ifndef TALUS_IO_PROBLEM_FCLIB_CONDENSE_H
#define TALUS_IO_PROBLEM_FCLIB_CONDENSE_H

#include "io/problem/fclib.h"
#include "linalg/ldl.h"

/* M factored, and with joints S = G' M^-1 G too. */
typedef struct TalusCondenser {
    const TalusFclib *fclib;
    TalusLdl mass, joint;
    TalusSparse mass_transposed; /* absent when M is symmetric */
    TalusSparse form;            /* [H G]' M^-1 [H G] */
    TalusSparse across,
        across_back; /* its blocks H'M^-1 G, and (G'M^-1 H)' when M is not symmetric */
    TalusSparse square, square_transposed; /* S; S' when M is not symmetric */
} TalusCondenser;

/* Fails when M is not positive definite or joints depend on one another, naming the row. */
TalusStatus talus_condenser_open(const TalusFclib *fclib, TalusCondenser *c);
void talus_condenser_close(TalusCondenser *c);

/* W of u = W r + q. */
TalusStatus talus_condenser_matrix(TalusCondenser *c, TalusSparse *W);
/* v, l and u that impulses r give (NULL: none, so that u is q). l may be NULL without joints. */
TalusStatus talus_condenser_velocities(TalusCondenser *c, const double *r, double *v, double *l,
                                       double *u);

#endif
