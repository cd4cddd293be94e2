/* io/hdf5/hdf5_rows.h - datasets of an HDF5 file that grow by rows, with groups and attributes.
 *
 * For files on disk that Talus writes; io/hdf5/hdf5.h is for FCLIB files, which are read and written whole in memory.
 * Paths start at the root of the file. Functions of type bool return false if HDF5 failed, also for invalid
 * identifiers. */
#ifndef TALUS_IO_HDF5_HDF5_ROWS_H
#define TALUS_IO_HDF5_HDF5_ROWS_H

#include <hdf5.h>
#include <stdbool.h>

/* Returns properties for opening files: without file lock, if this version of HDF5 allows that, so that other processes
 * can read a file while this one writes it. The caller closes them with H5Pclose. */
hid_t talus_hdf_access_properties(void);

/* Creates a group, whose parent must exist. */
bool talus_hdf_make_group(hid_t file, const char *path);
/* Writes an attribute of the object at `path`; creates it if it is missing, as a list of `count` values or, with count
 * 0, as a scalar. An existing attribute keeps its type and number of values, for which `value` must suffice. */
bool talus_hdf_put_attribute(hid_t file, const char *path, const char *name, hid_t type,
                             hsize_t count, const void *value);
/* Creates an empty dataset that grows by rows, stored in chunks of `chunk_rows` rows; columns 0: one-dimensional. The
 * type has at most 8 bytes; rows that are not written are zero. */
bool talus_hdf_make_rows(hid_t file, const char *path, hid_t type, int columns, hsize_t chunk_rows);
/* Appends `rows` rows of values of this type to a dataset; rows 0 changes nothing. On failure the dataset may have the
 * new rows without the values. */
bool talus_hdf_append_rows(hid_t file, const char *path, hid_t type, hsize_t rows,
                           const void *values);
/* Appends one integer to a one-dimensional dataset. */
bool talus_hdf_append_number(hid_t file, const char *path, hsize_t value);
/* Reads `rows` rows from row `first` on into `out`, converted to `type`; false if the dataset has fewer rows. */
bool talus_hdf_read_rows(hid_t file, const char *path, hid_t type, hsize_t first, hsize_t rows,
                         void *out);

#endif
