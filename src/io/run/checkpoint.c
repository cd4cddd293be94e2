/* io/run/checkpoint.c - checkpoints, written to two files in turn.
 *
 * A checkpoint replaces the older of the two files by an atomic rename and leaves the newer file unchanged, so that at
 * most the work since the last good checkpoint is lost. A file that fails a check is refused as a whole. A file has a
 * header, the caller's note, the list of the run's files (io/run/manifest.h) and the bytes of the world. header_hash,
 * the last field of the header, is the hash of the fields before it; payload_hash is the hash of all bytes after the
 * header. */
#include "io/run/checkpoint.h"

#include "base/hash.h"
#include "base/memory.h"
#include "world/save/save.h"
#include "world/state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    VERSION = 2,       /* of the file format */
    REASON_BYTES = 512 /* size of the text on why a file is not usable; longer ones are cut */
};

/* First bytes of a file. */
typedef struct Header {
    char magic[8];
    uint32_t version, header_size;
    uint64_t sequence;                          /* number of the checkpoint, from 1 */
    int64_t steps;                              /* of the world */
    double time;                                /* of the world, s */
    uint64_t note_size, files_size, world_size; /* bytes of each part of the payload */
    uint64_t payload_hash, header_hash;
} Header;

_Static_assert(sizeof(Header) == 80, "the header is written as it lies in memory");

static const char *const file_names[2] = {TALUS_CHECKPOINT_A, TALUS_CHECKPOINT_B};

/* Hash of a header, all fields but the last. */
static uint64_t hash_header(const Header *header)
{
    return talus_hash(TALUS_HASH_SEED, header, offsetof(Header, header_hash));
}

/* ---- reading ---- */

/* A checkpoint file in memory. */
typedef struct Image {
    char *bytes;
    size_t size;
    Header header;
} Image;

/* Fails if the file is no checkpoint or of an older version. Called before the hash of the header is compared, since
 * its position depends on the version. */
static TalusStatus check_version(const Header *h, size_t size)
{
    if (size < sizeof h->magic || memcmp(h->magic, TALUS_CHECKPOINT_MAGIC, sizeof h->magic) != 0)
        return talus_fail(TALUS_ERR_FORMAT, "is not a Talus checkpoint");
    if (size >= offsetof(Header, header_size) && h->version > 0 && h->version < VERSION)
        return talus_fail(TALUS_ERR_FORMAT,
                          "has format version %" PRIu32
                          ", this program reads version %d: the version that wrote it can go on",
                          h->version, VERSION);
    return TALUS_OK;
}

/* Checks magic, version, length and hash of the header of a file of `size` bytes. */
static TalusStatus check_header(const Header *h, size_t size)
{
    TALUS_TRY(check_version(h, size));
    if (size < sizeof *h)
        return talus_fail(TALUS_ERR_FORMAT, "truncated: %zu bytes, but the header alone has %zu",
                          size, sizeof *h);
    if (h->header_hash != hash_header(h))
        return talus_fail(TALUS_ERR_FORMAT, "damaged: the header does not match its checksum");
    if (h->version != VERSION || h->header_size != sizeof *h)
        return talus_fail(TALUS_ERR_FORMAT,
                          "has format version %" PRIu32 ", this program reads version %d",
                          h->version, VERSION);
    return TALUS_OK;
}

/* The parts after the header; `state` are the bytes of the world. */
typedef struct Payload {
    const char *note, *files, *state;
} Payload;

/* Hash of all parts of the payload. */
static uint64_t hash_payload(const Header *h, const Payload *p)
{
    uint64_t hash = talus_hash(TALUS_HASH_SEED, p->note, h->note_size);
    hash = talus_hash(hash, p->files, h->files_size);
    return talus_hash(hash, p->state, h->world_size);
}

/* Returns the addresses of the parts of a file in memory. */
static Payload locate_payload(const Image *image)
{
    const char *note = image->bytes + sizeof(Header), *files = note + image->header.note_size;
    return (Payload){.note = note, .files = files, .state = files + image->header.files_size};
}

