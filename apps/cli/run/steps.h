/* cli/run/steps.h - incremental reader of steps.csv for the columns that the viewer plots.
 *
 * The reader stores the file offset of every STEPS_MARK-th row only and reads values on request. Columns are found by
 * their names in the header, so that older and newer tables are read alike; a missing column reads as NaN. An
 * unterminated last row is ignored until complete. Reading ends at a line of more than STEPS_LINE_MAX bytes. */
#ifndef TALUS_CLI_STEPS_H
#define TALUS_CLI_STEPS_H

#include "cli/json_out.h"

#include <talus/base.h>

/* Number of columns that are read; distance of rows whose offset is stored; maximum of rows that steps_write_json
 * writes; maximum of bytes in a line. */
enum { STEPS_COLUMNS = 13, STEPS_MARK = 256, STEPS_ROWS_MAX = 4000, STEPS_LINE_MAX = 1 << 14 };

/* Index of steps.csv; zero-initialised: no file yet. */
typedef struct Steps {
    int64_t rows;                /* complete rows so far */
    int position[STEPS_COLUMNS]; /* index of each column in a row; -1: none */
    uint64_t end;                /* file offset after the last complete row */
    uint64_t device, inode;      /* identity of the file, to recognise a replaced one */
    /* File offset and hash of the last row, to recognise rewriting. */
    uint64_t last_start, last_hash;
    uint64_t *mark; /* file offsets of rows 0, STEPS_MARK, 2 STEPS_MARK, ... */
} Steps;

/* Indexes rows appended to the open file `fd` since the last call. If the file was replaced, truncated or rewritten,
 * indexes all rows again and sets *anew; otherwise leaves *anew unchanged. After a failure the rows before it are
 * indexed. */
TalusStatus steps_refresh(Steps *steps, int fd, bool *anew);
/* Releases and empties the index. */
void steps_clear(Steps *steps);

/* Writes every `stride`-th row, stride >= 1, from row `first` >= 0 on, at most STEPS_ROWS_MAX rows, as members of an
 * open JSON object: "rows" (number written), "first", "stride", "total" (rows in the index), and an array per column.
 * `fd` is not used without such rows. Writes nothing on failure. */
TalusStatus steps_write_json(const Steps *steps, int fd, int64_t first, int64_t stride,
                             JsonOut *json);

#endif
