/* io/problem/fclib_condense.h - elimination of the body velocities v and joint impulses l of a global FCLIB problem,
 * which leaves u = W r + q in the contact impulses r (equations in fclib_condense.c). */
#ifndef TALUS_IO_PROBLEM_FCLIB_CONDENSE_H
#define TALUS_IO_PROBLEM_FCLIB_CONDENSE_H

#include "io/problem/fclib.h"
#include "linalg/ldl.h"

/* M: mass matrix; H, G: maps of contact and joint impulses to bodies; S = G' M^-1 G. Without joints G has no columns,
 * and `joint` and the matrices after `a` are empty. */
typedef struct TalusCondenser {
    const TalusFclib *fclib;
    TalusLdl mass, joint;        /* factors of M and of S */
    TalusSparse mass_transposed; /* M'; empty if M is symmetric */
    TalusSparse a;               /* A = [H G]' M^-1 [H G] */
    TalusSparse a_hg;            /* H'M^-1 G */
    TalusSparse a_gh_transposed; /* (G'M^-1 H)'; empty if M is symmetric */
    TalusSparse s, s_transposed; /* S; S', empty if S is symmetric */
} TalusCondenser;

/* Factorises M, computes A and, with joints, factorises S. Fails, naming the row, if M is not positive definite or the
 * joints are linearly dependent; the condenser is then closed. `fclib` must outlive the condenser. */
TalusStatus talus_condenser_open(const TalusFclib *fclib, TalusCondenser *c);
/* Releases the memory of the condenser. */
void talus_condenser_close(TalusCondenser *c);

/* Computes the condensed matrix W; the caller frees it with talus_sparse_clear. */
TalusStatus talus_condenser_compute_matrix(TalusCondenser *c, TalusSparse *W);
/* Computes body velocities v, joint impulses l (may be NULL without joints) and contact velocities u from the contact
 * impulses r. r NULL: zero impulses, with which u is q. */
TalusStatus talus_condenser_compute_velocities(TalusCondenser *c, const double *r, double *v,
                                               double *l, double *u);

#endif
