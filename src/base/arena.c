/* base/arena.c - an arena (arena.h) as a list of memory blocks; allocations are taken from the newest block. */
#include "base/arena.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* Header of a memory block; `used` of its `size` bytes, which follow the header, are taken. */
typedef struct TalusArenaBlock TalusArenaBlock;
struct TalusArenaBlock {
    TalusArenaBlock *next;
    size_t used, size;
};

enum {
    BLOCK_SIZE = 1 << 16, /* least size of a block, bytes */
    ALIGN = 16,           /* alignment of allocations, bytes */
    HEADER = (sizeof(TalusArenaBlock) + ALIGN - 1) / ALIGN * ALIGN /* bytes before the first one */
};

/* Puts a new, zeroed memory block of `size` bytes in front of the list. */
static TalusStatus add_block(TalusArena *arena, size_t size)
{
    char *bytes;
    TALUS_TRY(TALUS_ALLOC(bytes, HEADER + size, "scene"));
    TalusArenaBlock *block = (TalusArenaBlock *)(void *)bytes;
    block->next = arena->blocks;
    block->size = size;
    arena->blocks = block;
    return TALUS_OK;
}

void *talus_arena_alloc(TalusArena *arena, size_t size)
{
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    TalusArenaBlock *block = arena->blocks;
    if (!block || block->size - block->used < size) {
        if (add_block(arena, size > BLOCK_SIZE ? size : BLOCK_SIZE) != TALUS_OK)
            return NULL;
        block = arena->blocks;
    }
    void *out = (char *)block + HEADER + block->used;
    block->used += size;
    return out;
}

TalusStatus talus_arena_copy_text(TalusArena *arena, const char *text, size_t length, char **out)
{
    TALUS_TRY(TALUS_ARENA_ALLOC(arena, *out, length + 1));
    memcpy(*out, text, length);
    return TALUS_OK;
}

void talus_arena_clear(TalusArena *arena)
{
    while (arena->blocks) {
        TalusArenaBlock *block = arena->blocks;
        arena->blocks = block->next;
        talus_release(block);
    }
}
