/* io/file/file.h - reading and writing of whole files.
 *
 * A regular file is written under a temporary name in the same directory, synced and renamed over its final name, so
 * that no reader finds half a file, not even after a crash or on a full disk. Other targets (devices, pipes, a file
 * that standard output or error writes to) get the bytes directly. The first failure is stored and returned by the
 * commit, so that writers need no check per line. */
#ifndef TALUS_IO_FILE_FILE_H
#define TALUS_IO_FILE_FILE_H

#include "base/status.h"

#include <sys/stat.h>

/* Numbers are copied between memory and files as they are, and the file formats are little-endian. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Talus files are little-endian; a big-endian host needs byte swaps in src/io"
#endif

typedef struct TalusFile TalusFile;

/* Creates an output at a user's path: a regular or missing file is replaced on commit, any other target gets the bytes
 * directly (io/file/target.h). End it with talus_file_commit or talus_file_abandon. */
TalusStatus talus_file_create(const char *path, TalusFile **out);
/* Append bytes; append formatted text of at most 1023 bytes, longer text is a failure. talus_file_commit reports a
 * failure of either. */
void talus_file_put(TalusFile *file, const void *bytes, size_t size);
void talus_file_print(TalusFile *file, const char *format, ...) TALUS_PRINTF(2, 3);
/* Replaces bytes that were put before, in a file that is renamed at its commit and in no list; a failure is reported by
 * talus_file_commit. */
void talus_file_replace(TalusFile *file, uint64_t offset, const void *bytes, size_t size);
/* Syncs the file, renames it to its final name and adds it to the list of its directory, if any. After any failure so
 * far, removes the temporary file and fails; if only the list has no memory, fails with the file in place. A target
 * that is written directly has no rename and keeps the bytes. Frees `file` in any case. */
TalusStatus talus_file_commit(TalusFile *file);
/* Commits without syncing, which is faster for many files. The caller must sync them with talus_dir_sync_file before
 * anything relies on them. */
TalusStatus talus_file_commit_unsynced(TalusFile *file);
/* Ends a file without commit: removes the temporary file, if there is one, and frees `file`. */
void talus_file_abandon(TalusFile *file);

/* ---- read.c ---- */

/* Writes all bytes to a descriptor, at *offset or, if `offset` is NULL, at its current offset. Returns 0 or errno. */
int talus_write_fully(int fd, const void *bytes, size_t size, const uint64_t *offset);
/* Syncs a descriptor to the disk. Returns 0 or errno; 0 also if the target cannot be synced (pipes, some devices). */
int talus_sync_descriptor(int fd);
/* True if both describe the same file: equal device and inode. */
bool talus_same_file(const struct stat *a, const struct stat *b);

/* Opens a file for reading. Returns its descriptor; negative, with errno, on failure. Opens a named pipe too, without
 * waiting for its writer; the caller must refuse what is not a regular file. */
int talus_open_to_read(const char *path);
/* Reads `size` bytes at `offset` of an open file; fails if the file is shorter. `path` is for messages. */
TalusStatus talus_read_at(int fd, const char *path, uint64_t offset, void *out, size_t size);
/* Reads up to `size` bytes from the start of a file. Returns the number of bytes read; 0 if the file is not regular or
 * not readable. */
size_t talus_read_start(const char *path, void *bytes, size_t size);
/* Reads a regular file of at most `limit` bytes and adds a NUL, which *size does not count; free with talus_release.
 * Fails if the file is longer. On failure *bytes is NULL. */
TalusStatus talus_read_file(const char *path, size_t limit, char **bytes, size_t *size);
/* As talus_read_file, from a descriptor that the caller has opened and closes; `path` is for messages. */
TalusStatus talus_read_open_file(int fd, const char *path, size_t limit, char **bytes,
                                 size_t *size);

/* Creates the directory and its parents; succeeds if it exists. */
TalusStatus talus_make_directory(const char *path);

/* Sets *out to a newly allocated path, formatted as by printf; free with talus_release. Fails, with *out NULL, if the
 * path has more than 4095 bytes. */
TalusStatus talus_path_format(char **out, const char *format, ...) TALUS_PRINTF(2, 3);

#endif
