/* io/file/growing.c - files that grow by appends, with a running checksum (io/file/growing.h). */
#include "io/file/growing.h"

#include "base/crc.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- opening and closing ---- */

void talus_growing_close(TalusGrowing *file)
{
    if (file->open)
        close(file->fd);
    TALUS_RELEASE(file->path, file->name);
    *file = (TalusGrowing){0};
}

/* Copies size and checksum of the file into the list that its directory keeps, if any. */
static void update_list(const TalusGrowing *file)
{
    if (file->dir)
        talus_dir_update_entry(file->dir, file->entry, file->size, file->crc);
}

/* Opens the file `name` of file->dir and adds it to the list of the directory; on failure *file may be half open. */
static TalusStatus open_and_list(TalusGrowing *file, const char *name, int flags)
{
    TalusDir *dir = file->dir;
    TALUS_TRY(talus_path_format(&file->path, "%s/%s", dir->path, name));
    TALUS_TRY(talus_path_format(&file->name, "%s", name));
    TALUS_TRY(talus_dir_open_file(dir, name, flags, &file->fd));
    file->open = true;
    return talus_dir_add_entry(dir, name, (TalusEntry){.kind = TALUS_ENTRY_GROWS}, &file->entry);
}

/* As open_and_list, for a file of `dir`; on failure closes *file. */
static TalusStatus open_in_directory(TalusGrowing *file, TalusDir *dir, const char *name, int flags)
{
    *file = (TalusGrowing){.dir = dir};
    TalusStatus status = open_and_list(file, name, flags);
    if (status != TALUS_OK)
        talus_growing_close(file);
    return status;
}

TalusStatus talus_growing_create(TalusDir *dir, const char *name, TalusGrowing *out)
{
    return open_in_directory(out, dir, name, O_RDWR | O_CREAT | O_TRUNC);
}

TalusStatus talus_growing_open(TalusDir *dir, const char *name, TalusGrowing *out)
{
    return open_in_directory(out, dir, name, O_RDWR);
}

/* Opens the file at `path`; with `create` a missing one is created. Fails if it is not regular; *file may then be half
 * open. */
