/* solvers/pivot/lemke_pivot.h - Lemke's method for linear complementarity problems (lemke_basis.h), one pivot at a
 * time.
 *
 * The method starts from w = q + d z_0 >= 0 with z_0 large enough and drives z_0 to 0 along a path of bases. In each
 * basis, at least one of every pair w_j, z_j is not basic, since the complement of the variable that left the basis
 * enters next (Cottle and Dantzig 1968). Ties in the ratio test are broken lexicographically by the rows of [B^-1 q,
 * B^-1], so no basis repeats, however degenerate the problem (repeated contacts). The method ends with z_0 = 0, which
 * is a solution, or on a ray: no basic variable falls as the entering one grows. If the path ends on a ray and M is
 * positive semidefinite, no solution exists; if M is copositive, there is z >= 0 with M z >= 0, z'M z = 0, q'z < 0
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

/* Which of the tied variables leaves the basis: the lexicographic minimum, or the first. */
typedef enum TalusLemkeTies { TALUS_TIES_LEXICOGRAPHIC, TALUS_TIES_FIRST } TalusLemkeTies;

typedef struct TalusLemke {
    TalusBasis basis;
    TalusLemkeTies ties; /* set by the caller, as is `refactor`, before talus_lemke_begin */
    int refactor;        /* pivots after which the basis is factorised again */
    int enters;          /* variable that enters the basis next; -1: none, the problem is solved */
    int age;             /* pivots since the last factorisation */
    int factorisations;  /* since talus_lemke_begin */
    /* [n]: B^-1 times the column of `enters`; basic variables change by -y as it grows by 1 */
    double *y;
    double *rate;  /* [n]: work space of the ratio test */
    int32_t *tied; /* [n]: positions in the basis that tie in the ratio test */
} TalusLemke;

/* Reserves memory and makes the first pivot, which brings z_0 into the basis: *state becomes GOING. If q >= 0, z = 0 is
 * a solution: *state becomes SOLVED without a pivot. The caller owns the problem and `cover`, d > 0, [n], which are
 * used until talus_lemke_clear. Entries of M and q should be about 1. */
TalusStatus talus_lemke_begin(TalusLemke *l, const TalusLcp *lcp, const double *cover,
                              TalusLemkeState *state);
/* As talus_lemke_begin, from the complementary basis that has z_i where `has_z`, else w_i, and from the point at which
 * the basic variables have the values `start` > 0, [n], by position. The covering vector d = B start - q is written to
 * `cover`, so that the point is that of z_0 = 1: z_0 falls from there, and the path is that of the normal map
 * (newton_path.c). If B^-1 q >= 0, the basis solves the problem: *state becomes SOLVED without a pivot. If B is
 * singular in double precision, *state becomes BROKEN. */
TalusStatus talus_lemke_begin_at(TalusLemke *l, const TalusLcp *lcp, const bool *has_z,
                                 const double *start, double *cover, TalusLemkeState *state);
/* Makes one pivot and writes the state after it: GOING, SOLVED, RAY (no pivot was made) or BROKEN. Recomputes the
 * inverse of the basis where that is due. */
TalusStatus talus_lemke_pivot(TalusLemke *l, TalusLemkeState *state);
/* Releases the memory and zeroes *l. */
void talus_lemke_clear(TalusLemke *l);

/* Fills x, [n], with unrelated numbers from 1 to 2, others for each seed. As a covering vector they leave only the ties
 * of the problem itself. */
void talus_lemke_spread(int n, int seed, double *x);

/* Writes the z of the current basis, [n], negative values as 0. In state SOLVED its values have been recomputed from
 * the data. */
void talus_lemke_get_point(const TalusLemke *l, double *z);
/* Returns z_0, 0 in state SOLVED. */
double talus_lemke_get_artificial(const TalusLemke *l);
/* Writes the direction of the ray, [n], in state RAY. */
void talus_lemke_get_ray(const TalusLemke *l, double *z);

#endif
