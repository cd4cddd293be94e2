/* io/hdf5/hdf5_rows.h - datasets of an HDF5 file that grow by rows, and what stands beside them.
 *
 * Of files on the disk that this program writes; io/hdf5/hdf5.h reads and writes those of others in memory. Paths are
 * absolute. What returns bool is false where HDF5 failed; identifiers that are not valid are taken, and fail. */
#ifndef TALUS_IO_HDF5_HDF5_ROWS_H
#define TALUS_IO_HDF5_HDF5_ROWS_H

#include <hdf5.h>
#include <stdbool.h>

/* How files are opened: others may read while this process writes, so no lock is taken where that can be chosen.
 * The caller closes it with H5Pclose. */
hid_t talus_hdf_access(void);

bool talus_hdf_make_group(hid_t file, const char *path);
/* An attribute of the object at `path`, made where it is missing; count 0: a scalar. */
bool talus_hdf_put_attribute(hid_t file, const char *path, const char *name, hid_t type,
                             hsize_t count, const void *value);
/* An empty dataset; columns 0: a plain list. */
bool talus_hdf_make_rows(hid_t file, const char *path, hid_t type, int columns, hsize_t chunk_rows);
/* Rows after the last one; `rows` 0 changes nothing. */
bool talus_hdf_append(hid_t file, const char *path, hid_t type, hsize_t rows, const void *values);
/* One integer to a plain list. */
bool talus_hdf_append_number(hid_t file, const char *path, hsize_t value);
/* Rows of a dataset into memory of exactly that size. */
bool talus_hdf_read_rows(hid_t file, const char *path, hid_t type, hsize_t first, hsize_t rows,
                         void *out);

#endif
