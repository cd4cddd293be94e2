/* io/surface/surface_text.h - words and numbers of a text file, line by line, for the readers of STL and OBJ. */
#ifndef TALUS_IO_SURFACE_SURFACE_TEXT_H
#define TALUS_IO_SURFACE_SURFACE_TEXT_H

#include "base/status.h"

typedef struct TalusWords {
    const char *name; /* of the file */
    const char *at, *end;
    long line;          /* of `word`, from 1 */
    const char *word;   /* not terminated */
    size_t length;      /* 0: there is none left */
    bool stop_at_lines; /* a word is not looked for beyond the end of the line */
} TalusWords;

/* Goes to the next word. False at the end of the text, or of the line. */
bool talus_words_next(TalusWords *words);
/* Leaves the line. False at the end of the text. */
bool talus_words_next_line(TalusWords *words);
/* Whether the word is this one, in letters of either case; `text` in lower case. */
bool talus_words_are(const TalusWords *words, const char *text);
/* The word as a number: digits with or without a point, sign and exponent. False if it is none, or beyond
 * all bounds. */
bool talus_words_number(const TalusWords *words, double *value);
/* Fails with "FILE:LINE: ..." */
TalusStatus talus_words_fail(const TalusWords *words, const char *format, ...) TALUS_PRINTF(2, 3);

enum { TALUS_WORD_SHOWN = 40 };
/* The word fit for a message. */
const char *talus_words_text(const TalusWords *words, char shown[TALUS_WORD_SHOWN]);

#endif
