/* io/checkpoint.c - two files in turn, each sound or refused.
 *
 * A checkpoint replaces the older of the two files by an atomic rename, so the newer one is never
 * touched: whatever happens, at most the work since the last good checkpoint is lost. A file is a
 * header, the note and the world's bytes; the header's last field is the hash of what precedes it,
 * and it carries the hash of the rest. */
#include "io/checkpoint.h"

#include "base/hash.h"
#include "base/memory.h"
#include "io/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { VERSION = 1, REASON_BYTES = 512 };

typedef struct Header {
    char magic[8];
    uint32_t version, header_size;
    uint64_t sequence;
    int64_t steps;
    double time;
    uint64_t note_size, world_size;
    uint64_t payload_hash, header_hash;
} Header;

_Static_assert(sizeof(Header) == 72, "the header is written as it lies in memory");

static const char *const file_names[2] = {TALUS_CHECKPOINT_A, TALUS_CHECKPOINT_B};

static uint64_t header_hash(const Header *header)
{
    return talus_hash(TALUS_HASH_SEED, header, offsetof(Header, header_hash));
}

/* ---- reading ---- */

/* A file in memory: the header is checked first, because every size comes from it. */
typedef struct Image {
    char *bytes;
    size_t size;
    Header header;
} Image;

static TalusStatus check_header(const char *path, const Header *h, size_t size)
{
    if (size < sizeof h->magic || memcmp(h->magic, TALUS_CHECKPOINT_MAGIC, sizeof h->magic) != 0)
        return talus_fail(TALUS_ERR_FORMAT, "%s: is not a Talus checkpoint", path);
    if (size < sizeof *h)
        return talus_fail(TALUS_ERR_FORMAT,
                          "%s: truncated: %zu bytes, but the header alone has %zu", path, size,
                          sizeof *h);
    if (h->header_hash != header_hash(h))
        return talus_fail(TALUS_ERR_FORMAT, "%s: damaged: the header does not match its checksum",
                          path);
    if (h->version != VERSION || h->header_size != sizeof *h)
        return talus_fail(TALUS_ERR_FORMAT,
                          "%s: has format version %" PRIu32 ", this program reads version %d", path,
                          h->version, VERSION);
    return TALUS_OK;
}

static uint64_t payload_hash(const void *note, size_t note_size, const void *state, size_t size)
{
    return talus_hash(talus_hash(TALUS_HASH_SEED, note, note_size), state, size);
}

static const char *note_of(const Image *image)
{
    return image->bytes + sizeof(Header);
}

static const char *state_of(const Image *image)
{
    return note_of(image) + image->header.note_size;
}

static TalusStatus check_payload(const char *path, const Image *image)
{
    const Header *h = &image->header;
    uint64_t size = image->size - sizeof *h;
    /* Compared without adding, so that no size can wrap around. */
    if (h->note_size > size || h->world_size != size - h->note_size)
        return talus_fail(TALUS_ERR_FORMAT,
                          "%s: truncated: %" PRIu64 " bytes after the header, which announces "
                          "%" PRIu64 " and %" PRIu64,
                          path, size, h->note_size, h->world_size);
    if (payload_hash(note_of(image), h->note_size, state_of(image), h->world_size) !=
        h->payload_hash)
        return talus_fail(TALUS_ERR_FORMAT, "%s: damaged: the content does not match its checksum",
                          path);
    return TALUS_OK;
}

static TalusStatus check_image(const char *path, Image *image)
{
    memcpy(&image->header, image->bytes,
           image->size < sizeof image->header ? image->size : sizeof image->header);
    TALUS_TRY(check_header(path, &image->header, image->size));
    return check_payload(path, image);
}

static TalusStatus load_image(const char *path, Image *image)
{
    memset(image, 0, sizeof *image);
    TALUS_TRY(talus_read_file(path, SIZE_MAX - 1, &image->bytes, &image->size));
    TalusStatus status = check_image(path, image);
    if (status != TALUS_OK) {
        talus_release(image->bytes);
        image->bytes = NULL;
    }
    return status;
}

static TalusStatus copy_note(const Image *image, char **note)
{
    TALUS_TRY(talus_alloc((void **)note, image->header.note_size + 1, 1, "checkpoint note"));
    memcpy(*note, note_of(image), image->header.note_size);
    return TALUS_OK;
}

TalusStatus talus_checkpoint_inspect(const char *path, TalusCheckpointInfo *info)
{
    Image image;
    memset(info, 0, sizeof *info);
    TALUS_TRY(load_image(path, &image));
    info->sequence = image.header.sequence;
    info->steps = image.header.steps;
    info->time = image.header.time;
    info->note_size = image.header.note_size;
    info->world_size = image.header.world_size;
    TalusStatus status = copy_note(&image, &info->note);
    talus_release(image.bytes);
    return status;
}

/* The whole of one file as a world. */
static TalusStatus load_world(const char *path, int threads, TalusWorld **world, char **note)
{
    Image image;
    TALUS_TRY(load_image(path, &image));
    TalusStatus status =
        talus_world_load(state_of(&image), image.header.world_size, threads, world);
    if (status == TALUS_OK && note)
        status = copy_note(&image, note);
    else if (status != TALUS_OK)
        status = talus_fail(status, "%s: %s", path, talus_error());
    if (status != TALUS_OK && *world) {
        talus_world_destroy(*world);
        *world = NULL;
    }
    talus_release(image.bytes);
    return status;
}

