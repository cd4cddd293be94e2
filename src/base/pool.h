/* base/pool.h - parallel loops whose results do not depend on the number of threads.
 *
 * Own threads rather than OpenMP: the loops below are all Talus needs, ThreadSanitizer understands
 * them (it reports false races inside gcc's OpenMP runtime), and a program that embeds the library
 * keeps its own threading untouched. */
#ifndef TALUS_BASE_POOL_H
#define TALUS_BASE_POOL_H

#include <talus/backend.h>

/* Processes items [begin, end); `chunk` is begin / grain, so partial results can be stored by chunk
 * and added in chunk order afterwards: that sum is the same for any number of threads. */
typedef void TalusLoopFn(void *context, int64_t begin, int64_t end, int64_t chunk);

/* Calls fn on consecutive chunks of `grain` items (> 0). Returns when all are done. A NULL pool runs
 * serially. Loops may not nest. */
void talus_parallel(TalusPool *pool, int64_t count, int64_t grain, TalusLoopFn *fn, void *context);

static inline int64_t talus_chunks(int64_t count, int64_t grain)
{
    return (count + grain - 1) / grain;
}

#endif
