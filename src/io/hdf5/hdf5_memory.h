/* io/hdf5/hdf5_memory.h - an HDF5 file that is bytes in memory, to be read. */
#ifndef TALUS_IO_HDF5_HDF5_MEMORY_H
#define TALUS_IO_HDF5_HDF5_MEMORY_H

#include <talus/base.h>

#include <hdf5.h>

/* *out is negative when HDF5 refuses the bytes, which must outlive the file. */
TalusStatus talus_h5_open_memory(const void *bytes, size_t size, hid_t *out);

/* Text of variable length: the bytes of a scalar at `offset` name a length and an object of a heap
 * elsewhere in the file. HDF5 1.10 believes the object's own length and writes past its buffer
 * where the two differ, so it is not asked. False if anything does not fit; *text is not ended by
 * a NUL. Addresses and lengths in the file have eight bytes. */
bool talus_h5_variable_text(const void *bytes, size_t size, uint64_t offset, const char **text,
                            size_t *length);

#endif
