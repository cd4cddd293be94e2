/* fuzz/surface_obj.c - libFuzzer target: any bytes as an OBJ file. */
#include "surface.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_surface("fuzz.obj", data, size);
    return 0;
}
