/* base/deflate.c - zlib streams (deflate.h); the only file that uses zlib, whose memory is counted by memory.h. */
#include "base/deflate.h"

#include "base/memory.h"
#include "base/status.h"

#if TALUS_HAVE_ZLIB

#include <limits.h>
#include <zlib.h>

bool talus_deflate_available(void)
{
    return true;
}

/* The bound of zlib's deflateBound for unknown settings, rounded up. deflateBound itself takes an unsigned long, which
 * may be shorter than size_t. */
size_t talus_deflate_bound(size_t size)
{
    return size + size / 8 + size / 64 + 64;
}

/* Allocator of zlib's memory by base/memory.h. */
static void *zlib_alloc(void *opaque, unsigned items, unsigned size)
{
    void *block;
    (void)opaque;
    return talus_alloc(&block, items, size, "zlib") == TALUS_OK ? block : NULL;
}

/* Frees what zlib_alloc has allocated. */
static void zlib_free(void *opaque, void *block)
{
    (void)opaque;
    talus_release(block);
}

/* Number of bytes left to read and to write, beyond those that zlib has been given. zlib counts in unsigned int, so it
 * is given the bytes in parts. */
typedef struct Rest {
    size_t in, out;
} Rest;

/* Subtracts from *rest as many bytes as zlib can count; returns their number. */
static unsigned take_part(size_t *rest)
{
    unsigned n = *rest < UINT_MAX ? (unsigned)*rest : UINT_MAX;
    *rest -= n;
    return n;
}

/* Gives the stream more input or output bytes where it has none left. */
static void refill_stream(z_stream *z, Rest *rest)
{
    if (z->avail_in == 0)
        z->avail_in = take_part(&rest->in);
    if (z->avail_out == 0)
        z->avail_out = take_part(&rest->out);
}

/* Returns a stream that reads from `bytes` and writes to `out`, with no bytes available yet. */
static z_stream make_stream(const void *bytes, void *out)
{
    z_stream z = {
        .next_in = (Bytef *)bytes, .next_out = out, .zalloc = zlib_alloc, .zfree = zlib_free};
    return z;
}

/* Returns log2 of the size of zlib's window, just larger than the data. A larger window would not find more matches,
 * but zlib would clear up to 256 KiB of tables even for the small arrays of a frame. */
static int window_bits(size_t size)
{
    enum { MIN_BITS = 9, MAX_BITS = 15, LOOKAHEAD = 262 };
    int bits = MIN_BITS;
    while (bits < MAX_BITS && ((size_t)1 << bits) < size + LOOKAHEAD)
        bits++;
    return bits;
}

TalusStatus talus_deflate(int level, TalusDeflateMatch match, const void *bytes, size_t size,
                          void *out, size_t capacity, size_t *used)
{
    static const int strategy[] = {Z_DEFAULT_STRATEGY, Z_RLE, Z_HUFFMAN_ONLY};
    z_stream z = make_stream(bytes, out);
    Rest rest = {size, capacity};
    int bits = window_bits(size); /* also sizes the table of symbols */
    if (deflateInit2(&z, level, Z_DEFLATED, bits, bits - 6, strategy[match]) != Z_OK)
        return talus_fail(TALUS_ERR_MEMORY, "zlib: out of memory for deflating");
    int code;
    do {
        refill_stream(&z, &rest);
        code = deflate(&z, rest.in ? Z_NO_FLUSH : Z_FINISH);
    } while (code == Z_OK);
    *used = (size_t)(z.next_out - (Bytef *)out);
    deflateEnd(&z);
    if (code != Z_STREAM_END)
        return talus_reject("zlib: %zu bytes do not fit into %zu deflated", size, capacity);
    return TALUS_OK;
}

/* Inflates until the output is full, the input ends or zlib reports an error; returns zlib's code. */
static int inflate_all(z_stream *z, Rest *rest)
{
    int code;
    do {
        refill_stream(z, rest);
        code = inflate(z, Z_NO_FLUSH);
    } while (code == Z_OK && (z->avail_in || rest->in) && (z->avail_out || rest->out));
    return code;
}

/* True if the stream ends after the bytes inflated so far. zlib may not have read the end mark yet when `out` is full,
 * so this function asks for one more byte, which must not come. */
static bool stream_ends(z_stream *z, Rest *rest)
{
    unsigned char beyond;
    z->next_out = &beyond;
    z->avail_out = 1;
    rest->out = 0;
    int code;
    do {
        if (z->avail_in == 0)
            z->avail_in = take_part(&rest->in);
        code = inflate(z, Z_NO_FLUSH);
    } while (code == Z_OK && z->avail_out && (z->avail_in || rest->in));
    return code == Z_STREAM_END && z->avail_out == 1;
}

TalusStatus talus_inflate(const void *stream, size_t size, void *out, size_t expected)
{
    unsigned char nothing;
    z_stream z = make_stream(stream, out ? out : &nothing);
    Rest rest = {size, expected};
    if (inflateInit(&z) != Z_OK)
        return talus_fail(TALUS_ERR_MEMORY, "zlib: out of memory for inflating");
    int code = expected ? inflate_all(&z, &rest) : Z_OK;
    size_t made = (size_t)(z.next_out - (out ? (Bytef *)out : &nothing));
    TalusStatus status = TALUS_OK;
    if (code == Z_MEM_ERROR)
        status = TALUS_ERR_MEMORY; /* the failed allocation has set the message */
    else if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        status = talus_fail(TALUS_ERR_FORMAT, "the compressed data are damaged: %s",
                            z.msg ? z.msg : "not a zlib stream");
    else if (made < expected)
        status = talus_fail(TALUS_ERR_FORMAT, "%zu bytes inflated; expected %zu", made, expected);
    else if (code != Z_STREAM_END && !stream_ends(&z, &rest))
        status = talus_fail(TALUS_ERR_FORMAT, "the compressed data do not end after %zu bytes",
                            expected);
    inflateEnd(&z);
    return status;
}

#else

bool talus_deflate_available(void)
{
    return false;
}

size_t talus_deflate_bound(size_t size)
{
    return size;
}

static TalusStatus fail_without_zlib(const char *what)
{
    return talus_fail(TALUS_ERR_UNSUPPORTED,
                      "%s: this build has no zlib (Debian: zlib1g-dev; then configure again)",
                      what);
}

TalusStatus talus_deflate(int level, TalusDeflateMatch match, const void *bytes, size_t size,
                          void *out, size_t capacity, size_t *used)
{
    (void)level, (void)match, (void)bytes, (void)size, (void)out, (void)capacity, (void)used;
    return fail_without_zlib("deflating");
}

TalusStatus talus_inflate(const void *stream, size_t size, void *out, size_t expected)
{
    (void)stream, (void)size, (void)out, (void)expected;
    return fail_without_zlib("the data are compressed");
}

#endif
