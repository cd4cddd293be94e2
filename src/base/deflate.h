/* base/deflate.h - zlib streams (RFC 1950), where the build has zlib. */
#ifndef TALUS_BASE_DEFLATE_H
#define TALUS_BASE_DEFLATE_H

#include <talus/base.h>

typedef enum TalusDeflateMatch {
    TALUS_DEFLATE_ANY,    /* matches anywhere */
    TALUS_DEFLATE_RUNS,   /* only runs of one byte */
    TALUS_DEFLATE_ENTROPY /* no matches: Huffman codes only */
} TalusDeflateMatch;

/* False in a build without zlib, where the other calls fail. */
bool talus_deflate_available(void);
/* Capacity that always suffices for `size` bytes deflated. */
size_t talus_deflate_bound(size_t size);
/* Compresses; `level` is 1 (fast) to 9 (small). *used is the size of the stream. */
TalusStatus talus_deflate(int level, TalusDeflateMatch match, const void *bytes, size_t size,
                          void *out, size_t capacity, size_t *used);
/* Decompresses a stream, which must hold exactly `expected` bytes; otherwise the error says what it holds. */
TalusStatus talus_inflate(const void *stream, size_t size, void *out, size_t expected);

#endif
