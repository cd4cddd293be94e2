/* io/run/checkpoint.c - checkpoints, written to two files in turn.
 *
 * A checkpoint replaces the older of the two files by an atomic rename and leaves the newer file unchanged, so that at
 * most the work since the last good checkpoint is lost. On several ranks rank 0 alone reads and writes files. */
#include "io/run/checkpoint.h"

#include "base/hash.h"
#include "base/memory.h"
#include "io/run/checkpoint_file.h"
#include "world/save/save.h"
#include "world/state.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REASON_BYTES = 512 /* size of the text on why a file is not usable; longer ones are cut */ };

static const char *const file_names[2] = {TALUS_CHECKPOINT_A, TALUS_CHECKPOINT_B};

TalusStatus talus_checkpoint_inspect(const char *path, TalusCheckpointInfo *info)
{
    TalusCheckpointFile file;
    memset(info, 0, sizeof *info);
    TALUS_TRY(talus_checkpoint_file_open(NULL, path, &file));
    info->sequence = file.header.sequence;
    info->steps = file.header.steps;
    info->time = file.header.time;
    info->note_size = file.header.note_size;
    info->files_size = file.header.files_size;
    info->world_size = file.header.world_size;
    const TalusStatus status = talus_checkpoint_file_read_note(&file, &info->note);
    talus_checkpoint_file_close(&file);
    return status;
}

/* ---- the two files ---- */

/* The two checkpoint files of a directory. */
typedef struct Pair {
    const char *path;
    const TalusDir *dir;  /* open on rank 0 */
    bool there[2];        /* whether the directory has such a name */
    uint64_t sequence[2]; /* sequence number of each file; 0: missing or damaged (read_header) */
    double time[2];       /* of the world in each file, s; 0 if missing or damaged */
    int newest;           /* index of the file with the larger number; 0 if both are equal */
} Pair;

/* Reads the header of a file, whose sequence number is larger in the newer file; zeros if the file is missing or its header
 * is damaged. The rest of the file is not checked. */
static TalusCheckpointHeader read_header(const TalusDir *dir, const char *name)
{
    TalusCheckpointHeader header, none = {.sequence = 0};
    int fd;
    if (talus_dir_open_file(dir, name, O_RDONLY, &fd) != TALUS_OK)
        return none;
    bool sound = pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
                 header.header_hash == talus_checkpoint_hash_header(&header);
    close(fd);
    return sound ? header : none;
}

/* Reads sequence numbers and times of the two checkpoint files. */
static Pair find_pair(const TalusDir *dir)
{
    Pair pair = {.path = dir->path, .dir = dir};
    for (int i = 0; i < 2; i++) {
        pair.there[i] = talus_dir_has_name(dir, file_names[i]);
        if (!pair.there[i])
            continue;
        const TalusCheckpointHeader header = read_header(dir, file_names[i]);
        pair.sequence[i] = header.sequence;
        pair.time[i] = header.time;
    }
    pair.newest = pair.sequence[1] > pair.sequence[0];
    return pair;
}

/* Finds the pair on rank 0 and tells all ranks of it; `dir`: of rank 0. */
static TalusStatus find_shared_pair(TalusComm *comm, const char *path, const TalusDir *dir,
                                    Pair *pair)
{
    if (talus_comm_rank(comm) == 0)
        *pair = find_pair(dir);
    TALUS_TRY(talus_comm_broadcast(comm, 0, pair, sizeof *pair));
    pair->path = path;
    pair->dir = dir;
    return TALUS_OK;
}

/* ---- reading ---- */

/* Why a file is not usable. */
typedef struct Reason {
    TalusStatus status;
    char text[REASON_BYTES]; /* "": the file is usable, or not there */
} Reason;

/* After a call that has failed on all ranks, on this one with `status`: the reason is that of the lowest rank that knows
 * one. */
