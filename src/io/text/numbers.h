/* io/text/numbers.h - text files of numbers, line by line: positions of bodies, heights of a field. */
#ifndef TALUS_IO_TEXT_NUMBERS_H
#define TALUS_IO_TEXT_NUMBERS_H

#include "base/status.h"

/* A text being read; the caller sets the members up to `limit` and zeroes the others. */
typedef struct TalusNumberLines {
    const char *path;       /* for messages */
    const char *at, *end;   /* start and end of the text that is not yet read */
    const char *separators; /* characters between numbers */
    const char *expected;   /* what a line has, for messages */
    size_t limit;           /* maximum count of numbers in a line; 0: no limit */
    int line;               /* number of the last line read, from 1; 0: none yet */
    double *value; /* [count], numbers of that line; the caller frees them with talus_release */
    size_t count;
} TalusNumberLines;

/* Reads the next line that has numbers into `value`; `count` is 0 at the end of the text. A word that begins with '#'
 * and the rest of its line are a comment; fails on any other word that is no number, and on more than `limit`
 * numbers. */
TalusStatus talus_number_lines_read(TalusNumberLines *lines);

#endif
