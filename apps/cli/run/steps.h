/* cli/run/steps.h - steps.csv as the columns that the viewer plots, taken up as the file grows.
 *
 * Only where rows begin is kept, one place in STEPS_MARK rows; values are read when they are asked
 * for. Columns are found by their names in the header, so older and newer tables are read alike, and
 * one that is missing reads as not a number. A last row without its end is not there yet, and
 * nothing is read after a line of more than STEPS_LINE_MAX bytes. */
#ifndef TALUS_CLI_STEPS_H
#define TALUS_CLI_STEPS_H

#include "cli/json_out.h"

#include <talus/base.h>

enum { STEPS_COLUMNS = 10, STEPS_MARK = 256, STEPS_ROWS_MAX = 4000, STEPS_LINE_MAX = 1 << 14 };

/* Zeroed: of no file yet. */
typedef struct Steps {
    int64_t rows;               /* whole rows so far */
    int place[STEPS_COLUMNS];   /* of each column in a row; -1: none */
    uint64_t end;               /* of the last whole row */
    uint64_t device, inode;     /* of the file */
    uint64_t last_start, check; /* where the last row begins, and a hash of it */
    uint64_t *mark;             /* where rows 0, STEPS_MARK, 2 STEPS_MARK, ... begin */
} Steps;

/* Takes up the rows that have come to the file since. Where it is another file, was cut back or written
 * anew, all is read again and *anew is true; it is left alone otherwise. */
TalusStatus steps_refresh(Steps *steps, int fd, bool *anew);
/* Forgets the file. */
void steps_clear(Steps *steps);

/* Writes the members of an open object: "rows" of them, every `stride`-th from row `first`, at most
 * STEPS_ROWS_MAX, "total" in the file, and an array for each column. */
TalusStatus steps_json(const Steps *steps, int fd, int64_t first, int64_t stride, JsonOut *json);

#endif
