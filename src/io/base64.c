/* io/base64.c - RFC 4648 alphabet, with padding, without line breaks. */
#include "io/base64.h"

#include <string.h>

enum { GROUPS = 1024 }; /* encoded per call to the file */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encode_group(const unsigned char *in, char *out)
{
    uint32_t bits = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
    out[0] = alphabet[bits >> 18];
    out[1] = alphabet[bits >> 12 & 63];
    out[2] = alphabet[bits >> 6 & 63];
    out[3] = alphabet[bits & 63];
}

/* Whole groups only. */
static void encode(TalusFile *file, const unsigned char *in, size_t groups)
{
    char out[4 * GROUPS];
    while (groups > 0) {
        size_t n = groups < GROUPS ? groups : GROUPS;
        for (size_t i = 0; i < n; i++)
            encode_group(in + 3 * i, out + 4 * i);
        talus_file_put(file, out, 4 * n);
        in += 3 * n;
        groups -= n;
    }
}

TalusBase64 talus_base64_begin(TalusFile *file)
{
    TalusBase64 stream = {.file = file};
    return stream;
}

void talus_base64_put(TalusBase64 *stream, const void *bytes, size_t size)
{
    const unsigned char *in = bytes;
    while (stream->held_count > 0 && stream->held_count < 3 && size > 0) {
        stream->held[stream->held_count++] = *in++;
        size--;
    }
    if (stream->held_count == 3) {
        encode(stream->file, stream->held, 1);
        stream->held_count = 0;
    }
    if (size == 0)
        return;
    encode(stream->file, in, size / 3);
    stream->held_count = (int)(size % 3);
    memcpy(stream->held, in + size / 3 * 3, size % 3);
}

void talus_base64_end(TalusBase64 *stream)
{
    static const unsigned char zero[3];
    int missing = (3 - stream->held_count) % 3;
    if (missing) {
        char out[4];
        memcpy(stream->held + stream->held_count, zero, (size_t)missing);
        encode_group(stream->held, out);
        memset(out + 4 - missing, '=', (size_t)missing);
        talus_file_put(stream->file, out, sizeof out);
    }
    stream->held_count = 0;
}
