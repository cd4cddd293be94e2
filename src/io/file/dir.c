/* io/file/dir.c - directories by descriptor, and the regular files in them. */
#include "io/file/dir.h"

#include "base/crc.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CHECKSUM_BYTES = 1 << 16, /* bytes read at a time for a checksum */
    NAME_BYTES = 256,         /* size of a name in a list; longer ones are cut */
    PATH_BYTES = 1024         /* size of a path in messages; longer ones are cut */
};

/* Returns the kind of a file that is not regular, for messages. */
static const char *kind_in_words(mode_t mode)
{
    return S_ISLNK(mode)    ? "a symbolic link"
           : S_ISDIR(mode)  ? "a directory"
           : S_ISFIFO(mode) ? "a named pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* Reports a failure, TALUS_ERR_IO, of the file `name` of the directory; the message is formatted as by printf. */
static TalusStatus fail_file(const TalusDir *dir, const char *name, const char *format, ...)
    TALUS_PRINTF(3, 4);

static TalusStatus fail_file(const TalusDir *dir, const char *name, const char *format, ...)
{
    char path[PATH_BYTES], text[512];
    TALUS_FORMAT(text, format);
    snprintf(path, sizeof path, "%s/%s", dir->path, name);
    return talus_fail_file(path, TALUS_ERR_IO, "%s", text);
}

TalusStatus talus_dir_error(const TalusDir *dir, const char *name, TalusStatus status)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", dir->path, name);
    return talus_error_in_file(path, status);
}

/* ---- opening and closing ---- */

/* Opens dir->fd: the directory `name` relative to the descriptor `at`. */
static TalusStatus open_descriptor(TalusDir *dir, int at, const char *name, int flags)
{
    dir->fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
    dir->open = dir->fd >= 0;
    return dir->open ? TALUS_OK
                     : talus_fail_file(dir->path, TALUS_ERR_IO, "cannot open the directory: %s",
                                       strerror(errno));
}

TalusStatus talus_dir_open(const char *path, TalusDir *out)
{
    *out = (TalusDir){0};
    TALUS_TRY(talus_path_format(&out->path, "%s", path));
    TalusStatus status = talus_make_directory(path);
    TALUS_THEN(status, open_descriptor(out, AT_FDCWD, path, 0));
    if (status != TALUS_OK)
        talus_dir_close(out);
    return status;
}

