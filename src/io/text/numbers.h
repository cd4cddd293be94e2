/* io/text/numbers.h - text files of numbers, line by line: positions of bodies, heights of a field. */
#ifndef TALUS_IO_TEXT_NUMBERS_H
#define TALUS_IO_TEXT_NUMBERS_H

#include "base/status.h"

typedef struct TalusNumberLines {
    const char *path;       /* for messages */
    const char *at, *end;   /* rest of the text */
    const char *separators; /* characters between numbers */
    const char *expected;   /* what a line has, for messages */
    size_t limit;           /* maximum numbers of a line; 0: any */
    int line;               /* number of the last line read, from 1; 0: none yet */
    double *value;          /* numbers of that line; the caller frees them with talus_release */
    size_t count;
} TalusNumberLines;

/* Reads the next line that has numbers; `count` is 0 at the end of the text. A word that begins with '#' and the rest
 * of its line are a comment; fails on any other word that is no number, and on more than `limit` numbers. */
TalusStatus talus_number_lines_next(TalusNumberLines *lines);

#endif
