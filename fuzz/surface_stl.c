/* fuzz/surface_stl.c - libFuzzer target: any bytes as an STL file. */
#include "surface.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_surface("fuzz.stl", data, size);
    return 0;
}
