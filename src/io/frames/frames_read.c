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
    TALUS_RELEASE(frames->path, frames->frame, frames->frame_head, frames->exact, frames->head,
                  frames->payload);
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

/* Fails if the file has not the bytes for so many bodies. */
static TalusStatus check_bodies(const TalusFrameInfo *info, int64_t bodies)
{
    if (bodies > TALUS_FRAMES_COUNT_MAX || (uint64_t)bodies > info->size * TALUS_FRAMES_PER_BYTE)
        return talus_fail(
            TALUS_ERR_FORMAT,
            "claims %lld bodies in %" PRIu64 " bytes; there may be %d to a byte, and at most %d",
            (long long)bodies, info->size, TALUS_FRAMES_PER_BYTE, TALUS_FRAMES_COUNT_MAX);
    return TALUS_OK;
}

/* Decodes a frame in parts into `now`. */
static TalusStatus decode_all_parts(TalusFrames *f, const TalusFrameInfo *info,
                                    TalusFrameState *now, TalusSnapshot *snapshot)
{
    TalusFrameParts parts = {
        .before = info->key ? NULL : &f->state[f->newest], .now = now, .snapshot = snapshot};
    uint64_t offset = info->offset;
    TalusChunk chunk;
    TALUS_TRY(check_bodies(info, info->bodies));
    TALUS_TRY(talus_frame_state_resize(now, (int)info->bodies));
    TALUS_TRY(talus_frame_parts_begin(&parts, &f->loaded.head));
    for (int count = 0;; count++) {
        TALUS_TRY(talus_frames_read_frame_chunk(f, offset, &chunk));
        TALUS_TRY(check_frame(info, &chunk));
        if (chunk.kind != TALUS_CHUNK_PART)
            return talus_frame_parts_end(&parts, &chunk, f->payload, count);
        TALUS_TRY(
            talus_frame_parts_decode(&parts, &f->decoder, &f->loaded.head, &chunk, f->payload));
        offset += talus_chunk_bytes(&chunk);
    }
}

/* ---- a share of the parts ---- */

/* Reads the headers of the chunk at `offset`. True in *mine: it is a part of the share. */
static TalusStatus peek_part(const TalusFrames *f, const TalusFrameInfo *info, uint64_t offset,
                             TalusChunk *chunk, TalusFrameHead *frame, bool *mine)
{
    TALUS_TRY(talus_frames_read_bytes(f, offset, chunk, sizeof *chunk));
    TALUS_TRY(talus_frames_read_bytes(f, offset + sizeof *chunk, frame, sizeof *frame));
    TALUS_TRY(check_frame(info, chunk));
    *mine =
        chunk->kind == TALUS_CHUNK_PART && frame->part % (uint32_t)f->shares == (uint32_t)f->share;
    return TALUS_OK;
}

/* Sets *bodies to the number of bodies in the share of a frame. */
static TalusStatus count_share(const TalusFrames *f, const TalusFrameInfo *info, int64_t *bodies)
{
    TalusChunk chunk = {.kind = TALUS_CHUNK_PART};
    TalusFrameHead frame;
    bool mine;
    *bodies = 0;
    for (uint64_t at = info->offset; chunk.kind == TALUS_CHUNK_PART;
         at += talus_chunk_bytes(&chunk)) {
        TALUS_TRY(peek_part(f, info, at, &chunk, &frame, &mine));
        *bodies += mine ? frame.bodies : 0;
    }
    return check_bodies(info, *bodies);
}

/* Decodes the share of a frame in parts into `now`. */
static TalusStatus decode_share(TalusFrames *f, const TalusFrameInfo *info, TalusFrameState *now)
{
    TalusFrameParts parts = {.before = info->key ? NULL : &f->state[f->newest], .now = now};
    TalusChunk chunk = {.kind = TALUS_CHUNK_PART};
    TalusFrameHead frame;
    int64_t bodies;
    bool mine;
    TALUS_TRY(count_share(f, info, &bodies));
    TALUS_TRY(talus_frame_state_resize(now, (int)bodies));
    TALUS_TRY(talus_frame_parts_begin(&parts, &f->loaded.head));
    for (uint64_t at = info->offset; chunk.kind == TALUS_CHUNK_PART;
         at += talus_chunk_bytes(&chunk)) {
        TALUS_TRY(peek_part(f, info, at, &chunk, &frame, &mine));
        if (!mine)
            continue;
        TALUS_TRY(talus_frames_read_frame_chunk(f, at, &chunk));
        TALUS_TRY(
            talus_frame_parts_decode(&parts, &f->decoder, &f->loaded.head, &chunk, f->payload));
    }
    return TALUS_OK;
}

/* Decodes a frame that is not in parts into `now`. */
static TalusStatus decode_whole(TalusFrames *f, const TalusFrameInfo *info, TalusFrameState *now,
                                TalusSnapshot *snapshot)
{
    TalusChunk chunk;
    TALUS_TRY(talus_frames_read_frame_chunk(f, info->offset, &chunk));
    TALUS_TRY(check_frame(info, &chunk));
    return talus_frame_decode(&f->decoder, &f->loaded.head, &chunk, f->payload,
                              &f->state[f->newest], now, snapshot);
}

