/* io/scene/scene_arena.h - memory of one scene: its JSON tree and the structs read from it. */
#ifndef TALUS_IO_SCENE_SCENE_ARENA_H
#define TALUS_IO_SCENE_SCENE_ARENA_H

#include <talus/base.h>

/* Zeroed memory that is freed as a whole. The arena itself starts zeroed. */
typedef struct TalusArena {
    struct TalusArenaBlock *blocks;
} TalusArena;

TalusStatus talus_arena_alloc(TalusArena *arena, size_t size, void **out);
/* Makes a NUL-terminated copy. */
TalusStatus talus_arena_text(TalusArena *arena, const char *text, size_t length, char **out);
void talus_arena_clear(TalusArena *arena);

#endif
