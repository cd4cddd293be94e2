/* lab/lab_eigenvalues.h - eigenvalues of a small matrix in Hessenberg form, as Arnoldi's method makes it. */
#ifndef TALUS_LAB_LAB_EIGENVALUES_H
#define TALUS_LAB_LAB_EIGENVALUES_H

#include <talus/base.h>

#include <complex.h>

/* Writes the eigenvalues, in no particular order, of the upper left size x size part of the matrix h, which is stored
 * by rows of `stride` entries. Does not read entries below the first subdiagonal. Fails with TALUS_ERR_NUMERIC if an
 * eigenvalue does not converge. */
TalusStatus lab_find_eigenvalues(const double *h, int stride, int size, double complex *out);

#endif
