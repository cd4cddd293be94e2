/* linalg/one_thread.h - keeps the packages that factorise to the thread that calls them. */
#ifndef TALUS_LINALG_ONE_THREAD_H
#define TALUS_LINALG_ONE_THREAD_H

#include <stddef.h>

/* What OpenBLAS maps for itself in the first calls, two buffers of 32 MB. It waits without end where it does
 * not get them, so whoever lets it work sees to it that they can be had. */
#define TALUS_BLAS_BYTES ((size_t)80 << 20)

/* OpenBLAS, where that is the BLAS of a library that was just loaded, has one thread from now on: sums by several
 * are another sum, and worlds have threads of their own. Not undone, for another thread may factorise. */
void talus_one_thread_blas(void *library);

/* Parallel regions of OpenMP, which CHOLMOD has, run on this thread alone between the two calls. The first
 * returns what the second takes. */
int talus_one_thread_begin(void);
void talus_one_thread_end(int before);

#endif
