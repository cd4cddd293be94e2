/* io/csv.c - appending to and cutting tables. */
#include "io/csv.h"

#include "base/memory.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 }; /* longer than any row written here */

static TalusStatus open_table(const char *path, int flags, TalusCsv *out)
{
    TALUS_TRY(talus_path(&out->path, "%s", path));
    out->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0666);
    if (out->fd >= 0)
        return TALUS_OK;
    int error = errno;
    talus_csv_close(out);
    return talus_fail(TALUS_ERR_IO, "%s: cannot open: %s", path, strerror(error));
}

TalusStatus talus_csv_create(const char *path, const char *header, TalusCsv *out)
{
    *out = (TalusCsv){.fd = -1};
    TALUS_TRY(open_table(path, O_TRUNC, out));
    TalusStatus status = talus_csv_write(out, header, strlen(header));
    if (status != TALUS_OK)
        talus_csv_close(out);
    return status;
}

/* What a scan of an existing table found. */
typedef struct Scan {
    off_t keep;  /* bytes up to the end of the last row to keep */
    double last; /* its time; -1 without rows */
    bool header; /* the header is ours */
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

static TalusStatus cut(TalusCsv *csv, off_t size)
{
    if (ftruncate(csv->fd, size) != 0)
        return talus_fail(TALUS_ERR_IO, "%s: cannot shorten: %s", csv->path, strerror(errno));
    return TALUS_OK;
}

static TalusStatus resume_rows(const char *header, double time, TalusCsv *csv)
{
    Scan scan;
    FILE *file = fopen(csv->path, "r");
    if (!file)
        return talus_fail(TALUS_ERR_IO, "%s: cannot open: %s", csv->path, strerror(errno));
    scan_rows(file, header, time, &scan);
    bool empty = ftell(file) == 0;
    fclose(file);
    if (!scan.header && !empty)
        return talus_fail(TALUS_ERR_FORMAT, "%s:1: is not the header of this version's table",
                          csv->path);
    TALUS_TRY(cut(csv, scan.keep));
    if (empty)
        TALUS_TRY(talus_csv_write(csv, header, strlen(header)));
    if (scan.last < time && time > 0.0)
        talus_log(TALUS_LOG_WARNING, "output.gap", "%s: rows are missing before time %g", csv->path,
                  time);
    return TALUS_OK;
}

TalusStatus talus_csv_resume(const char *path, const char *header, double time, TalusCsv *out)
{
    *out = (TalusCsv){.fd = -1};
    TALUS_TRY(open_table(path, 0, out));
    TalusStatus status = resume_rows(header, time, out);
    if (status != TALUS_OK)
        talus_csv_close(out);
    return status;
}

TalusStatus talus_csv_write(TalusCsv *csv, const char *rows, size_t size)
{
    return talus_write_all(csv->fd, rows, size, csv->path);
}

void talus_csv_close(TalusCsv *csv)
{
    if (csv->fd >= 0)
        close(csv->fd);
    talus_release(csv->path);
    *csv = (TalusCsv){.fd = -1};
}
