/* lab/lab_eigenvalues.h - eigenvalues of a small matrix in Hessenberg form, as Arnoldi's method makes it. */
#ifndef TALUS_LAB_EIGENVALUES_H
#define TALUS_LAB_EIGENVALUES_H

#include <talus/base.h>

#include <complex.h>

/* Writes the eigenvalues of the upper left size x size part of h, by rows of `stride` entries, in no order. Entries
 * below the first subdiagonal are not read. TALUS_ERR_NUMERIC: an eigenvalue does not converge. */
TalusStatus lab_eigenvalues(const double *h, int stride, int size, double complex *out);

#endif
