/* draw/png.c - PNG encoder: a signature and the chunks IHDR, IDAT (one zlib stream of filtered rows) and IEND. */
#include "draw/png.h"

#include "base/crc.h"
#include "base/deflate.h"
#include "base/memory.h"
#include "base/status.h"
#include "io/file/file.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEFLATE_LEVEL = 8,  /* of zlib, 1 to 9 */
    STORED_MAX = 65535, /* bytes of an uncompressed block at most */
    SIGNATURE = 8,      /* bytes at the start of a PNG file */
    IMAGE_HEADER = 13   /* bytes of data of the chunk IHDR */
};

/* ---- filters ---- */

/* Returns the one of three neighbours that is nearest to left + up - corner (filter 4 of PNG). */
static int paeth_predictor(int left, int up, int corner)
{
    int guess = left + up - corner;
    int dl = abs(guess - left), du = abs(guess - up), dc = abs(guess - corner);
    return dl <= du && dl <= dc ? left : du <= dc ? up : corner;
}

/* Filters one row into `out`: subtracts from each byte the prediction of PNG filter `kind`, 0 to 4. `above` is the row
 * above, NULL for the first; `step`: bytes per pixel. Returns the sum of |out|, with bytes taken as signed:
 * small if the row deflates well. */
static long filter_row(int kind, const unsigned char *row, const unsigned char *above, size_t size,
                       size_t step, unsigned char *out)
{
    long sum = 0;
    for (size_t k = 0; k < size; k++) {
        int left = k >= step ? row[k - step] : 0, up = above ? above[k] : 0;
        int corner = above && k >= step ? above[k - step] : 0;
        int guess = kind == 0   ? 0
                    : kind == 1 ? left
                    : kind == 2 ? up
                    : kind == 3 ? (left + up) / 2
                                : paeth_predictor(left, up, corner);
        out[k] = (unsigned char)(row[k] - guess);
        sum += abs((signed char)out[k]);
    }
    return sum;
}

/* Filters all rows into `out`, each preceded by the number of the filter used: the one whose
 * filter_row returns the least. */
static TalusStatus filter_rows(const TalusImage *image, unsigned char *out)
{
    size_t step = (size_t)image->channels, size = (size_t)image->width * step;
    unsigned char *trial;
    TALUS_TRY(TALUS_ALLOC(trial, size, "row"));
    for (int y = 0; y < image->height; y++) {
        const unsigned char *row = image->pixel + (size_t)y * size;
        const unsigned char *above = y ? row - size : NULL;
        unsigned char *to = out + (size_t)y * (size + 1);
        long best = -1;
        for (int kind = 0; kind < 5; kind++) {
            long sum = filter_row(kind, row, above, size, step, trial);
            if (best >= 0 && sum >= best)
                continue;
            best = sum;
            to[0] = (unsigned char)kind;
            memcpy(to + 1, trial, size);
        }
    }
    talus_release(trial);
    return TALUS_OK;
}

/* ---- zlib streams ---- */

