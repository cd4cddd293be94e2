/* io/csv.h - a table that grows by rows and can be cut back to an earlier time. */
#ifndef TALUS_IO_CSV_H
#define TALUS_IO_CSV_H

#include "base/status.h"

/* The first column of every table is the time. A row goes to the system by one write, so a killed
 * process loses none; whoever needs them on the disk calls talus_sync_path. */
typedef struct TalusCsv {
    char *path;
    int fd; /* -1: closed */
} TalusCsv;

/* Starts an empty table. */
TalusStatus talus_csv_create(const char *path, const char *header, TalusCsv *out);

/* Continues a table: rows later than `time`, and a last row without its end, are dropped. A table
 * that ends before `time` is continued with a warning "output.gap"; a missing one is started. */
TalusStatus talus_csv_resume(const char *path, const char *header, double time, TalusCsv *out);

/* `rows` are whole lines. */
TalusStatus talus_csv_write(TalusCsv *csv, const char *rows, size_t size);
/* Accepts a closed table. */
void talus_csv_close(TalusCsv *csv);

#endif
