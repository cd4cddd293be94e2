/* io/frames/frames_read.c - reading of frames, also from a file that is being written; frames_scan.c finds the chunks,
 * frames_decode.c decodes them. */
#include "base/memory.h"
#include "io/file/file.h"
#include "io/frames/frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- opening ---- */

/* Allocates a reader without an open file. *out may be set on failure too; the caller frees it. */
static TalusStatus create_reader(const char *path, TalusFrames **out)
{
    TALUS_TRY(TALUS_ALLOC(*out, 1, "frames"));
    (*out)->fd = (*out)->loaded_head = (*out)->decoded = -1;
    return talus_path_format(&(*out)->path, "%s", path);
}

/* Closes the descriptor of the reader, if open, and sets it to `fd`. */
static void replace_descriptor(TalusFrames *f, int fd)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = fd;
}

TalusStatus talus_frames_open_or_rescan(TalusFrames **frames, int fd, const char *path)
{
    TalusStatus status = *frames ? TALUS_OK : create_reader(path, frames);
    if (*frames)
        replace_descriptor(*frames, fd);
    else
        close(fd);
    TALUS_THEN(status, talus_frames_scan(*frames));
    if (status != TALUS_OK) {
        talus_frames_close(*frames);
        *frames = NULL;
    }
    return status;
}

