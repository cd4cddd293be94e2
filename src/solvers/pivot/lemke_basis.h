/* solvers/pivot/lemke_basis.h - bases of a linear complementarity problem, for pivoting methods.
 *
 * The problem: w = M z + q,  w, z >= 0,  w'z = 0. With a covering vector d > 0 and one artificial unknown,
 *     I w - M z - d z_0 = q,
 * and a basis B is the matrix of n of these 2 n + 1 columns. B and its inverse have a unit column for every basic w.
 * Only the other columns of the inverse are stored: B^-1 e_j of the p indices j whose w_j is not basic, where p is the
 * number of basic z and z_0. An exchange of two variables costs at most 2 n p operations, fewer with zeros. When the
 * inverse has lost accuracy, lemke_pivot.c has it recomputed from the data. */
#ifndef TALUS_SOLVERS_PIVOT_LEMKE_BASIS_H
#define TALUS_SOLVERS_PIVOT_LEMKE_BASIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talus/base.h>

/* A linear complementarity problem; M is sparse, by columns. */
typedef struct TalusLcp {
    int n;                /* number of unknowns z */
    int32_t *start, *row; /* [n + 1]: first entry of each column; [start[n]]: row of each entry */
    double *value;        /* [start[n]] */
    double *q;            /* [n] */
} TalusLcp;

/* Variables are numbered: w_j is j, z_j is n + j, z_0 is 2 n. */
typedef struct TalusBasis {
    const TalusLcp *lcp;
    const double *cover;  /* d, [n] */
    int32_t *basic;       /* [n]: the variable at each position */
    int32_t *position_of; /* [2 n + 1]: position of each variable, -1 if not basic */
    /* [n]: index in `inverse` of the column of each w that is not basic; else -1 */
    int32_t *stored_column;
    int32_t *owner;  /* [p]: the w to which each column of `inverse` belongs */
    int p;           /* number of columns of `inverse` */
    double *inverse; /* n x p, by columns: B^-1 e_owner */
    double *x;       /* [n]: values of the basic variables, by position */

    /* The kernel: the p x p part of B that has no unit columns. Its rows are those of `owner`, its columns those of the
     * basic z and z_0. */
    double *lu;               /* [p * p], by rows: LU factors of the kernel, with row exchanges */
    double *kernel_inverse;   /* [p * p], by rows */
    int32_t *order;           /* [p]: row of the kernel at each row of `lu` */
    int32_t *kernel_position; /* [p]: position in the basis of each column of the kernel */
    double *part, *residual;  /* [2 n], [n]: work space */
} TalusBasis;

/* Reserves memory and sets the basis in which all w are basic. The caller owns the problem and d. */
TalusStatus talus_basis_begin(TalusBasis *b, const TalusLcp *lcp, const double *cover);
/* Sets the complementary basis that has z_i where `has_z`, else w_i, each at position i, after talus_basis_begin. Its
 * inverse and x are undefined until talus_basis_factor, x until talus_basis_solve. */
TalusStatus talus_basis_set(TalusBasis *b, const bool *has_z);
/* Releases the memory and zeroes *b. */
void talus_basis_clear(TalusBasis *b);

/* Writes y = B^-1 times the column of `variable`, which is not basic. */
void talus_basis_compute_column(const TalusBasis *b, int variable, double *y);
/* Returns the entry (position, j) of B^-1. */
double talus_basis_inverse_entry(const TalusBasis *b, int position, int j);

/* Replaces the basic variable at `position` by the variable `enters`, whose column is y (talus_basis_compute_column),
 * and updates inverse and x. */
TalusStatus talus_basis_exchange(TalusBasis *b, int enters, int position, const double *y);

/* Writes r = q - B x, [n], for values x of the basic variables by position. */
void talus_basis_compute_residual(const TalusBasis *b, const double *x, double *r);
/* Returns the largest |entry| of q - B x. */
double talus_basis_residual_max(const TalusBasis *b);
/* Recomputes x of the current basis from the data, with iterative refinement. TALUS_ERR_NUMERIC: B is singular; x is
 * then unchanged. */
TalusStatus talus_basis_solve(TalusBasis *b);
/* Recomputes inverse and x of the current basis from the data. TALUS_ERR_NUMERIC: B is singular; inverse and x are then
 * unchanged. */
TalusStatus talus_basis_factor(TalusBasis *b);

#endif
