/* draw/png.h - PNG files (RFC 2083). */
#ifndef TALUS_DRAW_PNG_H
#define TALUS_DRAW_PNG_H

#include "draw/image.h"

/* Encodes a PNG file of *size bytes; the caller frees *bytes with talus_release after success. Deflated if the build
 * has zlib, else stored. */
TalusStatus talus_png_encode(const TalusImage *image, unsigned char **bytes, size_t *size);

/* ---- parts of a file, for other files made of PNG chunks ---- */

enum {
    TALUS_PNG_CHUNK = 12, /* bytes of a chunk besides its data: length, kind, checksum */
    TALUS_PNG_HEAD = 33   /* bytes that talus_png_write_head writes */
};

/* Writes x as four bytes, highest first. */
void talus_png_write_u32(unsigned char *at, uint32_t x);
/* Writes the signature and the chunk IHDR for 8 bits per channel. Returns their end. */
unsigned char *talus_png_write_head(unsigned char *at, int width, int height, int channels);
/* Writes length, kind and checksum of a chunk, whose `size` bytes of data begin at `at` + 8. Returns its end. */
unsigned char *talus_png_finish_chunk(unsigned char *at, const char *kind, size_t size);
/* Filters and deflates the pixels: *size bytes, the data of IDAT, at *stream + room; TALUS_PNG_CHUNK more bytes follow them
 * in memory. The caller frees *stream with talus_release after success. */
TalusStatus talus_png_compress(const TalusImage *image, size_t room, unsigned char **stream,
                               size_t *size);

/* ---- files ---- */

/* Encodes the image and writes it to a file, which appears whole or not at all. */
TalusStatus talus_png_write(const char *path, const TalusImage *image);

#endif