TalusStatus talus_frames_open(const char *path, TalusFrames **out)
{
    int fd = talus_open_to_read(path);
    *out = NULL;
    if (fd < 0)
        return talus_fail_file(path, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
    return talus_frames_open_or_rescan(out, fd, path);
}

void talus_frames_close(TalusFrames *frames)
{
    if (!frames)
        return;
    if (frames->fd >= 0)
        close(frames->fd);
    TALUS_RELEASE(frames->path, frames->frame, frames->frame_head, frames->head, frames->payload);
    talus_frames_head_clear(&frames->loaded);
    talus_frame_decoder_clear(&frames->decoder);
    talus_frame_state_clear(&frames->state[0]);
    talus_frame_state_clear(&frames->state[1]);
    talus_release(frames);
}

/* If the path now leads to another file, because a new run has removed the old one: opens that file and empties the
 * lists of frames and heads. Keeps the old file if the new one cannot be opened. */
static void reopen_if_replaced(TalusFrames *f)
{
    struct stat named, held;
    if (stat(f->path, &named) != 0 || fstat(f->fd, &held) != 0 || talus_same_file(&named, &held))
        return;
    int fd = talus_open_to_read(f->path);
    if (fd < 0)
        return;
    replace_descriptor(f, fd);
    talus_frames_forget(f);
}

TalusStatus talus_frames_refresh(TalusFrames *frames)
{
    reopen_if_replaced(frames);
    return talus_frames_scan(frames);
}

/* ---- queries ---- */

int talus_frames_version(const TalusFrames *frames)
{
    return (int)frames->version;
}

int talus_frames_count(const TalusFrames *frames)
{
    return frames->count;
}

TalusFrameInfo talus_frames_info(const TalusFrames *frames, int index)
{
    return frames->frame[index];
}

bool talus_frames_complete(const TalusFrames *frames)
{
    return frames->complete;
}

int talus_frames_at(const TalusFrames *frames, double time)
{
    int low = 0, high = frames->count - 1;
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (frames->frame[middle].time <= time)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* ---- heads ---- */

static TalusStatus check_index(const TalusFrames *f, int index)
{
    if (index < 0 || index >= f->count)
        return talus_fail_file(f->path, TALUS_ERR_ARGUMENT, "frame %d; there are %d", index,
                               f->count);
    return TALUS_OK;
}

TalusStatus talus_frames_load_head(TalusFrames *f, int index)
{
    TalusChunk chunk;
    TALUS_TRY(check_index(f, index));
    int head = f->frame_head[index];
    if (head < 0)
        return talus_fail_file(f->path, TALUS_ERR_FORMAT,
                               "damaged: there is no head before the first frame");
    if (f->loaded_head == head)
        return TALUS_OK;
    f->loaded_head = -1;
    if (f->head[head].size > TALUS_FRAMES_HEAD_MAX + sizeof chunk)
        return talus_fail_file(f->path, TALUS_ERR_FORMAT,
                               "a head of %" PRIu64 " bytes; at most %d are read",
                               f->head[head].size, TALUS_FRAMES_HEAD_MAX);
    TALUS_TRY(talus_frames_read_chunk(f, f->head[head].offset, TALUS_CHUNK_HEAD, &chunk));
    TALUS_TRY(
        talus_frames_head_read((const char *)f->payload, (size_t)chunk.size, f->path, &f->loaded));
    f->loaded_head = head;
    return TALUS_OK;
}

const TalusFramesHead *talus_frames_head(TalusFrames *frames, int index)
{
    return talus_frames_load_head(frames, index) == TALUS_OK ? &frames->loaded.head : NULL;
}

/* ---- frames ---- */

/* Fails unless a chunk is of the frame that the list has. */
static TalusStatus check_frame(const TalusFrameInfo *info, const TalusChunk *chunk)
{
    const bool key = chunk->flags & TALUS_CHUNK_KEY;
    if (key != info->key || chunk->time != info->time || chunk->step != info->step)
        return talus_fail(TALUS_ERR_FORMAT, "is not the one that the index names");
    return TALUS_OK;
}

/* Sets the number of bodies of a frame in parts. There are so many only if the file has the bytes for them. */
static TalusStatus open_parts(const TalusFrameInfo *info, TalusFrameState *now)
{
    if (info->bodies > TALUS_FRAMES_COUNT_MAX ||
        (uint64_t)info->bodies > info->size * TALUS_FRAMES_PER_BYTE)
        return talus_fail(
            TALUS_ERR_FORMAT,
            "claims %lld bodies in %" PRIu64 " bytes; there may be %d to a byte, and at most %d",
            (long long)info->bodies, info->size, TALUS_FRAMES_PER_BYTE, TALUS_FRAMES_COUNT_MAX);
    return talus_frame_state_resize(now, (int)info->bodies);
}

/* Decodes a frame in parts, of which the first has just been read into f->payload, into `now`. */
static TalusStatus decode_parts(TalusFrames *f, const TalusFrameInfo *info, TalusChunk *chunk,
                                TalusFrameState *now, TalusSnapshot *snapshot)
{
    TalusFrameParts parts = {
        .before = info->key ? NULL : &f->state[f->newest], .now = now, .snapshot = snapshot};
    uint64_t offset = info->offset;
    int count = 0;
    TALUS_TRY(open_parts(info, now));
    TALUS_TRY(talus_frame_parts_begin(&parts, &f->loaded.head));
    for (; chunk->kind == TALUS_CHUNK_PART; count++) {
        TALUS_TRY(check_frame(info, chunk));
        TALUS_TRY(
            talus_frame_parts_decode(&parts, &f->decoder, &f->loaded.head, chunk, f->payload));
        offset += talus_chunk_bytes(chunk);
        TALUS_TRY(talus_frames_read_frame_chunk(f, offset, chunk));
    }
    TALUS_TRY(check_frame(info, chunk));
    return talus_frame_parts_end(&parts, chunk, f->payload, count);
}

/* Decodes frame `index` into state[!newest] and then flips `newest`, so that it is state[newest]. Unless it is a key
 * frame, state[newest] must be the frame before it on entry. */
static TalusStatus decode_next(TalusFrames *f, int index, TalusSnapshot *snapshot)
{
    TalusChunk chunk;
    const TalusFrameInfo *info = &f->frame[index];
    TalusFrameState *now = &f->state[!f->newest];
    f->decoded = -1; /* set again on success */
    TALUS_TRY(talus_frames_load_head(f, index));
    TALUS_TRY(talus_frames_read_frame_chunk(f, info->offset, &chunk));
    TALUS_TRY(check_frame(info, &chunk));
    const bool in_parts = chunk.kind == TALUS_CHUNK_PART;
    TalusStatus status = in_parts
                             ? decode_parts(f, info, &chunk, now, snapshot)
                             : talus_frame_decode(&f->decoder, &f->loaded.head, &chunk, f->payload,
                                                  &f->state[f->newest], now, snapshot);
    if (status != TALUS_OK && in_parts && snapshot)
        talus_snapshot_free(snapshot);
    TALUS_TRY(status);
    f->newest = !f->newest;
    f->decoded = index;
    f->in_parts = in_parts;
    f->before_valid = !info->key;
    return TALUS_OK;
}

/* As decode_next; errors name the file and the frame. */
static TalusStatus decode_with_location(TalusFrames *f, int index, TalusSnapshot *snapshot)
{
    char frame[32];
    snprintf(frame, sizeof frame, "frame %d", index);
    return talus_error_at(talus_locate(TALUS_DOMAIN_IO, f->path, 0, frame),
                          decode_next(f, index, snapshot));
}

/* Sets *start to the first frame to decode in order to reach `index`: its key frame; the frame after `decoded`, if key
 * frame <= decoded < index; or `index` itself, if it is `decoded` and the state of the frame before is still valid.
 * Flips f->newest in the last case, so that state[newest] is that state. */
static TalusStatus prepare_start(TalusFrames *f, int index, int *start)
{
    int key = index;
    while (key > 0 && !f->frame[key].key)
        key--;
    if (!f->frame[key].key)
        return talus_fail_file(f->path, TALUS_ERR_FORMAT, "frame %d: no key frame comes before it",
                               index);
    *start = key;
    if (f->decoded >= key && f->decoded < index)
        *start = f->decoded + 1;
    if (f->decoded == index && f->before_valid) { /* decode it again, from the state before it */
        f->newest = !f->newest;
        *start = index;
    }
    return TALUS_OK;
}

TalusStatus talus_frames_decode(TalusFrames *f, int index, TalusSnapshot *snapshot)
{
    int start = index;
    TALUS_TRY(check_index(f, index));
    TALUS_TRY(prepare_start(f, index, &start));
    for (int i = start; i < index; i++)
        TALUS_TRY(decode_with_location(f, i, NULL));
    return decode_with_location(f, index, snapshot);
}

TalusStatus talus_frames_read(TalusFrames *frames, int index, TalusSnapshot *snapshot)
{
    return talus_frames_decode(frames, index, snapshot);
}
