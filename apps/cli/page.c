/* page.c - writes report pages, the template with the JSON value inserted; creates output files by formatted paths. */
#include "page.h"

#include "cli.h"

#include "io/file/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

TalusStatus cli_create_file(TalusFile **out, const char *format, ...)
{
    char path[CLI_PATH_MAX + 64]; /* enough: the system opens no longer path */
    TALUS_FORMAT(path, format);
    return talus_file_create(path, out);
}

TalusStatus page_write_report(const char *dir, const char *name, PageData *data, void *user)
{
    TalusFile *file;
    JsonOut json;
    TALUS_TRY(talus_make_directory(dir));
    TALUS_TRY(cli_create_file(&file, "%s/%s", dir, name));
    talus_file_put(file, page_report[0].bytes, page_report[0].size);
    json_start(&json, json_to_file, file);
    data(user, &json);
    json_finish(&json);
    talus_file_put(file, page_report[1].bytes, page_report[1].size);
    return talus_file_commit(file);
}

/* Writes system, number of processors and, if above 0, threads as one text. */
static void write_machine(JsonOut *json, int threads)
{
    struct utsname about;
    char text[sizeof about];
    if (uname(&about) != 0)
        return;
    int used = snprintf(text, sizeof text, "%s %s, %ld processors", about.sysname, about.machine,
                        sysconf(_SC_NPROCESSORS_ONLN));
    if (threads > 0) /* else not said */
        snprintf(text + used, sizeof text - (size_t)used, ", %d thread%s", threads,
                 threads == 1 ? "" : "s");
    json_write_text(json, "machine", text);
}

static void write_date(JsonOut *json)
{
    char text[32];
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts))
        json_write_text(json, "date", text);
}

void page_write_head(JsonOut *json, const char *title, const char *kind, int threads)
{
    json_open_object(json, "talus");
    json_write_text(json, "version", talus_version());
    json_close_object(json);
    json_write_text(json, "title", title);
    json_write_text(json, "kind", kind);
    write_date(json);
    write_machine(json, threads);
}
