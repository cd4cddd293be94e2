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
/* Blocks below this grow by half, larger ones by a sixteenth: half as much again would be unused. */
enum { LARGE_BLOCK = 1 << 22 };

/* A name of blocks and their bytes. `state` goes from FREE through TAKEN to NAMED, once. */
typedef struct Use {
    atomic_int state;
    char name[44];
    atomic_size_t now, peak, at_highest;
} Use;
enum { FREE, TAKEN, NAMED };

/* Precedes every block, on a cache line of its own: the block's capacity, where it is counted, and what to free. */
typedef struct Header {
    size_t bytes;
    Use *use;
    char *origin;
} Header;

/* Names are found by their hash, from which the search goes on to the next place; a full table counts in `rest`. */
enum { NAMES = 1024 };
static Use names[NAMES];
static Use rest = {.state = NAMED, .name = "further names"},
           files = {.state = NAMED, .name = "files"},
           external = {.state = NAMED, .name = "other libraries"};

static atomic_uint_fast64_t allocation_count;              /* since the start of the program */
static atomic_size_t bytes_now, bytes_peak, bytes_highest; /* talus_memory_now, _peak, _highest */
static atomic_size_t bytes_noted;  /* bytes of all names when at_highest was last written */
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

size_t talus_memory_highest(void)
{
    return atomic_load(&bytes_highest);
}

void talus_memory_reset_peak(void)
{
    atomic_store(&bytes_peak, atomic_load(&bytes_now));
}

/* Raises a peak to `now`, if that is more. */
static void raise_peak(atomic_size_t *largest, size_t now)
{
    size_t peak = atomic_load(largest);
    while (now > peak && !atomic_compare_exchange_weak(largest, &peak, now))
        ;
}

static void note_use(Use *use)
{
    atomic_store(&use->at_highest, atomic_load(&use->now));
}

/* Notes the bytes of every name, if all together have grown by 1/128 since the last time: so the cost of going through
 * the names stays far below that of the blocks. Of several threads the one that raises bytes_noted does it. */
static void note_highest(size_t now)
{
    size_t noted = atomic_load(&bytes_noted);
    if (now <= noted + noted / 128 || !atomic_compare_exchange_strong(&bytes_noted, &noted, now))
        return;
    note_use(&rest);
    note_use(&files);
    note_use(&external);
    for (int i = 0; i < NAMES; i++)
        if (atomic_load(&names[i].state) == NAMED)
            note_use(&names[i]);
}

static void count_bytes(Use *use, size_t bytes)
{
    size_t now = atomic_fetch_add(&bytes_now, bytes) + bytes;
    raise_peak(&bytes_peak, now);
    raise_peak(&bytes_highest, now);
    raise_peak(&use->peak, atomic_fetch_add(&use->now, bytes) + bytes);
    note_highest(now);
}

static void uncount_bytes(Use *use, size_t bytes)
{
    atomic_fetch_sub(&bytes_now, bytes);
    atomic_fetch_sub(&use->now, bytes);
}

/* True if the place has this name, or was free and has it now. A place that another thread is naming is waited for. */
static bool is_or_becomes(Use *use, const char *name)
{
    int free = FREE;
    if (atomic_load(&use->state) == FREE &&
        atomic_compare_exchange_strong(&use->state, &free, TAKEN)) {
        strncpy(use->name, name, sizeof use->name - 1);
        atomic_store(&use->state, NAMED);
        return true;
    }
    while (atomic_load(&use->state) != NAMED)
        ;
    return strncmp(use->name, name, sizeof use->name - 1) == 0;
}

