/* io/hdf5/hdf5_rows.h - datasets of an HDF5 file that grow by rows, with groups and attributes.
 *
 * For files on disk that this program writes; io/hdf5/hdf5.h is for FCLIB files, read and written whole in memory.
 * Paths are absolute. Functions of type bool return false if HDF5 failed, also for invalid identifiers. */
#ifndef TALUS_IO_HDF5_HDF5_ROWS_H
#define TALUS_IO_HDF5_HDF5_ROWS_H

#include <hdf5.h>
#include <stdbool.h>

/* Returns access properties for files: without lock if this version of HDF5 can do without, so that others may read
 * while this process writes. The caller closes them with H5Pclose. */
hid_t talus_hdf_access(void);

bool talus_hdf_make_group(hid_t file, const char *path);
/* Writes an attribute of the object at `path`; creates the attribute if missing, with `count` values, 0: a scalar. */
bool talus_hdf_put_attribute(hid_t file, const char *path, const char *name, hid_t type,
                             hsize_t count, const void *value);
/* Creates an empty dataset that grows by rows, stored in chunks of `chunk_rows`; columns 0: one-dimensional. */
bool talus_hdf_make_rows(hid_t file, const char *path, hid_t type, int columns, hsize_t chunk_rows);
/* Appends rows; `rows` 0 changes nothing. */
bool talus_hdf_append(hid_t file, const char *path, hid_t type, hsize_t rows, const void *values);
/* Appends one integer to a one-dimensional dataset. */
bool talus_hdf_append_number(hid_t file, const char *path, hsize_t value);
/* Reads rows from `first` on into `out`, which has room for them as `type`; false if the dataset has fewer. */
bool talus_hdf_read_rows(hid_t file, const char *path, hid_t type, hsize_t first, hsize_t rows,
                         void *out);

#endif
