/* cli/serve/serve_index.c - walks the chunks of a frames file; docs/reference/frames.md. */
#include "serve_index.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/frames/frames.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Found {
    ServePlace place;
    TalusChunk chunk;
} Found;

/* Reads all bytes; returns false if they are missing or unreadable. */
static bool read_at(int fd, uint64_t offset, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* Reads the header of the chunk at `offset`; true if the chunk is complete in the first `size` bytes of the file. */
static bool read_chunk(int fd, uint64_t offset, uint64_t size, Found *found)
{
    TalusChunk *chunk = &found->chunk;
    if (size < offset || size - offset < sizeof *chunk ||
        !read_at(fd, offset, chunk, sizeof *chunk) || chunk->magic != TALUS_CHUNK_MAGIC)
        return false;
    /* Compare before rounding up: the size may be any number. */
    uint64_t room = size - offset - sizeof *chunk;
    if (chunk->size > room || talus_chunk_bytes(chunk) > size - offset)
        return false;
    found->place = (ServePlace){offset, talus_chunk_bytes(chunk)};
    return true;
}

static TalusStatus add_head(ServeIndex *index, const Found *found)
{
    size_t n = (size_t)index->head_count;
    if (n >= SERVE_FRAMES_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "frames: more than %d heads", SERVE_FRAMES_MAX);
    TALUS_TRY(TALUS_GROW(index->heads, n + 1, n, "heads of frames"));
    index->heads[index->head_count++] = found->place;
    return TALUS_OK;
}

static TalusStatus add_frame(ServeIndex *index, int fd, const Found *found)
{
    size_t n = (size_t)index->frame_count;
    TalusFrameHead frame;
    if (n >= SERVE_FRAMES_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "frames: more than %d", SERVE_FRAMES_MAX);
    if (found->chunk.size < sizeof frame ||
        !read_at(fd, found->place.offset + sizeof found->chunk, &frame, sizeof frame))
        return talus_fail(TALUS_ERR_FORMAT, "frames: the chunk at %llu is no frame",
                          (unsigned long long)found->place.offset);
    TALUS_TRY(TALUS_GROW(index->frames, n + 1, n, "index of frames"));
    index->frames[index->frame_count++] = (ServeFrame){.place = found->place,
                                                       .time = found->chunk.time,
                                                       .step = found->chunk.step,
                                                       .bodies = frame.bodies,
                                                       .key = found->chunk.flags & TALUS_CHUNK_KEY};
    return TALUS_OK;
}

/* True if the chunk is an index. The walk stops before it, because a resumed run writes its next frame over it. */
static bool ends_file(ServeIndex *index, int fd, const Found *found, uint64_t size)
{
    TalusFileEnd last;
    uint64_t end = found->place.offset + found->place.size;
    if (found->chunk.kind != TALUS_CHUNK_INDEX)
        return false;
    index->complete = size - end == sizeof last && read_at(fd, end, &last, sizeof last) &&
                      memcmp(last.magic, TALUS_FRAMES_END, sizeof last.magic) == 0 &&
                      last.index == found->place.offset;
    index->size = index->complete ? end + sizeof last : index->size;
    return true;
}

static TalusStatus walk(ServeIndex *index, int fd, uint64_t size)
{
    Found found;
    index->complete = false;
    index->size = index->end;
    while (read_chunk(fd, index->end, size, &found) && !ends_file(index, fd, &found, size)) {
        if (found.chunk.kind == TALUS_CHUNK_HEAD)
            TALUS_TRY(add_head(index, &found));
        else if (found.chunk.kind == TALUS_CHUNK_FRAME)
            TALUS_TRY(add_frame(index, fd, &found));
        index->last = index->end;
        index->check = found.chunk;
        index->end += found.place.size;
        index->size = index->end;
    }
    return TALUS_OK;
}

/* True if the chunks read earlier are still in the file. */
static bool same_file(const ServeIndex *index, int fd, const struct stat *about)
{
    TalusChunk chunk;
    if (index->end == 0)
        return true;
    if (index->device != (uint64_t)about->st_dev || index->inode != (uint64_t)about->st_ino ||
        (uint64_t)about->st_size < index->end)
        return false;
    return index->last == 0 || (read_at(fd, index->last, &chunk, sizeof chunk) &&
                                memcmp(&chunk, &index->check, sizeof chunk) == 0);
}

static TalusStatus check_beginning(ServeIndex *index, int fd, uint64_t size)
{
    TalusFileHead head;
    if (size < sizeof head)
        return TALUS_OK; /* the writer has just begun */
    if (!read_at(fd, 0, &head, sizeof head) ||
        memcmp(head.magic, TALUS_FRAMES_MAGIC, sizeof head.magic) != 0)
        return talus_fail(TALUS_ERR_FORMAT, "frames: the file does not begin with %s",
                          TALUS_FRAMES_MAGIC);
    if (head.version < 1 || head.version > TALUS_FRAMES_VERSION)
        return talus_fail(TALUS_ERR_FORMAT,
                          "frames: version %u; this program reads versions 1 to %d", head.version,
                          TALUS_FRAMES_VERSION);
    index->end = sizeof head;
    return TALUS_OK;
}

TalusStatus serve_index_refresh(ServeIndex *index, int fd, bool *anew)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return talus_fail(TALUS_ERR_IO, "frames: cannot read: %s", strerror(errno));
    if (!same_file(index, fd, &about)) {
        serve_index_clear(index);
        *anew = true;
    }
    index->device = (uint64_t)about.st_dev;
    index->inode = (uint64_t)about.st_ino;
    uint64_t size = (uint64_t)about.st_size;
    if (index->end == 0)
        TALUS_TRY(check_beginning(index, fd, size));
    return index->end > 0 ? walk(index, fd, size) : TALUS_OK;
}

void serve_index_clear(ServeIndex *index)
{
    TALUS_RELEASE(index->frames, index->heads);
    *index = (ServeIndex){0};
}
