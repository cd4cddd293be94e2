/* base/memory.c - counted, aligned heap blocks. */
#include "base/memory.h"

#include "base/status.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <talus/world.h>

enum { ALIGNMENT = 64 };

static atomic_uint_fast64_t allocation_count;
static atomic_long fail_countdown;

uint64_t talus_allocation_count(void)
{
    return atomic_load(&allocation_count);
}

void talus_fail_allocation_in(long n)
{
    atomic_store(&fail_countdown, n);
}

static bool injected_failure(void)
{
    return atomic_load(&fail_countdown) > 0 && atomic_fetch_sub(&fail_countdown, 1) == 1;
}

/* Uninitialised block, or NULL with the message set. */
static void *raw_block(size_t count, size_t element, const char *what)
{
    if (element && count > (SIZE_MAX - ALIGNMENT) / element) {
        talus_fail(TALUS_ERR_MEMORY, "%s: %zu elements of %zu bytes overflow the address space",
                   what, count, element);
        return NULL;
    }
    size_t bytes = (count * element + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    void *block = injected_failure() ? NULL : aligned_alloc(ALIGNMENT, bytes);
    if (!block)
        talus_fail(TALUS_ERR_MEMORY, "%s: out of memory for %zu bytes", what, bytes);
    else
        atomic_fetch_add(&allocation_count, 1);
    return block;
}

TalusStatus talus_alloc(void **out, size_t count, size_t element, const char *what)
{
    *out = raw_block(count, element, what);
    if (!*out)
        return TALUS_ERR_MEMORY;
    memset(*out, 0, count * element);
    return TALUS_OK;
}

void talus_release(void *pointer)
{
    free(pointer);
}

void talus_free(void *bytes)
{
    talus_release(bytes);
}

TalusStatus talus_reserve(void **array, size_t *capacity, size_t need, size_t keep, size_t element,
                          const char *what)
{
    if (need <= *capacity && *array)
        return TALUS_OK;
    size_t grown = *capacity + *capacity / 2;
    size_t room = need > grown ? need : grown;
    if (!keep) {
        talus_release(*array);
        *array = NULL;
        *capacity = 0;
    }
    void *block = raw_block(room, element, what);
    if (!block)
        return TALUS_ERR_MEMORY;
    if (keep)
        memcpy(block, *array, keep * element);
    talus_release(*array);
    *array = block;
    *capacity = room;
    return TALUS_OK;
}
