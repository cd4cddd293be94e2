/* io/text/csv.c - appends to and truncation of tables. */
#include "io/text/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 }; /* longer than any row written here */

TalusStatus talus_csv_create(TalusDir *dir, const char *name, const char *header, TalusCsv *out)
{
    TALUS_TRY(talus_growing_create(dir, name, &out->file));
    TalusStatus status = talus_csv_write(out, header, strlen(header));
    if (status != TALUS_OK)
        talus_csv_close(out);
    return status;
}

/* Result of scanning an existing table. */
typedef struct Scan {
    off_t keep;  /* end of the last row to keep, in bytes */
    double last; /* time of that row; -1 without rows */
    bool header; /* true if the header matches */
} Scan;

static void scan_rows(FILE *file, const char *header, double time, Scan *scan)
{
    char line[LINE_BYTES];
    *scan = (Scan){.last = -1.0};
    scan->header = fgets(line, sizeof line, file) && strcmp(line, header) == 0;
    if (!scan->header)
        return;
    scan->keep = (off_t)strlen(header);
    while (fgets(line, sizeof line, file)) {
        char *end;
        double t = strtod(line, &end);
        size_t length = strlen(line);
        if (end == line || *end != ',' || !(t <= time) || line[length - 1] != '\n')
            return;
        scan->keep += (off_t)length;
        scan->last = t;
    }
}

static TalusStatus resume_rows(const char *header, double time, TalusCsv *csv)
{
    Scan scan;
    FILE *stream;
    TALUS_TRY(talus_growing_stream(&csv->file, &stream));
    scan_rows(stream, header, time, &scan);
    bool empty = ftell(stream) == 0;
    fclose(stream);
    if (!scan.header && !empty)
        return talus_fail_line(csv->file.path, 1, TALUS_ERR_FORMAT,
                               "is not the header of this version's table");
    TALUS_TRY(talus_growing_cut(&csv->file, (uint64_t)scan.keep));
    if (empty)
        TALUS_TRY(talus_csv_write(csv, header, strlen(header)));
    if (scan.last < time && time > 0.0)
        talus_log(TALUS_LOG_WARNING, "output.gap", "%s: rows are missing before time %g",
                  csv->file.path, time);
    return TALUS_OK;
}

/* An unchanged table may still be of another version of the program. */
static bool has_header(const TalusCsv *csv, const char *header)
{
    char line[LINE_BYTES];
    size_t length = strlen(header);
    return pread(csv->file.fd, line, length, 0) == (ssize_t)length &&
           memcmp(line, header, length) == 0;
}

static TalusStatus resume(TalusDir *dir, const char *header, double time, TalusCsv *csv)
{
    const TalusEntry *before = talus_dir_before(dir, csv->file.name);
    return before && has_header(csv, header) ? talus_growing_cut(&csv->file, before->size)
                                             : resume_rows(header, time, csv);
}

TalusStatus talus_csv_resume(TalusDir *dir, const char *name, const char *header, double time,
                             TalusCsv *out)
{
    if (!talus_dir_has(dir, name)) {
        if (time > 0.0)
            talus_log(TALUS_LOG_WARNING, "output.gap", "%s/%s: rows are missing before time %g",
                      dir->path, name, time);
        return talus_csv_create(dir, name, header, out);
    }
    TALUS_TRY(talus_growing_open(dir, name, &out->file));
    TalusStatus status = resume(dir, header, time, out);
    if (status != TALUS_OK)
        talus_csv_close(out);
    return status;
}

TalusStatus talus_csv_write(TalusCsv *csv, const char *rows, size_t size)
{
    return talus_growing_append(&csv->file, rows, size);
}

void talus_csv_close(TalusCsv *csv)
{
    talus_growing_close(&csv->file);
}
