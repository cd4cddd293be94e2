/* base/memory.h - the library's only way to the heap.
 *
 * Every allocation is counted, and tests can make the n-th one fail. Blocks are 64-byte aligned so
 * that hot arrays start on a cache line. Growable arrays keep (pointer, capacity) with their owner
 * and grow by half, so a warm step allocates nothing. */
#ifndef TALUS_BASE_MEMORY_H
#define TALUS_BASE_MEMORY_H

#include <talus/base.h>

/* Zeroed memory; `what` names it in the failure message. size 0 gives a valid pointer. */
TalusStatus talus_alloc(void **out, size_t count, size_t element, const char *what);
/* Accepts NULL. */
void talus_release(void *pointer);

/* Makes room for `need` elements, keeping the first `keep`. New room is not zeroed. With nothing to
 * keep the old block goes first, so that both never stand side by side; should the new one then not
 * be had, the array is empty. */
TalusStatus talus_reserve(void **array, size_t *capacity, size_t need, size_t keep, size_t element,
                          const char *what);

#define TALUS_ALLOC(pointer, count, what) \
    talus_alloc((void **)&(pointer), (count), sizeof *(pointer), (what))
/* Grows `pointer` (with its size_t `capacity`) keeping `keep` elements. */
#define TALUS_RESERVE(pointer, capacity, need, keep, what) \
    talus_reserve((void **)&(pointer), &(capacity), (need), (keep), sizeof *(pointer), (what))

/* Bytes in blocks of the library now, and the most since the start or the last reset. */
size_t talus_memory_now(void);
size_t talus_memory_peak(void);
void talus_memory_reset_peak(void);

/* Memory that another library holds for this one was `before` bytes and is `now` bytes: it counts with the
 * library's own. */
void talus_memory_note(size_t before, size_t now);

/* Whether so much could be had now: asked before work is given to a library that does not take a refusal
 * well. */
TalusStatus talus_memory_probe(size_t bytes, const char *what);

/* For tests: the n-th allocation from now on fails (1 = the next); 0 switches it off. */
void talus_fail_allocation_in(long n);

#endif
