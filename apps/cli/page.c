/* page.c - writes report.html, the template with the JSON value inserted; creates output files by formatted paths. */
#include "page.h"

#include "cli.h"

#include "io/file/file.h"

#include <stdarg.h>
#include <stdio.h>

TalusStatus cli_create_file(TalusFile **out, const char *format, ...)
{
    char path[CLI_PATH_MAX + 64]; /* enough: the system opens no longer path */
    TALUS_FORMAT(path, format);
    return talus_file_create(path, out);
}

TalusStatus page_write_report(const char *dir, PageData *data, void *user)
{
    TalusFile *file;
    JsonOut json;
    TALUS_TRY(talus_make_directory(dir));
    TALUS_TRY(cli_create_file(&file, "%s/report.html", dir));
    talus_file_put(file, page_report[0].bytes, page_report[0].size);
    json_start(&json, json_to_file, file);
    data(user, &json);
    json_finish(&json);
    talus_file_put(file, page_report[1].bytes, page_report[1].size);
    return talus_file_commit(file);
}
