/* io/formats/frame_files.c - names of frame files; collections that grow in place and can be truncated.
 *
 * One write puts the next entry and the closing tags in the place of the old closing tags. So the cost per frame does
 * not grow with the run, and a reader always finds complete XML. */
#include "io/formats/frame_files.h"

#include "base/memory.h"
#include "io/formats/vtp_xml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A collection: head, an entry per frame that begins with the mark, tail. */
#define PVD_HEAD                                                                  \
    "<?xml version=\"1.0\"?>\n"                                                   \
    "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n" \
    "<Collection>\n"
#define PVD_MARK "<DataSet timestep=\""
#define PVD_TAIL "</Collection>\n</VTKFile>\n"

/* COLLECTION_LIMIT: bytes of the largest collection that is read. ENTRY_BYTES: enough for head, entry and tail. */
enum { COLLECTION_LIMIT = 1 << 30, ENTRY_BYTES = 512 };

/* ---- numbered files ---- */

void talus_frame_file_write_name(char out[TALUS_FRAME_NAME_BYTES], const char *name, int number,
                                 const char *extension)
{
    snprintf(out, TALUS_FRAME_NAME_BYTES, "%s-%06d.%s", name, number, extension);
}

TalusStatus talus_frame_files_sync(const TalusDir *frames, const char *name, const char *extension,
                                   int first, int end)
{
    char file[TALUS_FRAME_NAME_BYTES];
    TALUS_TRY(talus_dir_check(frames));
    for (int i = first; i < end; i++) {
        talus_frame_file_write_name(file, name, i, extension);
        TALUS_TRY(talus_dir_sync_file(frames, file));
    }
    return talus_dir_sync(frames);
}

/* Returns the number in "NAME-NUMBER.EXT", which has at least six digits; -1 for any other file name. */
static int parse_number(const char *file, const char *name, const char *extension)
{
    size_t length = strlen(name);
    if (strncmp(file, name, length) != 0 || file[length] != '-')
        return -1;
    const char *digits = file + length + 1;
    char *end;
    long number = strtol(digits, &end, 10);
    if (end - digits < 6 || *digits < '0' || *digits > '9' || number > INT32_MAX)
        return -1;
    return *end == '.' && strcmp(end + 1, extension) == 0 ? (int)number : -1;
}

/* Adds a file of an earlier part of the run to the directory's list. Computes its checksum only if the list of the
 * checkpoint that the run resumed from lacks the file, or the file has changed since. */
static TalusStatus list_old_file(TalusDir *frames, const char *file)
{
    int fd;
    const TalusEntry *before = talus_dir_unchanged_entry(frames, file);
    if (before)
        return talus_dir_add_entry(frames, file, *before, NULL);
    TalusEntry entry = {.kind = TALUS_ENTRY_WHOLE};
    TALUS_TRY(talus_dir_open_file(frames, file, O_RDONLY, &fd));
    TalusStatus status =
        talus_checksum_open_file(fd, frames->path, UINT64_MAX, &entry.size, &entry.crc);
    close(fd);
    return status == TALUS_OK ? talus_dir_add_entry(frames, file, entry, NULL) : status;
}

/* Removes the files of that name from number `count` on; adds those of lower numbers to the directory's list, if the
 * directory keeps one. `listing`: the names in the directory. */
static TalusStatus remove_from_number(DIR *listing, TalusDir *frames, const char *name,
                                      const char *extension, int count)
{
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        int number = parse_number(entry->d_name, name, extension);
        if (number >= count)
            TALUS_TRY(talus_dir_remove_file(frames, entry->d_name));
        else if (number >= 0 && frames->files)
            TALUS_TRY(list_old_file(frames, entry->d_name));
    }
    return TALUS_OK;
}

/* Returns 1 + the largest number of a file of that name in the list of the checkpoint that the run resumed from; 0 if
 * the list has no such file. */
