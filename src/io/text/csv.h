/* io/text/csv.h - tables that grow by rows and can be truncated to an earlier time. Their first column is the time. */
#ifndef TALUS_IO_TEXT_CSV_H
#define TALUS_IO_TEXT_CSV_H

#include "io/file/growing.h"

/* Creates a table with this header, a line with its line feed, and no rows. On failure `out` is closed. */
TalusStatus talus_csv_create(TalusDir *dir, const char *name, const char *header,
                             TalusGrowing *out);

/* What talus_csv_truncate keeps of a table. */
typedef struct TalusCsvRows {
    bool listed; /* cut to the length in the checkpoint's list, rows unread: count 0, last -1 */
    int count;   /* rows kept */
    double last; /* time of the last row kept; -1 without rows */
} TalusCsvRows;

/* Cuts an open table to the length that it has in the list of the checkpoint that the run resumed from. If the list
 * does not have the table, or the table has changed since: cuts off the first row that is later than `time` or
 * incomplete and all after it, and gives an empty table its header. Fails, without a change, if the table begins with
 * another header. */
TalusStatus talus_csv_truncate(TalusGrowing *table, const char *header, double time,
                               TalusCsvRows *kept);

/* Opens a table and truncates it by talus_csv_truncate; creates a missing table. Logs the warning "output.gap" if the
 * last row kept is before `time` (> 0), unless the table was cut to its listed length. On failure `out` is closed. */
TalusStatus talus_csv_resume(TalusDir *dir, const char *name, const char *header, double time,
                             TalusGrowing *out);

#endif
