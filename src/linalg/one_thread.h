/* linalg/one_thread.h - restricts factorisation packages to the calling thread. */
#ifndef TALUS_LINALG_ONE_THREAD_H
#define TALUS_LINALG_ONE_THREAD_H

#include <stddef.h>

/* Memory that callers check for before they call OpenBLAS: in its first call it maps two buffers of 32 MB and waits for
 * ever if it cannot. */
#define TALUS_BLAS_BYTES ((size_t)80 << 20)

/* Sets OpenBLAS, if it is the BLAS of a library just loaded, to one thread: the number of threads changes sums, and
 * worlds have threads of their own. Not undone, as another thread may be factorising. Finds the library's OpenMP for
 * the calls below. */
void talus_one_thread_set_blas(void *library);

/* Between the two calls OpenMP regions, as in CHOLMOD, run on this thread only. `before` is the result of _begin, -1 if
 * no OpenMP is loaded. */
int talus_one_thread_begin(void);
void talus_one_thread_end(int before);

#endif