/* Checks sizes and hash of the payload. */
static TalusStatus check_payload(const Image *image)
{
    const Header *h = &image->header;
    uint64_t size = image->size - sizeof *h;
    /* The sizes must add up to the payload; only subtractions, since sums of sizes in the file may overflow. */
    if (h->note_size > size || h->files_size > size - h->note_size ||
        h->world_size != size - h->note_size - h->files_size)
        return talus_fail(TALUS_ERR_FORMAT,
                          "truncated: %" PRIu64 " bytes after the header, which announces "
                          "%" PRIu64 ", %" PRIu64 " and %" PRIu64,
                          size, h->note_size, h->files_size, h->world_size);
    Payload payload = locate_payload(image);
    if (hash_payload(h, &payload) != h->payload_hash)
        return talus_fail(TALUS_ERR_FORMAT, "damaged: the content does not match its checksum");
    return TALUS_OK;
}

/* Copies the header from the bytes of a file, and checks header and payload. */
static TalusStatus check_image(Image *image)
{
    memcpy(&image->header, image->bytes,
           image->size < sizeof image->header ? image->size : sizeof image->header);
    TALUS_TRY(check_header(&image->header, image->size));
    return check_payload(image);
}

/* Loads the file `name` of `dir` or, if `dir` is NULL, the file at the path `name`; fails unless version, sizes and
 * hashes are right. Free image->bytes with talus_release. */
static TalusStatus load_image(const TalusDir *dir, const char *name, Image *image)
{
    memset(image, 0, sizeof *image);
    TALUS_TRY(dir ? talus_dir_read_file(dir, name, SIZE_MAX - 1, &image->bytes, &image->size)
                  : talus_read_file(name, SIZE_MAX - 1, &image->bytes, &image->size));
    TalusStatus status = check_image(image);
    if (status == TALUS_OK)
        return TALUS_OK;
    talus_release(image->bytes);
    image->bytes = NULL;
    return dir ? talus_dir_error(dir, name, status) : talus_error_in_file(name, status);
}

/* Copies the note into new memory, with a NUL. */
static TalusStatus copy_note(const Image *image, char **note)
{
    TALUS_TRY(TALUS_ALLOC(*note, image->header.note_size + 1, "checkpoint note"));
    memcpy(*note, locate_payload(image).note, image->header.note_size);
    return TALUS_OK;
}

TalusStatus talus_checkpoint_inspect(const char *path, TalusCheckpointInfo *info)
{
    Image image;
    memset(info, 0, sizeof *info);
    TALUS_TRY(load_image(NULL, path, &image));
    info->sequence = image.header.sequence;
    info->steps = image.header.steps;
    info->time = image.header.time;
    info->note_size = image.header.note_size;
    info->files_size = image.header.files_size;
    info->world_size = image.header.world_size;
    TalusStatus status = copy_note(&image, &info->note);
    talus_release(image.bytes);
    return status;
}

/* ---- the two files ---- */

/* The two checkpoint files of a directory. */
typedef struct Pair {
    const TalusDir *dir;
    uint64_t sequence[2]; /* sequence number of each file (read_sequence) */
    int newest;           /* index of the file with the larger number; 0 if both are equal */
} Pair;

/* Returns the sequence number in the header of a file, which is larger in the newer file; 0 if the file is missing or
 * its header is damaged. The rest of the file is not checked. */
static uint64_t read_sequence(const TalusDir *dir, const char *name)
{
    Header header;
    int fd;
    if (!talus_dir_has_name(dir, name) || talus_dir_open_file(dir, name, O_RDONLY, &fd) != TALUS_OK)
        return 0;
    bool sound = pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
                 header.header_hash == hash_header(&header);
    close(fd);
    return sound ? header.sequence : 0;
}

/* Reads the sequence numbers of the two checkpoint files. */
static Pair find_pair(const TalusDir *dir)
{
    Pair pair = {.dir = dir};
    for (int i = 0; i < 2; i++)
        pair.sequence[i] = read_sequence(dir, file_names[i]);
    pair.newest = pair.sequence[1] > pair.sequence[0];
    return pair;
}

/* Loads one file of the pair and checks it. */
static TalusStatus load_image_of_pair(const Pair *pair, int index, Image *image)
{
    return load_image(pair->dir, file_names[index], image);
}

/* Options of talus_world_load: number of threads and name of the backend. */
typedef struct LoadOptions {
    int threads;
    const char *backend;
} LoadOptions;

