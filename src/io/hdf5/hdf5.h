/* io/hdf5/hdf5.h - the part of HDF5 that FCLIB needs: named lists of integers and reals, and text.
 *
 * HDF5 files are read from memory and written to memory; the caller reads the bytes from disk at once and writes them
 * atomically, so that no lock or driver of HDF5 accesses the disk. Input is not trusted:
 *   - only hard links inside the file are followed, no soft and no external ones;
 *   - raw data is in the file itself: no external storage, no virtual datasets;
 *   - a dataset must store at least as many bytes as it claims, or 1/1032 of them (the best ratio of deflate) if it is
 *     deflated, and all reads from a file together return at most 1032 times its size and 64 KiB;
 *   - only these filters are read: shuffle, fletcher32, deflate once;
 *   - only these types are read: integers of 1, 2, 4 and 8 bytes, IEEE reals of 4 and 8, text.
 * HDF5's own error output is off while a file is open. Only one thread at a time may call these functions, as is the
 * case for libhdf5.
 *
 * Paths start at the root, such as "/fclib_local/W/p"; names in them have at most 255 bytes. Errors read "FILE: PATH:
 * what is there and what is expected". */
#ifndef TALUS_IO_HDF5_HDF5_H
#define TALUS_IO_HDF5_HDF5_H

#include "base/status.h"

/* An HDF5 file in memory, open for reading or writing. */
typedef struct TalusH5 TalusH5;

/* Opens a file that is in memory for reading. `bytes` and `name` (for messages) must outlive *out. */
TalusStatus talus_h5_open(const char *name, const void *bytes, size_t size, TalusH5 **out);
/* Creates an empty file in memory for writing. `name` (for messages) must outlive *out. */
TalusStatus talus_h5_create(const char *name, TalusH5 **out);
/* Closes the file, frees it and restores HDF5's error output; NULL does nothing. */
void talus_h5_close(TalusH5 *h5);

/* ---- reading ---- */

/* False if the path is missing or a name in it is too long. True also if the path leads to a link that is not followed,
 * or to a damaged object: reading it will report the error. */
bool talus_h5_has(const TalusH5 *h5, const char *path);
/* False for a dataset that has entries but no storage in the file: it was created but never written. True for
 * everything else, also for a missing path. */
bool talus_h5_is_written(const TalusH5 *h5, const char *path);
/* Fails unless the path is a group. */
TalusStatus talus_h5_expect_group(const TalusH5 *h5, const char *path);
/* Reads one integer, stored as a scalar or as a list of one; clamped if beyond int64_t. */
TalusStatus talus_h5_read_int(TalusH5 *h5, const char *path, int64_t *out);
/* Read whole lists, of fewer than 2^31 - 1 entries; free *out with talus_release. Integers beyond int32_t are
 * clamped. */
TalusStatus talus_h5_read_ints(TalusH5 *h5, const char *path, int32_t **out, size_t *count);
TalusStatus talus_h5_read_reals(TalusH5 *h5, const char *path, double **out, size_t *count);
/* Reads one text of fixed or variable length, at most 1 MiB, and adds a NUL; free with talus_release. */
TalusStatus talus_h5_read_text(TalusH5 *h5, const char *path, char **out);

/* ---- writing ---- */

/* Create a group, or a dataset: a list of 32-bit integers or 64-bit reals, or one text of fixed length. */
TalusStatus talus_h5_put_group(TalusH5 *h5, const char *path);
TalusStatus talus_h5_put_ints(TalusH5 *h5, const char *path, const int32_t *x, size_t count);
TalusStatus talus_h5_put_reals(TalusH5 *h5, const char *path, const double *x, size_t count);
TalusStatus talus_h5_put_text(TalusH5 *h5, const char *path, const char *text);
/* Flushes the file and returns a copy of its bytes; free with talus_release. */
TalusStatus talus_h5_get_bytes(TalusH5 *h5, void **bytes, size_t *size);

#endif