static TalusStatus verify(const char *path)
{
    Image image;
    TALUS_TRY(load_image(path, &image));
    talus_release(image.bytes);
    return TALUS_OK;
}

/* Only the header, for the order of the two files: 0 where there is none to trust. */
static uint64_t sequence_of(const char *path)
{
    Header header;
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(&header, 1, sizeof header, file) : 0;
    if (file)
        fclose(file);
    bool sound = size == sizeof header && header.header_hash == header_hash(&header);
    return sound ? header.sequence : 0;
}

typedef struct Pair {
    char *path[2];
    uint64_t sequence[2];
    int newest;
} Pair;

static void pair_free(Pair *pair)
{
    talus_release(pair->path[0]);
    talus_release(pair->path[1]);
}

static TalusStatus pair_find(const char *dir, Pair *pair)
{
    memset(pair, 0, sizeof *pair);
    for (int i = 0; i < 2; i++) {
        TalusStatus status = talus_path(&pair->path[i], "%s/%s", dir, file_names[i]);
        if (status != TALUS_OK) {
            pair_free(pair);
            return status;
        }
        pair->sequence[i] = sequence_of(pair->path[i]);
    }
    pair->newest = pair->sequence[1] > pair->sequence[0];
    return TALUS_OK;
}

static bool present(const char *path)
{
    return access(path, F_OK) == 0;
}

/* The newer file first; the other is still checked, so that damage is known before it matters. */
static TalusStatus read_pair(const char *dir, const Pair *pair, int threads, TalusWorld **world,
                             char **note)
{
    char reason[2][REASON_BYTES] = {"", ""};
    TalusStatus worst = TALUS_ERR_IO;
    for (int i = 0; i < 2; i++) {
        const char *path = pair->path[i == 0 ? pair->newest : !pair->newest];
        if (!present(path))
            continue;
        TalusStatus status = *world ? verify(path) : load_world(path, threads, world, note);
        if (status == TALUS_OK)
            continue;
        worst = status;
        snprintf(reason[i], sizeof reason[i], "%s", talus_error());
    }
    if (*world) {
        for (int i = 0; i < 2; i++)
            if (reason[i][0])
                talus_log(TALUS_LOG_WARNING, "checkpoint.damaged", "%s; the other one is used",
                          reason[i]);
        return TALUS_OK;
    }
    if (!present(dir))
        return talus_fail(TALUS_ERR_IO, "%s: there is no such directory", dir);
    if (!reason[0][0] && !reason[1][0])
        return talus_fail(TALUS_ERR_IO, "%s: holds neither %s nor %s", dir, file_names[0],
                          file_names[1]);
    return talus_fail(worst, "no usable checkpoint: %s%s%s", reason[0],
                      reason[0][0] && reason[1][0] ? "; " : "", reason[1]);
}

TalusStatus talus_checkpoint_read(const char *dir, int threads, TalusWorld **world, char **note)
{
    Pair pair;
    *world = NULL;
    if (note)
        *note = NULL;
    TALUS_TRY(pair_find(dir, &pair));
    TalusStatus status = read_pair(dir, &pair, threads, world, note);
    pair_free(&pair);
    return status;
}

/* ---- writing ---- */

static TalusStatus write_image(const char *path, const Header *header, const char *note,
                               const void *state)
{
    TalusFile *file;
    TALUS_TRY(talus_file_create(path, &file));
    talus_file_put(file, header, sizeof *header);
    talus_file_put(file, note, header->note_size);
    talus_file_put(file, state, header->world_size);
    return talus_file_commit(file);
}

static Header make_header(const TalusWorld *world, uint64_t sequence, const char *note,
                          const void *state, size_t state_size)
{
    Header header = {.version = VERSION,
                     .header_size = sizeof header,
                     .sequence = sequence,
                     .steps = talus_world_steps(world),
                     .time = talus_world_time(world),
                     .note_size = strlen(note),
                     .world_size = state_size};
    memcpy(header.magic, TALUS_CHECKPOINT_MAGIC, sizeof header.magic);
    header.payload_hash = payload_hash(note, header.note_size, state, state_size);
    header.header_hash = header_hash(&header);
    return header;
}

static TalusStatus write_next(const Pair *pair, const TalusWorld *world, const char *note)
{
    void *state;
    size_t size;
    TALUS_TRY(talus_world_save(world, &state, &size));
    uint64_t last = pair->sequence[pair->newest];
    Header header = make_header(world, last + 1, note, state, size);
    TalusStatus status = write_image(pair->path[last ? !pair->newest : 0], &header, note, state);
    talus_free(state);
    return status;
}

TalusStatus talus_checkpoint_write(const char *dir, const TalusWorld *world, const char *note)
{
    Pair pair;
    TALUS_TRY(talus_make_directory(dir));
    TALUS_TRY(pair_find(dir, &pair));
    TalusStatus status = write_next(&pair, world, note ? note : "");
    pair_free(&pair);
    return status == TALUS_OK ? talus_sync_path(dir) : status; /* its name */
}