static Reason share_reason(TalusComm *comm, TalusStatus status)
{
    Reason reason = {.status = status};
    double first = status == TALUS_ERR_CANCELLED ? INFINITY : talus_comm_rank(comm);
    snprintf(reason.text, sizeof reason.text, "%s", talus_error());
    talus_comm_find_minima(comm, &first, 1);
    if (!(first < INFINITY)) /* the communicator is broken */
        return reason;
    if (first > 0.0)
        snprintf(reason.text, sizeof reason.text, "rank %d: %s", (int)first, talus_error());
    (void)talus_comm_broadcast(comm, (int)first, &reason, sizeof reason);
    return reason;
}

/* Copies the note of rank 0's file to all ranks. */
static TalusStatus read_note(const TalusCheckpointFile *file, TalusComm *comm, char **note)
{
    const bool first = talus_comm_rank(comm) == 0;
    uint64_t size = file->header.note_size;
    TALUS_TRY(talus_comm_broadcast(comm, 0, &size, sizeof size));
    TalusStatus status =
        talus_comm_agree(comm, first ? talus_checkpoint_file_read_note(file, note)
                                     : TALUS_ALLOC(*note, (size_t)size + 1, "checkpoint note"));
    TALUS_THEN(status, talus_comm_broadcast(comm, 0, *note, (size_t)size));
    if (status != TALUS_OK) {
        talus_free(*note);
        *note = NULL;
    }
    return status;
}

/* True if a failure is one of the file. Otherwise what the caller asks for is refused, whichever file it would be, or this
 * build or machine lacks what it takes. */
static bool is_of_file(TalusStatus status)
{
    return status == TALUS_ERR_FORMAT || status == TALUS_ERR_IO;
}

/* Adds the path of a file of the pair to an error of this file; others stay as they are. */
static TalusStatus error_in_file(const Pair *pair, int index, TalusStatus status)
{
    char path[4096];
    if (!is_of_file(status))
        return status;
    snprintf(path, sizeof path, "%s/%s", pair->path, file_names[index]);
    return talus_error_in_file(path, status);
}

/* Loads the world of one file of the pair and, unless `note` is NULL, its note. */
static TalusStatus load_file(const Pair *pair, int index, const TalusLoadDef *load,
                             TalusWorld **world, char **note)
{
    TalusCheckpointFile file = {.fd = -1};
    const bool first = talus_comm_rank(load->comm) == 0;
    TalusStatus status = talus_comm_agree(
        load->comm,
        first ? talus_checkpoint_file_open(pair->dir, file_names[index], &file) : TALUS_OK);
    if (status != TALUS_OK)
        return status;
    const TalusByteSource source = talus_checkpoint_file_world(&file);
    status = error_in_file(
        pair, index, talus_world_load_from(&source, (size_t)file.header.world_size, load, world));
    if (note)
        TALUS_THEN(status, read_note(&file, load->comm, note));
    if (status != TALUS_OK) {
        talus_world_destroy(*world);
        *world = NULL;
        if (note)
            talus_release(*note);
        if (note)
            *note = NULL;
    }
    talus_checkpoint_file_close(&file);
    return status;
}

/* Fails unless a file of the pair is valid. */
static TalusStatus verify_file(const Pair *pair, int index)
{
    TalusCheckpointFile file;
    TALUS_TRY(talus_checkpoint_file_open(pair->dir, file_names[index], &file));
    talus_checkpoint_file_close(&file);
    return TALUS_OK;
}

/* Loads the world of a file; if there is a world already, rank 0 verifies the file. Returns why that is not possible, the
 * same on all ranks if there is no world. */
static Reason try_file(const Pair *pair, int index, const TalusLoadDef *load, TalusWorld **world,
                       char **note)
{
    Reason none = {.status = TALUS_OK};
    if (*world && talus_comm_rank(load->comm) > 0)
        return none;
    if (*world)
        return verify_file(pair, index) == TALUS_OK ? none : share_reason(NULL, TALUS_ERR_IO);
    const TalusStatus status = load_file(pair, index, load, world, note);
    return status == TALUS_OK ? none : share_reason(load->comm, status);
}

/* Loads world and note of the newer file or, if that cannot be loaded, of the older one. If the newer file is good,
 * verifies the older one too, so that its damage is reported before it is needed. If one file can be loaded, the
 * failure of the other is logged as a warning. A refusal that is not about the newer file ends the search. */
