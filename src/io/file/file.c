/* io/file/file.c - atomic writes of whole files (io/file/file.h): buffer, temporary file, commit. */
#include "io/file/file.h"

#include "base/crc.h"
#include "base/memory.h"
#include "io/file/dir.h"
#include "io/file/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    BUFFER_BYTES = 1 << 16, /* size of the buffer of an output */
    NAME_TRIES = 100        /* maximum of names tried for a temporary file */
};

struct TalusFile {
    int fd;
    int error;     /* errno of the first failure; 0: none */
    size_t used;   /* bytes in the buffer */
    uint64_t size; /* bytes flushed from the buffer; after a failure, also those not written */
    uint32_t crc;  /* checksum of these `size` bytes; only if `dir` keeps a list of files */
    TalusDir *dir; /* directory of the file; NULL: created at a user's path */
    int base;   /* where `target` and `temporary` start: dir->fd, or AT_FDCWD for a user's path */
    char *path; /* for messages */
    char *target, *temporary; /* final name and name until the commit; NULL: no rename at commit */
    char buffer[BUFFER_BYTES];
};

/* Frees the struct; neither renames nor removes the temporary file. */
static void close_and_free(TalusFile *file)
{
    if (file->fd >= 0)
        close(file->fd);
    TALUS_RELEASE(file->path, file->target, file->temporary, file);
}

/* Fails with the reason in errno. */
static TalusStatus fail_create(const TalusFile *file)
{
    return talus_fail_file(file->path, TALUS_ERR_IO, "cannot create: %s", strerror(errno));
}

/* Creates file->temporary; false with errno on failure. O_EXCL: an existing file or link is never opened. */
static bool create_temporary(TalusFile *file)
{
    file->fd = openat(file->base, file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return file->fd >= 0;
}

/* Creates a temporary file beside the target, TARGET.tmp or, if a file has that name, TARGET.tmp-1 and so on. */
static TalusStatus create_beside_target(TalusFile *file)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        talus_release(file->temporary);
        char number[16] = "";
        if (i > 0)
            snprintf(number, sizeof number, "-%d", i);
        TALUS_TRY(talus_path_format(&file->temporary, "%s.tmp%s", file->target, number));
        if (create_temporary(file))
            return TALUS_OK;
        if (errno != EEXIST)
            break;
    }
    return fail_create(file);
}

/* Opens the output at a user's path: a target that is written directly, else a temporary file beside the file to be
 * replaced. */
static TalusStatus open_user_path(TalusFile *file, const char *path)
{
    TalusTarget target;
    file->base = AT_FDCWD;
    TALUS_TRY(talus_path_format(&file->path, "%s", path));
    TALUS_TRY(talus_target_find(path, &target));
    file->fd = target.fd;
    file->target = target.path;
    return file->target ? create_beside_target(file) : TALUS_OK;
}

/* Creates the temporary file NAME.tmp in a run's directory. Removes one that a killed run left: unlike the files beside
 * a user's path, all files there belong to the run. */
static TalusStatus create_in_directory(TalusFile *file, TalusDir *dir, const char *name)
{
    file->dir = dir;
    file->base = dir->fd;
    TALUS_TRY(talus_path_format(&file->path, "%s/%s", dir->path, name));
    TALUS_TRY(talus_path_format(&file->target, "%s", name));
    TALUS_TRY(talus_path_format(&file->temporary, "%s.tmp", name));
    TALUS_TRY(talus_dir_expect_file(dir, name));
    TALUS_TRY(talus_dir_remove_file(dir, file->temporary));
    return create_temporary(file) ? TALUS_OK : fail_create(file);
}

/* Sets *out to the file or, if `status` is a failure, frees it. Returns `status`. */
static TalusStatus return_or_free(TalusFile *file, TalusStatus status, TalusFile **out)
{
    if (status == TALUS_OK)
        *out = file;
    else
        close_and_free(file);
    return status;
}

TalusStatus talus_file_create(const char *path, TalusFile **out)
{
    TalusFile *file;
    *out = NULL;
    TALUS_TRY(TALUS_ALLOC(file, 1, path));
    file->fd = -1;
    return return_or_free(file, open_user_path(file, path), out);
}

TalusStatus talus_dir_create_file(TalusDir *dir, const char *name, TalusFile **out)
{
    TalusFile *file;
    *out = NULL;
    TALUS_TRY(TALUS_ALLOC(file, 1, name));
    file->fd = -1;
    return return_or_free(file, create_in_directory(file, dir, name), out);
}

/* Writes the buffer to the system, unless file->error is set, and empties it. Adds its bytes to size and checksum in
 * either case. */
static void flush_buffer(TalusFile *file)
{
    if (!file->error)
        file->error = talus_write_fully(file->fd, file->buffer, file->used, NULL);
    if (file->dir && file->dir->files) /* only the list of files uses the checksum */
        file->crc = talus_crc32(file->crc, file->buffer, file->used);
    file->size += file->used;
    file->used = 0;
}

void talus_file_put(TalusFile *file, const void *bytes, size_t size)
{
    const char *from = bytes;
    while (size > 0) {
        if (file->used == BUFFER_BYTES)
            flush_buffer(file);
        size_t free_bytes = BUFFER_BYTES - file->used;
        size_t n = size < free_bytes ? size : free_bytes;
        memcpy(file->buffer + file->used, from, n);
        file->used += n;
        from += n;
        size -= n;
    }
}

void talus_file_replace(TalusFile *file, uint64_t offset, const void *bytes, size_t size)
{
    flush_buffer(file);
    if (!file->error)
        file->error = talus_write_fully(file->fd, bytes, size, &offset);
}

void talus_file_print(TalusFile *file, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text) {
        file->error = file->error ? file->error : EOVERFLOW;
        return;
    }
    talus_file_put(file, text, (size_t)n);
}

static void remove_temporary(const TalusFile *file)
{
    if (file->temporary)
        unlinkat(file->base, file->temporary, 0);
}

/* Adds a file of a directory to the directory's list. Called after the rename: the list has existing files only. */
static TalusStatus add_to_list(const TalusFile *file)
{
    TalusEntry entry = {.size = file->size, .crc = file->crc, .kind = TALUS_ENTRY_WHOLE};
    return file->dir ? talus_dir_add_entry(file->dir, file->target, entry, NULL) : TALUS_OK;
}

/* talus_file_commit, with or without the sync. */
static TalusStatus commit_and_free(TalusFile *file, bool sync)
{
    TalusStatus status = TALUS_OK;
    flush_buffer(file);
    if (sync && !file->error)
        file->error = talus_sync_descriptor(file->fd);
    if (close(file->fd) != 0 && !file->error)
        file->error = errno;
    file->fd = -1;
    if (!file->error && file->temporary &&
        renameat(file->base, file->temporary, file->base, file->target) != 0)
        file->error = errno;
    if (file->error) {
        status =
            talus_fail_file(file->path, TALUS_ERR_IO, "cannot write: %s", strerror(file->error));
        remove_temporary(file);
    } else {
        status = add_to_list(file);
    }
    close_and_free(file);
    return status;
}

TalusStatus talus_file_commit(TalusFile *file)
{
    return commit_and_free(file, true);
}

TalusStatus talus_file_commit_unsynced(TalusFile *file)
{
    return commit_and_free(file, false);
}

void talus_file_abandon(TalusFile *file)
{
    remove_temporary(file);
    close_and_free(file);
}
