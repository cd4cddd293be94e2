/* io/text/csv.h - a table that grows by rows and can be cut back to an earlier time. */
#ifndef TALUS_IO_TEXT_CSV_H
#define TALUS_IO_TEXT_CSV_H

#include "io/file/growing.h"

/* The first column of every table is the time. A zeroed table is closed. */
typedef struct TalusCsv {
    TalusGrowing file;
} TalusCsv;

/* Starts an empty table. */
TalusStatus talus_csv_create(TalusDir *dir, const char *name, const char *header, TalusCsv *out);

/* Continues a table as the checkpoint knew it. Where it did not, or the table is not as it was: rows later
 * than `time`, and a last row without its end, are dropped; a table that ends before `time` is continued
 * with a warning "output.gap"; a missing one is started. */
TalusStatus talus_csv_resume(TalusDir *dir, const char *name, const char *header, double time,
                             TalusCsv *out);

/* `rows` are whole lines. */
TalusStatus talus_csv_write(TalusCsv *csv, const char *rows, size_t size);
/* Accepts a closed table. */
void talus_csv_close(TalusCsv *csv);

#endif
