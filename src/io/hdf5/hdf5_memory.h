/* io/hdf5/hdf5_memory.h - reading of an HDF5 file that is in memory. */
#ifndef TALUS_IO_HDF5_HDF5_MEMORY_H
#define TALUS_IO_HDF5_HDF5_MEMORY_H

#include <talus/base.h>

#include <hdf5.h>

/* Opens the HDF5 file that `bytes` are, for reading; they must outlive it. Fails only without memory; *out is negative
 * if HDF5 rejects the bytes. */
TalusStatus talus_h5_open_memory(const void *bytes, size_t size, hid_t *out);

/* Finds a text of variable length in a file in memory. The dataset's value, 16 bytes at `offset`, has the length of the
 * text, and address and index of the object in a heap of the file that holds it. HDF5 1.10 trusts the object's own
 * length and writes past its buffer if the two lengths differ, so this function reads the heap itself. Sets *text to
 * the address of the text in `bytes`, which has no NUL at its end. False if anything is inconsistent. */
bool talus_h5_find_variable_text(const void *bytes, size_t size, uint64_t offset, const char **text,
                                 size_t *length);

#endif
