/* io/file/dir.h - an output directory, held open by its descriptor.
 *
 * Files are written into this directory even if it is renamed; talus_dir_check tells whether the path still leads to
 * it. Links are not followed and pipes are not waited for: a link, named pipe or device under the name of an output
 * file is an error, and is left unchanged. */
#ifndef TALUS_IO_FILE_DIR_H
#define TALUS_IO_FILE_DIR_H

#include "io/file/file.h"
#include "io/run/manifest.h"

/* A zeroed struct is a closed directory. */
typedef struct TalusDir {
    char *path; /* for messages */
    char *name; /* last part of the path, for a folder in `parent`; NULL if opened by path */
    bool open;
    int fd;
    const struct TalusDir *parent;
    TalusManifest *files;         /* list of the files written; NULL: no list is kept */
    const TalusManifest *resumed; /* list of the resumed checkpoint; NULL: none */
} TalusDir;

/* Opens a directory; creates it and its parents if missing. */
TalusStatus talus_dir_open(const char *path, TalusDir *out);
/* Opens a folder in `parent`, created if missing. It uses both lists of `parent`, which must outlive it. */
TalusStatus talus_dir_open_folder(const TalusDir *parent, const char *name, TalusDir *out);
void talus_dir_close(TalusDir *dir);

/* Fails if the directory was removed or renamed, or if its path leads to another one. */
TalusStatus talus_dir_check(const TalusDir *dir);
/* The same for a file of the directory that is open as `fd`. */
TalusStatus talus_dir_check_file(const TalusDir *dir, const char *name, int fd);
/* Writes the current path of the directory; "" if it was removed or the system cannot tell. */
void talus_dir_path_now(const TalusDir *dir, char *path, size_t size);

/* Adds the path of a file of the directory to the error of a call that failed with `status`, and returns `status`. */
TalusStatus talus_dir_error(const TalusDir *dir, const char *name, TalusStatus status);

/* Fails unless `name` is a regular file or missing. */
TalusStatus talus_dir_expect_file(const TalusDir *dir, const char *name);
bool talus_dir_has(const TalusDir *dir, const char *name);
/* Opens a regular file; flags as for open(2). The caller closes *fd. */
TalusStatus talus_dir_open_file(const TalusDir *dir, const char *name, int flags, int *fd);
/* As talus_read_file. */
TalusStatus talus_dir_read(const TalusDir *dir, const char *name, size_t limit, char **bytes,
                           size_t *size);
/* As talus_dir_read, but cuts a growing text to its length at the resumed checkpoint, if that lists the file. */
TalusStatus talus_dir_read_resumed(const TalusDir *dir, const char *name, size_t limit, char **text,
                                   size_t *size);
/* Computes length and checksum of the first `limit` bytes of an open file. */
TalusStatus talus_checksum_open_file(int fd, const char *path, uint64_t limit, uint64_t *size,
                                     uint32_t *crc);
/* Removes a regular file; succeeds if it is missing. */
TalusStatus talus_dir_remove(const TalusDir *dir, const char *name);
/* Sync an existing file, or the entries of the directory, to the disk. */
TalusStatus talus_dir_sync_file(const TalusDir *dir, const char *name);
TalusStatus talus_dir_sync(const TalusDir *dir);

/* Creates a file that replaces `name` as a whole when it is committed (see talus_file_create). The commit enters it in
 * the directory's list as TALUS_ENTRY_WHOLE. */
TalusStatus talus_dir_create_file(TalusDir *dir, const char *name, TalusFile **out);

/* Enters a file in the directory's list, if there is one; entry.name is ignored. *index (may be NULL) is the index of
 * the entry for talus_dir_update. */
TalusStatus talus_dir_enter(const TalusDir *dir, const char *name, TalusEntry entry, int *index);
/* Updates the list entry of a file that has changed. */
void talus_dir_update(const TalusDir *dir, int index, uint64_t size, uint32_t crc);
/* Returns the resumed checkpoint's entry of a file that is unchanged since, else NULL. */
const TalusEntry *talus_dir_unchanged_entry(const TalusDir *dir, const char *name);

#endif
