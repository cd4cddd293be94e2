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

void page_format_machine(int threads, char text[PAGE_MACHINE])
{
    struct utsname about;
    text[0] = '\0';
    if (uname(&about) != 0)
        return;
    int used = snprintf(text, PAGE_MACHINE, "%.60s %.60s, %ld processors", about.sysname,
                        about.machine, sysconf(_SC_NPROCESSORS_ONLN));
    if (threads > 0) /* else not said */
        snprintf(text + used, PAGE_MACHINE - (size_t)used, ", %d thread%s", threads,
                 threads == 1 ? "" : "s");
}

void page_format_date(const char *format, char text[PAGE_DATE])
{
    time_t now = time(NULL);
    struct tm parts;
    if (!gmtime_r(&now, &parts) || !strftime(text, PAGE_DATE, format, &parts))
        text[0] = '\0';
}

void page_write_head(JsonOut *json, const char *title, const char *kind, int threads)
{
    json_open_object(json, "talus");
    json_write_text(json, "version", talus_version());
    json_close_object(json);
    json_write_text(json, "title", title);
    json_write_text(json, "kind", kind);
    char date[PAGE_DATE], machine[PAGE_MACHINE];
    page_format_date("%Y-%m-%dT%H:%M:%SZ", date);
    page_format_machine(threads, machine);
    json_write_text(json, "date", date);
    json_write_text(json, "machine", machine);
}