static TalusStatus load_pair(const Pair *pair, const TalusLoadDef *load, TalusWorld **world,
                             char **note)
{
    Reason reason[2] = {{.status = TALUS_OK}, {.status = TALUS_OK}};
    for (int i = 0; i < 2; i++) {
        const int index = i == 0 ? pair->newest : !pair->newest;
        if (pair->there[index])
            reason[i] = try_file(pair, index, load, world, note);
        if (!*world && reason[i].text[0] && !is_of_file(reason[i].status))
            return talus_fail(reason[i].status, "%s", reason[i].text);
    }
    const char *newer = reason[0].text, *older = reason[1].text;
    if (*world) {
        for (int i = 0; i < 2; i++)
            if (reason[i].text[0] && talus_comm_rank(load->comm) == 0)
                talus_log(TALUS_LOG_WARNING, "checkpoint.damaged", "%s; the other one is used",
                          reason[i].text);
        return TALUS_OK;
    }
    if (!newer[0] && !older[0])
        return talus_fail_file(pair->path, TALUS_ERR_IO, "holds neither %s nor %s", file_names[0],
                               file_names[1]);
    return talus_fail(older[0] ? reason[1].status : reason[0].status,
                      "no usable checkpoint: %s%s%s", newer, newer[0] && older[0] ? "; " : "",
                      older);
}

/* Opens the directory to read in; talus_dir_open would create it. */
static TalusStatus open_dir(const char *path, TalusDir *dir)
{
    if (access(path, F_OK) != 0)
        return talus_fail_file(path, TALUS_ERR_IO, "there is no such directory");
    return talus_dir_open(path, dir);
}

/* Leaves out the files of the pair whose world is later than `time`; fails if no other is left. */
static TalusStatus leave_out_later(Pair *pair, double time)
{
    const Pair all = *pair;
    bool later = false;
    char times[96] = "";
    for (int i = 0; i < 2; i++)
        if (all.sequence[i] > 0 &&
            all.time[i] > time * (1.0 + 1e-9)) { /* rounding of sums of steps */
            later = true;
            pair->there[i] = false;
        }
    if (!later || pair->there[0] || pair->there[1])
        return TALUS_OK;
    for (int i = 0; i < 2; i++) { /* the earlier one first */
        const int index = i == 0 ? !all.newest : all.newest;
        if (all.sequence[index] > 0)
            snprintf(times + strlen(times), sizeof times - strlen(times), "%st = %.15g s",
                     times[0] ? " and " : "", all.time[index]);
    }
    return talus_fail_file(pair->path, TALUS_ERR_ARGUMENT,
                           "no checkpoint at or before t = %.15g s; there is %s", time, times);
}

/* Loads the world, and unless `note` is NULL the note, of the newest usable checkpoint at or before `time`. */
static TalusStatus read_pair(const char *path, double time, const TalusLoadDef *load,
                             TalusWorld **world, char **note)
{
    const bool first = talus_comm_rank(load->comm) == 0;
    TalusDir dir = {0};
    Pair pair = {0};
    *world = NULL;
    if (note)
        *note = NULL;
    TALUS_TRY(talus_comm_agree(load->comm, first ? open_dir(path, &dir) : TALUS_OK));
    TalusStatus status = find_shared_pair(load->comm, path, &dir, &pair);
    TALUS_THEN(status, leave_out_later(&pair, time));
    TALUS_THEN(status, load_pair(&pair, load, world, note));
    talus_dir_close(&dir);
    return status;
}

TalusStatus talus_checkpoint_read_before(const char *path, double time, const TalusLoadDef *load,
                                         TalusWorld **world)
{
    return read_pair(path, time, load, world, NULL);
}

TalusStatus talus_checkpoint_read_part(const char *path, TalusComm *comm, int threads,
                                       const char *backend, TalusWorld **world, char **note)
{
    const TalusLoadDef load = {.threads = threads, .backend = backend, .comm = comm};
    return read_pair(path, INFINITY, &load, world, note);
}

TalusStatus talus_checkpoint_read(const char *path, int threads, const char *backend,
                                  TalusWorld **world, char **note)
{
    return talus_checkpoint_read_part(path, NULL, threads, backend, world, note);
}

