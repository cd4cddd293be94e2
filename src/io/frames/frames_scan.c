/* io/frames/frames_scan.c - locations of the chunks of a frames file.
 *
 * In a finished file, the index gives the offsets and times of frames; otherwise they are read from the headers of the
 * chunks, one by one. A scan of the whole file verifies the checksum of the index or, if the file is unfinished, that
 * of the last frame; the checksums of other chunks are verified when these are read (talus_frames_read_chunk). */
#include "base/memory.h"
#include "io/file/file.h"
#include "io/frames/frames.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

TalusStatus talus_frames_read_bytes(const TalusFrames *f, uint64_t offset, void *out, size_t size)
{
    return talus_read_at(f->fd, f->path, offset, out, size);
}

/* Sets *size to the size of the file; fails if the file is not regular. */
static TalusStatus get_file_size(const TalusFrames *f, uint64_t *size)
{
    struct stat about;
    if (fstat(f->fd, &about) != 0)
        return talus_fail_file(f->path, TALUS_ERR_IO, "cannot read: %s", strerror(errno));
    if (!S_ISREG(about.st_mode))
        return talus_fail_file(f->path, TALUS_ERR_IO, "is not a regular file");
    *size = (uint64_t)about.st_size;
    return TALUS_OK;
}

/* The size that the header claims is compared with the file's before memory is allocated for the payload. */
TalusStatus talus_frames_read_chunk(TalusFrames *f, uint64_t offset, uint32_t kind,
                                    TalusChunk *chunk)
{
    uint64_t start = offset + sizeof *chunk, size;
    TALUS_TRY(talus_frames_read_bytes(f, offset, chunk, sizeof *chunk));
    TALUS_TRY(get_file_size(f, &size));
    if (chunk->magic != TALUS_CHUNK_MAGIC || chunk->kind != kind)
        return talus_fail_file(f->path, TALUS_ERR_FORMAT,
                               "damaged: byte %" PRIu64 " starts no such chunk", offset);
    if (start > size || chunk->size > size - start)
        return talus_fail_file(f->path, TALUS_ERR_FORMAT,
                               "damaged: the chunk at byte %" PRIu64 " claims %" PRIu64
                               " bytes of the %" PRIu64 " after it",
                               offset, chunk->size, start > size ? 0 : size - start);
    TALUS_TRY(TALUS_GROW(f->payload, (size_t)chunk->size, 0, "frame"));
    TALUS_TRY(talus_frames_read_bytes(f, start, f->payload, (size_t)chunk->size));
    if (talus_chunk_crc(chunk, f->payload) != chunk->crc)
        return talus_fail_file(f->path, TALUS_ERR_FORMAT,
                               "damaged: the chunk at byte %" PRIu64 " does not match its checksum",
                               offset);
    return TALUS_OK;
}

TalusStatus talus_frames_read_frame_chunk(TalusFrames *f, uint64_t offset, TalusChunk *chunk)
{
    TALUS_TRY(talus_frames_read_bytes(f, offset, chunk, sizeof *chunk));
    const bool part = f->version >= TALUS_FRAMES_PARTS_SINCE && chunk->kind == TALUS_CHUNK_PART;
    return talus_frames_read_chunk(f, offset, part ? TALUS_CHUNK_PART : TALUS_CHUNK_FRAME, chunk);
}

/* Checks the magic and the version in the first bytes of the file, as far as these are written: a file just created may
 * be shorter. Sets f->version; 0 if it is not written yet. */
static TalusStatus check_file_head(TalusFrames *f, uint64_t size)
{
    TalusFileHead head = {0}, found = {0};
    size_t there = size < sizeof head ? (size_t)size : sizeof head;
    memcpy(head.magic, TALUS_FRAMES_MAGIC, sizeof head.magic);
    TALUS_TRY(talus_frames_read_bytes(f, 0, &found, there));
    if (memcmp(&found, &head, there < sizeof head.magic ? there : sizeof head.magic) != 0)
        return talus_fail_file(f->path, TALUS_ERR_FORMAT, "is not a Talus frames file");
    if (there == sizeof head && (found.version < 1 || found.version > TALUS_FRAMES_VERSION))
        return talus_fail_file(f->path, TALUS_ERR_FORMAT,
                               "has format version %" PRIu32
                               ", this program reads versions 1 to %d",
                               found.version, TALUS_FRAMES_VERSION);
    f->version = found.version;
    return TALUS_OK;
}

/* ---- results ---- */

