/* io/file/growing.h - a file that grows by appends and can be truncated, with its length and checksum known.
 *
 * Each append is written to the system at once, so that a process killed later loses none. An append that fails, as on
 * a full disk, is undone, if the system can still truncate the file. */
#ifndef TALUS_IO_FILE_GROWING_H
#define TALUS_IO_FILE_GROWING_H

#include "io/file/dir.h"

#include <stdio.h>

/* A zeroed struct is a closed file. */
typedef struct TalusGrowing {
    char *path; /* for messages */
    bool open;
    int fd;         /* descriptor; valid while `open` */
    uint64_t size;  /* bytes, without the closing bytes */
    uint32_t crc;   /* checksum of these `size` bytes; only if `dir` keeps a list of files */
    size_t closing; /* number of closing bytes after these, which the next append overwrites */
    TalusDir *dir;  /* NULL if opened by path */
    char *name;     /* name in `dir` */
    int entry;      /* index in the list of files that `dir` keeps, if any */
} TalusGrowing;

/* Creates an empty file in `dir`, or empties an existing one, and adds it to the directory's list, if `dir` keeps one.
 * `dir` must outlive `out`. On failure of this call or the next two, `out` is closed. */
TalusStatus talus_growing_create(TalusDir *dir, const char *name, TalusGrowing *out);
/* As talus_growing_create, but opens an existing file; talus_growing_truncate must follow, which sets size and
 * checksum. */
TalusStatus talus_growing_open(TalusDir *dir, const char *name, TalusGrowing *out);
/* Opens a user's path: links are followed. Only regular files are accepted, because the content is read back and
 * truncated. With `create` a missing file is created. talus_growing_truncate must follow, which sets the size. */
TalusStatus talus_growing_open_path(const char *path, bool create, TalusGrowing *out);
/* Closes the file, if open, and zeroes the struct. The entry in the list of files stays. */
void talus_growing_close(TalusGrowing *file);
/* Opens a stdio stream for reading the open file itself, even if its path leads elsewhere now. The caller closes it. */
TalusStatus talus_growing_open_stream(const TalusGrowing *file, FILE **out);

/* Truncates to the first `size` bytes, which must exist. Reads these bytes to compute their checksum, unless the list
 * of the checkpoint that the run resumed from has the checksum, or the directory keeps no list. */
TalusStatus talus_growing_truncate(TalusGrowing *file, uint64_t size);
/* Truncates to the first `size` bytes and writes the closing bytes (see talus_growing_append_closed) after those. */
TalusStatus talus_growing_truncate_closed(TalusGrowing *file, uint64_t size, const char *closing);
/* Appends to a file without closing bytes. Updates size and checksum, also in the list of files. Fails, with nothing
 * written, if another process changed the length. */
TalusStatus talus_growing_append(TalusGrowing *file, const void *bytes, size_t size);
/* Appends, overwriting the closing bytes of the last call. The last `closing` of the `size` bytes close the file, as
 * end tags do: a reader always finds them at the end, the next call overwrites them, and neither file->size nor the
 * checksum counts them. All calls for a file have the same closing bytes, so that a failed call can restore them. */
TalusStatus talus_growing_append_closed(TalusGrowing *file, const void *bytes, size_t size,
                                        size_t closing);
/* Truncates a file without closing bytes to an earlier size, and sets its checksum to the one of that time; nothing
 * changes if the file cannot be truncated. */
void talus_growing_undo_appends(TalusGrowing *file, uint64_t size, uint32_t crc);
/* Syncs the file to the disk. Fails as talus_growing_check does, or if another process changed the length. Does nothing
 * for a closed file. */
TalusStatus talus_growing_sync(const TalusGrowing *file);
/* Fails if the file was removed, renamed or replaced in its directory. Checks nothing for a file that is closed or was
 * opened by path. */
TalusStatus talus_growing_check(const TalusGrowing *file);

#endif
