/* io/run/compare.c - comparison of a run's files with the list of its checkpoint (compare.h). */
#include "io/run/compare.h"

#include "io/formats/formats.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAMED_MAX = 8,   /* maximum of files that a message names */
    TEXT_BYTES = 600 /* size of the text that names them */
};

/* Text about missing and changed files, which names the first NAMED_MAX of them, as far as they fit. */
typedef struct Report {
    char text[TEXT_BYTES];
    size_t used; /* length of the text */
    int count;   /* number of missing and changed files */
} Report;

/* Counts a missing or changed file and adds its name to the text; `what` says what is wrong. */
static void report_file(Report *report, const char *name, const char *what)
{
    size_t left = sizeof report->text - report->used;
    if (report->count++ < NAMED_MAX) {
        int n = snprintf(report->text + report->used, left, "%s%s (%s)",
                         report->count > 1 ? ", " : "", name, what);
        report->used += n > 0 && (size_t)n < left ? (size_t)n : 0;
    }
}

/* Compares size and checksum of a file with its entry; of a growing file only the listed bytes. Sets entry->unchanged
 * and adds a difference to the report. */
static TalusStatus compare_bytes(const TalusDir *dir, TalusEntry *entry, Report *report)
{
    struct stat about;
    uint64_t size = 0;
    uint32_t crc = 0;
    int fd;
    TALUS_TRY(talus_dir_open_file(dir, entry->name, O_RDONLY, &fd));
    uint64_t there = fstat(fd, &about) == 0 ? (uint64_t)about.st_size : 0;
    TalusStatus status = talus_checksum_open_file(fd, entry->name, entry->size, &size, &crc);
    close(fd);
    TALUS_TRY(status);
    entry->unchanged = size == entry->size && crc == entry->crc &&
                       (entry->kind == TALUS_ENTRY_GROWS || there == size);
    if (size < entry->size) {
        char what[80];
        snprintf(what, sizeof what, "%" PRIu64 " bytes of %" PRIu64 " are left", size, entry->size);
        report_file(report, entry->name, what);
    } else if (!entry->unchanged) {
        report_file(report, entry->name, "changed");
    }
    return TALUS_OK;
}

/* Compares a file of kind FRAMES, which is rewritten in place, by the checksum of the values of its frames, which the
 * file's format computes. Sets entry->unchanged and adds a difference to the report. A file that cannot be read counts
 * as changed; the call fails only without memory, or if this build cannot read the format. */
static TalusStatus compare_frames(const TalusDir *dir, TalusEntry *entry, Report *report)
{
    uint32_t crc;
    TalusStatus status = talus_format_checksum_frames(dir, entry, &crc);
    if (status == TALUS_ERR_MEMORY || status == TALUS_ERR_UNSUPPORTED)
        return status;
    entry->unchanged = status == TALUS_OK && crc == entry->crc;
    if (!entry->unchanged)
        report_file(report, entry->name, "changed");
    return TALUS_OK;
}

/* Compares a file with its entry; a missing file is added to the report. */
static TalusStatus compare_file(const TalusDir *dir, TalusEntry *entry, Report *report)
{
    if (talus_dir_has_name(dir, entry->name))
        return entry->kind == TALUS_ENTRY_FRAMES ? compare_frames(dir, entry, report)
                                                 : compare_bytes(dir, entry, report);
    report_file(report, entry->name, "missing");
    return TALUS_OK;
}

TalusStatus talus_compare_files(const TalusDir *dir, TalusManifest *list, double time, bool accept)
{
    Report report = {.text = ""};
    char more[32] = "";
    for (int i = 0; i < list->count; i++)
        TALUS_TRY(compare_file(dir, &list->entry[i], &report));
    if (report.count == 0)
        return TALUS_OK;
    if (report.count > NAMED_MAX)
        snprintf(more, sizeof more, " and %d more", report.count - NAMED_MAX);
    if (accept) {
        talus_log(TALUS_LOG_WARNING, "output.changed",
                  "%s: not as its checkpoint at t = %g s left them: %s%s", dir->path, time,
                  report.text, more);
        return TALUS_OK;
    }
    return talus_fail_file(dir->path, TALUS_ERR_FORMAT,
                           "files are not as the checkpoint at t = %g s left them "
                           "(--accept-changed-files goes on with what is there): %s%s",
                           time, report.text, more);
}
