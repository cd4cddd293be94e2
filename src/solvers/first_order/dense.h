/* solvers/first_order/dense.h - small dense least squares over past iterates, on the host. */
#ifndef TALUS_SOLVERS_FIRST_ORDER_DENSE_H
#define TALUS_SOLVERS_FIRST_ORDER_DENSE_H

/* Solves the least-squares problem min |F c - f| from its normal equations: gram = F'F, symmetric positive
 * semidefinite, n x n with rows `stride` apart, and right = F'f. Scales columns to length 1 and adds `relative` to the
 * diagonal. Columns of length 0 get the coefficient 0. Returns false, with c = 0, if the matrix is still not positive
 * definite, or if it or c is not finite. n <= TALUS_DENSE_MAX. */
enum { TALUS_DENSE_MAX = 64 };

_Bool talus_dense_least_squares(int n, int stride, const double *gram, const double *right,
                                double relative, double *c);

#endif
