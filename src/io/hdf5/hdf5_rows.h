/* io/hdf5/hdf5_rows.h - datasets of an HDF5 file that grow by rows, with groups and attributes.
 *
 * For files on disk that this program writes; io/hdf5/hdf5.h reads and writes files of others in memory. Paths are
 * absolute. Functions of type bool return false if HDF5 failed, also for invalid identifiers. */
#ifndef TALUS_IO_HDF5_HDF5_ROWS_H
#define TALUS_IO_HDF5_HDF5_ROWS_H

#include <hdf5.h>
#include <stdbool.h>

/* Returns the access properties of files: without lock where HDF5 allows it, so that others may read while this
 * process writes. The caller closes it with H5Pclose. */
hid_t talus_hdf_access(void);

bool talus_hdf_make_group(hid_t file, const char *path);
/* Writes an attribute of the object at `path`, created if missing; count 0: a scalar. */
bool talus_hdf_put_attribute(hid_t file, const char *path, const char *name, hid_t type,
                             hsize_t count, const void *value);
/* Creates an empty dataset that grows by rows; columns 0: one-dimensional. */
bool talus_hdf_make_rows(hid_t file, const char *path, hid_t type, int columns, hsize_t chunk_rows);
/* Appends rows; `rows` 0 changes nothing. */
bool talus_hdf_append(hid_t file, const char *path, hid_t type, hsize_t rows, const void *values);
/* Appends one integer to a one-dimensional dataset. */
bool talus_hdf_append_number(hid_t file, const char *path, hsize_t value);
/* Reads rows of a dataset into `out`, which has exactly their size. */
bool talus_hdf_read_rows(hid_t file, const char *path, hid_t type, hsize_t first, hsize_t rows,
                         void *out);

#endif