static TalusStatus open_regular_file(TalusGrowing *file, const char *path, bool create)
{
    struct stat about;
    int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (create ? O_CREAT : 0);
    TALUS_TRY(talus_path_format(&file->path, "%s", path));
    if (stat(path, &about) == 0 &&
        !S_ISREG(about.st_mode)) /* not opened: that may act on a device */
        return talus_fail_file(path, TALUS_ERR_IO, "is not a regular file");
    file->fd = open(path, flags, 0666);
    file->open = file->fd >= 0;
    if (!file->open)
        return talus_fail_file(path, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
    if (fstat(file->fd, &about) != 0 || !S_ISREG(about.st_mode)) /* replaced since stat */
        return talus_fail_file(path, TALUS_ERR_IO, "is not a regular file");
    return TALUS_OK;
}

TalusStatus talus_growing_open_path(const char *path, bool create, TalusGrowing *out)
{
    *out = (TalusGrowing){0};
    TalusStatus status = open_regular_file(out, path, create);
    if (status != TALUS_OK)
        talus_growing_close(out);
    return status;
}

TalusStatus talus_growing_open_stream(const TalusGrowing *file, FILE **out)
{
    int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    *out = fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 ? fdopen(fd, "r") : NULL;
    if (*out)
        return TALUS_OK;
    int error = errno;
    if (fd >= 0)
        close(fd);
    return talus_fail_file(file->path, TALUS_ERR_IO, "cannot open: %s", strerror(error));
}

/* ---- truncation ---- */

/* Sets file->size and file->crc to those of the first `size` bytes, which must exist; without a list of files, not
 * file->crc. */
static TalusStatus set_size_and_checksum(TalusGrowing *file, uint64_t size)
{
    file->size = size;
    if (!file->dir || !file->dir->files)
        return TALUS_OK; /* no list needs the checksum */
    const TalusEntry *before = talus_dir_unchanged_entry(file->dir, file->name);
    if (before && before->size == size) {
        file->crc = before->crc;
        return TALUS_OK;
    }
    return talus_checksum_open_file(file->fd, file->path, size, &file->size, &file->crc);
}

TalusStatus talus_growing_truncate_closed(TalusGrowing *file, uint64_t size, const char *closing)
{
    file->closing = strlen(closing);
    int error = talus_write_fully(file->fd, closing, file->closing, &size);
    if (!error && ftruncate(file->fd, (off_t)(size + file->closing)) != 0)
        error = errno;
    if (error)
        return talus_fail_file(file->path, TALUS_ERR_IO, "cannot shorten: %s", strerror(error));
    TALUS_TRY(set_size_and_checksum(file, size));
    update_list(file);
    return TALUS_OK;
}

TalusStatus talus_growing_truncate(TalusGrowing *file, uint64_t size)
{
    return talus_growing_truncate_closed(file, size, "");
}

/* ---- writing ---- */

/* Fails if another process changed the length. Called before each append: after a foreign truncation the write would
 * leave a hole, and after a foreign append it would overwrite those bytes. */
static TalusStatus check_length(const TalusGrowing *file)
{
    struct stat about;
    uint64_t size = file->size + file->closing;
    if (fstat(file->fd, &about) != 0)
        return talus_fail_file(file->path, TALUS_ERR_IO, "cannot read: %s", strerror(errno));
    if ((uint64_t)about.st_size != size)
        return talus_fail_file(file->path, TALUS_ERR_IO,
                               "has %jd bytes where the run wrote %" PRIu64
                               ": someone else changed it while it was being written",
                               (intmax_t)about.st_size, size);
    return TALUS_OK;
}

TalusStatus talus_growing_append(TalusGrowing *file, const void *bytes, size_t size)
{
    TALUS_TRY(check_length(file));
    int error = talus_write_fully(file->fd, bytes, size, &file->size);
    if (error) {
        bool cut = ftruncate(file->fd, (off_t)file->size) == 0;
        return talus_fail_file(file->path, TALUS_ERR_IO, "cannot write: %s%s", strerror(error),
                               cut ? "" : ", and what was written of it cannot be cut off");
    }
    file->crc = talus_crc32(file->crc, bytes, size);
    file->size += size;
    update_list(file);
    return TALUS_OK;
}

/* Undoes a talus_growing_append_closed that failed half way, as on a full disk: writes the closing bytes (such as end
 * tags) again after the first file->size bytes and cuts off the rest. `closing` points to the last file->closing bytes
 * of the failed call, because the closing bytes of a file are the same in every call. */
static void restore_closing(const TalusGrowing *file, const char *closing)
{
    if (talus_write_fully(file->fd, closing, file->closing, &file->size) == 0)
        (void)!ftruncate(file->fd, (off_t)(file->size + file->closing));
}

TalusStatus talus_growing_append_closed(TalusGrowing *file, const void *bytes, size_t size,
                                        size_t closing)
{
    const char *from = bytes;
    TALUS_TRY(check_length(file));
    int error = talus_write_fully(file->fd, from, size, &file->size);
    if (error) {
        restore_closing(file, from + size - file->closing);
        return talus_fail_file(file->path, TALUS_ERR_IO, "cannot write: %s", strerror(error));
    }
    file->crc = talus_crc32(file->crc, bytes, size - closing);
    file->size += size - closing;
    file->closing = closing;
    update_list(file);
    return TALUS_OK;
}

void talus_growing_undo_appends(TalusGrowing *file, uint64_t size, uint32_t crc)
{
    if (ftruncate(file->fd, (off_t)size) != 0)
        return; /* the appends are still in the file, so size and checksum stay */
    file->size = size;
    file->crc = crc;
    update_list(file);
}

/* ---- sync ---- */

TalusStatus talus_growing_check(const TalusGrowing *file)
{
    return file->open && file->dir ? talus_dir_check_file(file->dir, file->name, file->fd)
                                   : TALUS_OK;
}

TalusStatus talus_growing_sync(const TalusGrowing *file)
{
    if (!file->open)
        return TALUS_OK;
    TALUS_TRY(talus_growing_check(file));
    TALUS_TRY(check_length(file));
    int error = talus_sync_descriptor(file->fd);
    if (error)
        return talus_fail_file(file->path, TALUS_ERR_IO, "cannot sync: %s", strerror(error));
    return TALUS_OK;
}
