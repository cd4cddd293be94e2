/* io/text/base64.h - base64 text, streamed into a file or in memory. */
#ifndef TALUS_IO_TEXT_BASE64_H
#define TALUS_IO_TEXT_BASE64_H

#include "io/file/file.h"

typedef struct TalusBase64 {
    TalusFile *file;
    unsigned char held[3]; /* bytes of an incomplete group of three */
    int held_count;
} TalusBase64;

/* Start a stream of base64 text into `file`, and append bytes to it; an incomplete group waits in `held`. */
TalusBase64 talus_base64_begin(TalusFile *file);
void talus_base64_put(TalusBase64 *stream, const void *bytes, size_t size);
/* Writes the bytes held, if any, with their padding. */
void talus_base64_end(TalusBase64 *stream);

/* Returns the length of the text of `size` bytes; talus_base64_encode writes exactly this many characters, no NUL. */
size_t talus_base64_length(size_t size);
void talus_base64_encode(const void *bytes, size_t size, char *out);
/* Sets *size to the number of bytes that a text decodes to; false if the length is not a multiple of 4. */
bool talus_base64_size(const char *text, size_t length, size_t *size);
/* Decodes a text into `out`, of the size that talus_base64_size gives. False if that fails, or on a character outside
 * the alphabet. */
bool talus_base64_decode(const char *text, size_t length, void *out);

#endif