/* Returns where blocks of this name are counted. Names of files are without number, and are counted together. */
static Use *find_use(const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    if (strpbrk(name, "./"))
        return &files;
    for (size_t i = 0; name[i] && i + 1 < sizeof names[0].name; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    for (int i = 0; i < NAMES; i++)
        if (is_or_becomes(&names[(hash + (uint32_t)i) % NAMES], name))
            return &names[(hash + (uint32_t)i) % NAMES];
    return &rest;
}

/* Inserts a use into a list of falling peaks that has `count` entries and room for `limit`. Returns the new count. */
static int insert_use(TalusMemoryUse *list, int count, int limit, Use *use)
{
    TalusMemoryUse u = {use->name, atomic_load(&use->now), atomic_load(&use->peak),
                        atomic_load(&use->at_highest)};
    int at = count;
    while (at > 0 && list[at - 1].peak < u.peak)
        at--;
    if (u.peak == 0 || at == limit)
        return count;
    int last = count < limit ? count : limit - 1;
    memmove(&list[at + 1], &list[at], (size_t)(last - at) * sizeof *list);
    list[at] = u;
    return last + 1;
}

int talus_memory_uses(TalusMemoryUse *use, int limit)
{
    int count = insert_use(use, 0, limit, &external);
    count = insert_use(use, count, limit, &rest);
    count = insert_use(use, count, limit, &files);
    for (int i = 0; i < NAMES; i++)
        if (atomic_load(&names[i].state) == NAMED)
            count = insert_use(use, count, limit, &names[i]);
    return count;
}

void talus_memory_count_external(size_t before, size_t now)
{
    uncount_bytes(&external, before);
    count_bytes(&external, now);
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

/* Returns the capacity of a block for `bytes` bytes. */
static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
}

/* Returns an uninitialised block, or NULL with the error set. */
static void *alloc_unset(size_t count, size_t element, const char *what)
{
    if (element && count > (SIZE_MAX - 2 * ALIGNMENT) / element) {
        talus_fail(TALUS_ERR_MEMORY, "%s: %zu elements of %zu bytes overflow the address space",
                   what, count, element);
        return NULL;
    }
    size_t bytes = round_up(count * element);
    char *block = talus_allocation_must_fail() ? NULL : aligned_alloc(ALIGNMENT, bytes + ALIGNMENT);
    if (!block) {
        talus_fail(TALUS_ERR_MEMORY, "%s: out of memory for %zu bytes", what, bytes);
        return NULL;
    }
    atomic_fetch_add(&allocation_count, 1);
    Use *use = find_use(what);
    count_bytes(use, bytes);
    *(Header *)block = (Header){.bytes = bytes, .use = use, .origin = block};
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
    char *block = (char *)pointer - ALIGNMENT;
    uncount_bytes(((Header *)block)->use, ((Header *)block)->bytes);
    free(((Header *)block)->origin);
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

/* Returns a large block with room for `bytes`, its contents kept, or NULL with the error set and the block as it was.
 * The system moves the pages of such a block, so that the old and the new one are never both in memory. */
static void *resize_large(void *pointer, size_t bytes, const char *what)
{
    const Header old = *(Header *)((char *)pointer - ALIGNMENT);
    const size_t offset = (size_t)((char *)pointer - ALIGNMENT - old.origin);
    char *origin =
        talus_allocation_must_fail() ? NULL : realloc(old.origin, bytes + 2 * (size_t)ALIGNMENT);
    if (!origin) {
        talus_fail(TALUS_ERR_MEMORY, "%s: out of memory for %zu bytes", what, bytes);
        return NULL;
    }
    char *block = origin + (ALIGNMENT - (uintptr_t)origin % ALIGNMENT) % ALIGNMENT;
    if (block != origin + offset) /* realloc need not keep the alignment */
        memmove(block, origin + offset, ALIGNMENT + old.bytes);
    atomic_fetch_add(&allocation_count, 1);
    uncount_bytes(old.use, old.bytes);
    Use *use = find_use(what);
    count_bytes(use, bytes);
    *(Header *)block = (Header){.bytes = bytes, .use = use, .origin = origin};
    return block + ALIGNMENT;
}

void *talus_grow(void *block, size_t need, size_t keep, size_t element, const char *what)
{
    if (talus_check_capacity(block, need, element) == TALUS_OK)
        return block;
    size_t bytes = talus_capacity(block), capacity = bytes / element;
    size_t grown = capacity + capacity / (bytes < LARGE_BLOCK ? 2 : 16);
    if (!keep) {
        talus_release(block);
        block = NULL;
    }
    if (need < grown)
        need = grown;
    bool moves = keep && bytes >= LARGE_BLOCK && need <= (SIZE_MAX - 4 * ALIGNMENT) / element;
    void *larger = moves ? resize_large(block, round_up(need * element), what)
                         : alloc_unset(need, element, what);
    if (!larger || moves)
        return larger ? larger : block;
    if (keep)
        memcpy(larger, block, keep * element);
    talus_release(block);
    return larger;
}
