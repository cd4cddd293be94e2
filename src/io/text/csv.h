/* io/text/csv.h - a table that grows by rows and can be truncated to an earlier time. */
#ifndef TALUS_IO_TEXT_CSV_H
#define TALUS_IO_TEXT_CSV_H

#include "io/file/growing.h"

/* The first column of every table is the time. A zeroed table is closed. */
typedef struct TalusCsv {
    TalusGrowing file;
} TalusCsv;

/* Creates an empty table. */
TalusStatus talus_csv_create(TalusDir *dir, const char *name, const char *header, TalusCsv *out);

/* Continues a table from the length that the checkpoint lists. If that lists none, or the table has changed: drops
 * rows after `time` and an incomplete last row; continues a table that ends before `time` with a warning "output.gap";
 * creates a missing one. */
TalusStatus talus_csv_resume(TalusDir *dir, const char *name, const char *header, double time,
                             TalusCsv *out);

/* Appends `rows`, which are whole lines. */
TalusStatus talus_csv_write(TalusCsv *csv, const char *rows, size_t size);
/* Accepts a closed table. */
void talus_csv_close(TalusCsv *csv);

#endif
