/* io/text/base64.h - base64 text, streamed into a file or in memory. */
#ifndef TALUS_IO_TEXT_BASE64_H
#define TALUS_IO_TEXT_BASE64_H

#include "io/file/file.h"

/* A stream of base64 text into a file. */
typedef struct TalusBase64 {
    TalusFile *file;
    unsigned char held[3]; /* bytes of an incomplete group of three */
    int held_count;        /* number of bytes in `held`, 0 to 2 between calls */
} TalusBase64;

/* Returns a new stream of base64 text into `file`. */
TalusBase64 talus_base64_begin(TalusFile *file);
/* Encodes bytes and appends their text to the file; one or two bytes of an incomplete group wait in `held`. */
void talus_base64_put(TalusBase64 *stream, const void *bytes, size_t size);
/* Ends the text: appends the bytes in `held`, if any, with their padding. Does not close the file. */
void talus_base64_end(TalusBase64 *stream);

/* Returns the number of characters that talus_base64_encode writes for `size` bytes. */
size_t talus_base64_encoded_length(size_t size);
/* Writes the text of `size` bytes to `out`, without a NUL. */
void talus_base64_encode(const void *bytes, size_t size, char *out);
/* Sets *size to the number of bytes that a text decodes to; false if the length is not a multiple of 4. */
bool talus_base64_decoded_size(const char *text, size_t length, size_t *size);
/* Decodes a text into `out`, which has the size that talus_base64_decoded_size gives. False if the length is not a
 * multiple of 4 or a character is outside the alphabet. */
bool talus_base64_decode(const char *text, size_t length, void *out);

#endif
