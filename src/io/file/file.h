/* io/file/file.h - whole files in, whole files out.
 *
 * A file is written beside its final name, brought to the disk and then renamed over it, so neither
 * a reader nor a crash nor a full disk ever meets half a file; what is not a regular file is written
 * through. Failures on the way are sticky: they are remembered and reported by the commit, so that
 * writers need no check per line. */
#ifndef TALUS_IO_FILE_FILE_H
#define TALUS_IO_FILE_FILE_H

#include "base/status.h"

#include <sys/stat.h>

/* The formats below are defined as little-endian and are read and written by plain copies. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Talus files are little-endian; a big-endian host needs byte swaps in src/io"
#endif

typedef struct TalusFile TalusFile;

/* A path that a user gave: io/file/target.h says what is replaced there and what is written through. */
TalusStatus talus_file_create(const char *path, TalusFile **out);
void talus_file_put(TalusFile *file, const void *bytes, size_t size);
void talus_file_print(TalusFile *file, const char *format, ...) TALUS_PRINTF(2, 3);
/* Syncs and renames, or, after any failure, removes what was written and says why. Frees `file`. */
TalusStatus talus_file_commit(TalusFile *file);
/* The same without syncing: quicker where there are many files, which the caller brings to the disk
 * together, by talus_dir_sync_file, before anything relies on them. */
TalusStatus talus_file_commit_unsynced(TalusFile *file);
/* Instead of a commit: removes what was written. Frees `file`. */
void talus_file_abandon(TalusFile *file);

/* ---- read.c ---- */

/* Writes all bytes to a descriptor, from offset *at on or, where `at` is NULL, where it stands; 0, or the error. */
int talus_write_error(int fd, const void *bytes, size_t size, const uint64_t *at);
/* Brings what was written to a descriptor to the disk; 0, or the error. */
int talus_sync_error(int fd);
bool talus_same_file(const struct stat *a, const struct stat *b);

/* The first bytes of a regular file; returns how many there are up to `size`, 0 for anything else. */
size_t talus_read_start(const char *path, void *bytes, size_t size);
/* A regular file of at most `limit` bytes, with a NUL after its last byte; free with talus_release. */
TalusStatus talus_read_file(const char *path, size_t limit, char **bytes, size_t *size);
/* The same of a descriptor that the caller has opened; `path` is for the message. */
TalusStatus talus_read_open_file(int fd, const char *path, size_t limit, char **bytes,
                                 size_t *size);

/* Creates the directory and those above it; an existing one is fine. */
TalusStatus talus_make_directory(const char *path);

/* A formatted path on the heap; free with talus_release. */
TalusStatus talus_path(char **out, const char *format, ...) TALUS_PRINTF(2, 3);

#endif
