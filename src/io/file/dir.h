/* io/file/dir.h - an output directory, held open by its descriptor.
 *
 * Files are written into this directory even if it is renamed; talus_dir_check tells whether the path still leads to
 * the directory. An output file must be regular or missing: a link, directory, named pipe or device of its name is an
 * error and is left unchanged. Links of its name are not followed, and pipes are not waited for. */
#ifndef TALUS_IO_FILE_DIR_H
#define TALUS_IO_FILE_DIR_H

#include "io/file/file.h"
#include "io/run/manifest.h"

/* A zeroed struct is a closed directory. */
typedef struct TalusDir {
    char *path; /* for messages */
    char *name; /* name of a folder in `parent`; NULL if opened by path */
    bool open;
    int fd;                        /* descriptor; valid while `open` */
    const struct TalusDir *parent; /* directory that the folder is in; NULL if opened by path */
    TalusManifest *files; /* list of the files written, the caller's; NULL: no list is kept */
    const TalusManifest *resumed; /* list in the checkpoint that the run resumed from; NULL: none */
} TalusDir;

/* Opens a directory; creates it and its parents if missing. Both lists of `out` are NULL: the caller may set them. On
 * failure of this call or the next, `out` is closed. */
TalusStatus talus_dir_open(const char *path, TalusDir *out);
/* Opens a folder in `parent`, created if missing. `out` refers to `parent` and its two lists, which must outlive it. */
TalusStatus talus_dir_open_folder(const TalusDir *parent, const char *name, TalusDir *out);
/* Closes the directory, if open, and zeroes the struct; frees neither list. */
void talus_dir_close(TalusDir *dir);

/* Fails if the path no longer leads to the open directory: removed, renamed or replaced by another one. */
TalusStatus talus_dir_check(const TalusDir *dir);
/* Fails if `name` in the directory no longer leads to the file that is open as `fd`. */
TalusStatus talus_dir_check_file(const TalusDir *dir, const char *name, int fd);
/* Writes the current path of the directory; "" if it was removed, does not fit or the system cannot tell. */
void talus_dir_path_now(const TalusDir *dir, char *path, size_t size);

/* Adds the path of a file of the directory to the error of a call that failed with `status`, and returns `status`. */
TalusStatus talus_dir_error(const TalusDir *dir, const char *name, TalusStatus status);

/* Fails if `name` is a link, directory, pipe, socket or device. Succeeds if its kind cannot be read: opening it
 * fails. */
TalusStatus talus_dir_expect_file(const TalusDir *dir, const char *name);
/* True if the directory has a file, folder or link of this name. */
bool talus_dir_has_name(const TalusDir *dir, const char *name);
/* Opens a regular file; flags as for open(2). The caller closes *fd, which is -1 on failure. */
TalusStatus talus_dir_open_file(const TalusDir *dir, const char *name, int flags, int *fd);
/* As talus_read_file: reads a file of at most `limit` bytes and adds a NUL; free with talus_release. */
TalusStatus talus_dir_read_file(const TalusDir *dir, const char *name, size_t limit, char **bytes,
                                size_t *size);
/* As talus_dir_read_file, but only the bytes that the file had at the checkpoint that the run resumed from, if
 * talus_dir_unchanged_entry has an entry of the file. `limit` applies to the whole file. */
TalusStatus talus_dir_read_resumed(const TalusDir *dir, const char *name, size_t limit, char **text,
                                   size_t *size);
/* Reads an open file from its start, at most `limit` bytes; sets *size to the number of bytes and *crc to their
 * CRC-32. `path` is for messages. */
TalusStatus talus_checksum_open_file(int fd, const char *path, uint64_t limit, uint64_t *size,
                                     uint32_t *crc);
/* Removes a regular file; succeeds if it is missing. */
TalusStatus talus_dir_remove_file(const TalusDir *dir, const char *name);
/* Syncs the content of an existing file to the disk. */
TalusStatus talus_dir_sync_file(const TalusDir *dir, const char *name);
/* Syncs the names in the directory to the disk, as after creating, renaming or removing files. */
TalusStatus talus_dir_sync(const TalusDir *dir);

/* Creates a file that replaces `name` as a whole when it is committed (talus_file_commit). The commit adds the
 * file to the directory's list, if the directory keeps one, as TALUS_ENTRY_WHOLE. */
TalusStatus talus_dir_create_file(TalusDir *dir, const char *name, TalusFile **out);

/* Adds the entry of a file to the directory's list, if the directory keeps one; `name` replaces entry.name. *index (may
 * be NULL) is set to the index of the entry, for talus_dir_update_entry. */
TalusStatus talus_dir_add_entry(const TalusDir *dir, const char *name, TalusEntry entry,
                                int *index);
/* Sets size and checksum of entry `index` in the directory's list, if the directory keeps one. */
void talus_dir_update_entry(const TalusDir *dir, int index, uint64_t size, uint32_t crc);
/* Returns the entry of a file in the list `resumed`; NULL if there is no list, or if the file is not in the list or has
 * changed since the checkpoint. */
const TalusEntry *talus_dir_unchanged_entry(const TalusDir *dir, const char *name);

#endif
