/* base/arena.h - an arena: memory for many small allocations that is freed as a whole, for example that of a JSON tree
 * and the structs read from it. */
#ifndef TALUS_BASE_ARENA_H
#define TALUS_BASE_ARENA_H

#include <talus/base.h>

/* An arena; all zeros is an empty one. */
typedef struct TalusArena {
    struct TalusArenaBlock *blocks;
} TalusArena;

/* Returns `size` bytes of zeroed memory in the arena, aligned to 16 bytes, or NULL with the error set. */
void *talus_arena_alloc(TalusArena *arena, size_t size);
/* Sets `pointer` to a zeroed array of `count` elements in the arena, or to NULL on failure. Returns the status. */
#define TALUS_ARENA_ALLOC(arena, pointer, count)                                   \
    (((pointer) = talus_arena_alloc((arena), (size_t)(count) * sizeof *(pointer))) \
         ? TALUS_OK                                                                \
         : TALUS_ERR_MEMORY)
/* Sets *out to a NUL-terminated copy of `length` bytes in the arena. */
TalusStatus talus_arena_copy_text(TalusArena *arena, const char *text, size_t length, char **out);
/* Frees all memory of the arena. */
void talus_arena_clear(TalusArena *arena);

#endif