void talus_frames_forget(TalusFrames *f)
{
    f->count = f->heads = 0;
    f->end = sizeof(TalusFileHead);
    f->complete = false;
    f->torn = f->next_exact = 0;
    f->loaded_head = f->decoded = -1;
}

/* Adds a frame to the list of frames, with the last listed head. */
static TalusStatus append_frame_info(TalusFrames *f, const TalusIndexRow *row)
{
    size_t n = (size_t)f->count;
    TALUS_TRY(TALUS_GROW(f->frame, n + 1, n, "frames"));
    TALUS_TRY(TALUS_GROW(f->frame_head, n + 1, n, "frames"));
    TALUS_TRY(TALUS_GROW(f->exact, n + 1, n, "frames"));
    f->frame[n] = (TalusFrameInfo){.time = row->time,
                                   .step = row->step,
                                   .offset = row->offset,
                                   .size = row->size,
                                   .bodies = row->bodies,
                                   .key = row->flags & TALUS_CHUNK_KEY};
    f->frame_head[n] = f->heads - 1;
    f->exact[n] = f->next_exact;
    f->next_exact = 0;
    f->count++;
    return TALUS_OK;
}

/* Adds a head to the list of heads; frames listed after it belong to it. */
static TalusStatus append_head_location(TalusFrames *f, uint64_t offset, uint64_t size)
{
    size_t n = (size_t)f->heads;
    TALUS_TRY(TALUS_GROW(f->head, n + 1, n, "frames"));
    f->head[f->heads++] = (TalusHeadLocation){offset, size};
    return TALUS_OK;
}

/* ---- without index: chunk by chunk ---- */

/* Reads the header of the chunk at `offset` into *chunk, unless the header would go past `limit`. *whole is true if the
 * header has the magic of a chunk and the chunk ends by `limit`. */
static TalusStatus peek_chunk(const TalusFrames *f, uint64_t offset, uint64_t limit,
                              TalusChunk *chunk, bool *whole)
{
    *whole = false;
    if (limit - offset < sizeof *chunk)
        return TALUS_OK;
    TALUS_TRY(talus_frames_read_bytes(f, offset, chunk, sizeof *chunk));
    *whole = chunk->magic == TALUS_CHUNK_MAGIC && chunk->size <= limit - offset - sizeof *chunk &&
             talus_chunk_bytes(chunk) <= limit - offset;
    return TALUS_OK;
}

/* Adds a HEAD chunk to the list of heads, a frame to the list of frames; an EXAC chunk is of the frame behind it; ignores chunks
 * of other kinds. The frame's parts, if it has any, begin at `first`. */
static TalusStatus list_chunk(TalusFrames *f, uint64_t first, uint64_t offset,
                              const TalusChunk *chunk)
{
    uint64_t size = talus_chunk_bytes(chunk);
    if (chunk->kind == TALUS_CHUNK_HEAD)
        return append_head_location(f, offset, size);
    if (chunk->kind == TALUS_CHUNK_EXACT)
        f->next_exact = offset;
    if (chunk->kind != TALUS_CHUNK_FRAME)
        return TALUS_OK;
    TalusFrameHead frame = {0};
    if (chunk->size >= sizeof frame)
        TALUS_TRY(talus_frames_read_bytes(f, offset + sizeof *chunk, &frame, sizeof frame));
    const uint64_t begin =
        f->version >= TALUS_FRAMES_PARTS_SINCE && frame.part > 0 ? first : offset;
    TalusIndexRow row = {.offset = begin,
                         .time = chunk->time,
                         .step = chunk->step,
                         .size = offset + size - begin,
                         .flags = chunk->flags,
                         .bodies = frame.bodies};
    return append_frame_info(f, &row);
}

/* Warns, once per offset, of damage: if the file has enough bytes for a header at `offset`, but these do not start with
 * the magic of a chunk. Fewer bytes, or a header without all of its payload, are not damage: a chunk is being
 * written. */
static void warn_damage(TalusFrames *f, uint64_t offset, uint64_t size, const TalusChunk *chunk)
{
    if (size - offset < sizeof *chunk || chunk->magic == TALUS_CHUNK_MAGIC || f->warned == offset)
        return;
    f->warned = offset;
    talus_log(TALUS_LOG_WARNING, "frames.damaged",
              "%s: byte %" PRIu64
              " does not start a chunk; only the %d frames before it can be read",
              f->path, offset, f->count);
}

