/* base/deflate.h - zlib streams (RFC 1950), where the build has zlib. */
#ifndef TALUS_BASE_DEFLATE_H
#define TALUS_BASE_DEFLATE_H

#include <talus/base.h>

/* Which repetitions in the data the compressor looks for. */
typedef enum TalusDeflateMatch {
    TALUS_DEFLATE_ANY,    /* repeats of any bytes up to 32 KiB before: smallest stream */
    TALUS_DEFLATE_RUNS,   /* repeats of the previous byte only: faster */
    TALUS_DEFLATE_ENTROPY /* no repeats, Huffman codes only */
} TalusDeflateMatch;

/* False in a build without zlib, where talus_deflate and talus_inflate fail. */
bool talus_deflate_available(void);
/* Returns the maximum size in bytes of the stream of `size` bytes. */
size_t talus_deflate_bound(size_t size);
/* Compresses `size` bytes into `out`; `level` is 1 (fast) to 9 (small). *used is set to the size of the stream. Fails
 * with TALUS_ERR_ARGUMENT if the stream does not fit into `capacity` bytes. */
TalusStatus talus_deflate(int level, TalusDeflateMatch match, const void *bytes, size_t size,
                          void *out, size_t capacity, size_t *used);
/* Decompresses a stream of `size` bytes into `out` (may be NULL if `expected` is 0). Fails with TALUS_ERR_FORMAT if the
 * stream is damaged or does not hold exactly `expected` bytes; `out` may then be partly written. Bytes after the end of
 * the stream are ignored. */
TalusStatus talus_inflate(const void *stream, size_t size, void *out, size_t expected);

#endif