/* Loads the world of one file of the pair and, unless `note` is NULL, its note. */
static TalusStatus load_world(const Pair *pair, int index, LoadOptions options, TalusWorld **world,
                              char **note)
{
    Image image;
    TALUS_TRY(load_image_of_pair(pair, index, &image));
    TalusStatus status =
        talus_dir_error(pair->dir, file_names[index],
                        talus_world_load(locate_payload(&image).state, image.header.world_size,
                                         options.threads, options.backend, world));
    if (status == TALUS_OK && note)
        status = copy_note(&image, note);
    if (status != TALUS_OK && *world) {
        talus_world_destroy(*world);
        *world = NULL;
    }
    talus_release(image.bytes);
    return status;
}

/* Fails unless a file of the pair is valid. */
static TalusStatus verify_file(const Pair *pair, int index)
{
    Image image;
    TALUS_TRY(load_image_of_pair(pair, index, &image));
    talus_release(image.bytes);
    return TALUS_OK;
}

/* Loads world and note of the newer file or, if that cannot be loaded, of the older one. If the newer file is good,
 * verifies the older one too, so that its damage is reported before it is needed. If one file can be loaded, the
 * failure of the other is logged as a warning. */
static TalusStatus load_world_of_pair(const Pair *pair, LoadOptions options, TalusWorld **world,
                                      char **note)
{
    char reason[2][REASON_BYTES] = {"", ""};
    TalusStatus last_failure = TALUS_ERR_IO;
    for (int i = 0; i < 2; i++) {
        int index = i == 0 ? pair->newest : !pair->newest;
        if (!talus_dir_has_name(pair->dir, file_names[index]))
            continue;
        TalusStatus status =
            *world ? verify_file(pair, index) : load_world(pair, index, options, world, note);
        if (status == TALUS_OK)
            continue;
        last_failure = status;
        snprintf(reason[i], sizeof reason[i], "%s", talus_error());
    }
    if (*world) {
        for (int i = 0; i < 2; i++)
            if (reason[i][0])
                talus_log(TALUS_LOG_WARNING, "checkpoint.damaged", "%s; the other one is used",
                          reason[i]);
        return TALUS_OK;
    }
    if (!reason[0][0] && !reason[1][0])
        return talus_fail_file(pair->dir->path, TALUS_ERR_IO, "holds neither %s nor %s",
                               file_names[0], file_names[1]);
    return talus_fail(last_failure, "no usable checkpoint: %s%s%s", reason[0],
                      reason[0][0] && reason[1][0] ? "; " : "", reason[1]);
}

TalusStatus talus_checkpoint_read(const char *path, int threads, const char *backend,
                                  TalusWorld **world, char **note)
{
    TalusDir dir;
    *world = NULL;
    if (note)
        *note = NULL;
    if (access(path, F_OK) != 0) /* talus_dir_open would create the directory */
        return talus_fail_file(path, TALUS_ERR_IO, "there is no such directory");
    TALUS_TRY(talus_dir_open(path, &dir));
    Pair pair = find_pair(&dir);
    TalusStatus status = load_world_of_pair(&pair, (LoadOptions){threads, backend}, world, note);
    talus_dir_close(&dir);
    return status;
}

/* ---- the list of files ---- */

/* Reads the list of files of one checkpoint file if its world is at `time`; *found says whether it is. Skips a missing
 * or damaged file, with *found unchanged: reading its world reports the damage. */
static TalusStatus read_files_of(const Pair *pair, int index, double time, bool *found,
                                 TalusManifest *out)
{
    Image image;
    if (!talus_dir_has_name(pair->dir, file_names[index]))
        return TALUS_OK;
    TalusStatus status = load_image_of_pair(pair, index, &image);
    if (status != TALUS_OK)
        return status == TALUS_ERR_FORMAT ? TALUS_OK : status;
    *found = image.header.time == time;
    if (*found)
        status = talus_manifest_unpack(locate_payload(&image).files, image.header.files_size, out);
    talus_release(image.bytes);
    return talus_dir_error(pair->dir, file_names[index], status);
}

TalusStatus talus_checkpoint_read_files(const TalusDir *dir, double time, bool *found,
                                        TalusManifest *out)
{
    Pair pair = find_pair(dir);
    *found = false;
    *out = (TalusManifest){0};
    TALUS_TRY(read_files_of(&pair, pair.newest, time, found, out));
    return *found ? TALUS_OK : read_files_of(&pair, !pair.newest, time, found, out);
}

/* ---- writing ---- */

