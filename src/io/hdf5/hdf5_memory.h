/* io/hdf5/hdf5_memory.h - reading of an HDF5 file that is in memory. */
#ifndef TALUS_IO_HDF5_HDF5_MEMORY_H
#define TALUS_IO_HDF5_HDF5_MEMORY_H

#include <talus/base.h>

#include <hdf5.h>

/* Opens the bytes, which must outlive the file. Fails only without memory; *out is negative if HDF5 rejects them. */
TalusStatus talus_h5_open_memory(const void *bytes, size_t size, hid_t *out);

/* Finds a string of variable length in a file in memory: the dataset's value, 16 bytes at `offset`, has its length, and
 * address and index of an object in a heap of the file. HDF5 1.10 trusts the object's own length and writes past its
 * buffer if the two differ, so this function reads the heap itself. Sets *text to a place in `bytes`, without NUL;
 * false if anything is inconsistent. */
bool talus_h5_variable_text(const void *bytes, size_t size, uint64_t offset, const char **text,
                            size_t *length);

#endif
