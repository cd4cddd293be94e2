/* io/frames/frames_state.c - a frame as integers, in one block, and bodies found again in the next. */
#include "base/memory.h"
#include "io/frames/frames.h"

enum { PER_BODY = 46, ALIGNMENT = 64, ARRAYS = 9 };

static void *take(char **cursor, int count, size_t element)
{
    void *array = *cursor;
    *cursor += ((size_t)count * element + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return array;
}

TalusStatus talus_frame_state_size(TalusFrameState *state, int count)
{
    size_t bytes = (size_t)count * PER_BODY + ARRAYS * ALIGNMENT;
    state->count = 0;
    TALUS_TRY(TALUS_GROW(state->memory, bytes, 0, "frame"));
    char *cursor = state->memory;
    state->id = take(&cursor, count, sizeof *state->id);
    state->position = take(&cursor, count, sizeof *state->position);
    state->orientation = take(&cursor, count, sizeof *state->orientation);
    state->radius = take(&cursor, count, sizeof *state->radius);
    state->shape = take(&cursor, count, sizeof *state->shape);
    state->material = take(&cursor, count, sizeof *state->material);
    state->tag = take(&cursor, count, sizeof *state->tag);
    state->fixed = take(&cursor, count, sizeof *state->fixed);
    state->layer = take(&cursor, count, sizeof *state->layer);
    state->count = count;
    return TALUS_OK;
}

void talus_frame_state_clear(TalusFrameState *state)
{
    talus_release(state->memory);
    *state = (TalusFrameState){0};
}

void talus_frame_match(const TalusFrameState *before, const TalusBodyId *id, int count,
                       int32_t *match)
{
    int row = 0;
    for (int i = 0; i < count; i++) {
        while (row < before->count && before->id[row].index < id[i].index)
            row++;
        bool same = row < before->count && before->id[row].index == id[i].index &&
                    before->id[row].generation == id[i].generation;
        match[i] = same ? row : -1;
    }
}
