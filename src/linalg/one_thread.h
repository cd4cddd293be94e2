/* linalg/one_thread.h - restricts factorisation packages to the calling thread. */
#ifndef TALUS_LINALG_ONE_THREAD_H
#define TALUS_LINALG_ONE_THREAD_H

#include <stddef.h>

/* Memory that must be available before OpenBLAS is called first, as callers check: it maps two buffers of 32 MB and
 * waits for ever if it cannot. */
#define TALUS_BLAS_BYTES ((size_t)80 << 20)

/* Sets OpenBLAS, if it is the BLAS of a library just loaded, to one thread: the number of threads changes sums, and
 * worlds have threads of their own. Not undone, as another thread may be factorising. */
void talus_one_thread_blas(void *library);

/* Between the two calls OpenMP regions, as in CHOLMOD, run on this thread only. `before` is the result of _begin. */
int talus_one_thread_begin(void);
void talus_one_thread_end(int before);

#endif