static int count_in_checkpoint(const TalusDir *frames, const char *name, const char *extension)
{
    const TalusManifest *resumed = frames->resumed;
    size_t prefix = strlen(frames->name) + 1;
    int count = 0;
    for (int i = 0; resumed && i < resumed->count; i++) {
        const char *listed = resumed->entry[i].name;
        if (strncmp(listed, frames->name, prefix - 1) != 0 || listed[prefix - 1] != '/')
            continue;
        int number = parse_number(listed + prefix, name, extension);
        count = number >= count ? number + 1 : count;
    }
    return count;
}

TalusStatus talus_frame_files_truncate(TalusDir *frames, const char *name, const char *extension,
                                       int *count)
{
    int known = count_in_checkpoint(frames, name, extension);
    *count = known > *count ? known : *count;
    int fd = fcntl(frames->fd, F_DUPFD_CLOEXEC, 0);
    DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
    if (!listing) {
        TalusStatus status =
            talus_fail_file(frames->path, TALUS_ERR_IO, "cannot list: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    rewinddir(listing); /* `fd` shares its offset with frames->fd, which may have been read */
    TalusStatus status = remove_from_number(listing, frames, name, extension, *count);
    closedir(listing);
    return status;
}

TalusStatus talus_frame_files_remove(const TalusDir *dir, const char *name, const char *extension)
{
    TalusDir frames, plain = {.path = dir->path, .fd = dir->fd};
    int none = 0;
    if (!talus_dir_has_name(dir, TALUS_FRAMES_FOLDER))
        return TALUS_OK;
    TALUS_TRY(talus_dir_open_folder(&plain, TALUS_FRAMES_FOLDER, &frames));
    TalusStatus status = talus_frame_files_truncate(&frames, name, extension, &none);
    talus_dir_close(&frames);
    return status;
}

/* ---- collections ---- */

/* Returns the number of the file that an entry of the collection names, -1 if that is not a file of the series. */
static int parse_entry_file(const char *series, const char *entry)
{
    static const char mark[] = "file=\"" TALUS_FRAMES_FOLDER "/";
    char file[TALUS_FRAME_NAME_BYTES];
    const char *name = strstr(entry, mark);
    size_t length = name ? strcspn(name += strlen(mark), "\"") : sizeof file;
    if (length >= sizeof file)
        return -1;
    memcpy(file, name, length);
    file[length] = '\0';
    return parse_number(file, series, "vtp");
}

/* Sets count and files of the series from the entries of a collection up to the time `limit`; *bytes is the offset of
 * the end of these entries. Ignores an incomplete last entry, from a system crash. Fails at an entry that is no file of
 * the series, because the number of the next file is then unknown. */
static TalusStatus count_entries(TalusSeries *series, const char *text, double limit, size_t *bytes)
{
    const char *line = strstr(text, PVD_MARK);
    *bytes = line ? (size_t)(line - text) : 0;
    while (line && strncmp(line, PVD_MARK, strlen(PVD_MARK)) == 0) {
        const char *end = strstr(line, "/>\n");
        if (!end || !(strtod(line + strlen(PVD_MARK), NULL) <= limit))
            break;
        int file = parse_entry_file(series->name, line);
        if (file < 0)
            return talus_fail(TALUS_ERR_FORMAT,
                              "entry %d is not a file " TALUS_FRAMES_FOLDER "/%s-NUMBER.vtp",
                              series->count + 1, series->name);
        series->files = file + 1;
        series->count++;
        line = end + strlen("/>\n");
        *bytes = (size_t)(line - text);
    }
    return TALUS_OK;
}

static void write_collection_name(char out[TALUS_FRAME_NAME_BYTES], const char *series)
{
    snprintf(out, TALUS_FRAME_NAME_BYTES, "%s.pvd", series);
}

/* Opens the collection as series->list and truncates it to its first `bytes` bytes and the closing tags. */
static TalusStatus open_truncated_collection(TalusSeries *series, const char *name, size_t bytes)
{
    TALUS_TRY(talus_growing_open(series->dir, name, &series->list));
    return talus_growing_truncate_closed(&series->list, bytes, PVD_TAIL);
}

/* Opens the collection, if it exists, as series->list and truncates it to the frames up to `time`; removes it if no
 * frame is left. Sets count and files of the series. */
static TalusStatus truncate_collection(TalusSeries *series, double time)
{
    char name[TALUS_FRAME_NAME_BYTES], *text;
    size_t size, bytes;
    write_collection_name(name, series->name);
    if (!talus_dir_has_name(series->dir, name))
        return TALUS_OK;
    TALUS_TRY(talus_dir_read_resumed(series->dir, name, COLLECTION_LIMIT, &text, &size));
    TalusStatus status = count_entries(series, text, time, &bytes);
    talus_release(text);
    if (status != TALUS_OK)
        return talus_dir_error(series->dir, name, status);
    return series->count > 0 ? open_truncated_collection(series, name, bytes)
                             : talus_dir_remove_file(series->dir, name);
}

TalusStatus talus_series_open(TalusSeries *series, TalusDir *dir, TalusDir *frames,
                              const char *name, bool resume, double time)
{
    *series = (TalusSeries){.name = name, .dir = dir, .frames = frames};
    if (resume)
        TALUS_TRY(truncate_collection(series, time));
    else
        TALUS_TRY(talus_series_remove_collection(dir, name));
    TALUS_TRY(talus_frame_files_truncate(frames, name, "vtp", &series->files));
    series->synced = series->files; /* all of them were synced before the checkpoint was written */
    return TALUS_OK;
}

TalusStatus talus_series_create_file(const TalusSeries *series, TalusFile **file)
{
    char name[TALUS_FRAME_NAME_BYTES];
    talus_frame_file_write_name(name, series->name, series->files, "vtp");
    return talus_dir_create_file(series->frames, name, file);
}

/* Appends the entry of a frame that shows file number `file`. Creates the collection at the first frame. */
static TalusStatus append_entry(TalusSeries *series, double time, int file)
{
    char text[ENTRY_BYTES], name[TALUS_FRAME_NAME_BYTES];
    const char *head = series->count == 0 ? PVD_HEAD : "";
    write_collection_name(name, series->name);
    if (!series->list.open)
        TALUS_TRY(talus_growing_create(series->dir, name, &series->list));
    int n = snprintf(text, sizeof text,
                     "%s" PVD_MARK "%.17g\" part=\"0\" file=\"frames/%s-%06d.vtp\"/>\n" PVD_TAIL,
                     head, time, series->name, file);
    TALUS_TRY(talus_growing_append_closed(&series->list, text, (size_t)n, strlen(PVD_TAIL)));
    series->count++;
    return TALUS_OK;
}

TalusStatus talus_series_add_file(TalusSeries *series, double time)
{
    TALUS_TRY(append_entry(series, time, series->files));
    series->files++;
    return TALUS_OK;
}

TalusStatus talus_series_repeat_file(TalusSeries *series, double time)
{
    return append_entry(series, time, series->files - 1);
}

TalusStatus talus_series_read_last_key(const TalusSeries *series, uint64_t *key)
{
    char name[TALUS_FRAME_NAME_BYTES];
    *key = 0;
    talus_frame_file_write_name(name, series->name, series->files - 1, "vtp");
    if (series->files == 0 || !talus_dir_has_name(series->frames, name))
        return TALUS_OK;
    return talus_vtp_read_key(series->frames, name, key);
}

TalusStatus talus_series_sync(TalusSeries *series)
{
    if (!series->list.open)
        return TALUS_OK;
    TALUS_TRY(
        talus_frame_files_sync(series->frames, series->name, "vtp", series->synced, series->files));
    series->synced = series->files;
    return talus_growing_sync(&series->list);
}

void talus_series_close(TalusSeries *series)
{
    talus_growing_close(&series->list);
    *series = (TalusSeries){0};
}

TalusStatus talus_series_remove_collection(const TalusDir *dir, const char *name)
{
    char collection[TALUS_FRAME_NAME_BYTES];
    write_collection_name(collection, name);
    return talus_dir_remove_file(dir, collection);
}
