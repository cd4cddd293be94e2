/* base/pool.h - parallel loops whose results do not depend on the number of threads.
 *
 * The pool has its own threads instead of OpenMP: these loops are all that Talus needs, ThreadSanitizer understands
 * them (it reports false races inside gcc's OpenMP runtime), and an embedding program keeps its own threading. */
#ifndef TALUS_BASE_POOL_H
#define TALUS_BASE_POOL_H

#include <talus/backend.h>

/* Processes items [begin, end). `chunk` is begin / grain: partial results stored by chunk and added in chunk order give
 * the same sum for any number of threads. */
typedef void TalusLoopFn(void *context, int64_t begin, int64_t end, int64_t chunk);

/* Name of a loop in a profile (profile.h): file and function, "product.c:multiply_chunk". */
#ifndef __FILE_NAME__ /* before gcc 12 */
#define __FILE_NAME__ __FILE__
#endif
#define TALUS_LOOP_NAME(fn) __FILE_NAME__ ":" #fn

/* Calls fn on chunks of `grain` (> 0) consecutive items (the last may be shorter) and returns when all are done.
 * Without a pool (NULL), with a pool of one thread or for one chunk, the calling thread does all, in order. A pool
 * runs one loop at a time: fn must not start another one of the same pool, nor may another thread. */
#define talus_parallel(pool, count, grain, fn, context) \
    talus_parallel_named((pool), (count), (grain), (fn), (context), TALUS_LOOP_NAME(fn))
void talus_parallel_named(TalusPool *pool, int64_t count, int64_t grain, TalusLoopFn *fn,
                          void *context, const char *name);

/* Returns the number of chunks of a loop. */
static inline int64_t talus_chunks(int64_t count, int64_t grain)
{
    return (count + grain - 1) / grain;
}

#endif
