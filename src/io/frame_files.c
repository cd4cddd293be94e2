/* io/frame_files.c - names of frame files; collections that grow in place and are cut back.
 *
 * The closing tags of a collection are overwritten by the next entry and themselves, in one write:
 * a long run costs no more per frame than a short one, and a reader always finds whole XML. */
#include "io/frame_files.h"

#include "base/memory.h"
#include "io/file.h"
#include "io/vtp_xml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PVD_HEAD                                                                  \
    "<?xml version=\"1.0\"?>\n"                                                   \
    "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n" \
    "<Collection>\n"
#define PVD_MARK "<DataSet timestep=\""
#define PVD_TAIL "</Collection>\n</VTKFile>\n"

enum { COLLECTION_LIMIT = 1 << 30, ENTRY_BYTES = 512 };

/* ---- numbered files ---- */

TalusStatus talus_frame_path(char **out, const char *dir, const char *name, int number,
                             const char *extension)
{
    return talus_path(out, "%s/frames/%s-%06d.%s", dir, name, number, extension);
}

TalusStatus talus_frame_directory(const char *dir)
{
    char *path;
    TALUS_TRY(talus_path(&path, "%s/frames", dir));
    TalusStatus status = talus_make_directory(path);
    talus_release(path);
    return status;
}

static TalusStatus sync_files(const char *dir, const char *name, const char *extension, int first,
                              int end)
{
    for (int i = first; i < end; i++) {
        char *path;
        TALUS_TRY(talus_frame_path(&path, dir, name, i, extension));
        TalusStatus status = talus_sync_path(path);
        talus_release(path);
        TALUS_TRY(status);
    }
    return TALUS_OK;
}

TalusStatus talus_frame_sync(const char *dir, const char *name, const char *extension, int first,
                             int end)
{
    char *path;
    TALUS_TRY(sync_files(dir, name, extension, first, end));
    TALUS_TRY(talus_path(&path, "%s/frames", dir));
    TalusStatus status = talus_sync_path(path);
    talus_release(path);
    return status;
}

