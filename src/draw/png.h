/* draw/png.h - PNG files (RFC 2083). */
#ifndef TALUS_DRAW_PNG_H
#define TALUS_DRAW_PNG_H

#include "draw/image.h"

/* Encodes a PNG file of *size bytes; the caller frees *bytes with talus_release after success. Deflated if the build
 * has zlib, else stored. */
TalusStatus talus_png_encode(const TalusImage *image, unsigned char **bytes, size_t *size);

/* Encodes the image and writes it to a file, which appears whole or not at all. */
TalusStatus talus_png_write(const char *path, const TalusImage *image);

#endif
