/* io/text/base64.h - bytes as base64 text, streamed into a file or in memory. */
#ifndef TALUS_IO_TEXT_BASE64_H
#define TALUS_IO_TEXT_BASE64_H

#include "io/file/file.h"

typedef struct TalusBase64 {
    TalusFile *file;
    unsigned char held[3]; /* bytes that do not fill a group of three yet */
    int held_count;
} TalusBase64;

TalusBase64 talus_base64_begin(TalusFile *file);
void talus_base64_put(TalusBase64 *stream, const void *bytes, size_t size);
/* Writes the last group with its padding. */
void talus_base64_end(TalusBase64 *stream);

/* Characters that so many bytes take, without a NUL. */
size_t talus_base64_length(size_t size);
void talus_base64_encode(const void *bytes, size_t size, char *out);
/* Bytes that the text stands for; false where it is not base64 of whole groups. */
bool talus_base64_size(const char *text, size_t length, size_t *size);
/* Decodes a text whose size has been found so. False where a letter is none of the alphabet. */
bool talus_base64_decode(const char *text, size_t length, void *out);

#endif
