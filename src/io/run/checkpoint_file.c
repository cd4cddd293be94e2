/* io/run/checkpoint_file.c - one checkpoint file: checks of its header and of its hash, and reading of its parts. */
#include "io/run/checkpoint_file.h"

#include "base/hash.h"
#include "base/memory.h"
#include "io/run/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 18 }; /* read at once to be hashed */

_Static_assert(sizeof(TalusCheckpointHeader) == 80, "the header is written as it lies in memory");

uint64_t talus_checkpoint_hash_header(const TalusCheckpointHeader *header)
{
    return talus_hash(TALUS_HASH_SEED, header, offsetof(TalusCheckpointHeader, header_hash));
}

/* ---- checks ---- */

/* Fails if the file is no checkpoint or of an older version. Called before the hash of the header is compared, since
 * its position depends on the version. */
static TalusStatus check_version(const TalusCheckpointHeader *h, uint64_t size)
{
    if (size < sizeof h->magic || memcmp(h->magic, TALUS_CHECKPOINT_MAGIC, sizeof h->magic) != 0)
        return talus_fail(TALUS_ERR_FORMAT, "is not a Talus checkpoint");
    if (size >= offsetof(TalusCheckpointHeader, header_size) && h->version > 0 &&
        h->version < TALUS_CHECKPOINT_VERSION)
        return talus_fail(TALUS_ERR_FORMAT,
                          "has format version %" PRIu32
                          ", this program reads version %d: the version that wrote it can go on",
                          h->version, TALUS_CHECKPOINT_VERSION);
    return TALUS_OK;
}

/* Checks magic, version, length and hash of the header of a file of `size` bytes. */
static TalusStatus check_header(const TalusCheckpointHeader *h, uint64_t size)
{
    TALUS_TRY(check_version(h, size));
    if (size < sizeof *h)
        return talus_fail(TALUS_ERR_FORMAT,
                          "truncated: %" PRIu64 " bytes, but the header alone has %zu", size,
                          sizeof *h);
    if (h->header_hash != talus_checkpoint_hash_header(h))
        return talus_fail(TALUS_ERR_FORMAT, "damaged: the header does not match its checksum");
    if (h->version != TALUS_CHECKPOINT_VERSION || h->header_size != sizeof *h)
        return talus_fail(TALUS_ERR_FORMAT,
                          "has format version %" PRIu32 ", this program reads version %d",
                          h->version, TALUS_CHECKPOINT_VERSION);
    return TALUS_OK;
}

/* The sizes must add up to the payload of `size` bytes; only subtractions, since sums of sizes in the file may overflow. */
static TalusStatus check_sizes(const TalusCheckpointHeader *h, uint64_t size)
{
    if (h->note_size > size || h->files_size > size - h->note_size ||
        h->world_size != size - h->note_size - h->files_size)
        return talus_fail(TALUS_ERR_FORMAT,
                          "truncated: %" PRIu64 " bytes after the header, which announces "
                          "%" PRIu64 ", %" PRIu64 " and %" PRIu64,
                          size, h->note_size, h->files_size, h->world_size);
    return TALUS_OK;
}

/* Continues *hash, of the parts before, with the next part, of `size` bytes at file->at. */
static TalusStatus hash_part(TalusCheckpointFile *file, uint64_t size, unsigned char *piece,
                             uint64_t *hash)
{
    TalusHasher hasher = {.hash = *hash};
    for (uint64_t left = size; left > 0;) {
        const size_t bytes = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        TALUS_TRY(talus_read_at(file->fd, file->path, file->at, piece, bytes));
        talus_hasher_add(&hasher, piece, bytes);
        file->at += bytes;
        left -= bytes;
    }
    *hash = talus_hasher_end(&hasher);
    return TALUS_OK;
}

static TalusStatus check_payload(TalusCheckpointFile *file)
{
    const TalusCheckpointHeader *h = &file->header;
    uint64_t hash = TALUS_HASH_SEED;
    unsigned char *piece;
    TALUS_TRY(TALUS_ALLOC(piece, PIECE_BYTES, "checksum of a file"));
    file->at = sizeof *h;
    TalusStatus status = hash_part(file, h->note_size, piece, &hash);
    TALUS_THEN(status, hash_part(file, h->files_size, piece, &hash));
    TALUS_THEN(status, hash_part(file, h->world_size, piece, &hash));
    talus_release(piece);
    if (status == TALUS_OK && hash != h->payload_hash)
        return talus_fail(TALUS_ERR_FORMAT, "damaged: the content does not match its checksum");
    return status;
}

