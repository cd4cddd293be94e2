/* talus/backend.h - worker threads and the table of backends. */
#ifndef TALUS_BACKEND_H
#define TALUS_BACKEND_H

#include <talus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A pool of worker threads. Results never depend on its size. */
typedef struct TalusPool TalusPool;

/* Creates a pool. `threads` counts the calling thread too; 0: one per processor that this process
 * may use, by its affinity and the quota of its control group. Where a function takes a pool, NULL stands for one of
 * one thread; talus_pool_destroy ignores NULL. */
TALUS_API TalusStatus talus_pool_create(int threads, TalusPool **out);
TALUS_API void talus_pool_destroy(TalusPool *pool);
TALUS_API int talus_pool_threads(const TalusPool *pool);

/* A backend. Worlds and problems of one backend may be used concurrently, each of them by one thread at a time. */
typedef struct TalusBackendRow {
    const char *name, *summary;
    bool available;  /* in this build; the machine may still lack the hardware */
    const char *how; /* how to get a build with the backend; "" if available */
} TalusBackendRow;

TALUS_API int talus_backend_count(void);
TALUS_API TalusBackendRow talus_backend_row(int index);

#ifdef __cplusplus
}
#endif

#endif
