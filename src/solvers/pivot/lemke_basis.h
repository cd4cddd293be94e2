/* solvers/pivot/lemke_basis.h - bases of a linear complementarity problem, for pivoting methods.
 *
 * The problem: w = M z + q,  w, z >= 0,  w'z = 0. With a covering vector d > 0 and one artificial unknown,
 *     I w - M z - d z_0 = q,
 * and a basis B is n of these 2 n + 1 columns. B and its inverse have a unit column for every basic w. Only the other
 * columns of the inverse are stored, B^-1 e_j of the p indices j whose w_j is not basic; p is the number of basic z and
 * z_0. An exchange of two variables costs at most 2 n p operations, fewer with zeros. When the inverse has lost
 * accuracy, it is recomputed from the data (lemke_pivot.c). */
#ifndef TALUS_SOLVERS_PIVOT_LEMKE_BASIS_H
#define TALUS_SOLVERS_PIVOT_LEMKE_BASIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talus/base.h>

/* M by columns. */
typedef struct TalusLcp {
    int n;
    int32_t *start, *row; /* [n + 1], [start[n]] */
    double *value;
    double *q; /* [n] */
} TalusLcp;

/* Variables are numbered: w_j is j, z_j is n + j, z_0 is 2 n. */
typedef struct TalusBasis {
    const TalusLcp *lcp;
    const double *cover; /* d, [n] */
    int32_t *basic;      /* [n]: the variable at each position */
    int32_t *place;      /* [2 n + 1]: position of each variable, -1 if not basic */
    int32_t *slot;       /* [n]: column of `inverse` for each w that is not basic, else -1 */
    int32_t *owner;      /* [p]: w of each column of `inverse` */
    int p;
    double *inverse; /* n x p, by columns: B^-1 e_owner */
    double *x;       /* [n]: values of the basic variables, by position */

    /* LU factors, with row exchanges `order`, of the p x p part of B that is not trivial: rows `owner`, columns of the
     * basic z and z_0, which are at `position` in the basis */
    double *lu, *unit; /* [p * p], by rows: factors and inverse */
    int32_t *order, *position;
    double *part, *residual; /* [2 n], [n]: work */
} TalusBasis;

/* Starts with all w basic. The caller owns the problem and d. */
TalusStatus talus_basis_begin(TalusBasis *b, const TalusLcp *lcp, const double *cover);
void talus_basis_clear(TalusBasis *b);

/* y = B^-1 times the column of a variable that is not basic. */
void talus_basis_column(const TalusBasis *b, int variable, double *y);
/* The entry (position, j) of B^-1. */
double talus_basis_inverse(const TalusBasis *b, int position, int j);

/* Exchanges the variable at `position` for `enters`, whose column is y (talus_basis_column), and updates inverse and
 * x. */
TalusStatus talus_basis_exchange(TalusBasis *b, int enters, int position, const double *y);

/* Returns the largest |entry| of q - B x. */
double talus_basis_residual_max(const TalusBasis *b);
/* Recomputes inverse and x from the data, x with refinement. TALUS_ERR_NUMERIC: B is singular, B^-1 unchanged. */
TalusStatus talus_basis_factor(TalusBasis *b);

#endif
