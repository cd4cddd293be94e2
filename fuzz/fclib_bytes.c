/* fuzz/fclib_bytes.c - libFuzzer target: any bytes as an FCLIB file. Most of what it finds is in
 * libhdf5 itself (fuzz/README.md); fclib_content.c is the one that tests the reader. */
#include "limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* libFuzzer's block is not ours to hand to HDF5 as a file: a copy shows reads past its end. */
    void *copy = malloc(size ? size : 1);
    check(copy != NULL);
    memcpy(copy, data, size);
    read_and_exercise(copy, size);
    free(copy);
    return 0;
}
