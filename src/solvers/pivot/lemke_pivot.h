/* solvers/pivot/lemke_pivot.h - Lemke's method for linear complementarity problems (lemke_basis.h), one pivot at a
 * time.
 *
 * From w = q + d z_0 with z_0 large enough, z_0 is driven to 0 along a path of bases. In each basis, at least one of
 * every pair w_j, z_j is not basic: the complement of the variable that left enters next (Cottle and Dantzig 1968).
 * Ties in the ratio test are broken lexicographically by the rows of [B^-1 q, B^-1], so no basis repeats, however
 * degenerate the problem (repeated contacts). The method ends with z_0 = 0, a solution, or on a ray. On a ray no
 * solution exists if M is positive semidefinite, and for copositive M there is z >= 0 with M z >= 0, z'M z = 0, q'z < 0
 * (Cottle, Pang and Stone 1992, Theorem 4.4.13). */
#ifndef TALUS_SOLVERS_PIVOT_LEMKE_PIVOT_H
#define TALUS_SOLVERS_PIVOT_LEMKE_PIVOT_H

#include "solvers/pivot/lemke_basis.h"

typedef enum TalusLemkeState {
    TALUS_LEMKE_GOING,
    TALUS_LEMKE_SOLVED,
    TALUS_LEMKE_RAY,
    TALUS_LEMKE_BROKEN /* accuracy is lost: a basis is singular in double precision */
} TalusLemkeState;

typedef enum TalusLemkeTies { TALUS_TIES_LEXICOGRAPHIC, TALUS_TIES_FIRST } TalusLemkeTies;

typedef struct TalusLemke {
    TalusBasis basis;
    TalusLemkeTies ties;
    int refactor; /* pivots after which the basis is factorised again */
    int enters;   /* next entering variable; -1: none */
    int age;      /* pivots since the last factorisation */
    int factorisations;
    double *y;    /* column of `enters`; on a ray the basic variables change by -y */
    double *rate; /* work vector of the ratio test */
    int32_t *tied;
} TalusLemke;

/* Sets the first basis; *state becomes GOING or SOLVED. The caller owns the problem and `cover`, d > 0, [n], which are
 * used until talus_lemke_clear. Entries of M and q should be about 1. */
TalusStatus talus_lemke_begin(TalusLemke *l, const TalusLcp *lcp, const double *cover,
                              TalusLemkeState *state);
/* Makes one pivot and writes the state after it: GOING, SOLVED, RAY (no pivot was made) or BROKEN. */
TalusStatus talus_lemke_pivot(TalusLemke *l, TalusLemkeState *state);
void talus_lemke_clear(TalusLemke *l);

/* Writes the z of the current basis, [n], negative values as 0. In state SOLVED the basis has been factorised anew for
 * it. */
void talus_lemke_point(const TalusLemke *l, double *z);
/* Writes the direction of the ray, [n], in state RAY. */
void talus_lemke_ray(const TalusLemke *l, double *z);

#endif