/* A checkpoint that is being written, on rank 0. */
typedef struct Writing {
    TalusDir dir; /* without a list of files: a checkpoint does not list itself */
    TalusFile *file;
    Header header;
    TalusHasher hash; /* of the payload */
} Writing;

/* Starts a file of the pair with note and list; the header is completed when the world is written. */
static TalusStatus start_file(const Pair *pair, int index, const Payload *payload, Writing *w)
{
    Header *h = &w->header;
    w->dir = *pair->dir;
    w->dir.files = NULL;
    TALUS_TRY(talus_dir_create_file(&w->dir, file_names[index], &w->file));
    talus_file_put(w->file, h, sizeof *h);
    talus_file_put(w->file, payload->note, h->note_size);
    talus_file_put(w->file, payload->files, h->files_size);
    w->hash.hash = talus_hash(TALUS_HASH_SEED, payload->note, h->note_size);
    w->hash.hash = talus_hash(w->hash.hash, payload->files, h->files_size);
    return TALUS_OK;
}

/* Puts bytes of the world into the file. A full disk is reported by talus_file_commit. */
static TalusStatus put_state(void *context, const void *bytes, size_t size)
{
    Writing *w = context;
    talus_file_put(w->file, bytes, size);
    talus_hasher_add(&w->hash, bytes, size);
    w->header.world_size += size;
    return TALUS_OK;
}

/* Fills the rest of a header whose sequence and sizes are set: magic, version, time, steps and hashes. */
static void complete_header(Writing *w, const TalusWorld *world)
{
    Header *header = &w->header;
    memcpy(header->magic, TALUS_CHECKPOINT_MAGIC, sizeof header->magic);
    header->version = VERSION;
    header->header_size = sizeof *header;
    header->steps = talus_world_steps(world);
    header->time = talus_world_time(world);
    header->payload_hash = talus_hasher_end(&w->hash);
    header->header_hash = hash_header(header);
}

/* Starts a checkpoint over the older file, or over the first if neither file has a valid header. */
static TalusStatus start_over_older(const TalusDir *dir, const char *note,
                                    const TalusManifest *files, Writing *w)
{
    static const TalusManifest none;
    char *listed;
    size_t size;
    TALUS_TRY(talus_manifest_pack(files ? files : &none, &listed, &size));
    const Pair pair = find_pair(dir);
    const uint64_t last = pair.sequence[pair.newest];
    const Payload payload = {.note = note, .files = listed};
    w->header = (Header){.sequence = last + 1, .note_size = strlen(note), .files_size = size};
    const TalusStatus status = start_file(&pair, last ? !pair.newest : 0, &payload, w);
    talus_release(listed);
    return status;
}

/* Puts the file in place of the older one, with its header; `status`: of what was written so far. */
static TalusStatus end_file(const TalusDir *dir, const TalusWorld *world, TalusStatus status,
                            Writing *w)
{
    if (status != TALUS_OK) {
        if (w->file)
            talus_file_abandon(w->file);
        return status;
    }
    complete_header(w, world);
    talus_file_replace(w->file, 0, &w->header, sizeof w->header);
    TALUS_TRY(talus_file_commit(w->file));
    return talus_dir_sync(dir); /* so that the rename is on disk */
}

TalusStatus talus_checkpoint_write_in(const TalusDir *dir, const TalusWorld *world,
                                      const char *note, const TalusManifest *files)
{
    Writing writing = {0};
    const TalusByteSink sink = {put_state, &writing};
    TalusComm *comm = world->ranks.comm;
    TalusStatus status = talus_comm_agree(
        comm, dir ? start_over_older(dir, note ? note : "", files, &writing) : TALUS_OK);
    TALUS_THEN(status, talus_world_save_to(world, &sink));
    return talus_comm_agree(comm, dir ? end_file(dir, world, status, &writing) : status);
}

TalusStatus talus_checkpoint_write(const char *path, const TalusWorld *world, const char *note)
{
    TalusDir dir;
    const bool first = talus_comm_rank(world->ranks.comm) == 0;
    TALUS_TRY(talus_comm_agree(world->ranks.comm, first ? talus_dir_open(path, &dir) : TALUS_OK));
    TalusStatus status = talus_checkpoint_write_in(first ? &dir : NULL, world, note, NULL);
    if (first)
        talus_dir_close(&dir);
    return status;
}
