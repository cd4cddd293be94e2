/* io/text/base64.c - base64 with the RFC 4648 alphabet, with padding, without line breaks. */
#include "io/text/base64.h"

#include <string.h>

enum { GROUPS = 1024 }; /* groups of three bytes encoded per write to the file */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Encodes three bytes as four characters. */
static void encode_group(const unsigned char *in, char *out)
{
    uint32_t bits = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
    out[0] = alphabet[bits >> 18];
    out[1] = alphabet[bits >> 12 & 63];
    out[2] = alphabet[bits >> 6 & 63];
    out[3] = alphabet[bits & 63];
}

/* Writes groups of three bytes to the file, each as four characters. */
static void write_groups(TalusFile *file, const unsigned char *in, size_t groups)
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
        write_groups(stream->file, stream->held, 1);
        stream->held_count = 0;
    }
    if (size == 0)
        return;
    write_groups(stream->file, in, size / 3);
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

/* ---- in memory ---- */

size_t talus_base64_encoded_length(size_t size)
{
    return (size + 2) / 3 * 4;
}

void talus_base64_encode(const void *bytes, size_t size, char *out)
{
    const unsigned char *in = bytes;
    size_t whole = size / 3, left = size % 3;
    for (size_t i = 0; i < whole; i++)
        encode_group(in + 3 * i, out + 4 * i);
    if (left) {
        unsigned char last[3] = {0};
        memcpy(last, in + 3 * whole, left);
        encode_group(last, out + 4 * whole);
        memset(out + 4 * whole + 1 + left, '=', 3 - left);
    }
}

/* Returns the number of '=' at the end, at most 2. */
static size_t count_padding(const char *text, size_t length)
{
    return length >= 2 && text[length - 1] == '=' ? 1 + (text[length - 2] == '=') : 0;
}

bool talus_base64_decoded_size(const char *text, size_t length, size_t *size)
{
    *size = length / 4 * 3 - count_padding(text, length);
    return length % 4 == 0;
}

/* Returns the value 0 to 63 of a character of the alphabet, else -1. */
static int decode_digit(char c)
{
    const char *at = c ? strchr(alphabet, c) : NULL;
    return at ? (int)(at - alphabet) : -1;
}

bool talus_base64_decode(const char *text, size_t length, void *out)
{
    unsigned char *to = out;
    size_t size, digits = length - count_padding(text, length);
    if (!talus_base64_decoded_size(text, length, &size))
        return false;
    for (size_t at = 0, i = 0; i < length; i += 4) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 4; k++) {
            int value = i + k < digits ? decode_digit(text[i + k]) : 0;
            if (value < 0)
                return false;
            bits = bits << 6 | (uint32_t)value;
        }
        for (int k = 16; k >= 0 && at < size; k -= 8)
            to[at++] = (unsigned char)(bits >> k);
    }
    return true;
}