/* Lists frames and heads from *offset on; stops at the index, at `limit`, or at bytes that are no whole chunk. Sets
 * *offset to the stop, or to the first of the parts right before it, whose frame is not there yet, and *last to the header
 * at the stop, zero if no header fits before `limit`. */
static TalusStatus list_chunks(TalusFrames *f, uint64_t *offset, uint64_t limit, TalusChunk *last)
{
    uint64_t at = *offset;
    for (;;) {
        bool whole;
        *last = (TalusChunk){0};
        TALUS_TRY(peek_chunk(f, at, limit, last, &whole));
        if (!whole || last->kind == TALUS_CHUNK_INDEX)
            return TALUS_OK;
        TALUS_TRY(list_chunk(f, *offset, at, last));
        at += talus_chunk_bytes(last);
        if (last->kind != TALUS_CHUNK_PART)
            *offset = at;
    }
}

/* ---- the index ---- */

/* Reads the last bytes of the file. True if they are those of a finished file and the offset of the index, end->index,
 * is within the file. */
static bool read_file_end(const TalusFrames *f, uint64_t size, TalusFileEnd *end)
{
    return size >= sizeof(TalusFileHead) + sizeof(TalusChunk) + sizeof *end &&
           talus_frames_read_bytes(f, size - sizeof *end, end, sizeof *end) == TALUS_OK &&
           memcmp(end->magic, TALUS_FRAMES_END, sizeof end->magic) == 0 &&
           end->index >= sizeof(TalusFileHead) &&
           end->index <= size - sizeof *end - sizeof(TalusChunk);
}

/* Lists the chunks from f->end (end of the last frame listed) up to the frame of an index row, then that frame. Moves
 * f->end behind the frame. *plausible is false if the row contradicts the file; its frame is then not listed. */
static TalusStatus list_index_row(TalusFrames *f, const TalusIndexRow *row, uint64_t limit,
                                  bool *plausible)
{
    TalusChunk chunk;
    *plausible = row->offset % 8 == 0 && row->size % 8 == 0 && row->offset >= f->end &&
                 row->offset < limit && row->size <= limit - row->offset &&
                 row->size >= sizeof(TalusChunk);
    if (!*plausible)
        return TALUS_OK;
    TALUS_TRY(list_chunks(f, &f->end, row->offset, &chunk));
    *plausible = f->end == row->offset;
    f->end = row->offset + row->size;
    return *plausible ? append_frame_info(f, row) : TALUS_OK;
}

/* Lists frames and heads by the index chunk at offset `index`. *done is false if the index is damaged or contradicts
 * the file; the caller then empties the lists, which have some entries, and lists the file chunk by chunk. */
static TalusStatus list_index_rows(TalusFrames *f, uint64_t index, bool *done)
{
    TalusChunk chunk;
    uint32_t counts[2];
    *done = false;
    TalusStatus status = talus_frames_read_chunk(f, index, TALUS_CHUNK_INDEX, &chunk);
    if (status != TALUS_OK)
        return status == TALUS_ERR_FORMAT ? TALUS_OK : status;
    if (chunk.size < sizeof counts)
        return TALUS_OK;
    memcpy(counts, f->payload, sizeof counts);
    if (counts[0] > INT_MAX ||
        chunk.size - sizeof counts != (uint64_t)counts[0] * sizeof(TalusIndexRow))
        return TALUS_OK;
    for (uint32_t i = 0; i < counts[0]; i++) {
        TalusIndexRow row;
        bool plausible;
        memcpy(&row, f->payload + sizeof counts + i * sizeof row, sizeof row);
        TALUS_TRY(list_index_row(f, &row, index, &plausible));
        if (!plausible)
            return TALUS_OK;
    }
    TALUS_TRY(list_chunks(f, &f->end, index, &chunk));
    *done = f->end == index;
    return TALUS_OK;
}

/* ---- opening and refreshing ---- */

/* Sets *torn to whether one of the chunks of the frame at `offset` is damaged: its kind, length or checksum is wrong. A power
 * failure may leave the last chunks of an unfinished file with their length but without their bytes; callers do not list such a
 * frame. */
static TalusStatus check_frame_torn(TalusFrames *f, uint64_t offset, bool *torn)
{
    TalusChunk chunk;
    do {
        TalusStatus status = talus_frames_read_frame_chunk(f, offset, &chunk);
        *torn = status == TALUS_ERR_FORMAT;
        if (status != TALUS_OK)
            return *torn ? TALUS_OK : status;
        offset += talus_chunk_bytes(&chunk);
    } while (chunk.kind == TALUS_CHUNK_PART);
    return TALUS_OK;
}

