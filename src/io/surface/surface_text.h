/* io/surface/surface_text.h - words and numbers of a text file, for the readers of STL and OBJ. */
#ifndef TALUS_IO_SURFACE_SURFACE_TEXT_H
#define TALUS_IO_SURFACE_SURFACE_TEXT_H

#include "base/status.h"

/* A text being read word by word. */
typedef struct TalusWords {
    const char *name;     /* name of the file, for messages */
    const char *at, *end; /* start and end of the text that is not yet read */
    long line;            /* line of `word`, from 1 */
    const char *word;     /* the current word, not terminated */
    size_t length;        /* length of the current word; 0: no word left */
    bool stop_at_lines;   /* true if talus_words_next stops at the end of a line */
} TalusWords;

/* Moves to the next word. False at the end of the text or, with stop_at_lines, of the line. */
bool talus_words_next(TalusWords *words);
/* Moves to the start of the next line; lines joined by a backslash count as one. False at the end of the text. */
bool talus_words_next_line(TalusWords *words);
/* True if the word equals `text`, which is in lower case, ignoring case. */
bool talus_words_equal(const TalusWords *words, const char *text);
/* Sets *value to the word as a number: digits with optional point, sign and exponent. False if the word is no number,
 * overflows or has more than 158 characters. */
bool talus_words_parse_number(const TalusWords *words, double *value);
/* Fails with "FILE:LINE: ...". */
TalusStatus talus_words_fail(const TalusWords *words, const char *format, ...) TALUS_PRINTF(2, 3);

enum { TALUS_WORD_PRINTABLE_BYTES = 40 }; /* size of the buffer for talus_words_printable */
/* Copies the word to `shown`, for a message; bytes other than printable ASCII become '?', and a long word is cut.
 * Returns `shown`. */
const char *talus_words_printable(const TalusWords *words, char shown[TALUS_WORD_PRINTABLE_BYTES]);

#endif
