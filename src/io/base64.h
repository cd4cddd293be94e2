/* io/base64.h - bytes as base64 text, streamed into a file. */
#ifndef TALUS_IO_BASE64_H
#define TALUS_IO_BASE64_H

#include "io/file.h"

typedef struct TalusBase64 {
    TalusFile *file;
    unsigned char held[3]; /* bytes that do not fill a group of three yet */
    int held_count;
} TalusBase64;

TalusBase64 talus_base64_begin(TalusFile *file);
void talus_base64_put(TalusBase64 *stream, const void *bytes, size_t size);
/* Writes the last group with its padding. */
void talus_base64_end(TalusBase64 *stream);

#endif
