/* base/memory.h - heap allocation of the whole library.
 *
 * Every allocation is counted, and tests can make the n-th one fail. Blocks are 64-byte aligned, so that hot arrays
 * start on a cache line. A block knows its capacity, so a growable array is just a pointer. Arrays grow by at least
 * half, those of 4 MiB and more by a sixteenth, so that after the first steps of a world most steps allocate nothing. */
#ifndef TALUS_BASE_MEMORY_H
#define TALUS_BASE_MEMORY_H

#include <talus/base.h>

/* Sets *out to a zeroed block of `count` elements of `element` bytes, or to NULL on failure; `what` names the block in
 * the error. A size of 0 gives a valid pointer, too. */
TalusStatus talus_alloc(void **out, size_t count, size_t element, const char *what);
/* Frees a block; accepts NULL. talus_release_all frees `count` blocks. */
void talus_release(void *pointer);
void talus_release_all(void *const *pointer, size_t count);
#define TALUS_RELEASE(...)                          \
    talus_release_all((void *const[]){__VA_ARGS__}, \
                      sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

/* Capacity of a block in bytes; 0 for NULL. */
size_t talus_capacity(const void *block);
/* Capacity of an array in elements; 0 for NULL. */
#define TALUS_CAPACITY(pointer) (talus_capacity(pointer) / sizeof *(pointer))

/* The functions that TALUS_ALLOC and TALUS_GROW call. talus_new returns a zeroed block, or NULL with the error set.
 * talus_grow returns `block` or a larger one in its place, with room for `need` elements, of which the first `keep`
 * are kept; if the allocation fails, the old block, or NULL if `keep` is 0. talus_check_capacity fails with
 * TALUS_ERR_MEMORY if the block is too small for `need` elements. */
void *talus_new(size_t count, size_t element, const char *what);
void *talus_grow(void *block, size_t need, size_t keep, size_t element, const char *what);
TalusStatus talus_check_capacity(const void *block, size_t need, size_t element);

/* Casts void * to the type of `pointer`, as C does implicitly. */
#ifdef __cplusplus
#define TALUS_AS(pointer) (decltype(+(pointer)))
#else
#define TALUS_AS(pointer)
#endif

/* Sets `pointer` to a zeroed array of `count` elements, or to NULL on failure. Returns the status. */
#define TALUS_ALLOC(pointer, count, what)                                          \
    (((pointer) = TALUS_AS(pointer) talus_new((count), sizeof *(pointer), (what))) \
         ? TALUS_OK                                                                \
         : TALUS_ERR_MEMORY)
/* Gives the array `pointer` a capacity of at least `need` elements and keeps the first `keep`; new elements are not
 * zeroed. With keep = 0 the old array is released before the new one is allocated, so that the two never coexist; if
 * the allocation then fails, `pointer` is NULL. Returns the status. Arguments are evaluated more than once. */
#define TALUS_GROW(pointer, need, keep, what)                                                \
    ((pointer) =                                                                             \
         TALUS_AS(pointer) talus_grow((pointer), (need), (keep), sizeof *(pointer), (what)), \
     talus_check_capacity((pointer), (need), sizeof *(pointer)))

/* Sets *out to a copy of a string, or to NULL on failure; text NULL gives "". The caller frees *out with
 * talus_release. */
TalusStatus talus_copy_text(const char *text, const char *what, char **out);

/* Number of bytes in blocks and in memory counted by talus_memory_count_external: now, and at the peak since the start
 * of the program or the last reset. */
size_t talus_memory_now(void);
size_t talus_memory_peak(void);
void talus_memory_reset_peak(void);
/* The peak since the start of the program, whatever was reset. */
size_t talus_memory_highest(void);

/* Bytes of all blocks of one name: now, and at their own peak (the peaks of two names may be at different times); also
 * when all names together had the most (talus_memory_highest), or up to a hundredth less. */
typedef struct TalusMemoryUse {
    const char *name;             /* valid until the program ends */
    size_t now, peak, at_highest; /* bytes */
} TalusMemoryUse;
/* Writes the uses of up to `limit` names, by falling peak; returns how many were written. Memory of other libraries, of
 * files (names with a dot or slash) and of names beyond the first 1024 has names of its own. */
int talus_memory_uses(TalusMemoryUse *use, int limit);

/* Counts memory that another library has allocated for this one: replaces the `before` bytes that were counted for it
 * so far by `now`. */
void talus_memory_count_external(size_t before, size_t now);

/* Fails with TALUS_ERR_MEMORY if the system does not grant `bytes` at present; nothing stays allocated. For use before
 * a call of a library that does not handle failed allocations. A system that overcommits memory may grant more than it
 * has. */
TalusStatus talus_memory_probe(size_t bytes, const char *what);

/* For tests: makes the n-th allocation from now fail (1 = the next); 0 disables. */
void talus_fail_allocation_in(long n);

#endif
