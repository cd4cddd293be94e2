/* linalg/one_thread.h - restricts factorisation packages to the calling thread. */
#ifndef TALUS_LINALG_ONE_THREAD_H
#define TALUS_LINALG_ONE_THREAD_H

#include <stddef.h>

/* Free memory that a caller must make sure of before it calls OpenBLAS: the first call of OpenBLAS maps two buffers of
 * 32 MB, and waits for ever if it cannot. */
#define TALUS_BLAS_BYTES ((size_t)80 << 20)

/* Sets OpenBLAS, if it is the BLAS of the library just loaded, to one thread: the number of threads changes sums, and
 * worlds have threads of their own. The setting is not undone, as another thread may be factorising. Also looks up the
 * library's OpenMP functions for the calls below. */
void talus_one_thread_set_blas(void *library);

/* Between the two calls parallel regions of OpenMP, as in CHOLMOD, run on the calling thread alone. `before` is the
 * result of talus_one_thread_begin: the old setting, -1 if no OpenMP is loaded. */
int talus_one_thread_begin(void);
void talus_one_thread_end(int before);

#endif
