/* base/deflate.h - zlib streams (RFC 1950), where the build has zlib. */
#ifndef TALUS_BASE_DEFLATE_H
#define TALUS_BASE_DEFLATE_H

#include <talus/base.h>

typedef enum TalusDeflateMatch {
    TALUS_DEFLATE_ANY,    /* look for repeats anywhere */
    TALUS_DEFLATE_RUNS,   /* runs of one byte alone */
    TALUS_DEFLATE_ENTROPY /* no repeats: shorter codes for frequent bytes alone */
} TalusDeflateMatch;

/* False in a build without zlib: nothing can be deflated or inflated then. */
bool talus_deflate_available(void);
/* Room that is always enough for `size` bytes deflated. */
size_t talus_deflate_bound(size_t size);
/* `level` is 1 (fast) to 9 (small). *used is the size of the stream. */
TalusStatus talus_deflate(int level, TalusDeflateMatch match, const void *bytes, size_t size,
                          void *out, size_t room, size_t *used);
/* The stream must hold exactly `expected` bytes; a message says what it holds instead. */
TalusStatus talus_inflate(const void *stream, size_t size, void *out, size_t expected);

#endif
