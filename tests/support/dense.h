/* support/dense.h - full matrices for tests: what sparse and matrix-free code is compared with. */
#ifndef TALUS_TESTS_SUPPORT_DENSE_H
#define TALUS_TESTS_SUPPORT_DENSE_H

/* x = A^-1 x by elimination with exchange of rows. `a` has n rows of `stride` numbers, the first n of them used, and is
 * lost. */
void solve_dense(int n, double *a, int stride, double *x);

/* Finds the kernel of a symmetric, positive semidefinite matrix a[n * n]: eigenvectors, of length 1 and orthogonal to
 * each other, with eigenvalues below `share` of the largest. Writes them as rows of kernel[n * n]; returns their
 * number. `a` is lost. */
int find_kernel(int n, double *a, double share, double *kernel);

#endif
