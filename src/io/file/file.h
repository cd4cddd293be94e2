/* io/file/file.h - reading and writing of whole files.
 *
 * A regular file is written under a temporary name in the same directory, synced and renamed over its final name, so
 * that neither a reader nor a crash nor a full disk leaves half a file. Other targets (devices, pipes) are written
 * directly. The first failure is stored and returned by the commit, so that writers need no check per line. */
#ifndef TALUS_IO_FILE_FILE_H
#define TALUS_IO_FILE_FILE_H

#include "base/status.h"

#include <sys/stat.h>

/* The file formats are little-endian and are read and written by plain copies. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Talus files are little-endian; a big-endian host needs byte swaps in src/io"
#endif

typedef struct TalusFile TalusFile;

/* Creates an output at a user's path; io/file/target.h says which targets are replaced and which written directly. */
TalusStatus talus_file_create(const char *path, TalusFile **out);
void talus_file_put(TalusFile *file, const void *bytes, size_t size);
void talus_file_print(TalusFile *file, const char *format, ...) TALUS_PRINTF(2, 3);
/* Syncs and renames. After any failure removes what was written and returns the error. Frees `file`. */
TalusStatus talus_file_commit(TalusFile *file);
/* Commits without syncing, which is faster for many files. The caller must sync them with talus_dir_sync_file before
 * anything relies on them. */
TalusStatus talus_file_commit_unsynced(TalusFile *file);
/* Removes what was written, in place of a commit. Frees `file`. */
void talus_file_abandon(TalusFile *file);

/* ---- read.c ---- */

/* Writes all bytes to a descriptor, at offset *at or, if `at` is NULL, at its current offset. Returns 0 or errno. */
int talus_write_fully(int fd, const void *bytes, size_t size, const uint64_t *at);
/* Syncs a descriptor to the disk. Returns 0 or errno. */
int talus_sync_descriptor(int fd);
bool talus_same_file(const struct stat *a, const struct stat *b);

/* Opens a file to read it; negative on failure. NONBLOCK: the caller refuses what is no regular file, so that a named
 * pipe must not wait for its writer. */
int talus_open_to_read(const char *path);
/* Reads exactly `size` bytes of an open file; `path` is for messages. */
TalusStatus talus_read_at(int fd, const char *path, uint64_t offset, void *out, size_t size);
/* Reads up to `size` bytes from the start of a regular file. Returns their number, 0 for anything else. */
size_t talus_read_start(const char *path, void *bytes, size_t size);
/* Reads a regular file of at most `limit` bytes and adds a NUL; free with talus_release. */
TalusStatus talus_read_file(const char *path, size_t limit, char **bytes, size_t *size);
/* The same for a descriptor that the caller has opened; `path` is for messages. */
TalusStatus talus_read_open_file(int fd, const char *path, size_t limit, char **bytes,
                                 size_t *size);

/* Creates the directory and its parents; succeeds if it exists. */
TalusStatus talus_make_directory(const char *path);

/* Allocates a formatted path; free with talus_release. */
TalusStatus talus_path(char **out, const char *format, ...) TALUS_PRINTF(2, 3);

#endif