/* Opens the folder `name` of dir->parent, created if missing. */
static TalusStatus open_folder(TalusDir *dir, const char *name)
{
    struct stat about;
    const TalusDir *parent = dir->parent;
    TALUS_TRY(talus_path_format(&dir->path, "%s/%s", parent->path, name));
    TALUS_TRY(talus_path_format(&dir->name, "%s", name));
    if (mkdirat(parent->fd, name, 0777) != 0 && errno != EEXIST)
        return talus_fail_file(dir->path, TALUS_ERR_IO, "cannot create the directory: %s",
                               strerror(errno));
    if (fstatat(parent->fd, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(about.st_mode))
        return talus_fail_file(dir->path, TALUS_ERR_IO, "is %s, expected a directory",
                               S_ISREG(about.st_mode) ? "a file" : kind_in_words(about.st_mode));
    return open_descriptor(dir, parent->fd, name, O_NOFOLLOW);
}

TalusStatus talus_dir_open_folder(const TalusDir *parent, const char *name, TalusDir *out)
{
    *out = (TalusDir){.parent = parent, .files = parent->files, .resumed = parent->resumed};
    TalusStatus status = open_folder(out, name);
    if (status != TALUS_OK)
        talus_dir_close(out);
    return status;
}

void talus_dir_close(TalusDir *dir)
{
    if (dir->open)
        close(dir->fd);
    TALUS_RELEASE(dir->path, dir->name);
    *dir = (TalusDir){0};
}

/* ---- lists ---- */

/* Writes the name that the lists have for a file: its path relative to the run's directory. */
static void write_listed_name(const TalusDir *dir, const char *name, char out[NAME_BYTES])
{
    snprintf(out, NAME_BYTES, "%s%s%s", dir->name ? dir->name : "", dir->name ? "/" : "", name);
}

TalusStatus talus_dir_add_entry(const TalusDir *dir, const char *name, TalusEntry entry, int *index)
{
    char listed[NAME_BYTES];
    if (!dir->files)
        return TALUS_OK;
    write_listed_name(dir, name, listed);
    entry.name = listed;
    return talus_manifest_add(dir->files, &entry, index);
}

void talus_dir_update_entry(const TalusDir *dir, int index, uint64_t size, uint32_t crc)
{
    if (!dir->files)
        return;
    dir->files->entry[index].size = size;
    dir->files->entry[index].crc = crc;
}

const TalusEntry *talus_dir_unchanged_entry(const TalusDir *dir, const char *name)
{
    char listed[NAME_BYTES];
    write_listed_name(dir, name, listed);
    return talus_manifest_find_unchanged(dir->resumed, listed);
}

/* ---- checks that paths still lead to the open directory and its files ---- */

TalusStatus talus_dir_check(const TalusDir *dir)
{
    struct stat held, named;
    if (fstat(dir->fd, &held) != 0)
        return talus_fail_file(dir->path, TALUS_ERR_IO, "cannot read: %s", strerror(errno));
    int found = dir->parent ? fstatat(dir->parent->fd, dir->name, &named, AT_SYMLINK_NOFOLLOW)
                            : stat(dir->path, &named);
    if (found == 0 && talus_same_file(&held, &named))
        return TALUS_OK;
    return talus_fail_file(dir->path, TALUS_ERR_IO,
                           "the directory was %s while it was being written to",
                           held.st_nlink == 0 ? "removed"
                           : found == 0       ? "renamed, and another put in its place,"
                                              : "renamed");
}

TalusStatus talus_dir_check_file(const TalusDir *dir, const char *name, int fd)
{
    struct stat held, named;
    if (fstat(fd, &held) != 0)
        return fail_file(dir, name, "cannot read: %s", strerror(errno));
    int found = fstatat(dir->fd, name, &named, AT_SYMLINK_NOFOLLOW);
    if (found == 0 && talus_same_file(&held, &named))
        return TALUS_OK;
    return fail_file(dir, name, "was %s while it was being written",
                     held.st_nlink == 0 && found != 0 ? "removed"
                     : found == 0                     ? "replaced by another file"
                                                      : "renamed");
}

/* Reads the path from a link in /proc (Linux); "" on systems without /proc. */
void talus_dir_path_now(const TalusDir *dir, char *path, size_t size)
{
    char link[64];
    struct stat held, named;
    snprintf(link, sizeof link, "/proc/self/fd/%d", dir->fd);
    ssize_t n = readlink(link, path, size - 1);
    path[n > 0 ? n : 0] = '\0';
    if (fstat(dir->fd, &held) != 0 || stat(path, &named) != 0 || !talus_same_file(&held, &named))
        path[0] = '\0';
}

/* ---- files ---- */

bool talus_dir_has_name(const TalusDir *dir, const char *name)
{
    struct stat about;
    return fstatat(dir->fd, name, &about, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Fails for an output file that is not regular. */
static TalusStatus fail_irregular(const TalusDir *dir, const char *name, mode_t mode)
{
    return fail_file(dir, name, "is %s, expected a regular file or none", kind_in_words(mode));
}

TalusStatus talus_dir_expect_file(const TalusDir *dir, const char *name)
{
    struct stat about;
    if (fstatat(dir->fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(about.st_mode))
        return TALUS_OK; /* opening the file will report any other error */
    return fail_irregular(dir, name, about.st_mode);
}

/* Opens with O_NONBLOCK: a pipe that takes the name after the check is refused too, without waiting for its writer. */
TalusStatus talus_dir_open_file(const TalusDir *dir, const char *name, int flags, int *fd)
{
    struct stat about = {0};
    *fd = -1;
    TALUS_TRY(talus_dir_expect_file(dir, name));
    *fd = openat(dir->fd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (*fd < 0)
        return fail_file(dir, name, "cannot open: %s", strerror(errno));
    if (fstat(*fd, &about) == 0 && S_ISREG(about.st_mode))
        return TALUS_OK;
    close(*fd);
    *fd = -1;
    return fail_irregular(dir, name, about.st_mode);
}

TalusStatus talus_dir_read_file(const TalusDir *dir, const char *name, size_t limit, char **bytes,
                                size_t *size)
{
    char *path;
    int fd;
    *bytes = NULL;
    *size = 0;
    TALUS_TRY(talus_dir_open_file(dir, name, O_RDONLY, &fd));
    TalusStatus status = talus_path_format(&path, "%s/%s", dir->path, name);
    TALUS_THEN(status, talus_read_open_file(fd, path, limit, bytes, size));
    talus_release(path);
    close(fd);
    return status;
}

TalusStatus talus_dir_read_resumed(const TalusDir *dir, const char *name, size_t limit, char **text,
                                   size_t *size)
{
    TALUS_TRY(talus_dir_read_file(dir, name, limit, text, size));
    const TalusEntry *before = talus_dir_unchanged_entry(dir, name);
    if (before && before->size < *size)
        *size = (size_t)before->size;
    (*text)[*size] = '\0';
    return TALUS_OK;
}

TalusStatus talus_checksum_open_file(int fd, const char *path, uint64_t limit, uint64_t *size,
                                     uint32_t *crc)
{
    char *block;
    TalusStatus status = TALUS_OK;
    *size = 0;
    *crc = 0;
    TALUS_TRY(TALUS_ALLOC(block, CHECKSUM_BYTES, "checksum of a file"));
    while (status == TALUS_OK && *size < limit) {
        uint64_t left = limit - *size;
        ssize_t n =
            pread(fd, block, left < CHECKSUM_BYTES ? (size_t)left : CHECKSUM_BYTES, (off_t)*size);
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            status = talus_fail_file(path, TALUS_ERR_IO, "cannot read: %s", strerror(errno));
        if (n > 0) {
            *crc = talus_crc32(*crc, block, (size_t)n);
            *size += (uint64_t)n;
        }
    }
    talus_release(block);
    return status;
}

TalusStatus talus_dir_remove_file(const TalusDir *dir, const char *name)
{
    TALUS_TRY(talus_dir_expect_file(dir, name));
    if (unlinkat(dir->fd, name, 0) != 0 && errno != ENOENT)
        return fail_file(dir, name, "cannot remove: %s", strerror(errno));
    return TALUS_OK;
}

TalusStatus talus_dir_sync_file(const TalusDir *dir, const char *name)
{
    int fd;
    TALUS_TRY(talus_dir_open_file(dir, name, O_RDONLY, &fd));
    int error = talus_sync_descriptor(fd);
    close(fd);
    if (error)
        return fail_file(dir, name, "cannot sync: %s", strerror(error));
    return TALUS_OK;
}

TalusStatus talus_dir_sync(const TalusDir *dir)
{
    int error = talus_sync_descriptor(dir->fd);
    if (error)
        return talus_fail_file(dir->path, TALUS_ERR_IO, "cannot sync: %s", strerror(error));
    return TALUS_OK;
}