double talus_checkpoint_time_before(const char *path, double time)
{
    double found = NAN;
    TalusDir dir;
    if (open_dir(path, &dir) != TALUS_OK)
        return NAN;
    const Pair pair = find_pair(&dir);
    for (int i = 0; i < 2; i++)
        if (pair.sequence[i] > 0 && pair.time[i] <= time * (1.0 + 1e-9))
            found = fmax(found, pair.time[i]); /* of NAN and a number: the number */
    talus_dir_close(&dir);
    return found;
}

/* Opens the newer file or, if its header fails a check, the older one. */
static TalusStatus open_newest_header(const TalusDir *dir, TalusCheckpointFile *file)
{
    const Pair pair = find_pair(dir);
    if (talus_checkpoint_file_open_header(dir, file_names[pair.newest], file) == TALUS_OK)
        return TALUS_OK;
    return talus_checkpoint_file_open_header(dir, file_names[!pair.newest], file);
}

TalusStatus talus_checkpoint_read_note(const char *path, TalusComm *comm, char **note)
{
    TalusCheckpointFile file = {.fd = -1};
    TalusDir dir = {0};
    *note = NULL;
    const bool found = talus_comm_rank(comm) == 0 && open_dir(path, &dir) == TALUS_OK &&
                       open_newest_header(&dir, &file) == TALUS_OK;
    const TalusStatus status =
        talus_comm_any(comm, found) ? read_note(&file, comm, note) : TALUS_OK;
    talus_checkpoint_file_close(&file);
    talus_dir_close(&dir);
    return status;
}

/* ---- the list of files ---- */

/* Reads the list of files of one checkpoint file if its world is at `time`; *found says whether it is. Skips a missing
 * or damaged file, with *found unchanged: reading its world reports the damage. */
static TalusStatus read_files_of(const Pair *pair, int index, double time, bool *found,
                                 TalusManifest *out)
{
    TalusCheckpointFile file;
    char *files;
    if (!pair->there[index])
        return TALUS_OK;
    TalusStatus status = talus_checkpoint_file_open(pair->dir, file_names[index], &file);
    if (status != TALUS_OK)
        return status == TALUS_ERR_FORMAT ? TALUS_OK : status;
    *found = file.header.time == time;
    if (*found)
        status = talus_checkpoint_file_read_files(&file, &files);
    if (*found && status == TALUS_OK) {
        status = talus_manifest_unpack(files, file.header.files_size, out);
        talus_release(files);
    }
    talus_checkpoint_file_close(&file);
    return error_in_file(pair, index, status);
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
    TalusCheckpointHeader header;
    TalusHasher hash; /* of the payload */
} Writing;

/* Starts a file of the pair with note and list; the header is completed when the world is written. */
static TalusStatus start_file(const Pair *pair, int index, const char *note, const char *files,
                              Writing *w)
{
    TalusCheckpointHeader *h = &w->header;
    w->dir = *pair->dir;
    w->dir.files = NULL;
    TALUS_TRY(talus_dir_create_file(&w->dir, file_names[index], &w->file));
    talus_file_put(w->file, h, sizeof *h);
    talus_file_put(w->file, note, h->note_size);
    talus_file_put(w->file, files, h->files_size);
    w->hash.hash = talus_hash(TALUS_HASH_SEED, note, h->note_size);
    w->hash.hash = talus_hash(w->hash.hash, files, h->files_size);
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
    TalusCheckpointHeader *header = &w->header;
    memcpy(header->magic, TALUS_CHECKPOINT_MAGIC, sizeof header->magic);
    header->version = TALUS_CHECKPOINT_VERSION;
    header->header_size = sizeof *header;
    header->steps = talus_world_steps(world);
    header->time = talus_world_time(world);
    header->payload_hash = talus_hasher_end(&w->hash);
    header->header_hash = talus_checkpoint_hash_header(header);
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
    w->header = (TalusCheckpointHeader){
        .sequence = last + 1, .note_size = strlen(note), .files_size = size};
    const TalusStatus status = start_file(&pair, last ? !pair.newest : 0, note, listed, w);
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
