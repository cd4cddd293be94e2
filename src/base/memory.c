/* base/memory.c - heap blocks (memory.h): counted, aligned, with failures on request of tests. */
#include "base/memory.h"

#include "base/inject.h"
#include "base/status.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <talus/world.h>

/* Alignment of blocks, and size of the header before each of them; bytes. */
enum { ALIGNMENT = 64 };

/* Precedes every block, on a cache line of its own: the block's capacity. */
typedef struct Header {
    size_t bytes;
} Header;

static atomic_uint_fast64_t allocation_count; /* since the start of the program */
static atomic_size_t bytes_now, bytes_peak;   /* talus_memory_now, talus_memory_peak */
static atomic_long fail_countdown; /* allocations up to the one that is to fail; 0: none */

uint64_t talus_allocation_count(void)
{
    return atomic_load(&allocation_count);
}

size_t talus_memory_now(void)
{
    return atomic_load(&bytes_now);
}

size_t talus_memory_peak(void)
{
    return atomic_load(&bytes_peak);
}

void talus_memory_reset_peak(void)
{
    atomic_store(&bytes_peak, atomic_load(&bytes_now));
}

/* Adds to the bytes in use and raises the peak. */
static void count_bytes(size_t bytes)
{
    size_t now = atomic_fetch_add(&bytes_now, bytes) + bytes, peak = atomic_load(&bytes_peak);
    while (now > peak && !atomic_compare_exchange_weak(&bytes_peak, &peak, now))
        ;
}

void talus_memory_count_external(size_t before, size_t now)
{
    atomic_fetch_sub(&bytes_now, before);
    count_bytes(now);
}

/* Maps the bytes and unmaps them. With malloc, AddressSanitizer would write shadow memory for the whole block. */
TalusStatus talus_memory_probe(size_t bytes, const char *what)
{
    void *block = talus_allocation_must_fail() ? MAP_FAILED
                                               : mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE,
                                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return talus_fail(TALUS_ERR_MEMORY, "%s: out of memory for %zu bytes", what, bytes);
    munmap(block, bytes + 1);
    return TALUS_OK;
}

void talus_fail_allocation_in(long n)
{
    atomic_store(&fail_countdown, n);
}

bool talus_allocation_must_fail(void)
{
    return atomic_load(&fail_countdown) > 0 && atomic_fetch_sub(&fail_countdown, 1) == 1;
}

/* Returns an uninitialised block, or NULL with the error set. */
static void *alloc_unset(size_t count, size_t element, const char *what)
{
    if (element && count > (SIZE_MAX - 2 * ALIGNMENT) / element) {
        talus_fail(TALUS_ERR_MEMORY, "%s: %zu elements of %zu bytes overflow the address space",
                   what, count, element);
        return NULL;
    }
    size_t bytes = (count * element + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    char *block = talus_allocation_must_fail() ? NULL : aligned_alloc(ALIGNMENT, bytes + ALIGNMENT);
    if (!block) {
        talus_fail(TALUS_ERR_MEMORY, "%s: out of memory for %zu bytes", what, bytes);
        return NULL;
    }
    atomic_fetch_add(&allocation_count, 1);
    count_bytes(bytes);
    ((Header *)block)->bytes = bytes;
    return block + ALIGNMENT;
}

void *talus_new(size_t count, size_t element, const char *what)
{
    void *block = alloc_unset(count, element, what);
    if (block)
        memset(block, 0, count * element);
    return block;
}

TalusStatus talus_alloc(void **out, size_t count, size_t element, const char *what)
{
    *out = talus_new(count, element, what);
    return *out ? TALUS_OK : TALUS_ERR_MEMORY;
}

TalusStatus talus_copy_text(const char *text, const char *what, char **out)
{
    size_t length = text ? strlen(text) : 0;
    *out = talus_new(length + 1, 1, what);
    if (*out && length)
        memcpy(*out, text, length);
    return *out ? TALUS_OK : TALUS_ERR_MEMORY;
}

void talus_release(void *pointer)
{
    if (!pointer)
        return;
    atomic_fetch_sub(&bytes_now, talus_capacity(pointer));
    free((char *)pointer - ALIGNMENT);
}

void talus_release_all(void *const *pointer, size_t count)
{
    for (size_t i = 0; i < count; i++)
        talus_release(pointer[i]);
}

void talus_free(void *bytes)
{
    talus_release(bytes);
}

size_t talus_capacity(const void *block)
{
    return block ? ((const Header *)((const char *)block - ALIGNMENT))->bytes : 0;
}

TalusStatus talus_check_capacity(const void *block, size_t need, size_t element)
{
    return block && need <= talus_capacity(block) / element ? TALUS_OK : TALUS_ERR_MEMORY;
}

void *talus_grow(void *block, size_t need, size_t keep, size_t element, const char *what)
{
    if (talus_check_capacity(block, need, element) == TALUS_OK)
        return block;
    size_t capacity = talus_capacity(block) / element, grown = capacity + capacity / 2;
    if (!keep) {
        talus_release(block);
        block = NULL;
    }
    void *larger = alloc_unset(need > grown ? need : grown, element, what);
    if (!larger)
        return block;
    if (keep)
        memcpy(larger, block, keep * element);
    talus_release(block);
    return larger;
}
