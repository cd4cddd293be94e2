/* fuzz/run_files.c - any bytes as a frames file and as a table of steps: what the server makes of them is
 * valid JSON and lies within the file; rows are the same whether the file was seen to grow or found whole.
 *
 * The first two bytes say how much of the file is there at the first look. */
#include "cli/run/steps.h"

#include "io/frames/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(bool ok)
{
    if (!ok)
        abort();
}

/* ---- one file, written anew for every input ---- */

static int file = -1;

static void write_file(const uint8_t *bytes, size_t size, size_t from)
{
    if (file < 0)
        file = fileno(tmpfile());
    check(ftruncate(file, (off_t)from) == 0);
    check(pwrite(file, bytes + from, size - from, (off_t)from) == (ssize_t)(size - from));
}

/* ---- frames ---- */

static void check_places(const TalusFrames *frames, size_t size)
{
    for (int i = 0; i < frames->count; i++) {
        TalusFrameInfo frame = frames->frame[i];
        check(frame.offset < size && frame.size <= size - frame.offset && frame.offset % 8 == 0);
    }
    for (int i = 0; i < frames->heads; i++)
        check(frames->head[i].offset < size &&
              frames->head[i].size <= size - frames->head[i].offset);
}

static void try_frames(const uint8_t *bytes, size_t size, size_t cut)
{
    TalusFrames *frames = NULL;
    write_file(bytes, cut, 0);
    if (talus_frames_follow(&frames, dup(file), "frames") == TALUS_OK)
        check_places(frames, cut);
    write_file(bytes, size, cut);
    if (talus_frames_follow(&frames, dup(file), "frames") == TALUS_OK)
        check_places(frames, size);
    talus_frames_close(frames);
}

/* ---- steps ---- */

typedef struct Text {
    char *bytes;
    size_t size, capacity;
} Text;

static void collect(void *user, const char *bytes, size_t size)
{
    Text *text = user;
    if (size > text->capacity - text->size) {
        text->capacity = 2 * (text->size + size);
        text->bytes = realloc(text->bytes, text->capacity);
        check(text->bytes != NULL);
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
}

static void check_json(const Steps *steps, int64_t first, int64_t stride, Text *text)
{
    JsonOut json;
    TalusArena arena = {0};
    TalusJson *root;
    text->size = 0;
    json_start(&json, collect, text);
    json_open_object(&json, NULL);
    check(steps_write_json(steps, file, first, stride, &json) == TALUS_OK);
    json_close_object(&json);
    json_finish(&json);
    check(talus_json_parse(&arena, text->bytes, text->size, "steps", true, &root) == TALUS_OK);
    const TalusJson *time = talus_json_get(root, "time");
    check(time && time->count == talus_json_get(root, "rows")->number);
    talus_arena_clear(&arena);
}

static void try_steps(const uint8_t *bytes, size_t size, size_t cut)
{
    static Text grown_text, whole_text;
    Steps grown = {0}, whole = {0};
    bool anew = false;
    write_file(bytes, cut, 0);
    steps_refresh(&grown, file, &anew);
    write_file(bytes, size, cut);
    steps_refresh(&grown, file, &anew);
    check(!anew);
    steps_refresh(&whole, file, &anew);
    check(grown.rows == whole.rows && grown.end == whole.end && grown.end <= size);
    check_json(&grown, (int64_t)(cut % 7), 1 + (int64_t)(cut % 3), &grown_text);
    check_json(&whole, (int64_t)(cut % 7), 1 + (int64_t)(cut % 3), &whole_text);
    check(grown_text.size == whole_text.size &&
          memcmp(grown_text.bytes, whole_text.bytes, whole_text.size) == 0);
    steps_clear(&grown);
    steps_clear(&whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t cut = ((size_t)data[0] << 8 | data[1]) % (size - 1);
    try_frames(data + 2, size - 2, cut);
    try_steps(data + 2, size - 2, cut);
    return 0;
}
