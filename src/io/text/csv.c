/* io/text/csv.c - creation of tables, and their truncation when a run resumes. */
#include "io/text/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 }; /* more than the bytes of any header or row of a table */

TalusStatus talus_csv_create(TalusDir *dir, const char *name, const char *header, TalusGrowing *out)
{
    TALUS_TRY(talus_growing_create(dir, name, out));
    TalusStatus status = talus_growing_append(out, header, strlen(header));
    if (status != TALUS_OK)
        talus_growing_close(out);
    return status;
}

/* Counts the rows before the first one that is later than `time`, incomplete or without a time. Adds to rows->count,
 * sets rows->last to the time of the last row counted and *bytes to the offset of its end; *bytes is 0 if the first
 * line is not `header`. */
static void scan_rows(FILE *file, const char *header, double time, TalusCsvRows *rows,
                      uint64_t *bytes)
{
    char line[LINE_BYTES];
    *bytes = 0;
    if (!fgets(line, sizeof line, file) || strcmp(line, header) != 0)
        return;
    *bytes = strlen(header);
    while (fgets(line, sizeof line, file)) {
        char *end;
        double t = strtod(line, &end);
        size_t length = strlen(line);
        if (end == line || *end != ',' || !(t <= time) || line[length - 1] != '\n')
            return;
        *bytes += length;
        rows->last = t;
        rows->count++;
    }
}

/* True if the table begins with `header`; another version of the program may have written another header. */
static bool has_header(const TalusGrowing *table, const char *header)
{
    char line[LINE_BYTES];
    size_t length = strlen(header);
    return pread(table->fd, line, length, 0) == (ssize_t)length &&
           memcmp(line, header, length) == 0;
}

TalusStatus talus_csv_truncate(TalusGrowing *table, const char *header, double time,
                               TalusCsvRows *kept)
{
    const TalusEntry *before = talus_dir_unchanged_entry(table->dir, table->name);
    uint64_t bytes;
    FILE *stream;
    *kept = (TalusCsvRows){.listed = before && has_header(table, header), .last = -1.0};
    if (kept->listed)
        return talus_growing_truncate(table, before->size);
    TALUS_TRY(talus_growing_open_stream(table, &stream));
    scan_rows(stream, header, time, kept, &bytes);
    bool empty = ftell(stream) == 0;
    fclose(stream);
    if (bytes == 0 && !empty)
        return talus_fail_line(table->path, 1, TALUS_ERR_FORMAT,
                               "is not the header of this version's table");
    TALUS_TRY(talus_growing_truncate(table, bytes));
    return empty ? talus_growing_append(table, header, strlen(header)) : TALUS_OK;
}

TalusStatus talus_csv_resume(TalusDir *dir, const char *name, const char *header, double time,
                             TalusGrowing *out)
{
    TalusCsvRows kept = {.last = -1.0};
    TalusStatus status = TALUS_OK;
    if (talus_dir_has_name(dir, name)) {
        TALUS_TRY(talus_growing_open(dir, name, out));
        status = talus_csv_truncate(out, header, time, &kept);
    } else {
        TALUS_TRY(talus_csv_create(dir, name, header, out));
    }
    if (status != TALUS_OK)
        talus_growing_close(out);
    else if (!kept.listed && kept.last < time && time > 0.0)
        talus_log(TALUS_LOG_WARNING, "output.gap", "%s: rows are missing before time %g", out->path,
                  time);
    return status;
}