TalusStatus talus_remove_file(const char *dir, const char *name)
{
    char *path;
    TALUS_TRY(talus_path(&path, "%s/%s", dir, name));
    TalusStatus status = TALUS_OK;
    if (unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
        status = talus_fail(TALUS_ERR_IO, "%s: cannot remove: %s", path, strerror(errno));
    talus_release(path);
    return status;
}

/* The number in "NAME-NUMBER.EXT", or -1 for any other file. */
static int number_of(const char *file, const char *name, const char *extension)
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

static TalusStatus remove_listed(DIR *listing, const char *frames, const char *name,
                                 const char *extension, int first)
{
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        if (number_of(entry->d_name, name, extension) >= first)
            TALUS_TRY(talus_remove_file(frames, entry->d_name));
    return TALUS_OK;
}

TalusStatus talus_frame_remove(const char *dir, const char *name, const char *extension, int first)
{
    char *frames;
    TalusStatus status = TALUS_OK;
    TALUS_TRY(talus_path(&frames, "%s/frames", dir));
    DIR *listing = opendir(frames);
    if (listing) {
        status = remove_listed(listing, frames, name, extension, first);
        closedir(listing);
    } else if (errno != ENOENT) {
        status = talus_fail(TALUS_ERR_IO, "%s: cannot list: %s", frames, strerror(errno));
    }
    talus_release(frames);
    return status;
}

/* ---- collections ---- */

/* The number of the file that an entry names, -1 if it is none of ours. */
static int entry_file(const char *entry, const char *end)
{
    const char *at = end - strlen("000000.vtp\"");
    while (at > entry && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return at > entry && at[-1] == '-' ? (int)strtol(at, NULL, 10) : -1;
}

/* Counts the frames of a collection up to `limit`; *bytes is where their list ends. Half an entry at
 * the end, from a machine that went down, is not taken. */
static void count_entries(TalusSeries *series, const char *text, double limit, size_t *bytes)
{
    const char *line = strstr(text, PVD_MARK);
    *bytes = line ? (size_t)(line - text) : 0;
    while (line && strncmp(line, PVD_MARK, strlen(PVD_MARK)) == 0) {
        const char *end = strstr(line, "/>\n");
        if (!end || !(strtod(line + strlen(PVD_MARK), NULL) <= limit))
            break;
        series->files = entry_file(line, end) + 1;
        series->count++;
        line = end + strlen("/>\n");
        *bytes = (size_t)(line - text);
    }
}

/* A series without frames has no collection. */
static TalusStatus shorten(TalusSeries *series, const char *text, size_t bytes)
{
    TalusFile *file;
    if (series->count == 0) {
        char name[64];
        snprintf(name, sizeof name, "%s.pvd", series->name);
        return talus_remove_file(series->dir, name);
    }
    TALUS_TRY(talus_file_create(series->path, &file));
    talus_file_put(file, text, bytes);
    talus_file_put(file, PVD_TAIL, strlen(PVD_TAIL));
    return talus_file_commit(file);
}

static TalusStatus open_collection(TalusSeries *series)
{
    series->fd = open(series->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (series->fd < 0)
        return talus_fail(TALUS_ERR_IO, "%s: cannot open: %s", series->path, strerror(errno));
    series->open = true;
    return TALUS_OK;
}

static TalusStatus cut(TalusSeries *series, double time)
{
    char *text;
    size_t size, bytes;
    if (access(series->path, F_OK) != 0)
        return TALUS_OK;
    TALUS_TRY(talus_read_file(series->path, COLLECTION_LIMIT, &text, &size));
    count_entries(series, text, time, &bytes);
    TalusStatus status = shorten(series, text, bytes);
    talus_release(text);
    if (status == TALUS_OK && series->count > 0) {
        series->tail = (int64_t)bytes;
        status = open_collection(series);
    }
    return status;
}

TalusStatus talus_series_open(TalusSeries *series, const char *dir, const char *name, bool resume,
                              double time)
{
    *series = (TalusSeries){.name = name};
    TALUS_TRY(talus_path(&series->dir, "%s", dir));
    TALUS_TRY(talus_path(&series->path, "%s/%s.pvd", dir, name));
    if (!resume)
        return talus_series_remove(dir, name);
    TALUS_TRY(cut(series, time));
    return talus_frame_remove(dir, name, "vtp", series->files);
}

TalusStatus talus_series_next(const TalusSeries *series, char **path)
{
    return talus_frame_path(path, series->dir, series->name, series->files, "vtp");
}

static TalusStatus write_at(const TalusSeries *series, const char *text, size_t size, int64_t at)
{
    if (lseek(series->fd, (off_t)at, SEEK_SET) < 0)
        return talus_fail(TALUS_ERR_IO, "%s: cannot write: %s", series->path, strerror(errno));
    return talus_write_all(series->fd, text, size, series->path);
}

/* Half an entry, of a disk that is full, is taken back: the closing tags stand where they stood, in
 * space that the file has. */
static void take_back(const TalusSeries *series)
{
    const char *tail = series->count > 0 ? PVD_TAIL : "";
    if (lseek(series->fd, (off_t)series->tail, SEEK_SET) >= 0 &&
        write(series->fd, tail, strlen(tail)) == (ssize_t)strlen(tail))
        (void)!ftruncate(series->fd, (off_t)(series->tail + (int64_t)strlen(tail)));
}

static TalusStatus enter(TalusSeries *series, double time, int file)
{
    char text[ENTRY_BYTES];
    const char *head = series->count == 0 ? PVD_HEAD : "";
    if (!series->open)
        TALUS_TRY(open_collection(series));
    int n = snprintf(text, sizeof text,
                     "%s" PVD_MARK "%.17g\" part=\"0\" file=\"frames/%s-%06d.vtp\"/>\n" PVD_TAIL,
                     head, time, series->name, file);
    TalusStatus status = write_at(series, text, (size_t)n, series->tail);
    if (status != TALUS_OK) {
        take_back(series);
        return status;
    }
    series->tail += n - (int64_t)strlen(PVD_TAIL);
    series->count++;
    return TALUS_OK;
}

TalusStatus talus_series_add(TalusSeries *series, double time)
{
    TALUS_TRY(enter(series, time, series->files));
    series->files++;
    return TALUS_OK;
}

TalusStatus talus_series_repeat(TalusSeries *series, double time)
{
    return enter(series, time, series->files - 1);
}

TalusStatus talus_series_key(const TalusSeries *series, uint64_t *key)
{
    char *path;
    *key = 0;
    if (series->files == 0)
        return TALUS_OK;
    TALUS_TRY(talus_frame_path(&path, series->dir, series->name, series->files - 1, "vtp"));
    TalusStatus status = talus_vtp_key(path, key);
    talus_release(path);
    return status;
}

TalusStatus talus_series_sync(TalusSeries *series)
{
    if (!series->open)
        return TALUS_OK;
    TALUS_TRY(talus_frame_sync(series->dir, series->name, "vtp", series->synced, series->files));
    series->synced = series->files;
    return talus_sync_path(series->path);
}

void talus_series_close(TalusSeries *series)
{
    if (series->open)
        close(series->fd);
    talus_release(series->dir);
    talus_release(series->path);
    *series = (TalusSeries){0};
}

TalusStatus talus_series_remove(const char *dir, const char *name)
{
    char collection[64];
    snprintf(collection, sizeof collection, "%s.pvd", name);
    TALUS_TRY(talus_remove_file(dir, collection));
    return talus_frame_remove(dir, name, "vtp", 0);
}
