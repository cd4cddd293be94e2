/* io/file/read.c - the rest of io/file/file.h: writes and reads by descriptor, whole files, directories, paths. */
#include "io/file/file.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 }; /* maximum size of a path, with its NUL */

/* ---- descriptors ---- */

int talus_write_fully(int fd, const void *bytes, size_t size, const uint64_t *offset)
{
    const char *from = bytes;
    for (size_t done = 0; done < size;) {
        ssize_t n = offset ? pwrite(fd, from + done, size - done, (off_t)(*offset + done))
                           : write(fd, from + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : ENOSPC;
        done += (size_t)n;
    }
    return 0;
}

/* EINVAL and EROFS, by which a file system or device says that it cannot sync, count as success. */
int talus_sync_descriptor(int fd)
{
    return fsync(fd) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
}

bool talus_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ---- reads ---- */

TalusStatus talus_read_at(int fd, const char *path, uint64_t offset, void *out, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(fd, (char *)out + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return talus_fail_file(path, TALUS_ERR_IO, "cannot read: %s", strerror(errno));
        if (n == 0)
            return talus_fail_file(path, TALUS_ERR_IO, "became shorter while being read");
        done += (size_t)n;
    }
    return TALUS_OK;
}

TalusStatus talus_read_open_file(int fd, const char *path, size_t limit, char **bytes, size_t *size)
{
    struct stat about;
    *bytes = NULL;
    *size = 0;
    if (fstat(fd, &about) != 0)
        return talus_fail_file(path, TALUS_ERR_IO, "cannot read: %s", strerror(errno));
    if (!S_ISREG(about.st_mode))
        return talus_fail_file(path, TALUS_ERR_IO, "is not a regular file");
    if ((uintmax_t)about.st_size > limit)
        return talus_fail_file(path, TALUS_ERR_FORMAT,
                               "has %jd bytes, more than the %zu accepted here",
                               (intmax_t)about.st_size, limit);
    *size = (size_t)about.st_size;
    TALUS_TRY(TALUS_ALLOC(*bytes, *size + 1, path));
    TalusStatus status = talus_read_at(fd, path, 0, *bytes, *size);
    if (status != TALUS_OK) {
        talus_release(*bytes);
        *bytes = NULL;
    }
    return status;
}

int talus_open_to_read(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

size_t talus_read_start(const char *path, void *bytes, size_t size)
{
    struct stat about;
    int fd = talus_open_to_read(path);
    if (fd < 0)
        return 0;
    ssize_t n = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) ? pread(fd, bytes, size, 0) : 0;
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

TalusStatus talus_read_file(const char *path, size_t limit, char **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    int fd = talus_open_to_read(path);
    if (fd < 0)
        return talus_fail_file(path, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
    TalusStatus status = talus_read_open_file(fd, path, limit, bytes, size);
    close(fd);
    return status;
}

/* ---- paths ---- */

/* Creates one directory, whose parent exists; succeeds if it is there already. */
static TalusStatus make_one_directory(const char *path)
{
    struct stat about;
    if (mkdir(path, 0777) == 0)
        return TALUS_OK;
    int error = errno;
    if (stat(path, &about) == 0) {
        if (S_ISDIR(about.st_mode))
            return TALUS_OK;
        error = ENOTDIR;
    }
    return talus_fail_file(path, TALUS_ERR_IO, "cannot create the directory: %s", strerror(error));
}

TalusStatus talus_make_directory(const char *path)
{
    char *part;
    TALUS_TRY(talus_path_format(&part, "%s", path));
    TalusStatus status = TALUS_OK;
    for (char *p = part + 1; status == TALUS_OK && part[0] && *p; p++)
        if (*p == '/') {
            *p = '\0';
            status = make_one_directory(part);
            *p = '/';
        }
    TALUS_THEN(status, make_one_directory(part));
    talus_release(part);
    return status;
}

TalusStatus talus_path_format(char **out, const char *format, ...)
{
    char text[PATH_BYTES];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *out = NULL;
    if (n < 0 || n >= PATH_BYTES)
        return talus_fail(TALUS_ERR_IO, "%.60s...: a path of %d bytes is too long", text, n);
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)n + 1, "path"));
    memcpy(*out, text, (size_t)n + 1);
    return TALUS_OK;
}
