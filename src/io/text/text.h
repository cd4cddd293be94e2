/* io/text/text.h - text in memory that grows as it is written. The first failure is stored; later writes do nothing. */
#ifndef TALUS_IO_TEXT_H
#define TALUS_IO_TEXT_H

#include "base/status.h"

/* A zeroed struct is empty. The owner frees `bytes` with talus_release. After them is a NUL only if talus_text_print
 * wrote last. */
typedef struct TalusText {
    char *bytes;
    size_t size;
    TalusStatus status; /* of the first failure; TALUS_OK if none */
} TalusText;

/* Appends bytes. */
void talus_text_put(TalusText *text, const char *bytes, size_t size);
/* Appends formatted text. */
void talus_text_print(TalusText *text, const char *format, ...) TALUS_PRINTF(2, 3);
/* Appends a string in JSON quotes. */
void talus_text_quote(TalusText *text, const char *string);
/* Appends `size` bytes for the caller to fill. Returns their address, valid until the next call; NULL on failure. */
char *talus_text_reserve(TalusText *text, size_t size);

#endif
