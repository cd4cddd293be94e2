/* page.c - writes the report: template and data. */
#include "page.h"

#include "base/memory.h"
#include "io/file/file.h"

static TalusStatus write_file(const char *path, PageData *data, void *user)
{
    TalusFile *file;
    TALUS_TRY(talus_file_create(path, &file));
    talus_file_put(file, page_report[0].bytes, page_report[0].size);
    JsonOut json;
    json_start(&json, json_to_file, file);
    data(user, &json);
    json_finish(&json);
    talus_file_put(file, page_report[1].bytes, page_report[1].size);
    return talus_file_commit(file);
}

TalusStatus page_write(const char *dir, PageData *data, void *user)
{
    TALUS_TRY(talus_make_directory(dir));
    char *path;
    TALUS_TRY(talus_path(&path, "%s/report.html", dir));
    TalusStatus status = write_file(path, data, user);
    talus_release(path);
    return status;
}
