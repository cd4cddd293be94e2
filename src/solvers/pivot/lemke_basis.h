/* solvers/pivot/lemke_basis.h - bases of a linear complementarity problem, for pivoting methods.
 *
 * The problem: w = M z + q,  w, z >= 0,  w'z = 0. With a covering vector d > 0 and one artificial unknown,
 *     I w - M z - d z_0 = q,
 * and a basis B is n of these 2 n + 1 columns. B has a unit column for every basic w, so its inverse has too:
 * kept are its other columns alone, B^-1 e_j of the p indices j whose w_j is not basic, p being the number of
 * basic z and z_0. An exchange of two variables costs 2 n p operations at most, zeros left out; the inverse
 * is made anew from the data when it has lost accuracy (lemke_pivot.c). */
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
    int32_t *place;      /* [2 n + 1]: its position, -1 for others */
    int32_t *slot;       /* [n]: column of `inverse` for each w that is not basic, -1 for others */
    int32_t *owner;      /* [p]: and back */
    int p;
    double *inverse; /* n x p, by columns: B^-1 e_owner */
    double *x;       /* [n]: values of the basic variables, by position */

    /* LU with exchange of rows of the kernel: rows `owner`, columns of basic z and z_0, at `position` */
    double *lu, *unit; /* [p * p], by rows: factors and inverse */
    int32_t *order, *position;
    double *part, *residual; /* [2 n], [n]: work */
} TalusBasis;

/* All w basic. The problem and d stay the caller's. */
TalusStatus talus_basis_begin(TalusBasis *b, const TalusLcp *lcp, const double *cover);
void talus_basis_clear(TalusBasis *b);

/* y = B^-1 times the column of a variable that is not basic. */
void talus_basis_column(const TalusBasis *b, int variable, double *y);
/* The entry (position, j) of B^-1. */
double talus_basis_inverse(const TalusBasis *b, int position, int j);

/* `enters` takes the place of the variable at `position`, y being its column. */
TalusStatus talus_basis_exchange(TalusBasis *b, int enters, int position, const double *y);

/* The largest entry of q - B x. */
double talus_basis_error(const TalusBasis *b);
/* The inverse and x anew from the data, x with refinement. TALUS_ERR_NUMERIC: B is singular; then B^-1 is as
 * it was. */
TalusStatus talus_basis_factor(TalusBasis *b);

#endif
