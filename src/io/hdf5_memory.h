/* io/hdf5_memory.h - an HDF5 file that is bytes in memory, to be read. */
#ifndef TALUS_IO_HDF5_MEMORY_H
#define TALUS_IO_HDF5_MEMORY_H

#include <talus/base.h>

#include <hdf5.h>

/* *out is negative when HDF5 refuses the bytes, which must outlive the file. */
TalusStatus talus_h5_open_memory(const void *bytes, size_t size, hid_t *out);

#endif
