/* io/text/text.h - text in memory that grows as it is written. Writing never fails: the text remembers the first failure,
 * and later writes do nothing. */
#ifndef TALUS_IO_TEXT_H
#define TALUS_IO_TEXT_H

#include "base/status.h"

/* Zeroed, it is empty. `bytes` are released by the owner, and end with a zero once something was printed. */
typedef struct TalusText {
    char *bytes;
    size_t size;
    TalusStatus status; /* of the first failure */
} TalusText;

void talus_text_put(TalusText *text, const char *bytes, size_t size);
void talus_text_print(TalusText *text, const char *format, ...) TALUS_PRINTF(2, 3);
/* A string as JSON has it, in quotes. */
void talus_text_quote(TalusText *text, const char *string);
/* Room for `size` bytes more, which the caller fills; NULL where there is none. */
char *talus_text_room(TalusText *text, size_t size);

#endif