/* Reads the header of an open file and checks it and, with `payload`, the hash of the rest. */
static TalusStatus check_file(TalusCheckpointFile *file, bool payload)
{
    const size_t header = sizeof file->header;
    TALUS_TRY(talus_read_at(file->fd, file->path, 0, &file->header,
                            file->size < header ? (size_t)file->size : header));
    TALUS_TRY(check_header(&file->header, file->size));
    TALUS_TRY(check_sizes(&file->header, file->size - header));
    return payload ? check_payload(file) : TALUS_OK;
}

/* ---- opening ---- */

static TalusStatus open_path(TalusCheckpointFile *file)
{
    file->fd = talus_open_to_read(file->path);
    if (file->fd < 0)
        return talus_fail_file(file->path, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
    return TALUS_OK;
}

static TalusStatus find_size(TalusCheckpointFile *file)
{
    struct stat about;
    if (fstat(file->fd, &about) != 0)
        return talus_fail_file(file->path, TALUS_ERR_IO, "cannot read: %s", strerror(errno));
    if (!S_ISREG(about.st_mode))
        return talus_fail_file(file->path, TALUS_ERR_IO, "is not a regular file");
    file->size = (uint64_t)about.st_size;
    return TALUS_OK;
}

static TalusStatus open_file(const TalusDir *dir, const char *name, bool payload,
                             TalusCheckpointFile *file)
{
    *file = (TalusCheckpointFile){.fd = -1};
    TALUS_TRY(dir ? talus_path_format(&file->path, "%s/%s", dir->path, name)
                  : talus_path_format(&file->path, "%s", name));
    TalusStatus status =
        dir ? talus_dir_open_file(dir, name, O_RDONLY, &file->fd) : open_path(file);
    TALUS_THEN(status, find_size(file));
    if (status == TALUS_OK)
        status = talus_error_in_file(file->path, check_file(file, payload));
    if (status != TALUS_OK)
        talus_checkpoint_file_close(file);
    return status;
}

TalusStatus talus_checkpoint_file_open(const TalusDir *dir, const char *name,
                                       TalusCheckpointFile *file)
{
    return open_file(dir, name, true, file);
}

TalusStatus talus_checkpoint_file_open_header(const TalusDir *dir, const char *name,
                                              TalusCheckpointFile *file)
{
    return open_file(dir, name, false, file);
}

void talus_checkpoint_file_close(TalusCheckpointFile *file)
{
    if (file->fd >= 0)
        close(file->fd);
    talus_release(file->path);
    *file = (TalusCheckpointFile){.fd = -1};
}

/* ---- parts ---- */

/* Reads `size` bytes at `offset` into new memory, with a NUL. */
static TalusStatus read_part(const TalusCheckpointFile *file, uint64_t offset, uint64_t size,
                             char **out)
{
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)size + 1, "checkpoint note"));
    const TalusStatus status = talus_read_at(file->fd, file->path, offset, *out, (size_t)size);
    if (status != TALUS_OK) {
        talus_release(*out);
        *out = NULL;
    }
    return status;
}

TalusStatus talus_checkpoint_file_read_note(const TalusCheckpointFile *file, char **note)
{
    return read_part(file, sizeof file->header, file->header.note_size, note);
}

TalusStatus talus_checkpoint_file_read_files(const TalusCheckpointFile *file, char **files)
{
    const TalusCheckpointHeader *h = &file->header;
    return read_part(file, sizeof *h + h->note_size, h->files_size, files);
}

static TalusStatus get_bytes(void *context, void *bytes, size_t size)
{
    TalusCheckpointFile *file = context;
    TALUS_TRY(talus_read_at(file->fd, file->path, file->at, bytes, size));
    file->at += size;
    return TALUS_OK;
}

TalusByteSource talus_checkpoint_file_world(TalusCheckpointFile *file)
{
    file->at = sizeof file->header + file->header.note_size + file->header.files_size;
    return (TalusByteSource){get_bytes, file};
}