/* Removes the last frame from the list and sets f->torn and f->end to its offset, with a warning once per offset, if no
 * whole chunk follows it and it is damaged. */
static TalusStatus drop_torn_frame(TalusFrames *f)
{
    bool torn;
    if (f->count == 0 || f->frame[f->count - 1].offset + f->frame[f->count - 1].size != f->end)
        return TALUS_OK;
    uint64_t offset = f->frame[f->count - 1].offset;
    TALUS_TRY(check_frame_torn(f, offset, &torn));
    if (!torn)
        return TALUS_OK;
    if (f->warned != offset)
        talus_log(TALUS_LOG_WARNING, "frames.damaged", "%s: the last frame is left out: %s",
                  f->path, talus_error());
    f->count--;
    f->next_exact = f->exact[f->count];
    f->warned = f->torn = f->end = offset;
    return TALUS_OK;
}

/* Lists all chunks: by the index if there is a valid one, else chunk by chunk, without a torn last frame. */
static TalusStatus scan_whole_file(TalusFrames *f, uint64_t size)
{
    TalusFileEnd end;
    TalusChunk last;
    bool done = false;
    talus_frames_forget(f);
    TALUS_TRY(check_file_head(f, size));
    if (size < sizeof(TalusFileHead))
        return TALUS_OK;
    if (read_file_end(f, size, &end))
        TALUS_TRY(list_index_rows(f, end.index, &done));
    f->complete = done;
    if (done)
        return TALUS_OK;
    talus_frames_forget(f);
    TALUS_TRY(list_chunks(f, &f->end, size, &last));
    warn_damage(f, f->end, size, &last);
    f->complete = read_file_end(f, size, &end) && end.index == f->end;
    return f->complete ? TALUS_OK : drop_torn_frame(f);
}

void talus_frames_head_location(TalusFrames *frames, int index, uint64_t *offset, uint64_t *size)
{
    int head = index >= 0 && index < frames->count ? frames->frame_head[index] : -1;
    *offset = head < 0 ? 0 : frames->head[head].offset;
    *size = head < 0 ? 0 : frames->head[head].size;
}

/* Reads the checksums in the headers of the last listed frame, which must exist, and of its head; 0 where the file no
 * longer has the header. */
static void read_last_checksums(TalusFrames *f, uint32_t marks[2])
{
    TalusChunk chunk;
    uint64_t size, offset[2] = {f->frame[f->count - 1].offset, 0};
    talus_frames_head_location(f, f->count - 1, &offset[1], &size);
    for (int i = 0; i < 2; i++) {
        bool read = talus_frames_read_bytes(f, offset[i], &chunk, sizeof chunk) == TALUS_OK;
        marks[i] = read && chunk.magic == TALUS_CHUNK_MAGIC ? chunk.crc : 0;
    }
}

/* True if the last listed frame and its head have the same checksums as at the last scan. False if the
 * file was truncated or rewritten since, or if no frame is listed. */
static bool last_frame_unchanged(TalusFrames *f, uint64_t size)
{
    uint32_t marks[2];
    if (f->count == 0 || size < f->end)
        return false;
    read_last_checksums(f, marks);
    return marks[0] == f->marks[0] && marks[1] == f->marks[1];
}

/* Lists the chunks written since the last scan; none while the torn frame (f->torn) is still damaged. */
static TalusStatus scan_added_chunks(TalusFrames *f, uint64_t size)
{
    TalusFileEnd end;
    TalusChunk last;
    bool torn = false;
    if (f->torn)
        TALUS_TRY(check_frame_torn(f, f->torn, &torn));
    if (torn)
        return TALUS_OK;
    f->torn = 0;
    TALUS_TRY(list_chunks(f, &f->end, size, &last));
    warn_damage(f, f->end, size, &last);
    f->complete = read_file_end(f, size, &end) && end.index == f->end;
    return TALUS_OK;
}

TalusStatus talus_frames_scan(TalusFrames *f)
{
    uint64_t size = 0;
    TALUS_TRY(get_file_size(f, &size));
    bool known = last_frame_unchanged(f, size);
    f->replaced += !known && f->count > 0;
    TALUS_TRY(known ? scan_added_chunks(f, size) : scan_whole_file(f, size));
    if (f->count > 0)
        read_last_checksums(f, f->marks);
    return TALUS_OK;
}
