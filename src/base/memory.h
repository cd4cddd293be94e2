/* base/memory.h - the library's only way to the heap.
 *
 * Every allocation is counted, and tests can make the n-th one fail. Blocks are 64-byte aligned so
 * that hot arrays start on a cache line. A block knows how many bytes it has room for: a growable array is
 * a pointer and no more. Arrays grow by half, so a warm step allocates nothing. */
#ifndef TALUS_BASE_MEMORY_H
#define TALUS_BASE_MEMORY_H

#include <talus/base.h>

/* Zeroed memory; `what` names it in the failure message. size 0 gives a valid pointer. */
TalusStatus talus_alloc(void **out, size_t count, size_t element, const char *what);
/* Accepts NULL. */
void talus_release(void *pointer);
/* Several of them. */
void talus_release_all(void *const *pointer, size_t count);
#define TALUS_RELEASE(...)                          \
    talus_release_all((void *const[]){__VA_ARGS__}, \
                      sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

/* Bytes that a block has room for; 0 for NULL. */
size_t talus_capacity(const void *block);
/* The same in elements of an array. */
#define TALUS_CAPACITY(pointer) (talus_capacity(pointer) / sizeof *(pointer))

/* What TALUS_ALLOC and TALUS_GROW are made of: a new block or NULL, the message set; a block with room for
 * `need` elements, or else the old one, or NULL where it had nothing to keep; whether there is that room. */
void *talus_new(size_t count, size_t element, const char *what);
void *talus_grow(void *block, size_t need, size_t keep, size_t element, const char *what);
TalusStatus talus_fits(const void *block, size_t need, size_t element);

/* void * becomes the type of `pointer`: in C by itself. */
#ifdef __cplusplus
#define TALUS_AS(pointer) (decltype(+(pointer)))
#else
#define TALUS_AS(pointer)
#endif

/* Sets `pointer` to zeroed memory. */
#define TALUS_ALLOC(pointer, count, what)                                          \
    (((pointer) = TALUS_AS(pointer) talus_new((count), sizeof *(pointer), (what))) \
         ? TALUS_OK                                                                \
         : TALUS_ERR_MEMORY)
/* Makes room in the array `pointer` for `need` elements, keeping the first `keep`. New room is not zeroed. With
 * nothing to keep the old block goes first, so that both never stand side by side; should the new one then not be
 * had, the array is NULL. Arguments are evaluated more than once. */
#define TALUS_GROW(pointer, need, keep, what)                                                \
    ((pointer) =                                                                             \
         TALUS_AS(pointer) talus_grow((pointer), (need), (keep), sizeof *(pointer), (what)), \
     talus_fits((pointer), (need), sizeof *(pointer)))
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