/* Adler-32 checksum, the end of a zlib stream. */
static uint32_t adler_checksum(const unsigned char *bytes, size_t size)
{
    uint32_t a = 1, b = 0;
    for (size_t k = 0; k < size; k++) {
        a = (a + bytes[k]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

void talus_png_write_u32(unsigned char *at, uint32_t x)
{
    at[0] = (unsigned char)(x >> 24);
    at[1] = (unsigned char)(x >> 16);
    at[2] = (unsigned char)(x >> 8);
    at[3] = (unsigned char)x;
}

/* Returns an upper bound of the number of bytes that write_stored_stream writes. */
static size_t bound_of_stored_stream(size_t size)
{
    return 2 + size + 5 * (size / STORED_MAX + 1) + 4;
}

/* Writes a zlib stream of uncompressed blocks, for builds without zlib. Returns its size. */
static size_t write_stored_stream(const unsigned char *bytes, size_t size, unsigned char *out)
{
    size_t used = 2;
    out[0] = 0x78;
    out[1] = 0x01;
    for (size_t done = 0;;) {
        size_t n = size - done < STORED_MAX ? size - done : STORED_MAX;
        out[used] = done + n == size;
        out[used + 1] = (unsigned char)n;
        out[used + 2] = (unsigned char)(n >> 8);
        out[used + 3] = (unsigned char)~n;
        out[used + 4] = (unsigned char)(~n >> 8);
        memcpy(out + used + 5, bytes + done, n);
        used += 5 + n;
        done += n;
        if (done == size)
            break;
    }
    talus_png_write_u32(out + used, adler_checksum(bytes, size));
    return used + 4;
}

/* Writes a zlib stream of the bytes to out[capacity]: deflated if the build has zlib, else stored. *used: its size. */
static TalusStatus write_zlib_stream(const unsigned char *bytes, size_t size, unsigned char *out,
                                     size_t capacity, size_t *used)
{
    if (talus_deflate_available())
        return talus_deflate(DEFLATE_LEVEL, TALUS_DEFLATE_ANY, bytes, size, out, capacity, used);
    *used = write_stored_stream(bytes, size, out);
    return TALUS_OK;
}

/* ---- chunks ---- */

unsigned char *talus_png_finish_chunk(unsigned char *at, const char *kind, size_t size)
{
    talus_png_write_u32(at, (uint32_t)size);
    memcpy(at + 4, kind, 4);
    talus_png_write_u32(at + 8 + size, talus_crc32(0, at + 4, size + 4));
    return at + TALUS_PNG_CHUNK + size;
}

unsigned char *talus_png_write_head(unsigned char *at, int width, int height, int channels)
{
    memcpy(at, "\x89PNG\r\n\x1a\n", SIGNATURE);
    at += SIGNATURE;
    talus_png_write_u32(at + 8, (uint32_t)width);
    talus_png_write_u32(at + 12, (uint32_t)height);
    at[16] = 8;                     /* bits per channel */
    at[17] = channels == 4 ? 6 : 2; /* colour type: with or without opacity */
    at[18] = at[19] = at[20] = 0;   /* deflate, five filters, rows in order */
    return talus_png_finish_chunk(at, "IHDR", IMAGE_HEADER);
}

/* Allocates *stream and deflates the filtered rows into it, behind `room` bytes that are left free. */
static TalusStatus compress_rows(const unsigned char *rows, size_t count, size_t room,
                                 unsigned char **stream, size_t *size)
{
    size_t bound = talus_deflate_bound(count), plain = bound_of_stored_stream(count);
    size_t capacity = bound > plain ? bound : plain;
    TALUS_TRY(TALUS_ALLOC(*stream, room + capacity + TALUS_PNG_CHUNK, "PNG file"));
    TalusStatus status = write_zlib_stream(rows, count, *stream + room, capacity, size);
    if (status != TALUS_OK)
        talus_release(*stream);
    return status;
}

TalusStatus talus_png_compress(const TalusImage *image, size_t room, unsigned char **stream,
                               size_t *size)
{
    size_t row = (size_t)image->width * (size_t)image->channels + 1;
    size_t count = row * (size_t)image->height;
    unsigned char *rows;
    TALUS_TRY(TALUS_ALLOC(rows, count, "picture rows"));
    TalusStatus status = filter_rows(image, rows);
    TALUS_THEN(status, compress_rows(rows, count, room, stream, size));
    talus_release(rows);
    return status;
}

TalusStatus talus_png_encode(const TalusImage *image, unsigned char **bytes, size_t *size)
{
    size_t used;
    TALUS_TRY(talus_png_compress(image, TALUS_PNG_HEAD + 8, bytes, &used));
    unsigned char *at = talus_png_write_head(*bytes, image->width, image->height, image->channels);
    at = talus_png_finish_chunk(at, "IDAT", used);
    at = talus_png_finish_chunk(at, "IEND", 0);
    *size = (size_t)(at - *bytes);
    return TALUS_OK;
}

TalusStatus talus_png_write(const char *path, const TalusImage *image)
{
    unsigned char *bytes;
    size_t size;
    TalusFile *file;
    TALUS_TRY(talus_png_encode(image, &bytes, &size));
    TalusStatus status = talus_file_create(path, &file);
    if (status == TALUS_OK) {
        talus_file_put(file, bytes, size);
        status = talus_file_commit(file);
    }
    talus_release(bytes);
    return status;
}