TalusStatus talus_frames_in_parts(const TalusFrames *f, int index, bool *in_parts)
{
    TalusChunk chunk;
    TALUS_TRY(talus_frames_read_bytes(f, f->frame[index].offset, &chunk, sizeof chunk));
    *in_parts = f->version >= TALUS_FRAMES_PARTS_SINCE && chunk.kind == TALUS_CHUNK_PART;
    return TALUS_OK;
}

/* Decodes frame `index` into state[!newest] and then flips `newest`, so that it is state[newest]. Unless it is a key
 * frame, state[newest] must be the frame before it on entry. */
static TalusStatus decode_next(TalusFrames *f, int index, TalusSnapshot *snapshot)
{
    const TalusFrameInfo *info = &f->frame[index];
    TalusFrameState *now = &f->state[!f->newest];
    bool in_parts;
    f->decoded = -1; /* set again on success */
    TALUS_TRY(talus_frames_load_head(f, index));
    TALUS_TRY(talus_frames_in_parts(f, index, &in_parts));
    TalusStatus status = !in_parts       ? decode_whole(f, info, now, snapshot)
                         : f->shares > 0 ? decode_share(f, info, now)
                                         : decode_all_parts(f, info, now, snapshot);
    if (status != TALUS_OK && in_parts && snapshot)
        talus_snapshot_free(snapshot);
    TALUS_TRY(status);
    f->newest = !f->newest;
    f->decoded = index;
    f->before_valid = !info->key;
    return TALUS_OK;
}

/* Returns `status`; an error names the file and the frame. */
static TalusStatus locate_frame(const TalusFrames *f, int index, TalusStatus status)
{
    char frame[32];
    snprintf(frame, sizeof frame, "frame %d", index);
    return talus_error_at(talus_locate(TALUS_DOMAIN_IO, f->path, 0, frame), status);
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
        TALUS_TRY(locate_frame(f, i, decode_next(f, i, NULL)));
    return locate_frame(f, index, decode_next(f, index, snapshot));
}

/* Reads the EXAC chunk of a frame, which has one. */
static TalusStatus read_exact_chunk(TalusFrames *f, int index, TalusChunk *chunk)
{
    const TalusFrameInfo *info = &f->frame[index];
    TALUS_TRY(talus_frames_read_chunk(f, f->exact[index], TALUS_CHUNK_EXACT, chunk));
    if (chunk->time != info->time || chunk->step != info->step)
        return talus_fail(TALUS_ERR_FORMAT, "its exact data are of another frame");
    return TALUS_OK;
}

/* Reads the chunks of a frame. */
static TalusStatus verify_chunks(TalusFrames *f, int index)
{
    const TalusFrameInfo info = f->frame[index];
    TalusChunk chunk;
    if (f->exact[index])
        TALUS_TRY(read_exact_chunk(f, index, &chunk));
    for (uint64_t at = info.offset; at < info.offset + info.size; at += talus_chunk_bytes(&chunk))
        TALUS_TRY(talus_frames_read_frame_chunk(f, at, &chunk));
    return TALUS_OK;
}

TalusStatus talus_frames_verify(TalusFrames *f, int index)
{
    int key = index;
    while (key > 0 && !f->frame[key].key)
        key--;
    for (int i = key; i <= index; i++)
        TALUS_TRY(locate_frame(f, i, verify_chunks(f, i)));
    return TALUS_OK;
}

TalusStatus talus_frames_read(TalusFrames *frames, int index, TalusSnapshot *snapshot)
{
    return talus_frames_decode(frames, index, snapshot);
}

bool talus_frames_exact(const TalusFrames *frames, int index)
{
    return index >= 0 && index < frames->count && frames->exact[index] != 0;
}

static TalusStatus read_exact(TalusFrames *f, int index, TalusSnapshot *snapshot)
{
    TalusChunk chunk;
    TALUS_TRY(talus_frames_load_head(f, index));
    TALUS_TRY(read_exact_chunk(f, index, &chunk));
    return talus_frame_decode_exact(&f->decoder.unpacker, &f->loaded.head, &chunk, f->payload,
                                    snapshot);
}

TalusStatus talus_frames_read_exact(TalusFrames *frames, int index, TalusSnapshot *snapshot)
{
    TALUS_TRY(check_index(frames, index));
    if (!frames->exact[index])
        return talus_fail_file(frames->path, TALUS_ERR_UNSUPPORTED,
                               "frame %d has rounded numbers alone; exact ones are written by "
                               "talus run --frames exact",
                               index);
    return locate_frame(frames, index, read_exact(frames, index, snapshot));
}

TalusStatus talus_frames_load_share(const char *path, int count, int rank, int size,
                                    TalusPartList *out)
{
    TalusFrames *frames;
    TALUS_TRY(talus_frames_open(path, &frames));
    frames->share = rank;
    frames->shares = size;
    TalusStatus status = talus_frames_decode(frames, count - 1, NULL);
    TALUS_THEN(status, talus_parts_take(out, &frames->state[frames->newest]));
    talus_frames_close(frames);
    return status;
}
