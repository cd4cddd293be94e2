/* io/frames/frames_state.c - a quantised frame in one block of memory; search in it for bodies of the next frame. */
#include "base/memory.h"
#include "io/frames/frames.h"

#include <string.h>

/* PER_BODY: bytes of a body in all arrays together. ALIGNMENT: of each array, bytes. ARRAYS: number of arrays. */
enum { PER_BODY = 46, ALIGNMENT = 64, ARRAYS = 9 };

/* Returns an array of `count` elements of `element` bytes at *cursor, and moves *cursor past the array. */
static void *place_array(char **cursor, int count, size_t element)
{
    void *array = *cursor;
    *cursor += ((size_t)count * element + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return array;
}

TalusStatus talus_frame_state_resize(TalusFrameState *state, int count)
{
    size_t bytes = (size_t)count * PER_BODY + ARRAYS * ALIGNMENT;
    state->count = 0;
    TALUS_TRY(TALUS_GROW(state->memory, bytes, 0, "frame"));
    char *cursor = state->memory;
    state->id = place_array(&cursor, count, sizeof *state->id);
    state->position = place_array(&cursor, count, sizeof *state->position);
    state->orientation = place_array(&cursor, count, sizeof *state->orientation);
    state->radius = place_array(&cursor, count, sizeof *state->radius);
    state->shape = place_array(&cursor, count, sizeof *state->shape);
    state->material = place_array(&cursor, count, sizeof *state->material);
    state->tag = place_array(&cursor, count, sizeof *state->tag);
    state->fixed = place_array(&cursor, count, sizeof *state->fixed);
    state->layer = place_array(&cursor, count, sizeof *state->layer);
    state->count = count;
    return TALUS_OK;
}

void talus_frame_state_clear(TalusFrameState *state)
{
    talus_release(state->memory);
    *state = (TalusFrameState){0};
}

TalusFrameState talus_frame_state_rows(const TalusFrameState *s, int first, int count)
{
    return (TalusFrameState){.count = count,
                             .id = s->id + first,
                             .position = s->position + first,
                             .orientation = s->orientation + first,
                             .radius = s->radius + first,
                             .shape = s->shape + first,
                             .material = s->material + first,
                             .tag = s->tag + first,
                             .fixed = s->fixed + first,
                             .layer = s->layer + first};
}

TalusStatus talus_frame_state_copy(const TalusFrameState *from, TalusFrameState *out)
{
    const size_t n = (size_t)from->count;
    TALUS_TRY(talus_frame_state_resize(out, from->count));
    if (n == 0)
        return TALUS_OK;
    memcpy(out->id, from->id, n * sizeof *out->id);
    memcpy(out->position, from->position, n * sizeof *out->position);
    memcpy(out->orientation, from->orientation, n * sizeof *out->orientation);
    memcpy(out->radius, from->radius, n * sizeof *out->radius);
    memcpy(out->shape, from->shape, n * sizeof *out->shape);
    memcpy(out->material, from->material, n * sizeof *out->material);
    memcpy(out->tag, from->tag, n * sizeof *out->tag);
    memcpy(out->fixed, from->fixed, n * sizeof *out->fixed);
    memcpy(out->layer, from->layer, n * sizeof *out->layer);
    return TALUS_OK;
}

TalusFrameState talus_frame_state_part(const TalusFrameState *s, uint64_t part, int *row)
{
    while (*row < s->count && talus_frame_part_of(s->id[*row]) < part)
        ++*row;
    const int first = *row;
    while (*row < s->count && talus_frame_part_of(s->id[*row]) == part)
        ++*row;
    return talus_frame_state_rows(s, first, *row - first);
}

uint64_t talus_frame_largest_number(const TalusFrameState *state)
{
    uint64_t newest = 0;
    for (int i = 0; i < state->count; i++)
        newest = state->id[i].number > newest ? state->id[i].number : newest;
    return newest;
}

bool talus_frame_match_body(const TalusFrameState *before, uint64_t newest, TalusBodyId id,
                            int *row, int32_t *match)
{
    *match = -1;
    if (id.number > newest)
        return true;
    while (*row < before->count && before->id[*row].number != id.number)
        ++*row;
    if (*row < before->count)
        *match = (*row)++;
    return *match >= 0;
}

uint64_t talus_frame_predict_number(const TalusFrameState *before, int row, const TalusBodyId *id,
                                    int i)
{
    if (before && row < before->count)
        return before->id[row].number;
    return i > 0 ? id[i - 1].number : 0;
}
